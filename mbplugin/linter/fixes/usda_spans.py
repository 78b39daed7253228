"""Where the content of a prim begins in a text layer of USD (``.usda``), on its bytes as they are."""

from __future__ import annotations

import re

from mbplugin.linter.fixes.edits import Edit, SourceText

_PRIM = re.compile(r"[ \t]*(?:def|over|class)\b")
#: What hides brackets: strings, names of assets and comments.
_HIDDEN = re.compile(
    r"\"\"\".*?\"\"\"|'''.*?'''|\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|@@@.*?@@@|@[^@\n]*@|#[^\n]*",
    re.DOTALL,
)


def content_of_prim(source: SourceText, line: int) -> int:
    """Return the offset behind the ``{`` of the prim that is declared in a line; -1 if there is none."""
    text, start = source.text, 0
    for _ in range(line - 1):
        start = text.find("\n", start) + 1
        if not start:
            return -1
    if line < 1 or not _PRIM.match(text, start):
        return -1
    position, metadata = start, 0
    while position < len(text):
        if hidden := _HIDDEN.match(text, position):
            position = hidden.end()
            continue
        mark = text[position]
        metadata += (mark == "(") - (mark == ")")
        position += 1
        if mark == "{" and not metadata:
            return position
    return -1


def with_statement(source: SourceText, content: int, statement: str) -> Edit:
    """Return the edit that puts a statement first in the content of a prim, indented as the next one.

    Parameters
    ----------
    source : SourceText
    content : int
        As :func:`content_of_prim` returns it.
    statement : str
    """
    text = source.text
    following = content
    while following < len(text) and text[following] in " \t\r\n":
        following += 1
    if "\n" in text[content:following] and text[following : following + 1] not in ("", "}"):
        indentation = source.indentation(following)
    else:
        indentation = source.indentation(content) + "    "
    return Edit(source.file, content, content, f"{source.line_end}{indentation}{statement}")
