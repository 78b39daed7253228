"""What ``mbplugin init`` found and wrote as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mbplugin.phrases import counted, listed, visible
from mbplugin.report.text import PLAIN_WIDTH, Line, wrapped

if TYPE_CHECKING:
    from mbplugin.initialization.contents import NewFile
    from mbplugin.initialization.survey import Survey

#: Width of the names of what is listed, and most files that are listed with their reasons.
_NAMES, _MOST = 9, 12
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
    yield from _row("findings", _findings(found), width)
    new = [one.name for one in files if not one.exists]
    yield from _row("to write" if dry_run else "written", ", ".join(new) or "nothing", width)
    for one in files:
        if one.exists:
            rest = _place(one.name) if one.addition else "it has all"
            yield from _row("exists", f"{one.name}, left as it is; {rest}", width)
            # to be copied
            yield from (Line(f"    {line}", "yellow") for line in one.addition.splitlines())
    yield from _next(found, files, dry_run, width)


def _findings(found: Survey) -> str:
    known = len(found.findings) - len(found.lasting)
    parts = [f"{counted(known, 'finding')}, known in the baseline from now on" if known else "none"]
    if found.lasting:
        parts.append(
            f"{len(found.lasting)} that no baseline can hold and that fail: {visible(found.lasting[0].message)}"
        )
    return "; ".join(parts)


def _reasons(name: str, reasons: Sequence[tuple[str, str]], width: int) -> Iterator[Line]:
    for k, (file, reason) in enumerate(reasons[:_MOST]):
        yield from _row(name if k == 0 else "", f"{file}: {reason}", width)
    if len(reasons) > _MOST:
        yield from _row("", f"and {len(reasons) - _MOST} more (--output-format json has all)", width)


def _place(name: str) -> str:
    return "add to it, above its first table:" if name == "mbplugin.toml" else "add to it:"


def _next(found: Survey, files: Sequence[NewFile], dry_run: bool, width: int) -> Iterator[Line]:
    from mbplugin.initialization.contents import has_placeholder

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


def _row(name: str, text: str, width: int) -> Iterator[Line]:
    yield from map(Line, wrapped(text, width, f"  {name:<{_NAMES}} ", " " * (_NAMES + 3)))
