"""A stop as text: times and positions of rest, dissipated energy, and assumptions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mbplugin.model.component import units_of
from mbplugin.model.units import SI, Units
from mbplugin.report.text.blocks import event_lines, sentences_under, table_lines, warning_lines
from mbplugin.report.text.layout import PLAIN_WIDTH, Line, wrapped

if TYPE_CHECKING:
    from mbplugin.stopping.outcome.peaks import PeakWrench
    from mbplugin.stopping.outcome.values import JointStop, StopReport

OUTCOME_WORDS = {
    "stopped": "stopped",
    "limit_hit": "ran into a joint limit",
    "not_stopped": "not stopped",
    "slipped_back": "slipped back",
    "budget_spent": "still moving when the budget was spent,",
}
_KINDS = ("stick", "slip", "limit", "lock")


def estop_lines(report: StopReport, width: int = PLAIN_WIDTH, units: Units = SI) -> Iterator[Line]:
    """Yield the report of one stop, with angles and lengths in some units."""
    yield from warning_lines(report.scenario.of_effort.warning, width)
    yield from (Line(text, "bold") for text in wrapped(_headline(report), width, "", "  "))
    yield from _joints(report, units)
    yield from _tool(report, width, units)
    yield from _peaks(report)
    yield from _energies(report)
    yield from event_lines([event for event in report.events if event.kind in _KINDS], width, 6)
    yield from sentences_under("Assumed", report.assumed, width)
    yield from sentences_under("Notes", report.notes, width)


def _headline(report: StopReport) -> str:
    return (
        f"{report.scenario.mech.name}: stop of category {report.scenario.category},"
        f" {OUTCOME_WORDS[report.outcome]} after {report.time:.4g} s ({report.reaction_time:.4g} s until"
        f" braking starts); computed, not measured"
    )


def _joints(report: StopReport, units: Units) -> Iterator[Line]:
    rows = [(f"{j.name} [{units.shown(j.unit)[1]}]", joint_cells(j, units)) for j in report.joints]
    yield from table_lines(
        "joint", ("rate [/s]", "time [s]", "travel", "reaction", "braking", "rests at", "brake [J]"), rows
    )


def joint_cells(j: JointStop, units: Units = SI) -> list[str]:
    """Return how a joint stops, as cells: rate, time, travels, where it rests, energy of its brake."""
    size, _ = units.shown(j.unit)
    rate, *travels, end = (size * v for v in (j.rate, j.travel, j.reaction_travel, j.braking_travel, j.end))
    return [f"{value:.4g}" for value in (rate, j.time, *travels, end, j.brake_energy)]


def tool_sentences(report: StopReport, units: Units = SI) -> tuple[str, str, str]:
    """Return how the tool stops, what the arm sweeps, and the usual simplification, without full stops."""
    tool, naive, corridor = report.tool, report.naive, report.corridor
    size, m = units.shown("m")
    edges = [f"{size * edge:.{3 if units.is_si else 5}g}" for edge in (corridor.upper - corridor.lower)]
    distances = (tool.speed, tool.distance, tool.reaction_distance, tool.braking_distance, tool.displacement)
    speed, way, before, braking, straight = (f"{size * value:.4g} {m}" for value in distances)
    return (
        f"tool {tool.body}: {speed}/s at the signal, {way} along its path to rest"
        f" ({before} before braking, {braking} braking), {straight} straight",
        f"swept corridor: a box of {' × '.join(edges)} {m}",
        f"with rates set to zero: {naive.time:.4g} s, tool error {size * naive.tool_error:.4g} {m},"
        f" {naive.energy_ignored:.4g} J neglected",
    )


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


def _peaks(report: StopReport) -> Iterator[Line]:
    rows = [
        (
            f"{p.pair} ({p.role})",
            [f"{value:.4g}" for value in (p.force, p.force_time, p.moment, p.moment_time)]
            + ([] if p.unique else ["not unique"]),
        )
        for p in report.peaks
    ]
    yield from table_lines("largest loads", ("force [N]", "at [s]", "moment [N·m]", "at [s]"), rows)
    rows = [(p.pair, axis_cells(p)) for p in report.peaks if p.axis is not None]
    if rows:
        heads = ("force [N]", "moment [N·m]", "along axis", "drive", "brake", "friction")
        yield from table_lines("bearing and axis", heads, rows)


def axis_cells(peak: PeakWrench) -> list[str]:
    """Return what the bearing of a joint carries at most, and what acts along its axis, as cells."""
    cells = [f"{peak.structural_force:.4g}", f"{peak.structural_moment:.4g}"]
    if peak.axis is not None:
        axis = peak.axis
        cells.append(f"{axis.total.value:.4g} {axis.unit}")
        cells += [f"{one.value:.4g}" for one in (axis.drive, axis.brake, axis.friction)]
    return cells


def _energies(report: StopReport) -> Iterator[Line]:
    rows = [(words, [f"{value:.4g}"]) for words, value in report.energies.labelled]
    yield from table_lines("energy", ("[J]",), rows)
