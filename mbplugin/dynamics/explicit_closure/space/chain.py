"""A loop in space as a chain of hinges and sliders: E₁(x₁) … Eₙ(xₙ), closed by a ball, a rod, or by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mbplugin.dynamics.explicit_closure.cycles import Cycle, once_round
from mbplugin.dynamics.explicit_closure.layout import Layout
from mbplugin.dynamics.explicit_closure.space.screw import Screw, meeting
from mbplugin.model.component import axis_of, is_turn
from mbplugin.model.mechanism.kinematics import BodyPoses, relative_pose
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array, Pose

#: Pairs whose coordinates are angles and travels along axes of their frames.
PLAIN = ("revolute", "continuous", "prismatic", "cylindrical", "universal", "fixed")
#: Pairs that close a chain by the place of one point.
POINT = ("spherical", "distance")
#: A distance below this fraction of that from the origin is rounding.
_NO_LENGTH = 1e-9


@dataclass(frozen=True, eq=False)
class ChainJoint:
    """One freedom on the way: its axis at zero coordinates, and where its coordinate and rate are.

    ``sign`` is −1 where the way passes the pair from its successor on.
    """

    name: str
    screw: Screw
    at: int
    rate: int
    sign: float

    @property
    def letter(self) -> str:
        """R for a hinge, P for a slider."""
        return "R" if self.screw.turns else "P"

    def exp(self, y: Array) -> Pose:
        """Return its displacement at y (nq + c,)."""
        return self.screw.exp(self.sign * float(y[self.at]))


@dataclass(frozen=True, eq=False)
class SpatialRing:
    """The chain of a loop in the frame of its first body; all axes at zero coordinates.

    Parameters
    ----------
    joints : tuple of ChainJoint
        Once round, from the body behind the closing pair on.
    end : Pose
        The frame in which the chain ends: that of the closing pair at its last body, or what is left of a whole round.
    closing : Pair or None
        A ball or a rod; None where the chain closes by itself.
    forward : bool
        Whether the closing pair is passed from its predecessor on.
    """

    joints: tuple[ChainJoint, ...]
    end: Pose
    closing: Pair | None
    forward: bool

    @cached_property
    def size(self) -> float:
        """The largest distance of its joints, or of a joint from the origin times rounding, m."""
        points = np.array([*(joint.screw.p for joint in self.joints), self.end.p, self.begin.p])
        extent = float(np.linalg.norm(points - points[0], axis=1).max())
        return max(extent, _NO_LENGTH * float(np.abs(points).max()))

    @cached_property
    def is_spherical(self) -> bool:
        """Whether it is of hinges alone, all of which meet in one point."""
        hinges = [joint.screw for joint in self.joints if joint.screw.turns]
        return len(hinges) == len(self.joints) > 2 and meeting(hinges, self.size) is not None

    @property
    def may_have_closed_form(self) -> bool:
        """Whether some choice of known joints may leave a closed form."""
        return self.closing is not None or self.is_spherical

    @property
    def begin(self) -> Pose:
        """The frame of the closing pair at the first body."""
        if self.closing is None:
            return Pose.identity()
        return self.closing.X_BS if self.forward else self.closing.X_AP

    def product(self, y: Array, start: int, stop: int) -> Pose:
        """Return E_start … E_{stop−1} at y (nq + c,)."""
        out = Pose.identity()
        for joint in self.joints[start:stop]:
            out = out @ joint.exp(y)
        return out

    def ball_rotation(self, y: Array) -> Array:
        """Return R_PS (3, 3) of a closing ball at closed coordinates y (nq + c,)."""
        R = (self.product(y, 0, len(self.joints)) @ self.end).R
        return np.asarray(R.T @ self.begin.R if self.forward else self.begin.R.T @ R)


def spatial_ring(layout: Layout, cycle: Cycle, poses: BodyPoses) -> SpatialRing | str:
    """Return a loop as a chain in space, or the reason why it is none."""
    way = once_round(layout.mech, cycle)
    if way is None:
        return "its way round passes a free body, or a body twice"
    points = [k for k, (pair, _) in enumerate(way) if pair.type in POINT]
    if len(points) > 1:
        return "it has several pairs that hold a point alone"
    way = way[points[0] + 1 :] + way[: points[0] + 1] if points else way
    chain = way[:-1] if points else way
    for pair, _ in chain:
        if pair.type not in PLAIN:
            return f"its {pair.type} pair {pair.name!r} has no axes of its own"
    joints, X = _walk(layout, chain, poses)
    if not points:
        return SpatialRing(tuple(joints), X, None, True)
    closing, forward = way[-1]
    return SpatialRing(tuple(joints), X @ (closing.X_AP if forward else closing.X_BS), closing, forward)


def _walk(
    layout: Layout, way: Sequence[tuple[Pair, bool]], poses: BodyPoses
) -> tuple[list[ChainJoint], Pose]:
    """Go along a way with all coordinates at zero; return the freedoms passed, and the last body's frame."""
    X, out = Pose.identity(), []
    for pair, forward in way:
        X = X @ (pair.X_AP if forward else pair.X_BS)
        across = _at_zero(layout, pair, poses)
        X_P = X if forward else X @ across.inverse()
        own = _joints(layout, pair, X_P, 1.0 if forward else -1.0)
        out += own if forward else own[::-1]
        X = X @ (across @ pair.X_SB if forward else across.inverse() @ pair.X_AP.inverse())
    return out, X


def _at_zero(layout: Layout, pair: Pair, poses: BodyPoses) -> Pose:
    """Return X_PS where the coordinates are zero: a cut cylinder counts its turn from the given pose on."""
    if layout.is_cut(pair.name) and pair.type == "cylindrical":
        return Pose(relative_pose(layout.mech, pair, poses).R, np.zeros(3))
    return Pose.identity()


def _joints(layout: Layout, pair: Pair, X_P: Pose, sign: float) -> list[ChainJoint]:
    """Return the freedoms of a pair in the order of its displacement, at its frame P."""
    if pair.type == "fixed":
        return []
    at, rate = layout.places[pair.name]
    return [
        ChainJoint(
            pair.name,
            Screw(is_turn(component), X_P.R[:, axis_of(component)], X_P.p),
            at + k,
            rate + k,
            sign,
        )
        for k, component in enumerate(pair.kind.free)
    ]
