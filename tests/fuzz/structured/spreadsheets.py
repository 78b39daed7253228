"""Tables of cells as programs write them: separators, decimal commas, encodings, quotes; and measured stops so."""

from __future__ import annotations

from collections.abc import Sequence

from .dice import Dice
from .sketch import Sketch

_UNITS = {
    "speed": ("", "", "rad/s", "deg/s", "%", "m/s", "mm/s", "rpm", "x"),
    "time": ("", "", "s", "ms", "min", "us"),
    "distance": ("", "", "rad", "deg", "m", "mm", "°"),
    "payload": ("", "kg", "g", "%"),
    "extension": ("", "%", "m"),
    "time_spread": ("", "s", "ms"),
    "distance_spread": ("", "rad", "deg"),
    "value": ("", "", "rad", "deg", "m", "mm"),
    "rate": ("", "rad/s", "deg/s"),
    "acceleration": ("", "rad/s²", "rad/s^2"),
}
_MORE = ("sense", "payload", "extension", "repeats", "time_spread", "distance_spread", "q j1", "remark", "")
#: Cells that people leave in tables.
_CELLS = (
    *("", " ", "-", "n/a", "NaN", "nan", "inf", "#REF!", "=1+1", "'=1", "1,5", "1.5", "1.000,5", "1 000"),
    *("1_000", "٣", "½", "stop 1", "cat. 1", "0,25", "1e400", "-0", "0x1", "TRUE", '"', '""', "\ufeff1"),
    *("1;2", "a\tb", "\u2028", "\x85", "\x0b", "1\x00", "x" * 5000, "9" * 400, "12 ms", "±0.1", "−1"),
)


def measured_stops(mechanism: Sketch, dice: Dice) -> bytes:
    """Return measured stops as a program wrote them."""
    names = ["joint", "category", "speed", "time", "distance", *dict.fromkeys(dice.some(_MORE, 4))]
    if dice.odd(3):
        names.remove(dice.any(names))
    if dice.odd(3):
        dice.shuffle(names)
    head = [_headed(name, dice) for name in names]
    joints = dice.some(mechanism.coordinates, 2) or ["j1"]
    rows = []
    for k in range(dice.any((2, 6, 9, 12, 12, 1, 0))):
        speed = 0.5 + 0.25 * k
        usual = {
            "joint": dice.name(joints),
            "category": dice.any(("0", "0", "0", "1")),
            "speed": dice.number(speed),
            "time": dice.number(0.1 + 0.05 * speed),
            "distance": dice.number(0.05 * speed + 0.03 * speed**2),
            "sense": dice.any(("1", "-1")),
            "payload": dice.number(dice.any((0.0, 5.0))),
            "repeats": dice.any(("1", "3")),
            "time_spread": dice.number(0.01),
        }
        rows.append([usual.get(name, dice.number(0.5)) for name in names])
    return written([head, *rows], dice)


def profile(dice: Dice) -> bytes:
    """Return the motion of a driver as a program wrote it."""
    names = ["time", "value", "rate", "acceleration"][: dice.any((2, 2, 3, 4, 1))]
    rows = [[_headed(name, dice) for name in names]]
    for k in range(dice.any((2, 3, 5, 8, 1, 0))):
        # a time that stands still or goes back is not a motion
        t = 0.004 * (k if not dice.odd(2) else dice.any((0, -1, k - 1)))
        rows.append([dice.number(value) for value in (t, 25 * t**2, 50 * t, 50.0)[: len(names)]])
    return written(rows, dice)


def recorded(mechanism: Sketch, dice: Dice) -> bytes:
    """Return a recorded motion as a program wrote it."""
    head = ["time", *mechanism.coordinates]
    rows = [
        [dice.number(0.01 * k), *(dice.number(0.1 * k) for _ in head[1:])] for k in range(dice.any((3, 6)))
    ]
    return written([head, *rows], dice)


def _headed(name: str, dice: Dice) -> str:
    unit = dice.any(_UNITS.get(name, ("",))) if dice.chance(0.4) else ""
    text = f"{name} [{unit}]" if unit else name
    if dice.odd(2):
        text = dice.any((text.upper(), f" {text} ", f"{name} []", f"{name} [", f"[{unit}]", dice.word()))
    return text


def written(rows: Sequence[Sequence[str]], dice: Dice) -> bytes:
    """Return rows as bytes, in the way of one program or another."""
    table = [list(row) for row in rows]
    for _ in range(dice.any((0, 0, 1, 1, 2)) if dice.wild else 0):
        row = dice.any(table)
        if row:
            row[dice.randrange(len(row))] = dice.any(_CELLS)
    separator, comma = dice.any(
        ((",", False), (",", False), (";", True), (";", False), ("\t", True), ("|", False))
    )
    if dice.odd(2):
        comma = not comma
    lines = [separator.join(_cell(cell, separator, comma, dice) for cell in row) for row in table]
    if dice.chance(0.15):
        # Excel leaves columns that are empty
        lines = [line + separator * dice.any((1, 3)) for line in lines]
    if dice.chance(0.1):
        lines.insert(0, f"sep={dice.any((separator, separator, ',', ':'))}")
    if dice.chance(0.1):
        lines.insert(dice.randrange(len(lines) + 1), dice.any(("# note", "", "#", '"# note"', separator * 9)))
    text = dice.any(("\n", "\n", "\r\n", "\r")).join(lines) + dice.any(("\n", "", "\n\n"))
    encoding = dice.any(("utf-8", "utf-8", "utf-8-sig", "utf-16", "utf-16-be", "latin-1", "cp1252", "utf-32"))
    content = text.encode(encoding, "replace")
    if dice.odd(2):
        at = dice.randrange(len(content) + 1)
        content = content[:at] + dice.any((b"\xff", b"\0", b'"', b"\xfe\xff", b"\r", b"\x1a")) + content[at:]
    return content[: dice.randrange(len(content) + 1)] if dice.odd(0.5) else content


def _cell(text: str, separator: str, comma: bool, dice: Dice) -> str:
    if comma and text.replace(".", "", 1).lstrip("-").isdecimal():
        text = text.replace(".", ",")
    if separator in text and not dice.odd(2):
        return '"' + text.replace('"', '""') + '"'
    return f'"{text}"' if dice.chance(0.02) else text
