"""Where prims are written: the lines of a text layer."""

from __future__ import annotations

import re
from pathlib import Path

from mbplugin.processes.rlimits import files_allowed

#: A prim opens with its specifier; the braces of its content may be many lines below.
_PRIM = re.compile(r'\s*(?:def|over|class)\s+(?:[\w]+\s+)?"([^"]+)"')
_MARK = re.compile(r"[(){}]")
#: What may hold such marks as text.
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|@[^@]*@|#.*')


def prim_lines(text: str) -> dict[str, int]:
    """Return the line, from 1, of each prim of a ``.usda`` text by its path; prims of variants count as composed."""
    found: dict[str, int] = {}
    names: list[str] = []
    # one entry per open brace: whether it opened the content of a prim
    opened: list[bool] = []
    waiting, metadata = False, 0
    for number, line in enumerate(text.splitlines(), start=1):
        match = None if metadata else _PRIM.match(line)
        if match is not None:
            names.append(match.group(1))
            found.setdefault("/" + "/".join(names), number)
            waiting = True
            line = line[match.end() :]
        for mark in _MARK.findall(_QUOTED.sub("", line)):
            if mark in "()":
                metadata = max(metadata + (1 if mark == "(" else -1), 0)
            elif not metadata and mark == "{":
                opened.append(waiting)
                waiting = False
            elif not metadata and opened and opened.pop() and names:
                names.pop()
    return found


class Lines:
    """The lines of the text layers of a stage, read once each."""

    def __init__(self, root: str, text: str | None) -> None:
        self._of: dict[str, dict[str, int]] = {} if text is None else {root: prim_lines(text)}

    def line(self, file: str, path: str) -> int:
        """Return the line of a prim in a layer; 0 where the layer is no text or the line is not known."""
        if file not in self._of:
            with files_allowed():
                self._of[file] = _lines_of(Path(file))
        return self._of[file].get(path, 0)


def _lines_of(file: Path) -> dict[str, int]:
    try:
        with file.open("rb") as stream:
            if stream.read(5) != b"#usda":
                return {}
        return prim_lines(file.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return {}
