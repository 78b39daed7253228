"""Kinematics and energies along a motion by plain numpy, all samples at once: no line of the product's own.

Poses follow from joint coordinates by the definitions of the pairs, twists from joint rates by
v_S = v_P + v_PS, ω_S = ω_P + ω_PS; arrays have the samples as their first axis.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbplugin.model.mechanism import WORLD, Mechanism, TreeJoint
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array
from mbplugin.simulation.trajectory.trajectory import Trajectory

_QUATERNION = ("floating", "point-on-line", "point-on-plane", "spherical")


@dataclass(frozen=True, eq=False)
class Frame:
    """A moving frame: axes R (T, 3, 3), origin p, its velocity v and ω (T, 3), world axes, SI."""

    R: Array
    p: Array
    v: Array
    w: Array

    def at(self, point: Array) -> tuple[Array, Array]:
        """Position and velocity of a point (3,) or points (T, 3) of the frame's own axes, m and m/s."""
        arm = np.einsum("tij,...j->ti", self.R, point) if point.ndim == 1 else _turn(self.R, point)
        return self.p + arm, self.v + np.cross(self.w, arm)

    def fixed(self, R: Array, p: Array) -> Frame:
        """A frame fixed to this one, by its axes and origin in this one."""
        origin, velocity = self.at(np.asarray(p))
        return Frame(self.R @ R, origin, velocity, self.w)


def _turn(R: Array, v: Array) -> Array:
    return np.einsum("tij,tj->ti", R, v)


@dataclass(frozen=True, eq=False)
class Joint:
    """The relative motion in a pair: R_PS, p_PS, and twist of S relative to P at S, axes of P."""

    R: Array
    p: Array
    v: Array
    w: Array


class Along:
    """All bodies at states q (T, nq) and rates qd (T, nv)."""

    def __init__(self, mech: Mechanism, q: Array, qd: Array) -> None:
        self.mech, self.q, self.qd = mech, q, qd
        T = len(q)
        zero = np.zeros((T, 3))
        self.frames = {WORLD: Frame(np.broadcast_to(np.eye(3), (T, 3, 3)), zero, zero, zero)}
        for joint in mech.tree.joints:
            self.frames[joint.outer] = self._outer(joint)

    def _outer(self, joint: TreeJoint) -> Frame:
        q, qd = self.q[:, joint.q], self.qd[:, joint.qd]
        if joint.pair is None:
            body = self.mech.bodies[self.mech.body_index[joint.outer]]
            centre = Frame(_of_quaternion(q[:, 3:]), q[:, :3], qd[:, :3], qd[:, 3:])
            return centre.fixed(np.eye(3), -body.p_LC)
        pair, inner = joint.pair, self.frames[joint.inner]
        R_PS, p_PS = _transform(pair, q)
        v_PS, w_PS = _relative(pair, qd, R_PS)
        if not joint.reversed:
            P = inner.fixed(pair.X_AP.R, pair.X_AP.p)
            at, velocity = P.at(p_PS)
            S = Frame(P.R @ R_PS, at, velocity + _turn(P.R, v_PS), P.w + _turn(P.R, w_PS))
            X = pair.X_BS.inverse()
            return S.fixed(X.R, X.p)
        S = inner.fixed(pair.X_BS.R, pair.X_BS.p)
        R_WP = S.R @ R_PS.transpose(0, 2, 1)
        w_P = S.w - _turn(R_WP, w_PS)
        arm = -_turn(R_WP, p_PS)
        P = Frame(R_WP, S.p + arm, S.v - _turn(R_WP, v_PS) + np.cross(w_P, arm), w_P)
        X = pair.X_AP.inverse()
        return P.fixed(X.R, X.p)

    def joint(self, pair: Pair) -> Joint:
        """The relative motion in a pair of the tree or one that closes a loop."""
        P = self.frames[pair.body_a].fixed(pair.X_AP.R, pair.X_AP.p)
        S = self.frames[pair.body_b].fixed(pair.X_BS.R, pair.X_BS.p)
        R_PW, arm = P.R.transpose(0, 2, 1), S.p - P.p
        v = S.v - P.v - np.cross(P.w, arm)
        return Joint(R_PW @ S.R, _turn(R_PW, arm), _turn(R_PW, v), _turn(R_PW, S.w - P.w))

    def rate(self, pair: Pair, freedom: str) -> Array:
        """The rate (T,) of one freedom of a pair, rad/s or m/s."""
        of_pair = self.mech.tree.joint_of_pair
        if pair.name in of_pair:
            return np.asarray(self.qd[:, of_pair[pair.name].qd.start + pair.kind.free.index(freedom)])
        one, axis = self.joint(pair), "xyz".index(freedom[1])
        if pair.type == "universal" and freedom == "ry":
            return np.einsum("ti,ti->t", one.w, one.R[:, :, 1])
        return np.asarray((one.v if freedom[0] == "t" else one.w)[:, axis])


def _of_quaternion(q: Array) -> Array:
    x, y, z, w = (q / np.linalg.norm(q, axis=1, keepdims=True)).T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ]
    return np.array(rows).transpose(2, 0, 1)


def _about(axis: int, angle: Array) -> Array:
    R = np.zeros((len(angle), 3, 3))
    j, k = (axis + 1) % 3, (axis + 2) % 3
    R[:, axis, axis] = 1.0
    R[:, j, j] = R[:, k, k] = np.cos(angle)
    R[:, k, j] = np.sin(angle)
    R[:, j, k] = -R[:, k, j]
    return R


def _transform(pair: Pair, q: Array) -> tuple[Array, Array]:
    """R_PS (T, 3, 3) and p_PS (T, 3) at coordinates of the pair."""
    R, p = np.broadcast_to(np.eye(3), (len(q), 3, 3)), np.zeros((len(q), 3))
    for n, freedom in enumerate(pair.kind.free):
        axis = "xyz".index(freedom[1])
        if freedom[0] == "t":
            p[:, axis] += q[:, n]
        elif pair.type not in _QUATERNION:
            R = R @ _about(axis, q[:, n])
    if pair.type in _QUATERNION:
        R = _of_quaternion(q[:, -4:])
    if pair.type == "screw":
        p[:, 2] += pair.lead / (2 * np.pi) * q[:, 0]
    return R, p


def _relative(pair: Pair, qd: Array, R_PS: Array) -> tuple[Array, Array]:
    """Velocity of S relative to P, and angular velocity, axes of P."""
    v, w = np.zeros((len(qd), 3)), np.zeros((len(qd), 3))
    for n, freedom in enumerate(pair.kind.free):
        axis = "xyz".index(freedom[1])
        if freedom[0] == "t":
            v[:, axis] += qd[:, n]
        elif pair.type == "universal" and freedom == "ry":
            w += qd[:, n, None] * R_PS[:, :, 1]
        else:
            w[:, axis] += qd[:, n]
    if pair.type == "screw":
        v[:, 2] += pair.lead / (2 * np.pi) * qd[:, 0]
    return v, w


def energies(motion: Trajectory, here: Along) -> tuple[Array, Array]:
    """Kinetic and potential energy (T,), J: ½ m v² + ½ ωᵀJω + ½ a q̇², −m g·p + ½ k (l − l₀)²."""
    mech, actions = motion.mechanism, motion.actions
    kinetic, potential = np.zeros(len(here.q)), np.zeros(len(here.q))
    composites = [(b.name, b.mass, b.p_LC, b.I_C) for b in mech.bodies]
    composites += [(one.body, one.mass, one.com, one.inertia) for one in actions.payloads]
    standing = welded_to_the_ground(mech)
    for name, mass, centre, inertia in composites:
        if name in standing:
            # its potential energy is a constant, which the product leaves out
            continue
        frame = here.frames[name]
        p, v = frame.at(np.asarray(centre, dtype=float))
        own = np.einsum("tji,tj->ti", frame.R, frame.w)
        kinetic += 0.5 * mass * (v * v).sum(axis=1) + 0.5 * np.einsum("ti,ij,tj->t", own, inertia, own)
        potential -= mass * p @ mech.gravity
    for name, value in actions.armature.items():
        kinetic += 0.5 * value * here.qd[:, mech.qd_names.index(name)] ** 2
    for spring in actions.joint_springs:
        segment = here.q[:, mech.q_names.index(spring.joint)] - spring.rest
        potential += 0.5 * spring.stiffness * segment**2
    for other in actions.springs:
        length, _ = spring_length(here, other)
        potential += 0.5 * other.stiffness * (length - other.length) ** 2
    return kinetic, potential


def spring_length(here: Along, spring: object) -> tuple[Array, Array]:
    """Length of a spring between two points and its rate (T,), m and m/s."""
    a, v_a = here.frames[spring.body_a].at(spring.point_a)  # type: ignore[attr-defined]
    b, v_b = here.frames[spring.body_b].at(spring.point_b)  # type: ignore[attr-defined]
    length = np.linalg.norm(b - a, axis=1)
    along = (b - a) / np.where(length > 0, length, 1.0)[:, None]
    return length, np.einsum("ti,ti->t", along, v_b - v_a)


def loop_gaps(here: Along) -> tuple[Array, Array]:
    """What pairs that close loops leave open at each sample (T,): positions (m, rad), rates (per second)."""
    places, rates = [np.zeros(len(here.q))], [np.zeros(len(here.q))]
    for pair in here.mech.tree.cut:
        one = here.joint(pair)
        if pair.type == "distance":
            length = np.linalg.norm(one.p, axis=1)
            places.append(length - pair.length)
            rates.append((one.p * one.v).sum(axis=1) / np.where(length > 0, length, 1.0))
            continue
        pitch = pair.lead / (2 * np.pi) if pair.type == "screw" else 0.0
        turning = [c for c in pair.kind.constrained if c[0] == "r"]
        for component in pair.kind.constrained:
            axis = "xyz".index(component[1])
            if component[0] == "t":
                if pitch and component == "tz":
                    angle = np.arctan2(one.R[:, 1, 0], one.R[:, 0, 0])
                    around = one.p[:, 2] / pitch - angle
                    places.append(pitch * (around - 2 * np.pi * np.round(around / (2 * np.pi))))
                    rates.append(one.v[:, 2] - pitch * one.w[:, 2])
                else:
                    places.append(one.p[:, axis])
                    rates.append(one.v[:, axis])
            elif pair.type == "universal":
                normal = np.cross(np.array([1.0, 0.0, 0.0]), one.R[:, :, 1])
                places.append(one.R[:, 0, 1])
                rates.append((normal * one.w).sum(axis=1))
            else:
                rates.append(one.w[:, axis])
        if pair.type != "universal" and turning:
            # of two turning rows the third axis stays along itself
            places += [one.R[:, 0, 2], one.R[:, 1, 2]]
            if len(turning) == 3:
                places.append(one.R[:, 1, 0])
    return np.abs(places).max(axis=0), np.abs(rates).max(axis=0)


def welded_to_the_ground(mech: Mechanism) -> set[str]:
    """Names of the bodies that fixed pairs hold to the ground, one after the other."""
    standing = {WORLD}
    for _ in mech.bodies:
        standing |= {
            body
            for pair in mech.pairs
            if pair.type == "fixed" and not pair.closure and standing & {*pair.bodies}
            for body in pair.bodies
        }
    return standing
