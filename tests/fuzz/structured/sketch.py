"""A mechanism before it is written in a format: bodies with places, joints of a tree, joints of loops."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import cos, sin

from .dice import Dice

TYPES = ("revolute", "revolute", "revolute", "continuous", "prismatic", "fixed", "spherical", "universal")
RARE = ("floating", "planar", "screw", "cylindrical", "ball", "gearbox", "revolute2", "")

Vector = tuple[float, float, float]


@dataclass
class Link:
    """A body: where its frame is in the world (m, turned about z by yaw), and what it weighs."""

    name: str
    at: Vector
    yaw: float
    mass: float
    moments: Vector
    com: Vector
    shapes: list[str] = field(default_factory=list)


@dataclass
class Joint:
    """A joint between two links, at a point of the world (m), about a direction of it."""

    name: str
    kind: str
    parent: str
    child: str
    at: Vector
    axis: Vector
    lower: float
    upper: float
    effort: float
    velocity: float
    damping: float
    friction: float


@dataclass
class Sketch:
    """A mechanism: the joints of its tree, one for each link but the first, and those that close loops."""

    name: str
    links: list[Link]
    joints: list[Joint]
    loops: list[Joint]

    @property
    def bodies(self) -> list[str]:
        """The names of the links."""
        return [link.name for link in self.links]

    @property
    def names(self) -> list[str]:
        """The names of the tree's joints."""
        return [joint.name for joint in self.joints]

    @property
    def coordinates(self) -> list[str]:
        """The names of the tree's joint coordinates, as far as a joint has one of its own name."""
        single = ("revolute", "continuous", "prismatic", "screw")
        return [joint.name for joint in self.joints if joint.kind in single] or self.names

    @property
    def constraints(self) -> list[str]:
        """The names of all joints."""
        return [*self.names, *(joint.name for joint in self.loops)]

    def link(self, name: str) -> Link:
        """Return a link by its name; the first where there is none."""
        return next((link for link in self.links if link.name == name), self.links[0])


def sketch(dice: Dice) -> Sketch:
    """Return a random mechanism: a chain, a tree, a plane loop or several, or hardly anything."""
    number = dice.any((1, 2, 3, 3, 3, 4, 4, 5, 6, 8, 12)) if dice.chance(0.97) else dice.any((0, 25))
    flat, chain = dice.chance(0.5), dice.chance(0.5)
    links = [_link(dice, i) for i in range(number + 1)]
    joints = []
    for i in range(1, number + 1):
        parent = links[i - 1] if chain else dice.any(links[:i])
        joints.append(_joint(dice, f"j{i}", parent, links[i], flat))
    loops = []
    if number >= 2:
        for i in range(dice.any((0, 0, 1, 1, 2, 3))):
            b = links[-1 - i % number]
            a = dice.any([link for link in links if link is not b])
            loops.append(_joint(dice, f"k{i}", a, b, flat))
    found = Sketch(dice.any(("robot", "r", "model 1")), links, joints, loops)
    for joint in (*joints, *loops):
        if dice.odd():
            _spoil_names(joint, found, dice)
    return found


def _link(dice: Dice, i: int) -> Link:
    name = dice.word() if dice.odd(0.3) else ("world" if i == 0 and dice.chance(0.3) else f"b{i}")
    at = (0.0, 0.0, 0.0) if i == 0 else (dice.length(), dice.length(), dice.length())
    mass = 0.0 if dice.chance(0.1) else dice.positive()
    moment = mass * dice.scale**2 * dice.any((0.1, 0.1, 0.02, 1.0))
    kinds = ("box", "cylinder", "sphere", "mesh", "capsule")
    return Link(
        name,
        at,
        dice.angle() if dice.chance(0.1) else 0.0,
        mass,
        (moment, moment * dice.any((1.0, 1.0, 0.5)), moment),
        (dice.length(), 0.0, 0.0) if dice.chance(0.4) else (0.0, 0.0, 0.0),
        dice.some(kinds, 2) if dice.chance(0.5) else [],
    )


def _joint(dice: Dice, name: str, a: Link, b: Link, flat: bool) -> Joint:
    kind = dice.any(RARE) if dice.chance(0.06) else dice.any(TYPES)
    if flat:
        kind = dice.any(("revolute", "revolute", "continuous", "prismatic")) if dice.chance(0.9) else kind
    return Joint(
        name,
        kind,
        a.name,
        b.name,
        b.at,
        (0.0, 0.0, 1.0)
        if (flat and kind != "prismatic") or kind in ("universal", "revolute2")
        else dice.axis(),
        dice.any((-1.0, -3.0, 0.0, -1e16)),
        dice.any((1.0, 3.0, 0.5, 1e16)),
        dice.any((10.0, 100.0, 0.0)),
        dice.any((1.0, 5.0, 0.0)),
        dice.any((0.0, 0.0, 0.1, 10.0)),
        dice.any((0.0, 0.0, 0.1)),
    )


def _spoil_names(joint: Joint, found: Sketch, dice: Dice) -> None:
    """Let a joint have a strange name, join a body to itself, or to one that is not there."""
    part = dice.any(("name", "parent", "child", "self", "double"))
    if part == "self":
        joint.child = joint.parent
    elif part == "double":
        joint.name = dice.any(found.constraints)
    elif part == "name":
        joint.name = dice.word()
    else:
        setattr(joint, part, dice.any((dice.word(), dice.any(found.bodies))))


def relative(link: Link, at: Vector) -> Vector:
    """Return a point of the world (m) in the frame of a link."""
    x, y, z = (a - b for a, b in zip(at, link.at, strict=True))
    c, s = cos(link.yaw), sin(link.yaw)
    return (c * x + s * y, c * y - s * x, z)


def turned(link: Link, direction: Vector) -> Vector:
    """Return a direction of the world in the frame of a link."""
    x, y, z = direction
    c, s = cos(link.yaw), sin(link.yaw)
    return (c * x + s * y, c * y - s * x, z)
