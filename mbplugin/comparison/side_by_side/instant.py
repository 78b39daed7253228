"""The instant that all engines compute: one closed state, the accelerations that follow, and what acts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mbplugin.comparison.side_by_side.held import with_fixed
from mbplugin.constraints.reduction.velocity import body_twists
from mbplugin.dynamics.newton_euler import newton_euler
from mbplugin.errors import BadUsage
from mbplugin.joint_reactions.holding import held_joints
from mbplugin.joint_reactions.springs import spring_loads
from mbplugin.joint_reactions.state import ClosedState, closed_state
from mbplugin.joint_reactions.system import System, build_system
from mbplugin.model.loads import LoadLike, PayloadLike, read_loads, read_payloads
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.coupling import Driver, Lock
from mbplugin.model.mechanism.kinematics import JointValues, coordinates_of
from mbplugin.model.scene import Load, Payload, Scene, mechanism_of
from mbplugin.model.spatial import Array

#: A held joint that moves by more than this, rad/s or m/s, contradicts a given rate.
_MOVES = 1e-9


@dataclass(frozen=True, eq=False)
class Instant:
    """What every engine is given.

    Parameters
    ----------
    mech : Mechanism
        Held joints are fixed pairs; no drivers, no locks.
    q, qd, qdd : (nq,), (nv,), (nv,) array
        A closed pose, and the motion that follows from the loads; zeros in statics.
    loads, payloads : tuple
        All that acts besides gravity; springs as their forces at this state.
    at_rest : bool
        Statics.
    held : tuple of str
    """

    mech: Mechanism
    q: Array
    qd: Array
    qdd: Array
    loads: tuple[Load, ...]
    payloads: tuple[Payload, ...]
    at_rest: bool
    held: tuple[str, ...]


def instant_of(
    model: Scene | Mechanism,
    q: JointValues,
    qd: JointValues,
    loads: Iterable[LoadLike],
    payloads: Iterable[PayloadLike],
    hold: Iterable[str] | None,
    tolerance: float | None,
) -> tuple[Instant, System, ClosedState]:
    """Return the instant, all rows of its mechanism, and the state that was closed.

    Raises
    ------
    BadUsage
        A held joint that is to move, or drivers in a motion.
    MbPluginError
        As for :func:`mbplugin.joint_reactions.run.reactions`.
    """
    asked = closed_state(model, q, qd, None, tolerance, None)
    mech = mechanism_of(model)
    holders: list[Driver | Lock] = [*mech.locks]
    if asked.at_rest:
        actuated = [a.joint for a in model.actuators] if isinstance(model, Scene) else []
        holders += [*mech.drivers, *held_joints(asked.motion, hold, actuated, asked.tolerance)]
    elif mech.drivers:
        raise BadUsage(
            f"driver {mech.drivers[0].name!r} prescribes a motion",
            expected="motions that follow from the loads",
            remedy="take the driver out of the scene, or compare at rest",
        )
    else:
        holders += held_joints(asked.motion, hold or (), (), asked.tolerance)
    fixed = with_fixed(mech, asked.motion.poses, holders)
    scene = replace(model, mechanism=fixed) if isinstance(model, Scene) else fixed
    state = _at_fixed(asked, fixed, tuple(dict.fromkeys(h.joint for h in holders)))
    # a joint with a spring may be one of those that are held, and has no coordinate then
    springs = spring_loads(asked.mech, model.springs if isinstance(model, Scene) else (), asked.q, asked.qd)
    own: tuple[Sequence[Load], Sequence[Payload]] = ((), ())
    if isinstance(scene, Scene):
        own = scene.loads, scene.payloads
    acting = (*own[0], *springs, *read_loads(fixed, loads))
    carried = (*own[1], *read_payloads(fixed, payloads))
    system = build_system(fixed, state.q, state.motion.poses, state.motion.columns, state.tolerance)
    if not state.at_rest:
        state = _accelerated(state, system, acting, carried)
    names = tuple(dict.fromkeys(h.joint for h in holders))
    return (
        Instant(fixed, state.q, state.qd, state.qdd, acting, carried, state.at_rest, names),
        system,
        state,
    )


def _at_fixed(asked: ClosedState, fixed: Mechanism, held: tuple[str, ...]) -> ClosedState:
    """Return the state in the coordinates that are left when held joints are fixed."""
    rates = dict(zip(asked.mech.qd_names, asked.qd.tolist(), strict=True))
    gone = set(rates) - set(fixed.qd_names)
    if moving := [name for name in sorted(gone) if abs(rates[name]) > _MOVES]:
        raise BadUsage(
            f"{moving[0]!r} is held and moves with {rates[moving[0]]:.3g} rad/s or m/s",
            remedy="do not hold it, or give rates at which it rests",
        )
    q = coordinates_of(fixed, asked.motion.poses)
    qd = np.array([rates[name] for name in fixed.qd_names])
    still = None if asked.at_rest else qd
    made = closed_state(fixed, q, still, None, asked.tolerance, None)
    return replace(made, notes=asked.notes, at_rest=asked.at_rest)


def _accelerated(
    state: ClosedState, system: System, loads: Sequence[Load], payloads: Sequence[Payload]
) -> ClosedState:
    """Return the state with the accelerations that the loads cause.

    In joint rates: Nᵀ Sᵀ (M v̇ − F) = 0 for v̇ = v̇₀ + S N a, with v̇₀ one that the constraints allow and N a
    basis of the free motions (wojtyra2013 (13)).
    """
    motion, mech = state.motion, state.mech
    N = motion.units[:, None] * motion.free_motions(system.degree_of_redundancy)
    SN = np.array([body_twists(mech, motion.poses, column) for column in N.T]).reshape(
        N.shape[1], len(mech.bodies), 6
    )
    made = newton_euler(mech, state.q, state.qd, loads=loads, payloads=payloads)
    missing = made.missing(state.accelerations)
    mass = np.einsum("ani,nij,bnj->ab", SN, made.M, SN)
    a = np.linalg.lstsq(mass, -np.einsum("ani,ni->a", SN, missing), rcond=1e-12)[0]
    qdd, v_dot = motion.accelerations(state.qdd + N @ a, state.qd, ())
    return replace(state, qdd=qdd, accelerations=v_dot)
