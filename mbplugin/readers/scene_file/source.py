"""The text of a scene file: its values, and the line and literal at which each was written."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from mbplugin.errors import BadScene, MbPluginError
from mbplugin.model.scene import Origin
from mbplugin.model.spatial import Array, Pose, rotation_from_rpy
from mbplugin.readers.common.numbers import rounded_angle

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

import numpy as np

#: The line of a table: one bracket or two, and its name.
TOML_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"^\s*(?:\"([^\"]*)\"|'([^']*)'|([A-Za-z0-9_-]+))[^=]*=")
_LINE_OF_ERROR = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)")
#: What stands where a value is expected, of a text without quotes.
_WORD = re.compile(r"[A-Za-z_][\w./-]{,60}")

#: Characters of a scene: the parser takes a second for three million.
_LONGEST = 10_000_000
#: Characters of what the parser says: it names keys.
_LONGEST_REASON = 200
#: Dots in one word of a scene; the parser's time grows with their square.
_DEEPEST = 1000


@dataclass(frozen=True, eq=False)
class SceneSource:
    """A parsed scene file that knows where its tables and keys are.

    Parameters
    ----------
    file : str
    data : dict
        The values.
    tables : mapping of (table, index) to line
        The index of a plain table is 0; the table of the top level is ``""``.
    keys : mapping of (table, index, key) to (line, literal)
    snap : bool
        Read rounded angles as what they stand for.
    """

    file: str
    data: dict[str, Any]
    tables: dict[tuple[str, int], int]
    keys: dict[tuple[str, int, str], tuple[int, str]]
    snap: bool = False

    def origin(self, table: str, index: int = 0, key: str = "") -> Origin:
        """Return where a table or one of its keys was written; line 0 where that is not known."""
        line, text = self.keys.get((table, index, key), (0, ""))
        return Origin(self.file, line or self.tables.get((table, index), 0), text)

    def where(self, table: str, index: int = 0, key: str = "") -> str:
        """Return ``file:line`` of a table or one of its keys."""
        return str(self.origin(table, index, key))

    def pose(
        self, table: str, index: int, xyz: list[float] | None, rpy: list[float] | None, key: str
    ) -> Pose:
        """Return a pose; ``key`` names its angles, whose literals are snapped on request."""
        angles = np.array(rpy or [0.0, 0.0, 0.0], dtype=float)
        words = self.origin(table, index, key).text.split()
        if self.snap and len(words) == 3:
            for i, word in enumerate(words):
                if rounded := rounded_angle(word):
                    angles[i] = rounded.meant
        position: Array = np.array(xyz or [0.0, 0.0, 0.0], dtype=float)
        return Pose(rotation_from_rpy(angles), position)


def parse_scene(text: str, file: str, *, snap: bool = False) -> SceneSource:
    """Return the values of a TOML text with their lines.

    Raises
    ------
    BadScene
        The text is not TOML; with the line.
    """
    text = text.lstrip("\ufeff")
    if len(text) > _LONGEST:
        raise BadScene(
            f"the scene is longer than {_LONGEST // 10**6} million characters",
            where=file,
            remedy="put long motions into CSV files, and name them in [[driver]]",
        )
    if any(word.count(".") > _DEEPEST for word in text.split()):
        raise _too_deep(file)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _LINE_OF_ERROR.search(str(error))
        line = int(place.group(1)) if place and place.group(1) else text.rstrip().count("\n") + 1
        reason = _LINE_OF_ERROR.sub("", str(error)).rstrip(".")[:_LONGEST_REASON]
        remedy = "correct the file there"
        if "immutable" in reason:
            remedy = (
                "write either [[pair]] for each pair or pair = […] for all, and the like for other tables"
            )
        elif (
            place
            and place.group(2)
            and (word := _WORD.match(text.split("\n")[line - 1], int(place.group(2)) - 1))
        ):
            reason, remedy = f"{reason} {word[0]}", f'write a text in quotes: "{word[0]}"'
        raise BadScene(
            f"the TOML is broken: {reason[:1].lower() + reason[1:]}", where=f"{file}:{line}", remedy=remedy
        ) from None
    except RecursionError:
        raise _too_deep(file) from None
    except ValueError:
        # the one error that is not the parser's own: Python refuses to read so long an integer
        raise BadScene(
            "the TOML has an integer of thousands of digits", where=file, expected="numbers"
        ) from None
    tables, keys = _scan(text.splitlines())
    return SceneSource(file, data, tables, keys, snap)


def _too_deep(file: str) -> BadScene:
    return BadScene("the TOML nests too deeply", where=file, expected="the tables of a scene")


def _scan(
    lines: list[str],
) -> tuple[dict[tuple[str, int], int], dict[tuple[str, int, str], tuple[int, str]]]:
    """Find headers and keys line by line; a text over several lines may hide some, never invent."""
    tables: dict[tuple[str, int], int] = {("", 0): 1}
    keys: dict[tuple[str, int, str], tuple[int, str]] = {}
    counts: dict[str, int] = {}
    table, index = "", 0
    for number, line in enumerate(lines, start=1):
        if header := TOML_HEADER.match(line):
            table = header.group(2).split(".")[0].strip("\"' ")
            if header.group(1) == "[[" and "." not in header.group(2):
                counts[table] = counts.get(table, -1) + 1
            index = counts.get(table, 0)
            tables.setdefault((table, index), number)
        elif key := _KEY.match(line):
            name = next(group for group in key.groups() if group is not None)
            keys.setdefault((table, index, name), (number, _literal(lines, number - 1, key.end())))
    return tables, keys


def _literal(lines: list[str], row: int, column: int) -> str:
    """Return a value's text without brackets, commas and comments, numbers parted by blanks."""
    text, depth = "", 0
    for line in [lines[row][column:], *lines[row + 1 : row + 20]]:
        bare = line.split("#", 1)[0]
        text += " " + bare
        depth += bare.count("[") - bare.count("]")
        if depth <= 0:
            break
    return " ".join(re.sub(r"[\[\],]", " ", text).split())


@contextmanager
def located(where: str) -> Iterator[None]:
    """Add a place to errors of the block that have none."""
    try:
        yield
    except MbPluginError as error:
        if error.where:
            raise
        raise type(error)(
            error.what, where=where, expected=error.expected, remedy=error.remedy, code=error.code
        ) from None
