"""``evaluate`` in absolute coordinates: called as the one of the tree, for the same loops.

It is compiled when a motion in absolute coordinates first asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numba import types

from mbplugin.dynamics.absolute_model import AbsoluteModel
from mbplugin.dynamics.compiler.jit import compiled
from mbplugin.dynamics.compiler.pointers import address_of
from mbplugin.dynamics.kernels.absolute.accelerations import absolute_accelerations
from mbplugin.dynamics.kernels.absolute.state import AbsoluteState
from mbplugin.dynamics.kernels.forces import LOAD, SPRING
from mbplugin.dynamics.kernels.resistance import RESISTANCE
from mbplugin.dynamics.kernels.rows import JOINT_FRAME, ROW, TERM
from mbplugin.dynamics.kernels.tree import COMPOSITE
from mbplugin.model.mechanism.identity import RowLabel
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.steppers.evaluate import (
    ACCELERATE,
    FORWARD_DYNAMICS,
    SIGNATURE,
    evaluate_address,
    evaluate_from,
)
from mbplugin.simulation.steppers.kernel_state import (
    INDICES,
    KERNEL_STATE,
    MATRIX,
    VECTOR,
    KernelState,
    load_struct,
    named_tuple,
    record_array,
    struct_loader,
    words_of,
)

#: The state as the compiler knows it.
ABSOLUTE_STATE = named_tuple(
    [record_array(d) for d in (COMPOSITE, JOINT_FRAME, ROW, TERM, LOAD, SPRING, RESISTANCE)]
    + [INDICES] * 5
    + [VECTOR, INDICES, MATRIX, VECTOR, MATRIX, MATRIX, VECTOR],
    AbsoluteState,
)
_load_absolute, _load_word = struct_loader(ABSOLUTE_STATE), struct_loader(types.intp)
#: Where the address of ``evaluate`` and the state stand behind the kernel state: an array has five words, and two more
#: for each dimension.
_ADDRESS = sum(5 + 2 * kind.ndim for kind in KERNEL_STATE)
_STATE = _ADDRESS + 1


def evaluate_absolute(place: int, what: int, t: float, begun: float, q: Array, qd: Array) -> bool:
    """Evaluate at q (nq,) and qd (nv,) as :func:`evaluate`, but for accelerations and power by absolute coordinates.

    Rows and their multipliers are those of the tree, with which events and the choice of rows go on.
    """
    m, a = load_struct(place), _load_absolute(place + 8 * _STATE)
    evaluate = evaluate_from(_load_word(place + 8 * _ADDRESS))
    if not what & ACCELERATE:
        return bool(evaluate(place, what, t, begun, q, qd))
    # what sticks is watched by its multiplier
    of_tree = what if len(m.resistances) else what & ~ACCELERATE
    regular = not of_tree or evaluate(place, of_tree, t, begun, q, qd)
    m.power[0] = m.power[1] = m.power[2] = 0.0
    known = absolute_accelerations(a, m.composites, m.rates, m.resistances, m.drive, q, qd, m.power)
    return bool(regular and known)


class AbsoluteEvaluation:
    """``evaluate_absolute`` of one model, and the states at which it looks.

    Parameters
    ----------
    model : AbsoluteModel
    """

    def __init__(self, model: AbsoluteModel) -> None:
        self._model = model
        #: What the state was made for, and where it stands behind the kernel state.
        self._known: tuple[KernelState, tuple[int, ...], int, AbsoluteState, AnyArray] | None = None

    def state(
        self, m: KernelState, active: tuple[int, ...], p: int, dropped: Sequence[RowLabel] = ()
    ) -> tuple[AbsoluteState, int]:
        """Return the state in which rows ``active`` of the tree hold, p of all being redundant, and its address."""
        known = self._known
        if known is None or known[0] is not m or known[1:3] != (active, p):
            state = self._model.holding(active, p, dropped)
            words = np.array([*words_of(m), evaluate_address(), *words_of(state)], dtype=np.int64)
            known = self._known = (m, active, p, state, words)
        return known[3], known[4].ctypes.data

    @property
    def address(self) -> int:
        """Where the compiled evaluation is, for loops."""
        return absolute_address()

    def at(self, place: int, t: float, begun: float, q: Array, qd: Array) -> bool:
        """Fill accelerations and power at q (nq,) and qd (nv,); return whether every body has mass.

        ``place`` is the address of a state, from :meth:`state`.
        """
        return bool(compiled_evaluate_absolute()(place, FORWARD_DYNAMICS, t, begun, q, qd))


@lru_cache(maxsize=1)
def compiled_evaluate_absolute() -> Any:
    """Return ``evaluate_absolute``, compiled or from the cache."""
    return compiled(evaluate_absolute, SIGNATURE, address=True)


@lru_cache(maxsize=1)
def absolute_address() -> int:
    """Return where the compiled ``evaluate_absolute`` is, for loops."""
    return address_of(compiled_evaluate_absolute(), SIGNATURE)
