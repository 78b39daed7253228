"""Constraint rows of a mechanism, or of some of its constraints, in space or in a coordinate plane.

A planar view has twists (x, y, φ) and the rows that do not vanish in the plane.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mbplugin.errors import BadUsage, BrokenModel
from mbplugin.model import BodyPoses, RowLabel, drive_component, lock_component, relative_pose
from mbplugin.model.mechanism import (
    Constraint,
    Coupling,
    Driver,
    KnifeEdge,
    Lock,
    Mechanism,
    Pfaffian,
    Rolling,
)
from mbplugin.model.mechanism.pair import PAIR_TYPES, Contact, Pair, RowKind, measure, travel_per_radian
from mbplugin.model.spatial import (
    ROTATION,
    TRANSLATION,
    AnyArray,
    Array,
    Pose,
    axis_of,
    cross,
    half_of,
    is_turn,
    pivots,
    shift_rows,
    skew,
    unit,
    vector_from_rotation,
    vectors_from_rotations,
)
from mbplugin.phrases import one_line_repr

#: Sine of the angle between axis and normal below which the rim has no lowest point.
_FLAT = 1e-9
#: Twist components (x, y, φ) of each plane.
PLANES = {"xy": (0, 1, 5), "yz": (1, 2, 3), "zx": (2, 0, 4)}
_PLANES_BY_LETTERS = {**PLANES, "yx": PLANES["xy"], "zy": PLANES["yz"], "xz": PLANES["zx"]}
#: A row vanishes in the plane below this fraction of its norm in space; rounded angles of a file
#: tilt an axis by up to 1e-3 rad.
VANISHED = 2e-3


def rows_of(
    mech: Mechanism,
    constraints: Sequence[Constraint],
    poses: BodyPoses,
    q: Array | None = None,
    twists: Array | None = None,
) -> list[Rows]:
    """Return the rows of some constraints at a pose, in their order.

    Parameters
    ----------
    q : (nq,) array, optional
        Joint coordinates with full turns, for couplings and drivers.
    twists : (N, 6) array, optional
        Body twists at the centres of mass, world axes; they enter Γ only.
    """
    of_pairs = pair_rows(mech, [c for c in constraints if isinstance(c, Pair)], poses, twists)

    def rows(constraint: Constraint) -> Rows:
        match constraint:
            case Pair():
                return of_pairs[constraint.name]
            case Coupling():
                return coupling_rows(mech, constraint, poses, q, twists)
            case Driver():
                return driver_rows(mech, constraint, poses, q, twists)
            case Lock():
                return lock_rows(mech, constraint, poses, twists)
            case KnifeEdge() | Rolling():
                return pfaffian_rows(mech, constraint, poses, twists)
            case Contact():
                return contact_rows(mech, constraint, poses, twists)

    return [rows(constraint) for constraint in constraints]


def all_rows(
    mech: Mechanism,
    poses: BodyPoses,
    q: Array | None = None,
    twists: Array | None = None,
    names: Collection[str] | None = None,
) -> list[Rows]:
    """Return the rows of every constraint (or of the named ones), one :class:`Rows` each.

    Arrays as for :func:`rows_of`.
    """
    chosen = [c for c in mech.constraints() if names is None or c.name in names]
    return rows_of(mech, chosen, poses, q, twists)


# Rows of kinematic pairs: one per constrained component, in predecessor axes.
#
# Pairs of one type are computed together: the leading axis of every array is over pairs.


def pair_rows(
    mech: Mechanism, pairs: Sequence[Pair], poses: BodyPoses, twists: Array | None = None
) -> dict[str, Rows]:
    """Return the rows of pairs by name, at a pose (and twists (N, 6), for Γ)."""
    rows: dict[str, Rows] = {}
    for pair_type in dict.fromkeys(pair.type for pair in pairs):
        alike = [pair for pair in pairs if pair.type == pair_type]
        rows.update(_rows_of_type(pair_type, alike, joint_frames(mech, alike, poses, twists)))
    return rows


def position_rows(pair_type: str, pairs: Sequence[Pair], frames: JointFrames) -> tuple[Array, Array]:
    """Return the position residuals of pairs of one type, and their derivatives.

    The derivatives are exact at open poses too (a screw's travel only if its axes agree); the rows of
    :func:`pair_rows` are exact there only for distances and travels.

    Returns
    -------
    L : (n, k, 6) array
        On the relative twists [v; ω] of S, world axes, at S.
    Phi : (n, k) array
        m and rad.
    """
    if PAIR_TYPES[pair_type].row_kind("d") is RowKind.DISTANCE:
        return _distance_directions(frames)[0], _residuals(pair_type, pairs, frames)[0]
    L = _directions(pair_type, pairs, frames)[0]
    Phi, per_turn = _residuals(pair_type, pairs, frames)
    if per_turn is not None:
        components = PAIR_TYPES[pair_type].constrained
        turns = [k for k, component in enumerate(components) if is_turn(component)]
        axes = [axis_of(components[k]) for k in turns]
        L[:, turns, 3:] = per_turn[:, axes] @ np.swapaxes(frames.R_WP, 1, 2)
    return L, Phi


def pair_arrays(
    pair_type: str, pairs: Sequence[Pair], frames: JointFrames
) -> tuple[Array, Array, Array, Array]:
    """Return the rows of n pairs of one type, each at its own frames.

    Returns
    -------
    on_a, on_b : (n, k, 6) array
        Coefficients on the twists of both bodies.
    Gamma, Phi : (n, k) array
        Acceleration right-hand sides, and position residuals, m and rad.
    """
    if PAIR_TYPES[pair_type].row_kind("d") is RowKind.DISTANCE:
        L, Gamma = _distance_directions(frames)
    else:
        L, L_dot = _directions(pair_type, pairs, frames)
        Gamma = frames.gamma(L, L_dot)
    return *frames.entries(L), Gamma, _residuals(pair_type, pairs, frames)[0]


def _rows_of_type(pair_type: str, pairs: Sequence[Pair], frames: JointFrames) -> dict[str, Rows]:
    components = PAIR_TYPES[pair_type].constrained
    on_a, on_b, Gamma, Phi = pair_arrays(pair_type, pairs, frames)
    zero = np.zeros(len(components))
    translation = np.array([c[0] in "td" for c in components], dtype=bool)
    holonomic = np.ones(len(components), dtype=bool)
    return {
        pair.name: Rows(
            pair.name,
            components,
            tuple((i, e) for i, e in ((frames.a[k], on_a[k]), (frames.b[k], on_b[k])) if i >= 0),
            zero,
            Gamma[k],
            Phi[k],
            translation,
            holonomic,
        )
        for k, pair in enumerate(pairs)
    }


def _directions(pair_type: str, pairs: Sequence[Pair], frames: JointFrames) -> tuple[Array, Array]:
    """Return rows (n, k, 6) on the relative twists at S, and their time derivatives."""
    kind = PAIR_TYPES[pair_type]
    L = np.zeros((len(pairs), len(kind.constrained), 6))
    L_dot = np.zeros_like(L)
    for k, component in enumerate(kind.constrained):
        if kind.row_kind(component) is RowKind.CROSSED:
            x, y = frames.R_WP[:, :, 0], frames.R_WS[:, :, 1]
            L[:, k, 3:] = cross(x, y)
            if frames.moving:
                L_dot[:, k, 3:] = cross(cross(frames.omega_a, x), y) + cross(x, cross(frames.omega_b, y))
            continue
        e = frames.R_WP[:, :, axis_of(component)]
        half = half_of(component)
        L[:, k, half] = e
        e_dot = cross(frames.omega_a, e) if frames.moving else 0.0
        L_dot[:, k, half] = e_dot
        if kind.row_kind(component) is RowKind.SCREW:
            pitch = np.array([[travel_per_radian(pair)] for pair in pairs])
            L[:, k, 3:], L_dot[:, k, 3:] = -pitch * e, -pitch * e_dot
    return L, L_dot


def _distance_directions(frames: JointFrames) -> tuple[Array, Array]:
    """Return rows (n, 1, 6) along the lines from P to S, and Γ (n, 1)."""
    d = frames.p_WS - frames.p_WP
    length = np.linalg.norm(d, axis=1, keepdims=True)
    # at zero distance any direction describes the coincidence of the two points equally badly
    e = np.where(length > 0, d / np.where(length > 0, length, 1.0), [0.0, 0.0, 1.0])
    w = frames.velocity_b(frames.p_WS) - frames.velocity_a(frames.p_WP)
    along = (e * w).sum(axis=1, keepdims=True)
    e_dot = np.where(length > 0, (w - e * along) / np.where(length > 0, length, 1.0), 0.0)
    centripetal = cross(frames.omega_b, cross(frames.omega_b, frames.p_WS - frames.p_WCb)) - cross(
        frames.omega_a, cross(frames.omega_a, frames.p_WP - frames.p_WCa)
    )
    L = np.concatenate((e, np.zeros_like(e)), axis=1)[:, None, :]
    return L, -(e * centripetal + e_dot * w).sum(axis=1, keepdims=True)


def _residuals(pair_type: str, pairs: Sequence[Pair], frames: JointFrames) -> tuple[Array, Array | None]:
    """Return the position residual of each row, (n, k), m and rad; it is zero for an assembled pair.

    Its gradient at an assembled pose is the row itself. If it includes a rotation vector, the second value is
    the derivative of that vector by ω_PS in P, (n, 3, 3).
    """
    d = np.einsum("nji,nj->ni", frames.R_WP, frames.p_WS - frames.p_WP)
    kind = PAIR_TYPES[pair_type]
    if kind.row_kind("d") is RowKind.DISTANCE:
        lengths = np.array([pair.length for pair in pairs])
        return np.asarray((np.linalg.norm(d, axis=1) - lengths)[:, None]), None
    rotations = [c for c in kind.constrained if is_turn(c)]
    theta = np.zeros_like(d)
    per_turn = None
    if rotations:
        R_PS = np.swapaxes(frames.R_WP, 1, 2) @ frames.R_WS
        if kind.row_kind("rz") is RowKind.CROSSED:
            theta[:, 2] = -R_PS[:, 0, 1]
        elif len(rotations) == 3:
            theta = vectors_from_rotations(R_PS)
            per_turn = _per_turn(theta)
        else:
            theta, per_turn = _tilts(R_PS[:, :, 2])
        if kind.row_kind("tz") is RowKind.SCREW:
            d[:, 2] -= _screw_travel(pairs, d[:, 2], R_PS)
    both = np.concatenate((d, theta), axis=1)
    return both[:, [("tx", "ty", "tz", "rx", "ry", "rz").index(c) for c in kind.constrained]], per_turn


def _per_turn(theta: Array) -> Array:
    """Return the derivatives (n, 3, 3) of rotation vectors theta (n, 3) by the angular velocity, axes of P."""
    angle = np.linalg.norm(theta, axis=1)[:, None, None]
    K = skew(theta)
    small = angle < 1e-4
    safe = np.where(small, 1.0, angle)
    # 1/θ² − cot(θ/2)/(2θ), which is 1/12 at zero
    factor = np.where(small, 1 / 12, 1 / safe**2 - 1 / (2 * safe * np.tan(0.5 * safe)))
    return np.asarray(np.eye(3) - 0.5 * K + factor * (K @ K))


def _tilts(z_S: Array) -> tuple[Array, Array]:
    """Return the smallest rotation vectors (n, 3) that take z to ``z_S`` (n, 3), and derivatives, in P."""
    x, y, z = z_S.T
    sine = np.hypot(x, y)
    angle = np.arctan2(sine, z)
    level = sine <= 1e-12
    per_sine = angle / np.where(level, 1.0, sine)
    per_sine[level & (z > 0)] = 1.0
    tilt = np.column_stack((-per_sine * y, per_sine * x, np.zeros(len(z_S))))
    # at 180° every axis perpendicular to z is equally short
    tilt[level & (z < 0), 0] = np.pi
    zero = np.zeros_like(x)
    dx, dy, dz = (np.column_stack(c) for c in ((zero, z, -y), (-z, zero, x), (y, -x, zero)))
    # d(angle/sine)/dz, which is −1/3 where the axes agree
    near = sine < 1e-4
    slope = np.where(near, -1 / 3, (z * per_sine - 1) / np.where(near, 1.0, sine) ** 2)
    rx = -per_sine[:, None] * dy - (slope * y)[:, None] * dz
    ry = per_sine[:, None] * dx + (slope * x)[:, None] * dz
    return tilt, np.stack((rx, ry, np.zeros_like(rx)), axis=1)


def _screw_travel(pairs: Sequence[Pair], travel: Array, R_PS: Array) -> Array:
    """Return the travels (n,), m, of the screw angles in ``R_PS`` (n, 3, 3), in the turn nearest ``travel`` (n,)."""
    pitch = np.array([travel_per_radian(pair) for pair in pairs])
    angle = np.arctan2(R_PS[:, 1, 0], R_PS[:, 0, 0])
    moving = pitch != 0
    turns = np.zeros_like(angle)
    turns[moving] = np.round((travel[moving] / pitch[moving] - angle[moving]) / (2 * np.pi))
    return np.asarray(pitch * (angle + 2 * np.pi * turns))


# Rows on joint rates (couplings, drivers and locks), expressed in body twists.


def coupling_rows(
    mech: Mechanism, coupling: Coupling, poses: BodyPoses, q: Array | None, twists: Array | None
) -> Rows:
    """Return the row ``c`` of a coupling; arrays as for :func:`mbplugin.constraints.rows.rows_of`."""
    parts: list[tuple[int, Array]] = []
    Gamma, Phi, translation = 0.0, -coupling.offset, False
    for term in coupling.terms:
        pair = mech.pair_by_name[term.joint]
        rates = _rate_rows(mech, pair, (term.freedom,), poses, twists)
        parts += [(body, term.coefficient * entry) for body, entry in rates.entries]
        Gamma += term.coefficient * rates.Gamma[0]
        Phi += term.coefficient * freedom_value(mech, pair, term.freedom, poses, q)
        translation = translation or not is_turn(term.freedom)
    sums: dict[int, Array] = {}
    for body, entry in parts:
        sums[body] = sums.get(body, np.zeros((1, 6))) + entry
    return Rows(
        coupling.name,
        ("c",),
        tuple(sums.items()),
        np.zeros(1),
        np.array([Gamma]),
        np.array([Phi]),
        np.array([translation]),
        np.array([True]),
        tuple(parts),
    )


def driver_rows(
    mech: Mechanism,
    driver: Driver,
    poses: BodyPoses,
    q: Array | None,
    twists: Array | None,
) -> Rows:
    """Return one row per driven freedom at time zero, labelled ``…_drive``; arrays as for
    :func:`mbplugin.constraints.rows.rows_of`.
    """
    pair = mech.pair_by_name[driver.joint]
    freedoms = driver.freedoms or pair.kind.free
    rates = _rate_rows(mech, pair, freedoms, poses, twists)
    Phi: Array = np.zeros(len(freedoms))
    if driver.value is not None:
        here = [freedom_value(mech, pair, f, poses, q) for f in freedoms]
        Phi = np.array(here) - driver.value
    return Rows(
        driver.name,
        tuple(map(drive_component, freedoms)),
        rates.entries,
        np.full(len(freedoms), -driver.rate),
        rates.Gamma + driver.acceleration,
        Phi,
        rates.translation,
        rates.holonomic,
    )


def lock_rows(mech: Mechanism, lock: Lock, poses: BodyPoses, twists: Array | None) -> Rows:
    """Return one row per locked freedom, labelled ``…_lock``, with zero residual at any pose; ``twists`` (N, 6)."""
    pair = mech.pair_by_name[lock.joint]
    freedoms = lock.freedoms or pair.kind.free
    rates = _rate_rows(mech, pair, freedoms, poses, twists)
    labels = tuple(map(lock_component, freedoms))
    zero = np.zeros(len(freedoms))
    return Rows(lock.name, labels, rates.entries, zero, rates.Gamma, zero, rates.translation, rates.holonomic)


def freedom_value(mech: Mechanism, pair: Pair, freedom: str, poses: BodyPoses, q: Array | None) -> float:
    """Return the position of one freedom (rad or m); for a tree joint from q (nq,), including full turns."""
    slot = pair.kind.free.index(freedom)
    joint = mech.tree.joint_of_pair.get(pair.name)
    if joint is not None and q is not None and len(q[joint.q]) == len(pair.kind.free):
        return float(q[joint.q][slot])
    X_PS = relative_pose(mech, pair, poses)
    measured = measure(pair, X_PS)
    if len(measured) == len(pair.kind.free):
        return float(measured[slot])
    axis = axis_of(freedom)
    return float(vector_from_rotation(X_PS.R)[axis] if is_turn(freedom) else X_PS.p[axis])


def _rate_rows(
    mech: Mechanism, pair: Pair, freedoms: tuple[str, ...], poses: BodyPoses, twists: Array | None
) -> Rows:
    """Return the rows that measure the rates of a pair's freedoms from the body ``twists`` (N, 6)."""
    frames = joint_frames(mech, (pair,), poses, twists)
    on_a, on_b, Gamma = rate_arrays(pair, freedoms, frames)
    return Rows(
        pair.name,
        freedoms,
        tuple((i, e) for i, e in ((frames.a[0], on_a[0]), (frames.b[0], on_b[0])) if i >= 0),
        np.zeros(len(freedoms)),
        Gamma[0],
        np.zeros(len(freedoms)),
        np.array([not is_turn(f) for f in freedoms], dtype=bool),
        np.ones(len(freedoms), dtype=bool),
    )


def rate_arrays(pair: Pair, freedoms: tuple[str, ...], frames: JointFrames) -> tuple[Array, Array, Array]:
    """Return the rows that measure the rates of a pair's freedoms, at each of n frames of that pair.

    Returns
    -------
    on_a, on_b : (n, k, 6) array
        Coefficients on the twists of both bodies.
    Gamma : (n, k) array
        Acceleration right-hand sides.
    """
    L = np.zeros((len(frames.R_WP), len(freedoms), 6))
    L_dot = np.zeros_like(L)
    for k, freedom in enumerate(freedoms):
        axis = axis_of(freedom)
        carried_by_b = pair.kind.row_kind(freedom) is RowKind.CARRIED
        e = (frames.R_WS if carried_by_b else frames.R_WP)[:, :, axis]
        half = half_of(freedom)
        L[:, k, half] = e
        L_dot[:, k, half] = cross(frames.omega_b if carried_by_b else frames.omega_a, e)
    return *frames.entries(L), frames.gamma(L, L_dot)


# Rows between a body and the ground: knife edges (wojtyra2013 (30), (31)) and rolling wheels.


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
    """Return the rows at the lowest point of the wheel's circle, which moves along the rim as it rolls."""
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
    """Return the unit vector of a vector (3,), and its derivative from the vector's ``derivative`` (3,)."""
    length = float(np.sqrt(vector @ vector))
    along = vector / length
    return along, (derivative - along * (along @ derivative)) / length


def _rows(pfaffian: Pfaffian, body: _BodyMotion, E: Array, point: Array, Gamma: Array, Phi: Array) -> Rows:
    """Return the rows of a constraint from its directions E (k, 3) at a point (3,) in the world, m.

    With Gamma (k,) and Phi (k,); directions that are not components of the constraint are left out.
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


def contact_rows(mech: Mechanism, contact: Contact, poses: BodyPoses, twists: Array | None = None) -> Rows:
    """Return the rows of a contact between the material points that touch; ``twists`` (N, 6) enter Γ only."""
    E = contact.axes(mech.gravity)[: len(contact.components)]
    E[0] = contact.pushes
    index = mech.body_index
    p_W = poses.of(index[contact.body]).apply(contact.point)
    entries, Gamma = [], np.zeros(len(E))
    for body, sign in ((index[contact.on], -1.0), (index[contact.body], 1.0)):
        if body >= 0:
            arm = p_W - poses.p_WC[body]
            entry = np.empty((len(E), 6))
            entry[:, TRANSLATION] = sign * E
            # arm × force by row, as a product of small matrices: there may be hundreds of contacts
            entry[:, ROTATION] = entry[:, TRANSLATION] @ skew(arm).T
            entries.append((body, entry))
            if twists is not None:
                omega = twists[body, ROTATION]
                Gamma -= sign * (E @ cross(omega, cross(omega, arm)))
    zero, yes = np.zeros(len(E)), np.ones(len(E), dtype=bool)
    return Rows(contact.name, contact.components, tuple(entries), zero, Gamma, zero, yes, yes)


def plane_columns(planar: str | None) -> tuple[int, ...]:
    """Return the twist columns of a plane, all six for None.

    Raises
    ------
    BadUsage
        ``planar`` is not a coordinate plane.
    """
    if planar is None:
        return (0, 1, 2, 3, 4, 5)
    if planar not in _PLANES_BY_LETTERS:
        raise BadUsage(f"planar is {planar!r}", expected="xy, yz or zx")
    return _PLANES_BY_LETTERS[planar]


def planar_rows(rows: Rows, columns: tuple[int, ...]) -> Rows:
    """Return the rows that restrain motion in the plane.

    Dropped are rows that vanish, and rows that depend in the plane on the other rows of the same constraint
    (a tilted fixed pair has six rows, of which at most three are independent in the plane).
    """
    if len(columns) == 6:
        return rows
    if not rows.components:
        return rows
    # translations are multiplied by the constraint's lever arm
    coefficients = np.hstack([entry for _, entry in rows.entries])
    out = coefficients.reshape(len(coefficients), -1, 6).copy()
    force, moment = np.abs(out[:, :, :3]).max(), np.abs(out[:, :, 3:]).max()
    out[:, :, :3] *= moment / force if force > 0 and moment > 0 else 1.0
    full = np.asarray(out.reshape(coefficients.shape))
    wanted = np.concatenate([6 * i + np.array(columns) for i in range(len(rows.entries))])
    inside = full[:, wanted]
    inside = inside / np.maximum(np.linalg.norm(full, axis=1, keepdims=True), 1e-300)
    sizes, order = pivots(inside.T)
    rank = int((sizes > VANISHED).sum())
    kept = np.sort(order[:rank])
    return replace(
        rows,
        components=tuple(rows.components[k] for k in kept),
        entries=tuple((body, entry[kept]) for body, entry in rows.entries),
        b=rows.b[kept],
        Gamma=rows.Gamma[kept],
        Phi=rows.Phi[kept],
        translation=rows.translation[kept],
        holonomic=rows.holonomic[kept],
    )


# Labelled rows of one constraint: coefficients on body twists, and right-hand sides.


@one_line_repr
@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of one constraint,  Σ entries · twist + b = 0  and  Σ entries · acceleration = Gamma.

    Parameters
    ----------
    constraint : str
        Name of the constraint.
    components : tuple of str
        One label per row, k of them.
    entries : tuple of (int, (k, 6) array)
        Body index and coefficients on its twist [v; ω], world axes, at its centre of mass.
    b, Gamma, Phi : (k,) array
        Velocity term, acceleration right-hand side, position residual (zero for a row that has no
        position equation).
    translation : (k,) bool array
        Whether a row is in m/s (otherwise rad/s).
    holonomic : (k,) bool array
    parts : tuple of (int, (1, 6) array)
        For a coupling, the entries of each of its terms before summation.
    """

    constraint: str
    components: tuple[str, ...]
    entries: tuple[tuple[int, Array], ...]
    b: Array
    Gamma: Array
    Phi: Array
    translation: AnyArray
    holonomic: AnyArray
    parts: tuple[tuple[int, Array], ...] = ()

    @property
    def labels(self) -> tuple[RowLabel, ...]:
        """Label of each row."""
        return tuple(RowLabel(self.constraint, component) for component in self.components)


# Both ends of several pairs at once: joint frames, and the motion of the bodies that carry them.


@dataclass(frozen=True, eq=False)
class JointFrames:
    """Predecessor side a and successor side b of n pairs, world axes; the ground is at rest.

    Parameters
    ----------
    a, b : list of int
        Body indices; −1 is the ground.
    R_WP, R_WS : (n, 3, 3) array
    p_WP, p_WS, p_WCa, p_WCb : (n, 3) array, m
    v_a, v_b, omega_a, omega_b : (n, 3) array
        Velocities of the centres of mass (m/s) and angular velocities (rad/s).
    moving : bool
        Whether twists were given.
    """

    a: list[int]
    b: list[int]
    R_WP: Array
    R_WS: Array
    p_WP: Array
    p_WS: Array
    p_WCa: Array
    p_WCb: Array
    v_a: Array
    v_b: Array
    omega_a: Array
    omega_b: Array
    moving: bool

    def velocity_a(self, p_W: Array) -> Array:
        """Return the velocities (n, 3) of a's material points at ``p_W`` (n, 3), m/s."""
        return self.v_a + cross(self.omega_a, p_W - self.p_WCa)

    def velocity_b(self, p_W: Array) -> Array:
        """Return the velocities (n, 3) of b's material points at ``p_W`` (n, 3), m/s."""
        return self.v_b + cross(self.omega_b, p_W - self.p_WCb)

    def entries(self, L: Array) -> tuple[Array, Array]:
        """Return rows (n, k, 6) on the twists at the bodies' centres of mass for rows L (n, k, 6) on twists at S."""
        arm_a, arm_b = (self.p_WS - self.p_WCa)[:, None, :], (self.p_WS - self.p_WCb)[:, None, :]
        return -shift_rows(L, arm_a), shift_rows(L, arm_b)

    def gamma(self, L: Array, L_dot: Array) -> Array:
        """Return Γ (n, k) of rows L on the relative twists at S (wojtyra2013 (9), these coordinates).

        L and L_dot (n, k, 6) are rows and their time derivatives. The reference point S moves with b, which also
        enters the part of a.
        """
        if not self.moving:
            return np.zeros(L.shape[:2])
        v_point = self.velocity_b(self.p_WS)
        of_b = cross(self.omega_b, cross(self.omega_b, self.p_WS - self.p_WCb))
        of_a = cross(self.omega_a, v_point - self.v_a)
        relative = np.concatenate((v_point - self.velocity_a(self.p_WS), self.omega_b - self.omega_a), axis=1)
        bias = np.einsum("nki,ni->nk", L[:, :, TRANSLATION], of_b - of_a)
        return np.asarray(-bias - np.einsum("nki,ni->nk", L_dot, relative))


def joint_frames(
    mech: Mechanism, pairs: Sequence[Pair], poses: BodyPoses, twists: Array | None
) -> JointFrames:
    """Return the joint frames of some pairs at a pose, with twists (N, 6) or at rest."""
    a = [mech.body_index[pair.body_a] for pair in pairs]
    b = [mech.body_index[pair.body_b] for pair in pairs]
    # the ground follows the last body, so index −1 selects it
    R_WL = np.concatenate((poses.R_WL, np.eye(3)[None]))
    p_WL, p_WC = (np.concatenate((p, np.zeros((1, 3)))) for p in (poses.p_WL, poses.p_WC))
    V = np.zeros((len(p_WL), 6))
    if twists is not None:
        V[:-1] = twists
    R_AP = np.array([pair.X_AP.R for pair in pairs])
    R_BS = np.array([pair.X_BS.R for pair in pairs])
    p_AP = np.array([pair.X_AP.p for pair in pairs])
    p_BS = np.array([pair.X_BS.p for pair in pairs])
    return JointFrames(
        a,
        b,
        R_WL[a] @ R_AP,
        R_WL[b] @ R_BS,
        p_WL[a] + np.einsum("nij,nj->ni", R_WL[a], p_AP),
        p_WL[b] + np.einsum("nij,nj->ni", R_WL[b], p_BS),
        p_WC[a],
        p_WC[b],
        V[a][:, TRANSLATION],
        V[b][:, TRANSLATION],
        V[a][:, ROTATION],
        V[b][:, ROTATION],
        twists is not None,
    )
