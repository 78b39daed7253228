"""The constraint matrix, rules, settings, installations and comparisons with earlier reports as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.errors import command_for
from mbplugin.linter import DEFAULT, Settings
from mbplugin.phrases import counted, listed, visible
from mbplugin.report import ROUNDING
from mbplugin.report.against import Comparison, change_words, input_words, title_of
from mbplugin.report.text import PLAIN_WIDTH, Line, filled, wrapped

if TYPE_CHECKING:
    from mbplugin.constraints.rank import ConstraintMatrix
    from mbplugin.initialization import NewFile, Survey
    from mbplugin.installation import Cache, Facility, Installation, Package
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
        shown = _UNSET.get(name, "none") if unset else _setting_text(value)
        yield f"{name}: {shown} ({DEFAULT if unset else origin})"
    for ignore in settings.ignores:
        files = "" if ignore.files == "*" else f" in {ignore.files}"
        place = f"{ignore.config}:{ignore.line}"
        yield f"ignored: {ignore.rule} for {ignore.element}{files}, because {ignore.reason} ({place})"


def _setting_text(value: Any) -> str:
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


#: Width of the names of what is listed.
_NAMES = 12


def installation_lines(found: Installation, width: int = PLAIN_WIDTH) -> Iterator[Line]:
    """Yield the verdict, the working parts with their versions, and the install command of each incomplete extra."""
    verdict = "WORKS" if found.works else "IS BROKEN"
    title = f"mbplugin {found.version} {verdict}: Python {found.python}, {found.system}"
    yield from (Line(text, "bold") for text in wrapped(title, width, "", "  "))
    yield from _row("core", ", ".join(map(_named, filter(_works, found.core))), width, _NAMES)
    if working := ", ".join(map(_named, filter(_works, found.optional))):
        yield from _row("optional", working, width, _NAMES)
    if complete := ", ".join(one.name for one in found.extras if not one.lacks):
        yield from _row("extras", complete, width, _NAMES)
    yield from _row("git", f"{_part_text(found.git)}; display: {_part_text(found.display)}", width, _NAMES)
    yield from _row("browser", _part_text(found.browser), width, _NAMES)
    yield from _row("caches", _caches_text(found.caches), width, _NAMES)
    for package in (*found.core, *found.optional):
        # what is only not installed is listed with the command for it
        if package.installed and not package.works:
            yield from _row("broken", f"{package.name} {package.reason}", width, _NAMES)
    for name, command in _wanted(found):
        # a command stays on one line, to be copied
        yield Line(f"  {f'no {name}':<{_NAMES}} {command}", "yellow", 2 + _NAMES)


def _wanted(found: Installation) -> Iterator[tuple[str, str]]:
    """Yield the missing parts, and the command that installs them."""
    if broken := tuple(package.name for package in found.core if not package.works):
        yield "core", command_for(broken)
    for extra in found.extras:
        if extra.lacks:
            yield extra.name, extra.install
    for package in found.optional:
        if not package.works and not package.extras:
            yield package.name, command_for((package.name,))


def _works(package: Package) -> bool:
    return package.works


def _named(package: Package) -> str:
    return f"{package.name} {package.version}".strip()


def _part_text(one: Facility) -> str:
    return one.what if one.works else f"no, {one.what}"


def _caches_text(caches: Sequence[Cache]) -> str:
    if not caches:
        return "no folder for them"
    sizes = [f"{one.content} {_state(one)}" for one in caches]
    return f"{min((one.folder for one in caches), key=len)}: {', '.join(sizes)}"


def _state(cache: Cache) -> str:
    if cache.reason:
        return f"not used, since {cache.folder} {cache.reason}"
    return f"{cache.size / 1e6:.1f} MB" if cache.exists else "none yet"


#: Width of the names of what is listed, and most files that are listed with their reasons.
_FIRST_COLUMN, _MOST_FILES = 9, 12
_HOSTS = {
    "github": "a remote on GitHub",
    "gitlab": "a remote on GitLab",
    "other": "no remote on GitHub or GitLab",
}


def initialization_lines(
    found: Survey, files: Sequence[NewFile], dry_run: bool, width: int = PLAIN_WIDTH
) -> Iterator[Line]:
    """Yield the files found, those excluded and why, those written or to be completed, and the next step."""
    kind = f"a git repository with {_HOSTS[found.host]}" if found.in_git else "in no git repository"
    yield from (Line(text, "bold") for text in wrapped(f"{found.root}: {kind}", width, "", "  "))
    names = [report.source for report in found.reports]
    yield from _row("robots", f"{len(names)}: {listed(names, 6)}", width)
    yield from _reasons("excluded", [(one.file, one.reason) for one in found.excluded], width)
    yield from _reasons("skipped", found.skipped, width)
    known = len(found.findings) - len(found.lasting)
    parts = [f"{counted(known, 'finding')}, known in the baseline from now on" if known else "none"]
    if found.lasting:
        parts.append(
            f"{len(found.lasting)} that no baseline can hold and that fail: {visible(found.lasting[0].message)}"
        )
    yield from _row("findings", "; ".join(parts), width)
    new = [one.name for one in files if not one.exists]
    yield from _row("to write" if dry_run else "written", ", ".join(new) or "nothing", width)
    for one in files:
        if one.exists:
            rest = "it has all"
            if one.addition:
                rest = f"add to it{', above its first table' * (one.name == 'mbplugin.toml')}:"
            yield from _row("exists", f"{one.name}, left as it is; {rest}", width)
            # to be copied
            yield from (Line(f"    {line}", "yellow") for line in one.addition.splitlines())
    yield from _next(found, files, dry_run, width)


def _reasons(name: str, reasons: Sequence[tuple[str, str]], width: int) -> Iterator[Line]:
    for k, (file, reason) in enumerate(reasons[:_MOST_FILES]):
        yield from _row(name if k == 0 else "", f"{file}: {reason}", width)
    if len(reasons) > _MOST_FILES:
        yield from _row("", f"and {len(reasons) - _MOST_FILES} more (--output-format json has all)", width)


def _next(found: Survey, files: Sequence[NewFile], dry_run: bool, width: int) -> Iterator[Line]:
    from mbplugin.initialization import has_placeholder

    if has_placeholder(files):
        other = "" if dry_run else ", or remove these files and start again"
        text = "the address of mbplugin's repository in hook and CI is a placeholder: put in the real one"
        yield from _row(
            "edit", f"{text}{other}{' with --source URL' if other else ', or state --source URL'}", width
        )
    if found.lasting:
        words = "mend what no baseline can hold; then mbplugin lint . exits 0"
    elif any(one.exists and one.addition for one in files):
        words = "after the additions, mbplugin lint . exits 0"
    else:
        words = "mbplugin lint . then exits 0" if dry_run else "mbplugin lint . exits 0 now"
    words += ", and 1 when a new defect comes"
    if not dry_run:
        words += "; commit the files"
    if not found.in_git:
        words += "; git init makes this folder a repository, which hook and CI need"
    yield from _row("next", words, width)


def _row(name: str, text: str, width: int, column: int = _FIRST_COLUMN) -> Iterator[Line]:
    """Yield a named text; the first column is ``column`` characters wide."""
    yield from map(Line, wrapped(text, width, f"  {name:<{column}} ", " " * (column + 3)))
