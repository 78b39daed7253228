"""The lines of the settings in a configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from mbplugin.readers.scene_file.source import TOML_HEADER

_KEY = re.compile(r"^\s*[\"']?([A-Za-z0-9_-]+)[\"']?\s*[.=]")


@dataclass(frozen=True)
class ConfigLines:
    """Lines from 1; 0 where a line is not known.

    Parameters
    ----------
    keys : mapping of str to int
        Of the top keys of the configuration.
    tables : mapping of str to list of int
        Of the headers ``[[waive]]`` and ``[[ignore]]``, by their key.
    """

    keys: Mapping[str, int]
    tables: Mapping[str, Sequence[int]]

    @classmethod
    def of(cls, text: str, table: Sequence[str] = ()) -> ConfigLines:
        """Return the lines of a text; ``table`` is the one that holds the configuration."""
        keys: dict[str, int] = {}
        tables: dict[str, list[int]] = {}
        inside: tuple[str, ...] = ()
        top = tuple(table)
        for number, line in enumerate(text.splitlines(), start=1):
            if header := TOML_HEADER.match(line):
                inside = tuple(part.strip(" \"'") for part in header.group(2).split("."))
                if len(inside) == len(top) + 1 and inside[:-1] == top and header.group(1) == "[[":
                    tables.setdefault(inside[-1], []).append(number)
                if len(inside) > len(top) and inside[: len(top)] == top:
                    keys.setdefault(inside[len(top)], number)
            elif inside == top and (key := _KEY.match(line)):
                keys.setdefault(key.group(1), number)
        return cls(keys, tables)

    def of_table(self, key: str, index: int) -> int:
        """Return the line of a waiver; that of the whole list where it is written as one."""
        lines = self.tables.get(key, ())
        return lines[index] if index < len(lines) else self.keys.get(key, 0)

    def of_place(self, place: Sequence[int | str]) -> int:
        """Return the line of a key, or of a waiver."""
        key, *rest = place
        if key in ("waive", "ignore") and rest and isinstance(rest[0], int):
            return self.of_table(str(key), rest[0])
        return self.keys.get(str(key), 0)
