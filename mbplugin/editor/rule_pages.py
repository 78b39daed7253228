"""The pages of rules as files of this machine, which editors open from a diagnostic."""

from __future__ import annotations

import contextlib
import os
import tempfile
from functools import cache
from pathlib import Path

from mbplugin.errors import UnknownName, UnreadableFile
from mbplugin.files import cache_root, read_bounded
from mbplugin.linter.fixes.proposals import fix_of
from mbplugin.linter.rule import Rule, find_rule

#: Longest page that is compared with what it would be, bytes.
_LONGEST = 1_000_000


@cache
def page_uri(code: str) -> str:
    """Return the URI of the page of a rule in the cache folder of this user; empty if it cannot be written."""
    root = cache_root()
    try:
        rule = find_rule(code)
    except UnknownName:
        return ""
    if root is None:
        return ""
    file = root / "mbplugin" / "rules" / f"{rule.code}.md"
    text = page_of(rule).encode()
    if not _holds(file, text):
        with contextlib.suppress(OSError):
            _write(file, text)
    return file.as_uri() if _holds(file, text) else ""


def page_of(rule: Rule) -> str:
    """Return the page of a rule in Markdown: its documentation, its severity and its fix."""
    facts = f"Severity: {rule.severity}. Fix: {fix_of(rule.code)}."
    return f"# {rule.code} {rule.name}\n\n{facts}\n\n{rule.documentation}\n"


def summary_of(code: str) -> str:
    """Return the summary of a rule in Markdown, with a link to its page; empty for a code that no rule has."""
    try:
        rule = find_rule(code)
    except UnknownName:
        return ""
    page = page_uri(code)
    title = f"[{rule.code} {rule.name}]({page})" if page else f"{rule.code} {rule.name}"
    return f"**{title}**: {rule.summary} Fix: {fix_of(rule.code)}."


def _holds(file: Path, text: bytes) -> bool:
    try:
        return read_bounded(file, _LONGEST) == text
    except UnreadableFile:
        return False


def _write(file: Path, text: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=file.parent)
    with os.fdopen(handle, "wb") as stream:
        stream.write(text)
    os.replace(temporary, file)  # noqa: PTH105
