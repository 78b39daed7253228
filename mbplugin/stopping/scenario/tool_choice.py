"""The tool of a stop: its point, why it is the tool where none is named, and the axes that do not move it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from mbplugin.model.component import is_turn
from mbplugin.model.mechanism.kinematics import BodyPoses, forward, joint_axes
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.topology import TreeJoint
from mbplugin.model.spatial import Array
from mbplugin.phrases import listed

#: A point lies on an axis up to this distance, m.
_ON_AXIS = 1e-6
#: What an axis through the tool turns is wide from this radius of gyration on: m, and as a share of the reach.
_WIDE, _WIDE_SHARE = 0.05, 0.1


class ToolChoice(NamedTuple):
    """The point of which speed and way are computed.

    Parameters
    ----------
    body : str
    point : (float, float, float)
        Link frame, m.
    reason : str
        Why the body is the tool; empty where it is named.
    still_on : tuple of str
        Turning joints that do not move the point, which is not stated, though they should.
    """

    body: str = ""
    point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    reason: str = ""
    still_on: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Body and point, in words."""
        return f"{self.body} at ({', '.join(f'{x:.4g}' for x in self.point)}) m in its link frame"

    @property
    def sentence(self) -> str:
        """What a report says of a tool that is not named; empty where it is."""
        return f"the tool is {self.body}, as none is named: {self.reason}" if self.reason else ""

    @property
    def heading(self) -> str:
        """The axes that do not move the point, in one clause; empty where there are none."""
        axes = listed(self.still_on)
        own = "axis" if len(self.still_on) == 1 else "axes"
        moves = "it" if len(self.still_on) == 1 else "them"
        if not axes:
            return ""
        return f"the tool point, the origin of {self.body}, lies on the {own} of {axes} and does not move with {moves}"

    @property
    def warning(self) -> str:
        """What stands on top of a report; empty where the point moves."""
        if not self.still_on:
            return ""
        return (
            f"NOT THE WHOLE MOTION: {self.heading}. Speed, path and extension of the tool below leave that motion"
            " out, and a payload stated by its mass alone sits there too: state the point with --tool-point"
            " (tool_point) of estop, or name a link at the tip with --tool."
        )

    def moved_by(self, mech: Mechanism, q: Array, moving: Iterable[str]) -> ToolChoice:
        """Return the choice for the motion of some joints alone, at a pose q (nq,)."""
        turned = axes_through(mech, self.body, np.array(self.point), q)
        moving = tuple(moving)
        if not moving or not set(moving) <= set(turned):
            return self
        return self._replace(still_on=tuple(dict.fromkeys((*self.still_on, *moving))))

    def over_poses(self, mech: Mechanism, q: Array, stops: Iterable[Sequence[str]]) -> ToolChoice:
        """Return the choice for stops from many poses, of some joints each: an axis meets the point in all of them.

        A pose at hand may be special: the flange of an arm that stands upright is on its first axis. So the
        joints are turned from q (nq,) by angles that are drawn (seed 0).
        """
        drawn = q.copy()
        angles = np.random.default_rng(0).uniform(0.3, 1.2, len(q))
        for joint in mech.tree.joints:
            if joint.pair is not None and len(joint.pair.kind.free) == 1:
                drawn[joint.q] += angles[joint.q]
        choice = self._replace(still_on=wide_axes_through(mech, self.body, np.array(self.point), drawn))
        for moving in stops:
            choice = choice.moved_by(mech, drawn, moving)
        return choice


#: Nothing is known of a tool.
NO_TOOL = ToolChoice()


def axes_through(mech: Mechanism, body: str, point: Array, q: Array) -> tuple[str, ...]:
    """Return the turning joints whose axis a point (3,) of a body, link frame, lies on at a pose q (nq,)."""
    return tuple(name for name, distance, _ in _axes(mech, body, point, q) if distance < _ON_AXIS)


def wide_axes_through(mech: Mechanism, body: str, point: Array, q: Array) -> tuple[str, ...]:
    """Return the axes through a point (3,) at q (nq,) that turn something wide: a link, no flange about itself."""
    found = _axes(mech, body, point, q)
    reach = max((distance for _, distance, _ in found), default=0.0)
    least = max(_WIDE, _WIDE_SHARE * reach)
    return tuple(name for name, distance, radius in found if distance < _ON_AXIS and radius > least)


def _axes(mech: Mechanism, body: str, point: Array, q: Array) -> list[tuple[str, float, float]]:
    """Return name, distance of a point (3,) and radius of gyration beyond, m, of turning joints at q (nq,)."""
    poses = forward(mech, q)
    i = mech.body_index[body]
    tip = poses.p_WL[i] + poses.R_WL[i] @ point
    found = []
    for joint in mech.tree.way_in(body):
        if joint.pair is None or len(joint.pair.kind.free) != 1 or not is_turn(joint.pair.kind.free[0]):
            continue
        S, on_axis = joint_axes(mech, joint, poses)
        way, axis = tip - on_axis, S[3:, 0]
        distance = float(np.linalg.norm(way - (way @ axis) * axis))
        found.append((joint.pair.name, distance, _gyration(mech, joint, poses, axis, on_axis)))
    return found


def _gyration(mech: Mechanism, joint: TreeJoint, poses: BodyPoses, axis: Array, on_axis: Array) -> float:
    """Return the radius of gyration, m, of all that a joint turns; axis (3,) and on_axis (3,) are in the world."""
    carried, mass, inertia = {joint.outer}, 0.0, 0.0
    for other in mech.tree.joints:
        if other.inner in carried:
            carried.add(other.outer)
    for name in carried:
        i = mech.body_index[name]
        link, way = mech.bodies[i], poses.p_WC[i] - on_axis
        own = poses.R_WL[i].T @ axis
        mass += link.mass
        inertia += float(own @ link.I_C @ own) + link.mass * float(way @ way - (way @ axis) ** 2)
    # what is on the axis has the rounding of a difference, which may be negative
    return float(np.sqrt(max(inertia, 0.0) / mass)) if mass else 0.0
