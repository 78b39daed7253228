"""Loops in space with a closed form: spherical ones, and those that a ball or a rod closes.

The known joints freeze the bodies between them. Of what is left, a first joint follows from a quantity that the
others do not change: an angle between two axes (the spherical law of cosines), the distance of two points (R, P
beside two crossing hinges, or a rod), or the distance of a point from a line (P beside a cylindrical pair). All
are A cos x + B sin x = C, or quadratic; the others then follow one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import pi

import numpy as np

from mbplugin.dynamics.explicit_closure.newton import NewtonStep
from mbplugin.dynamics.explicit_closure.space.chain import SpatialRing
from mbplugin.dynamics.explicit_closure.space.screw import (
    ROUNDING,
    Screw,
    at_distance,
    at_height,
    meeting,
    miss,
    off_line,
)
from mbplugin.errors import CannotClose
from mbplugin.model.spatial import Array, Pose, cross, quaternion_from_rotation

#: The unknown coordinates of a chain, in its order, for a choice of branches; and a gap, or None without a closed form.
_Solution = tuple[list[float], float] | None


@dataclass(frozen=True, eq=False)
class SpatialStep:
    """Unknown joints of a loop in space as functions of the known ones.

    Coordinates y (nq + c,) and rates yd (nv + c,) are in the order of the layout, c of them for cut pairs.

    Parameters
    ----------
    kind : str
        What is solved: ``spherical RRR``, ``R-distance``, ``RSU``, ``PSC`` and the like.
    unknown : tuple of int
        Their places in the ring.
    branches : tuple of int
        ±1 for the joint that is solved first, and for the two crossing hinges.
    ball_at : slice or None
        The quaternion of a ball that the tree passes.
    rates : NewtonStep
        The same loop in closing rows: rates and accelerations follow from them.
    """

    kind: str
    ring: SpatialRing
    unknown: tuple[int, ...]
    branches: tuple[int, ...]
    ball_at: slice | None
    rates: NewtonStep

    reason = ""

    @property
    def branch(self) -> int:
        """Which assembly, ±1."""
        return self.branches[0]

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the dependent rates."""
        return self.rates.joints

    @property
    def dependent(self) -> tuple[int, ...]:
        """Indices of the rates that it determines."""
        return self.rates.dependent

    @property
    def known(self) -> tuple[int, ...]:
        """Indices of the rates that it needs."""
        return self.rates.known

    def closed(self, y: Array) -> Array:
        """Return y (nq + c,) with the unknown coordinates solved, in the turn nearest to where they were.

        Raises
        ------
        CannotClose
            The known joints are so far apart that the loop does not reach.
        """
        solved = _solve(self.kind, self.ring, self.unknown, self.branches, y)
        if solved is None or solved[1]:
            raise CannotClose(
                f"the joints {', '.join(map(repr, self.joints))} cannot close their loop: it does not reach so far",
                remedy="keep the independent coordinates inside the range of the mechanism",
            )
        out = np.array(y)
        for k, value in zip(self.unknown, solved[0], strict=True):
            joint = self.ring.joints[k]
            turns = round((float(y[joint.at]) - joint.sign * value) / (2 * pi)) if joint.screw.turns else 0
            out[joint.at] = joint.sign * value + 2 * pi * turns
        if self.ball_at is not None:
            quaternion = quaternion_from_rotation(self.ring.ball_rotation(out))
            out[self.ball_at] = quaternion if quaternion @ y[self.ball_at] >= 0 else -quaternion
        return out

    def slope(self, y: Array) -> Array:
        """Return ∂q̇_D/∂q̇_I (dependent, known)."""
        return self.rates.slope(y)

    def bias(self, y: Array, yd: Array) -> Array:
        """Return ξ (dependent,) at rates of all joints."""
        return self.rates.bias(y, yd)

    def margin(self, y: Array) -> float:
        """Return how much worse conditioned the dependent columns are than all columns, 0 … 1."""
        return self.rates.margin(y)

    def alternatives(self) -> Iterator[SpatialStep]:
        """Yield the step on its other branches."""
        for branches in product((1, -1), repeat=len(self.branches)):
            if branches != self.branches:
                yield replace(self, branches=branches)


def spatial_step(
    ring: SpatialRing, unknown: Sequence[int], y: Array, ball_at: slice | None, rates: NewtonStep
) -> SpatialStep | None:
    """Return a closed form for the unknown joints of a ring, on the branch of y (nq + c,); None without one."""
    # what fits by construction before what fits but for rounding, or by chance
    for _, kind in sorted(_kinds(ring, unknown)):
        found = [
            step
            for branches in product((1, -1), repeat=2 if "U" in kind else 1)
            if (step := SpatialStep(kind, ring, tuple(unknown), branches, ball_at, rates))
            and _solve(kind, ring, step.unknown, branches, y)
        ]
        if found:
            return min(found, key=lambda step: _away(step, y))
    return None


def _away(step: SpatialStep, y: Array) -> float:
    """Return how far a step's solution is from y (nq + c,), rad and m."""
    try:
        own = step.closed(y)
    except CannotClose:
        return float("inf")
    return sum(abs(float(own[step.ring.joints[k].at] - y[step.ring.joints[k].at])) for k in step.unknown)


def _kinds(ring: SpatialRing, unknown: Sequence[int]) -> Iterator[tuple[float, str]]:
    """Yield the closed forms that there may be for unknown joints of a ring, and by how much each does not fit."""
    joints = [ring.joints[k] for k in unknown]
    letters = "".join(joint.letter for joint in joints)
    if ring.closing is None:
        if letters == "RRR" and ring.is_spherical:
            yield 0.0, "spherical RRR"
    elif ring.closing.type == "distance":
        if len(letters) == 1:
            yield 0.0, f"{letters}-distance"
    elif len(letters) == 3:
        # the single joint may be on either side of the ball; nothing that moves is between the other two
        for single, first, forms in ((0, 1, ("{}SU", "{}SC")), (2, 0, ("US{}", "CS{}"))):
            if unknown[first + 1] != unknown[first] + 1:
                continue
            pair = [joint.screw for joint in joints[first : first + 2]]
            crossing, coaxial = (form.format(letters[single]) for form in forms)
            if all(screw.turns for screw in pair):
                yield miss(*pair) / ring.size, crossing
            elif pair[0].turns != pair[1].turns and letters[single] == "P":
                yield float(np.linalg.norm(cross(pair[0].e, pair[1].e))), coaxial


def _solve(
    kind: str, ring: SpatialRing, unknown: Sequence[int], branches: tuple[int, ...], y: Array
) -> _Solution:
    """Return the displacements of the unknown joints at y (nq + c,), with their signs on the way."""
    if kind == "spherical RRR":
        return _spherical(ring, unknown, branches[0], y)
    screws, point, target = _gathered(ring, unknown, y)
    if kind.endswith("distance"):
        assert ring.closing is not None
        return _chosen(at_distance(screws[0], point, target, ring.closing.length), branches[0])
    backwards = kind[0] in "UC"
    if backwards:
        # e₁ e₂ e₃ p = t read from the other end: e₃⁻¹ e₂⁻¹ e₁⁻¹ t = p
        screws, point, target = screws[::-1], target, point
    pair = _crossing if "U" in kind else _coaxial
    solved = pair(screws, point, target, branches, ring.size)
    if solved is None or not backwards:
        return solved
    return [-value for value in reversed(solved[0])], solved[1]


def _gathered(ring: SpatialRing, unknown: Sequence[int], y: Array) -> tuple[list[Screw], Array, Array]:
    """Return unknown screws at y (nq + c,), and points p, t (3,) with e₁ e₂ e₃ p = t; known joints are frozen."""
    X, screws, start = Pose.identity(), [], 0
    for k in unknown:
        X = X @ ring.product(y, start, k)
        screws.append(ring.joints[k].screw.moved(X))
        start = k + 1
    X = X @ ring.product(y, start, len(ring.joints))
    return screws, X.apply(ring.end.p), ring.begin.p


def _chosen(both: tuple[float, float, float] | None, branch: int) -> _Solution:
    return None if both is None else ([both[0] if branch > 0 else both[1]], both[2])


def _crossing(
    screws: list[Screw], point: Array, target: Array, branches: tuple[int, ...], size: float
) -> _Solution:
    """Solve e₁ e₂ e₃ p = t with hinges e₂, e₃ that cross: they leave the distance from the crossing alone.

    The points are p, ``point`` (3,), and t, ``target`` (3,), m.
    """
    first, second, third = screws
    if (crossing := meeting([second, third], size)) is None:
        return None
    arm = point - crossing
    length = float(np.linalg.norm(arm))
    # |e₁⁻¹ t − O| = |p − O|
    found = _chosen(at_distance(first, target, crossing, length), branches[0])
    if found is None:
        return None
    x1 = -found[0][0]
    there = first.exp(-x1).apply(target) - crossing
    turned = _chosen(at_height(third, second.e, arm, float(second.e @ there)), branches[1])
    if turned is None:
        return None
    x3 = turned[0][0]
    at = Screw(True, third.e, np.zeros(3)).exp(x3).apply(arm)
    x2 = Screw(True, second.e, np.zeros(3)).angle(at, there)
    return [x1, x2, x3], max(found[1], turned[1])


def _coaxial(
    screws: list[Screw], point: Array, target: Array, branches: tuple[int, ...], size: float
) -> _Solution:
    """Solve e₁ e₂ e₃ p = t with e₂, e₃ on one line and a slider e₁: they leave the distance from it alone.

    The points are p, ``point`` (3,), and t, ``target`` (3,), m.
    """
    first, *pair = screws
    hinge, slider = pair if pair[0].turns else reversed(pair)
    if float(np.linalg.norm(cross(hinge.e, slider.e))) > ROUNDING:
        return None
    found = _chosen(off_line(first, target, hinge, float(np.linalg.norm(hinge.across(point)))), branches[0])
    if found is None:
        return None
    x1 = -found[0][0]
    there = first.exp(-x1).apply(target)
    along = float(slider.e @ (there - point))
    angle = hinge.angle(point, there)
    return [x1, *((angle, along) if pair[0].turns else (along, angle))], found[1]


def _spherical(ring: SpatialRing, unknown: Sequence[int], branch: int, y: Array) -> _Solution:
    """Solve R₁ Q₁ R₂ Q₂ R₃ Q₃ = 1 by the angle between the first and the third axis, at y (nq + c,)."""
    i, j, k = unknown
    n = len(ring.joints)
    a, b, c = (ring.joints[m].screw.e for m in unknown)
    Q1, Q2 = ring.product(y, i + 1, j).R, ring.product(y, j + 1, k).R
    Q3 = ring.product(y, k + 1, n).R @ ring.end.R @ ring.product(y, 0, i).R
    origin = np.zeros(3)
    # a·(Q₁ R₂ Q₂ c) = a·(Q₃ᵀ c)
    image = Q3.T @ c
    found = _chosen(at_height(Screw(True, b, origin), Q1.T @ a, Q2 @ c, float(a @ image)), branch)
    if found is None:
        return None
    x2 = found[0][0]
    R2 = Screw(True, b, origin).exp(x2).R
    x1 = Screw(True, a, origin).angle(Q1 @ R2 @ Q2 @ c, image)
    left = (Screw(True, a, origin).exp(x1).R @ Q1 @ R2 @ Q2).T @ Q3.T
    other = np.eye(3)[int(np.abs(c).argmin())]
    x3 = Screw(True, c, origin).angle(other, left @ other)
    return [x1, x2, x3], found[1]
