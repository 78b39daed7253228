"""Body poses from joint coordinates, joint axes of the tree in the world, units, and rigid groups of bodies."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import TypeAlias

import numpy as np

from mbplugin.errors import BadNumber, UnknownName, suggestion
from mbplugin.model import spatial
from mbplugin.model.brake_law import DIMENSION_OF, SI
from mbplugin.model.mechanism import WORLD, Mechanism, TreeJoint
from mbplugin.model.mechanism.pair import (
    Pair,
    advance,
    has_quaternion,
    measure,
    motion_subspace,
    pair_transform,
    zero_coordinates,
)
from mbplugin.phrases import listed

#: Values by name, in rad and m or as texts with a unit such as ``90deg``; or a vector.
JointValues = Mapping[str, float | str] | spatial.Array | None
#: A vector (nq,) or a batch (n, nq), where other functions have an overload of their own for it.
Poses: TypeAlias = spatial.Array
#: Frames of a constraint coincide within this, m and rad; it covers rounding in files and the drift of simulators.
FRAMES_MEET = 1e-3
#: Values by name, in SI units or as texts with a unit such as ``90deg/s``.
NamedNumbers = Mapping[str, float | str]
#: Returns the dimension of a name, empty if unknown.
DimensionOfName = Callable[[str], str]
_OF_RATE = {
    "acceleration": {"angular rate": "angular acceleration", "speed": "acceleration"},
    "force": {"angular rate": "torque", "speed": "force"},
}


@dataclass(frozen=True, eq=False)
class BodyPoses:
    """Link frames L and centres of mass C of all bodies in the world.

    Parameters
    ----------
    R_WL : (N, 3, 3) array
    p_WL : (N, 3) array, m
    p_WC : (N, 3) array, m
    """

    R_WL: spatial.Array
    p_WL: spatial.Array
    p_WC: spatial.Array

    def of(self, index: int) -> spatial.Pose:
        """Return X_WL of a body; index −1 is the ground."""
        return (
            spatial.unchecked_pose(self.R_WL[index], self.p_WL[index])
            if index >= 0
            else spatial.Pose.identity()
        )


def poses_of_links(mech: Mechanism, X_WL: Mapping[str, spatial.Pose]) -> BodyPoses:
    """Return the body poses of a mechanism from the poses of its link frames, by name."""
    found = [X_WL[body.name] for body in mech.bodies]
    R, p = np.array([X.R for X in found]), np.array([X.p for X in found])
    return BodyPoses(R, p, np.array([X.apply(body.p_LC) for X, body in zip(found, mech.bodies, strict=True)]))


def home(mech: Mechanism) -> spatial.Array:
    """Return q (nq,) at which all joint frames coincide and all free roots are at the origin."""
    q = np.zeros(len(mech.q_names))
    for joint in mech.tree.joints:
        if joint.pair is None:
            q[joint.q] = [*mech.bodies[mech.body_index[joint.outer]].p_LC, 0, 0, 0, 1]
        else:
            q[joint.q] = zero_coordinates(joint.pair.type, joint.pair.kind.free)
    return q


def joint_vector(mech: Mechanism, values: JointValues, base: spatial.Array | None = None) -> spatial.Array:
    """Return q (nq,) from a vector, a mapping by coordinate name, or None; rad and m.

    Coordinates that a mapping leaves out keep their values in ``base`` (nq,), by default :func:`home`.

    Raises
    ------
    UnknownName
        A name is not a joint coordinate; pairs that close a loop have none.
    BadNumber
        A vector has another length, or a value is not finite.
    """
    return _vector(mech, mech.q_names, coordinate_units, values, home(mech) if base is None else base)


def rate_vector(mech: Mechanism, values: JointValues, base: spatial.Array | None = None) -> spatial.Array:
    """Return qd (nv,) in the same way as :func:`joint_vector`; ``base`` (nv,) is zero by default."""
    start = np.zeros(len(mech.qd_names)) if base is None else base
    return _vector(mech, mech.qd_names, rate_units, values, start)


def acceleration_vector(mech: Mechanism, values: JointValues) -> spatial.Array:
    """Return q̈ (nv,), zero for rates that are not named."""
    return _vector(mech, mech.qd_names, acceleration_units, values, np.zeros(len(mech.qd_names)))


def is_batch(values: JointValues) -> bool:
    """Return True for values of many poses, a row each."""
    return values is not None and not isinstance(values, Mapping) and np.ndim(values) > 1


def first_of(values: JointValues) -> JointValues:
    """Return the first row of a batch, and other values as they are."""
    return next(iter(np.asarray(values)), values) if is_batch(values) else values


def joint_vectors(mech: Mechanism, values: JointValues, base: spatial.Array | None = None) -> spatial.Array:
    """Return poses Q (n, nq) from a batch of them, or as :func:`joint_vector`, with ``base`` (nq,), for n = 1.

    Raises
    ------
    UnknownName, BadNumber
        As for :func:`joint_vector`; a batch of another shape, or with a quaternion of norm zero.
    """
    if is_batch(values):
        Q = _rows(np.asarray(values), mech.q_names, coordinate_units(mech), "poses", "q_names")
    else:
        Q = joint_vector(mech, values, base)[None]
    for joint in mech.tree.joints:
        if has_quaternion("floating" if joint.pair is None else joint.pair.type):
            empty = np.flatnonzero(~Q[:, joint.q][:, -4:].any(axis=1))
            if empty.size:
                name = joint.outer if joint.pair is None else joint.pair.name
                raise BadNumber(
                    f"the quaternion of {name!r} in pose {empty[0]} is zero", expected="a quaternion x y z w"
                )
    return Q


def states(
    mech: Mechanism,
    q: JointValues,
    qd: JointValues,
    base_q: spatial.Array | None = None,
    base_qd: spatial.Array | None = None,
) -> tuple[spatial.Array, spatial.Array]:
    """Return n poses (n, nq) and rates (n, nv); a single pose or vector of rates is repeated.

    Values that mappings leave out are those of base_q (nq,) and base_qd (nv,), by default home and zero.

    Raises
    ------
    UnknownName, BadNumber
        As for :func:`joint_vectors`; another number of poses and rates.
    """
    Q = joint_vectors(mech, q, base_q)
    if is_batch(qd):
        Qd = _rows(np.asarray(qd), mech.qd_names, rate_units(mech), "states", "qd_names")
    else:
        Qd = rate_vector(mech, qd, base_qd)[None]
    if is_batch(q) and is_batch(qd) and len(Q) != len(Qd):
        raise BadNumber(f"the batch has {len(Qd)} rows of rates", expected=f"{len(Q)}, one for each pose")
    count = len(Q) if is_batch(q) else len(Qd)
    Q, Qd = (np.repeat(x, count, axis=0) if len(x) != count else x for x in (Q, Qd))
    return Q, Qd


def _rows(
    values: spatial.Array, names: tuple[str, ...], units: tuple[str, ...], what: str, order: str
) -> spatial.Array:
    """Return ``values`` (n, k) as a batch of finite numbers, k of them for the ``names``."""
    out = np.array(values, dtype=float)
    if out.ndim != 2 or out.shape[1] != len(names):
        shape = " × ".join(map(str, out.shape))
        raise BadNumber(
            f"the batch of {what} has the shape {shape}", expected=f"n × {len(names)}, columns as in {order}"
        )
    if not len(out):
        raise BadNumber(f"the batch of {what} is empty", expected="at least one row")
    if (wrong := np.argwhere(~np.isfinite(out))).size:
        row, k = (int(i) for i in wrong[0])
        raise BadNumber(
            f"{names[k]!r} has the value {out[row, k]:g} in row {row}",
            expected=f"a finite number, {units[k]}",
        )
    return out


def _vector(
    mech: Mechanism,
    names: tuple[str, ...],
    units: Callable[[Mechanism], tuple[str, ...]],
    values: JointValues,
    base: spatial.Array,
) -> spatial.Array:
    """Return values as a vector (n,) in the order of names; missing ones are taken from ``base`` (n,)."""
    out = np.array(base, dtype=float)
    if isinstance(values, Mapping):
        index = {name: i for i, name in enumerate(names)}
        for name, value in values.items():
            if name not in index:
                raise _unknown_coordinate(mech, name, names)
            if isinstance(value, str):
                dimension = DIMENSION_OF[units(mech)[index[name]]]
                value = SI.value(value, dimension, f"{name!r} has the value")
            out[index[name]] = value
    elif values is not None:
        out = np.array(values, dtype=float).reshape(-1)
    if out.shape != (len(names),):
        loose = [joint.outer for joint in mech.tree.joints if joint.pair is None]
        free = f", with those of the free base {loose[0]!r}" if loose else ""
        raise BadNumber(
            f"the joint vector has {out.size} entries",
            expected=f"{len(names)}: {listed(names, 16)}{free}",
            remedy="mb.load(FILE, base='fixed') has no free base" if loose else "",
        )
    if (wrong := np.flatnonzero(~np.isfinite(out))).size:
        k = int(wrong[0])
        raise BadNumber(
            f"{names[k]!r} has the value {out[k]:g}", expected=f"a finite number, {units(mech)[k]}"
        )
    return out


def _unknown_coordinate(mech: Mechanism, name: str, names: tuple[str, ...]) -> UnknownName:
    if name in (pair.name for pair in mech.tree.cut):
        return UnknownName(
            f"joint {name!r} closes a loop and has no coordinate of its own",
            remedy="give the other joints of its loop; its value follows when the loop is closed",
        )
    return UnknownName(f"no joint coordinate is called {name!r}", remedy=suggestion(name, names))


def forward(mech: Mechanism, q: spatial.Array) -> BodyPoses:
    """Return the poses of all bodies at joint coordinates q (nq,); loop closures are ignored."""
    n = len(mech.bodies)
    R, p = np.empty((n, 3, 3)), np.empty((n, 3))
    index = mech.body_index
    for joint in mech.tree.joints:
        outer = index[joint.outer]
        R[outer], p[outer] = _outer_pose(mech, joint, q, R, p)
    p_LC = np.array([body.p_LC for body in mech.bodies]).reshape(n, 3)
    return BodyPoses(R, p, p + np.einsum("nij,nj->ni", R, p_LC))


def _outer_pose(
    mech: Mechanism, joint: TreeJoint, q: spatial.Array, R: spatial.Array, p: spatial.Array
) -> tuple[spatial.Array, spatial.Array]:
    """Return R (3, 3) and p (3,) of a joint's outer body at q (nq,); R (N, 3, 3) and p (N, 3) hold its inner body."""
    if joint.pair is None:
        q_free = q[joint.q]
        R_WL = spatial.rotation_from_quaternion(q_free[3:])
        return R_WL, q_free[:3] - R_WL @ mech.bodies[mech.body_index[joint.outer]].p_LC
    inner = mech.body_index[joint.inner]
    X = joint.pair.X_AP.inverse() if joint.reversed else joint.pair.X_SB
    # at zero coordinates, the most common case in files, the joint frames coincide
    X_PS = pair_transform(joint.pair, q[joint.q]) if q[joint.q].any() else None
    if joint.reversed:
        X = X if X_PS is None else X_PS.inverse() @ X
        X = joint.pair.X_BS @ X
    else:
        X = X if X_PS is None else X_PS @ X
        X = joint.pair.X_AP @ X
    return (X.R, X.p) if inner < 0 else (R[inner] @ X.R, p[inner] + R[inner] @ X.p)


def coordinates_of(mech: Mechanism, poses: BodyPoses) -> spatial.Array:
    """Return the q (nq,) that reproduces given body poses as far as the tree joints allow."""
    q = home(mech)
    for joint in mech.tree.joints:
        outer = poses.of(mech.body_index[joint.outer])
        if joint.pair is None:
            com = poses.p_WC[mech.body_index[joint.outer]]
            q[joint.q] = [*com, *spatial.quaternion_from_rotation(outer.R)]
        else:
            q[joint.q] = measure(joint.pair, relative_pose(mech, joint.pair, poses))
    return q


def relative_pose(mech: Mechanism, pair: Pair, poses: BodyPoses) -> spatial.Pose:
    """Return X_PS of a tree or cut pair."""
    X_WP = poses.of(mech.body_index[pair.body_a]) @ pair.X_AP
    return X_WP.inverse() @ poses.of(mech.body_index[pair.body_b]) @ pair.X_BS


def fixed_at(pair: Pair, X_PS: spatial.Pose) -> Pair:
    """Return a pair as a fixed pair at pose ``X_PS``; the axes of P and the origin of S do not change."""
    travel, turn = spatial.Pose(np.eye(3), X_PS.p), spatial.Pose(X_PS.R.T, np.zeros(3))
    return replace(pair, type="fixed", freedoms=(), X_AP=pair.X_AP @ travel, X_BS=pair.X_BS @ turn, lead=0.0)


def frames_apart(mech: Mechanism, poses: BodyPoses) -> Iterator[tuple[TreeJoint, Pair, float, float]]:
    """Yield the tree joints and pairs with the deviation of given poses from their allowed motion: m, and rad.

    :func:`coordinates_of` drops this deviation, so that the outer bodies move by it.
    """
    for joint in mech.tree.joints:
        if joint.pair is None:
            continue
        yield joint, joint.pair, *violation(joint.pair, relative_pose(mech, joint.pair, poses))


def violation(pair: Pair, X_PS: spatial.Pose) -> tuple[float, float]:
    """Return the deviation of a pose from the motion that a pair allows: a distance, m, and an angle, rad."""
    if pair.kind.size == "length":
        return abs(pair.kind.separation(X_PS) - pair.length), 0.0
    rest = pair_transform(pair, measure(pair, X_PS)).inverse() @ X_PS
    return float(np.linalg.norm(rest.p)), float(np.linalg.norm(spatial.vector_from_rotation(rest.R)))


def displace(mech: Mechanism, q: spatial.Array, step: spatial.Array) -> spatial.Array:
    """Return q (nq,) after a ``step`` (nv,) in the joint rates (rotations stay on the group)."""
    out = np.array(q)
    for joint in mech.tree.joints:
        kind = "floating" if joint.pair is None else joint.pair.type
        out[joint.q] = advance(kind, q[joint.q], step[joint.qd])
    return out


def joint_axes(mech: Mechanism, joint: TreeJoint, poses: BodyPoses) -> tuple[spatial.Array, spatial.Array]:
    """Return the twists of ``outer`` relative to ``inner`` per unit rate, and their reference point.

    Returns
    -------
    S : (6, f) array
        In world axes, at the returned point.
    point : (3,) array
        In the world, m.
    """
    index = mech.body_index
    if joint.pair is None:
        return np.eye(6), poses.p_WC[index[joint.outer]]
    pair = joint.pair
    X_WP = poses.of(index[pair.body_a]) @ pair.X_AP
    X_WS = poses.of(index[pair.body_b]) @ pair.X_BS
    S = motion_subspace(pair, X_WP.R, X_WS.R)
    return (-S if joint.reversed else S), X_WS.p


def free_pose(mech: Mechanism, body: str, X_WL: spatial.Pose) -> spatial.Array:
    """Return the free-joint coordinates (7,) that place the link frame of a root body at a pose."""
    p_LC = mech.bodies[mech.body_index[body]].p_LC
    return np.concatenate((X_WL.apply(p_LC), spatial.quaternion_from_rotation(X_WL.R)))


# Numbers by name, possibly texts with a unit: full speeds, decelerations, misfits and limits of reactions.
#
# The name determines the dimension. An unknown name takes any unit here, and is refused where the numbers are used.


def numbers(values: NamedNumbers | None, dimension: DimensionOfName) -> dict[str, float]:
    """Return values by name in SI units.

    Raises
    ------
    BadUsage
        A text is not a finite number with a unit of its dimension.
    """
    return {
        name: SI.value(value, dimension(name), f"{name!r} has the value") if isinstance(value, str) else value
        for name, value in (values or {}).items()
    }


def rates_of(mech: Mechanism) -> DimensionOfName:
    """Return a lookup of the dimension of each rate, by rate name or by the name of a joint with one freedom."""
    found = {
        pair.name: "speed" if pair.kind.free[0][0] == "t" else "angular rate"
        for pair in mech.pairs
        if len(pair.kind.free) == 1
    }
    units = (DIMENSION_OF[unit] for unit in rate_units(mech))
    found.update(zip(mech.qd_names, units, strict=True))
    return lambda name: found.get(name, "")


def accelerations_of(mech: Mechanism) -> DimensionOfName:
    """Return a lookup of the dimension of the acceleration for each rate."""
    rates = rates_of(mech)
    return lambda name: _OF_RATE["acceleration"].get(rates(name), "")


def forces_of(mech: Mechanism) -> DimensionOfName:
    """Return a lookup of the dimension of the generalised force for each rate."""
    rates = rates_of(mech)
    return lambda name: _OF_RATE["force"].get(rates(name), "")


def misfit_dimension(name: str) -> str:
    """Return the dimension of a misfit by its name, ``CONSTRAINT.COMPONENT``."""
    return {"t": "length", "r": "angle"}.get(name.rpartition(".")[2][:1], "")


def limits_of(mech: Mechanism) -> DimensionOfName:
    """Return a lookup of the dimension of a load limit by its name, ``JOINT`` or ``JOINT.COMPONENT``."""
    joints = {constraint.name for constraint in mech.constraints()}
    loads = {"t": "force", "r": "torque"}
    return lambda name: "force" if name in joints else loads.get(name.rpartition(".")[2][:1], "")


# Units of joint coordinates and rates, for table headers and plot axes.


def coordinate_units(mech: Mechanism) -> tuple[str, ...]:
    """Return the unit of each coordinate: ``rad``, ``m`` or ``1`` (a component of a quaternion)."""
    units = [""] * len(mech.q_names)
    for joint in mech.tree.joints:
        own = _units(joint)
        # one more coordinate than rates: three rotations are described by a quaternion
        turned = joint.q.stop - joint.q.start > len(own)
        units[joint.q] = [*own[:-3], *["1"] * 4] if turned else own
    return tuple(units)


def rate_units(mech: Mechanism) -> tuple[str, ...]:
    """Return the unit of each rate: ``rad/s`` or ``m/s``."""
    return _per_rate(mech, "/s")


def acceleration_units(mech: Mechanism) -> tuple[str, ...]:
    """Return the unit of the acceleration of each rate: ``rad/s²`` or ``m/s²``."""
    return _per_rate(mech, "/s²")


def _per_rate(mech: Mechanism, time: str) -> tuple[str, ...]:
    units = [""] * len(mech.qd_names)
    for joint in mech.tree.joints:
        units[joint.qd] = [unit + time for unit in _units(joint)]
    return tuple(units)


def momentum_units(mech: Mechanism) -> tuple[str, ...]:
    """Return the unit of the generalised momentum of each rate: ``N·m·s`` or ``N·s``."""
    forces = {spatial.units_of(c).rate: spatial.units_of(c).force for c in spatial.COMPONENTS}
    return tuple(f"{forces[unit]}·s" for unit in rate_units(mech))


def _units(joint: TreeJoint) -> list[str]:
    free = joint.pair.kind.free if joint.pair else spatial.COMPONENTS
    return [spatial.units_of(component).coordinate for component in free]


# The ground: the world, and the bodies welded to it.
#
# A base fixed to the world by a single pair does not move: a loop through it is a loop through the ground.


def ground_welds(mech: Mechanism, tying: Collection[str] | None = None) -> dict[str, int]:
    """Return the fixed pairs that make a body part of the ground, with the index of that body, from the world outwards.

    A body that is also connected to the ground by another pair is not merged, because its reaction can split between
    the weld and that pair.

    Parameters
    ----------
    tying : collection of str, optional
        Pairs that the caller counts as constraining. Default: all pairs with rows in space.
    """
    ends = {
        pair.name: (mech.body_index[pair.body_a], mech.body_index[pair.body_b])
        for pair in mech.pairs
        if (pair.kind.constrained if tying is None else pair.name in tying)
    }
    ground, found = {-1}, dict[str, int]()
    while True:
        held = _held(ends, ground)
        new = next(
            (
                (names[0], body)
                for body, names in held.items()
                if len(names) == 1 and mech.pair_by_name[names[0]].type == "fixed"
            ),
            None,
        )
        if new is None:
            return found
        found[new[0]] = new[1]
        ground.add(new[1])


def _held(ends: dict[str, tuple[int, int]], ground: set[int]) -> dict[int, list[str]]:
    """Return the pairs that connect each body outside the ground to the ground."""
    held: dict[int, list[str]] = {}
    for name, (a, b) in ends.items():
        if (a in ground) != (b in ground):
            held.setdefault(b if a in ground else a, []).append(name)
    return held


def welded_bodies(mech: Mechanism, tying: Collection[str] | None = None) -> frozenset[str]:
    """Return the names of the bodies that count as ground; arguments as for :func:`ground_welds`."""
    return frozenset(mech.bodies[body].name for body in ground_welds(mech, tying).values())


# Groups of bodies joined by fixed pairs; a massless link in such a group is harmless.


def rigid_groups(mech: Mechanism) -> dict[str, frozenset[str]]:
    """Return the rigid group of each body and of the ground: all bodies connected to it by fixed pairs, and itself."""
    group = {name: {name} for name in (WORLD, *(body.name for body in mech.bodies))}
    for pair in mech.pairs:
        if pair.type == "fixed" and group[pair.body_a] is not group[pair.body_b]:
            # merge the smaller group into the larger, so that few names move
            few, many = sorted((group[pair.body_a], group[pair.body_b]), key=len)
            many |= few
            for name in few:
                group[name] = many
    distinct = {id(members): members for members in group.values()}
    frozen = {key: frozenset(members) for key, members in distinct.items()}
    return {name: frozen[id(members)] for name, members in group.items()}


# Joints without a default brake: their effort limit is 0 or is not stated.


def follows(mech: Mechanism, pair: Pair) -> bool:
    """Return True if a coupling makes the joint follow others, so that it has no drive of its own."""
    return any(coupling.terms[0].joint == pair.name for coupling in mech.couplings)


def unbraked_joints(mech: Mechanism, braked: Collection[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the joints without a brake whose effort limit is 0, and those that have no effort limit.

    Only joints with one freedom that can move by themselves count: not locked, and not following a coupling.

    Parameters
    ----------
    braked : collection of str
        Joints with a brake.
    """
    locked = {lock.joint for lock in mech.locks}
    own = [
        pair
        for pair in mech.pairs
        if len(pair.kind.free) == 1 and pair.name not in {*braked, *locked} and not follows(mech, pair)
    ]
    zero = tuple(pair.name for pair in own if pair.freedoms[0].effort == 0.0)
    return zero, tuple(pair.name for pair in own if not isfinite(pair.freedoms[0].effort))
