"""The passes by which numba translates kernels and entries: its own, but for those that no kernel needs."""

from __future__ import annotations

from typing import Any

import numba
from numba.core import typed_passes as typed
from numba.core import untyped_passes as untyped
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.types import Dispatcher

from mbplugin.dynamics.compiler.borrowing import CountingWrapper, borrow_arrays
from mbplugin.dynamics.compiler.code_library import EntryLibrary, KernelLibrary, Origin
from mbplugin.dynamics.compiler.elements import ElementLowering

_numba: Any = numba  # the stubs leave these out
_register_pass: Any = register_pass


class _RememberedTypes:
    """What is known of types, with a memory.

    Numba tries every way to add two numbers, arrays and dates included, at each sum anew.
    """

    def __init__(self, known: Any) -> None:
        self._known = known
        self._found: dict[Any, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._known, name)

    def resolve_function_type(self, function: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a function for types of arguments; what cannot be called is not remembered."""
        if isinstance(function, Dispatcher):
            return self._known.resolve_function_type(function, args, kws)
        key = function, tuple(args), tuple(kws.items())
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._known.resolve_function_type(function, args, kws)
        return found


_remembered: dict[int, _RememberedTypes] = {}


@_register_pass(mutates_CFG=True, analysis_only=False)
class _TypeInference(typed.NopythonTypeInference):
    _name = "nopython_type_inference"

    def run_pass(self, state: Any) -> bool:
        """Find the types of all variables."""
        known = state.typingctx
        state.typingctx = _remembered.setdefault(id(known), _RememberedTypes(known))
        try:
            return bool(super().run_pass(state))
        finally:
            state.typingctx = known


@_register_pass(mutates_CFG=True, analysis_only=False)
class _EntryLowering(typed.NativeLowering):
    _name = "native_lowering"
    lowering_class = CountingWrapper

    def run_pass(self, state: Any) -> bool:
        """Translate an entry, and make machine code of it and all below it."""
        state.library = EntryLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        borrow_arrays(state)
        super().run_pass(state)
        state.library.set_environments()
        return True


@_register_pass(mutates_CFG=True, analysis_only=False)
class _KernelLowering(typed.NativeLowering):
    _name = "native_lowering"
    lowering_class = ElementLowering

    def run_pass(self, state: Any) -> bool:
        """Translate a kernel that others call."""
        library = KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        library.origin = Origin(state.func_id.modname, state.func_id.func_qualname, tuple(state.args))
        state.library, state.flags.no_compile = library, True
        borrow_arrays(state)
        super().run_pass(state)
        state["cr"] = state["cr"]._replace(
            cfunc=register_kernel(state.targetctx, library, state["cr"].fndesc, state["cr"].env)
        )
        return True


def register_kernel(context: Any, library: KernelLibrary, description: Any, environment: Any) -> Any:
    """Let other kernels call a translated one; return what stands for it there, and is nothing for Python."""
    function = _numba._dynfunc.make_function(
        description.lookup_module(), description.qualname, "", 0, environment, (library,)
    )
    context.insert_user_function(function, description, [library])
    return function


class _Pipeline(CompilerBase):
    lowering: Any

    def define_pipelines(self) -> list[Any]:
        """Return the passes, without those for closures, literals, overloads in place and array expressions."""
        passes = PassManager("kernel")
        for step in (
            untyped.TranslateByteCode,
            untyped.FixupArgs,
            untyped.IRProcessing,
            untyped.RewriteSemanticConstants,
            untyped.GenericRewrites,
            untyped.ReconstructSSA,
            _TypeInference,
            typed.PreLowerStripPhis,
            typed.IRLegalization,
            typed.AnnotateTypes,
            self.lowering,
            typed.NoPythonBackend,
        ):
            passes.add_pass(step, step.__name__)
        passes.finalize()
        return [passes]


class EntryPipeline(_Pipeline):
    """How a function that Python or a pointer calls is compiled."""

    lowering = _EntryLowering


class KernelPipeline(_Pipeline):
    """How a function that only other kernels call is translated."""

    lowering = _KernelLowering
