"""Rows between a body and the ground: knife edges (wojtyra2013 (30), (31)) and rolling wheels."""

from __future__ import annotations

import numpy as np

from mbplugin.constraints.rows import BodyMotion, Rows, body_motion
from mbplugin.mechanism.kinematics import BodyPoses
from mbplugin.mechanism.mechanism import Mechanism
from mbplugin.mechanism.pfaffian import KnifeEdge, Pfaffian, Rolling
from mbplugin.spatial import Array, cross, shift_rows


def pfaffian_rows(mech: Mechanism, pfaffian: Pfaffian, poses: BodyPoses, twists: Array | None = None) -> Rows:
    """Return the rows of a knife edge or a rolling wheel; holonomic ones first."""
    body = body_motion(mech.body_index[pfaffian.body], poses, twists)
    if isinstance(pfaffian, KnifeEdge):
        return _knife_edge(pfaffian, body)
    return _rolling(pfaffian, body)


def _knife_edge(edge: KnifeEdge, body: BodyMotion) -> Rows:
    e = body.X_WL.R @ (edge.direction / np.linalg.norm(edge.direction))
    point = body.X_WL.apply(edge.point)
    arm = point - body.p_WC
    velocity = body.point_velocity(point)
    Gamma = -(cross(body.omega, e) @ velocity + e @ cross(body.omega, cross(body.omega, arm)))
    return _rows(edge, body, e[None, :], point, np.array([Gamma]), np.zeros(1))


def _rolling(wheel: Rolling, body: BodyMotion) -> Rows:
    """Rows at the lowest point of the wheel's circle, which slides along the rim as it rolls."""
    n = wheel.plane_normal / np.linalg.norm(wheel.plane_normal)
    axis = body.X_WL.R @ (wheel.axis / np.linalg.norm(wheel.axis))
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
    """Return a vector made unit, and the derivative of that."""
    length = float(np.sqrt(vector @ vector))
    unit = vector / length
    return unit, (derivative - unit * (unit @ derivative)) / length


def _rows(pfaffian: Pfaffian, body: BodyMotion, E: Array, point: Array, Gamma: Array, Phi: Array) -> Rows:
    """Return the rows along directions E that the constraint asks for."""
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
