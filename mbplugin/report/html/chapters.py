"""Chapters of a page from the results of commands; an analysis and reactions are added if possible."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.model import SI, Array, Mechanism, Scene, Units, base_sentence, held_sentence, with_coordinates
from mbplugin.phrases import Assumption
from mbplugin.readers import sources_of
from mbplugin.readers.standing import stance_sentence, taken_in
from mbplugin.report.record import Record, judged, reactions_at_rest, record_of
from mbplugin.stopping.scenario import NO_EFFORT_LIMITS, NO_TOOL, EffortLimits, ToolChoice, brakes_of_effort

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.comparison.agreement import Agreement
    from mbplugin.comparison.models.alignment import ModelDiff
    from mbplugin.comparison.side_by_side import SideBySide
    from mbplugin.joint_reactions.values import Reactions
    from mbplugin.linter.run import Report
    from mbplugin.report.against import Comparison
    from mbplugin.simulation.equilibrium import Linearization
    from mbplugin.simulation.trajectory.trajectory import Trajectory
    from mbplugin.stopping.calibration import Calibration
    from mbplugin.stopping.outcome import StopReport
    from mbplugin.stopping.sweep import Swept
    from mbplugin.stopping.table import StoppingTable
    from mbplugin.stopping.worst_search import WorstStops
    from mbplugin.stopping.zones import StopZone
    from mbplugin.stopping.zones.distance import Distance


def lint_chapter(report: Report, command: str = "") -> Chapter:
    """Return the chapter of a lint, with the joint reactions at rest under the scene's loads.

    It has a record only if the ``command`` is given.
    """
    analysis, scene = report.analysis, report.scene
    files = sources_of(scene) if command and scene is not None else ()
    record = record_of(command, analysis.mechanism.name if analysis else "", files) if command else None
    if scene is None or analysis is None:
        return Chapter(title=report.source, model=scene, report=report, record=record)
    reactions, note = reactions_at_rest(scene, analysis)
    return Chapter(
        title=analysis.mechanism.name or report.source,
        model=scene,
        record=record,
        report=report,
        reactions=reactions,
        notes=note,
    )


def motion_chapter(scene: Scene, motion: Trajectory, pairs: tuple[str, ...] = ()) -> Chapter:
    """Return the chapter of a motion, with the reactions of ``pairs`` and the analysis at its start."""
    title, model = f"Motion of {scene.mechanism.name}", taken_in(scene, motion.mechanism)
    return _at(model, title, motion.q[0], motion.tolerance, motion.planar, motion=motion, pairs=pairs)


def modes_chapter(scene: Scene, found: Linearization) -> Chapter:
    """Return the chapter of small motions, with the analysis at the pose of rest."""
    rest = found.equilibrium
    model = taken_in(scene, found.mechanism)
    return _at(model, f"Modes of {scene.mechanism.name}", rest.q, rest.tolerance, rest.planar, modes=found)


def stop_chapter(scene: Scene, stop: StopReport, units: Units = SI) -> Chapter:
    """Return the chapter of a stop, with the analysis at the pose of the signal."""
    motion, title = stop.trajectory, f"Stop of {scene.mechanism.name}"
    return _at(scene, title, motion.q[0], motion.tolerance, stop=stop, units=units)


def table_chapter(table: StoppingTable, units: Units = SI, scene: Scene | None = None) -> Chapter:
    """Return the chapter of a stopping table; a scene adds a view of the stop with the longest tool path."""
    notes: tuple[str, ...] = ()
    title, model = f"Stopping table of {table.model}", None
    if scene is not None and table.rows:
        longest = max(table.rows, key=lambda row: row["tool_distance"])
        model = with_coordinates(scene, longest["q"])
        what = (
            f"category {longest['category']}, {longest['joint']}, {longest['extension_percent']} % extension"
        )
        notes = (f"the view shows the pose at the signal of the row with the longest tool path: {what}",)
    return Chapter(title=title, model=model, table=table, notes=notes, units=units)


def worst_chapter(worst: WorstStops, units: Units = SI) -> Chapter:
    """Return the chapter of the worst stops of a search."""
    return Chapter(title=f"Worst stops of {worst.model}", worst=worst, units=units)


def calibration_chapter(calibration: Calibration, units: Units = SI) -> Chapter:
    """Return the chapter of a calibration."""
    return Chapter(title=f"Calibration of {calibration.model}", calibration=calibration, units=units)


def sweep_chapter(swept: Swept, units: Units = SI) -> Chapter:
    """Return the chapter of a sweep."""
    return Chapter(title=f"Sweep of stops of {swept.plan.scenario.mech.name}", sweep=swept, units=units)


def distance_chapter(distance: Distance) -> Chapter:
    """Return the chapter of a separation distance."""
    return Chapter(title=f"Separation distance of {distance.stop.model}", distance=distance)


def reactions_chapter(scene: Scene, reactions: Reactions) -> Chapter:
    """Return the chapter of joint reactions, with the analysis at their pose."""
    title = f"Joint reactions of {scene.mechanism.name}"
    return _at(scene, title, reactions.q, reactions.tolerance, reactions.planar, reactions=reactions)


def engines_chapter(scene: Scene, found: SideBySide) -> Chapter:
    """Return the chapter of joint forces of several engines, with the analysis at their pose."""
    # locked joints have no coordinate in that mechanism
    moved = dict(zip(found.mechanism.q_names, found.q, strict=True))
    names, stated = scene.mechanism.q_names, scene.state.q
    q = np.array([moved.get(name, value) for name, value in zip(names, stated, strict=True)])
    return _at(scene, f"Joint forces of {scene.mechanism.name}", q, found.tolerance, side_by_side=found)


def diff_chapter(scene: Scene, found: ModelDiff) -> Chapter:
    """Return the chapter of a comparison of two models; the view shows the first."""
    return _at(scene, f"{found.a.name} and {found.b.name}", scene.state.q, difference=found)


def agreement_chapter(scene: Scene, agreement: Agreement) -> Chapter:
    """Return the chapter of a comparison with an engine; judged at the scene's pose."""
    title = f"{scene.mechanism.name} beside {agreement.engine}"
    return _at(scene, title, scene.state.q, agreement.tolerance, agreement=agreement)


def _at(
    scene: Scene,
    title: str,
    q: Array,
    tolerance: float | None = None,
    planar: str | None = None,
    **results: Any,
) -> Chapter:
    """Return the chapter of some results, with the analysis at q (nq,)."""
    analysis, note = judged(scene, q, planar, tolerance)
    return Chapter(title=title, model=scene, analysis=analysis, notes=note, **results)


# The contents of one chapter: the results for one model.


@dataclass(frozen=True, eq=False, kw_only=True)
class Chapter:
    """The results for one model; sections without results are left out.

    Parameters
    ----------
    title : str
        Heading, such as the name or file of the model.
    model : Scene or Mechanism, optional
        Drawn in the 3D view; a scene provides shapes.
    report : Report, optional
        The report of a lint.
    analysis : Analysis, optional
        The verdicts; by default those of the report.
    motion : Trajectory, optional
        Drawn as curves and a film; by default that of the stop.
    pairs : tuple of str
        Pairs whose reactions are drawn along the motion.
    zone : StopZone, optional
        The area that the stops sweep, drawn as a plan.
    agreement : Agreement, optional
        The comparison with PyBullet.
    side_by_side : SideBySide, optional
        Joint forces of several engines.
    difference : ModelDiff, optional
        The comparison with another model.
    modes : Linearization, optional
        Small motions about a pose of rest, drawn as swings.
    notes : tuple of str
        Missing parts with the reason, and other remarks.
    record : Record, optional
        The record of the report.
    comparison : Comparison, optional
        The differences from an earlier report.
    units : Units
        Units of angles and lengths in the sections on stops.
    """

    title: str
    model: Scene | Mechanism | None = None
    report: Report | None = None
    analysis: Analysis | None = None
    reactions: Reactions | None = None
    motion: Trajectory | None = None
    pairs: tuple[str, ...] = ()
    stop: StopReport | None = None
    table: StoppingTable | None = None
    worst: WorstStops | None = None
    calibration: Calibration | None = None
    sweep: Swept | None = None
    distance: Distance | None = None
    zone: StopZone | None = None
    agreement: Agreement | None = None
    side_by_side: SideBySide | None = None
    difference: ModelDiff | None = None
    modes: Linearization | None = None
    notes: tuple[str, ...] = ()
    record: Record | None = None
    comparison: Comparison | None = None
    units: Units = SI

    @property
    def searched(self) -> tuple[WorstStops, ...]:
        """The worst stops of a search, or those of each category of a table."""
        if self.worst is not None:
            return (self.worst,)
        return self.table.searched if self.table is not None else ()

    @property
    def verdicts(self) -> Analysis | None:
        """The analysis of the chapter, else that of its report."""
        return self.report.analysis if self.analysis is None and self.report is not None else self.analysis

    @property
    def of_effort(self) -> EffortLimits:
        """The assumed brakes, decelerations and other assumptions behind the numbers."""
        if self.stop is not None:
            return self.stop.scenario.of_effort
        if self.sweep is not None:
            return self.sweep.plan.scenario.of_effort
        if self.distance is not None:
            return self.distance.stop.of_effort
        if self.modes is not None:
            assumed = (note for note in self.modes.equilibrium.notes if isinstance(note, Assumption))
            taken = (*base_sentence(self.modes.mechanism.assumed_fixed), *assumed)
            return NO_EFFORT_LIMITS._replace(taken=taken)
        if self.motion is not None:
            return brakes_of_effort(self.motion.actions.brakes)
        if (standing := self.reactions or self.side_by_side) is not None:
            stance = stance_sentence(standing.stance)
            taken = (
                *base_sentence(standing.mechanism.assumed_fixed),
                *stance,
                *held_sentence(standing.assumed_held),
            )
            return NO_EFFORT_LIMITS._replace(taken=taken)
        own = self.table or self.worst or self.agreement
        return NO_EFFORT_LIMITS if own is None else own.of_effort

    @property
    def tool_choice(self) -> ToolChoice:
        """The tool point whose speed and path are computed."""
        if self.stop is not None:
            return self.stop.scenario.tool_choice
        if self.sweep is not None:
            return self.sweep.plan.scenario.tool_choice
        if self.distance is not None:
            return self.distance.tool_choice
        own = self.table or self.worst
        return NO_TOOL if own is None else own.tool_choice

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings to print above the numbers, for example on assumed brakes."""
        if (made := self.table or self.distance) is not None:
            return made.warnings
        searched = (worst.searches.warning for worst in self.searched)
        of_fit = () if self.calibration is None else self.calibration.not_determined
        return tuple(filter(None, (*self.of_effort.warnings, *of_fit, self.tool_choice.warning, *searched)))

    @property
    def moving(self) -> Trajectory | None:
        """The motion of the chapter, else that of its stop."""
        return self.stop.trajectory if self.motion is None and self.stop is not None else self.motion
