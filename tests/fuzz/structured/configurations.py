"""Configuration files: keys that are known with values of every kind, keys that are not, and broken TOML."""

from __future__ import annotations

from typing import Any

from ..words import PIECES, VALUES
from .dice import Dice
from .tables import Literal, spoil_tables, toml

_CODES = ("MB", "MB2", "MB201", "MB104", "MB1", "mb3", "MB999", "nonpositive-mass", "MB135", "")
_PATTERNS = (
    "*.urdf",
    "**/*",
    "*",
    "model.urdf",
    "arm/**",
    "[",
    "**",
    "../*",
    "/",
    "a\\b",
    "{a,b}",
    "*" * 300,
)
_KINDS: tuple[Any, ...] = (
    *(True, False, 0, 1, -1, 2**63, 10**30, 0.5, float("nan"), float("inf"), "", "error", "x", [], [[]], {}),
    *([1], ["MB"], [True], {"a": 1}, {"a": {"b": []}}, [{"rule": "MB201"}], ["MB", 1], Literal("1979-05-27")),
    *(Literal("07:32:00"), Literal('"""\n"""'), Literal("0x1F"), Literal("1_000"), Literal("-nan")),
)


def configuration(dice: Dice) -> bytes:
    """Return an ``mbplugin.toml``: mostly one that is right, else wild keys and types."""
    root = {key: value for key, value in _meant(dice).items() if dice.chance(0.3)}
    for _ in range(dice.any((0, 0, 0, 1, 2))):
        root[dice.any((*_KEYS, "unknown", dice.word()))] = dice.any(_KINDS)
    spoil_tables(root, dice)
    content = toml(root, dice).encode()
    if dice.odd(3):
        at = dice.randrange(len(content) + 1)
        content = (
            content[:at] + dice.any((*PIECES, *VALUES, b"\n[a.b.c]\n", b"\nselect.x = 1\n")) + content[at:]
        )
    if dice.odd():
        content = dice.any((content[: dice.randrange(len(content) + 1)], content.decode().encode("utf-16")))
    return content


def project(dice: Dice) -> bytes:
    """Return a ``pyproject.toml`` with the table of the linter, or with another one in its place."""
    head = dice.any(
        ("[tool.mbplugin]", "[tool.mbplugin]", "[[tool.mbplugin]]", "[tool]\nmbplugin = 1", "[tool.x]")
    )
    return head.encode() + b"\n" + configuration(dice)


def _meant(dice: Dice) -> dict[str, Any]:
    """Return every key with a value that it may have."""
    waived = {
        "rule": dice.any(_CODES),
        "element": dice.any(("*", "j1", "b?")),
        "reason": "known",
        "file": "*",
    }
    return {
        "select": [dice.name(_CODES) for _ in range(dice.any((1, 2, 0)))],
        "extend-select": [dice.name(("MB135", "MB1"))],
        "targets": [dice.any(("mujoco", "gazebo", "drake", "isaac", "newton", "pybullet"))],
        "ignore": dice.any(([dice.name(_CODES)], [waived], ["MB104", waived])),
        "waive": [{key: value for key, value in waived.items() if not dice.odd()}],
        "fail-on": dice.name(("error", "warning", "note")),
        "tolerance": dice.any((1e-4, 1e-6, 1, 0.0, -1e-4, 1e-320)),
        "misfit-limit": dice.any((100.0, 5, 0, 1e-300, 1e300)),
        "package-dirs": [dice.any((".", "..", "/", "arm", "nowhere", "~", "a\0b"))],
        "exclude": [dice.any(_PATTERNS) for _ in range(dice.any((1, 2)))],
        "units": {"angle": dice.any(("deg", "rad", "rev", "x")), "length": dice.any(("mm", "m", "um"))},
        "xacro": {
            "unsafe": dice.any((True, False)),
            "arguments": {dice.any(_PATTERNS): {"size": dice.any(_KINDS)}},
        },
        "scenes": {"model.urdf": dice.any(("model.scene.toml", "model.urdf", "nowhere", "", "/etc/passwd"))},
    }


_KEYS = (
    *("select", "extend-select", "targets", "ignore", "waive", "fail-on", "tolerance", "misfit-limit"),
    *("package-dirs", "exclude", "units", "xacro", "scenes"),
)
