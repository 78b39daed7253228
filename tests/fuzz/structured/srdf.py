"""The SRDF beside a robot: groups, states and disabled pairs, of names that exist and that do not."""

from __future__ import annotations

from .dice import Dice
from .markup import Tag, spoil, tag
from .sketch import Sketch


def srdf(mechanism: Sketch, dice: Dice) -> str:
    """Return the text of the file."""
    robot = tag("robot", name=mechanism.name)
    robot.children += [_group(k, mechanism, dice) for k in range(dice.any((0, 1, 1, 2)))]
    robot.children += [_state(mechanism, dice) for _ in range(dice.any((0, 1, 1, 2)))]
    robot.children += [_pair(mechanism, dice) for _ in range(dice.any((0, 1, 3)))]
    if dice.chance(0.3):
        virtual = {"name": "virtual", "parent_frame": "odom", "child_link": dice.name(mechanism.bodies)}
        robot.children.append(tag("virtual_joint", type=dice.any(("fixed", "floating", "planar")), **virtual))
    if dice.chance(0.2):
        parent = dice.name(mechanism.bodies)
        robot.children.append(tag("end_effector", name="e", parent_link=parent, group=_known_group(dice)))
    if dice.chance(0.2):
        robot.children.append(tag("passive_joint", name=dice.name(mechanism.names)))
    spoil(robot, dice)
    return f'<?xml version="1.0"?>\n{robot.text()}\n'


def _known_group(dice: Dice) -> str:
    return dice.name(("g0", "g1"))


def _group(number: int, mechanism: Sketch, dice: Dice) -> Tag:
    group = tag("group", name=f"g{number}")
    for _ in range(dice.any((1, 2, 3))):
        kind = dice.any(("joint", "link", "chain", "group"))
        if kind == "chain":
            ends = {end: dice.name(mechanism.bodies) for end in ("base_link", "tip_link")}
            group.children.append(tag("chain", **ends))
        else:
            known = {"joint": mechanism.names, "link": mechanism.bodies, "group": ["g0", "g1"]}[kind]
            group.children.append(tag(kind, name=dice.name(known)))
    return group


def _state(mechanism: Sketch, dice: Dice) -> Tag:
    joints = [
        tag("joint", name=dice.name(mechanism.names), value=dice.vector(dice.any((0.0, 0.5, 10.0))))
        for _ in range(dice.any((1, 2, 0)))
    ]
    return tag("group_state", *joints, name=dice.any(("home", "home", "")), group=_known_group(dice))


def _pair(mechanism: Sketch, dice: Dice) -> Tag:
    links = {f"link{k}": dice.name(mechanism.bodies) for k in (1, 2)}
    return tag(dice.any(("disable_collisions", "enable_collisions")), reason="Adjacent", **links)
