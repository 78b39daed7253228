"""The constraint matrix, rules, settings and comparisons with earlier reports as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.constraints.tolerance import DEFAULT_TOLERANCE
from mbplugin.linter.config import DEFAULT, Settings
from mbplugin.phrases import counted, visible
from mbplugin.report.against import Comparison, change_words, input_words, title_of
from mbplugin.report.formats import ROUNDING
from mbplugin.report.text import PLAIN_WIDTH, Line, filled, wrapped

if TYPE_CHECKING:
    from mbplugin.constraints.rank import ConstraintMatrix
    from mbplugin.linter.rule import Rule

#: Start of a line that is not running text: indented, a list item, or the underline of a title.
_AS_WRITTEN = re.compile(r"\s|[-*] |\d+\. |-+$")
_UNSET = {
    "select": "every rule that is on by default",
    "extend-select": "no rule",
    "ignore": "no rule",
    "tolerance": f"{DEFAULT_TOLERANCE:g} where the scene states none",
}


def matrix_lines(matrix: ConstraintMatrix, width: int = PLAIN_WIDTH) -> Iterator[Line]:
    """Yield a summary line, then each row as its label and terms; terms that are rounding errors are left out."""
    m, n = matrix.C.shape
    gap = " and ".join(_gaps(matrix))
    title = (
        f"{matrix.mechanism.name}: {m} rows ({matrix.holonomic_rows} holonomic), {counted(n, 'column')},"
        f" {matrix.C.nnz} nonzeros, largest position residual {gap}"
    )
    yield from map(Line, wrapped(title, width, "", "  "))
    labels = [visible(str(row)) for row in matrix.rows]
    wide = max(map(len, labels), default=0)
    # long labels get a separate line, as they leave no space for the terms
    beside = wide <= width // 3
    rest = " " * (wide + 2 if beside else 4)
    for k, label in enumerate(labels):
        pieces = [piece for term in _terms(matrix, k) for piece in (visible(term), " ")]
        if not beside:
            yield Line(label)
        yield from map(Line, filled([*pieces, "= 0"], width, f"{label:<{wide}}  " if beside else rest, rest))


def _gaps(matrix: ConstraintMatrix) -> Iterator[str]:
    """Yield the largest position residual of translational rows (m) and of rotational rows (rad)."""
    couplings = {c.name: c.terms[0].freedom for c in matrix.mechanism.couplings if c.terms}
    turns = np.array([couplings.get(row[0], row[1])[0] == "r" for row in matrix.rows], dtype=bool)
    for unit, own in (("m", ~turns), ("rad", turns)):
        if own.any():
            yield f"{float(np.abs(matrix.Phi[own]).max()):.3g} {unit}"


def _terms(matrix: ConstraintMatrix, k: int) -> Iterator[str]:
    """Yield the terms of a row and its constant, without those that are rounding relative to the largest."""
    start, stop = matrix.C.indptr[k : k + 2]
    values, constant = matrix.C.data[start:stop].tolist(), float(matrix.b[k])
    least = ROUNDING * max(map(abs, (*values, constant)), default=0.0)
    found = [
        f"{value:+.4g} {'.'.join(matrix.columns[j])}"
        for j, value in zip(matrix.C.indices[start:stop], values, strict=True)
        if abs(value) > least
    ]
    yield from found or ["0"]
    if abs(constant) > least:
        yield f"{constant:+.4g}"


# Rules as text: a list of rules, and the documentation of one.


def rule_lines(rules: Sequence[Rule], width: int = PLAIN_WIDTH) -> Iterator[Line]:
    """Yield the code, name, severity and summary of each rule."""
    for rule in rules:
        said = f"{rule.name} ({_grade(rule)}): {rule.summary}"
        for text in wrapped(said, width, f"{rule.code}  ", "       "):
            yield Line(text, "bold" if text.startswith(rule.code) else "", len(rule.code))


def documentation_lines(rule: Rule, width: int = PLAIN_WIDTH) -> Iterator[Line]:
    """Yield the documentation of a rule, with its paragraphs wrapped to ``width``."""
    yield from (Line(text, "bold") for text in wrapped(f"{rule.code} {rule.name} ({_grade(rule)})", width))
    for paragraph in rule.documentation.split("\n\n"):
        yield Line()
        lines = paragraph.splitlines()
        if len(lines) > 1 and set(lines[1]) == {"-"}:
            yield from map(Line, lines[:2])
            lines = lines[2:]
        if any(map(_AS_WRITTEN.match, lines)):
            yield from map(Line, lines)
        else:
            yield from map(Line, wrapped(" ".join(lines), width))
    from mbplugin.linter.fixes.proposals import fix_of

    yield Line()
    yield from map(Line, ("Fix", "---", *wrapped(fix_of(rule.code), width)))


def _grade(rule: Rule) -> str:
    return f"{rule.severity}, off" if rule.opt_in else rule.severity


# The settings that apply to a file, as text.


def settings_text(settings: Settings) -> str:
    """Return each setting with its origin."""
    return "".join(f"{visible(line)}\n" for line in _lines(settings))


def _lines(settings: Settings) -> Iterator[str]:
    yield f"configuration: {settings.file or 'none above this file'}"
    for name, (value, origin) in settings.values.items():
        unset = value in (None, "", (), {})
        shown = _UNSET.get(name, "none") if unset else _shown(value)
        yield f"{name}: {shown} ({DEFAULT if unset else origin})"
    for ignore in settings.ignores:
        files = "" if ignore.files == "*" else f" in {ignore.files}"
        place = f"{ignore.config}:{ignore.line}"
        yield f"ignored: {ignore.rule} for {ignore.element}{files}, because {ignore.reason} ({place})"


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {entry}" for name, entry in value.items())
    return str(value) if isinstance(value, str | float) else ", ".join(value)


# The differences from an earlier report as text.


def against_lines(comparison: Comparison, width: int) -> Iterator[Line]:
    """Yield a heading, the inputs that differ, and a line for each key whose values differ."""
    yield Line()
    for line in wrapped(title_of(comparison), width):
        yield Line(line, "bold")
    for changed in comparison.inputs:
        yield from map(Line, wrapped(input_words(changed), width, "  ", "    "))
    for change in comparison.changes:
        key, count, most = change_words(change)
        yield from map(Line, wrapped(f"{key}: {count} {most}", width, "  ", "    "))
