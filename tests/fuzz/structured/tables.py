"""Tables of TOML, written after some of them were spoiled."""

from __future__ import annotations

from math import isfinite
from typing import Any

from ..words import VALUES, WORDS
from .dice import Dice

Table = dict[str, Any]


class Literal(str):
    """A text that is written as it is."""


def toml(root: dict[str, Table | list[Table] | Any], dice: Dice) -> str:
    """Return the text of a file: single values first, then tables, then arrays of tables."""
    singles = [f"{key} = {_value(value)}" for key, value in root.items() if not _is_table(value)]
    blocks = ["\n".join(singles)]
    for key, value in root.items():
        if isinstance(value, dict):
            blocks.append(_block(f"[{key}]", value))
        elif _is_table(value):
            blocks += [_block(f"[[{key}]]", one) for one in value]
    if dice.odd():
        dice.shuffle(blocks)
    return "\n\n".join(blocks) + "\n"


def spoil_tables(root: dict[str, Any], dice: Dice) -> None:
    """Spoil some of the tables: none of most files."""
    for _ in range(dice.any((0, 0, 1, 1, 2, 3) if dice.wild else (*(0,) * 11, 1))):
        tables = [one for value in root.values() if _is_table(value) for one in _each(value)]
        tables = [one for one in tables if one]
        if not tables:
            return
        table = dice.any(tables)
        key = dice.any(sorted(table))
        way = dice.any(("drop", "value", "other", "rename", "double", "word"))
        if way == "drop":
            del table[key]
        elif way == "value":
            table[key] = Literal(dice.any(VALUES).decode())
        elif way == "other":
            others = [one[key] for one in tables if key in one]
            table[key] = dice.any(others)
        elif way == "rename":
            table[dice.any(("unknown", "name", "joint", "body"))] = table.pop(key)
        elif way == "word":
            table[key] = dice.any(WORDS)
        else:
            for value in root.values():
                if isinstance(value, list) and any(one is table for one in value):
                    value.append(dict(table))
                    break


def _each(value: Any) -> list[Table]:
    return [value] if isinstance(value, dict) else value


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and bool(value) and isinstance(value[0], dict))


def _block(head: str, table: Table) -> str:
    return "\n".join([head, *(f"{_key(key)} = {_value(value)}" for key, value in table.items())])


def _key(text: str) -> str:
    return text if text.isidentifier() and text.isascii() else _quoted(text)


def _value(value: Any) -> str:
    if isinstance(value, Literal):
        return str(value)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value) if isfinite(value) else {"inf": "inf", "-inf": "-inf"}.get(str(value), "nan")
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{_key(key)} = {_value(one)}" for key, one in value.items()) + " }"
    return str(value) if isinstance(value, int) else _quoted(str(value))


def _quoted(text: str) -> str:
    kept = "".join(
        c if c.isprintable() and c not in '"\\' else f"\\u{ord(c):04x}" for c in text if ord(c) < 0x10000
    )
    return f'"{kept}"'
