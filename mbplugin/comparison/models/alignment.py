"""How the link frames of two models lie to each other: the choice at which most of a body's contents agree."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from mbplugin.comparison.models.matching import Matching
from mbplugin.comparison.models.merging import Merged
from mbplugin.comparison.models.sides import AXIAL, FLIP, angle_between, side_gap
from mbplugin.model.mechanism import WORLD, Pair
from mbplugin.model.spatial import Pose


@dataclass(frozen=True)
class Tolerances:
    """What counts as equal: relative, of lengths m, of centres of mass m, of angles rad."""

    relative: float
    length: float
    center: float
    angle: float


@dataclass(frozen=True, eq=False)
class _Side:
    """The frames of a matched pair on one body of either model."""

    type: str
    X: Pose
    Y: Pose


def size_of(model: Merged) -> float:
    """Return the largest distance of a joint from another on its body, or of a centre of mass, m."""
    mech = model.mechanism
    return max(mech.largest_arm, *(float(np.linalg.norm(body.p_LC)) for body in mech.bodies), 1e-3)


def aligned(a: Merged, b: Merged, found: Matching, limits: Tolerances) -> dict[str, Pose]:
    """Return X_AB of each matched body by its first name: the second model's link frame in the first one's."""
    T: dict[str, Pose] = {}
    order = [WORLD, *(joint.outer for joint in a.mechanism.tree.joints)]
    for name in order:
        if name not in found.bodies:
            continue
        sides = _sides(a, b, found, name)
        best: tuple[int, Pose] | None = None
        for X in _candidates(a, b, found, name, sides, T):
            count = _misfits(a, b, found, name, sides, X, limits)
            if best is None or count < best[0]:
                best = (count, X)
            if count == 0:
                break
        assert best is not None
        T[name] = best[1]
    return T


def _sides(a: Merged, b: Merged, found: Matching, name: str) -> list[_Side]:
    sides = []
    for one, other in found.pairs.items():
        pair, twin = a.mechanism.pair_by_name[one], b.mechanism.pair_by_name[other]
        there = found.bodies[name]
        if name in pair.bodies and there in twin.bodies:
            sides.append(_Side(_weaker(pair, twin), _on(pair, name), _on(twin, there)))
    return sides


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
    joint = a.mechanism.tree.joint_of_body.get(name)
    if joint is not None and joint.pair is not None and joint.pair.name in found.pairs and joint.inner in T:
        pair = joint.pair
        twin = b.mechanism.pair_by_name[found.pairs[pair.name]]
        if set(twin.bodies) == {there, found.bodies[joint.inner]}:
            X = _on(pair, joint.inner) @ _on(pair, name).inverse()
            Y = _on(twin, found.bodies[joint.inner]) @ _on(twin, there).inverse()
            yield X.inverse() @ T[joint.inner] @ Y
    for side in sides:
        yield side.X @ side.Y.inverse()
        yield side.X @ FLIP @ side.Y.inverse()


def _misfits(
    a: Merged, b: Merged, found: Matching, name: str, sides: list[_Side], T: Pose, limits: Tolerances
) -> int:
    """Return how many of a body's joints and mass properties do not agree with a pose of its frame."""
    count = 0
    for side in sides:
        distance, angle = side_gap(side.type, side.X, T @ side.Y)
        count += 2 * ((distance > limits.length) + (angle > limits.angle))
        if side.type in AXIAL and side.X.R[:, 2] @ T.R @ side.Y.R[:, 2] < 0:
            count += 1
    if name == WORLD:
        gap = np.linalg.norm(a.mechanism.gravity - T.R @ b.mechanism.gravity)
        return count + 2 * bool(gap > limits.angle * max(1.0, float(np.linalg.norm(a.mechanism.gravity))))
    ours = a.mechanism.bodies[a.mechanism.body_index[name]]
    theirs = b.mechanism.bodies[b.mechanism.body_index[found.bodies[name]]]
    if ours.mass and theirs.mass:
        count += 2 * bool(np.linalg.norm(ours.p_LC - T.apply(theirs.p_LC)) > limits.center)
        ours_C, theirs_C = ours.I_C / ours.mass, T.R @ (theirs.I_C / theirs.mass) @ T.R.T
        largest = max(float(np.abs(ours_C).max()), float(np.abs(theirs_C).max()), 1e-30)
        count += bool(np.abs(ours_C - theirs_C).max() > 10 * limits.relative * largest)
    # a body without contents has the frame that its links have
    count += any(
        angle_between(X.R, (T @ b.frames[found.bodies[name]][link]).R) > limits.angle
        for link, X in a.frames[name].items()
        if link in b.frames[found.bodies[name]] and not sides and not ours.mass
    )
    return count
