"""Wheels that roll ideally in PyBullet: the point that touches the ground is held there for one step.

A constraint at its lowest point prevents that a wheel penetrates or slips in that step; in the next step
another point is the lowest. PyBullet's own contacts slip and penetrate.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mbplugin.bullet.build.built import Built
from mbplugin.bullet.build.ties import UNLIMITED
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.pfaffian import Pfaffian, Rolling
from mbplugin.model.spatial import Array, unit


def off_wheels(mech: Mechanism) -> Mechanism:
    """Return the mechanism without the wheels that are held step by step."""
    return replace(mech, pfaffians=tuple(p for p in mech.pfaffians if not is_wheel(p)))


def is_wheel(pfaffian: Pfaffian) -> bool:
    """Whether it is a wheel that is held in all three directions."""
    rows = {*pfaffian.holonomic, *pfaffian.nonholonomic}
    return isinstance(pfaffian, Rolling) and rows == {"normal", "roll", "side"}


def hold_contacts(built: Built, mech: Mechanism, held_contacts: list[int]) -> list[int]:
    """Let go of the points that touched the ground and hold those that do now; return the constraints."""
    bullet, where = built.bullet, {"physicsClientId": built.client}
    for constraint in held_contacts:
        bullet.removeConstraint(constraint, **where)
    ties = []
    for wheel in mech.pfaffians:
        if not (isinstance(wheel, Rolling) and is_wheel(wheel)):
            continue
        place = built.places[wheel.body]
        X_WL = built.pose(wheel.body)
        n = unit(wheel.plane_normal)
        contact = _lowest(wheel, X_WL.R @ unit(wheel.axis), X_WL.apply(wheel.center), n)
        pivot = (X_WL @ place.X_LC).inverse().apply(contact)
        ground = contact - (n @ (contact - wheel.plane_point)) * n
        ties.append(
            bullet.createConstraint(
                place.id,
                place.link,
                -1,
                -1,
                bullet.JOINT_POINT2POINT,
                [0, 0, 0],
                pivot.tolist(),
                ground.tolist(),
                **where,
            )
        )
        bullet.changeConstraint(ties[-1], maxForce=UNLIMITED, **where)
    return ties


def _lowest(wheel: Rolling, axis: Array, center: Array, n: Array) -> Array:
    """Return the lowest point (3,) of a wheel's circle, world axes, m.

    ``axis``, ``center`` and ``n`` (3,) are the wheel's axis and centre and the normal of the plane.
    """
    down = -(n - (n @ axis) * axis)
    return np.asarray(center + wheel.radius * down / np.linalg.norm(down))
