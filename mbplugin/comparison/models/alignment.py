"""How the link frames of two models lie to each other: the choice at which most of a body's contents agree.

Here is also what a change of the robot does to the time and the travel of each joint in an emergency stop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from math import isfinite
from typing import Literal

import numpy as np

from mbplugin.comparison.models.matching import (
    AXIAL,
    FLIP,
    Matching,
    Merged,
    Tolerances,
    angle_between,
    like,
    side_gap,
    turn_about_z,
)
from mbplugin.constraints.rank import constraint_matrix
from mbplugin.constraints.reduction import mass_matrix, velocity_transformation
from mbplugin.errors import MbPluginError
from mbplugin.model import WORLD, Lock, Mechanism, Origin, Pair, RowLabel, Scene
from mbplugin.model.mechanism.kinematics import displace, follows, forward, home, rate_units
from mbplugin.model.spatial import AnyArray, Array, Pose, units_of
from mbplugin.phrases import counted, one_line, one_line_repr
from mbplugin.readers.unread import with_fixed_roots
from mbplugin.rendering import Result

#: Most joints that are stopped, and the time limit of each stop, s.
MOST_JOINTS, _SECONDS = 40, 30.0


@dataclass(frozen=True)
class StopFigure:
    """The emergency stop (category 0) of one joint from its velocity limit, the others at rest.

    Parameters
    ----------
    joint : str
    unit : "rad" or "m"
    speed : float
        rad/s or m/s.
    outcome : str
        As of :func:`mbplugin.estop`; ``failed`` where it cannot be computed.
    time, travel : float or None
        From the signal to rest, s, and rad or m; None unless it stops.
    tool_travel : float or None
        Length of the path of the tool, m.
    reason : str
        Why it cannot be computed.
    """

    joint: str
    unit: str
    speed: float
    outcome: str
    time: float | None = None
    travel: float | None = None
    tool_travel: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class StopChange:
    """The stops of one joint in both models; None where a model has no such stop."""

    joint: str
    a: StopFigure | None
    b: StopFigure | None


def stop_changes(
    a: Scene, b: Scene, joints: Mapping[str, str], progress: Callable[[int, int], None] | None = None
) -> tuple[tuple[StopChange, ...], tuple[str, ...]]:
    """Return the stops of the joints of two models, and notes on joints that are left out.

    Each joint with one freedom and a velocity limit starts at that limit, at the pose of its file.

    Parameters
    ----------
    joints : mapping of str to str
        Names of the first model, and the names of the same joints in the second.
    progress : callable, optional
        Called with the number of joints that were stopped, and the number of all.
    """
    ours, theirs = _stoppable(a.mechanism), _stoppable(b.mechanism)
    known = {there: here for here, there in joints.items()}
    names: list[tuple[str | None, str | None]] = [(name, joints.get(name)) for name in ours]
    names += [(known.get(name), name) for name in theirs if known.get(name) not in ours]
    changes = []
    for here, there in names[:MOST_JOINTS]:
        first = _stop(a, here) if here in ours else None
        second = _stop(b, there) if there in theirs else None
        changes.append(StopChange(here or there or "", first, second))
        if progress is not None:
            progress(len(changes), len(names[:MOST_JOINTS]))
    left = [here or there or "" for here, there in names[MOST_JOINTS:]]
    return tuple(changes), (f"the stops of {len(left)} more joints are not computed",) if left else ()


def _stoppable(mech: Mechanism) -> list[str]:
    """Return the joints with one freedom and a velocity limit that follow no other."""
    locked = {lock.joint for lock in mech.locks}
    return [
        pair.name
        for pair in mech.pairs
        if len(pair.freedoms) == 1
        and isfinite(_speed(pair))
        and _speed(pair) > 0
        and pair.name not in locked
        and not follows(mech, pair)
    ]


def _speed(pair: Pair) -> float:
    return float(pair.freedoms[0].velocity)


def _stop(scene: Scene, name: str | None) -> StopFigure:
    # a comparison without stops imports none of their modules
    from mbplugin.stopping.run import estop

    assert name is not None
    pair = scene.mechanism.pair_by_name[name]
    unit, speed = units_of(pair.kind.free[0]).coordinate, _speed(pair)
    try:
        report = estop(scene, qd={name: speed}, max_seconds=_SECONDS)
    except MbPluginError as error:
        return StopFigure(name, unit, speed, "failed", reason=error.what)
    joint = next((one for one in report.joints if one.name == name), None)
    if report.outcome not in ("stopped", "limit_hit") or joint is None:
        reason = "" if joint is not None else "the joint has no brake"
        return StopFigure(name, unit, speed, report.outcome, reason=reason)
    return StopFigure(name, unit, speed, report.outcome, joint.time, abs(joint.travel), report.tool.distance)


#: Poses, and where their random numbers start.
POSES, SEED = 5, 20
#: Rates without limits move so far, rad and m.
_TURN, _TRAVEL = 1.5, 0.3
#: Rows above which joint forces would take longer than all the rest.
_MOST_ROWS = 600
#: A component with a self-stress above this is not determined.
_OPEN = 1e-6
#: Loops with a smaller residual are closed, m and rad.
_CLOSED = 1e-5
#: Gravity forces below this share of the weights times the longest arm are rounding: gravity is balanced. So are
#: joint forces below this share of the largest, determined or not: a linkage that lies flat has no others.
_BALANCED = 1e-6
#: What may differ between two models.
DifferenceKind = Literal[
    "mass",
    "center",
    "inertia",
    "frame",
    "body",
    "axis",
    "origin",
    "limit",
    "zero",
    "effort",
    "velocity",
    "damping",
    "friction",
    "acceleration",
    "deceleration",
    "jerk",
    "load_friction",
    "guide_length",
    "armature",
    "spring",
    "actuator",
    "lead",
    "length",
    "type",
    "ends",
    "joint",
    "loop",
    "coupling",
    "gravity",
    "base",
    "redundancy",
    "mobility",
    "dynamics",
    "reactions",
]
#: The kinds of differences in words.
DIFFERENCE_NAMES: Mapping[DifferenceKind, str] = {
    "mass": "mass",
    "center": "centre of mass",
    "inertia": "inertia",
    "frame": "frame",
    "body": "body",
    "axis": "joint axis",
    "origin": "joint position",
    "limit": "limit",
    "zero": "zero position",
    "effort": "effort limit",
    "velocity": "velocity limit",
    "damping": "damping",
    "friction": "dry friction",
    "acceleration": "acceleration limit",
    "deceleration": "deceleration limit",
    "jerk": "jerk limit",
    "load_friction": "friction per load",
    "guide_length": "length of the guide",
    "armature": "rotor inertia",
    "spring": "spring",
    "actuator": "actuator",
    "lead": "lead",
    "length": "length",
    "type": "joint type",
    "ends": "bodies of the joint",
    "joint": "joint",
    "loop": "loop",
    "coupling": "coupling",
    "gravity": "gravity",
    "base": "base",
    "redundancy": "redundancy",
    "mobility": "mobility",
    "dynamics": "dynamics",
    "reactions": "joint forces",
}
#: What is normalised.
NormalisedKind = Literal[
    "fixed links",
    "frame",
    "link frame",
    "ground",
    "base",
    "gravity",
    "armature",
    "cut",
    "order",
    "axis",
    "zero",
    "effort",
    "damping",
    "friction",
    "velocity",
]
#: What a file states of a joint besides its geometry.
StatedKind = Literal[
    "limit",
    "effort",
    "velocity",
    "damping",
    "friction",
    "acceleration",
    "deceleration",
    "jerk",
    "load_friction",
    "guide_length",
    "armature",
    "spring",
    "actuator",
]


@dataclass(frozen=True, eq=False)
class _Side:
    """The frames of a matched pair on one body of either model."""

    type: str
    X: Pose
    Y: Pose
    other: str


def size_of(model: Merged) -> float:
    """Return the largest distance of a joint from another on its body, or of a centre of mass, m."""
    mech = model.mechanism
    return max(mech.largest_arm, *(float(np.linalg.norm(body.p_LC)) for body in mech.bodies), 1e-3)


def aligned(a: Merged, b: Merged, found: Matching, limits: Tolerances) -> dict[str, Pose]:
    """Return X_AB of each matched body by its first name: the second model's link frame in the first one's."""
    T: dict[str, Pose] = {}
    order = [n for n in (WORLD, *(joint.outer for joint in a.mechanism.tree.joints)) if n in found.bodies]
    for name in order:
        T[name] = _frame(a, b, found, name, T, limits)
    return _with_neighbours(a, b, found, T, limits)


def _frame(a: Merged, b: Merged, found: Matching, name: str, T: dict[str, Pose], limits: Tolerances) -> Pose:
    """Return the pose of a body's second frame in its first at which least differs beside the known frames."""
    sides = _sides(a, b, found, name)
    best: tuple[tuple[int, int], Pose] | None = None
    for X in _candidates(a, b, found, name, sides, T):
        score = _score(a, b, found, name, sides, T | {name: X}, limits)
        if best is None or score < best[0]:
            best = (score, X)
        if score == (0, 0):
            break
    assert best is not None
    return best[1]


def _score(
    a: Merged,
    b: Merged,
    found: Matching,
    name: str,
    sides: list[_Side],
    T: dict[str, Pose],
    limits: Tolerances,
) -> tuple[int, int]:
    """Return the number of differences of a body and of its joints to aligned bodies, and of displaced elements."""
    count, moved = _across(a, b, found, name, T, limits)
    if name != WORLD:
        unknown = [side for side in sides if side.other not in T]
        moved += sum(_is_aside(side, T[name], limits) + _is_flipped(side, T[name]) for side in unknown)
    return _misfits(a, b, found, name, sides, T[name], limits) + count, moved


def _is_aside(side: _Side, T: Pose, limits: Tolerances) -> bool:
    """Whether a slider is elsewhere across its axis: free, but files seldom move it."""
    if side.type != "prismatic":
        return False
    between = side.X.R.T @ (T.apply(side.Y.p) - side.X.p)
    return bool(np.linalg.norm(between[:2]) > limits.length)


def _is_flipped(side: _Side, T: Pose) -> bool:
    """Whether an axis points the other way, which files seldom change."""
    return side.type in AXIAL and bool(side.X.R[:, 2] @ (T.R @ side.Y.R[:, 2]) < 0)


def _with_neighbours(
    a: Merged, b: Merged, found: Matching, T: dict[str, Pose], limits: Tolerances
) -> dict[str, Pose]:
    """Return frames in which those of a body and its neighbour are chosen together, where one alone does not fit.

    A neighbour that may turn about its joints can have been turned so that the body in its loop does not fit.
    """
    if not a.mechanism.tree.cut:
        return T
    sides = {name: _sides(a, b, found, name) for name in T}
    near = {name: [side.other for side in sides[name] if side.other in T] for name in T}

    def score(names: Iterable[str], T: dict[str, Pose]) -> tuple[int, int]:
        # a joint counts on both of its bodies, so what one body alone has counts twice
        alone = sum(_misfits(a, b, found, name, sides[name], T[name], limits) for name in names)
        counts, moved = zip(*(_across(a, b, found, name, T, limits) for name in names), strict=True)
        return 2 * alone + sum(counts), sum(moved)

    def chosen_with_another(name: str) -> dict[str, Pose] | None:
        for other in near[name] if name != WORLD and score([name], T)[0] else ():
            if other == WORLD:
                continue
            trial = {body: X for body, X in T.items() if body not in (name, other)}
            for body in (name, other):
                trial[body] = _frame(a, b, found, body, trial, limits)
            touched = {name, other, *near[name], *near[other]}
            if score(touched, trial) < score(touched, T):
                return trial
        return None

    # each better choice lowers the score, and may show that a further neighbour was turned
    while (better := next(filter(None, map(chosen_with_another, sides)), None)) is not None:
        T = better
    return T


def limits_apart(
    a: Pair, b: Pair, limits: Tolerances
) -> list[tuple[Literal["lower", "upper"], str, float, float]]:
    """Return the limits that differ of two pairs in the same coordinates: side, component and both values."""
    sides: tuple[Literal["lower"], Literal["upper"]] = ("lower", "upper")
    apart = []
    for component, one, other in zip(a.kind.free, a.freedoms, b.freedoms, strict=True):
        bound = limits.angle if component[0] == "r" else limits.length
        for side in sides:
            x, y = getattr(one, side), getattr(other, side)
            if x != y and not abs(x - y) <= max(bound, limits.relative * abs(x) if isfinite(x) else 0.0):
                apart.append((side, component, x, y))
    return apart


def home_gap(a: Pair, b: Pair) -> tuple[float, float]:
    """Return distance and angle between the bodies of two pairs at zero, m and rad."""
    one, other = a.X_AP @ a.X_SB, b.X_AP @ b.X_SB
    return float(np.linalg.norm(one.p - other.p)), angle_between(one.R, other.R)


def _across(
    a: Merged, b: Merged, found: Matching, name: str, T: dict[str, Pose], limits: Tolerances
) -> tuple[int, int]:
    """Return the number of frame differences to already aligned neighbours, and of displaced elements.

    A body without a direction of its own has that in which its joints agree on both sides.
    """
    count = moved = 0
    for pair, twin in _known(a, b, found, name, T):
        if pair.type not in AXIAL or pair.kind.free != twin.kind.free:
            continue
        twin, sign, offset, _ = like(pair, twin, limits)
        # a side that differs counts where it is, and moves the home too
        gaps = np.array(
            [side_gap(pair.type, pair.X_AP, twin.X_AP), side_gap(pair.type, pair.X_BS, twin.X_BS)]
        )
        if (gaps <= (limits.length, limits.angle)).all():
            distance, angle = home_gap(pair, twin)
            count += 2 * (distance > 2 * limits.length) + 3 * (angle > limits.angle)
        # a moved zero counts as much as a centre of mass: one number that differs is not a frame, a zero, and limits
        # that moved together
        count += bool(limits_apart(pair, twin, limits)) + 2 * bool(offset)
        moved += (sign < 0) + bool(offset)
    return count, moved


def _known(
    a: Merged, b: Merged, found: Matching, name: str, T: dict[str, Pose]
) -> Iterator[tuple[Pair, Pair]]:
    """Yield the pairs of a body whose frames are known on both sides, and their twins in the first's frames."""
    first = {there: here for here, there in found.bodies.items() if here in T}
    for one, other in found.pairs.items():
        pair, twin = a.mechanism.pair_by_name[one], b.mechanism.pair_by_name[other]
        if name not in pair.bodies or not first.keys() >= set(twin.bodies):
            continue
        A, B = (first[body] for body in twin.bodies)
        if {A, B} == set(pair.bodies):
            yield pair, replace(twin, body_a=A, body_b=B, X_AP=T[A] @ twin.X_AP, X_BS=T[B] @ twin.X_BS)


def _sides(a: Merged, b: Merged, found: Matching, name: str) -> list[_Side]:
    sides = []
    for one, other in found.pairs.items():
        pair, twin = a.mechanism.pair_by_name[one], b.mechanism.pair_by_name[other]
        there = found.bodies[name]
        if name in pair.bodies and there in twin.bodies:
            other_body = pair.body_b if pair.body_a == name else pair.body_a
            type, Y = _weaker(pair, twin), _on(twin, there)
            if type in AXIAL and (pair.body_a == name) is not (twin.body_a == there):
                # the same motion seen from the other body has the opposite axis
                Y = Y @ FLIP
            sides.append(_Side(type, _on(pair, name), Y, other_body))
    return sides


def _weaker(pair: Pair, twin: Pair) -> str:
    """Return the type by which two pairs are compared: the one that constrains its frames less."""
    return pair.type if len(pair.kind.free) >= len(twin.kind.free) else twin.type


def _on(pair: Pair, body: str) -> Pose:
    return pair.X_AP if pair.body_a == body else pair.X_BS


def _candidates(
    a: Merged, b: Merged, found: Matching, name: str, sides: list[_Side], T: dict[str, Pose]
) -> Iterator[Pose]:
    """Yield poses of a body's second frame in its first, the most likely ones in front."""
    there = found.bodies[name]
    if name == WORLD:
        yield Pose.identity()
    ours, theirs = a.frames[name], b.frames[there]
    common = [link for link in ours if link in theirs and link != WORLD]
    for link in sorted(common, key=lambda link: link not in (name, there)):
        yield ours[link] @ theirs[link].inverse()
    yield Pose.identity()
    for pair, twin in _known(a, b, found, name, T | {name: Pose.identity()}):
        inner = pair.body_b if pair.body_a == name else pair.body_a
        X, Y = (_on(p, inner) for p in (pair, twin))
        if pair.type in AXIAL:
            C = FLIP if X.R[:, 2] @ Y.R[:, 2] < 0 else Pose.identity()
            C = C @ turn_about_z((Y @ C).R.T @ X.R)
            at_joint = _on(pair, name) @ (_on(twin, name) @ C).inverse()
            yield at_joint
            yield Pose(at_joint.R, _center(a, name) - at_joint.R @ _center(b, there))
        yield _on(pair, name) @ X.inverse() @ Y @ _on(twin, name).inverse()
    for side in sides:
        yield side.X @ side.Y.inverse()
        yield side.X @ FLIP @ side.Y.inverse()


def _center(model: Merged, name: str) -> Array:
    """Return the centre of mass (3,) of a body in its link frame, m."""
    return model.mechanism.bodies[model.mechanism.body_index[name]].p_LC


def _misfits(
    a: Merged, b: Merged, found: Matching, name: str, sides: list[_Side], T: Pose, limits: Tolerances
) -> int:
    """Return the number of a body's joints and mass properties that contradict a pose of its frame."""
    count = 0
    for side in sides:
        distance, angle = side_gap(side.type, side.X, T @ side.Y)
        count += 2 * (distance > limits.length) + 3 * (angle > limits.angle)
    if name == WORLD:
        gap = np.linalg.norm(a.mechanism.gravity - T.R @ b.mechanism.gravity)
        return count + 2 * bool(gap > limits.angle * max(1.0, float(np.linalg.norm(a.mechanism.gravity))))
    ours = a.mechanism.bodies[a.mechanism.body_index[name]]
    theirs = b.mechanism.bodies[b.mechanism.body_index[found.bodies[name]]]
    if ours.mass and theirs.mass:
        count += 2 * bool(np.linalg.norm(ours.p_LC - T.apply(theirs.p_LC)) > limits.center)
        ours_C, theirs_C = ours.I_C / ours.mass, T.R @ (theirs.I_C / theirs.mass) @ T.R.T
        largest = max(float(np.abs(ours_C).max()), float(np.abs(theirs_C).max()), 1e-30)
        count += 3 * bool(np.abs(ours_C - theirs_C).max() > 10 * limits.relative * largest)
    # a body without contents has the frame that its links have
    count += any(
        angle_between(X.R, (T @ b.frames[found.bodies[name]][link]).R) > limits.angle
        for link, X in a.frames[name].items()
        if link in b.frames[found.bodies[name]] and not sides and not ours.mass
    )
    return count


# Mass matrix, gravity forces and determined joint forces of two models at the same random poses.


@dataclass(frozen=True)
class Dynamics:
    """Largest relative differences over the poses; None where something is not compared."""

    poses: int
    mass_matrix: float | None
    gravity_forces: float | None
    wrenches: float | None


#: Nothing was compared.
NONE = Dynamics(0, None, None, None)


def compare_dynamics(a: Mechanism, b: Mechanism, q: Array) -> Dynamics:
    """Return the differences between two mechanisms with the same names and coordinates at random poses.

    ``q`` (nq,) are coordinates of the first at which its loops are closed, for the joint forces.
    """
    b = _cut_alike(a, b)
    if not a.qd_names or set(a.body_index) != set(b.body_index) or a.q_names != b.q_names:
        return NONE
    rng = np.random.default_rng(SEED)
    gaps = np.zeros((POSES, 2))
    # turns over a length have the unit of travels: kg and kg·m², N and N·m are compared in one
    over = np.array([1.0 / _length(a) if unit == "rad/s" else 1.0 for unit in rate_units(a)])
    for k in range(POSES):
        pose = random_pose(a, rng)
        (M, g, small), (N, h, _) = _terms(a, pose, over), _terms(b, pose, over)
        gaps[k] = _relative(M, N), _relative(g, h, small)
    wrenches = _wrench_gap(a, b, q)
    return Dynamics(POSES, float(gaps[:, 0].max()), float(gaps[:, 1].max()), wrenches)


def _cut_alike(a: Mechanism, b: Mechanism) -> Mechanism:
    """Return the second mechanism with its loops cut as in the first, and its bodies in that order."""
    pairs = tuple(
        replace(p, closure=a.pair_by_name[p.name].closure) if p.name in a.pair_by_name else p for p in b.pairs
    )
    return replace(b, pairs=pairs)


def random_pose(mech: Mechanism, rng: np.random.Generator) -> Array:
    """Return a pose (nq,): each joint within its limits, rad and m; loops are not closed."""
    step = np.zeros(len(mech.qd_names))
    for joint in mech.tree.joints:
        free = (
            () if joint.pair is None else tuple(zip(joint.pair.kind.free, joint.pair.freedoms, strict=True))
        )
        for k, (component, freedom) in enumerate(free):
            most = _TURN if component[0] == "r" else _TRAVEL
            low = freedom.lower if isfinite(freedom.lower) else -most
            high = freedom.upper if isfinite(freedom.upper) else most
            step[joint.qd.start + k] = rng.uniform(min(low, high), max(low, high))
    return displace(mech, home(mech), step)


def _length(mech: Mechanism) -> float:
    """Return a length of the mechanism, m: turns times it compare with travels."""
    return mech.largest_arm or 1.0


def _terms(mech: Mechanism, q: Array, over: Array) -> tuple[Array, Array, float]:
    """Return mass matrix (nv, nv) and gravity forces (nv,) at q (nq,) of rates over ``over`` (nv,), what is small."""
    poses = forward(mech, q)
    S = velocity_transformation(mech, poses) * over
    weights = np.zeros(S.shape[0])
    for i, body in enumerate(mech.bodies):
        weights[6 * i : 6 * i + 3] = body.mass * mech.gravity
    travels = S.reshape(len(mech.bodies), 6, -1)[:, :3]
    small = _BALANCED * float(np.linalg.norm(weights) * np.abs(travels).max(initial=0.0))
    return S.T @ mass_matrix(mech, poses) @ S, S.T @ weights, small


def _relative(x: Array, y: Array, small: float = 0.0) -> float:
    """Return the difference of two arrays, x (n,) and y (n,) or of more dimensions, beside the largest entry.

    Where all entries are less than ``small``, beside that.
    """
    largest = max(float(np.abs(x).max(initial=0.0)), float(np.abs(y).max(initial=0.0)), small)
    return float(np.abs(x - y).max(initial=0.0)) / largest if largest else 0.0


def _wrench_gap(a: Mechanism, b: Mechanism, q: Array) -> float | None:
    """Return the largest relative difference of joint forces under gravity that both rigid models determine.

    As many joints are held as the mobility has; loops have to be closed at coordinates q (nq,), else None.
    """
    rows = [[(p.name, p.kind.constrained, p.kind.free) for p in mech.pairs] for mech in (a, b)]
    if rows[0] != rows[1]:
        return None
    if sum(len(p.kind.constrained) + len(p.kind.free) for p in a.pairs) > _MOST_ROWS:
        return None
    roots = [_grounded(mech, q) for mech in (a, b)]
    stated = constraint_matrix(roots[0], q[-len(roots[0].q_names) :])
    # where a mimic is off its offset, the forces of the pose are what they are
    loops = [k for k, row in enumerate(stated.rows) if row[0] in a.pair_by_name]
    if np.abs(stated.Phi[loops]).max(initial=0.0) > _CLOSED:
        return None
    held = _holds(roots[0], stated.C.toarray(), q[-len(roots[0].q_names) :])
    found = [_wrenches(replace(mech, locks=(*mech.locks, *held)), q[-len(mech.q_names) :]) for mech in roots]
    (rows_a, x, open_a), (rows_b, y, open_b) = found
    if rows_a != rows_b:
        return None
    known = ~(open_a | open_b)
    # moments over a length have the unit of forces
    turns = np.array([row[1][0] == "r" for row in rows_a], dtype=bool)
    over = np.where(turns, 1.0 / _length(a), 1.0)
    x, y = x * over, y * over
    return _relative(x[known], y[known], _BALANCED * float(np.abs([x, y]).max(initial=0.0)))


def _grounded(mech: Mechanism, q: Array) -> Mechanism:
    """Return the mechanism with its free roots held where they are at coordinates q (nq,)."""
    poses = forward(mech, q)
    roots = [joint.outer for joint in mech.tree.joints if joint.pair is None]
    return with_fixed_roots(mech, {name: poses.of(mech.body_index[name]) for name in roots})


def _holds(mech: Mechanism, C: Array, q: Array) -> tuple[Lock, ...]:
    """Return locks of as many joint coordinates as are independent, by the constraints C (m, 6N) at q (nq,)."""
    from scipy.linalg import null_space, qr

    reduced = C @ velocity_transformation(mech, forward(mech, q))
    motions = null_space(reduced, rcond=1e-7) if reduced.size else np.eye(len(mech.qd_names))
    chosen = (
        set(qr(motions.T, pivoting=True, mode="r")[1][: motions.shape[1]].tolist()) if motions.size else set()
    )
    locks = []
    for joint in mech.tree.joints:
        free = () if joint.pair is None else joint.pair.kind.free
        names = tuple(c for k, c in enumerate(free) if joint.qd.start + k in chosen)
        if names and joint.pair is not None:
            locks.append(Lock(joint.pair.name, freedoms=names))
    return tuple(locks)


def _wrenches(mech: Mechanism, q: Array) -> tuple[tuple[RowLabel, ...], Array, AnyArray]:
    """Return the rows of pairs, their multipliers (m,) under gravity at q (nq,), and which (m,) nothing determines."""
    from scipy.linalg import null_space

    matrix = constraint_matrix(mech, q)
    C = matrix.C.toarray()
    weights = np.zeros(C.shape[1])
    for i, body in enumerate(mech.bodies):
        weights[6 * i : 6 * i + 3] = body.mass * mech.gravity
    multipliers = np.linalg.lstsq(C.T, -weights, rcond=1e-9)[0]
    stresses = null_space(C.T, rcond=1e-7)
    # couplings have names and scales of their own
    own = [k for k, row in enumerate(matrix.rows) if row[0] in mech.pair_by_name]
    loose = np.asarray(np.abs(stresses).max(axis=1, initial=0.0) > _OPEN)
    return tuple(matrix.rows[k] for k in own), multipliers[own], loose[own]


# The result of ``diff``: what differs between two models, and what was normalised before.


@one_line_repr
@dataclass(frozen=True)
class Difference:
    """One thing that differs.

    Parameters
    ----------
    kind : str
    element_a, element_b : str
        Name in either model; empty where it has none.
    value_a, value_b : str
        Both values with their unit: those of the files, in SI units, or named as computed.
    cause : str
        What probably happened; empty where nothing is obvious.
    place_a, place_b : Origin, optional
        Where it is written.
    """

    kind: DifferenceKind
    element_a: str
    element_b: str
    value_a: str
    value_b: str
    cause: str = ""
    place_a: Origin | None = None
    place_b: Origin | None = None

    @property
    def element(self) -> str:
        """The name of the element, in the first model where it is there."""
        return self.element_a or self.element_b

    @property
    def quantity(self) -> str:
        """The kind in words."""
        return DIFFERENCE_NAMES[self.kind]


@dataclass(frozen=True)
class Normalised:
    """A legitimate difference that was taken away before the models were compared."""

    kind: NormalisedKind
    element: str
    text: str


@dataclass(frozen=True)
class NotCompared:
    """What at least one model states and is not compared.

    Parameters
    ----------
    kind : str
        ``scene`` for what a scene adds to a robot, ``unread`` for parts of the files that readers leave out.
    side : "A", "B" or ""
        The model whose format has no place for it.
    elements : tuple of str
        Joints of the first model of which the other one states it; parts that are unread and differ.
    text : str
    """

    kind: StatedKind | Literal["scene", "unread"]
    side: Literal["A", "B", ""]
    elements: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Quantities:
    """Numbers of one model: bodies and joints after merging, redundancy and mobility, mass in kg.

    ``undetermined`` are the joints whose reactions a rigid model does not determine; it is None, as redundancy and
    mobility are, where the loops cannot be closed.
    """

    name: str
    bodies: int
    joints: int
    loops: int
    couplings: int
    mass: float
    degree_of_redundancy: int | None
    mobility: int | None
    undetermined: tuple[str, ...] | None = None

    @property
    def dof(self) -> int | None:
        """The mobility, by its other name."""
        return self.mobility


@dataclass(frozen=True, eq=False)
class ModelDiff(Result):
    """Whether two models are the same robot.

    Parameters
    ----------
    a, b : Quantities
    differences : tuple of Difference
    normalised : tuple of Normalised
    not_compared : tuple of NotCompared
        What one format has no place for, and what scenes add to the robot.
    bodies, joints : mapping of str to str
        Which names of the first model are which of the second.
    poses : int
        Random poses at which the dynamics were compared; 0 where the trees do not correspond.
    mass_matrix, gravity_forces, wrenches : float or None
        Largest relative differences over these poses, of wrenches in the components that both rigid models determine;
        None where they were not compared.
    tolerance : float
        Relative, of masses; of angles in rad.
    stops : tuple of StopChange
        Emergency stops of the joints in both models; empty unless they were requested.
    """

    a: Quantities
    b: Quantities
    differences: tuple[Difference, ...]
    normalised: tuple[Normalised, ...]
    bodies: Mapping[str, str]
    joints: Mapping[str, str]
    poses: int
    mass_matrix: float | None
    gravity_forces: float | None
    wrenches: float | None
    tolerance: float
    notes: tuple[str, ...] = ()
    not_compared: tuple[NotCompared, ...] = ()
    stops: tuple[StopChange, ...] = ()

    @property
    def verdict(self) -> str:
        """The answer in one sentence."""
        if self.same:
            after = f", after {counted(len(self.normalised), 'normalisation')}" if self.normalised else ""
            left = len({one.kind for one in self.not_compared if one.kind != "scene"})
            among = (
                f", in what both files can state ({counted(left, 'quantity', 'quantities')} left)"
                if left
                else ""
            )
            return f"the same robot{after}{among}"
        elements = len({(d.element_a, d.element_b) for d in self.differences})
        return f"{counted(len(self.differences), 'difference')} in {counted(elements, 'element')}"

    @property
    def same(self) -> bool:
        """Whether nothing differs."""
        return not self.differences

    def __repr__(self) -> str:
        said = "the same robot" if self.same else counted(len(self.differences), "difference")
        facts = (said, f"{len(self.normalised)} normalised", f"tolerance {self.tolerance:g}")
        return one_line(self, f"{self.a.name} / {self.b.name}", facts)
