"""Presentations of stops, stopping tables, worst stops, sweeps, calibrations, distances and zones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from mbplugin.report.results.motions import charts_of
from mbplugin.report.results.presentation import Presentation, bars
from mbplugin.stopping.sweep.run import QUANTILES

if TYPE_CHECKING:
    from mbplugin.report.html.chapters import Chapter
    from mbplugin.report.text.layout import Line
    from mbplugin.stopping.calibration.values import Calibration
    from mbplugin.stopping.outcome import StopReport
    from mbplugin.stopping.sweep.swept import Swept
    from mbplugin.stopping.table.values import StoppingTable
    from mbplugin.stopping.worst_stops import WorstStops
    from mbplugin.stopping.zones.distance import Distance
    from mbplugin.stopping.zones.zone import StopZone

_JOINT = (
    *("name", "unit", "rate", "time", "travel", "reaction_time", "braking_time", "reaction_travel"),
    *("braking_travel", "back", "brake_energy", "stopped"),
)
_WORST = ("name", "value", "unit", "grid", "outcome", "time", "tool_distance", "payload", "command")
_FITTED = (
    *("line", "joint", "category", "unit", "speed", "time_measured", "time_computed", "time_deviation"),
    *("distance_measured", "distance_computed", "distance_deviation", "held_out"),
)


def _with(names: tuple[str, ...], values: Any) -> list[dict[str, Any]]:
    return [{name: getattr(value, name) for name in names} for value in values]


def _lines(module: str) -> Callable[[Any, int], Iterator[Line]]:
    """Return the function that yields the text lines of a command; its module is imported on use."""

    def lines(result: Any, width: int) -> Iterator[Line]:
        from importlib import import_module

        made: Iterator[Line] = getattr(import_module("mbplugin.report.text.stopping"), f"{module}_lines")(
            result, width
        )
        return made

    return lines


def _document(module: str, *also: Any, part: str = "stopping") -> Callable[[Any], dict[str, Any]]:
    def document(result: Any) -> dict[str, Any]:
        from importlib import import_module

        made: dict[str, Any] = getattr(
            import_module(f"mbplugin.report.documents.{part}"), f"{module}_document"
        )(result, *also)
        return made

    return document


def _chapter(name: str) -> Callable[[Any], Chapter]:
    def chapter(result: Any) -> Chapter:
        from mbplugin.report.html import chapters

        made: Chapter = getattr(chapters, f"{name}_chapter")(result)
        return made

    return chapter


def _stop_chapter(stop: StopReport) -> Chapter:
    from mbplugin.report.html.chapters import Chapter

    mech = stop.trajectory.mechanism
    return Chapter(title=f"Stop of {mech.name}", model=mech, stop=stop)


def _table_rows(table: StoppingTable) -> list[dict[str, Any]]:
    from mbplugin.stopping.table.values import flat

    return [flat(row) for row in table.rows]


def _draw_stop(stop: StopReport, figure: Any) -> None:
    names = [joint.name for joint in stop.joints]
    series = {"time [s]": [j.time for j in stop.joints], "travel": [abs(j.travel) for j in stop.joints]}
    bars(figure, f"stop of category {stop.scenario.category}", "s; rad, m", names, series)


def _draw_table(table: StoppingTable, figure: Any) -> None:
    sides = figure.subplots(1, 2)
    for axes, name, unit in zip(sides, ("time", "distance"), ("s", "rad, m"), strict=True):
        for joint in table.axes:
            for category in sorted({row["category"] for row in table.rows}):
                own = [r for r in table.rows if (r["joint"], r["category"]) == (joint, category)]
                own = sorted(own, key=lambda row: float(row["speed"]))
                axes.plot(
                    [row["speed"] for row in own],
                    [row[name] for row in own],
                    "o",
                    label=f"{joint}, {category}",
                )
        axes.set_xlabel("speed [rad/s, m/s]")
        axes.set_ylabel(f"{name} [{unit}]")
    sides[0].legend(title="axis, category")


def _draw_worst(worst: WorstStops, figure: Any) -> None:
    values = [one.value for one in worst.found]
    bars(figure, "worst stops", "s; rad, m", [one.name for one in worst.found], {"found": values})


def _draw_fit(calibration: Calibration, figure: Any) -> None:
    axes = figure.add_subplot()
    for held_out, label in ((False, "fitted"), (True, "predicted")):
        own = [row for row in calibration.rows if row.held_out is held_out]
        axes.plot(range(len(own)), [row.distance_deviation for row in own], "o", label=label)
    axes.set_ylabel("relative deviation of the distance")
    axes.legend()


def _terms(distance: Distance) -> list[dict[str, Any]]:
    return _with(("symbol", "value", "unit", "meaning", "source"), distance.terms)


def _corners(zone: StopZone) -> list[dict[str, Any]]:
    return [
        {"polygon": k, "x": x, "y": y} for k, polygon in enumerate(zone.polygons) for x, y in polygon.tolist()
    ]


def _draw_zone(zone: StopZone, figure: Any) -> None:
    axes = figure.add_subplot(aspect="equal")
    for polygon in zone.polygons:
        axes.fill(*polygon.T, alpha=0.4)
    axes.set_xlabel("x [m]")
    axes.set_ylabel("y [m]")


def _quantiles(swept: Swept) -> list[dict[str, Any]]:
    return [
        {"quantity": name} | {f"{share:.0%}": value for share, value in values.items()}
        for name, values in swept.report.quantiles.items()
    ]


def _draw_sweep(swept: Swept, figure: Any) -> None:
    axes = figure.add_subplot()
    axes.hist(swept.report.table.column("time").to_numpy(), bins=40)
    axes.set_xlabel("time to rest [s]")
    axes.set_ylabel("stops")


PRESENTATIONS = {
    "Swept": Presentation(
        rows=_quantiles,
        columns=("quantity", *(f"{share:.0%}" for share in QUANTILES)),
        document=_document("sweep", "", ()),
        lines=_lines("sweep"),
        chapter=_chapter("sweep"),
        draw=_draw_sweep,
    ),
    "StopReport": Presentation(
        rows=lambda stop: _with(_JOINT, stop.joints),
        shown=("name", "unit", "rate", "time", "travel", "brake_energy", "stopped"),
        document=_document("estop", "", ()),
        lines=_lines("estop"),
        chapter=_stop_chapter,
        pictures=lambda stop: charts_of(stop.trajectory),
        draw=_draw_stop,
    ),
    "StoppingTable": Presentation(
        rows=_table_rows,
        shown=(
            *("category", "joint", "speed_percent", "extension_percent", "payload_percent"),
            *("time", "distance", "unit", "tool_distance"),
        ),
        document=_document("stop_table"),
        lines=_lines("stop_table"),
        chapter=_chapter("table"),
        draw=_draw_table,
    ),
    "WorstStops": Presentation(
        rows=lambda worst: _with(_WORST, worst.found),
        shown=_WORST[:-1],
        document=_document("worst_stop", "", ()),
        lines=_lines("worst_stop"),
        chapter=_chapter("worst"),
        draw=_draw_worst,
    ),
    "Calibration": Presentation(
        rows=lambda calibration: _with(_FITTED, calibration.rows),
        document=_document("calibrate", part="calibrate"),
        lines=_lines("calibrate"),
        chapter=_chapter("calibration"),
        draw=_draw_fit,
    ),
    "Distance": Presentation(
        rows=_terms,
        document=_document("distance"),
        lines=_lines("distance"),
        chapter=_chapter("distance"),
        draw=lambda distance, figure: bars(
            figure,
            distance.formula,
            "m",
            [t.symbol for t in distance.terms if t.unit == "m"],
            {"term": [t.value for t in distance.terms if t.unit == "m"]},
        ),
    ),
    "StopZone": Presentation(rows=_corners, draw=_draw_zone),
}
