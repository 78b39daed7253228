"""What earlier runs left: reports that are read back, and folders of sweeps; some of them damaged."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

from places import TESTS

from ..words import WORDS
from .dice import Dice

_KEPT = TESTS / "report" / "documents"
_RECORD = {"date": "2026-01-01T00:00:00Z", "version": "1", "command": "c", "robot": "r", "files": []}
#: What is put in the place of a value; a text is written as it is.
_OTHERS = (
    *(
        None,
        True,
        False,
        0,
        -1,
        99,
        1e308,
        5e-324,
        10**400,
        -(10**30),
        "",
        "x",
        [],
        {},
        [None],
        [[]],
        [1, "a"],
    ),
    *({"a": 1}, {"": None}, "nan", "2026-13-45", "\ud800", "\u202e", "a\nb", "=1+1", "x" * 5000),
)
_TEXTS = (
    *("", "[]", "null", "{}", "NaN", "[" * 3000, '{"a":' * 2000, '"\\ud800"', "\ufeff{}", "{}{}", "1" * 5000),
    *('{"schema_version": 1, "schema_version": 2}', '{"rows": Infinity}', "\0", "{'a': 1}"),
)


def kept(command: str, dice: Dice) -> bytes:
    """Return a report that a command wrote of an example, mostly damaged; ``{}`` where none is kept."""
    documents = _documents(command.replace("-", "_"))
    if not documents:
        return b"{}"
    document = json.loads(dice.any(documents))
    if isinstance(document, dict) and dice.chance(0.7):
        document["record"] = {**_RECORD, "command": f"mbplugin {command} x"}
    return damaged_json(document, dice)


@cache
def _documents(stem: str) -> tuple[str, ...]:
    return tuple(file.read_text(encoding="utf-8") for file in sorted(_KEPT.glob(f"{stem}*.json")))


def damaged_json(document: Any, dice: Dice) -> bytes:
    """Return a document as JSON, some of its nodes changed."""
    if dice.chance(0.05):
        return dice.any(_TEXTS).encode("utf-8", "surrogatepass")
    for _ in range(dice.any((0, 1, 1, 1, 2, 4))):
        _change(document, dice)
    text = json.dumps(document, ensure_ascii=dice.chance(0.8))
    content = text.encode(dice.any(("utf-8",) * 9 + ("utf-16",)), "surrogatepass")
    if dice.chance(0.05):
        at = dice.randrange(len(content) + 1)
        content = (
            content[:at] + dice.any((b"\xff", b"\0", b",", b"}", b"")) + content[at + dice.any((0, 1)) :]
        )
    return content[: dice.randrange(len(content))] if dice.chance(0.03) else content


def _change(document: Any, dice: Dice) -> None:
    """Change a node: walk down, seldom stopping early."""
    parent, key = None, None
    node = document
    while isinstance(node, (dict, list)) and node and (parent is None or dice.chance(0.75)):
        key = dice.any(list(node) if isinstance(node, dict) else range(len(node)))
        parent, node = node, node[key]
    if parent is None:
        return
    way = dice.any(("other", "other", "drop", "word", "rename", "double", "number"))
    if way == "drop":
        del parent[key]
    elif way == "double" and isinstance(parent, list):
        parent.append(copy.deepcopy(node))
    elif way == "rename" and isinstance(parent, dict):
        parent[dice.word()] = parent.pop(key)
    elif way == "number" and isinstance(node, (int, float)):
        factor = dice.any((-1, 1e300, 0, 1.0000001, 1e-300))
        # JSON has integers that no float holds
        parent[key] = node * (int(factor) if abs(node) > 1e300 else factor)
    elif way == "word":
        parent[key] = dice.any(WORDS)
    else:
        # a later change must not change what the next inputs are made of
        parent[key] = copy.deepcopy(dice.any(_OTHERS))


def damage(folder: Path, seed: str) -> None:
    """Damage what a first run has left in a folder: its report, and the folder of its sweep."""
    dice = Dice(seed)
    report = folder / "old.json"
    # a longer one is refused unread, and damaging it would take the time of the commands
    if report.is_file() and dice.chance(0.8) and report.stat().st_size < 16_000_000:
        try:
            report.write_bytes(damaged_json(json.loads(report.read_bytes()), dice))
        except ValueError:
            report.write_bytes(b"{}")
    stops = folder / "stops"
    if stops.is_dir():
        for _ in range(dice.any((0, 1, 1, 2))):
            _damage_sweep(stops, dice)


def _damage_sweep(stops: Path, dice: Dice) -> None:
    files = sorted(one for one in stops.iterdir() if one.is_file())
    if not files:
        return
    file = dice.any(files)
    content = file.read_bytes()
    way = dice.any(
        ("drop", "cut", "byte", "bytes", "empty", "folder", "text", "note", "other", "link", "long")
    )
    if way in ("drop", "folder", "link"):
        file.unlink()
        if way == "folder":
            file.mkdir()
        elif way == "link":
            file.symlink_to(dice.any(("/dev/zero", "nowhere", "/etc/passwd", ".")))
    elif way == "cut":
        file.write_bytes(content[: dice.randrange(len(content) + 1)])
    elif way in ("byte", "bytes") and content:
        changed = bytearray(content)
        for _ in range(1 if way == "byte" else 30):
            changed[dice.randrange(len(changed))] = dice.randrange(256)
        file.write_bytes(changed)
    elif way == "empty":
        file.write_bytes(b"")
    elif way == "text":
        file.write_bytes(dice.any(_TEXTS).encode("utf-8", "surrogatepass"))
    elif way == "note":
        note = stops / "sweep.json"
        if note.is_file():
            try:
                note.write_bytes(damaged_json(json.loads(note.read_bytes()), dice))
            except (ValueError, RecursionError):
                note.write_bytes(b"null")
    elif way == "other":
        (stops / dice.any(("part-000001.parquet", "part-x.parquet", "part-000099.parquet"))).write_bytes(
            content
        )
    elif way == "long":
        file.write_bytes(content + b"\0" * 3_000_000)
