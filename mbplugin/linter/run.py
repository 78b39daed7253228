"""One lint run: load, analyze, apply the rules, and determine the exit code."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, cast

from mbplugin.analysis import Analysis
from mbplugin.analysis.run import analyze
from mbplugin.arguments import checked
from mbplugin.errors import BadScene, BadUsage, ContradictedState, Fragment, MbPluginError
from mbplugin.linter.apply import apply_rules
from mbplugin.linter.config.codes import known_codes
from mbplugin.linter.config.ignores import Suppressed
from mbplugin.linter.finding import SEVERITIES, Finding, Severity
from mbplugin.linter.registry import find_rule
from mbplugin.linter.selection import Selection
from mbplugin.model.enumerations import SIMULATORS, Base, Simulator
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Origin, Scene, as_scene, with_coordinates
from mbplugin.phrases import counted, names_of, one_line
from mbplugin.readers.common.lookups import lookups_kept
from mbplugin.readers.source import ModelSource, client_id, loaded
from mbplugin.rendering import Result

if TYPE_CHECKING:
    from mbplugin.joint_reactions.misfit.consequences import RemedyConsequences
    from mbplugin.joint_reactions.misfit.loops import LoopMisfits
    from mbplugin.joint_reactions.misfit.values import MisfitEffect

#: In the evidence of an error: the file is no model by itself.
FRAGMENT = "fragment"


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
        The file was found, not named, and is no model by itself or a part of another one: it has no verdict.
    """

    source: str
    findings: tuple[Finding, ...]
    analysis: Analysis | None
    scene: Scene | None
    fail_on: Severity = "error"
    suppressed: tuple[Suppressed, ...] = ()
    skipped: bool = False

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
        return self.findings[index]

    def __bool__(self) -> bool:
        """Return True: a report without findings is a report."""
        return True

    @property
    def exit_code(self) -> int:
        """0 clean, 1 findings at or above ``fail_on``, 2 unusable input."""
        if any(f.code.startswith("MB9") and f.severity == "error" for f in self.findings):
            return 2
        return int(any(self.fails(finding) for finding in self.findings))

    @cached_property
    def misfits(self) -> tuple[LoopMisfits, ...]:
        """What misfits of closing constraints cost, loop by loop; computed when it is asked for."""
        from mbplugin.joint_reactions.misfit.loops import loop_misfits

        if self.scene is None or self.analysis is None:
            return ()
        return loop_misfits(self.scene, self.analysis)

    @cached_property
    def consequences(self) -> RemedyConsequences | None:
        """What remedies do to the loads that misfits cause; computed when it is asked for."""
        from mbplugin.joint_reactions.misfit.consequences import consequences_of
        from mbplugin.joint_reactions.misfit.loops import response_at

        if self.scene is None or self.analysis is None:
            return None
        response = response_at(self.scene, self.analysis)
        if response is None:
            return None
        return consequences_of(self.analysis.remedies, self.misfits, response)

    @cached_property
    def rounding(self) -> MisfitEffect | None:
        """What the rounded angles that a rule reports cost together; computed when it is asked for."""
        if self.scene is None or self.analysis is None:
            return None
        from mbplugin.linter.checks.snapping import made_by_rounding, read_as_meant

        if not made_by_rounding(self.scene, self.analysis):
            return None
        meant = read_as_meant(self.scene, self.analysis)
        if meant is None:
            return None
        from mbplugin.joint_reactions.misfit.rounding import rounding_effect

        written, planar = self.scene.mechanism, self.analysis.planar or None
        return rounding_effect(written, *meant, tolerance=self.analysis.tolerance, planar=planar)

    def fails(self, finding: Finding) -> bool:
        """Return whether a finding is at or above ``fail_on``."""
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
) -> Report:
    """Lint a file, a live client or a scene; unusable input becomes an MB9xx finding.

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
        Simulators that shall load the model, beside those of the scene: "mujoco", "isaac", "gazebo", "drake",
        "pybullet".
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
        Largest joint force by a misfit of 0.1 mm, N, if the scene states none (MB206).
    xacro_unsafe : bool
        Expand xacro as the program does, whatever it runs or reads.
    xacro_args : mapping of str to str, optional
        Values of xacro's arguments.

    Raises
    ------
    BadUsage
        An invalid request, such as a tolerance of 2.
    """
    if fail_on not in SEVERITIES:
        raise BadUsage(f"fail_on is {fail_on!r}", expected=f"one of {', '.join(SEVERITIES)}")
    selection = Selection(
        known_codes(names_of(select), "select"),
        known_codes(names_of(ignore), "ignore"),
        known_codes(names_of(extend_select), "extend_select"),
    )
    if misfit_limit is not None and not (isfinite(misfit_limit) and misfit_limit > 0):
        raise BadUsage(f"misfit_limit is {misfit_limit:g} N", expected="a positive number")
    if unknown := [target for target in targets if target not in SIMULATORS]:
        raise BadUsage(f"targets has {unknown[0]!r}", expected=f"some of {', '.join(SIMULATORS)}")
    name, scene, analysis, failure = _name(source), None, None, None
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
        except ContradictedState as error:
            if not error.of_file:
                raise
            # that a file's own pose is none is a finding, about the nearest one
            analysis = request(replace(judged, state=replace(judged.state, given=frozenset())))
    except BadUsage:
        raise
    except MbPluginError as error:
        failure = _as_finding(error, name, scene)
    found = [] if scene is None else _findings(scene, analysis, selection)
    if failure is not None:
        found.append(failure)
    return Report(name, by_severity(found), analysis, scene, fail_on)


def _require_known_codes(scene: Scene) -> None:
    """Refuse a scene of which ``[lint]`` names codes that no rule has.

    Raises
    ------
    BadScene
        With the closest rule.
    """
    stated = scene.options
    try:
        known_codes(stated.ignore, "[lint] ignore")
        known_codes(stated.extend_select, "[lint] extend_select")
    except BadUsage as error:
        where = next(iter(scene.files), scene.mechanism.name)
        raise BadScene(error.what, where=where, remedy=error.remedy) from None


def _findings(scene: Scene, analysis: Analysis | None, selection: Selection) -> list[Finding]:
    stated = scene.options
    both = Selection(
        selection.select,
        (*selection.ignore, *stated.ignore),
        (*selection.extend_select, *stated.extend_select),
    )
    return list(apply_rules(scene, analysis, both))


def by_severity(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings in the order of a report: the most severe first, then by code."""
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
    if client_id(source) is not None:
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
    client = client_id(source)
    return os.fspath(cast("str", source)) if client is None else f"<client {client}>"


def _as_finding(error: MbPluginError, source: str, scene: Scene | None) -> Finding:
    """Return unusable input as a finding; ``where`` is file:line when the error knows it."""
    rule = find_rule(error.code)
    file, _, line = error.where.rpartition(":")
    known = bool(file) and line.isdigit()
    element, place = ("", None) if scene is None or error.where else _quoted_constraint(error, scene)
    if place is not None:
        file, line, known = place.file, str(place.line), True
    return Finding(
        rule.code,
        rule.name,
        "error",
        error.sentence(),
        element=element,
        file=file if known else error.where or source,
        line=int(line) if known else 0,
        evidence={FRAGMENT: True} if isinstance(error, Fragment) else {},
        help=error.remedy or rule.remedy,
    )


def _quoted_constraint(error: MbPluginError, scene: Scene) -> tuple[str, Origin | None]:
    """Return the constraint that an error names, and where it was written: mechanics know no files."""
    quoted = (c.name for c in scene.mechanism.constraints() if repr(c.name) in error.what)
    name = next(quoted, "")
    return name, scene.origin.get(("constraint", name, ""))
