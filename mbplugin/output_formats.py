"""The formats of output files by their ending: the one table, for all commands and for what results save."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mbplugin.errors import BadUsage

#: Endings and the format that each means.
ENDINGS: dict[str, str] = {
    ".txt": "text",
    ".json": "json",
    ".html": "html",
    ".htm": "html",
    ".pdf": "pdf",
    ".xlsx": "xlsx",
    ".csv": "csv",
    ".toml": "toml",
    ".sarif": "sarif",
    ".xml": "junit",
}
#: Formats that are no text, so that they go to files only.
BINARY = ("pdf", "xlsx")
#: Endings of files that hold any text, or any XML, so that another stated format may go there.
_OPEN = (".txt", ".xml")


def endings_of(formats: Sequence[str]) -> list[str]:
    """Return the endings that mean one of these formats."""
    return [ending for ending, meant in ENDINGS.items() if meant in formats]


def format_of(
    path: Path, formats: Sequence[str], what: str, own: Sequence[str] = (), remedy: str = ""
) -> str:
    """Return the format that the ending of a file means.

    Parameters
    ----------
    path : Path
    formats : sequence of str
        Those that are offered.
    what : str
        Names the file in the error, such as ``--output``.
    own : sequence of str
        Endings of other formats that may stand there, for the error.
    remedy : str
        What else to do, for the error.

    Raises
    ------
    BadUsage
        An ending that means none of them.
    """
    ending = path.suffix.lower()
    meant = ENDINGS.get(ending)
    if meant is None or meant not in formats:
        raise BadUsage(
            f"{what} is {str(path)!r}, and {ending or 'a file without ending'} is none of the formats here",
            expected=f"a file that ends in {' or '.join(dict.fromkeys((*own, *endings_of(formats))))}",
            remedy=remedy,
        )
    return meant


def require_agreement(path: Path, stated: str) -> None:
    """Require that the ending of ``--output`` does not mean another format than the stated one.

    Raises
    ------
    BadUsage
    """
    ending = path.suffix.lower()
    meant = ENDINGS.get(ending, stated)
    if meant != stated and ending not in _OPEN:
        raise BadUsage(
            f"--output is {str(path)!r}, but --output-format is {stated}",
            expected=f"--output-format {meant}, or another ending",
        )
