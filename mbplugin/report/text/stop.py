"""One stop as text: what each joint does, the tool's path, the peak loads and the energies; and tolerance bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isinf
from typing import TYPE_CHECKING

from mbplugin.model import SI, Units, said_in, units_of
from mbplugin.phrases import counted, joined_by_words, rounded_up
from mbplugin.report import largest_of, shown
from mbplugin.report.text import (
    PLAIN_WIDTH,
    Line,
    event_lines,
    first_lines,
    sentences_under,
    table_lines,
    wrapped,
)
from mbplugin.stopping import ToleranceBound

if TYPE_CHECKING:
    from mbplugin.stopping.outcome import JointStop, PeakWrench, StopReport

_KINDS = ("stick", "slip", "limit", "lock")
#: Lower bound of the energy scale, J: if nothing moves, even the largest energy is rounding.
_LEAST_ENERGY = 1e-9


def estop_lines(report: StopReport, width: int = PLAIN_WIDTH, units: Units = SI) -> Iterator[Line]:
    """Yield the report of one stop, with angles and lengths in the given units."""
    warnings = (*report.scenario.of_effort.warnings, report.scenario.tool_choice.warning)
    verdict, style = (falling_sentence(report), "bold red") if report.falls else (_headline(report), "bold")
    headline = [Line(text, style) for text in wrapped(verdict, width, "", "  ")]
    yield from first_lines(headline, warnings, width, notes=report.notes)
    yield from _joints(report, width, units)
    yield from _tool(report, width, units)
    yield from _peaks(report, width)
    rows = [(words, [cell]) for words, cell in energy_rows(report)]
    yield from table_lines("energy", ("[J]",), rows, width)
    yield from event_lines([event for event in report.events if event.kind in _KINDS], width, 6)
    yield from sentences_under("Brakes and ramps", said_in(report.scenario.stated, units), width)
    yield from sentences_under("Assumed", joined_by_words(report.assumed), width)
    yield from sentences_under("Notes", report.notes, width)


def _headline(report: StopReport) -> str:
    if report.outcome == "stopped" and not report.moves:
        return (
            f"{report.scenario.mech.name}: nothing moves at the signal, so nothing stops: state rates, such as --qd"
            " JOINT=1 (qd={JOINT: 1}), or see stops from full speed with stop-table; computed, not measured"
        )
    return (
        f"{report.scenario.mech.name}: stop of category {report.scenario.category},"
        f" {report.verdict} ({report.reaction_time:.4g} s until braking starts); computed, not measured"
    )


def _tool(report: StopReport, width: int, units: Units) -> Iterator[Line]:
    yield Line()
    for sentence in filter(None, (*tool_sentences(report, units), impact_sentence(report, units))):
        yield from (Line(text) for text in wrapped(sentence, width, "  ", "    "))


def falling_sentence(report: StopReport) -> str:
    """Return a sentence that the robot falls, and the option that fixes its base."""
    return (
        f"{report.scenario.mech.name} falls: nothing holds its base, so it has no stopping distance;"
        " --base fixed (base='fixed') holds it"
    )


def _joints(report: StopReport, width: int, units: Units) -> Iterator[Line]:
    energy = energy_scale(report)
    rows = [(f"{j.name} [{units.shown(j.unit)[1]}]", joint_cells(j, energy, units)) for j in report.joints]
    heads = ("rate [/s]", "time [s]", "travel", "in reaction", "in braking", "rests at", "brake [J]")
    yield from table_lines("joint", heads, rows, width)


def energy_scale(report: StopReport) -> float:
    """Return the largest energy of a stop, J, relative to which others may be rounding."""
    return largest_of([_LEAST_ENERGY, *(value for _, value in report.energies.labelled)])


def joint_cells(j: JointStop, energy: float, units: Units = SI) -> list[str]:
    """Return the cells of a joint's stop: rate, time, travels, rest position, energy of its brake.

    ``energy`` is the largest energy of the stop, J.
    """
    size, _ = units.shown(j.unit)
    rate, *ways = (
        shown(v, size=size) for v in (j.rate, j.travel, j.reaction_travel, j.braking_travel, j.end)
    )
    return [rate, shown(j.time), *ways, shown(j.brake_energy, energy)]


def tool_sentences(report: StopReport, units: Units = SI) -> tuple[str, str, str]:
    """Return sentences on the tool's stop, the swept corridor and the instant stop, without full stops."""
    tool, naive, corridor = report.tool, report.naive, report.corridor
    size, m = units.shown("m")
    if report.falls:
        return (
            f"tool {tool.body}: {shown(tool.speed, size=size)} {m}/s at the signal; it falls with the robot",
            "",
            "",
        )
    edges = [f"{size * edge:.{3 if units.is_si else 5}g}" for edge in (corridor.upper - corridor.lower)]
    distances = (tool.speed, tool.distance, tool.reaction_distance, tool.braking_distance, tool.displacement)
    speed, way, before, braking, straight = (f"{shown(value, size=size)} {m}" for value in distances)
    return (
        f"tool {tool.body}: {speed}/s at the signal, {way} along its path {_end(report)}"
        f" ({before} before braking, {braking} braking), {straight} straight",
        f"swept corridor: a box of {' × '.join(edges)} {m}",
        f"an instant stop would predict {naive.time:.4g} s, miss the tool position by "
        f"{shown(naive.tool_error, size=size)} {m} and neglect {shown(naive.energy_ignored, energy_scale(report))} J",
    )


def _end(report: StopReport) -> str:
    if report.outcome == "stopped":
        return "to rest"
    if report.outcome == "limit_hit":
        return "to the end stop"
    return f"until {report.trajectory.time[-1]:.4g} s, not at rest"


def impact_sentence(report: StopReport, units: Units = SI) -> str:
    """Return a sentence on a joint's impact on its end stop, without a full stop; empty if there is none."""
    hit = report.impact
    if hit is None:
        return ""
    own = units_of(hit.freedom)
    size, unit = units.shown(own.coordinate)
    return (
        f"{hit.joint} runs into its end stop at {size * hit.rate:.4g} {unit}/s: {hit.impulse:.4g} {own.force}·s,"
        f" {hit.energy:.4g} J"
    )


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
        yield from map(Line, wrapped(shared_sentence(report), width, "  ", "    "))


def load_scales(report: StopReport) -> Mapping[str, float]:
    """Return the largest force and moment of a stop by unit, relative to which others may be rounding."""
    return {
        "N": largest_of(peak.force for peak in report.peaks),
        "N·m": largest_of(peak.moment for peak in report.peaks),
    }


def peak_cells(peak: PeakWrench, scales: Mapping[str, float]) -> list[str]:
    """Return the cells of a joint's largest force and moment, with their times."""
    force, moment = shown(peak.force, scales["N"]), shown(peak.moment, scales["N·m"])
    return [force, shown(peak.force_time), moment, shown(peak.moment_time)]


def axis_cells(peak: PeakWrench, scales: Mapping[str, float]) -> list[str]:
    """Return the cells of the largest loads on a joint's bearing and along its axis."""
    cells = [shown(peak.structural_force, scales["N"]), shown(peak.structural_moment, scales["N·m"])]
    if peak.axis is not None:
        axis, largest = peak.axis, scales[peak.axis.unit]
        parts = (axis.total, axis.drive, axis.brake, axis.friction)
        cells += [f"{shown(one.value, largest)} {axis.unit}" for one in parts]
        cells[-2] += " (shared)" * axis.shared
    return cells


def shared_sentence(report: StopReport) -> str:
    """Return a sentence that explains "shared"; empty if no brake of the table is shared."""
    if not any(p.axis is not None and p.axis.shared for p in report.peaks):
        return ""
    return (
        "shared: several brakes hold this freedom; rigid bodies leave open how they share its load, and the value, one"
        " way of many, is more than this brake can carry"
    )


def energy_rows(report: StopReport) -> list[tuple[str, str]]:
    """Return the energies of a stop, J, as pairs of label and cell."""
    largest = energy_scale(report)
    return [(words, shown(value, largest)) for words, value in report.energies.labelled]


# Tolerance bounds as text: shares as percent, values rounded up, and reasons for missing bounds.


def percent(share: float) -> str:
    """Format a share as percent with up to ten digits, such as 99.9 %, so that nines are not rounded up."""
    return f"{100 * share:.10g} %"


def lower_percent(share: float) -> str:
    """Format a computed share as percent, rounded down to a tenth."""
    return f"{int(1000 * share + 1e-9) / 10:g} %"


def bounded(bound: ToleranceBound, size: float, unit: str) -> str:
    """Return a clause with a bound of measured values, or else with the share that the largest value bounds.

    Parameters
    ----------
    size : float
        Factor from SI to ``unit``.
    """
    assert bound.largest is not None
    share, value = percent(bound.share), bound.value
    if value is None:
        share, value = lower_percent(bound.share_of_largest), bound.largest
    sure = percent(bound.confidence)
    clause = (
        f"no more than {rounded_up(size * value)} {unit} in {share} of such stops, with {sure} confidence"
    )
    if bound.rank:
        return clause
    return f"{clause} ({percent(bound.share)} takes {bound.required} repeats, and there are {bound.count})"


def missing_sentence(bound: ToleranceBound) -> str:
    """Return the reason why there is no finite bound, with the number of stops required; empty if there is one."""
    goal = f"a bound of {percent(bound.share)} with {percent(bound.confidence)} confidence"
    if not bound.rank:
        sentence = f"{goal} needs {counted(bound.required, 'stop')}, and there are {bound.count}"
        if bound.count and not bound.infinite:
            share = lower_percent(bound.share_of_largest)
            sentence += f"; the largest of these is a bound of {share}"
        return sentence
    if bound.value is not None and isinf(bound.value):
        return f"{goal} does not exist: the bound is the value of rank {bound.rank}, which is infinite"
    return ""
