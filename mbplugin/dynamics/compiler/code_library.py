"""How kernels become machine code: each is translated once, and those below an entry are optimised together.

Numba optimises every function with all functions below it, makes machine code of each, and does both again for
whoever calls it. Kernels are called by other kernels; only an entry, which Python or a pointer calls, needs
machine code. Here a kernel is one module in LLVM's language; an entry links those below it, each once, and is
optimised as a whole.
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
    """What a library of a kernel was translated from.

    Parameters
    ----------
    module, name : str
        Of the function.
    args : tuple of numba types
    """

    module: str
    name: str
    args: tuple[Any, ...]


class KernelLibrary(JITCodeLibrary):
    """The module of a kernel that others call: neither optimised nor machine code by itself."""

    origin: Origin

    def add_llvm_module(self, ll_module: Any) -> None:
        """Add a module as it is: an entry is optimised with all that it holds."""
        ll_module.data_layout = self._codegen._data_layout
        self._final_module.link_in(ll_module)

    def finalize(self) -> None:
        """End the module; the entry links what is called."""
        for library in self._linking_libraries:
            # numba 0.59 has no such set: only what is parallel needs one there
            if hasattr(library, "_reload_init"):
                self._reload_init.update(library._reload_init)
        self._finalized = True

    @property
    def called(self) -> tuple[JITCodeLibrary, ...]:
        """Libraries of the functions that this one calls."""
        return tuple(dict.fromkeys(self._linking_libraries))

    def below(self) -> Iterator[JITCodeLibrary]:
        """Yield the libraries of the functions called, and of those that these call, more than once perhaps."""
        for library in self._linking_libraries:
            yield library
            if isinstance(library, KernelLibrary):
                yield from library.below()

    def bitcode(self) -> bytes:
        """Return the module as bytes, with what it calls that is no kernel."""
        module = self._get_module_for_linking().clone()
        for library in self.called:
            if not isinstance(library, KernelLibrary):
                module.link_in(library._get_module_for_linking(), preserve=True)
        return bytes(module.as_bitcode())

    @classmethod
    def of_bitcode(
        cls, codegen: Any, name: str, bitcode: bytes, called: list[KernelLibrary]
    ) -> KernelLibrary:
        """Return the library of a module as :meth:`bitcode` gives it, which calls kernels."""
        library = cls(codegen, name)
        library._final_module = ll.parse_bitcode(bitcode)
        library._linking_libraries = called
        library._finalized = True
        return library


class EntryLibrary(KernelLibrary):
    """The module of an entry, with all kernels below it, and its machine code."""

    #: What it defines itself, and others find by name.
    _own: frozenset[str] = frozenset()

    def add_llvm_module(self, ll_module: Any) -> None:
        """Add a module of its own."""
        self._own |= frozenset(self._names(ll_module.functions))
        super().add_llvm_module(ll_module)

    def _optimize_final_module(self) -> None:
        """Optimise all together; what is not its own is called from nowhere else.

        So a kernel with one caller becomes part of it, and of the seven numbers of an array those that nobody reads are
        not handed on.
        """
        for function in self._final_module.functions:
            if not function.is_declaration and function.name not in self._own:
                function.linkage = ll.Linkage.internal
        # LLVM's first level, once: numba's own way, the third, takes half as long again and gives no faster kernels
        made: Any = self._codegen._module_pass_manager(opt=1, loop_vectorize=False, slp_vectorize=False)
        # that of an older numba stands alone
        manager, *builder = made if isinstance(made, tuple) else (made,)
        manager.run(self._final_module, *builder)

    def finalize(self) -> None:
        """Link the kernels below, and optimise all together."""
        self._linking_libraries = list(dict.fromkeys(self.below()))
        JITCodeLibrary.finalize(self)

    def set_environments(self) -> None:
        """Let the functions of the module find what they know of Python."""
        codegen: Any = self._codegen
        for name in self._names(self._final_module.global_variables):
            environment = lookup_environment(name) if name.startswith(_ENVIRONMENT) else None
            if environment is not None:
                codegen.set_env(name, environment)

    def machine_code(self) -> tuple[bytes, tuple[str, ...]]:
        """Return the machine code, and the names of what it defines."""
        module = self._final_module
        names = self._names(module.functions) + self._names(module.global_variables)
        return bytes(self._get_compiled_object()), names

    @classmethod
    def of_machine_code(cls, codegen: Any, name: str, code: bytes, names: tuple[str, ...]) -> EntryLibrary:
        """Return the library of machine code as :meth:`machine_code` gives it; others cannot link it."""
        library = cls(codegen, name)
        library.enable_object_caching()
        library._set_compiled_object(code)
        library._finalize_final_module()
        codegen._engine._defined_symbols.update(names)
        return library

    @staticmethod
    def _names(values: Any) -> tuple[str, ...]:
        return tuple(value.name for value in values if not value.is_declaration)


# How numba translates a function, in fewer instructions: variables and loops that count nothing and raise
# nothing.


class FoldingBuilder(llvmlite_ll.IRBuilder):  # type: ignore[misc]
    """A writer of instructions that takes a member of what was put together just before from where it came."""

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
    """How numba translates a function, in fewer instructions."""

    context: Any
    builder: Any

    def setup_function(self, fndesc: Any) -> None:
        """Begin a function."""
        super().setup_function(fndesc)
        self.builder = FoldingBuilder(self.entry_block)
        self.call_helper = self.call_conv.init_call_helper(self.builder)

    def lower_expr(self, resty: Any, expr: Any) -> Any:
        """Translate an expression."""
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
        """Count a reference; nobody counts those to what lies within a record."""
        if self._counted(typ):
            super().incref(typ, val)

    def decref(self, typ: Any, val: Any) -> None:
        """Give a reference up."""
        if self._counted(typ):
            super().decref(typ, val)

    def storevar(self, value: Any, name: str, argidx: int | None = None) -> None:
        """Give a variable its value; what it had is looked at only where it is counted."""
        kind = self.typeof(name)
        if self._counted(kind) or name in self._singly_assigned_vars:
            super().storevar(value, name, argidx)
        else:
            self._alloca_var(name, kind)
            self.builder.store(value, self.getvar(name))

    def delvar(self, name: str) -> None:
        """End a variable; one that is not counted is left."""
        if self._counted(self.typeof(name)):
            super().delvar(name)

    def _members(self, variable: Any, number: int) -> tuple[Any, ...]:
        whole = self.loadvar(variable.name)
        return tuple(self.builder.extract_value(whole, n) for n in range(number))

    def _counted(self, kind: Any) -> bool:
        """Return whether a value is, or has, something that is counted."""
        if not self.context.enable_nrt or isinstance(kind, types.NestedArray):
            return False
        return bool(self.context.data_model_manager[kind].contains_nrt_meminfo())

    def _range(self, kind: Any, args: list[Any]) -> Any:
        """Return a range in steps of one."""
        number = self.context.get_value_type(kind.dtype)
        bounds = [self._cast_var(one, kind.dtype) for one in args]
        zero, one = llvmlite_ll.Constant(number, 0), llvmlite_ll.Constant(number, 1)
        start, stop = bounds if len(bounds) == 2 else (zero, *bounds)
        made = llvmlite_ll.Constant(self.context.get_value_type(kind), [zero, zero, one])
        return self.builder.insert_value(self.builder.insert_value(made, start, 0), stop, 1)

    def _iterator(self, kind: Any, start: Any, stop: Any, step: Any) -> Any:
        """Return an iterator over a range in steps of one: its place, the end, the step, the number left."""
        place, left = (cgutils.alloca_once(self.builder, start.type) for _ in range(2))
        self.builder.store(start, place)
        self.builder.store(self.builder.sub(stop, start, flags=("nsw",)), left)
        made = llvmlite_ll.Constant(self.context.get_value_type(kind), llvmlite_ll.Undefined)
        for n, member in enumerate((place, stop, step, left)):
            made = self.builder.insert_value(made, member, n)
        return made

    def _next(self, kind: Any, iterator: Any) -> Any:
        """Return the next number of a range, and whether there was one; past the end it only counts on."""
        place, step, left = (self.builder.extract_value(iterator, n) for n in (0, 2, 3))
        value, count = self.builder.load(place), self.builder.load(left)
        there = self.builder.icmp_signed(">", count, llvmlite_ll.Constant(count.type, 0))
        self.builder.store(self.builder.sub(count, llvmlite_ll.Constant(count.type, 1)), left)
        self.builder.store(self.builder.add(value, step), place)
        pair = llvmlite_ll.Constant(self.context.get_value_type(kind), llvmlite_ll.Undefined)
        return self.builder.insert_value(self.builder.insert_value(pair, value, 0), there, 1)


def _is_one(number: Any) -> bool:
    return isinstance(number, llvmlite_ll.Constant) and number.constant == 1
