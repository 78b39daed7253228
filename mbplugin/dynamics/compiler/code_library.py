"""Code libraries: each kernel is translated once, and all kernels below an entry are optimised together.

Numba optimises every function together with all its callees, generates machine code for each, and repeats both for
every caller. Kernels are called only by other kernels; only an entry, called from Python or through a pointer, needs
machine code. Here a kernel is one module of LLVM IR; an entry links each module below it once, and is optimised as a
whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import llvmlite.binding as ll
from llvmlite import ir as llvmlite_ll
from numba.core import cgutils, types
from numba.core.codegen import JITCodeLibrary
from numba.core.environment import lookup_environment
from numba.core.lowering import Lower

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
        library._final_module = ll.parse_bitcode(bitcode)
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
                function.linkage = ll.Linkage.internal
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


class FoldingBuilder(llvmlite_ll.IRBuilder):  # type: ignore[misc]
    """An IR builder that folds the extraction of a member from an aggregate that was just built."""

    def extract_value(self, agg: Any, idx: Any, name: str = "") -> Any:
        """Return a member of an aggregate."""
        at = tuple(idx) if isinstance(idx, (tuple, list)) else (idx,)
        inner = agg
        while isinstance(inner, llvmlite_ll.InsertValue):
            placed = tuple(inner.indices)
            if placed == at:
                return inner.operands[1]
            if placed == at[: len(placed)] or at == placed[: len(at)]:
                break
            inner = inner.operands[0]
        if (
            isinstance(inner, llvmlite_ll.Constant)
            and isinstance(inner.constant, (list, tuple))
            and len(at) == 1
        ):
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
        if expr.op == "call" and isinstance(resty, types.RangeType) and len(expr.args) < 3:
            return self._range(resty, expr.args)
        if expr.op == "getiter" and isinstance(resty, types.RangeIteratorType):
            start, stop, step = self._members(expr.value, 3)
            if _is_one(step):
                return self._iterator(resty, start, stop, step)
        if expr.op == "iternext" and isinstance(self.typeof(expr.value.name), types.RangeIteratorType):
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
        if not self.context.enable_nrt or isinstance(kind, types.NestedArray):
            return False
        return bool(self.context.data_model_manager[kind].contains_nrt_meminfo())

    def _range(self, kind: Any, args: list[Any]) -> Any:
        """Return a range with step one."""
        number = self.context.get_value_type(kind.dtype)
        bounds = [self._cast_var(one, kind.dtype) for one in args]
        zero, one = llvmlite_ll.Constant(number, 0), llvmlite_ll.Constant(number, 1)
        start, stop = bounds if len(bounds) == 2 else (zero, *bounds)
        made = llvmlite_ll.Constant(self.context.get_value_type(kind), [zero, zero, one])
        return self.builder.insert_value(self.builder.insert_value(made, start, 0), stop, 1)

    def _iterator(self, kind: Any, start: Any, stop: Any, step: Any) -> Any:
        """Return an iterator over a range with step one: position (pointer), end, step, number left (pointer)."""
        place, left = (cgutils.alloca_once(self.builder, start.type) for _ in range(2))
        self.builder.store(start, place)
        self.builder.store(self.builder.sub(stop, start, flags=("nsw",)), left)
        made = llvmlite_ll.Constant(self.context.get_value_type(kind), llvmlite_ll.Undefined)
        for n, member in enumerate((place, stop, step, left)):
            made = self.builder.insert_value(made, member, n)
        return made

    def _next(self, kind: Any, iterator: Any) -> Any:
        """Return the next number of a range and whether it is valid; without a branch, counting on past the end."""
        place, step, left = (self.builder.extract_value(iterator, n) for n in (0, 2, 3))
        value, count = self.builder.load(place), self.builder.load(left)
        there = self.builder.icmp_signed(">", count, llvmlite_ll.Constant(count.type, 0))
        self.builder.store(self.builder.sub(count, llvmlite_ll.Constant(count.type, 1)), left)
        self.builder.store(self.builder.add(value, step), place)
        pair = llvmlite_ll.Constant(self.context.get_value_type(kind), llvmlite_ll.Undefined)
        return self.builder.insert_value(self.builder.insert_value(pair, value, 0), there, 1)


def _is_one(number: Any) -> bool:
    return isinstance(number, llvmlite_ll.Constant) and number.constant == 1
