"""A sketch as xacro: properties, macros, conditions, includes, expressions that are allowed and not."""

from __future__ import annotations

from .dice import Dice
from .markup import Tag, spoil, tag
from .sketch import Sketch
from .urdf import robot_tag

#: Expressions for numbers: what a person writes, then what a checker has to stop or survive.
GOOD = (
    "${a}",
    "${a*2}",
    "${-a}",
    "${pi/2}",
    "${max(a, 0.2)}",
    "${1.0 if a > 0 else 2}",
    "$(arg size)",
    "${d['k']}",
)
BAD = (
    *(
        "${1/0}",
        "${9**9**9}",
        "${'x'*10**9}",
        "${[0]*10**10}",
        "${unknown}",
        "${__import__('os')}",
        "${a.__class__}",
    ),
    *(
        "${(lambda: 1)()}",
        "${'{0.__class__}'.format(a)}",
        "${len(range(10**12))}",
        "$(env HOME)",
        "$(find nowhere)",
    ),
    *(
        "$(arg nothing)",
        "${",
        "${}",
        "$(",
        "${load_yaml('/etc/passwd')}",
        "${xacro.load_yaml('d.yaml')['k']}",
    ),
    *(
        "${eval('1')}",
        "${[x for x in d]}",
        "${a if}",
        "${" + "(" * 300 + "1" + ")" * 300 + "}",
        "${b}",
        "$$(x)",
    ),
    *(
        "${-" + "-" * 2000 + "1}",
        "${int('9'*5000)}",
        "${float('nan')}",
        "${1e308*10}",
        "${2**2**12}",
        "${'a' 'b'}",
    ),
    *(
        "${radians('x')}",
        "${sin(1e400)}",
        "${min()}",
        "${d}",
        "${d['none']}",
        "${[1,2][5]}",
        "${f'{a}'}",
        "${a:=1}",
    ),
)


def xacro(mechanism: Sketch, meshes: list[str], others: list[str], dice: Dice) -> str:
    """Return the text of a xacro file.

    Parameters
    ----------
    others : list of str
        Files that it may include.
    """
    robot = robot_tag(mechanism, meshes, dice)
    for one in list(robot.all()):
        for i, (name, value) in enumerate(one.attributes):
            if name in ("value", "lower", "upper", "radius") and dice.chance(0.1):
                one.attributes[i] = (name, expression(dice))
            elif name == "xyz" and dice.chance(0.1):
                one.attributes[i] = (name, f"0 {expression(dice)} 0")
            elif name == "name" and dice.odd():
                one.attributes[i] = (name, value + expression(dice))
    robot.children[:0] = _head(others, dice)
    if len(robot.children) > 4 and dice.chance(0.5):
        _fold(robot, dice)
    spoil(robot, dice)
    return f'<?xml version="1.0"?>\n{robot.text()}\n'


def expression(dice: Dice) -> str:
    """Return an expression for a number."""
    return dice.any(BAD) if dice.odd(3) else dice.any(GOOD)


def _head(others: list[str], dice: Dice) -> list[Tag]:
    found = [
        tag("xacro:arg", name="size", default=dice.number(0.5)),
        tag("xacro:property", name="a", value=dice.number(0.3)),
        tag("xacro:property", name="d", value="${dict(k=1)}" if dice.chance(0.5) else "${{'k': 1}}"),
    ]
    if dice.odd():
        found.append(tag("xacro:property", name="b", value=dice.any(("${b}", "${c}", *BAD))))
        found.append(tag("xacro:property", name="c", value="${b}"))
    if others and dice.chance(0.2):
        found.append(tag("xacro:include", filename=dice.name([*others, "model.urdf.xacro", "$(cwd)/d.yaml"])))
    return found


def _fold(robot: Tag, dice: Dice) -> None:
    """Put some elements into a macro that is called, or into a condition."""
    start = dice.randrange(3, len(robot.children))
    inner = robot.children[start:]
    if dice.chance(0.3):
        kind = dice.any(("xacro:if", "xacro:unless"))
        robot.children[start:] = [
            tag(kind, *inner, value=dice.any(("true", "1", "${a > 0}", expression(dice))))
        ]
        return
    names = dice.any(("", "x", "x:=1 y", "*block", "x:=^", "x:=^|2", "**block"))
    macro = tag("xacro:macro", *inner, name="part", params=names)
    if dice.odd():
        # it calls itself
        macro.children.append(tag("xacro:part", x="1"))
    call = tag("xacro:part", *([tag("link", name="given")] if "block" in names else []))
    if names.strip("*").startswith("x"):
        call.attributes += [(name, dice.any(("1", "${a}"))) for name in ("x", "y") if dice.chance(0.8)]
    robot.children[start:] = [macro, call, *([call] if dice.chance(0.05) else [])]
