"""A sketch as SDF: worlds, nested models, frames, poses relative to others, includes, gearboxes."""

from __future__ import annotations

from .dice import Dice
from .markup import Tag, spoil, tag
from .sketch import Joint, Link, Sketch, relative, turned
from .urdf import mesh_name

_TYPES = ("revolute", "continuous", "prismatic", "ball", "universal", "revolute2", "screw", "fixed", "planar")
_VERSIONS = ("1.4", "1.5", "1.6", "1.7", "1.9", "1.10", "1.11")


def sdf(mechanism: Sketch, meshes: list[str], others: list[str], dice: Dice) -> str:
    """Return the text of an SDF file.

    Parameters
    ----------
    others : list of str
        Files that it may include.
    """
    model = model_tag(mechanism, meshes, dice)
    body: list[Tag] = [model]
    if others and dice.chance(0.2):
        target = model if dice.chance(0.5) else None
        include = _include(others, dice)
        (target.children if target else body).append(include)
    root = tag("sdf", version=dice.name(_VERSIONS))
    root.children = [tag("world", *body, name="w")] if dice.chance(0.4) else list(body)
    spoil(root, dice)
    return f'<?xml version="1.0"?>\n{root.text()}\n'


def _include(others: list[str], dice: Dice) -> Tag:
    return tag(
        "include",
        tag("uri", dice.any(("", "", "model://", "file://")) + dice.name(others)),
        tag("name", dice.any(("part", "b1", "part"))),
        tag("pose", dice.vector(0, 0, dice.length(), 0, 0, dice.angle())),
        tag("placement_frame", dice.any(("b1", "f"))) if dice.chance(0.1) else None,
    )


def model_tag(mechanism: Sketch, meshes: list[str], dice: Dice) -> Tag:
    """Return the ``<model>``."""
    frames = [_frame(i, mechanism, dice) for i in range(dice.any((0, 0, 0, 1, 2)))]
    names = [f"f{i}" for i in range(len(frames))]
    known = [*mechanism.bodies, *names, "__model__"]
    # the world is not a link of a file
    links = [_link(link, meshes, known, dice) for link in mechanism.links if link.name != "world"]
    joints = [_joint(joint, mechanism, known, dice) for joint in (*mechanism.joints, *mechanism.loops)]
    model = tag(
        "model",
        tag("static", dice.any(("true", "1"))) if dice.chance(0.05) else None,
        tag("pose", dice.vector(0, 0, dice.length(), 0, 0, 0)) if dice.chance(0.2) else None,
        *frames,
        *links,
        *joints,
        name=mechanism.name,
        canonical_link=dice.name(mechanism.bodies) if dice.chance(0.1) else None,
        placement_frame=dice.name(known) if dice.chance(0.05) else None,
    )
    if len(mechanism.names) > 1 and dice.chance(0.1):
        model.children.append(_gearbox(mechanism, dice))
    if dice.chance(0.1):
        inner = tag("model", tag("link", name="x"), name="inner")
        model.children += [
            inner,
            tag("joint", *_ends(dice.any(mechanism.bodies), "inner::x"), name="to", type="fixed"),
        ]
    if dice.odd():
        dice.shuffle(model.children)
    return model


def _frame(i: int, mechanism: Sketch, dice: Dice) -> Tag:
    attached = dice.name([*mechanism.bodies, *mechanism.constraints, *(f"f{k}" for k in range(i))])
    pose = tag("pose", dice.vector(0, 0, dice.length(), 0, 0, 0), relative_to=dice.any((None, attached)))
    return tag("frame", pose, name=f"f{i}", attached_to=attached if dice.chance(0.7) else None)


def _link(link: Link, meshes: list[str], known: list[str], dice: Dice) -> Tag:
    number = dice.number
    moments = [tag(f"i{k}{k}", number(value)) for k, value in zip("xyz", link.moments, strict=True)]
    inertial = tag(
        "inertial",
        tag("mass", number(link.mass)),
        tag("pose", dice.vector(*link.com, 0, 0, 0)) if dice.chance(0.4) else None,
        tag("inertia", *moments, tag("ixy", number(0))),
    )
    shapes = [
        tag(dice.any(("visual", "collision")), tag("geometry", _shape(kind, meshes, dice)), name=f"s{i}")
        for i, kind in enumerate(link.shapes)
    ]
    frame = dice.name(["__model__"] if dice.chance(0.8) else known) if dice.chance(0.1) else None
    pose = tag("pose", dice.vector(*link.at, 0, 0, link.yaw), relative_to=frame)
    if dice.chance(0.05):
        pose = tag("pose", dice.vector(*link.at, 0, 0, 0, 1), rotation_format="quat_xyzw")
    return tag("link", pose, inertial if dice.chance(0.9) else None, *shapes, name=link.name)


def _shape(kind: str, meshes: list[str], dice: Dice) -> Tag:
    if kind == "box":
        return tag("box", tag("size", dice.vector(1, 0.1, 0.1)))
    if kind == "sphere":
        return tag("sphere", tag("radius", dice.number(0.1)))
    if kind == "mesh":
        return tag("mesh", tag("uri", mesh_name(meshes, dice)), tag("scale", dice.vector(1, 1, 1)))
    return tag(kind, tag("radius", dice.number(0.1)), tag("length", dice.number(1)))


def _ends(parent: str, child: str) -> tuple[Tag, Tag]:
    return tag("parent", parent), tag("child", child)


def _joint(joint: Joint, mechanism: Sketch, known: list[str], dice: Dice) -> Tag:
    child = mechanism.link(joint.child)
    kind = {"spherical": "ball"}.get(joint.kind, joint.kind)
    if kind not in _TYPES and not dice.odd():
        kind = "revolute"
    at = (*relative(child, joint.at), 0, 0, 0)
    pose = tag(
        "pose",
        dice.vector(*at),
        relative_to=dice.name([joint.child, "__model__", *known]) if dice.chance(0.1) else None,
    )
    axes = []
    if kind not in ("fixed", "ball"):
        axes.append(_axis("axis", turned(child, joint.axis), joint, mechanism, known, dice))
    if kind in ("universal", "revolute2"):
        x, y, z = joint.axis
        axes.append(_axis("axis2", turned(child, (y, z, x)), joint, mechanism, known, dice))
    more = (
        tag(dice.any(("screw_thread_pitch", "thread_pitch")), dice.number(0.01)) if kind == "screw" else None
    )
    ends = _ends(joint.parent, joint.child)
    return tag("joint", pose if dice.chance(0.6) else None, *ends, *axes, more, name=joint.name, type=kind)


def _axis(
    name: str,
    direction: tuple[float, float, float],
    joint: Joint,
    mechanism: Sketch,
    known: list[str],
    dice: Dice,
) -> Tag:
    number = dice.number
    dynamics = tag(
        "dynamics",
        tag("damping", number(joint.damping)),
        tag("friction", number(joint.friction)),
        tag("spring_stiffness", number(100)) if dice.chance(0.2) else None,
        tag("spring_reference", number(0.1)) if dice.chance(0.2) else None,
    )
    mimic = tag("mimic", tag("multiplier", number(2)), tag("offset", number(0)), tag("reference", number(0)))
    mimic.attributes = [
        ("joint", dice.name(mechanism.names)),
        *([("axis", "axis2")] if dice.chance(0.1) else []),
    ]
    limit = tag("limit", tag("lower", number(joint.lower)), tag("upper", number(joint.upper)))
    limit.children += [tag("effort", number(joint.effort)), tag("velocity", number(joint.velocity))]
    return tag(
        name,
        tag("xyz", dice.vector(*direction), expressed_in=dice.name(known) if dice.chance(0.1) else None),
        tag("use_parent_model_frame", "1") if dice.chance(0.05) else None,
        tag("initial_position", number(0.1)) if dice.chance(0.03) else None,
        limit if dice.chance(0.8) else None,
        dynamics if dice.chance(0.5) else None,
        mimic if dice.chance(0.06) else None,
    )


def _gearbox(mechanism: Sketch, dice: Dice) -> Tag:
    axis = tag("xyz", dice.vector(0, 0, 1))
    return tag(
        "joint",
        *_ends(dice.name(mechanism.bodies), dice.name(mechanism.bodies)),
        tag("gearbox_ratio", dice.number(3)),
        tag("gearbox_reference_body", dice.name(mechanism.bodies)),
        tag("axis", axis),
        tag("axis2", axis),
        name="gear",
        type="gearbox",
    )
