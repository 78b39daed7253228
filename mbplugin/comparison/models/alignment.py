"""How the link frames of two models lie to each other: the choice at which most of a body's contents agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from math import isfinite
from typing import Literal

import numpy as np

from mbplugin.comparison.models.matching import Matching
from mbplugin.comparison.models.merging import Merged
from mbplugin.comparison.models.rewriting import like
from mbplugin.comparison.models.sides import AXIAL, FLIP, Tolerances, angle_between, side_gap, turn_about_z
from mbplugin.model.mechanism import WORLD, Pair
from mbplugin.model.spatial import Array, Pose


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
    """Return what differs of a body and of its joints to known ones, and what is moved."""
    count, moved = _across(a, b, found, name, T, limits)
    if name != WORLD:
        unknown = [side for side in sides if side.other not in T]
        moved += sum(_is_aside(side, T[name], limits) + _is_flipped(side, T[name]) for side in unknown)
    return _misfits(a, b, found, name, sides, T[name], limits) + count, moved


def _with_neighbours(
    a: Merged, b: Merged, found: Matching, T: dict[str, Pose], limits: Tolerances
) -> dict[str, Pose]:
    """Return frames of which those of a body and its neighbour are chosen together, where one alone does not fit.

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
    """Return how far the bodies of two pairs lie from each other at zero, m and rad."""
    one, other = a.X_AP @ a.X_SB, b.X_AP @ b.X_SB
    return float(np.linalg.norm(one.p - other.p)), angle_between(one.R, other.R)


def _across(
    a: Merged, b: Merged, found: Matching, name: str, T: dict[str, Pose], limits: Tolerances
) -> tuple[int, int]:
    """Return what differs across the joints between a body and those with known frames, and what is moved there.

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


def _is_aside(side: _Side, T: Pose, limits: Tolerances) -> bool:
    """Whether a slider is elsewhere across its axis: free, but files seldom move it."""
    if side.type != "prismatic":
        return False
    between = side.X.R.T @ (T.apply(side.Y.p) - side.X.p)
    return bool(np.linalg.norm(between[:2]) > limits.length)


def _is_flipped(side: _Side, T: Pose) -> bool:
    """Whether an axis points the other way, which files seldom change."""
    return side.type in AXIAL and bool(side.X.R[:, 2] @ (T.R @ side.Y.R[:, 2]) < 0)


def _weaker(pair: Pair, twin: Pair) -> str:
    """Return the type by which two pairs are compared: that of the one that says less of its frames."""
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
    """Return how many of a body's joints and mass properties do not agree with a pose of its frame."""
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
