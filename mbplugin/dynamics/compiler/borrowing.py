"""Functions that count no references to arrays: those whose arrays all are their caller's.

Numba counts at every call and for every view, in a way that is safe between threads; one count takes as long as
twenty multiplications, and a step of a pendulum has dozens.
"""

from __future__ import annotations

from typing import Any

from numba.core import ir, types
from numba.core.typing.templates import _IntrinsicTemplate

from mbplugin.dynamics.compiler.elements import ElementLowering

#: Operations whose result has no array but those of its operands.
_BORROWING = (
    *("getitem", "static_getitem", "typed_getitem", "getattr", "cast", "phi", "null"),
    *("build_tuple", "getiter", "iternext", "pair_first", "pair_second", "exhaust_iter"),
)


class CountingWrapper(ElementLowering):
    """Translates a function, and what Python calls it through: that counts, as Python does."""

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        """Translate what unpacks the arguments from Python."""
        self.context = self.context.subtarget(enable_nrt=True)
        super().create_cpython_wrapper(release_gil)


def owns_arrays(state: Any) -> bool:
    """Return whether a function makes or returns an array; what our own intrinsics return is lent."""
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
    return isinstance(kind, types.Function) and all(issubclass(t, _IntrinsicTemplate) for t in kind.templates)
