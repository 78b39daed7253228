"""Control characters made visible: one place for every text that is printed."""

from __future__ import annotations


def visible(text: str) -> str:
    r"""Return a text in one line, with escapes for what does not print.

    Control characters, line breaks, and marks that change the direction of reading become ``\u001b``,
    ``\u000a``, ``\u202e``; names in files may hold any of them, and neither colour nor move a cursor here,
    nor begin a line of their own.
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else _escaped(c) for c in text)


def one_line(error: Exception) -> str:
    """Return what an error of a library says, its lines joined by blanks."""
    return " ".join(str(error).split())


def _escaped(character: str) -> str:
    number = ord(character)
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
