"""A joint that reaches its end stop: the impulse of an impact without rebound (mueller2026 (22), (24))."""

from __future__ import annotations

from dataclasses import replace

from mbplugin.dynamics.joint import joint_equations
from mbplugin.model.applied_forces import AppliedForces
from mbplugin.model.mechanism.coupling import Lock
from mbplugin.model.mechanism.identity import lock_component
from mbplugin.simulation.events.event import Event
from mbplugin.simulation.impact.activate import activate
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.outcome.values import Impact


def impact_at_end(motion: Trajectory, actions: AppliedForces) -> Impact | None:
    """Return the impact of the joint at whose limit a motion has ended; None where it is not determined."""
    hit = _hit(motion)
    if hit is None:
        return None
    mech, q, qd = motion.mechanism, motion.q[-1], motion.qd[-1]
    k = mech.qd_names.index(hit.joint)
    pair, freedom = next(
        (joint.pair, joint.pair.kind.free[k - joint.qd.start])
        for joint in mech.tree.joints
        if joint.pair is not None and joint.qd.start <= k < joint.qd.stop
    )
    lock = Lock(pair.name, freedoms=(freedom,))
    held = replace(mech, locks=(*mech.locks, lock))
    equations = joint_equations(held, q, qd, actions, tolerance=motion.tolerance)
    change = activate(equations, qd, [lock.name])
    if change.outcome != "regular":
        return None
    impulse = change.impulse[lock.name, lock_component(freedom)]
    return Impact(hit.joint, freedom, float(qd[k]), abs(impulse), change.loss)


def undetermined_impact(motion: Trajectory, impact: Impact | None) -> tuple[str, ...]:
    """Return a note where a joint runs into its end stop and no impulse follows from the momenta."""
    hit = _hit(motion)
    if hit is None or impact is not None:
        return ()
    return (f"{hit.joint} runs into its end stop at a singular pose, where the impulse is not determined",)


def _hit(motion: Trajectory) -> Event | None:
    """Return the event with which a motion has ended at a joint limit."""
    if motion.outcome != "limit_hit":
        return None
    return next((event for event in reversed(motion.events) if event.kind == "limit"), None)
