"""A sketch as URDF: with closures, transmissions, Gazebo's tags, mimic joints and meshes."""

from __future__ import annotations

from collections.abc import Callable

from .control import ros2_control, transmission
from .dice import Dice
from .markup import Tag, spoil, tag
from .sketch import Joint, Link, Sketch, relative, turned

_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar", "spherical")
XMLNS = {"xmlns:drake": "http://drake.mit.edu", "xmlns:xacro": "http://www.ros.org/wiki/xacro"}


def urdf(mechanism: Sketch, meshes: list[str], dice: Dice) -> str:
    """Return the text of a URDF file."""
    robot = robot_tag(mechanism, meshes, dice)
    spoil(robot, dice)
    return f'<?xml version="1.0"?>\n{robot.text()}\n'


def robot_tag(mechanism: Sketch, meshes: list[str], dice: Dice) -> Tag:
    """Return the ``<robot>``."""
    robot = tag("robot", name=mechanism.name, version=dice.any((None, None, "1.0", "1.1", "1.2", "9")))
    robot.attributes += XMLNS.items()
    robot.children += [_link(link, meshes, dice) for link in mechanism.links]
    for joint in mechanism.joints:
        robot.children.append(_joint(joint, mechanism, dice))
        if dice.chance(0.1):
            robot.children.append(dice.any(_EXTRAS)(joint, mechanism, dice))
    robot.children += [dice.any(_LOOPS)(joint, mechanism, dice) for joint in mechanism.loops]
    if dice.odd():
        dice.shuffle(robot.children)
    return robot


def _link(link: Link, meshes: list[str], dice: Dice) -> Tag:
    number = dice.number
    inertial = tag(
        "inertial",
        tag("origin", xyz=dice.vector(*link.com), rpy=dice.vector(0, 0, 0) if dice.chance(0.3) else None),
        tag("mass", value=number(link.mass)),
        tag("inertia", **{f"i{k}{k}": number(v) for k, v in zip("xyz", link.moments, strict=True)}, ixy="0"),
    )
    shapes = [
        tag(
            dice.any(("visual", "collision")),
            tag("origin", xyz=dice.vector(0, 0, dice.length()), rpy=dice.vector(0, dice.angle(), 0)),
            tag("geometry", shape(kind, meshes, dice)),
        )
        for kind in link.shapes
    ]
    return tag("link", inertial if dice.chance(0.85) else None, *shapes, name=link.name)


def shape(kind: str, meshes: list[str], dice: Dice) -> Tag:
    """Return a geometry; ``mesh`` names a file."""
    size = abs(dice.length()) or 0.1
    if kind == "box":
        return tag("box", size=dice.vector(size, size, 0.1))
    if kind == "sphere":
        return tag("sphere", radius=dice.number(size))
    if kind == "mesh":
        scale = dice.vector(1, 1, dice.any((1, 1, -1, 0.001))) if dice.chance(0.4) else None
        return tag("mesh", filename=mesh_name(meshes, dice), scale=scale)
    return tag(kind, radius=dice.number(0.1), length=dice.number(size))


def mesh_name(meshes: list[str], dice: Dice) -> str:
    """Return how a file names a mesh."""
    name = dice.name(meshes)
    return dice.any(("", "", "", "", "package://x/", "./", "../", "file://", "model://")) + name


def _joint(joint: Joint, mechanism: Sketch, dice: Dice) -> Tag:
    parent, child = mechanism.link(joint.parent), mechanism.link(joint.child)
    tilt = (dice.angle(), dice.angle()) if dice.chance(0.02) else (0.0, 0.0)
    rpy = (*tilt, child.yaw - parent.yaw)
    kind = joint.kind
    if kind not in _TYPES and not dice.odd():
        kind = "revolute"
    mimic = dice.chance(0.08)
    return tag(
        "joint",
        tag("parent", link=joint.parent),
        tag("child", link=joint.child),
        tag("origin", xyz=dice.vector(*relative(parent, child.at)), rpy=dice.vector(*rpy)),
        tag("axis", xyz=dice.vector(*turned(child, joint.axis))) if kind != "fixed" else None,
        _limit(joint, dice) if dice.chance(0.7) else None,
        tag("dynamics", damping=dice.number(joint.damping), friction=dice.number(joint.friction)),
        _mimic(mechanism, dice) if mimic else None,
        tag("safety_controller", k_velocity=dice.number(1), soft_lower_limit="-1")
        if dice.chance(0.03)
        else None,
        name=joint.name,
        type=kind,
    )


def _limit(joint: Joint, dice: Dice) -> Tag:
    bounds = {"lower": joint.lower, "upper": joint.upper, "effort": joint.effort, "velocity": joint.velocity}
    return tag("limit", **{name: dice.number(value) for name, value in bounds.items() if dice.chance(0.9)})


def _mimic(mechanism: Sketch, dice: Dice) -> Tag:
    of = dice.any(mechanism.names) if dice.chance(0.9) else dice.name(mechanism.constraints)
    return tag("mimic", joint=of, multiplier=dice.number(dice.any((1, -1, 2, 0))), offset=dice.number(0))


def _gazebo(joint: Joint, mechanism: Sketch, dice: Dice) -> Tag:
    return tag(
        "gazebo",
        tag("implicitSpringDamper", "1"),
        tag("springStiffness", dice.number(10)),
        tag("springReference", dice.number(0)),
        tag("selfCollide", "true"),
        tag("static", "true") if dice.chance(0.2) else None,
        reference=dice.name([joint.name, joint.child]) if dice.chance(0.8) else None,
    )


def _loop_joint(joint: Joint, mechanism: Sketch, dice: Dice) -> Tag:
    ends = [
        tag(f"link{i}", link=name, xyz=dice.vector(*relative(mechanism.link(name), joint.at)), rpy="0 0 0")
        for i, name in ((1, joint.parent), (2, joint.child))
    ]
    kind = dice.any((joint.kind, "revolute", "fixed", "spherical", "point-on-plane", "cylindrical", "planar"))
    return tag("loop_joint", *ends, tag("axis", xyz=dice.vector(*joint.axis)), name=joint.name, type=kind)


def _ball_constraint(joint: Joint, mechanism: Sketch, dice: Dice) -> Tag:
    parts = []
    for side, point, name in (("A", "p_AP", joint.parent), ("B", "p_BQ", joint.child)):
        at = dice.vector(*relative(mechanism.link(name), joint.at))
        parts += [
            tag(f"drake:ball_constraint_body_{side}", name=name),
            tag(f"drake:ball_constraint_{point}", value=at),
        ]
    return tag("drake:ball_constraint", *parts)


def _gazebo_joint(joint: Joint, mechanism: Sketch, dice: Dice) -> Tag:
    kind = {"spherical": "ball"}.get(joint.kind, joint.kind)
    axis = tag("axis", tag("xyz", dice.vector(*joint.axis)), _sdf_limit(joint, dice))
    second = tag("axis2", tag("xyz", dice.vector(1, 0, 0))) if kind == "universal" else None
    pose = tag(
        "pose", dice.vector(0, 0, 0, 0, 0, 0), relative_to=dice.any((None, None, joint.parent, "__model__"))
    )
    ends = (tag("parent", joint.parent), tag("child", joint.child))
    return tag("gazebo", tag("joint", pose, *ends, axis, second, name=joint.name, type=kind))


def _sdf_limit(joint: Joint, dice: Dice) -> Tag:
    return tag("limit", tag("lower", dice.number(joint.lower)), tag("upper", dice.number(joint.upper)))


def _second_parent(joint: Joint, mechanism: Sketch, dice: Dice) -> Tag:
    """Let a link have two parents: no tree, but many write it."""
    return _joint(joint, mechanism, dice)


_Writer = Callable[[Joint, Sketch, Dice], Tag]
_EXTRAS: tuple[_Writer, ...] = (transmission, _gazebo, ros2_control)
_LOOPS: tuple[_Writer, ...] = (_loop_joint, _loop_joint, _ball_constraint, _gazebo_joint, _second_parent)
