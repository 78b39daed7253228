"""Default tool, rated payload and full speeds of stopping tables and worst-stop searches."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

import numpy as np

from mbplugin.errors import BadNumber, BadUsage, UnknownName, suggestion
from mbplugin.model import LARGEST, WORLD, Array, Mechanism, Payload, TreeJoint
from mbplugin.model.mechanism.kinematics import follows, forward, home, joint_axes
from mbplugin.phrases import WORD_IN_NAME, listed
from mbplugin.readers.standing import likely_wheels, moves, stated_wheels
from mbplugin.stopping.scenario import Scenario

#: Words in the names of tool points, of tools, of tool holders, and of sensors and other parts.
_POINTS = {"tcp", "grasp", "grasptarget", "pinch"}
_POINT_ENDINGS = ("tool0", "toolframe", "toolcenterpoint", "toolcentrepoint", "toolpoint", "grasptarget")
_TOOLS = {"ee", "eef", "tool", "tip"}
_HOLDERS = {"flange", "gripper", "hand"}
_SENSORS = {
    "camera",
    "imu",
    "lidar",
    "laser",
    "optical",
    "sensor",
    "depth",
    "color",
    "infra",
    "ft",
    "screw",
    "bolt",
}
#: A link with such a word is a finger, whatever its other words; a joint with one, and no word of a wrist, moves one.
_FINGERS = {"finger", "fingers", "thumb", "knuckle", "jaw", "claw", "mover"}
_OF_FINGERS, _OF_WRISTS = (
    {"finger", "jaw", "gripper", "grip"},
    {"wrist", "roll", "pitch", "yaw", "rotate", "twist"},
)
#: Least number of moving joints of an arm: a head or a gripper on a cart has fewer.
_ARM = 3


# The default tool of a robot: the end of its arm, before the fingers of a gripper, or the base on its wheels.


@dataclass(frozen=True, eq=False)
class DefaultTool:
    """The body and its point (3,), m, link frame, that are the tool by default, and the reason."""

    body: str
    reason: str
    point: Array = field(default_factory=lambda: np.zeros(3))


def default_tool(mech: Mechanism) -> DefaultTool:
    """Return the base of a robot on wheels without an arm, else the end of the arm before a gripper.

    The chain of joints from the ground to the outermost body is followed until a gripper begins. This is a group of
    bodies fixed to each other from which two or more branches of moving joints start, each with fewer joints than the
    chain up to there, and none in a loop with other bodies; or the group before the last joint, if its name is that
    of a finger. Among bodies fixed to each other, one with the name of a tool is preferred (tcp, tool0, grasp …, then
    ee, tool …, then flange, gripper, hand), and a sensor is avoided; otherwise the outermost counts, and among equals
    the last of the file. If none before a gripper has such a name, the point is the mean of the origins of the finger
    joints.

    Raises
    ------
    BadUsage
        The model has no body.
    """
    if not mech.bodies:
        raise BadUsage("the model has no body that could be a tool", expected="a model with a link")
    tree = _Tree(mech)
    rolling = _rolling_base(mech, tree)
    if rolling is not None:
        return rolling
    last = tree.farthest({body.name for body in mech.bodies})
    for hub in tree.hubs_to(last):
        fingers = tree.fingers(hub) or tree.single_finger(hub)
        if fingers:
            names = ", ".join(joint.pair.name for joint in fingers if joint.pair is not None)
            body = tree.farthest(tree.fixed_to(hub))
            reason = f"where the arm ends, in front of the joints of a gripper ({names})"
            if _rank(body) > 0:
                return DefaultTool(body, reason)
            return DefaultTool(body, f"{reason}, at their middle", _middle(mech, body, fingers))
    if last == tree.farthest({body.name for body in mech.bodies}, named=False):
        return DefaultTool(last, "the outermost link")
    named = "with the name of a tool at the end of the arm"
    return DefaultTool(
        last, f"the link {named}" if _rank(last) > 0 else "the outermost link that is not a sensor"
    )


def _words(name: str) -> set[str]:
    return {word.lower() for word in WORD_IN_NAME.findall(name)}


def _rank(body: str) -> int:
    """Return a rank of a body name: 3 for a tool point, 2 for a tool, 1 for a holder, 0 for others, −1 for a sensor."""
    words = _words(body)
    joined = re.sub(r"[^a-z0-9]", "", body.lower())
    if words & _SENSORS:
        return -1
    if words & _FINGERS:
        return 0
    if words & _POINTS or any(joined.endswith(end) for end in _POINT_ENDINGS):
        return 3
    return 2 if words & _TOOLS or "endeffector" in joined else int(bool(words & _HOLDERS))


def _middle(mech: Mechanism, body: str, fingers: Sequence[TreeJoint]) -> Array:
    """Return the mean (3,) of the origins of joints, m, in the frame of a body, at the home pose."""
    poses = forward(mech, home(mech))
    origins = [joint_axes(mech, joint, poses)[1] for joint in fingers]
    return poses.of(mech.body_index[body]).inverse().apply(np.mean(origins, axis=0))


def _rolling_base(mech: Mechanism, tree: _Tree) -> DefaultTool | None:
    """Return the body that all wheels carry; None if there are no wheels, or if it carries an arm."""
    stated = stated_wheels(mech)
    wheels = stated or likely_wheels(mech)
    base = tree.common_hub(wheels) if stated or len(wheels) > 1 else None
    # if the wheel is itself the common body, there is no separate base
    others = [wheel for wheel in wheels if tree.hub(wheel) != base]
    if base is None or not others or tree.longest_branch(base, set(wheels)) >= _ARM:
        return None
    carry = "carry" if len(others) > 1 else "carries"
    seem = carry if stated else "seem to carry, as they turn without end"
    return DefaultTool(base, f"the base, which {listed(others, 4)} {seem}")


class _Tree:
    """The spanning tree with groups of bodies fixed to each other; the hub of a group is its innermost body."""

    def __init__(self, mech: Mechanism) -> None:
        self._mech, self._joints = mech, mech.tree.joints
        self._hub, self._moving, self._depth, self._driven = (
            {WORLD: WORLD},
            {WORLD: 0},
            {WORLD: 0},
            {WORLD: 0},
        )
        for joint in self._joints:
            free = moves(joint)
            self._hub[joint.outer] = joint.outer if free else self._hub.get(joint.inner, joint.inner)
            self._moving[joint.outer] = self._moving.get(joint.inner, 0) + free
            self._depth[joint.outer] = self._depth.get(joint.inner, 0) + (0 if free else 1)
            own = free and joint.pair is not None and not follows(mech, joint.pair)
            self._driven[joint.outer] = self._driven.get(joint.inner, 0) + own

    def farthest(self, bodies: set[str], *, named: bool = True) -> str:
        """Return the body with the most moving joints between it and the ground.

        Among equals, one whose own joint moves it is preferred, then the best name of a tool, then the deepest body.
        """
        index = self._mech.body_index
        return max(
            bodies,
            key=lambda name: (
                self._moving.get(name, 0),
                self._driven.get(name, 0) > 0,
                _rank(name) if named else 0,
                self._depth.get(name, 0),
                index[name],
            ),
        )

    def fixed_to(self, hub: str) -> set[str]:
        """Return the bodies in the group of a hub."""
        return {name for name, own in self._hub.items() if own == hub and name != WORLD}

    def hubs_to(self, body: str) -> list[str]:
        """Return the hubs that joints move, in order from the ground to a body."""
        return [self._hub[j.outer] for j in self._mech.tree.way_in(body) if moves(j)][::-1]

    def hub(self, body: str) -> str:
        """Return the hub of a body: the innermost of the bodies fixed to it."""
        return self._hub[body]

    def common_hub(self, bodies: Sequence[str]) -> str | None:
        """Return the outermost hub that carries all given bodies, None if none does."""
        ways = [self.hubs_to(body) for body in bodies]
        common = [hubs[0] for hubs in zip(*ways, strict=False) if len(set(hubs)) == 1]
        return common[-1] if common else None

    def longest_branch(self, hub: str, without: set[str]) -> int:
        """Return the number of moving joints in the longest branch of a hub without any of the bodies ``without``."""
        branches = (set(self._mech.tree.carried(j.outer)) for j in self._branches(hub))
        free = [bodies for bodies in branches if bodies.isdisjoint(without)]
        return max((self._moving[body] - self._moving[hub] for bodies in free for body in bodies), default=0)

    def _branches(self, hub: str) -> list[TreeJoint]:
        """Return the moving joints that start at the group of a hub."""
        return [j for j in self._joints if moves(j) and self._hub.get(j.inner) == hub]

    def fingers(self, hub: str) -> list[TreeJoint]:
        """Return the joints at which the fingers of a gripper start at a hub, empty if there is no gripper."""
        branches = self._branches(hub)
        lengths = []
        for branch in branches:
            bodies = set(self._mech.tree.carried(branch.outer))
            if self._closes_elsewhere(bodies, hub):
                return []
            lengths.append(max(self._moving[body] for body in bodies) - self._moving[hub])
        return branches if len(branches) > 1 and max(lengths) < self._moving[hub] else []

    def single_finger(self, hub: str) -> list[TreeJoint]:
        """Return the joint of the only moving finger of a gripper at a hub, empty if no name indicates a finger."""
        branches = self._branches(hub)
        if len(branches) != 1 or self._moving[hub] < _ARM or branches[0].pair is None:
            return []
        joint, body = _words(branches[0].pair.name), _words(branches[0].outer)
        is_last = all(
            self._moving[name] <= self._moving[hub] + 1 for name in self._mech.tree.carried(branches[0].outer)
        )
        named = body & _FINGERS or (joint & _OF_FINGERS and not joint & _OF_WRISTS and not body & _TOOLS)
        return branches if is_last and named else []

    def _closes_elsewhere(self, bodies: set[str], hub: str) -> bool:
        """Return True if a loop through these bodies contains bodies other than them and the group of the hub."""
        near = bodies | self.fixed_to(hub)
        ends = (pair.bodies for pair in self._mech.tree.cut)
        return any((a in bodies or b in bodies) and not {a, b} <= near for a, b in ends)


def rated_payload(scenario: Scenario, payload: float | None) -> Payload:
    """Return the rated payload: a mass (kg) at the tool, or the payload of the scene.

    Raises
    ------
    BadUsage
        The scene has several payloads.
    BadNumber
        The mass is negative or too large.
    """
    own = scenario.actions.payloads
    if payload is None and len(own) == 1:
        return own[0]
    if payload is None and len(own) > 1:
        raise BadUsage("the scene has several payloads", remedy="state one with payload")
    mass = 0.0 if payload is None else float(payload)
    if not 0 <= mass <= LARGEST:
        raise BadNumber(f"the payload is {mass:g}", expected=f"kg, not negative, up to {LARGEST:g}")
    return Payload(scenario.tool, mass, scenario.tool_point, np.zeros((3, 3)))


def payload_share(rated: Payload, share: float) -> tuple[Payload, ...]:
    """Return a share of the rated payload, in mass and inertia; empty if there is no rated payload."""
    return (rated.scaled(share),) if rated.mass else ()


def payload_options(rated: Payload, share: float, of_scene: bool) -> tuple[str, ...]:
    """Return the options of ``mbplugin estop`` for a share of the rated payload."""
    if not rated.mass or (of_scene and share == 1):
        return ()
    if of_scene:
        return "--payload-share", repr(float(share))
    place = [float(x) for x in rated.com]
    at = f"@{','.join(map(repr, place))}" if any(place) else ""
    return "--payload", f"{rated.body}:{share * rated.mass!r}{at}"


def require_joints(mech: Mechanism, speeds: Mapping[str, float]) -> None:
    """Require that full speeds are given for joints only.

    Raises
    ------
    UnknownName
    """
    for name in speeds:
        if name not in mech.pair_by_name:
            raise UnknownName(
                f"a full speed is given for {name!r}, which is not a joint",
                remedy=suggestion(name, [pair.name for pair in mech.pairs if pair.kind.free]),
            )


def full_speeds(
    mech: Mechanism, axes: tuple[str, ...], given: Mapping[str, float] | None
) -> dict[str, float]:
    """Return the full speeds of axes, rad/s or m/s: given ones, else the velocity limits.

    Raises
    ------
    UnknownName
        A speed is given for an unknown joint.
    BadUsage
        An axis has neither, or a speed is given for a joint that is not an axis.
    """
    require_joints(mech, given or {})
    for name in given or {}:
        if name not in axes:
            raise BadUsage(
                f"a full speed is given for {name!r}, which is not an axis here",
                expected=f"one of {', '.join(axes)}",
                remedy="name it among the axes",
            )
    out = {}
    for axis in axes:
        value = (given or {}).get(axis, mech.pair_by_name[axis].freedoms[0].velocity)
        if not (isfinite(value) and value > 0):
            raise BadUsage(
                f"the full speed of joint {axis!r} is {value:g}",
                expected="a velocity limit in the file, or a speed that is given",
            )
        out[axis] = float(value)
    return out
