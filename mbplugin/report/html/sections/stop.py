"""A stop: joint by joint, the tool, the largest loads, the energies."""

from __future__ import annotations

from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.markup import Html, choice, element, section, table
from mbplugin.report.text.estop import axis_cells, joint_cells
from mbplugin.stopping.outcome.values import StopReport


def stop_section(chapter: Chapter) -> Html | None:
    """Return the tables of a stop."""
    stop = chapter.stop
    if stop is None:
        return None
    return section(
        "Stop",
        _joints(stop),
        element("ul", [element("li", sentence) for sentence in _sentences(stop)]),
        _peaks(stop),
        _axes(stop),
        _energies(stop),
        lead="Computed, not measured. The transparent robots show the pose at the signal, and where the usual"
        " simplification ends, which sets every rate to zero when its brake engages.",
    )


def _joints(stop: StopReport) -> Html:
    rows = [
        (
            choice(j.name, "joint"),
            j.unit,
            *joint_cells(j),
            "" if j.stopped else "still moves",
        )
        for j in stop.joints
    ]
    heads = (
        "joint",
        "unit",
        "rate [/s]",
        "time [s]",
        "travel",
        "reaction",
        "braking",
        "rests at",
        "brake [J]",
        "",
    )
    return table(heads, rows)


def _sentences(stop: StopReport) -> list[str]:
    tool, naive, corridor = stop.tool, stop.naive, stop.corridor
    box = " × ".join(f"{high - low:.3g}" for low, high in zip(corridor.lower, corridor.upper, strict=True))
    labelled = [
        f"Braking starts {stop.reaction_time:.4g} s after the signal.",
        f"Tool {tool.body}: {tool.speed:.4g} m/s at the signal, {tool.distance:.4g} m along its path to rest"
        f" ({tool.reaction_distance:.4g} m before braking, {tool.braking_distance:.4g} m braking),"
        f" {tool.displacement:.4g} m straight.",
        f"Swept corridor: a box of {box} m.",
        f"With rates set to zero: {naive.time:.4g} s, tool error {naive.tool_error:.4g} m,"
        f" {naive.energy_ignored:.4g} J neglected.",
    ]
    if corridor.left_out:
        labelled.append(
            f"For these bodies, only joints and centres of mass are included: {', '.join(corridor.left_out)}."
        )
    if stop.impact is not None:
        hit = stop.impact
        labelled.append(
            f"{hit.joint} runs into its end stop at {hit.rate:.4g}/s: {hit.impulse:.4g} N·m·s or N·s,"
            f" {hit.energy:.4g} J."
        )
    return labelled


def _peaks(stop: StopReport) -> Html:
    rows = [
        (
            choice(p.pair, "joint"),
            p.role,
            *(f"{value:.4g}" for value in (p.force, p.force_time, p.moment, p.moment_time)),
            "" if p.unique else element("span", "not unique", class_="open"),
        )
        for p in stop.peaks
    ]
    heads = ("joint", "role", "force [N]", "at [s]", "moment [N·m]", "at [s]", "")
    return table(heads, rows, caption="Largest loads")


def _axes(stop: StopReport) -> Html:
    rows = [(choice(p.pair, "joint"), p.axis.unit, *axis_cells(p)) for p in stop.peaks if p.axis is not None]
    heads = ("joint", "axis in", "bearing [N]", "bearing [N·m]", "along axis", "drive", "brake", "friction")
    return table(heads, rows, caption="Largest loads of bearings, and along their axes")


def _energies(stop: StopReport) -> Html:
    rows = [(words, f"{value:.4g}") for words, value in stop.energies.labelled]
    return table(("energy", "[J]"), rows, caption="Energies")
