"""A stop as text: times and positions of rest, dissipated energy, and assumptions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from mbplugin.model.component import units_of
from mbplugin.model.units import SI, Units
from mbplugin.phrases import joined_by_words
from mbplugin.report.rounding import largest_of, shown
from mbplugin.report.text.blocks import event_lines, sentences_under, warning_lines
from mbplugin.report.text.layout import PLAIN_WIDTH, Line, wrapped
from mbplugin.report.text.table import table_lines

if TYPE_CHECKING:
    from mbplugin.stopping.outcome.peaks import PeakWrench
    from mbplugin.stopping.outcome.values import JointStop, StopReport

OUTCOME_WORDS = {
    "stopped": "stopped",
    "limit_hit": "ran into a joint limit",
    "not_stopped": "not stopped",
    "loop_opened": "a loop opened",
    "slipped_back": "slipped back",
    "budget_spent": "still moving when the budget was spent",
}
_KINDS = ("stick", "slip", "limit", "lock")
#: J: where nothing moves, the largest energy is rounding too.
_LEAST_ENERGY = 1e-9


def estop_lines(report: StopReport, width: int = PLAIN_WIDTH, units: Units = SI) -> Iterator[Line]:
    """Yield the report of one stop, with angles and lengths in some units."""
    yield from warning_lines(report.scenario.of_effort.warning, width)
    yield from warning_lines(report.scenario.tool_choice.warning, width)
    yield from (Line(text, "bold") for text in wrapped(_headline(report), width, "", "  "))
    yield from _joints(report, width, units)
    yield from _tool(report, width, units)
    yield from _peaks(report, width)
    yield from _energies(report, width)
    yield from event_lines([event for event in report.events if event.kind in _KINDS], width, 6)
    yield from sentences_under("Brakes and ramps", report.scenario.stated, width)
    yield from sentences_under("Assumed", joined_by_words(report.assumed), width)
    yield from sentences_under("Notes", report.notes, width)


def _headline(report: StopReport) -> str:
    return (
        f"{report.scenario.mech.name}: stop of category {report.scenario.category},"
        f" {OUTCOME_WORDS[report.outcome]} after {report.time:.4g} s ({report.reaction_time:.4g} s until"
        f" braking starts); computed, not measured"
    )


def _joints(report: StopReport, width: int, units: Units) -> Iterator[Line]:
    energy = energy_scale(report)
    rows = [(f"{j.name} [{units.shown(j.unit)[1]}]", joint_cells(j, energy, units)) for j in report.joints]
    heads = ("rate [/s]", "time [s]", "travel", "in reaction", "in braking", "rests at", "brake [J]")
    yield from table_lines("joint", heads, rows, width)


def energy_scale(report: StopReport) -> float:
    """Return the largest energy of a stop, J: others may be rounding beside it."""
    return largest_of([_LEAST_ENERGY, *(value for _, value in report.energies.labelled)])


def joint_cells(j: JointStop, energy: float, units: Units = SI) -> list[str]:
    """Return how a joint stops, as cells: rate, time, travels, where it rests, energy of its brake.

    ``energy`` is the largest one of the stop, J.
    """
    size, _ = units.shown(j.unit)
    rate, *ways = (
        shown(v, size=size) for v in (j.rate, j.travel, j.reaction_travel, j.braking_travel, j.end)
    )
    return [rate, shown(j.time), *ways, shown(j.brake_energy, energy)]


def tool_sentences(report: StopReport, units: Units = SI) -> tuple[str, str, str]:
    """Return how the tool stops, what the arm sweeps, and the usual simplification, without full stops."""
    tool, naive, corridor = report.tool, report.naive, report.corridor
    size, m = units.shown("m")
    edges = [f"{size * edge:.{3 if units.is_si else 5}g}" for edge in (corridor.upper - corridor.lower)]
    distances = (tool.speed, tool.distance, tool.reaction_distance, tool.braking_distance, tool.displacement)
    speed, way, before, braking, straight = (f"{shown(value, size=size)} {m}" for value in distances)
    return (
        f"tool {tool.body}: {speed}/s at the signal, {way} along its path {_end(report)}"
        f" ({before} before braking, {braking} braking), {straight} straight",
        f"swept corridor: a box of {' × '.join(edges)} {m}",
        f"with rates set to zero: {naive.time:.4g} s, tool error {shown(naive.tool_error, size=size)} {m},"
        f" {shown(naive.energy_ignored, energy_scale(report))} J neglected",
    )


def _end(report: StopReport) -> str:
    if report.outcome == "stopped":
        return "to rest"
    if report.outcome == "limit_hit":
        return "to the end stop"
    return f"until {report.trajectory.time[-1]:.4g} s, not at rest"


def impact_sentence(report: StopReport, units: Units = SI) -> str:
    """Return how a joint runs into its end stop, without a full stop; empty where none does."""
    hit = report.impact
    if hit is None:
        return ""
    own = units_of(hit.freedom)
    size, unit = units.shown(own.coordinate)
    return (
        f"{hit.joint} runs into its end stop at {size * hit.rate:.4g} {unit}/s: {hit.impulse:.4g} {own.force}·s,"
        f" {hit.energy:.4g} J"
    )


def _tool(report: StopReport, width: int, units: Units) -> Iterator[Line]:
    yield Line()
    for sentence in filter(None, (*tool_sentences(report, units), impact_sentence(report, units))):
        yield from (Line(text) for text in wrapped(sentence, width, "  ", "    "))


def _peaks(report: StopReport, width: int) -> Iterator[Line]:
    scales = load_scales(report)
    rows = [
        (f"{p.pair} ({p.role})", peak_cells(p, scales) + ([] if p.unique else ["not unique"]))
        for p in report.peaks
    ]
    yield from table_lines("largest loads", ("force [N]", "at [s]", "moment [N·m]", "at [s]"), rows, width)
    rows = [(p.pair, axis_cells(p, scales)) for p in report.peaks if p.axis is not None]
    if rows:
        heads = ("force [N]", "moment [N·m]", "along axis", "drive", "brake", "friction")
        yield from table_lines("bearing and axis", heads, rows, width)


def load_scales(report: StopReport) -> Mapping[str, float]:
    """Return the largest force and moment of a stop, by unit: others may be rounding beside them."""
    return {
        "N": largest_of(peak.force for peak in report.peaks),
        "N·m": largest_of(peak.moment for peak in report.peaks),
    }


def peak_cells(peak: PeakWrench, scales: Mapping[str, float]) -> list[str]:
    """Return the largest force and moment of a joint with their times, as cells."""
    force, moment = shown(peak.force, scales["N"]), shown(peak.moment, scales["N·m"])
    return [force, shown(peak.force_time), moment, shown(peak.moment_time)]


def axis_cells(peak: PeakWrench, scales: Mapping[str, float]) -> list[str]:
    """Return what the bearing of a joint carries at most, and what acts along its axis, as cells."""
    cells = [shown(peak.structural_force, scales["N"]), shown(peak.structural_moment, scales["N·m"])]
    if peak.axis is not None:
        axis, largest = peak.axis, scales[peak.axis.unit]
        parts = (axis.total, axis.drive, axis.brake, axis.friction)
        cells += [f"{shown(one.value, largest)} {axis.unit}" for one in parts]
    return cells


def energy_rows(report: StopReport) -> list[tuple[str, str]]:
    """Return the energies of a stop, J, as words and cells."""
    largest = energy_scale(report)
    return [(words, shown(value, largest)) for words, value in report.energies.labelled]


def _energies(report: StopReport, width: int) -> Iterator[Line]:
    rows = [(words, [cell]) for words, cell in energy_rows(report)]
    yield from table_lines("energy", ("[J]",), rows, width)
