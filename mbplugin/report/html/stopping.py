"""A stop (joints, tool, largest loads, energies), worst stops, a calibration, a sweep and a separation distance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mbplugin.model import Units, said_in
from mbplugin.phrases import counted
from mbplugin.report import ROUNDING
from mbplugin.report.html.chapters import Chapter
from mbplugin.report.html.chart import (
    Child,
    Html,
    choice,
    data_cell,
    element,
    figure,
    joined,
    section,
    table,
    ticks,
)
from mbplugin.report.html.stopping_table import command_details, compared_charts
from mbplugin.report.text import stopping
from mbplugin.report.text.stop import (
    axis_cells,
    energy_rows,
    energy_scale,
    impact_sentence,
    joint_cells,
    load_scales,
    peak_cells,
    shared_sentence,
    tool_sentences,
)
from mbplugin.stopping.outcome import OUTCOME_WORDS, JointStop, StopReport
from mbplugin.stopping.worst_search import FailedBrake, WorstStop, WorstStops

if TYPE_CHECKING:
    from mbplugin.stopping.calibration import CalibratedRow, Calibration, FittedJoint


_WIDTH, _LEFT, _RIGHT, _ROW, _BAR, _FOOT = 460, 130, 24, 22, 14, 40
#: Maximum number of joints in the figure of phases; those that move longest are drawn.
_MOST = 16
#: Maximum length of a name beside its bar, and length of its distinguishing end, characters.
_NAME, _ENDING = 14, 9


def stop_section(chapter: Chapter) -> Html | None:
    """Return the section with the phases and tables of a stop."""
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
        table(("energy", "[J]"), energy_rows(stop), caption="Energies"),
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
    found = table(heads, rows, caption="Largest loads of bearings, and along their axes")
    said = shared_sentence(stop)
    return joined([found, element("p", said, class_="fine")]) if said else found


# The phases of a stop as bars: until each brake engages, and from then until the joint is at rest.


def phases_figure(stop: StopReport) -> Html | None:
    """Return a figure with a bar for each moving joint, over the time from the signal; None without motion."""
    moving = [joint for joint in stop.joints if max(abs(joint.rate), abs(joint.travel)) > ROUNDING]
    if not moving or stop.time <= 0.0:
        return None
    kept = sorted(moving, key=lambda joint: -joint.time)[:_MOST]
    shown = [joint for joint in moving if joint in kept]
    end = max(stop.time, *(joint.time for joint in shown))
    height = _ROW * len(shown) + _FOOT
    words = "; ".join(
        f"{joint.name}: {joint.reaction_time:.4g} s, then {joint.braking_time:.4g} s" for joint in shown
    )
    controlled = stop.scenario.category != 0
    drawn = element(
        "svg",
        element("title", "Phases of the stop"),
        element("desc", f"Until braking starts, then until rest: {words}"),
        list(_axis(end, height)),
        [_bars(joint, k, end) for k, joint in enumerate(shown)],
        viewBox=f"0 0 {_WIDTH} {height}",
        role="img",
        aria_label="Phases of the stop",
    )
    caption = element(
        "figcaption",
        element("strong", "Phases of the stop"),
        element(
            "div",
            element("span", element("span", class_="swatch phase-0"), "until braking starts", class_="key"),
            element(
                "span",
                element("span", class_="swatch phase-1"),
                "braking, by the drive" if controlled else "braking, by the brake",
                class_="key",
            ),
        ),
        element("p", f"the {_MOST} of {len(moving)} joints that move longest", class_="fine")
        if len(moving) > _MOST
        else None,
    )
    return element("figure", caption, drawn, class_="chart phases")


def _x(time: float, end: float) -> float:
    return _LEFT + time / end * (_WIDTH - _LEFT - _RIGHT)


def _axis(end: float, height: int) -> Iterator[Html]:
    bottom = height - _FOOT + 4
    for value in ticks(0.0, end, 6):
        x = _x(value, end)
        yield element("path", d=f"M{x:.1f} 0V{bottom}", class_="grid")
        yield element("text", f"{value:.6g}", x=f"{x:.1f}", y=bottom + 14, class_="tick middle")
    yield element("path", d=f"M{_LEFT} 0V{bottom}H{_WIDTH - _RIGHT}", class_="axis")
    yield element("text", "time from the signal [s]", x=_WIDTH - _RIGHT, y=height - 5, class_="label end")


def _bars(joint: JointStop, k: int, end: float) -> Html:
    y = k * _ROW + (_ROW - _BAR) / 2
    grip, rest = _x(joint.reaction_time, end), _x(joint.time, end)
    end_words = "at rest after" if joint.stopped else "still moves after"
    return element(
        "g",
        element("title", f"{joint.name}: {end_words} {joint.time:.4g} s"),
        element("text", _shortened(joint.name), x=_LEFT - 8, y=y + 11, class_="label end"),
        element("rect", x=_LEFT, y=y, width=f"{grip - _LEFT:.1f}", height=_BAR, class_="phase-0"),
        element("rect", x=f"{grip:.1f}", y=y, width=f"{rest - grip:.1f}", height=_BAR, class_="phase-1"),
    )


def _shortened(name: str) -> str:
    """Shorten a long name to its beginning and end."""
    return name if len(name) <= _NAME else f"{name[: _NAME - _ENDING - 1]}…{name[-_ENDING:]}"


# The worst stops of a search, and the same stops with a failing brake.


def worst_stops_section(chapter: Chapter) -> Html | None:
    """Return the section with the worst stops of each search, and their assumptions."""
    if not chapter.searched:
        return None
    known = list(chapter.table.assumptions) if chapter.table is not None else []
    first, *others = chapter.searched
    shown = [*known, *first.assumptions]
    return section(
        "Worst stops",
        *_search(first, known, chapter.units),
        *([element("p", _search_sentence(worst)), *_search(worst, shown, chapter.units)] for worst in others),
        lead=_search_sentence(first),
    )


def _search(worst: WorstStops, known: Sequence[str], units: Units) -> list[Child]:
    """Return the tables of a search, and its assumptions other than those already ``known`` from the page."""
    worst, length = worst.in_units(units), units.length
    assumed = said_in(worst.only_here(known), units)
    return [
        table(
            ("worst stop", *stopping.WORST_HEADS, element("span", "again", class_="again")),
            [row for one in worst.found for row in _worst_stops_row(one, length)],
        ),
        table(
            ("these stops again", *stopping.FAILURE_HEADS),
            [(stopping.failure_name(one), *_failure(one, length)) for one in worst.failed],
        )
        if worst.failed
        else None,
        element("h3", "Assumptions and notes") if assumed else None,
        element("ul", [element("li", sentence) for sentence in assumed]) if assumed else None,
    ]


def _search_sentence(worst: WorstStops) -> str:
    outcomes = ", ".join(f"{OUTCOME_WORDS[outcome]} {count}" for outcome, count in worst.outcomes.items())
    return (
        f"The worst of {counted(worst.count, 'stop')} of category {worst.category} that a search computed, seed"
        f" {worst.seed}, tool {worst.tool}: {outcomes}. Computed, not measured."
    )


def _failure(one: FailedBrake, length: str) -> list[Child]:
    """Return the cells of a stop with a failing brake; its outcome is red unless it ends at rest."""
    said, *rest = stopping.failure_cells(one, length)
    return [said if one.outcome == "stopped" else element("span", said, class_="badge bad"), *rest]


def _worst_stops_row(one: WorstStop, length: str) -> Iterator[Html]:
    """Yield the row of a worst stop, and below it a row with its start."""
    class_ = None if one.outcome == "stopped" else "bad"
    name = one.name if one.outcome == "stopped" else f"{one.name}: {OUTCOME_WORDS[one.outcome]}"
    cells = (name, *stopping.worst_cells(one, length), command_details(one.command))
    yield element("tr", [data_cell(cell) for cell in cells], class_=class_)
    start = element("td", f"from {stopping.worst_start(one)}", colspan=len(cells), class_="below")
    yield element("tr", start, class_=class_)


# A calibration: each joint with its parameters, its measured and computed stops, and the TOML.


def calibration_section(chapter: Chapter) -> Html | None:
    """Return the section of a calibration: facts, charts, joints, and the tables of a scene."""
    made = chapter.calibration
    if made is None:
        return None
    predicted = [row.line for row in made.rows if row.held_out]
    charts = [figure(chart) for chart in compared_charts(made.rows, chapter.units, predicted)]
    return section(
        "Brakes and ramps from measured stops",
        element(
            "ul",
            [element("li", one) for one in (*filter(None, [made.advice]), *stopping.calibration_facts(made))],
        ),
        element("div", charts, class_="charts four"),
        [_joint(joint, made, chapter.units) for joint in made.joints],
        element("h3", "Tables of a scene, in rad and m"),
        element("pre", made.toml),
        lead=f"Calibrated on {made.date}. Rows that the law does not explain are marked.",
    )


def _joint(joint: FittedJoint, made: Calibration, units: Units) -> Html:
    parameters = [(name, *stopping.parameter_cells(one, units)) for name, one in joint.parameters.items()]
    return joined(
        [
            element("h3", stopping.joint_title(joint)),
            table(("parameter", *stopping.PARAMETER_HEADS), parameters),
            table(
                ("line", *stopping.ROW_HEADS),
                [_calibration_row(row, units) for row in made.rows_of(joint)],
                numbers=range(8),
            ),
            element("ul", [element("li", note) for note in stopping.joint_notes(joint, made, units)]),
        ]
    )


def _calibration_row(row: CalibratedRow, units: Units) -> Html:
    cells = (stopping.row_name(row), *stopping.row_cells(row, units))
    return element(
        "tr", [element("td", cell, class_="n") for cell in cells], class_="warn" if row.unexplained else None
    )


# A sweep: the outcomes of its stops, quantiles, bounds, and the worst stops.


def sweep_section(chapter: Chapter) -> Html | None:
    """Return the section of a sweep: outcomes, quantiles, bounds and assumptions."""
    made = chapter.sweep
    if made is None:
        return None
    scenario, units = made.plan.scenario, chapter.units
    bounds = stopping.bound_rows(made, units)
    return section(
        "Sweep of stops",
        element("ul", [element("li", one) for one in stopping.outcome_sentences(made.report)]),
        table(
            ("of those that stopped", *stopping.QUANTILE_HEADS),
            [(name, *row) for name, row in stopping.quantile_rows(made, units)],
        ),
        table(("tolerance bounds", *stopping.BOUND_HEADS), [(name, *row) for name, row in bounds])
        if bounds
        else None,
        element("ul", [element("li", one) for one in stopping.bound_sentences(made)]),
        element("p", f"All stops are in {made.folder}."),
        element("h3", "Assumptions and notes"),
        element(
            "ul",
            [
                element("li", one)
                for one in (*said_in(scenario.stated, units), *scenario.assumed, *scenario.notes)
            ],
        ),
        lead=f"{counted(made.report.count, 'stop')} of category {scenario.category}, seed {made.plan.seed}, tool"
        f" {scenario.tool}. Computed, not measured.",
    )


# A separation distance: the formula with all its terms.


def distance_section(chapter: Chapter) -> Html | None:
    """Return the section of a separation distance: formula, terms, and assumptions of the stop."""
    made = chapter.distance
    if made is None:
        return None
    terms = [(t.symbol, f"{t.value:.4f}", t.unit, t.meaning, t.source) for t in made.terms]
    choice = made.tool_choice
    tool = [element("td", cell) for cell in ("tool", "", "", *stopping.tool_words(choice))]
    rows: list[Sequence[str] | Html] = [*terms]
    if choice.body:
        rows.append(element("tr", tool, class_="warn" if choice.reason else None))
    assumed = [f"assumed in the stop: {sentence}" for sentence in made.stop.assumed]
    return section(
        f"{made.symbol} by {made.standard}",
        element("p", made.formula),
        table(("term", "value", "unit", "meaning", "source"), rows, numbers=(1,)),
        element("ul", [element("li", sentence) for sentence in (*assumed, *made.notes)]),
    )
