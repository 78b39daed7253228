"""``--fix`` for several files: each model is mended by itself, then the configurations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

from mbplugin.errors import BadUsage, MbPluginError
from mbplugin.files import reading_instead
from mbplugin.linter import Settings
from mbplugin.linter.batch import UNUSED, lint_one_of_many
from mbplugin.linter.fixes import edits as text_edits
from mbplugin.linter.fixes.edits import Fix, SourceText, applied, text_range
from mbplugin.linter.fixes.proposals import proposed
from mbplugin.linter.fixes.run import Mending, Proposals, is_mendable, mended, patch_of, write
from mbplugin.linter.fixes.sources import Sources
from mbplugin.linter.rule import Finding, FindingFix
from mbplugin.linter.run import Report, Unmended
from mbplugin.linter.targets import Target, read_config, targets
from mbplugin.phrases import counted, listed
from mbplugin.readers.paths import real_path


@dataclass
class Fixing:
    """The fixes of a run over several files.

    Parameters
    ----------
    unsafe : bool
        Also make fixes that change the meaning of a file.
    dry_run : bool
        Write nothing.
    """

    unsafe: bool
    dry_run: bool
    contents: dict[str, bytes] = field(default_factory=dict)
    originals: dict[str, bytes] = field(default_factory=dict)
    made: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def patch(self) -> str:
        """The unified diff of all files."""
        return patch_of(self.made, self.originals, self.contents)

    def models(
        self,
        targets: Sequence[Target],
        reports: Sequence[Report],
        options: Mapping[str, Any],
        known: Callable[[Report], Report],
    ) -> list[Report]:
        """Mend the models of some reports, and return the reports on what the files are then.

        Parameters
        ----------
        targets, reports : sequence of Target and of Report
        options : mapping
            Options of ``lint``.
        known : callable
            Removes the findings of a baseline from a report, which are not mended.

        Raises
        ------
        BadUsage
            A model was read from stdin, or a file cannot be written.
        """
        found = []
        for target, report in zip(targets, reports, strict=True):
            if target.text is not None:
                raise BadUsage("--fix edits files", where=target.file, expected="a FILE, not stdin")
            if not is_mendable(known(report), unsafe=self.unsafe) or target.settings.xacro_unsafe:
                found.append(report)
                continue
            with reading_instead({str(real_path(file)): data for file, data in self.contents.items()}):
                mending = mended_target(target, options, unsafe=self.unsafe, known=known)
            self._take(mending.originals, mending.contents, mending.after.mended)
            self.notes += mending.notes
            if self.dry_run:
                found.append(replace(mending.before, unmended=mending.after.unmended))
            else:
                write(mending)
                found.append(mending.after)
        return found

    def waivers(self, reports: Sequence[Report]) -> list[Report]:
        """Remove the waivers that match nothing from configurations, and return the reports without them."""
        by_file: dict[str, list[Finding]] = {}
        for finding in (f for report in reports for f in report.findings if f.code == UNUSED):
            by_file.setdefault(finding.file, []).append(finding)
        results: dict[Finding | int, Finding | None] = {}
        unmended: dict[str, list[Unmended]] = {}
        linted = {
            real_path(name) for r in reports for name in (r.source, *(r.scene.files if r.scene else ()))
        }
        for file, findings in by_file.items():
            elsewhere = _not_linted(file, findings, linted)
            for finding in findings:
                if id(finding) in elsewhere:
                    unmended.setdefault(file, []).append(Unmended(finding, elsewhere[id(finding)]))
            findings = [finding for finding in findings if id(finding) not in elsewhere]
            mine, reason = self._configuration(file, findings)
            for finding in findings:
                if id(finding) in mine:
                    results[id(finding)] = mine[id(finding)] if self.dry_run else None
                elif reason:
                    unmended.setdefault(file, []).append(Unmended(finding, reason))
        return [_without(report, results, unmended, made=self.made) for report in reports]

    def _configuration(self, file: str, findings: Sequence[Finding]) -> tuple[dict[int, Finding], str]:
        """Return the mended findings of a configuration by identity, and why the others are not mended."""
        sources = Sources()
        source = sources.text(file)
        pairs = [(finding, fix) for finding in findings for fix in proposed(finding, sources, None)]
        if source is None or not pairs:
            return {}, "the waiver is not a table of its own"
        if reason := text_edits.why_not_edited(file, file):
            return {}, f"{file} is not edited: {reason}"
        data = applied(source, [edit for _, fix in pairs for edit in fix.edits])
        if not _only_without(file, data, [finding for finding, _ in pairs]):
            return {}, "rolled back, because another setting would change"
        if not self.dry_run:
            text_edits.write(file, source.data, data)
        made = {id(finding): _with_fix(finding, fix, source) for finding, fix in pairs}
        self._take({file: source.data}, {file: data}, tuple(made.values()))
        return made, "the waiver is not a table of its own"

    def _take(
        self, originals: Mapping[str, bytes], contents: Mapping[str, bytes], made: Sequence[Finding]
    ) -> None:
        # a file that several models include was perhaps edited for an earlier one
        for file, data in originals.items():
            self.originals.setdefault(file, data)
        self.contents |= contents
        self.made += made


def mended_target(
    target: Target,
    options: Mapping[str, Any],
    *,
    unsafe: bool,
    known: Callable[[Report], Report] = lambda report: report,
    propose: Proposals | None = None,
) -> Mending:
    """Return the tried and proved fixes of one model with its settings; nothing is written.

    Parameters
    ----------
    target : Target
    options : mapping
        Options of ``lint``.
    unsafe : bool
        Also make fixes that change the meaning of the file.
    known : callable
        Removes the findings of a baseline from a report.
    propose : callable, optional
        Yields the fixes of a finding that are tried; all by default.
    """
    every = replace(target.settings, select=(), ignore=(), extend_select=())
    return mended(
        lambda: known(lint_one_of_many(target, options)),
        partial(lint_one_of_many, replace(target, settings=every), options),
        unsafe=unsafe,
        propose=propose,
    )


def _with_fix(finding: Finding, fix: Fix, source: SourceText) -> Finding:
    ranges = tuple(text_range(source, edit) for edit in fix.edits)
    return replace(finding, fix=FindingFix("safe", fix.title, ranges))


def _without(
    report: Report,
    results: Mapping[Any, Finding | None],
    unmended: Mapping[str, Sequence[Unmended]],
    made: Sequence[Finding],
) -> Report:
    """Return a report without the mended waivers, which are listed as such; with their fix in a dry run."""
    own = [f for f in report.findings if f.code == UNUSED]
    if not own:
        return report
    kept = [results.get(id(f), f) for f in report.findings]
    gone = {(f.element, f.line) for f in own if id(f) in results and results[id(f)] is None}
    mine = [f for f in made if f.code == UNUSED and (f.element, f.line) in gone]
    left = [one for file in dict.fromkeys(f.file for f in own) for one in unmended.get(file, ())]
    return replace(
        report,
        findings=tuple(f for f in kept if f is not None),
        mended=(*report.mended, *mine),
        unmended=(*report.unmended, *left),
    )


def _not_linted(file: str, findings: Sequence[Finding], linted: Set[Path]) -> dict[int, str]:
    """Return the waivers, by identity of their finding, that may be of use for files which this run did not lint."""
    settings = read_config(Path(file))
    if settings is None:
        return {}
    folder = str(real_path(file).parent)
    below = [real_path(target.file) for target in targets([folder])]
    found: dict[int, str] = {}
    for finding in findings:
        patterns = [waiver.files for waiver in settings.ignores if waiver.line == finding.line]
        left = [
            path
            for path in below
            if path not in linted and any(fnmatchcase(path.as_posix(), p) for p in patterns)
        ]
        if left:
            what = f"{counted(len(left), 'file')} that it applies to"
            names = listed([path.name for path in left], 3)
            found[id(finding)] = f"{what} {'was' if len(left) == 1 else 'were'} not linted: {names}"
    return found


def _only_without(file: str, data: bytes, findings: Sequence[Finding]) -> bool:
    """Return True if a configuration with another content is the same but for some waivers."""
    path = Path(file)
    try:
        before = read_config(path)
        with reading_instead({str(real_path(file)): data}):
            after = read_config(path)
    except MbPluginError:
        return False
    lines = {finding.line for finding in findings}
    old, new = _settings(before, lines), _settings(after, set())
    return old == new


def _settings(settings: Settings | None, without: set[int]) -> object:
    """Return the values of a configuration, without places, and without the waivers in some lines."""
    if settings is None:
        return Settings().values
    kept = [(w.rule, w.element, w.reason, w.files) for w in settings.ignores if w.line not in without]
    return replace(settings, ignores=(), origins={}, file=""), kept
