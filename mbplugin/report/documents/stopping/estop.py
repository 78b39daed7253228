"""The JSON document of ``mbplugin estop`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from mbplugin.model.enumerations import CoordinateUnit, PairRole, ReactionUnit, StopCategory
from mbplugin.report.documents.part import (
    ByName,
    Model,
    Part,
    Recorded,
    Six,
    Size,
    Three,
    by_name,
    key,
)
from mbplugin.report.documents.stopping.stops import EffortLimits, JointBrake, StopEvent, ToolChoice
from mbplugin.stopping.outcome.outcome import StopOutcome

if TYPE_CHECKING:
    from mbplugin.stopping.outcome.values import StopReport


class _JointStop(Part):
    name: str
    unit: CoordinateUnit
    start: float
    end: float
    rate: float
    reaction_time: Size
    braking_time: float
    reaction_travel: float
    braking_travel: float
    back: float = key("how far it has come back")
    brake_energy: float = key("J")
    stopped: bool
    time: Size = key("s")
    travel: float


class _ToolStop(Part):
    body: str
    speed: Size = key("at the signal, m/s")
    distance: Size = key("along the path, m")
    displacement: Size = key("straight, m")
    reaction_distance: Size
    braking_distance: Size
    path: list[Three] = key("world, m")


class _Box(Part):
    lower: Three
    upper: Three


class _Corridor(_Box):
    bodies: dict[str, _Box]
    without_shape: list[str] = key(read="left_out")

    @classmethod
    def of(cls, value: Any = None, **stated: Any) -> dict[str, Any]:
        return super().of(value, bodies={name: tuple(box) for name, box in value.bodies.items()})


class _Energies(Part):
    kinetic: float
    potential: float
    driven: float
    applied: float
    brakes: float
    losses: float
    residual: float


class _InstantStop(Part):
    q: ByName
    time: Size = key("s")
    tool_distance: Size = key("along the path, m", read="distance")
    tool_displacement: Size = key("straight, m", read="displacement")
    tool_error: Size = key("m")
    energy_ignored: float = key("J")


class _Impact(Part):
    joint: str
    freedom: str = key("of the joint, rx to tz")
    rate: float
    impulse: Size = key("N·m·s, N·s")
    energy: float


class _PeakLoad(Part):
    value: Size = key("N·m, N")
    time: float = key("s")


class _AxisPeaks(Part):
    freedom: Literal["rz", "tz"]
    unit: ReactionUnit
    total: _PeakLoad
    drive: _PeakLoad
    brake: _PeakLoad
    friction: _PeakLoad


class _PeakWrench(Part):
    pair: str
    role: PairRole
    force: Size = key("N; all that passes through the pair: bearing, drive, brake, friction")
    moment: Size = key("N·m; all that passes through the pair")
    force_time: float
    moment_time: float
    components: Six = key("largest sizes of tx ty tz rx ry rz, N and N·m")
    structural_force: Size = key("N; what the bearing carries, nothing along the freedoms")
    structural_moment: Size = key("N·m; what the bearing carries")
    structural_force_time: float
    structural_moment_time: float
    axis: _AxisPeaks | None = key("about or along the axis of a pair with one freedom")
    unique: bool


class Output(Recorded):
    """A stop of a moving robot."""

    source: str = key("the FILE as it was given")
    model: Model
    computed_not_measured: Literal[True]
    category: StopCategory
    tolerance: Size = key("relative rank tolerance")
    outcome: StopOutcome
    time: Size = key("from the signal to rest, s")
    reaction_time: Size = key("until the first brake grips or drive leads, s")
    braking_time: float = key("s")
    q_end: ByName = key("rad, m")
    joints: list[_JointStop]
    tool: _ToolStop
    corridor: _Corridor
    energies: _Energies = key("J; kinetic + potential + driven + applied = brakes + losses + residual")
    naive: _InstantStop
    impact: _Impact | None
    peaks: list[_PeakWrench]
    events: list[StopEvent]
    brakes: list[JointBrake]
    decelerations: ByName = key("rad/s², m/s²")
    stated: list[str] = key(
        "brakes and ramps, and where they come from", read="scenario.stated", optional=True
    )
    assumed: list[str]
    of_effort: EffortLimits = key("brakes and decelerations that are not stated", optional=True)
    tool_choice: ToolChoice = key("of which point speed and way are computed, and why", optional=True)
    notes: list[str]


def estop_document(report: StopReport, source: str, files: Sequence[str]) -> dict[str, Any]:
    """Return the document of one stop."""
    scenario = report.scenario
    names = scenario.mech.q_names
    return Output.of(
        report,
        source=source,
        model=(scenario.mech.name, files),
        category=scenario.category,
        tolerance=scenario.tolerance,
        q_end=by_name(names, report.trajectory.q[-1]),
        naive=_InstantStop.of(report.naive, q=by_name(names, report.naive.q)),
        brakes=scenario.brakes,
        decelerations=scenario.decelerations,
        of_effort=scenario.of_effort,
        tool_choice=scenario.tool_choice,
    )
