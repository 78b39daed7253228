"""A sketch as MJCF: nested bodies, defaults, sites, equalities, tendons, actuators, meshes."""

from __future__ import annotations

from .dice import Dice
from .markup import Tag, spoil, tag
from .sketch import Joint, Link, Sketch, relative, turned

_KINDS = {
    "revolute": "hinge",
    "continuous": "hinge",
    "prismatic": "slide",
    "spherical": "ball",
    "floating": "free",
}


def mjcf(mechanism: Sketch, meshes: list[str], others: list[str], dice: Dice) -> str:
    """Return the text of an MJCF file.

    Parameters
    ----------
    others : list of str
        Files that it may include.
    """
    root = tag(
        "mujoco",
        tag(
            "compiler",
            angle=dice.any(("radian", "degree", None)),
            autolimits=dice.any((None, "true", "false")),
        ),
        tag("option", _flags(dice), gravity=dice.vector(0, 0, -9.81)) if dice.chance(0.3) else None,
        _default(dice) if dice.chance(0.3) else None,
        _assets(meshes, dice) if meshes and dice.chance(0.5) else None,
        tag("include", file=dice.name(others)) if others and dice.chance(0.1) else None,
        _worldbody(mechanism, meshes, dice),
        _equality(mechanism, dice) if dice.chance(0.7) else None,
        _tendon(mechanism, dice) if dice.chance(0.1) else None,
        _actuator(mechanism, dice) if dice.chance(0.2) else None,
        _keyframe(dice) if dice.chance(0.05) else None,
        model=mechanism.name,
    )
    spoil(root, dice)
    return root.text() + "\n"


def _flags(dice: Dice) -> Tag:
    return tag(
        "flag", gravity=dice.any(("enable", "disable")), equality=dice.any((None, "enable", "disable"))
    )


def _default(dice: Dice) -> Tag:
    inner = tag("default", tag("geom", type="capsule", size=dice.vector(0.02)))
    inner.attributes.append(("class", "x"))
    return tag("default", tag("joint", damping=dice.number(0.1), armature=dice.number(0.01)), inner)


def _assets(meshes: list[str], dice: Dice) -> Tag:
    files = [dice.name(meshes) for _ in range(dice.randint(1, 2))]
    return tag(
        "asset",
        *(tag("mesh", name=f"m{i}", file=file, scale=dice.vector(1, 1, 1)) for i, file in enumerate(files)),
    )


def _worldbody(mechanism: Sketch, meshes: list[str], dice: Dice) -> Tag:
    roots = {joint.parent for joint in mechanism.joints} - {joint.child for joint in mechanism.joints}
    first = mechanism.links[0]
    world = tag("worldbody")
    if dice.chance(0.1):
        world.children.append(tag("geom", type="plane", size="1 1 1"))
    if first.name == "world":
        world.children += _children(first, mechanism, dice, 0)
    else:
        world.children += [
            _body(mechanism.link(name), None, mechanism, dice, 0) for name in sorted(roots | {first.name})
        ]
    return world


def _children(link: Link, mechanism: Sketch, dice: Dice, depth: int) -> list[Tag]:
    if depth > 60:
        # a name that stands twice may lead round and round
        return []
    mine = [joint for joint in mechanism.joints if joint.parent == link.name and joint.child != link.name]
    return [_body(mechanism.link(joint.child), joint, mechanism, dice, depth + 1) for joint in mine[:6]]


def _body(link: Link, joint: Joint | None, mechanism: Sketch, dice: Dice, depth: int) -> Tag:
    parent = mechanism.link(joint.parent) if joint else None
    at = relative(parent, link.at) if parent else link.at
    yaw = link.yaw - (parent.yaw if parent else 0.0)
    body = tag(
        "body",
        _inertial(link, dice) if dice.chance(0.5) else None,
        *([] if joint is None else _joints(joint, link, dice)),
        _geom(link, dice) if dice.chance(0.85) else None,
        tag("site", name=f"s_{link.name}", pos=dice.vector(*link.com)),
        name=link.name,
        pos=dice.vector(*at),
        euler=dice.vector(0, 0, yaw) if yaw else None,
    )
    if joint is None and dice.chance(0.5):
        body.children.insert(0, tag("freejoint"))
    body.children += _children(link, mechanism, dice, depth)
    return body


def _inertial(link: Link, dice: Dice) -> Tag:
    return tag(
        "inertial",
        pos=dice.vector(*link.com),
        mass=dice.number(link.mass),
        diaginertia=dice.vector(*link.moments),
    )


def _joints(joint: Joint, link: Link, dice: Dice) -> list[Tag]:
    if joint.kind == "fixed":
        return []
    if joint.kind in ("universal", "cylindrical", "planar"):
        return [
            tag("joint", name=joint.name + end, type=dice.any(("hinge", "slide")), axis=axis)
            for end, axis in (("", "1 0 0"), ("_2", "0 1 0"))
        ]
    kind = _KINDS.get(joint.kind, "hinge")
    spring = dice.chance(0.15)
    single = kind in ("hinge", "slide")
    return [
        tag(
            "joint",
            name=joint.name,
            type=kind,
            axis=dice.vector(*turned(link, joint.axis)) if single else None,
            range=dice.vector(joint.lower, joint.upper) if single and dice.chance(0.3) else None,
            limited=dice.any((None, "true", "false", "auto")) if single else None,
            damping=dice.number(joint.damping),
            frictionloss=dice.number(joint.friction) if dice.chance(0.2) else None,
            armature=dice.number(0.01) if dice.chance(0.2) else None,
            stiffness=dice.number(10) if spring else None,
            springref=dice.number(0.1) if spring else None,
            springdamper=dice.vector(0.1, 1) if dice.chance(0.02) else None,
            ref=dice.number(0.1) if dice.chance(0.05) else None,
        )
    ]


def _geom(link: Link, dice: Dice) -> Tag:
    kind = dice.any(("box", "sphere", "capsule", "cylinder", "ellipsoid"))
    if dice.odd(3):
        kind = dice.any(("mesh", "x"))
    if kind == "x":
        geom = tag("geom", fromto=dice.vector(0, 0, 0, 1, 0, 0), size=dice.vector(0.02))
        geom.attributes.append(("class", "x"))
        return geom
    if kind == "mesh":
        return tag("geom", type="mesh", mesh=dice.name(["m0", "m1"]))
    return tag(
        "geom", type=kind, size=dice.vector(0.1, 0.1, 0.1), mass=dice.number(1) if dice.chance(0.5) else None
    )


def _equality(mechanism: Sketch, dice: Dice) -> Tag:
    number, equality = dice.number, tag("equality")
    for joint in mechanism.loops:
        a, b = mechanism.link(joint.parent), joint.child
        anchor = dice.vector(*relative(a, joint.at))
        name, active = joint.name, dice.any((None, None, "false"))
        one = dice.any(
            (
                tag("connect", name=name, body1=a.name, body2=b, anchor=anchor, active=active),
                tag("connect", site1=f"s_{a.name}", site2=f"s_{b}"),
                tag("weld", name=name, body1=a.name, body2=dice.any((b, None, "world")), active=active),
                tag("weld", body1=a.name, body2=b, relpose=dice.vector(0, 0, 0, 1, 0, 0, 0)),
            )
        )
        equality.children.append(one)
    if dice.chance(0.3):
        joints = [dice.name(mechanism.names) for _ in range(2)]
        poly = " ".join((number(0), number(1), "0", "0", number(0)))
        equality.children.append(
            tag("joint", joint1=joints[0], joint2=dice.any((joints[1], None)), polycoef=poly)
        )
    return equality


def _tendon(mechanism: Sketch, dice: Dice) -> Tag:
    joints = [tag("joint", joint=dice.name(mechanism.names), coef=dice.number(1)) for _ in range(2)]
    return tag("tendon", tag("fixed", *joints, name="t"))


def _actuator(mechanism: Sketch, dice: Dice) -> Tag:
    kind = dice.any(("motor", "position", "velocity"))
    return tag("actuator", tag(kind, joint=dice.name(mechanism.names), gear=dice.number(2)))


def _keyframe(dice: Dice) -> Tag:
    return tag("keyframe", tag("key", qpos=dice.vector(0, 0, 0)))
