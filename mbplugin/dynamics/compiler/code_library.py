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
from numba.core.codegen import JITCodeLibrary
from numba.core.environment import lookup_environment

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
