"""The loads of a state, and the joints held under them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from mbplugin.dynamics import newton_euler
from mbplugin.joint_reactions import (
    ClosedState,
    Model,
    held_besides,
    held_joints,
    spring_loads,
    with_held,
)
from mbplugin.joint_reactions.statics import (
    Balance,
    System,
    balance,
    build_system,
    joint_motion,
    yielding_rates,
)
from mbplugin.joint_reactions.stiffness import Applied
from mbplugin.model.mechanism import Lock
from mbplugin.model.scene import Load, LoadLike, Payload, PayloadLike, Scene, read_loads, read_payloads
from mbplugin.model.spatial import Array

#: Multipliers below this fraction of the largest are 0; 1.570796327 rad in a file leaves up to 1e-11.
_ROUNDING = 1e-11


def applied_to(
    state: ClosedState, model: Model, loads: Iterable[LoadLike], payloads: Iterable[PayloadLike] | None
) -> Applied:
    """Return loads, springs and payloads of the scene and the call, with the equations they enter."""
    own: tuple[Sequence[Load], Sequence[Payload]] = ((), ())
    if isinstance(model, Scene):
        own = model.loads, model.payloads
    springs = spring_loads(state.mech, model.springs if isinstance(model, Scene) else (), state.q, state.qd)
    all_loads = (*own[0], *springs, *read_loads(state.mech, loads))
    all_payloads = tuple(own[1]) if payloads is None else read_payloads(state.mech, payloads)
    made = newton_euler(state.mech, state.q, state.qd, loads=all_loads, payloads=all_payloads)
    return Applied(
        made, state.accelerations, all_loads, all_payloads, (*own[0], *read_loads(state.mech, loads))
    )


def held_under(
    state: ClosedState, model: Model, applied: Applied, hold: Iterable[str] | None
) -> tuple[tuple[Lock, ...], tuple[Lock, ...], System, Balance]:
    """Return the held joints, those assumed to be held, the system with both, and the balance of the loads.

    If the caller does not specify held joints, joints without a drive that the loads move are assumed to be held,
    since files omit the effort of wheels and fingers. Nothing is assumed if that does not balance the loads.
    """
    missing = applied.equations.missing(applied.accelerations)

    def with_locks(locks: Sequence[Lock]) -> tuple[System, Balance]:
        mech = with_held(state.mech, locks)
        system = build_system(mech, state.q, state.motion.poses, state.motion.columns, state.tolerance)
        return system, balance(system, missing)

    held = held_joints(state.motion, hold, _actuated(model), state.tolerance)
    system, found = with_locks(held)
    assumed: tuple[Lock, ...] = ()
    trial = system, found
    while hold is None and trial[1].share > state.tolerance:
        moving = {name for name, _, _ in joint_motion(trial[0].mech, trial[0], trial[1].rest)}
        yielding = yielding_rates(trial[0])
        # a loop that is free to first order only has no finite reactions, even if further joints are held
        moved = set() if yielding and yielding >= moving & {*state.mech.qd_names} else moving - yielding
        more = held_besides(state.motion, (*held, *assumed), moved, state.tolerance)
        if not more:
            return held, (), system, found
        assumed = (*assumed, *more)
        trial = with_locks((*held, *assumed))
    return held, assumed, *trial


def _actuated(model: Model) -> tuple[str, ...]:
    return tuple(a.joint for a in model.actuators) if isinstance(model, Scene) else ()


def lock_label(lock: Lock) -> str:
    """Return the name of a held joint, with its freedoms if it holds only some."""
    return lock.joint if not lock.freedoms else f"{lock.joint}.{'.'.join(lock.freedoms)}"


def without_rounding(values: Array) -> Array:
    """Return values (n,) with those of rounding size set to zero, including the rounding of ten-digit angles."""
    return np.where(np.abs(values) < _ROUNDING * np.abs(values).max(initial=0.0), 0.0, values)
