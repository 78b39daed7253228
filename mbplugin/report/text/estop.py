"""A stop as text: times and positions of rest, dissipated energy, and assumptions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

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


def estop_lines(report: StopReport, width: int = PLAIN_WIDTH) -> Iterator[Line]:
    """Yield the report of one stop."""
    yield from warning_lines(report.scenario.of_effort.warning, width)
    yield from (Line(text, "bold") for text in wrapped(_headline(report), width, "", "  "))
    yield from _joints(report)
    yield from _tool(report, width)
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


def _joints(report: StopReport) -> Iterator[Line]:
    rows = [(f"{j.name} [{j.unit}]", joint_cells(j)) for j in report.joints]
    yield from table_lines(
        "joint", ("rate [/s]", "time [s]", "travel", "reaction", "braking", "rests at", "brake [J]"), rows
    )


def joint_cells(j: JointStop) -> list[str]:
    """Return how a joint stops, as cells: rate, time, travels, where it rests, energy of its brake."""
    travels = (j.travel, j.reaction_travel, j.braking_travel)
    return [f"{value:.4g}" for value in (j.rate, j.time, *travels, j.end, j.brake_energy)]


def _tool(report: StopReport, width: int) -> Iterator[Line]:
    tool, naive, corridor = report.tool, report.naive, report.corridor
    box = " × ".join(f"{high - low:.3g}" for low, high in zip(corridor.lower, corridor.upper, strict=True))
    yield Line()
    for sentence in (
        f"tool {tool.body}: {tool.speed:.4g} m/s at the signal, {tool.distance:.4g} m along its path to rest"
        f" ({tool.reaction_distance:.4g} m before braking, {tool.braking_distance:.4g} m braking),"
        f" {tool.displacement:.4g} m straight",
        f"swept corridor: a box of {box} m",
        f"with rates set to zero: {naive.time:.4g} s, tool error {naive.tool_error:.4g} m,"
        f" {naive.energy_ignored:.4g} J neglected",
    ):
        yield from (Line(text) for text in wrapped(sentence, width, "  ", "    "))
    if report.impact is not None:
        hit = report.impact
        said = (
            f"{hit.joint} runs into its end stop at {hit.rate:.4g}/s: {hit.impulse:.4g} N·m·s or N·s,"
            f" {hit.energy:.4g} J"
        )
        yield from (Line(text) for text in wrapped(said, width, "  ", "    "))


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
