"""The contents of one chapter of a report: the values of one model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mbplugin.model.units import SI, Units
from mbplugin.stopping.scenario.effort_limits import NO_EFFORT_LIMITS, EffortLimits, brakes_of_effort
from mbplugin.stopping.scenario.tool_choice import NO_TOOL, ToolChoice

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.comparison.agreement import Agreement
    from mbplugin.comparison.models.values import ModelDiff
    from mbplugin.comparison.side_by_side.values import SideBySide
    from mbplugin.joint_reactions.values import Reactions
    from mbplugin.linter.run import Report
    from mbplugin.model.mechanism.mechanism import Mechanism
    from mbplugin.model.scene import Scene
    from mbplugin.report.against.values import Comparison
    from mbplugin.report.record import Record
    from mbplugin.simulation.trajectory.trajectory import Trajectory
    from mbplugin.stopping.calibration.values import Calibration
    from mbplugin.stopping.outcome.values import StopReport
    from mbplugin.stopping.sweep.swept import Swept
    from mbplugin.stopping.table.values import StoppingTable
    from mbplugin.stopping.worst.values import WorstStops
    from mbplugin.stopping.zones.distance import Distance


@dataclass(frozen=True, eq=False, kw_only=True)
class Chapter:
    """One model; every part may be missing, and then its sections are.

    Parameters
    ----------
    title : str
        Its heading, the model's name or file.
    model : Scene or Mechanism, optional
        What the 3D view shows; shapes come from a scene.
    report : Report, optional
        A lint.
    analysis : Analysis, optional
        The verdicts; a report brings its own.
    motion : Trajectory, optional
        Curves and a film; a stop brings its own.
    pairs : tuple of str
        Whose reactions are drawn along the motion.
    agreement : Agreement, optional
        The comparison with PyBullet.
    side_by_side : SideBySide, optional
        Joint forces of several engines.
    difference : ModelDiff, optional
        The comparison with another model.
    notes : tuple of str
        What is missing, and why.
    record : Record, optional
        How the report was made.
    comparison : Comparison, optional
        What differs from an earlier report.
    units : Units
        Of the angles and lengths of a stop and a table.
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
    agreement: Agreement | None = None
    side_by_side: SideBySide | None = None
    difference: ModelDiff | None = None
    notes: tuple[str, ...] = ()
    record: Record | None = None
    comparison: Comparison | None = None
    units: Units = SI

    @property
    def verdicts(self) -> Analysis | None:
        """The analysis, own or the report's."""
        return self.report.analysis if self.analysis is None and self.report is not None else self.analysis

    @property
    def of_effort(self) -> EffortLimits:
        """The brakes and decelerations behind the numbers that are assumed."""
        if self.stop is not None:
            return self.stop.scenario.of_effort
        if self.sweep is not None:
            return self.sweep.plan.scenario.of_effort
        if self.distance is not None:
            return self.distance.stop.of_effort
        if self.motion is not None:
            return brakes_of_effort(self.motion.actions.brakes)
        own = self.table or self.worst or self.agreement
        return NO_EFFORT_LIMITS if own is None else own.of_effort

    @property
    def tool_choice(self) -> ToolChoice:
        """The point of which speed and way are computed."""
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
        """What stands above the numbers where some of them are assumed."""
        searched = "" if self.worst is None else self.worst.searches.warning
        return tuple(filter(None, (self.of_effort.warning, self.tool_choice.warning, searched)))

    @property
    def moving(self) -> Trajectory | None:
        """The motion, own or the stop's."""
        return self.stop.trajectory if self.motion is None and self.stop is not None else self.motion
