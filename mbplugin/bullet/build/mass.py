"""Masses in PyBullet: payloads belong to their body, and a free base always has mass."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from mbplugin.model.mechanism import Body, Mechanism
from mbplugin.model.mechanism.kinematics import forward, home
from mbplugin.model.scene import Payload
from mbplugin.model.spatial import Array, skew


def loaded(mech: Mechanism, payloads: Iterable[Payload]) -> Mechanism:
    """Return the mechanism with payloads in the bodies that carry them, and weight at its free bases.

    PyBullet holds a base without mass fixed, so that takes over the masses that are fixed to it.
    """
    bodies = {body.name: body for body in mech.bodies}
    for payload in payloads:
        own = bodies[payload.body]
        part = Body("", payload.mass, np.asarray(payload.com), np.asarray(payload.inertia))
        bodies[own.name] = _joined(own.name, [own, part])
    for joint in mech.tree.joints:
        if joint.pair is None and bodies[joint.outer].mass == 0:
            _gather(mech, joint.outer, bodies)
    return replace(mech, bodies=tuple(bodies[body.name] for body in mech.bodies))


def movers_without_mass(mech: Mechanism) -> list[str]:
    """Return the joints that move no mass at all, and the free bases that have none themselves."""
    carried = {body.name: not body.massless for body in mech.bodies}
    empty = []
    for joint in reversed(mech.tree.joints):
        if joint.pair is None:
            if mech.bodies[mech.body_index[joint.outer]].mass == 0:
                empty.append(joint.outer)
            continue
        if not carried[joint.outer] and joint.pair.kind.free:
            empty.append(joint.pair.name)
        if joint.inner in carried:
            carried[joint.inner] |= carried[joint.outer]
    return empty[::-1]


def _gather(mech: Mechanism, root: str, bodies: dict[str, Body]) -> None:
    """Move the masses of what is fixed to a root into it."""
    group = [root]
    for joint in mech.tree.joints:
        if joint.inner in group and joint.pair is not None and not joint.pair.kind.free:
            group.append(joint.outer)
    poses = forward(mech, home(mech))
    X_RW = poses.of(mech.body_index[root]).inverse()
    parts = []
    for name in group:
        X_RB = X_RW @ poses.of(mech.body_index[name])
        own = bodies[name]
        parts.append(Body("", own.mass, X_RB.apply(own.p_LC), X_RB.R @ own.I_C @ X_RB.R.T))
        bodies[name] = Body(name)
    bodies[root] = _joined(root, parts)


def _joined(name: str, parts: Sequence[Body]) -> Body:
    """Return one body from several whose values are all in its link frame."""
    mass = sum(part.mass for part in parts)
    if mass == 0:
        return Body(name, 0.0, parts[0].p_LC, sum((p.I_C for p in parts), np.zeros((3, 3))))
    com: Array = sum((p.mass * p.p_LC for p in parts), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for part in parts:
        K = skew(part.p_LC - com)
        inertia += part.I_C - part.mass * K @ K
    return Body(name, mass, com, inertia)
