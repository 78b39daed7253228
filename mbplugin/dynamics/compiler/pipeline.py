"""Compiler passes for kernels and entries, and code libraries, which optimise all kernels below an entry together.

Numba optimises every function together with all its callees, generates machine code for each, and repeats both for
every caller. Kernels are called only by other kernels; only an entry, called from Python or through a pointer, needs
machine code. Here a kernel is one module of LLVM IR; an entry links each module below it once, and is optimised as a
whole. The passes are numba's own, without those that no kernel needs.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numba
from llvmlite import binding, ir as ll
from numba.core import (
    cgutils,
    errors as numba_errors,
    ir,
    typed_passes as typed,
    types as core_types,
    types as numba_types,
    untyped_passes as untyped,
)
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager, _pass_registry, register_pass
from numba.core.environment import lookup_environment
from numba.core.ir_utils import build_definitions, check_and_legalize_ir
from numba.core.lowering import Lower
from numba.core.ssa import reconstruct_ssa
from numba.core.typeinfer import TypeInferer, TypeVarMap
from numba.core.typing.templates import _IntrinsicTemplate

_ENVIRONMENT = "_ZN08NumbaEnv"


class Origin(NamedTuple):
    """The function and signature from which a kernel's library was translated.

    Parameters
    ----------
    module, name : str
        Module and qualified name of the function.
    args : tuple of numba types
    """

    module: str
    name: str
    args: tuple[Any, ...]


class KernelLibrary(JITCodeLibrary):
    """The module of a kernel that others call; it is not optimised and has no machine code."""

    origin: Origin

    def add_llvm_module(self, ll_module: Any) -> None:
        """Add a module without optimising it, since an entry is optimised as a whole."""
        ll_module.data_layout = self._codegen._data_layout
        self._final_module.link_in(ll_module)

    def finalize(self) -> None:
        """Finish the module; called functions are linked by the entry."""
        for library in self._linking_libraries:
            # numba 0.59 has this set only for parallel code
            if hasattr(library, "_reload_init"):
                self._reload_init.update(library._reload_init)
        self._finalized = True

    @property
    def called(self) -> tuple[JITCodeLibrary, ...]:
        """Libraries of the directly called functions."""
        return tuple(dict.fromkeys(self._linking_libraries))

    def below(self) -> Iterator[JITCodeLibrary]:
        """Yield the libraries of all functions called directly or indirectly, possibly repeated."""
        for library in self._linking_libraries:
            yield library
            if isinstance(library, KernelLibrary):
                yield from library.below()

    def bitcode(self) -> bytes:
        """Return the module as bytes, including called functions that are not kernels."""
        module = self._get_module_for_linking().clone()
        for library in self.called:
            if not isinstance(library, KernelLibrary):
                module.link_in(library._get_module_for_linking(), preserve=True)
        return bytes(module.as_bitcode())

    @classmethod
    def of_bitcode(
        cls, codegen: Any, name: str, bitcode: bytes, called: list[KernelLibrary]
    ) -> KernelLibrary:
        """Return the library of a module in the form of :meth:`bitcode`, which calls the kernels ``called``."""
        library = cls(codegen, name)
        library._final_module = binding.parse_bitcode(bitcode)
        library._linking_libraries = called
        library._finalized = True
        return library


class EntryLibrary(KernelLibrary):
    """The module of an entry, with all kernels below it, and its machine code."""

    #: Names of functions that it defines itself and that stay visible.
    _own: frozenset[str] = frozenset()

    def add_llvm_module(self, ll_module: Any) -> None:
        """Add a module with functions that stay visible."""
        self._own |= frozenset(self._names(ll_module.functions))
        super().add_llvm_module(ll_module)

    def _optimize_final_module(self) -> None:
        """Optimise the module as a whole, with all functions internal except the entry's own.

        A kernel with one caller is then inlined, and unused members of the array structures are not passed on.
        """
        for function in self._final_module.functions:
            if not function.is_declaration and function.name not in self._own:
                function.linkage = binding.Linkage.internal
        # LLVM's -O1 once: numba's -O3 takes 50 % longer and gives no faster kernels
        made: Any = self._codegen._module_pass_manager(opt=1, loop_vectorize=False, slp_vectorize=False)
        # older numba versions return only the pass manager
        manager, *builder = made if isinstance(made, tuple) else (made,)
        manager.run(self._final_module, *builder)

    def finalize(self) -> None:
        """Link the kernels below, and optimise the whole module."""
        self._linking_libraries = list(dict.fromkeys(self.below()))
        JITCodeLibrary.finalize(self)

    def set_environments(self) -> None:
        """Set the Python environments that the functions of the module refer to."""
        codegen: Any = self._codegen
        for name in self._names(self._final_module.global_variables):
            environment = lookup_environment(name) if name.startswith(_ENVIRONMENT) else None
            if environment is not None:
                codegen.set_env(name, environment)

    def machine_code(self) -> tuple[bytes, tuple[str, ...]]:
        """Return the machine code, and the names that it defines."""
        module = self._final_module
        names = self._names(module.functions) + self._names(module.global_variables)
        return bytes(self._get_compiled_object()), names

    @classmethod
    def of_machine_code(cls, codegen: Any, name: str, code: bytes, names: tuple[str, ...]) -> EntryLibrary:
        """Return the library of machine code in the form of :meth:`machine_code`; other libraries cannot link it."""
        library = cls(codegen, name)
        library.enable_object_caching()
        library._set_compiled_object(code)
        library._finalize_final_module()
        codegen._engine._defined_symbols.update(names)
        return library

    @staticmethod
    def _names(values: Any) -> tuple[str, ...]:
        return tuple(value.name for value in values if not value.is_declaration)


# Lowering with fewer instructions: variables and loops without reference counts and error checks.


class FoldingBuilder(ll.IRBuilder):  # type: ignore[misc]
    """An IR builder that folds the extraction of a member from an aggregate that was just built."""

    def extract_value(self, agg: Any, idx: Any, name: str = "") -> Any:
        """Return a member of an aggregate."""
        at = tuple(idx) if isinstance(idx, (tuple, list)) else (idx,)
        inner = agg
        while isinstance(inner, ll.InsertValue):
            placed = tuple(inner.indices)
            if placed == at:
                return inner.operands[1]
            if placed == at[: len(placed)] or at == placed[: len(at)]:
                break
            inner = inner.operands[0]
        if isinstance(inner, ll.Constant) and isinstance(inner.constant, (list, tuple)) and len(at) == 1:
            return inner.constant[at[0]]
        return super().extract_value(inner, at, name)


class ShortLowering(Lower):
    """Numba's lowering of a function, with fewer instructions."""

    context: Any
    builder: Any

    def setup_function(self, fndesc: Any) -> None:
        """Start a function with the folding builder."""
        super().setup_function(fndesc)
        self.builder = FoldingBuilder(self.entry_block)
        self.call_helper = self.call_conv.init_call_helper(self.builder)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """Lower an expression."""
        if expr.op in ("pair_first", "pair_second") and not self._counted(resty):
            return self.builder.extract_value(self.loadvar(expr.value.name), int(expr.op == "pair_second"))
        if expr.op == "call" and isinstance(resty, core_types.RangeType) and len(expr.args) < 3:
            return self._range(resty, expr.args)
        if expr.op == "getiter" and isinstance(resty, core_types.RangeIteratorType):
            start, stop, step = self._members(expr.value, 3)
            if isinstance(step, ll.Constant) and step.constant == 1:
                return self._iterator(resty, start, stop, step)
        if expr.op == "iternext" and isinstance(self.typeof(expr.value.name), core_types.RangeIteratorType):
            return self._next(resty, self.loadvar(expr.value.name))
        return super().lower_expr(resty, expr)

    def incref(self, typ: Any, val: Any) -> None:
        """Increment a reference count, except for arrays within records."""
        if self._counted(typ):
            super().incref(typ, val)

    def decref(self, typ: Any, val: Any) -> None:
        """Decrement a reference count, except for arrays within records."""
        if self._counted(typ):
            super().decref(typ, val)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Store a variable; its previous value is read only if it is reference counted."""
        kind = self.typeof(name)
        if self._counted(kind) or name in self._singly_assigned_vars:
            super().storevar(value, name, argidx)
        else:
            self._alloca_var(name, kind)
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        """Delete a variable, if it is reference counted."""
        if self._counted(self.typeof(name)):
            super().delvar(name)

    def _members(self, variable: Any, number: int) -> tuple[Any, ...]:
        whole = self.loadvar(variable.name)
        return tuple(self.builder.extract_value(whole, n) for n in range(number))

    def _counted(self, kind: Any) -> bool:
        """Return True if a value is or contains something that is reference counted."""
        if not self.context.enable_nrt or isinstance(kind, core_types.NestedArray):
            return False
        return bool(self.context.data_model_manager[kind].contains_nrt_meminfo())

    def _range(self, kind: Any, args: list[Any]) -> Any:
        """Return a range with step one."""
        number = self.context.get_value_type(kind.dtype)
        bounds = [self._cast_var(one, kind.dtype) for one in args]
        zero, one = ll.Constant(number, 0), ll.Constant(number, 1)
        start, stop = bounds if len(bounds) == 2 else (zero, *bounds)
        made = ll.Constant(self.context.get_value_type(kind), [zero, zero, one])
        return self.builder.insert_value(self.builder.insert_value(made, start, 0), stop, 1)

    def _iterator(self, kind: Any, start: Any, stop: Any, step: Any) -> Any:
        """Return an iterator over a range with step one: position (pointer), end, step, number left (pointer)."""
        place, left = (cgutils.alloca_once(self.builder, start.type) for _ in range(2))
        self.builder.store(start, place)
        self.builder.store(self.builder.sub(stop, start, flags=("nsw",)), left)
        made = ll.Constant(self.context.get_value_type(kind), ll.Undefined)
        for n, member in enumerate((place, stop, step, left)):
            made = self.builder.insert_value(made, member, n)
        return made

    def _next(self, kind: Any, iterator: Any) -> Any:
        """Return the next number of a range and whether it is valid; without a branch, counting on past the end."""
        place, step, left = (self.builder.extract_value(iterator, n) for n in (0, 2, 3))
        value, count = self.builder.load(place), self.builder.load(left)
        there = self.builder.icmp_signed(">", count, ll.Constant(count.type, 0))
        self.builder.store(self.builder.sub(count, ll.Constant(count.type, 1)), left)
        self.builder.store(self.builder.add(value, step), place)
        pair = ll.Constant(self.context.get_value_type(kind), ll.Undefined)
        return self.builder.insert_value(self.builder.insert_value(pair, value, 0), there, 1)


# the stubs leave much out
types: Any = numba_types
errors: Any = numba_errors
#: Variables, each with its type when it was read.
_Types = list[tuple[Any, Any]]
_COMPARISONS: dict[Any, str] = {
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
}
_REAL = {operator.add: "fadd", operator.sub: "fsub", operator.mul: "fmul", operator.truediv: "fdiv"}
_WHOLE = {operator.add: "add", operator.sub: "sub", operator.mul: "mul"}
_INTP = ll.IntType(types.intp.bitwidth)
_BYTES = ll.IntType(8).as_pointer()
#: A compile-time number, or a value of the program.
_Number = Any
#: Operations whose result contains only arrays of their operands.
_BORROWING = (
    *("getitem", "static_getitem", "typed_getitem", "getattr", "cast", "phi", "null"),
    *("build_tuple", "getiter", "iternext", "pair_first", "pair_second", "exhaust_iter"),
)
_numba: Any = numba  # the stubs leave these out
_register_pass: Any = register_pass


# Type inference of a function.


class RememberedTypes:
    """A typing context with a cache.

    For each sum, numba tries again all ways to add two values, including arrays and dates.
    """

    def __init__(self, known: Any) -> None:
        self._known = known
        self._found: dict[Any, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._known, name)

    def resolve_function_type(self, function: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a function for argument types; failures are not cached."""
        if isinstance(function, types.Dispatcher):
            return self._known.resolve_function_type(function, args, kws)
        key = function, tuple(args), tuple(kws.items())
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._known.resolve_function_type(function, args, kws)
        return found


class _ReadVariables(TypeVarMap):
    """Variables by name, recording those read since ``read`` was last reset."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[Any] = []

    def __getitem__(self, name: str) -> Any:
        variable = super().__getitem__(name)
        self.read.append(variable)
        return variable


class Inference(TypeInferer):
    """Numba's type inference, but a statement is revisited only if a type that it read has changed."""

    def __init__(self, known: Any, function: Any) -> None:
        super().__init__(known, function, errors.WarningsFixer(errors.NumbaWarning))
        self.typevars: _ReadVariables = _ReadVariables()
        self.typevars.set_context(known)

    def propagate(self, raise_errors: bool = True) -> Any:
        """Visit statements until no type changes; raise the first remaining error."""
        statements = self.constraints.constraints
        seen: list[_Types | None] = [None] * len(statements)
        # as strings, since an exception would keep all objects in its frames alive
        failed: dict[int, str] = {}
        while stale := [n for n, types in enumerate(seen) if types is None or _are_others(types)]:
            for n in stale:
                failed.pop(n, None)
                self.typevars.read = []
                try:
                    statements[n](self)
                except errors.TypingError as error:
                    failed[n] = str(error)
                seen[n] = [(variable, variable.type) for variable in self.typevars.read]
        found = [errors.TypingError(failed[n], loc=statements[n].loc) for n in sorted(failed)]
        if found and raise_errors:
            raise found[0]
        return found


def _are_others(types: _Types) -> bool:
    return any(variable.type is not kind for variable, kind in types)


@contextmanager
def plain_messages() -> Iterator[None]:
    """Disable colours and source quotes in numba's errors within a block, since most are caught and discarded."""
    with _replaced(errors.termcolor(), "_markup", _as_it_is), _replaced(ir.Loc, "strformat", ir.Loc.__str__):
        yield


@contextmanager
def _replaced(owner: Any, name: str, function: Any) -> Iterator[None]:
    before = getattr(owner, name, None)
    setattr(owner, name, function)
    try:
        yield
    finally:
        setattr(owner, name, before)


def _as_it_is(message: str, *_: Any) -> str:
    return message


# Sums, products and comparisons of two numbers as single instructions.
#
# For each sum, numba checks in three failing ways whether the operands are constants, and searches its tables.


class ArithmeticLowering(ShortLowering):
    """Numba's lowering, with single instructions for two numbers of the same type."""

    def lower_binop(self, resty: Any, expr: Any, op: Any) -> Any:
        """Lower a binary operation."""
        signature = self.fndesc.calltypes[expr]
        left, right = (core_types.unliteral(kind) for kind in signature.args)
        if left != right or not self._is_short(left, op):
            return super().lower_binop(resty, expr, op)
        a, b = (self._cast_var(one, left) for one in (expr.lhs, expr.rhs))
        return self.context.cast(self.builder, self._write(left, op, a, b), signature.return_type, resty)

    def _is_short(self, kind: Any, op: Any) -> bool:
        if kind == core_types.float64:
            # numba can be asked to raise an error instead of returning infinity
            raises = op is operator.truediv and self.context.error_model.raise_on_fp_zero_division
            return op in _COMPARISONS or (op in _REAL and not raises)
        return bool(kind == core_types.int64) and (op in _COMPARISONS or op in _WHOLE)

    def _write(self, kind: Any, op: Any, a: Any, b: Any) -> Any:
        real, comparison = kind == core_types.float64, _COMPARISONS.get(op)
        if comparison is None:
            if real:
                return getattr(self.builder, _REAL[op])(a, b)
            return getattr(self.builder, _WHOLE[op])(a, b, flags=("nsw",))
        if not real:
            return self.builder.icmp_signed(comparison, a, b)
        # NaN differs from every number, including itself
        ordered = op is not operator.ne
        return (self.builder.fcmp_ordered if ordered else self.builder.fcmp_unordered)(comparison, a, b)


# Elements of arrays, and arrays within records, in few instructions.
#
# For an element numba builds the whole array structure, with shape and strides, and counts references: some sixty
# instructions for one number, most of which LLVM removes again. Here an element is an address and a load.


class ElementLowering(ArithmeticLowering):
    """Numba's lowering, with short code for array elements."""

    context: Any
    builder: Any

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """Lower an expression."""
        if expr.op == "getattr" and isinstance(resty, types.NestedArray):
            return self._nested(expr.value, expr.attr, resty)
        place = self._place(expr.value, expr.index) if expr.op in ("getitem", "static_getitem") else None
        if place is None:
            return super().lower_expr(resty, expr)
        array = self.typeof(expr.value.name)
        value = self.context.unpack_value(self.builder, array.dtype, place, _alignment(array))
        return self.context.cast(self.builder, value, array.dtype, resty)

    def lower_inst(self, inst: Any) -> Any:
        """Lower a statement."""
        if isinstance(inst, (ir.SetItem, ir.StaticSetItem)):
            kind = self.typeof(inst.value.name)
            number = isinstance(kind, (types.Number, types.Boolean))
            place = self._place(inst.target, inst.index) if number else None
            if place is not None:
                array = self.typeof(inst.target.name)
                value = self.context.cast(self.builder, self.loadvar(inst.value.name), kind, array.dtype)
                return self.context.pack_value(self.builder, array.dtype, value, place, _alignment(array))
        return super().lower_inst(inst)

    def _nested(self, record: Any, field: str, array: Any) -> Any:
        """Return the array in a field of a record: its address, and constants for all else."""
        model = self.context.data_model_manager[array]
        kind, number = model.get_value_type(), self.context.get_data_type(array.dtype)
        offset = self.typeof(record.name).offset(field)
        data = cgutils.get_record_member(self.builder, self.loadvar(record.name), offset, number)
        constants: list[Any] = [ll.Constant(member, None) for member in kind.elements]
        for name, numbers in (("shape", array.shape), ("strides", array.strides)):
            at = model.get_field_position(name)
            constants[at] = ll.Constant(kind.elements[at], [ll.Constant(_INTP, n) for n in numbers])
        constants[model.get_field_position("nitems")] = ll.Constant(_INTP, array.nitems)
        constants[model.get_field_position("itemsize")] = ll.Constant(_INTP, array.size)
        whole = ll.Constant(kind, constants)
        return self.builder.insert_value(whole, data, model.get_field_position("data"))

    def _place(self, variable: Any, index: Any) -> Any:
        """Return the address of an element; None if it is not a single element or bounds are checked."""
        array = self.typeof(variable.name)
        if type(array) not in (types.Array, types.NestedArray) or self.context.enable_boundscheck:
            return None
        indices = self._indices(index)
        if indices is None or len(indices) != array.ndim:
            return None
        within = [self._from_the_end(variable, axis, n) for axis, n in enumerate(indices)]
        data = self._member(variable, "data")
        if array.layout == "C":
            return self.builder.gep(data, [_value(self._flat(variable, within))], inbounds=True)
        offset: _Number = 0
        for axis, n in enumerate(within):
            offset = self._sum(offset, self._product(n, self._member(variable, "strides", axis)))
        bytes_ = self.builder.bitcast(data, _BYTES)
        return self.builder.bitcast(self.builder.gep(bytes_, [_value(offset)], inbounds=True), data.type)

    def _indices(self, index: Any) -> list[tuple[_Number, bool]] | None:
        """Return the integers of an index, each with whether it can be negative; None for other indices."""
        if not isinstance(index, ir.Var):
            numbers = index if isinstance(index, tuple) else (index,)
            return [(n, n < 0) for n in numbers] if all(type(n) is int for n in numbers) else None
        kind, value = self.typeof(index.name), self.loadvar(index.name)
        if isinstance(kind, types.Integer):
            kinds, values = (kind,), (value,)
        elif isinstance(kind, types.BaseTuple) and all(isinstance(one, types.Integer) for one in kind):
            kinds = tuple(kind)
            values = self._members(index, len(kinds))
        else:
            return None
        return [self._index(kind, value) for kind, value in zip(kinds, values, strict=True)]

    def _index(self, kind: Any, value: Any) -> tuple[_Number, bool]:
        number = self.context.cast(self.builder, value, kind, types.intp)
        if isinstance(number, ll.Constant) and isinstance(number.constant, int):
            return number.constant, number.constant < 0
        return number, types.unliteral(kind).signed

    def _from_the_end(self, variable: Any, axis: int, index: tuple[_Number, bool]) -> _Number:
        """Return an index counted from the start; a negative one counts from the end."""
        number, negative = index
        if not negative:
            return number
        moved = self._sum(number, self._extent(variable, axis))
        if isinstance(number, int):
            return moved
        before = self.builder.icmp_signed("<", number, ll.Constant(_INTP, 0))
        return self.builder.select(before, _value(moved), number)

    def _flat(self, variable: Any, indices: list[_Number]) -> _Number:
        """Return the flat index of an element in C order."""
        place = indices[0]
        for axis, n in enumerate(indices[1:], 1):
            place = self._sum(self._product(place, self._extent(variable, axis)), n)
        return place

    def _extent(self, variable: Any, axis: int) -> _Number:
        array = self.typeof(variable.name)
        if isinstance(array, types.NestedArray):
            return array.shape[axis]
        return self._member(variable, "shape", axis)

    def _member(self, variable: Any, name: str, *axis: int) -> Any:
        """Return a member of an array structure; from memory only this member is loaded."""
        model = self.context.data_model_manager[self.typeof(variable.name)]
        at = (model.get_field_position(name), *axis)
        if variable.name not in self._blk_local_varmap:
            zero, *steps = (ll.Constant(ll.IntType(32), n) for n in (0, *at))
            where = self.builder.gep(self.getvar(variable.name), [zero, *steps], inbounds=True)
            return self.builder.load(where)
        return self.builder.extract_value(self.loadvar(variable.name), at)

    def _sum(self, a: _Number, b: _Number) -> _Number:
        if isinstance(a, int) and isinstance(b, int):
            return a + b
        if 0 in (n for n in (a, b) if isinstance(n, int)):
            return b if isinstance(a, int) else a
        return self.builder.add(_value(a), _value(b), flags=("nsw",))

    def _product(self, a: _Number, b: _Number) -> _Number:
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        return self.builder.mul(_value(a), _value(b), flags=("nsw",))


def _value(number: _Number) -> Any:
    return ll.Constant(_INTP, number) if isinstance(number, int) else number


def _alignment(array: Any) -> int | None:
    return None if array.aligned else 1


# Functions without reference counts: those whose arrays all belong to their caller.
#
# Numba counts references at every call and for every view, atomically; one count takes as long as twenty
# multiplications, and a step of a pendulum has dozens.


class CountingWrapper(ElementLowering):
    """Lowers a function and its Python wrapper; only the wrapper counts references."""

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        """Create the wrapper that unpacks the arguments from Python."""
        self.context = self.context.subtarget(enable_nrt=True)
        super().create_cpython_wrapper(release_gil)


def owns_arrays(state: Any) -> bool:
    """Return True if a function creates or returns an array; arrays from intrinsics count as borrowed."""
    managed = state.targetctx.data_model_manager
    if managed[state.return_type].contains_nrt_meminfo():
        return True
    for block in state.func_ir.blocks.values():
        for assignment in block.find_insts(ir.Assign):
            value = assignment.value
            if not isinstance(value, ir.Expr) or value.op in _BORROWING:
                continue
            made = managed[state.typemap[assignment.target.name]].contains_nrt_meminfo()
            if made and not (value.op == "call" and _is_intrinsic(state.typemap[value.func.name])):
                return True
    return False


def _is_intrinsic(kind: Any) -> bool:
    return isinstance(kind, core_types.Function) and all(
        issubclass(t, _IntrinsicTemplate) for t in kind.templates
    )


class _Passes(PassManager):
    """A sequence of passes, without numba's consistency checks after each."""

    def run(self, state: Any) -> None:
        """Run all passes on a function."""
        with plain_messages():
            for step, _ in self.passes:
                _pass_registry.get(step).pass_inst.run_pass(state)


@_register_pass(mutates_CFG=False, analysis_only=False)
class _SingleAssignments(untyped.ReconstructSSA):
    """Static single assignment: a separate variable for every assigned value."""

    _name = "single_assignments"

    def run_pass(self, state: Any) -> bool:
        """Transform a function, and rebuild the definitions of its variables."""
        state.func_ir = reconstruct_ssa(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


@_register_pass(mutates_CFG=False, analysis_only=False)
class _Joins(typed.PreLowerStripPhis):
    """Removal of phi nodes: where paths join, each assigns the same variable."""

    _name = "joins"

    def run_pass(self, state: Any) -> bool:
        """Transform a function, and rebuild the definitions of its variables."""
        state.func_ir = self._strip_phi_nodes(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


@_register_pass(mutates_CFG=False, analysis_only=True)
class _Lifetimes(typed.IRLegalization):
    """Lifetimes of variables, needed only for reference counts."""

    _name = "lifetimes"

    def run_pass(self, state: Any) -> bool:
        """Mark the ends of variables, or disable reference counts if the function creates and returns no array."""
        if owns_arrays(state):
            check_and_legalize_ir(state.func_ir, flags=state.flags)
        else:
            state.targetctx = state.targetctx.subtarget(enable_nrt=False)
        return True


_remembered: dict[int, RememberedTypes] = {}


@_register_pass(mutates_CFG=True, analysis_only=False)
class _TypeInference(typed.NopythonTypeInference):
    _name = "nopython_type_inference"

    def run_pass(self, state: Any) -> bool:
        """Infer the types of all variables."""
        known = state.typingctx
        remembered = _remembered.setdefault(id(known), RememberedTypes(known))
        inference = Inference(remembered, state.func_ir)
        with known.callstack.register(state.targetctx.target, inference, state.func_id, state.args):
            for n, (name, kind) in enumerate(zip(state.func_ir.arg_names, state.args, strict=True)):
                inference.seed_argument(name, n, kind)
            if state.return_type is not None:
                inference.seed_return(state.return_type)
            inference.build_constraint()
            inference.propagate()
            state.typemap, state.return_type, state.calltypes = inference.unify()
        return True


@_register_pass(mutates_CFG=True, analysis_only=False)
class _EntryLowering(typed.NativeLowering):
    _name = "native_lowering"
    lowering_class = CountingWrapper

    def run_pass(self, state: Any) -> bool:
        """Lower an entry, and generate machine code for the entry and all kernels that it calls."""
        state.library = EntryLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        super().run_pass(state)
        state.library.set_environments()
        return True


@_register_pass(mutates_CFG=True, analysis_only=False)
class _KernelLowering(typed.NativeLowering):
    _name = "native_lowering"
    lowering_class = ElementLowering

    def run_pass(self, state: Any) -> bool:
        """Lower a kernel that others call."""
        library = KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        library.origin = Origin(state.func_id.modname, state.func_id.func_qualname, tuple(state.args))
        state.library, state.flags.no_compile = library, True
        super().run_pass(state)
        state["cr"] = state["cr"]._replace(
            cfunc=register_kernel(state.targetctx, library, state["cr"].fndesc, state["cr"].env)
        )
        return True


def register_kernel(context: Any, library: KernelLibrary, description: Any, environment: Any) -> Any:
    """Register a translated kernel for calls from others; return its function object, which Python cannot call."""
    function = _numba._dynfunc.make_function(
        description.lookup_module(), description.qualname, "", 0, environment, (library,)
    )
    context.insert_user_function(function, description, [library])
    return function


class _Pipeline(CompilerBase):
    lowering: Any

    def define_pipelines(self) -> list[Any]:
        """Return the passes, without those for closures, literals, inlined overloads and array expressions."""
        passes = _Passes("kernel")
        for step in (
            untyped.TranslateByteCode,
            untyped.FixupArgs,
            untyped.IRProcessing,
            untyped.RewriteSemanticConstants,
            untyped.GenericRewrites,
            _SingleAssignments,
            _TypeInference,
            _Joins,
            _Lifetimes,
            self.lowering,
            typed.NoPythonBackend,
        ):
            passes.add_pass(step, step.__name__)
        passes.finalize()
        return [passes]


class EntryPipeline(_Pipeline):
    """Compiler pipeline of a function called from Python or through a pointer."""

    lowering = _EntryLowering


class KernelPipeline(_Pipeline):
    """Compiler pipeline of a function called only by other kernels."""

    lowering = _KernelLowering
