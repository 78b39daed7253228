"""The passes by which numba translates kernels and entries: its own, but for those that no kernel needs."""

from __future__ import annotations

from typing import Any

import numba
from numba.core import typed_passes as typed
from numba.core import untyped_passes as untyped
from numba.core.compiler import CompilerBase
from numba.core.compiler_machinery import PassManager, _pass_registry, register_pass
from numba.core.ir_utils import build_definitions, check_and_legalize_ir
from numba.core.ssa import reconstruct_ssa

from mbplugin.dynamics.compiler.borrowing import CountingWrapper, owns_arrays
from mbplugin.dynamics.compiler.code_library import EntryLibrary, KernelLibrary, Origin
from mbplugin.dynamics.compiler.elements import ElementLowering
from mbplugin.dynamics.compiler.inference import Inference, RememberedTypes, plain_messages

_numba: Any = numba  # the stubs leave these out
_register_pass: Any = register_pass


class _Passes(PassManager):
    """A sequence of passes: numba's own looks after each for what only a wrong pass can do."""

    def run(self, state: Any) -> None:
        """Run all passes on a function."""
        with plain_messages():
            for step, _ in self.passes:
                _pass_registry.get(step).pass_inst.run_pass(state)


@_register_pass(mutates_CFG=False, analysis_only=False)
class _SingleAssignments(untyped.ReconstructSSA):
    """Gives every value that a variable has a variable of its own."""

    _name = "single_assignments"

    def run_pass(self, state: Any) -> bool:
        """Change a function, and find again what defines each variable."""
        state.func_ir = reconstruct_ssa(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


@_register_pass(mutates_CFG=False, analysis_only=False)
class _Joins(typed.PreLowerStripPhis):
    """Where paths join: each puts a value into one variable."""

    _name = "joins"

    def run_pass(self, state: Any) -> bool:
        """Change a function, and find again what defines each variable."""
        state.func_ir = self._strip_phi_nodes(state.func_ir)
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        return True


@_register_pass(mutates_CFG=False, analysis_only=True)
class _Lifetimes(typed.IRLegalization):
    """Where variables end: of interest only where they are counted."""

    _name = "lifetimes"

    def run_pass(self, state: Any) -> bool:
        """Mark where variables end, or let the function count no references, where it makes and returns no array."""
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
        """Find the types of all variables."""
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
        """Translate an entry, and make machine code of it and all below it."""
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
        """Translate a kernel that others call."""
        library = KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        library.origin = Origin(state.func_id.modname, state.func_id.func_qualname, tuple(state.args))
        state.library, state.flags.no_compile = library, True
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
    """How a function that Python or a pointer calls is compiled."""

    lowering = _EntryLowering


class KernelPipeline(_Pipeline):
    """How a function that only other kernels call is translated."""

    lowering = _KernelLowering
