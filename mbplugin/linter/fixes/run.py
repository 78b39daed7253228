"""``--fix``: fixes are proposed, tried, proved on the edited text, and only then written.

A fix is tried by linting the model with the edited text in place of the file's own; nothing is written meanwhile. It
holds if the finding is gone, no worse one appears, and the comparison of both models finds no other change of the robot
than the fix is for. What does not hold is rolled back.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from mbplugin.arguments import checked
from mbplugin.comparison.models import diff
from mbplugin.comparison.models.alignment import Difference
from mbplugin.errors import BadUsage, MbPluginError
from mbplugin.files import read_bounded, reading_instead, seen_from
from mbplugin.linter.fixes import edits as text_edits
from mbplugin.linter.fixes.edits import Fix, applied, overlapping, text_range, why_not_edited
from mbplugin.linter.fixes.proposals import REMEDIES, applicability_of, proposed
from mbplugin.linter.fixes.sources import Sources, elements_of
from mbplugin.linter.rule import SEVERITIES, Finding, FindingFix
from mbplugin.linter.run import Report, Unmended, lint
from mbplugin.model import Base, Mechanism, Scene, Shape
from mbplugin.readers.paths import lookups_kept

#: Two models are the same to this relative tolerance; angles that were rounded, to that of ``mbplugin diff``.
_SAME, _ROUNDED = 1e-7, 1e-3
#: Differences of a whole model that follow from those of its parts.
_OF_WHOLE = ("redundancy", "mobility", "dynamics", "reactions")
#: What is normalised in a model that is compared with itself.
_OF_ANY = ("fixed links", "gravity", "base")
Facts = Counter[tuple[str, str]]


@dataclass(frozen=True)
class Change:
    """A change of the robot: its kind, the elements it is about, and its text."""

    kind: str
    elements: frozenset[str]
    text: str

    def is_by(self, fix: Fix) -> bool:
        """Return True if a fix is meant to make this change."""
        if self.kind in _OF_WHOLE:
            whole = {"redundancy": fix.redundancy, "mobility": fix.mobility}
            return whole.get(self.kind, bool(fix.touches) or fix.rounding)
        return bool(self.elements & fix.touches)


def judged(before: Report, after: Report, fixes: Sequence[Fix]) -> tuple[str, tuple[Change, ...]]:
    """Return the objection to fixes, empty if they hold, and their changes of the robot.

    Parameters
    ----------
    before, after : Report
        The reports on the model without and with the fixes, by all rules.
    fixes : sequence of Fix
    """
    broken = next((f for f in after.findings if f.code.startswith("MB9") and f.severity == "error"), None)
    if broken is not None and before.scene is not None:
        return f"the edited file cannot be used ({broken.code}: {broken.message})", ()
    known, left = _facts(before), _facts(after)
    for key, number in Counter((fix.code, fix.element) for fix in fixes).items():
        if left[key] > max(known[key] - number, 0):
            return f"{key[0]} is still reported for {key[1]!r}", ()
    if before.scene is None:
        # what an unusable file hid, its next error or a finding, was there before
        return "", ()
    most = max(SEVERITIES.index(_severity(before, fix)) for fix in fixes)
    for finding in after.findings:
        new = [name for name in elements_of(finding) if not known[finding.code, name]]
        worse = SEVERITIES.index(finding.severity) > most or finding.severity == "error"
        if new and worse:
            return f"{finding.code} appears ({finding.severity}: {finding.message})", ()
    if after.scene is None:
        return "", ()
    try:
        changes = tuple(_changes(before.scene, after.scene, fixes))
    except MbPluginError as error:
        return f"the models cannot be compared ({error.what})", ()
    for change in changes:
        if not any(change.is_by(fix) for fix in fixes) and not _read_alike(before.scene, after.scene, change):
            return f"the robot changes: {change.text}", ()
    return "", changes


def _facts(report: Report) -> Facts:
    return Counter((finding.code, name) for finding in report.findings for name in elements_of(finding))


def _severity(report: Report, fix: Fix) -> str:
    own = (f.severity for f in report.findings if f.code == fix.code and fix.element in elements_of(f))
    return max(own, key=SEVERITIES.index, default="note")


def _read_alike(before: Scene, after: Scene, change: Change) -> bool:
    """Return True if all elements of a change were read alike, so that only the alignment of the models differs.

    Frames are aligned across joints, so that the changed axis of one joint may show as a turned frame of a neighbour.
    """
    if change.kind == "shapes":
        return False
    old, new = before.mechanism, after.mechanism
    parts = [name for name in change.elements if name in old.body_index or name in old.pair_by_name]
    return bool(parts) and all(_same_part(old, new, name) for name in parts)


def _same_part(old: Mechanism, new: Mechanism, name: str) -> bool:
    """Return True if a body or pair has the same numbers in two readings."""
    if name in old.body_index and name in new.body_index:
        a, b = old.bodies[old.body_index[name]], new.bodies[new.body_index[name]]
        arrays = (([a.mass], [b.mass]), (a.p_LC, b.p_LC), (a.I_C, b.I_C))
        return all(np.allclose(one, other, rtol=_SAME, atol=_SAME) for one, other in arrays)
    if name not in old.pair_by_name or name not in new.pair_by_name:
        return False
    first, second = old.pair_by_name[name], new.pair_by_name[name]
    frames = ((first.X_AP, second.X_AP), (first.X_BS, second.X_BS))
    return (first.kind, first.body_a, first.body_b, first.freedoms) == (
        second.kind,
        second.body_a,
        second.body_b,
        second.freedoms,
    ) and all(np.allclose(X.R, Y.R, atol=_SAME) and np.allclose(X.p, Y.p, atol=_SAME) for X, Y in frames)


# The changes of the robot.


def _changes(before: Scene, after: Scene, fixes: Sequence[Fix]) -> Iterator[Change]:
    """Yield the differences between two readings of a model."""
    tolerance = _ROUNDED if any(fix.rounding for fix in fixes) else _SAME
    compared = diff(before, after, tolerance=tolerance)
    yield from map(_of_difference, compared.differences)
    # where a joint is moved, the frame of the link behind it moves along
    joints: dict[str, set[str]] = {}
    for pair in before.mechanism.pairs:
        joints.setdefault(pair.body_b, set()).add(pair.name)
    for one in compared.normalised:
        # two readings of one file differ in nothing else that would need normalisation
        if one.kind not in _OF_ANY:
            yield Change(one.kind, _names(one.element, *joints.get(one.element, ())), one.text)
    for link in sorted({*before.shapes, *after.shapes}):
        old, new = before.shapes.get(link, ()), after.shapes.get(link, ())
        if not _same_shapes(old, new):
            text = f"shapes of {link}: {_shown(old)} → {_shown(new)}"
            yield Change("shapes", _names(link), text)


def _of_difference(difference: Difference) -> Change:
    values = f"{difference.value_a or 'none'} → {difference.value_b or 'none'}"
    # the coupling of a mimic is named after its joint
    stated = {difference.element_a, difference.element_b}
    names = _names(*stated, *(name.removeprefix("mimic ") for name in stated))
    return Change(difference.kind, names, f"{difference.kind} of {difference.element}: {values}")


def _names(*stated: str) -> frozenset[str]:
    """Return names with and without the prefix of their model."""
    return frozenset({*stated, *(name.rpartition("/")[2] for name in stated)})


def _same_shapes(old: Sequence[Shape], new: Sequence[Shape]) -> bool:
    """Return True if shapes are the same; colours do not count."""
    return len(old) == len(new) and all(
        (a.role, a.kind, a.size, a.mesh, a.points) == (b.role, b.kind, b.size, b.mesh, b.points)
        and np.allclose(a.X_LS.R, b.X_LS.R, atol=_SAME)
        and np.allclose(a.X_LS.p, b.X_LS.p, atol=_SAME)
        for a, b in zip(old, new, strict=True)
    )


def _shown(shapes: Sequence[Shape]) -> str:
    return ", ".join(f"{shape.role} {shape.kind}" for shape in shapes) or "none"


#: Fixes may reveal others: a misspelt word hides what it states.
_ROUNDS = 4
#: Of a file that cannot be used only the first error is known.
_ERRORS = 40
Proposals = Callable[[Finding, Sources, Report], Iterable[Fix]]


@dataclass(frozen=True)
class Mending:
    """What fixing a model did.

    Parameters
    ----------
    before, after : Report
        The reports on the model as it was, with the fix of each finding that has one, and as mended.
    contents : mapping of str to bytes
        The new contents of the edited files, by the names that findings use.
    originals : mapping of str to bytes
    notes : tuple of str
        Links that were followed.
    """

    before: Report
    after: Report
    contents: Mapping[str, bytes]
    originals: Mapping[str, bytes]
    notes: tuple[str, ...] = ()


@checked
def fix(
    path: str | Path,
    *,
    unsafe: bool = False,
    dry_run: bool = False,
    package_dirs: Sequence[str | Path] = (),
    base: Base | None = None,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    extend_select: Sequence[str] = (),
    tolerance: float | None = None,
    xacro_args: Mapping[str, str] | None = None,
) -> Report:
    """Mend what lint finds in a file, as text edits at the places of the findings.

    Each fix is tried on the text and linted again: it is made only if the finding is gone, no worse one appears, and
    the comparison with the model before finds no other change of the robot. Everything else in the file stays byte for
    byte. Files outside of the repository or package of ``path`` are not edited.

    Parameters
    ----------
    path : path
        URDF, xacro, SDF, MJCF, USD text or a scene.
    unsafe : bool
        Also make fixes that change the meaning of the file.
    dry_run : bool
        Write nothing.
    package_dirs, base, select, ignore, extend_select, xacro_args
        As in ``lint``.
    tolerance : float, optional
        Relative rank tolerance.

    Returns
    -------
    Report
        The report on the mended file, with ``mended``, ``unmended`` and ``patch``.

    Raises
    ------
    BadUsage
        ``path`` is not a file, or a file cannot be written.
    """
    if isinstance(path, str | os.PathLike) and not os.path.exists(path):  # noqa: PTH110
        # raises the error for a missing file, with those beside it that may be meant
        read_bounded(Path(path))
    if not isinstance(path, str | os.PathLike) or not os.path.isfile(path):  # noqa: PTH113
        raise BadUsage("fix needs a file", where=str(path), expected="the path of a model or a scene")
    linted = partial(
        lint, path, package_dirs=package_dirs, base=base, tolerance=tolerance, xacro_args=xacro_args
    )
    chosen = partial(linted, select=select, ignore=ignore, extend_select=extend_select)
    mending = mended(chosen, linted, unsafe=unsafe)
    if not dry_run:
        write(mending)
    return mending.after


def patch_of(mended: Sequence[Finding], originals: Mapping[str, bytes], contents: Mapping[str, bytes]) -> str:
    """Return the unified diff of files, with a line on each fix before it; empty if there is none."""
    changes = text_edits.patch(originals, contents)
    return "".join(f"# {line}\n" for line in map(mended_line, mended)) + changes if changes else ""


def mended_line(finding: Finding) -> str:
    """Return a line on a mended finding: its place, its code, its element, and what was changed."""
    fix = finding.fix
    assert fix is not None
    place = f"{seen_from(Path.cwd(), fix.edits[0].file)}:{fix.edits[0].start_line}"
    unsafe = " (unsafe)" if fix.applicability == "unsafe" else ""
    changes = f"; robot: {'; '.join(fix.changes)}" if fix.changes else ""
    return f"{place}: {finding.code}{unsafe} {finding.element}: {fix.title}{changes}"


def is_mendable(report: Report, *, unsafe: bool) -> bool:
    """Return True if a finding of a report is of a rule that has a fix."""
    return any(
        (remedy := REMEDIES.get(finding.code)) is not None and (unsafe or remedy.applicability == "safe")
        for finding in report.findings
    )


def mended(
    lint: Callable[[], Report],
    lint_all: Callable[[], Report],
    *,
    unsafe: bool,
    propose: Proposals | None = None,
) -> Mending:
    """Return the tried and proved fixes of a model's findings; nothing is written.

    Parameters
    ----------
    lint, lint_all : callable
        Lint the model with the selected rules, and with all that are on by default.
    unsafe : bool
        Also make fixes that change the meaning of the file.
    propose : callable, optional
        Yields the fixes of a finding, for tests.
    """
    with lookups_kept():
        first = lint()
        trial = _Trial(lint_all, first.source)
        rounds = 0
        for _ in range(_ERRORS):
            with reading_instead(trial.overlay):
                report = lint() if trial.contents else first
            rounds += report.scene is not None
            if rounds > _ROUNDS:
                break
            fixes = trial.proposals(report, propose or _proposals, unsafe=unsafe)
            if not fixes:
                break
            trial.accept(fixes)
        with reading_instead(trial.overlay):
            after = lint() if trial.contents else first
    made = tuple(trial.made)
    after = replace(
        after, mended=made, unmended=tuple(one for same in trial.unmended.values() for one in same)
    )
    after = replace(after, patch=patch_of(made, trial.originals, trial.contents))
    before = replace(
        first, findings=tuple(_with_fix(finding, trial.first_round) for finding in first.findings)
    )
    notes = [
        f"{file} is a link: the file it leads to was edited, {target}"
        for file in trial.contents
        if (target := text_edits.link_target(file))
    ]
    return Mending(before, after, dict(trial.contents), dict(trial.originals), tuple(notes))


def _proposals(finding: Finding, sources: Sources, report: Report) -> Iterator[Fix]:
    return proposed(finding, sources, report.scene)


def _with_fix(finding: Finding, made: Mapping[tuple[str, str], Sequence[Finding]]) -> Finding:
    """Return a finding with the fixes of its elements, as one."""
    names = dict.fromkeys((*elements_of(finding), finding.element))
    fixes = [one.fix for name in names for one in made.get((finding.code, name), ()) if one.fix]
    if not fixes:
        return finding
    joined = FindingFix(
        fixes[0].applicability,
        "; ".join(dict.fromkeys(fix.title for fix in fixes)),
        tuple(dict.fromkeys(edit for fix in fixes for edit in fix.edits)),
        tuple(dict.fromkeys(change for fix in fixes for change in fix.changes)),
    )
    return replace(finding, fix=joined)


@dataclass
class _Trial:
    """The state of a run: the contents that hold so far, and the report on them."""

    lint_all: Callable[[], Report]
    source: str
    contents: dict[str, bytes] = field(default_factory=dict)
    originals: dict[str, bytes] = field(default_factory=dict)
    made: list[Finding] = field(default_factory=list)
    first_round: dict[tuple[str, str], list[Finding]] = field(default_factory=dict)
    unmended: dict[tuple[str, str, str], list[Unmended]] = field(default_factory=dict)
    findings: dict[Fix, Finding] = field(default_factory=dict)
    current: Report | None = None
    rounds: int = 0

    @property
    def overlay(self) -> dict[str, bytes]:
        """The new contents by real path, as readers look them up."""
        return {os.path.realpath(file): data for file, data in self.contents.items()}

    def proposals(self, report: Report, propose: Proposals, *, unsafe: bool) -> list[Fix]:
        """Return the fixes of the findings of a report that may be tried."""
        sources, groups = Sources(), dict[tuple[str, str, str], list[Fix]]()
        with reading_instead(self.overlay):
            for finding in report.findings:
                remedy = REMEDIES.get(finding.code)
                if remedy is None or (remedy.applicability == "unsafe" and not unsafe):
                    continue
                for fix in propose(finding, sources, report):
                    same = groups.setdefault(_key(fix), [])
                    allowed = unsafe or applicability_of(fix) == "safe"
                    if allowed and fix.edits and fix.edits not in (other.edits for other in same):
                        same.append(fix)
                        self.findings[fix] = finding
        return [fix for key, same in groups.items() for fix in self._worth_trying(key, same)]

    def _worth_trying(self, key: tuple[str, str, str], same: Sequence[Fix]) -> Iterator[Fix]:
        """Yield the fixes of one title that may be tried; none if all of them were refused before.

        Their edits move with those before them, so that only their number says whether they are known.
        """
        if len(same) <= len(self.unmended.get(key, ())):
            return
        self.unmended.pop(key, None)
        for fix in same:
            if reason := self._why_not(fix):
                self._refuse(fix, reason)
            else:
                yield fix

    def _why_not(self, fix: Fix) -> str:
        for file in dict.fromkeys(edit.file for edit in fix.edits):
            if reason := why_not_edited(file, self.source):
                return f"{file} is not edited: {reason}"
        return ""

    def _refuse(self, fix: Fix, reason: str) -> None:
        finding = replace(self.findings[fix], element=fix.element)
        self.unmended.setdefault(_key(fix), []).append(Unmended(finding, f"{fix.title}: {reason}"))

    def accept(self, fixes: Sequence[Fix]) -> None:
        """Try fixes together, and in halves if they do not hold; those that overlap others wait for the next round."""
        self.rounds += 1
        together: list[Fix] = []
        for fix in fixes:
            if not any(overlapping(fix.edits, other.edits) for other in together):
                together.append(fix)
        base = {file: self._now(file) for file in dict.fromkeys(e.file for f in together for e in f.edits)}
        if self.current is None:
            with reading_instead(self.overlay):
                self.current = self.lint_all()
        self._halves(together, [], base)

    def _halves(self, fixes: list[Fix], accepted: list[Fix], base: Mapping[str, bytes]) -> None:
        """Accept the fixes that hold; ``accepted`` are those of this round so far, relative to ``base``."""
        todo = [fixes]
        while todo:
            group = todo.pop()
            reason = self._try(group, accepted, base)
            if not reason:
                accepted += group
            elif len(group) == 1:
                self._refuse(group[0], f"rolled back, because {reason}")
            else:
                middle = len(group) // 2
                todo += [group[middle:], group[:middle]]

    def _try(self, group: Sequence[Fix], accepted: Sequence[Fix], base: Mapping[str, bytes]) -> str:
        """Return the objection to fixes on top of the accepted ones; without one they are accepted too."""
        edits = [edit for fix in (*accepted, *group) for edit in fix.edits]
        try:
            contents = {
                file: applied(text_edits.SourceText(file, data), [e for e in edits if e.file == file])
                for file, data in base.items()
            }
        except UnicodeEncodeError:
            return "the encoding of the file lacks a character of the new text"
        before = self.current
        assert before is not None
        overlay = {os.path.realpath(file): data for file, data in {**self.contents, **contents}.items()}
        with reading_instead(overlay):
            after = self.lint_all()
            reason, changes = judged(before, after, group)
        if reason:
            return reason
        for file in base:
            self.originals.setdefault(file, base[file])
        self.contents |= contents
        self.current = after
        for fix in group:
            self._note(fix, base, changes)
        return ""

    def _note(self, fix: Fix, base: Mapping[str, bytes], changes: Sequence[Change]) -> None:
        ranges = tuple(
            text_range(text_edits.SourceText(edit.file, base[edit.file]), edit) for edit in fix.edits
        )
        said = tuple(dict.fromkeys(change.text for change in changes if change.is_by(fix)))
        finding = replace(
            self.findings[fix],
            element=fix.element,
            fix=FindingFix(applicability_of(fix), fix.title, ranges, said),
        )
        self.made.append(finding)
        if self.rounds == 1:
            self.first_round.setdefault((fix.code, fix.element), []).append(finding)

    def _now(self, file: str) -> bytes:
        return self.contents[file] if file in self.contents else read_bounded(Path(file))


def _key(fix: Fix) -> tuple[str, str, str]:
    return fix.code, fix.element, fix.title


# Writing.


def write(mending: Mending) -> None:
    """Write the new contents of a mending, all or none.

    Raises
    ------
    BadUsage
        A file was changed in the meantime, or cannot be written; those written before are restored.
    """
    written: list[str] = []
    try:
        for file, data in mending.contents.items():
            text_edits.write(file, mending.originals[file], data)
            written.append(file)
    except BadUsage:
        for file in written:
            text_edits.write(file, mending.contents[file], mending.originals[file])
        raise
