"""Rows between a body and the ground: knife edges (wojtyra2013 (30), (31)) and rolling wheels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbplugin.constraints.rows.row import Rows
from mbplugin.errors import BrokenModel
from mbplugin.model.mechanism.kinematics import BodyPoses
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pfaffian import KnifeEdge, Pfaffian, Rolling
from mbplugin.model.spatial import Array, Pose, cross, shift_rows, unit

#: Sine of the angle between axis and normal below which the rim has no lowest point.
_FLAT = 1e-9


@dataclass(frozen=True, eq=False)
class _BodyMotion:
    """Pose and twist of the body that touches the ground."""

    index: int
    X_WL: Pose
    p_WC: Array
    v: Array
    omega: Array

    def point_velocity(self, p_W: Array) -> Array:
        """Return the velocity (3,) of the body's material point at ``p_W`` (3,), m/s."""
        return self.v + cross(self.omega, p_W - self.p_WC)


def pfaffian_rows(mech: Mechanism, pfaffian: Pfaffian, poses: BodyPoses, twists: Array | None = None) -> Rows:
    """Return the rows of a knife edge or a rolling wheel; holonomic ones first; ``twists`` (N, 6)."""
    index = mech.body_index[pfaffian.body]
    twist = np.zeros(6) if twists is None else twists[index]
    body = _BodyMotion(index, poses.of(index), poses.p_WC[index], twist[:3], twist[3:])
    if isinstance(pfaffian, KnifeEdge):
        return _knife_edge(pfaffian, body)
    return _rolling(pfaffian, body)


def _knife_edge(edge: KnifeEdge, body: _BodyMotion) -> Rows:
    e = body.X_WL.R @ unit(edge.direction)
    point = body.X_WL.apply(edge.point)
    arm = point - body.p_WC
    velocity = body.point_velocity(point)
    Gamma = -(cross(body.omega, e) @ velocity + e @ cross(body.omega, cross(body.omega, arm)))
    return _rows(edge, body, e[None, :], point, np.array([Gamma]), np.zeros(1))


def _rolling(wheel: Rolling, body: _BodyMotion) -> Rows:
    """Rows at the lowest point of the wheel's circle, which slides along the rim as it rolls."""
    n = unit(wheel.plane_normal)
    axis = body.X_WL.R @ unit(wheel.axis)
    if np.linalg.norm(cross(axis, n)) < _FLAT:
        raise BrokenModel(
            f"wheel {wheel.name!r} lies flat on its plane, where it cannot roll",
            expected="an axis that is not along the plane's normal at this pose",
            remedy="correct its axis, in the link frame, or the plane's normal, in the world",
        )
    axis_dot = cross(body.omega, axis)
    center = body.X_WL.apply(wheel.center)
    down, down_dot = _unit(-(n - (n @ axis) * axis), (n @ axis_dot) * axis + (n @ axis) * axis_dot)
    roll, roll_dot = _unit(cross(axis, n), cross(axis_dot, n))
    side, side_dot = cross(n, roll), cross(n, roll_dot)

    rho, rho_dot = wheel.radius * down, wheel.radius * down_dot
    contact = center + rho
    velocity = body.point_velocity(contact)
    bias = cross(body.omega, cross(body.omega, center - body.p_WC) + rho_dot)
    E, E_dot = np.array([n, roll, side]), np.array([np.zeros(3), roll_dot, side_dot])
    Phi = np.array([n @ (contact - wheel.plane_point), 0.0, 0.0])
    return _rows(wheel, body, E, contact, -(E_dot @ velocity + E @ bias), Phi)


def _unit(vector: Array, derivative: Array) -> tuple[Array, Array]:
    """Return a vector (3,) made unit, and from its derivative (3,) the derivative of that."""
    length = float(np.sqrt(vector @ vector))
    along = vector / length
    return along, (derivative - along * (along @ derivative)) / length


def _rows(pfaffian: Pfaffian, body: _BodyMotion, E: Array, point: Array, Gamma: Array, Phi: Array) -> Rows:
    """Return the rows along directions E (k, 3) that the constraint has, at a point (3,) in the world, m.

    With Gamma (k,) and Phi (k,) of these directions.
    """
    all_labels = ("normal", "roll", "side")[-len(E) :]
    components = (*pfaffian.holonomic, *pfaffian.nonholonomic)
    kept = [all_labels.index(c) for c in components]
    entry = shift_rows(np.hstack((E, np.zeros_like(E))), point - body.p_WC)
    return Rows(
        pfaffian.name,
        components,
        ((body.index, entry[kept]),),
        np.zeros(len(components)),
        Gamma[kept],
        Phi[kept],
        np.ones(len(components), dtype=bool),
        np.array([c in pfaffian.holonomic for c in components], dtype=bool),
    )
