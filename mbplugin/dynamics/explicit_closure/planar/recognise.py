"""Which loops are planar: their joints seen in one plane, or the sentence why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2

import numpy as np

from mbplugin.dynamics.explicit_closure.cycles import Cycle, once_round
from mbplugin.dynamics.explicit_closure.layout import Layout
from mbplugin.dynamics.explicit_closure.planar.plane import Displacement, Twist
from mbplugin.dynamics.explicit_closure.planar.ring import Ring, RingJoint
from mbplugin.model.mechanism.kinematics import BodyPoses, relative_pose
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array, Pose, align_z, cross

#: Up to here a tilt (rad), or a gap across the plane relative to the size of the loop, is rounding.
ROUNDING = 1e-3

_HINGES = ("revolute", "continuous", "planar")
_IN_TREE = (*_HINGES, "prismatic", "fixed")
#: Cut pairs that leave tilts free; which way their bodies lie is measured at the given pose.
_TILTING = ("spherical", "cylindrical", "point-on-line", "point-on-plane")


@dataclass(frozen=True, eq=False)
class _Axis:
    """A freedom at zero coordinates, in the axes of the body where the walk starts."""

    name: str
    turns: bool
    direction: Array
    point: Array
    at: int
    rate: int


def may_be_planar(layout: Layout, pair: Pair) -> bool:
    """Return whether a pair can be part of a planar loop: one of the tree must have plain coordinates."""
    return pair.type in (_IN_TREE if not layout.is_cut(pair.name) else (*_IN_TREE, *_TILTING))


def planar_ring(layout: Layout, cycle: Cycle, poses: BodyPoses) -> Ring | str:
    """Return a loop as a ring in its plane, or the reason why it is none."""
    way = once_round(layout.mech, cycle)
    if way is None:
        return "its way round passes a free body, or a body twice"
    normal = _normal(layout, way, poses)
    if isinstance(normal, str):
        return normal
    axes, K = _walk(layout, way, poses, normal)
    if isinstance(axes, str):
        return axes
    return _in_plane(axes, K, normal, any(_slides_across(pair) for pair, _ in way))


def _normal(layout: Layout, way: list[tuple[Pair, bool]], poses: BodyPoses) -> Array | str:
    """Return the mean axis of the hinges of a loop, in the axes of its first body."""
    X, axes = Pose.identity(), []
    for pair, forward in way:
        if not may_be_planar(layout, pair):
            return f"its {pair.type} pair {pair.name!r} moves in no plane"
        X = X @ (pair.X_AP if forward else pair.X_BS)
        if pair.type in _HINGES:
            axes.append((pair.name, X.R[:, 2]))
        X = X @ _at_zero(layout, pair, forward, poses) @ (pair.X_SB if forward else pair.X_AP.inverse())
    if not axes:
        return "it has no hinge that tells its plane"
    name, first = axes[0]
    for other, axis in axes[1:]:
        if (angle := float(np.linalg.norm(cross(first, axis)))) > ROUNDING:
            return f"the axes of {name!r} and {other!r} are not parallel (sine of the angle {angle:.2g})"
    total = np.sum([axis * np.sign(axis @ first) for _, axis in axes], axis=0)
    return np.asarray(total / np.linalg.norm(total))


def _at_zero(layout: Layout, pair: Pair, forward: bool, poses: BodyPoses) -> Pose:
    """Return the displacement across a pair at zero coordinates, in the direction of the walk."""
    if not (layout.is_cut(pair.name) and pair.type in _TILTING):
        return Pose.identity()
    R_PS = relative_pose(layout.mech, pair, poses).R
    return Pose(R_PS if forward else R_PS.T, np.zeros(3))


def _walk(
    layout: Layout, way: list[tuple[Pair, bool]], poses: BodyPoses, normal: Array
) -> tuple[list[_Axis] | str, Pose]:
    """Go once round with all coordinates at zero and note the axes on the way.

    The plane of the loop has the normal (3,), in the axes of its first body.
    """
    X, out = Pose.identity(), []
    for pair, forward in way:
        X = X @ (pair.X_AP if forward else pair.X_BS)
        across = _at_zero(layout, pair, forward, poses)
        # the axes are those of the predecessor frame, whose place the walk meets first or last
        X_P = X if forward else X @ across
        own = _axes(layout, pair, X_P, normal)
        if isinstance(own, str):
            return own, X
        out += own if forward else [_backwards(axis) for axis in reversed(own)]
        X = X @ across @ (pair.X_SB if forward else pair.X_AP.inverse())
    return out, X


def _backwards(axis: _Axis) -> _Axis:
    return _Axis(axis.name, axis.turns, -axis.direction, axis.point, axis.at, axis.rate)


def _axes(layout: Layout, pair: Pair, X: Pose, normal: Array) -> list[_Axis] | str:
    """Return what a pair leaves free in the plane with normal (3,), in the order of its displacement."""
    x, y, z = X.R.T
    upright = abs(float(z @ normal)) > 0.5
    directions: list[tuple[bool, Array]]
    match pair.type:
        case "revolute" | "continuous":
            directions = [(True, z)]
        case "prismatic":
            directions = [(False, z)]
        case "planar":
            directions = [(False, x), (False, y), (True, z)]
        case "spherical":
            directions = [(True, normal)]
        case "cylindrical":
            directions = [(True, z)] if upright else [(False, z)]
        case "point-on-line":
            directions = [(True, normal)] if upright else [(False, z), (True, normal)]
        case "point-on-plane" if upright:
            return f"its pair {pair.name!r} closes nothing in the plane"
        case "point-on-plane":
            directions = [(False, _unit(cross(normal, z))), (True, normal)]
        case _:
            directions = []
    at, rate = layout.places.get(pair.name, (0, 0))
    # of what a tilting pair leaves free, travel comes first and turns second, there or not
    slots = [int(turns) for turns, _ in directions] if pair.type in _TILTING else range(len(directions))
    return [
        _Axis(pair.name, turns, d, X.p, at + k, rate + k)
        for k, (turns, d) in zip(slots, directions, strict=True)
    ]


def _unit(a: Array) -> Array:
    """Return the direction (3,) of a vector a (3,)."""
    return np.asarray(a / np.linalg.norm(a))


def _slides_across(pair: Pair) -> bool:
    """Return whether a pair may let its bodies slide across the plane, so that no gap opens."""
    return pair.type in ("cylindrical", "point-on-line", "point-on-plane")


def _in_plane(axes: list[_Axis], K: Pose, normal: Array, slides: bool) -> Ring | str:
    """Project a loop to its plane with normal (3,) and say what is left across it."""
    R_WE = align_z(normal)
    tilt, joints = 0.0, []
    for axis in axes:
        along = float(axis.direction @ normal)
        tilt = max(tilt, float(np.linalg.norm(cross(axis.direction, normal))) if axis.turns else abs(along))
        direction, point = R_WE.T @ axis.direction, R_WE.T @ axis.point
        if axis.turns:
            s = float(np.sign(along))
            twist = Twist(s, -1j * s * complex(point[0], point[1]))
        else:
            flat = complex(direction[0], direction[1])
            twist = Twist(0.0, flat / abs(flat) if flat else 1.0)
        joints.append(RingJoint(axis.name, twist, axis.at, axis.rate))
    R, p = R_WE.T @ K.R @ R_WE, R_WE.T @ K.p
    tilt = max(tilt, float(np.hypot(R[0, 2], R[1, 2])))
    gap = 0.0 if slides else abs(float(p[2]))
    points = [axis.point for axis in axes] + [K.p]
    size = max(float(np.linalg.norm(a - points[0])) for a in points)
    if tilt > ROUNDING:
        return f"its joints are {tilt:.2g} rad out of one plane"
    if gap > ROUNDING * size:
        return f"its two ends are {gap:.2g} m apart across the plane"
    angle = atan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1])
    turn = Twist(1.0, 0j).exp(angle).turn
    return Ring(tuple(joints), Displacement(turn, complex(p[0], p[1])), tilt, gap)
