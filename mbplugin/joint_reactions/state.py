"""The state for reactions: a closed pose, and a motion that the constraints allow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from mbplugin.constraints.rows.planar import plane_columns
from mbplugin.constraints.stated_state import closed_pose, following_rates, stated_state
from mbplugin.constraints.tolerance import rank_tolerance
from mbplugin.joint_reactions.motion import JointMotion
from mbplugin.model.mechanism.coordinate_units import rate_units
from mbplugin.model.mechanism.kinematics import JointValues, acceleration_vector, forward
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Scene, mechanism_of, option_of
from mbplugin.model.spatial import Array

Model = Scene | Mechanism


@dataclass(frozen=True, eq=False)
class ClosedState:
    """A mechanism at a closed pose with a motion that agrees with its constraints."""

    mech: Mechanism
    q: Array
    qd: Array
    qdd: Array
    accelerations: Array
    at_rest: bool
    planar: str | None
    tolerance: float
    motion: JointMotion
    notes: tuple[str, ...]


def closed_state(
    model: Model,
    q: JointValues,
    qd: JointValues,
    qdd: JointValues,
    tolerance: float | None,
    planar: str | None,
    *,
    closing: bool = False,
) -> ClosedState:
    """Close the loops and let rates and accelerations follow, see :mod:`mbplugin.constraints.stated_state`.

    With ``closing``, a vector q is only where the search for a closed pose starts.

    Raises
    ------
    BadUsage
        The tolerance is not between 0 and 1; no rates or accelerations satisfy the constraints.
    CannotClose
        The loops cannot be closed.
    ContradictedState
        Stated coordinates or rates contradict each other.
    UnknownName, BadNumber
        As for :func:`mbplugin.model.mechanism.kinematics.joint_vector`.
    """
    scene = model if isinstance(model, Scene) else None
    mech = mechanism_of(model)
    tolerance, planar = rank_tolerance(scene, tolerance), planar or option_of(model, "planar", None)
    stated = stated_state(model, q, qd, closing=closing)
    closed, notes = closed_pose(mech, stated)
    wanted = acceleration_vector(mech, qdd)
    motion = JointMotion(mech, closed.q, forward(mech, closed.q), plane_columns(planar))
    still = np.zeros(len(mech.qd_names)), np.zeros((len(mech.bodies), 6))
    if qd is None and qdd is None and not stated.qd.any():
        return ClosedState(
            mech, closed.q, still[0], still[0], still[1], True, planar, tolerance, motion, notes
        )
    v, corrected = following_rates(mech, closed.q, stated, motion.columns, motion.poses)
    a, v_dot = motion.accelerations(wanted, v, set(qdd) if isinstance(qdd, Mapping) else ())
    notes += corrected or _corrections(mech, "rates", "s", stated.qd, v)
    notes += _corrections(mech, "accelerations", "s²", wanted, a)
    return ClosedState(mech, closed.q, v, a, v_dot, False, planar, tolerance, motion, notes)


def _corrections(mech: Mechanism, what: str, per: str, before: Array, after: Array) -> tuple[str, ...]:
    """Return a note where values, ``before`` (nv,) and ``after`` (nv,), had to change to agree with the constraints."""
    units = np.array(rate_units(mech))
    found = []
    for unit in ("rad/s", "m/s"):
        own = units == unit
        change = float(np.abs(after - before)[own].max(initial=0.0))
        if change > 1e-9 * max(1.0, float(np.abs(after[own]).max(initial=0.0))):
            found.append(f"{change:.3g} {unit.removesuffix('s')}{per}")
    if not found:
        return ()
    return (f"{what} made to agree with the constraints: changed by up to {' and '.join(found)}",)
