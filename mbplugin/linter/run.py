"""One lint run: load, analyze, apply the rules, and determine the exit code."""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cached_property, partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from mbplugin import errors
from mbplugin.analysis import Analysis, analyze
from mbplugin.arguments import checked
from mbplugin.linter import Ignore
from mbplugin.linter.rule import (
    LONGEST,
    SEVERITIES,
    Finding,
    Rule,
    Selection,
    Severity,
    broken_plugins,
    find_rule,
    is_built_in,
    rules,
    rules_about,
    text_of,
)
from mbplugin.model import SIMULATORS, Base, Mechanism, Origin, Scene, Simulator, as_scene, with_coordinates
from mbplugin.phrases import counted, dataclass, names_of, one_line, visible
from mbplugin.processes.supervised import RULE_MEMORY, RuleTookTooLong, rule_seconds, running
from mbplugin.readers import ModelSource, in_memory, loaded
from mbplugin.readers.paths import lookups_kept
from mbplugin.rendering import Result

if TYPE_CHECKING:
    from mbplugin.joint_reactions.misfit import LoopMisfits, RemedyConsequences
    from mbplugin.joint_reactions.misfit_response import MisfitEffect
    from mbplugin.readers.standing import ContactLike, Stance

#: Key in the evidence of an error: the file is not a complete model.
FRAGMENT = "fragment"
FAILED_RULE = "MB911"
#: Codes of stopped rules with their messages; these are not run again, so that only one file waits for them.
_STOPPED: dict[str, str] = {}


# Waivers: findings of one rule about one element, suppressed for a reason.


@dataclass(frozen=True)
class Suppressed:
    """A finding that is not reported, and the ignore with the reason."""

    finding: Finding
    ignore: Ignore


@dataclass(frozen=True)
class Unmended:
    """A finding with a fix that was not made, or was rolled back, and the reason."""

    finding: Finding
    reason: str


def suppress(report: Report, ignores: Sequence[Ignore]) -> Report:
    """Return the report without the ignored findings; unusable input is always reported."""
    mine = [ignore for ignore in ignores if ignore.is_for(_files_of(report))]
    kept: list[Finding] = []
    suppressed: list[Suppressed] = []
    for finding in report.findings:
        found = [next((w for w in mine if w.matches(finding, e)), None) for e in finding.elements]
        # a finding about several elements is reported unless all of them are waived
        if None in found or finding.code.startswith("MB9"):
            kept.append(finding)
        else:
            suppressed += [Suppressed(finding, waiver) for waiver in dict.fromkeys(filter(None, found))]
    return replace(report, findings=tuple(kept), suppressed=(*report.suppressed, *suppressed))


def unused(ignores: Sequence[Ignore], reports: Sequence[Report]) -> list[Ignore]:
    """Return the ignores that match nothing in any report, except where a file could not be analyzed."""
    used = {suppressed.ignore for report in reports for suppressed in report.suppressed}
    left = [ignore for ignore in ignores if ignore not in used and _judged(ignore, reports)]
    return [ignore for ignore in left if not any(_in_part(ignore, report) for report in reports)]


def _in_part(ignore: Ignore, report: Report) -> bool:
    """Return True if an ignore matches one element of a finding that is still reported for its other elements."""
    several = (finding for finding in report.findings if len(finding.elements) > 1)
    return ignore.is_for(_files_of(report)) and any(ignore.matches(f, e) for f in several for e in f.elements)


def _files_of(report: Report) -> tuple[str, ...]:
    """Return the source of a report and the files of its scene; the source may be no file, such as ``<stdin>``."""
    return report.source, *(report.scene.files if report.scene else ())


def _judged(ignore: Ignore, reports: Sequence[Report]) -> bool:
    mine = [report for report in reports if ignore.is_for(_files_of(report))]
    # in a file that could not be analyzed, the ignored finding may have been missed
    return bool(mine) and all(report.analysis is not None for report in mine)


@dataclass(frozen=True, eq=False)
class Report(Result):
    """The result of a lint run.

    Parameters
    ----------
    source : str
        The file, or ``<client 0>``.
    findings : tuple of Finding
        The selected findings, the most severe first.
    analysis : Analysis or None
        None if no mechanism could be built or its loops could not be closed.
    scene : Scene or None
        None if the input was unreadable.
    fail_on : "error", "warning" or "note"
    suppressed : tuple of Suppressed
        Findings that the configuration ignores, each with its reason.
    skipped : bool
        True if the file was found by searching and is not a complete model, or is part of another one: no verdict.
    mended : tuple of Finding
        Findings of the files as they were, each with the fix that was written.
    unmended : tuple of Unmended
        Findings whose fix was not made, each with the reason.
    patch : str
        The unified diff of all fixes that were made, or would be.
    stance : Stance or None
        The links on which the robot was taken as standing, if the call requested that.
    """

    source: str
    findings: tuple[Finding, ...]
    analysis: Analysis | None
    scene: Scene | None
    fail_on: Severity = "error"
    suppressed: tuple[Suppressed, ...] = ()
    skipped: bool = False
    mended: tuple[Finding, ...] = ()
    unmended: tuple[Unmended, ...] = ()
    patch: str = ""
    stance: Stance | None = None

    def __repr__(self) -> str:
        counts = (
            counted(sum(finding.severity == severity for finding in self.findings), severity)
            for severity in SEVERITIES
        )
        return one_line(self, self.source, counts)

    def __len__(self) -> int:
        return len(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __getitem__(self, index: int) -> Finding:
        if isinstance(index, str):
            raise errors.BadUsage(
                f"a report has no part {index!r}, it counts its findings from 0",
                remedy=f"write .findings, or .to_dict()[{index!r}]",
            )
        return self.findings[index]

    def __bool__(self) -> bool:
        """Return True, also for a report without findings."""
        return True

    @property
    def exit_code(self) -> int:
        """0 clean, 1 findings at or above ``fail_on``, 2 unusable input."""
        if any(f.code.startswith("MB9") and f.severity == "error" for f in self.findings):
            return 2
        return int(any(self.fails(finding) for finding in self.findings))

    @cached_property
    def misfits(self) -> tuple[LoopMisfits, ...]:
        """Effects of misfits of the closing constraints, loop by loop; computed at first use."""
        from mbplugin.joint_reactions.misfit import loop_misfits

        if self.scene is None or self.analysis is None:
            return ()
        return loop_misfits(self.scene, self.analysis)

    @cached_property
    def consequences(self) -> RemedyConsequences | None:
        """Effects of the remedies on the loads due to misfits; computed at first use."""
        from mbplugin.joint_reactions.misfit import consequences_of, response_at

        if self.scene is None or self.analysis is None:
            return None
        response = response_at(self.scene, self.analysis)
        if response is None:
            return None
        return consequences_of(self.analysis.remedies, self.misfits, response)

    @cached_property
    def rounding(self) -> MisfitEffect | None:
        """Combined effect of the rounded angles that a rule reports; computed at first use."""
        if self.scene is None or self.analysis is None:
            return None
        from mbplugin.linter.checks.snapping import made_by_rounding, read_as_meant

        if not made_by_rounding(self.scene, self.analysis):
            return None
        meant = read_as_meant(self.scene, self.analysis)
        if meant is None:
            return None
        from mbplugin.joint_reactions.misfit import rounding_effect

        written, planar = self.scene.mechanism, self.analysis.planar or None
        return rounding_effect(written, *meant, tolerance=self.analysis.tolerance, planar=planar)

    def fails(self, finding: Finding) -> bool:
        """Return True if a finding is at or above ``fail_on``."""
        return SEVERITIES.index(finding.severity) >= SEVERITIES.index(self.fail_on)


@lookups_kept()
@checked
def lint(
    source: ModelSource,
    *,
    q: Mapping[str, float | str] | None = None,
    base: Base | None = None,
    package_dirs: Sequence[str | Path] = (),
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    extend_select: Sequence[str] = (),
    targets: Sequence[Simulator] = (),
    fail_on: Severity = "error",
    snap_angles: bool = False,
    tolerance: float | None = None,
    method: str = "qr",
    planar: str | None = None,
    samples: int | None = None,
    groups: Sequence[Sequence[str]] = (),
    text: str | None = None,
    default_tolerance: float | None = None,
    misfit_limit: float | None = None,
    xacro_unsafe: bool = False,
    xacro_args: Mapping[str, str] | None = None,
    contacts: Iterable[ContactLike] | bool = (),
    stance: Iterable[str] | bool | None = None,
    friction: float | None = None,
) -> Report:
    """Lint a file, a live client or a scene; the content of an unusable file becomes an MB9xx finding.

    Parameters
    ----------
    source : path, PyBullet client, Scene or Mechanism
    q : mapping of joint coordinate to value, optional
        rad and m.
    base, package_dirs
        As in ``load``.
    select, ignore, extend_select : sequence of str
        Codes, or prefixes of codes such as ``MB2``. ``extend_select`` adds rules that are off by default.
    targets : sequence of str
        Simulators that must be able to load the model, in addition to those of the scene: "mujoco", "isaac",
        "gazebo", "drake", "pybullet".
    fail_on : "error", "warning" or "note"
        Lowest severity for which ``exit_code`` is 1.
    snap_angles : bool
        Analyze with rounded angle literals read as fractions of π.
    tolerance, method, planar, samples, groups
        As in ``analyze``.
    text : str, optional
        The content of ``source``, if it was not read from a file.
    default_tolerance : float, optional
        The relative rank tolerance if neither the call nor the scene states one.
    misfit_limit : float, optional
        Largest joint force due to a misfit of 0.1 mm, N, if the scene states none (MB206).
    xacro_unsafe : bool
        Expand xacro as the program does, without restrictions on what it runs or reads.
    xacro_args : mapping of str to str, optional
        Values of xacro's arguments.
    contacts : iterable or bool, optional
        Contact, or mappings with the keys of a scene's ``[[contact]]``: all of them hold at the analyzed pose, with
        those of the scene. True reads those of a live PyBullet client. The rules MB302 to MB304 judge them; the
        verdict is on the joints alone.
    stance, friction
        As in ``reactions``, but only links stated here, or True for the lowest ones, touch the ground.

    Raises
    ------
    BadUsage
        An invalid request, such as a tolerance of 2, or contacts where there are none.
    UnreadableFile
        There is no such file.
    """
    if fail_on not in SEVERITIES:
        raise errors.BadUsage(f"fail_on is {fail_on!r}", expected=f"one of {', '.join(SEVERITIES)}")
    selection = Selection(
        known_codes(names_of(select), "select"),
        known_codes(names_of(ignore), "ignore"),
        known_codes(names_of(extend_select), "extend_select"),
    )
    if misfit_limit is not None and not (isfinite(misfit_limit) and misfit_limit > 0):
        raise errors.BadUsage(f"misfit_limit is {misfit_limit:g} N", expected="a positive number")
    if unknown := [target for target in targets if target not in SIMULATORS]:
        raise errors.BadUsage(f"targets has {unknown[0]!r}", expected=f"some of {', '.join(SIMULATORS)}")
    name, scene, analysis, failure, ground = _name(source), None, None, None, None
    try:
        scene = _load(
            source, base, tuple(map(str, package_dirs)), snap_angles, text, xacro_unsafe, xacro_args
        )
        scene = _with_misfit_limit(_with_targets(scene, targets), misfit_limit)
        if q:
            scene = with_coordinates(scene, q)
        _require_known_codes(scene)
        request = partial(
            analyze, tolerance=tolerance, method=method, planar=planar, samples=samples, groups=groups
        )
        judged = _with_tolerance(scene, default_tolerance)
        try:
            analysis = request(judged)
        except errors.ContradictedState as error:
            if not error.of_file:
                raise
            # a contradictory pose in a file is a finding: analyze the nearest consistent pose instead
            analysis = request(replace(judged, state=replace(judged.state, given=frozenset())))
        if contacts or stance or friction is not None:
            # few lints need it
            from mbplugin.readers.contact_points import touching_scene

            scene, ground = touching_scene(scene, source, analysis.q, contacts, stance, friction)
    except errors.BadUsage:
        raise
    except errors.MbPluginError as error:
        if text is None and _is_missing(source):
            raise
        failure = finding_of(error, name, scene)
    found = [] if scene is None else _findings(scene, analysis, selection)
    if failure is not None:
        found.append(failure)
    return Report(name, by_severity(found), analysis, scene, fail_on, stance=ground)


def _require_known_codes(scene: Scene) -> None:
    """Reject a scene in which ``[lint]`` names unknown codes.

    Raises
    ------
    BadScene
        A code is unknown; the message suggests the closest rule.
    """
    stated = scene.options
    try:
        known_codes(stated.ignore, "[lint] ignore")
        known_codes(stated.extend_select, "[lint] extend_select")
    except errors.BadUsage as error:
        where = next(iter(scene.files), scene.mechanism.name)
        raise errors.BadScene(error.what, where=where, remedy=error.remedy) from None


def _findings(scene: Scene, analysis: Analysis | None, selection: Selection) -> list[Finding]:
    stated = scene.options
    both = Selection(
        selection.select,
        (*selection.ignore, *stated.ignore),
        (*selection.extend_select, *stated.extend_select),
    )
    return list(apply_rules(scene, analysis, both))


def by_severity(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings sorted as in a report: the most severe first, then by code."""
    return tuple(sorted(findings, key=lambda f: (-SEVERITIES.index(f.severity), f.code)))


def _with_tolerance(scene: Scene, tolerance: float | None) -> Scene:
    if tolerance is None or scene.options.tolerance is not None:
        return scene
    return replace(scene, options=replace(scene.options, tolerance=tolerance))


def _with_misfit_limit(scene: Scene, limit: float | None) -> Scene:
    if limit is None or scene.options.misfit_limit is not None:
        return scene
    return replace(scene, options=replace(scene.options, misfit_limit=limit))


def _with_targets(scene: Scene, targets: Sequence[Simulator]) -> Scene:
    both = tuple(dict.fromkeys((*targets, *scene.options.targets)))
    return replace(scene, options=replace(scene.options, targets=both))


def _load(
    source: ModelSource,
    base: Base | None,
    package_dirs: Sequence[str],
    snap_angles: bool,
    text: str | None,
    xacro_unsafe: bool,
    xacro_args: Mapping[str, str] | None,
) -> Scene:
    from mbplugin import readers

    if isinstance(source, Scene | Mechanism):
        scene = as_scene(source)
        return readers.reload(scene, snap_angles=True) if snap_angles else scene
    if in_memory(source):
        scene = loaded(source, base=base)
        return readers.reload(scene, snap_angles=True) if snap_angles else scene
    return loaded(
        source,
        text=text,
        package_dirs=tuple(package_dirs),
        base=base,
        snap_angles=snap_angles,
        xacro_unsafe=xacro_unsafe,
        xacro_args=xacro_args,
    )


def _name(source: ModelSource) -> str:
    if isinstance(source, Scene | Mechanism):
        scene = as_scene(source)
        return scene.files[0] if scene.files else scene.mechanism.name
    return in_memory(source) or os.fspath(cast("str", source))


def _is_missing(source: ModelSource) -> bool:
    """Return True for a path at which there is nothing."""
    return isinstance(source, str | os.PathLike) and not os.path.lexists(source)


def finding_of(error: errors.MbPluginError, source: str, scene: Scene | None = None) -> Finding:
    """Return a finding for unusable input; ``where`` of the error may be file:line."""
    rule = find_rule(error.code)
    file, _, line = error.where.rpartition(":")
    known = bool(file) and line.isdigit()
    element, place = ("", None) if scene is None or error.where else _quoted_constraint(error, scene)
    if place is not None:
        file, line, known = place.file, str(place.line), True
    said = error.sentence()
    if len(said) > LONGEST:
        # the remedy is the finding's help as well
        said = error.sentence(remedy=False)
    return Finding(
        rule.code,
        rule.name,
        "error",
        said,
        element=element,
        file=file if known else error.where or source,
        line=int(line) if known else 0,
        evidence=_correction(error),
        help=error.remedy or rule.remedy,
    )


def _correction(error: errors.MbPluginError) -> dict[str, Any]:
    """Return the evidence of an error: what mends it, where the reader knows that."""
    if isinstance(error, errors.Fragment):
        return {FRAGMENT: True}
    if isinstance(error, errors.BadScene) and error.meant:
        return {"meant": [list(key) for key in error.meant]}
    return dict(error.correction) if isinstance(error, errors.BrokenModel) else {}


def _quoted_constraint(error: errors.MbPluginError, scene: Scene) -> tuple[str, Origin | None]:
    """Return the constraint named in an error, and its location, since errors of the mechanics state no file."""
    quoted = (c.name for c in scene.mechanism.constraints() if repr(c.name) in error.what)
    name = next(quoted, "")
    return name, scene.origin.get(("constraint", name, ""))


# Rules applied to a scene: an exception of a rule becomes a finding, and the other rules run.


def apply_rules(scene: Scene, analysis: Analysis | None, selection: Selection) -> Iterator[Finding]:
    """Yield the findings of the selected rules, and MB911 for each rule that does not work."""
    for rule in rules():
        if selection.includes(rule):
            yield from _applied(rule, scene, analysis)
    for plugin in broken_plugins():
        yield find_rule(FAILED_RULE).finding(
            f"the rule {plugin.name!r} of {plugin.distribution} cannot be loaded: {plugin.reason}",
            element=plugin.name,
            evidence={"distribution": plugin.distribution},
        )


def _applied(rule: Rule, scene: Scene, analysis: Analysis | None) -> list[Finding]:
    if is_built_in(rule):
        return _found(rule, scene, analysis)
    if rule.code in _STOPPED:
        return [_failure(rule, _STOPPED[rule.code])]
    try:
        with running(f"the rule {rule.code} {rule.name}"):
            # the texts of a foreign rule are made printable on one line
            return [
                replace(
                    finding,
                    message=visible(finding.message),
                    element=visible(finding.element),
                    help=visible(" ".join(finding.help.splitlines())),
                )
                for finding in _found(rule, scene, analysis)
            ]
    # the alarm may go off at any line of the block, including the last one
    except RuleTookTooLong as error:
        _STOPPED[rule.code] = f"{error} for an earlier file, and not run again"
        return [_failure(rule, str(error), traceback.format_exc())]


def _found(rule: Rule, scene: Scene, analysis: Analysis | None) -> list[Finding]:
    try:
        return [_checked(rule, finding) for finding in rule.check(scene, analysis)]
    except (KeyboardInterrupt, RuleTookTooLong):
        raise
    except errors.MissingDependency as error:
        return [find_rule(error.code).finding(str(error), element=rule.name)]
    # rules may be foreign code, which may even call sys.exit
    except BaseException as error:
        if isinstance(error, MemoryError) and rule_seconds() is not None:
            return [_failure(rule, f"it needs more than {RULE_MEMORY >> 30} GiB of memory")]
        reason = f"{text_of(error) or 'no reason given'} ({type(error).__name__})"
        return [_failure(rule, reason, traceback.format_exc())]


def _failure(rule: Rule, reason: str, trace: str = "") -> Finding:
    return find_rule(FAILED_RULE).finding(
        f"rule {rule.code} {rule.name} failed: {reason}",
        element=rule.name,
        evidence={"rule": rule.code, "traceback": trace},
    )


def _checked(rule: Rule, finding: object) -> Finding:
    """Return the finding if it satisfies the contract of rules; later it would break the whole report."""
    if not isinstance(finding, Finding):
        raise TypeError(f"it yielded {type(finding).__name__}, not a Finding")
    texts = {name: getattr(finding, name) for name in ("message", "element", "file", "help")}
    if wrong := [name for name, text in texts.items() if not isinstance(text, str)]:
        raise TypeError(f"the {wrong[0]} of its finding is {type(texts[wrong[0]]).__name__}, not str")
    if finding.code != rule.code or finding.severity not in SEVERITIES:
        raise ValueError(f"it yielded a finding {finding.code!r} of severity {finding.severity!r}")
    return finding


# Codes stated by users, checked for misspellings.


def known_codes(texts: Iterable[str], said_by: str, where: str = "") -> tuple[str, ...]:
    """Return codes or prefixes of codes in capitals, with names of rules replaced by codes.

    Parameters
    ----------
    texts : iterable of str
    said_by : str
        The option or key, for the message.
    where : str, optional

    Raises
    ------
    BadUsage
        No rule has this name, or a code with this prefix.
    """
    stated = [text.strip() for text in texts]
    if not stated:
        return ()

    codes = {rule.name: rule.code for rule in rules()}
    chosen = tuple(codes.get(text.lower(), text.upper()) for text in stated)
    for text, code in zip(stated, chosen, strict=True):
        if not any(known.startswith(code) for known in codes.values()):
            # MB2xx, MB2* and MB2.. stand for all codes that begin so
            begun = code.rstrip("X*.?-")
            about = [rule.name for rule in rules_about(text)][:3]
            close = (
                [begun] * (begun != code and any(known.startswith(begun) for known in codes.values()))
                or get_close_matches(text.lower(), codes, n=1, cutoff=0.8)
                or about
                # a number that is near another one is no misspelling of it
                or (not re.fullmatch(r"MB\d{2,3}", code) and get_close_matches(code, codes.values(), n=1))
            )
            remedy = (
                f"did you mean {' or '.join(map(repr, close))}?" if close else "mbplugin rule lists the rules"
            )
            raise errors.BadUsage(f"{said_by} names {text!r}, which no rule has", where=where, remedy=remedy)
    return chosen


def rule_code(text: str, where: str) -> str:
    """Return the code of a rule that a waiver names by code or name.

    Raises
    ------
    BadUsage
        There is no such rule.
    """
    try:
        return find_rule(text.strip()).code
    except errors.UnknownName as error:
        raise errors.BadUsage(
            f"the waiver names {text!r}, which no rule is called", where=where, remedy=error.remedy
        ) from None
