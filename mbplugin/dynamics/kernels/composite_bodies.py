"""Composite bodies: bodies joined by fixed pairs, with their payloads, as one mass; and the forces on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from mbplugin.dynamics.compiler import Records, kernel
from mbplugin.model.brakes import AppliedForces, rate_values, rest_values
from mbplugin.model.mechanism import WORLD, Mechanism, TreeJoint
from mbplugin.model.mechanism.pair import RowKind, travel_per_radian
from mbplugin.model.scene import Payload
from mbplugin.model.spatial import COMPONENTS, AnyArray, Array, Pose, skew

#: Joint categories of the recursions.
TURN, TRAVEL, SEVERAL, FREE = 0, 1, 2, 3
_QUATERNION = ("spherical", "point-on-line", "point-on-plane", "floating")
_V, _W, _M3, _M6 = (3,), (6,), (3, 3), (6, 6)
#: A composite body. ``sign`` is −1 if the tree runs from successor to predecessor; ``component`` numbers the free
#: components tx … rz as 0 … 5; ``carried`` marks a second cross axis that is fixed in the successor;
#: ``R_in, p_in``: the joint's inner frame in the parent. State, world axes: ``R, p, c`` frame and centre of
#: mass; ``joint`` the point about which the joint turns; ``v`` twist, ``bias`` acceleration without joint
#: accelerations, ``a`` acceleration, ``f`` minus the wrench on it, ``J`` inertia, ``I_A`` articulated
#: inertia after its own joint's rates (the lower triangle), all at the centre of mass.
COMPOSITE = np.dtype(
    [
        ("parent", np.int64),
        ("branch", np.int64),
        ("q_start", np.int64),
        ("qd_start", np.int64),
        ("freedoms", np.int64),
        ("component", np.int64, _W),
        ("quaternion", np.bool_),
        ("carried", np.bool_),
        ("sign", np.float64),
        ("pitch", np.float64),
        ("R_in", np.float64, _M3),
        ("p_in", np.float64, _V),
        ("com", np.float64, _V),
        ("rate_point", np.float64, _V),
        ("mass", np.float64),
        ("weight", np.float64, _V),
        ("inertia", np.float64, _M3),
        ("R", np.float64, _M3),
        ("p", np.float64, _V),
        ("c", np.float64, _V),
        ("joint", np.float64, _V),
        ("v", np.float64, _W),
        ("bias", np.float64, _W),
        ("a", np.float64, _W),
        ("f", np.float64, _W),
        ("J", np.float64, _M3),
        ("I_A", np.float64, _M6),
    ],
    align=True,
)
#: A joint rate. ``s`` twist per unit rate and ``e`` its direction, ``U = I_A s``, ``D = sᵀ I_A s + armature``, its
#: square root ``root`` and the inverse of that ``per_root``, ``u`` the innovation, ``tau`` the force on it, ``qdd``
#: its acceleration. ``viscous``, ``constant``, ``stiffness`` and ``rest`` define its force laws; ``coordinate`` is
#: the index of its q. A ``held`` rate has a prescribed acceleration, and ``u`` becomes the force that it needs.
RATE = np.dtype(
    [
        ("composite", np.int64),
        ("coordinate", np.int64),
        ("armature", np.float64),
        ("viscous", np.float64),
        ("constant", np.float64),
        ("stiffness", np.float64),
        ("rest", np.float64),
        ("s", np.float64, _W),
        ("e", np.float64, _V),
        ("U", np.float64, _W),
        ("D", np.float64),
        ("root", np.float64),
        ("per_root", np.float64),
        ("u", np.float64),
        ("tau", np.float64),
        ("qdd", np.float64),
        ("held", np.bool_),
    ],
    align=True,
)
#: A constant wrench on a composite body at a point of its frame; it ``turns`` with the body or is fixed in the world.
LOAD = np.dtype(
    [
        ("composite", np.int64),
        ("turns", np.bool_),
        ("point", np.float64, (3,)),
        ("force", np.float64, (3,)),
        ("torque", np.float64, (3,)),
    ],
    align=True,
)
#: A spring and damper between points of two composite bodies.
SPRING = np.dtype(
    [
        ("composite", np.int64, (2,)),
        ("point", np.float64, (2, 3)),
        ("stiffness", np.float64),
        ("length", np.float64),
        ("damping", np.float64),
    ],
    align=True,
)
Vector = tuple[float, float, float]


# Kernel records of the tree: one per composite body and one per joint rate, with parameters and state.


def composite_records(mech: Mechanism, composites: Composites) -> AnyArray:
    """Return records of the ground (index 0, at rest) and of all composite bodies, outwards."""
    out = np.zeros(len(composites.composites) + 1, dtype=COMPOSITE)
    out["R"][0] = out["R_in"][0] = np.eye(3)
    for k, composite in enumerate(composites.composites, 1):
        _fill(out[k], composite, mech.gravity)
    return out


def _fill(record: AnyArray, composite: Composite, gravity: Array) -> None:
    """Fill the parameters of a composite body's record (not its state).

    Parameters
    ----------
    record : () record of a (b,) record array
    composite : Composite
    gravity : (3,) array
        m/s².
    """
    joint = composite.joint
    free = joint.pair.kind.free if joint.pair else COMPONENTS
    record["parent"] = composite.parent
    record["branch"] = _branch(composite)
    record["q_start"], record["qd_start"], record["freedoms"] = joint.q.start, joint.qd.start, len(free)
    record["component"][: len(free)] = [COMPONENTS.index(c) for c in free]
    record["quaternion"] = joint.pair is None or joint.pair.type in _QUATERNION
    record["carried"] = joint.pair is not None and any(
        joint.pair.kind.row_kind(component) is RowKind.CARRIED for component in free
    )
    record["sign"] = -1.0 if joint.reversed else 1.0
    record["pitch"] = travel_per_radian(joint.pair) if joint.pair else 0.0
    record["R_in"], record["p_in"] = composite.X_in.R, composite.X_in.p
    record["com"], record["rate_point"] = composite.p_KC, composite.p_KR
    record["mass"], record["inertia"], record["weight"] = (
        composite.mass,
        composite.I_C,
        composite.mass * gravity,
    )


def _branch(composite: Composite) -> int:
    pair = composite.joint.pair
    if pair is None:
        return FREE
    if len(pair.kind.free) == 1:
        return TURN if pair.kind.free[0] == "rz" else TRAVEL
    return SEVERAL


def rate_records(mech: Mechanism, composites: Composites, armature: Array) -> AnyArray:
    """Return records of all rates in the order of ``qd_names``; ``armature`` (nv,) in kg·m² or kg."""
    out = np.zeros(len(mech.qd_names), dtype=RATE)
    place = {name: k for k, name in enumerate(mech.q_names)}
    out["coordinate"] = [place.get(name, -1) for name in mech.qd_names]
    out["armature"] = armature
    for k, composite in enumerate(composites.composites, 1):
        out["composite"][composite.joint.qd] = k
    return out


# Forces in the recursion: gravity, gyroscopic terms, loads, springs, and forces on joint rates.


def fill_rate_forces(mech: Mechanism, rates: AnyArray, actions: AppliedForces) -> None:
    """Write torques, joint springs and damping into ``rates`` (nv,); dry friction and controllers are elsewhere."""
    rates["constant"] = rate_values(mech, actions.torques, "a torque")
    rates["stiffness"], rates["rest"] = rest_values(mech, actions.joint_springs)
    if actions.damping:
        for joint in mech.tree.joints:
            if joint.pair is not None:
                rates["viscous"][joint.qd] = [f.damping for f in joint.pair.freedoms]


def load_records(mech: Mechanism, composites: Composites, actions: AppliedForces) -> AnyArray:
    """Return the l loads of a mechanism's actions as records (l,)."""
    out = np.zeros(len(actions.loads), dtype=LOAD)
    for record, load in zip(out, actions.loads, strict=True):
        point = Pose(np.eye(3), np.asarray(load.point, dtype=float))
        record["composite"], X = composites.frame(mech, load.body, point)
        turn = X.R if load.frame == "body" else np.eye(3)
        record["turns"], record["point"] = load.frame == "body", X.p
        record["force"], record["torque"] = turn @ load.force, turn @ load.torque
    return out


def spring_records(mech: Mechanism, composites: Composites, actions: AppliedForces) -> AnyArray:
    """Return the s springs of a mechanism's actions as records (s,)."""
    out = np.zeros(len(actions.springs), dtype=SPRING)
    for record, spring in zip(out, actions.springs, strict=True):
        for end, (body, point) in enumerate(
            ((spring.body_a, spring.point_a), (spring.body_b, spring.point_b))
        ):
            record["composite"][end], X = composites.frame(mech, body, Pose(np.eye(3), point))
            record["point"][end] = X.p
        record["stiffness"], record["length"] = spring.stiffness, spring.length
        record["damping"] = spring.damping
    return out


@kernel
def point_position(body: Records, local: Array) -> Vector:
    """Return the world position of a point ``local`` (3,) in a composite body's frame, m."""
    x, y, z = local[0], local[1], local[2]
    return (
        body.p[0] + body.R[0, 0] * x + body.R[0, 1] * y + body.R[0, 2] * z,
        body.p[1] + body.R[1, 0] * x + body.R[1, 1] * y + body.R[1, 2] * z,
        body.p[2] + body.R[2, 0] * x + body.R[2, 1] * y + body.R[2, 2] * z,
    )


@kernel
def point_velocity(body: Records, p: Vector) -> Vector:
    """Return the velocity of a composite body's material point at world position p."""
    arm = minus(p, (body.c[0], body.c[1], body.c[2]))
    return plus((body.v[0], body.v[1], body.v[2]), cross((body.v[3], body.v[4], body.v[5]), arm))


@kernel
def apply_wrench(body: Records, p: Vector, force: Vector, torque: Vector) -> None:
    """Add a wrench at a world point to the forces on a composite body."""
    moment = plus(torque, cross(minus(p, (body.c[0], body.c[1], body.c[2])), force))
    for i in range(3):
        body.f[i] -= force[i]
        body.f[3 + i] -= moment[i]


@kernel
def gather(
    composites: Records, rates: Records, loads: Records, springs: Records, q: Array, qd: Array, power: Array
) -> None:
    """Fill ``f`` and ``tau``; add the power of dampers to ``power[0]`` and of applied forces to ``power[1]``.

    ``q`` (nq,), ``qd`` (nv,); ``power`` (3,), W.
    """
    for k in range(1, len(composites)):
        body = composites[k]
        w = (body.v[3], body.v[4], body.v[5])
        spin = (
            body.J[0, 0] * w[0] + body.J[0, 1] * w[1] + body.J[0, 2] * w[2],
            body.J[1, 0] * w[0] + body.J[1, 1] * w[1] + body.J[1, 2] * w[2],
            body.J[2, 0] * w[0] + body.J[2, 1] * w[1] + body.J[2, 2] * w[2],
        )
        gyroscopic = cross(w, spin)
        for i in range(3):
            body.f[i] = -body.weight[i]
            body.f[3 + i] = gyroscopic[i]
    for j in range(len(rates)):
        joint_rate = rates[j]
        damping = -joint_rate.viscous * qd[j]
        joint_rate.tau = damping + joint_rate.constant
        power[0] += damping * qd[j]
        power[1] += joint_rate.constant * qd[j]
        if joint_rate.stiffness != 0.0:
            joint_rate.tau -= joint_rate.stiffness * (q[joint_rate.coordinate] - joint_rate.rest)
    for n in range(len(loads)):
        if loads[n].composite:
            _apply_load(composites[loads[n].composite], loads[n], power)
    for n in range(len(springs)):
        _apply_spring(composites, springs[n], power)


@kernel
def _apply_load(body: Records, load: Records, power: Array) -> None:
    """Apply a load to a composite body and add its power to ``power[1]`` of power (3,), W."""
    p = point_position(body, load.point)
    force = (load.force[0], load.force[1], load.force[2])
    torque = (load.torque[0], load.torque[1], load.torque[2])
    if load.turns:
        force, torque = turned(body, force), turned(body, torque)
    apply_wrench(body, p, force, torque)
    power[1] += dot(force, point_velocity(body, p)) + dot(torque, (body.v[3], body.v[4], body.v[5]))


@kernel
def turned(body: Records, a: Array | Vector) -> Vector:
    """Return a vector ``a`` (3,) in a composite body's frame in world axes."""
    return (
        body.R[0, 0] * a[0] + body.R[0, 1] * a[1] + body.R[0, 2] * a[2],
        body.R[1, 0] * a[0] + body.R[1, 1] * a[1] + body.R[1, 2] * a[2],
        body.R[2, 0] * a[0] + body.R[2, 1] * a[1] + body.R[2, 2] * a[2],
    )


@kernel
def _apply_spring(composites: Records, spring: Records, power: Array) -> None:
    """Apply a spring to the bodies at its ends and add the power of its damper to ``power[0]`` of power (3,), W."""
    a, b = composites[spring.composite[0]], composites[spring.composite[1]]
    p_a, p_b = point_position(a, spring.point[0]), point_position(b, spring.point[1])
    line = minus(p_b, p_a)
    length = sqrt(dot(line, line))
    if length == 0.0:
        return
    e = (line[0] / length, line[1] / length, line[2] / length)
    rate = dot(e, minus(point_velocity(b, p_b), point_velocity(a, p_a)))
    tension = spring.stiffness * (length - spring.length) + spring.damping * rate
    power[0] -= spring.damping * rate * rate
    apply_wrench(a, p_a, (tension * e[0], tension * e[1], tension * e[2]), (0.0, 0.0, 0.0))
    apply_wrench(b, p_b, (-tension * e[0], -tension * e[1], -tension * e[2]), (0.0, 0.0, 0.0))


@dataclass(frozen=True, eq=False)
class Composite:
    """One moving composite body and the joint that carries it.

    Its frame K is the joint's outer frame (the link frame of a free root).

    Parameters
    ----------
    joint : TreeJoint
    parent : int
        Index of the composite body that carries the joint; 0 is the ground, composite bodies start at 1.
    X_in : Pose
        The joint's inner frame in the parent's frame K (in the world for the ground).
    mass : float
        kg.
    p_KC : (3,) array
        Common centre of mass, m.
    I_C : (3, 3) array
        Inertia about it, in axes of K, kg·m².
    p_KR : (3,) array
        Point to which the rates of a free root refer: the root link's own centre of mass, m.
    """

    joint: TreeJoint
    parent: int
    X_in: Pose
    mass: float
    p_KC: Array
    I_C: Array
    p_KR: Array


@dataclass(frozen=True, eq=False)
class Composites:
    """All composite bodies, outwards from the ground, and the location of each body of the mechanism in them.

    Parameters
    ----------
    composites : tuple of Composite
    of_body : tuple of int
        The composite body of each body; 0 is the ground.
    X_KL : tuple of Pose
        Link frame of each body in the frame of its composite body (in the world for the ground).
    """

    composites: tuple[Composite, ...]
    of_body: tuple[int, ...]
    X_KL: tuple[Pose, ...]

    def frame(self, mech: Mechanism, body: str, X_LF: Pose) -> tuple[int, Pose]:
        """Return the composite body of a body, and a frame X_LF of its link relative to the composite body."""
        if body == WORLD:
            return 0, X_LF
        i = mech.body_index[body]
        return self.of_body[i], self.X_KL[i] @ X_LF


def find_composites(mech: Mechanism, payloads: Sequence[Payload] = (), *, apart: bool = False) -> Composites:
    """Return the composite bodies of a mechanism; with ``apart`` every body is separate, for loads of fixed pairs."""
    of_body, X_KL = [0] * len(mech.bodies), [Pose.identity()] * len(mech.bodies)
    carried: list[tuple[TreeJoint, int, Pose]] = []
    for joint in mech.tree.joints:
        inner, outer = mech.body_index[joint.inner], mech.body_index[joint.outer]
        k, X_inner = (of_body[inner], X_KL[inner]) if inner >= 0 else (0, Pose.identity())
        X_in, X_out = _joint_frames(joint)
        if not apart and joint.pair is not None and not joint.pair.kind.free:
            of_body[outer], X_KL[outer] = k, X_inner @ X_in @ X_out
        else:
            carried.append((joint, k, X_inner @ X_in))
            of_body[outer], X_KL[outer] = len(carried), X_out
    masses = _masses(mech, payloads, of_body, X_KL, len(carried))
    composites = tuple(
        Composite(joint, parent, X_in, *masses[k], mech.bodies[mech.body_index[joint.outer]].p_LC)
        for k, (joint, parent, X_in) in enumerate(carried)
    )
    return Composites(composites, tuple(of_body), tuple(X_KL))


def _joint_frames(joint: TreeJoint) -> tuple[Pose, Pose]:
    """Return the inner joint frame relative to the inner link, and the outer link relative to the outer joint frame."""
    if joint.pair is None:
        return Pose.identity(), Pose.identity()
    if joint.reversed:
        return joint.pair.X_BS, joint.pair.X_AP.inverse()
    return joint.pair.X_AP, joint.pair.X_SB


@dataclass(frozen=True, eq=False)
class CarriedMasses:
    """Masses of composite bodies, to which changing payloads can be added.

    Parameters
    ----------
    mech : Mechanism
    of_body : sequence of int
    X_KL : sequence of Pose
        As in :class:`Composites`.
    parts : tuple of list
        Mass (kg), centre of mass (m) and inertia (kg·m²) of the bodies of each composite body, in its frame K.
    """

    mech: Mechanism
    of_body: Sequence[int]
    X_KL: Sequence[Pose]
    parts: tuple[list[tuple[float, Array, Array]], ...]

    def with_payloads(self, payloads: Sequence[Payload]) -> dict[int, tuple[float, Array, Array]]:
        """Return mass, centre of mass and inertia of the composite bodies with payloads, by index."""
        found: dict[int, list[tuple[float, Array, Array]]] = {}
        for payload in payloads:
            k, mass, com, inertia = self._part(payload)
            if k:
                found.setdefault(k, list(self.parts[k - 1])).append((mass, com, inertia))
        return {k: _together(own) for k, own in found.items()}

    def with_shares(
        self, payloads: Sequence[Payload], shares: Array
    ) -> dict[int, tuple[Array, Array, Array]]:
        """Return mass (k,), centre of mass (k, 3) and inertia (k, 3, 3) of composite bodies with payloads, by index.

        ``shares`` (k,) are factors on the masses and inertias of all payloads.
        """
        found: dict[int, list[tuple[Any, Array, Array]]] = {}
        for payload in payloads:
            k, mass, com, inertia = self._part(payload)
            if k:
                part = (shares * mass, com, shares[:, None, None] * inertia)
                found.setdefault(k, list(self.parts[k - 1])).append(part)
        return {k: _together(own) for k, own in found.items()}

    def _part(self, payload: Payload) -> tuple[int, float, Array, Array]:
        """Return the index of the composite body that carries a payload; its mass, centre of mass and inertia there."""
        i = self.mech.body_index[payload.body]
        R = self.X_KL[i].R
        return self.of_body[i], payload.mass, self.X_KL[i].apply(payload.com), R @ payload.inertia @ R.T


def carried_masses(
    mech: Mechanism, of_body: Sequence[int], X_KL: Sequence[Pose], count: int
) -> CarriedMasses:
    """Return the masses of ``count`` composite bodies without payloads."""
    parts: list[list[tuple[float, Array, Array]]] = [[] for _ in range(count)]
    for i, body in enumerate(mech.bodies):
        if of_body[i]:
            R = X_KL[i].R
            parts[of_body[i] - 1].append((body.mass, X_KL[i].apply(body.p_LC), R @ body.I_C @ R.T))
    return CarriedMasses(mech, of_body, X_KL, tuple(parts))


def _masses(
    mech: Mechanism, payloads: Sequence[Payload], of_body: list[int], X_KL: list[Pose], count: int
) -> list[tuple[float, Array, Array]]:
    """Return mass, centre of mass and inertia of every composite body."""
    carried = carried_masses(mech, of_body, X_KL, count)
    loaded = carried.with_payloads(payloads)
    return [loaded.get(k) or _together(own) for k, own in enumerate(carried.parts, 1)]


def _together(parts: list[tuple[Any, Array, Array]]) -> tuple[Any, Array, Array]:
    """Return the common mass (...), centre of mass (..., 3) and inertia (..., 3, 3) about it of several parts."""
    masses = [np.asarray(m) for m, _, _ in parts]
    mass = np.asarray(sum(masses))
    moment = sum((m[..., None] * c for m, (_, c, _) in zip(masses, parts, strict=True)), np.zeros(3))
    loaded = np.asarray(mass > 0)[..., None]
    com = np.where(loaded, moment / np.where(loaded, mass[..., None], 1.0), parts[0][1])
    inertia = np.zeros((3, 3))
    for m, (_, c, own) in zip(masses, parts, strict=True):
        arm = skew(c - com)
        inertia = inertia + own - m[..., None, None] * arm @ arm
    return mass if mass.ndim else float(mass), com, inertia


# 3-vectors as tuples, which the compiler keeps in registers.


@kernel
def cross(a: Vector, b: Vector) -> Vector:
    """Return a × b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def minus(a: Vector, b: Vector) -> Vector:
    """Return a − b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel
def plus(a: Vector, b: Vector) -> Vector:
    """Return a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@kernel
def dot(a: Vector, b: Vector) -> float:
    """Return a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def scaled(factor: float, a: Vector) -> Vector:
    """Return a vector times a number."""
    return factor * a[0], factor * a[1], factor * a[2]
