"""A stop: joint by joint, the tool, the largest loads, the energies."""

from __future__ import annotations

from mbplugin.model.units import Units
from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.markup import Html, choice, element, section, table
from mbplugin.report.html.sections.stopping.phases import phases_figure
from mbplugin.report.text.stopping.estop import (
    axis_cells,
    energy_rows,
    energy_scale,
    impact_sentence,
    joint_cells,
    load_scales,
    peak_cells,
    tool_sentences,
)
from mbplugin.stopping.outcome.values import StopReport


def stop_section(chapter: Chapter) -> Html | None:
    """Return the tables of a stop."""
    stop = chapter.stop
    if stop is None:
        return None
    return section(
        "Stop",
        phases_figure(stop),
        _joints(stop, chapter.units),
        element("ul", [element("li", sentence) for sentence in _sentences(stop, chapter.units)]),
        _peaks(stop),
        _axes(stop),
        _energies(stop),
        lead="Computed, not measured. The transparent robots show the pose at the signal, and where the usual"
        " simplification ends, which sets every rate to zero when its brake engages.",
    )


def _joints(stop: StopReport, units: Units) -> Html:
    energy = energy_scale(stop)
    rows = [
        (
            choice(j.name, "joint"),
            units.shown(j.unit)[1],
            *joint_cells(j, energy, units),
            "at rest" if j.stopped else "still moves",
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
        "at the end",
    )
    return table(heads, rows)


def _sentences(stop: StopReport, units: Units) -> list[str]:
    said = [*tool_sentences(stop, units), impact_sentence(stop, units)]
    labelled = [
        f"Braking starts {stop.reaction_time:.4g} s after the signal.",
        *(f"{sentence[0].upper()}{sentence[1:]}." for sentence in said if sentence),
    ]
    if stop.corridor.left_out:
        listed = ", ".join(stop.corridor.left_out)
        labelled.append(f"For these bodies, only joints and centres of mass are included: {listed}.")
    return labelled


def _peaks(stop: StopReport) -> Html:
    scales = load_scales(stop)
    rows = [
        (
            choice(p.pair, "joint"),
            p.role,
            *peak_cells(p, scales),
            "unique" if p.unique else element("span", "not unique", class_="open"),
        )
        for p in stop.peaks
    ]
    heads = ("joint", "role", "force [N]", "at [s]", "moment [N·m]", "at [s]", "reaction")
    return table(heads, rows, caption="Largest loads")


def _axes(stop: StopReport) -> Html:
    scales = load_scales(stop)
    rows = [(choice(p.pair, "joint"), *axis_cells(p, scales)) for p in stop.peaks if p.axis is not None]
    heads = ("joint", "bearing [N]", "bearing [N·m]", "along axis", "drive", "brake", "friction")
    return table(heads, rows, caption="Largest loads of bearings, and along their axes")


def _energies(stop: StopReport) -> Html:
    return table(("energy", "[J]"), energy_rows(stop), caption="Energies")
