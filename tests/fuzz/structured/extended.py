"""The YAML beside a URDF that closes its loops."""

from __future__ import annotations

from ..words import VALUES
from .dice import Dice
from .sketch import Sketch

_TYPES = ("SPHERICAL", "FIXED", "UJOINT_XY", "UJOINT_ZX", "UJOINT_XX", "spherical")


def extension(mechanism: Sketch, dice: Dice) -> str:
    """Return the text of the file."""
    known = [*mechanism.bodies, *mechanism.names]
    loops = [[dice.name(known) for _ in range(3 if dice.odd() else 2)] for _ in range(dice.any((1, 1, 2, 0)))]
    joints = [dice.name(mechanism.names) for _ in range(dice.any((0, 0, 1, 2)))]
    lines = {
        "closed_loop": _flow(loops, dice),
        "type": _flow([dice.name(("6d", "3d")) for _ in range(len(loops) + dice.odd())], dice),
        "joint_name": _flow(joints, dice),
        "joint_type": _flow([dice.name(_TYPES) for _ in joints], dice),
        "name_mot": _flow(dice.some(mechanism.names, 2), dice),
    }
    if dice.odd():
        lines.pop(dice.any(tuple(lines)))
    if dice.odd():
        lines[dice.any(tuple(lines))] = dice.any(VALUES).decode()
    return "".join(f"{key}: {value}\n" for key, value in lines.items())


def _flow(value: object, dice: Dice) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_flow(one, dice) for one in value)}]"
    text = str(value)
    if text.isidentifier() and text.isascii() and not dice.odd():
        return text
    return "'" + text.replace("'", "''") + "'"
