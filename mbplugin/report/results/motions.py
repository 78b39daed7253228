"""Presentations of motions, reactions and comparisons of programs, and of stops, their tables and zones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.model import COMPONENTS
from mbplugin.report.results import Presentation, attributes, bars, grid, head_lines, writer
from mbplugin.stopping.sweep.run import QUANTILES

if TYPE_CHECKING:
    from mbplugin.comparison.side_by_side import SideBySide
    from mbplugin.joint_reactions.misfit_response import MisfitResponse
    from mbplugin.joint_reactions.sizing import Envelope
    from mbplugin.joint_reactions.values import ReactionMask, Reactions
    from mbplugin.report.html.chart import Html
    from mbplugin.report.text import Line
    from mbplugin.simulation.equilibrium import Equilibrium, Linearization
    from mbplugin.simulation.trajectory.trajectory import Trajectory
    from mbplugin.stopping.calibration import Calibration
    from mbplugin.stopping.outcome import StopReport
    from mbplugin.stopping.sweep import Swept
    from mbplugin.stopping.table import StoppingTable
    from mbplugin.stopping.zones import StopZone


#: Number of charts of a motion in a notebook: coordinates and rates.
_CHARTS = 2
#: Number of force components at the start of a wrench; moments follow.
_FORCES = 3
_WRENCH = (
    "constraint",
    "kind",
    "type",
    "component",
    "unit",
    "value",
    "unique",
    "source",
    "sigma",
    "lower",
    "upper",
)
_MISFIT = ("constraint", "component", "misfit unit", "largest load per misfit")
_ACTUATOR = ("joint", "value", "unit", "unique")
_MODE = ("mode", "frequency", "damping_ratio", "growth_time")
#: Number of modes in a picture.
_MODES = 6
_JOINT = (
    *("name", "unit", "rate", "time", "travel", "reaction_time", "braking_time", "reaction_travel"),
    *("braking_travel", "back", "brake_energy", "stopped"),
)
_WORST = ("name", "value", "unit", "grid", "outcome", "time", "tool_distance", "payload", "command")
_FITTED = (
    *("line", "joint", "category", "unit", "speed", "time_measured", "time_computed", "time_deviation"),
    *("distance_measured", "distance_computed", "distance_deviation", "held_out"),
)


def _samples(motion: Trajectory) -> list[dict[str, Any]]:
    from mbplugin.simulation.trajectory.resampling import columns

    named = {column.header: column.values.tolist() for column in columns(motion)}
    return [dict(zip(named, values, strict=True)) for values in zip(*named.values(), strict=True)]


def _motion_document(motion: Trajectory) -> dict[str, Any]:
    from mbplugin.report.documents.motions import simulate_document

    document = simulate_document(motion, None, (), motion.mechanism.name, ())
    # only the command knows its request
    del document["request"]
    return document


def charts_of(motion: Trajectory) -> Iterator[Html]:
    """Yield the first charts of a motion, as on its page."""
    from itertools import islice

    from mbplugin.report.html.chart import figure
    from mbplugin.report.html.view import motion_charts

    if len(motion.time) > 1:
        yield from (figure(chart, note) for chart, note in islice(motion_charts(motion, ()), _CHARTS))


def _wrenches(reactions: Reactions) -> list[dict[str, Any]]:
    return [
        {"constraint": one.name, "kind": one.kind, "type": one.type, "component": component.name}
        | {name: getattr(component, name) for name in _WRENCH[4:]}
        for one in reactions.constraints
        for component in one.components
    ]


def _draw_reactions(reactions: Reactions, figure: Any) -> None:
    shown = [one for one in reactions.constraints if one.wrench is not None]
    wrenches = [np.asarray(one.wrench) for one in shown]
    forces = [float(np.linalg.norm(wrench[:_FORCES])) for wrench in wrenches]
    moments = [float(np.linalg.norm(wrench[_FORCES:])) for wrench in wrenches]
    title = f"{reactions.mechanism.name}: no bar where the rigid model leaves it open"
    series = {"force [N]": forces, "moment [N·m]": moments}
    bars(figure, title, "N, N·m", [one.name for one in shown], series)


def _mask_rows(mask: ReactionMask) -> list[dict[str, Any]]:
    return [
        {"joint": joint} | dict(zip(mask.components, row, strict=True))
        for joint, row in zip(mask.joints, mask.mask.tolist(), strict=True)
    ]


def _draw_mask(mask: ReactionMask, figure: Any) -> None:
    unique = [dict(zip(mask.components, row, strict=True)) for row in mask.mask.tolist()]
    grid(figure, mask.name, mask.joints, unique)


def _misfit_rows(response: MisfitResponse) -> list[dict[str, Any]]:
    largest = [float(np.abs(response.entries(k)[1]).max(initial=0.0)) for k in response.stressing]
    units = {"N": "m", "N·m": "rad"}
    return [
        dict(zip(_MISFIT, (*response.labels[k], units[response.units[k]], value), strict=True))
        for k, value in zip(response.stressing, largest, strict=True)
    ]


def _misfit_lines(response: MisfitResponse, width: int) -> Iterator[Line]:
    from mbplugin.report.record import loop_words
    from mbplugin.report.text import Line, wrapped

    yield from head_lines(repr(response), width)
    yield Line()
    for sentence in (*loop_words(response), *response.notes):
        yield from map(Line, wrapped(sentence, width, "  ", "      "))


def _draw_misfits(response: MisfitResponse, figure: Any) -> None:
    rows = _misfit_rows(response)
    names = [f"{row['constraint']}.{row['component']}" for row in rows]
    values = [row["largest load per misfit"] for row in rows]
    bars(figure, "largest load of a misfit of 1 m or 1 rad", "N, N·m", names, {"load": values})


def _engine_rows(found: SideBySide) -> list[dict[str, Any]]:
    return [
        {"joint": joint.name, "component": COMPONENTS[k], "unique": bool(joint.unique[k])}
        | {engine: float(wrench[k]) for engine, wrench in joint.wrenches.items()}
        for joint in found.joints
        for k in range(len(COMPONENTS))
    ]


def _draw_engines(found: SideBySide, figure: Any) -> None:
    engines = list(dict.fromkeys(name for joint in found.joints for name in joint.wrenches))
    series = {
        name: [float(np.linalg.norm(joint.wrenches[name][:_FORCES])) for joint in found.joints]
        for name in engines
    }
    names = [joint.name for joint in found.joints]
    bars(figure, f"{found.mechanism.name}: forces in the joints", "N", names, series)


def _draw_envelope(envelope: Envelope, figure: Any) -> None:
    forces = {
        f"{load.joint} {load.name or load.kind}": load.largest
        for load in envelope.loads
        if load.unit == "N" and load.largest is not None
    }
    bars(figure, "largest forces along the motion", "N", [*forces], {"force": [*forces.values()]})


def _rest_rows(found: Equilibrium) -> list[dict[str, object]]:
    starts = found.start.tolist()
    return [
        {"coordinate": name, "q": q, "start": start}
        for (name, q), start in zip(found.positions.items(), starts, strict=True)
    ]


def _draw_rest(found: Equilibrium, figure: Any) -> None:
    series = {"start": found.start.tolist(), "at rest": found.q.tolist()}
    bars(figure, f"{found.mechanism.name}: pose of rest", "rad, m", found.mechanism.q_names, series)


def _mode_rows(found: Linearization) -> list[dict[str, object]]:
    return [
        {
            "mode": n,
            "frequency": mode.frequency,
            "damping_ratio": mode.damping_ratio,
            "growth_time": mode.growth_time,
        }
        | dict(zip(found.mechanism.qd_names, mode.shape.tolist(), strict=True))
        for n, mode in enumerate(found.modes, 1)
    ]


def _draw_modes(found: Linearization, figure: Any) -> None:
    series = {f"{mode.frequency:.3g} Hz": mode.shape.tolist() for mode in found.modes[:_MODES]}
    title = f"{found.mechanism.name}: shapes of the lowest modes"
    bars(figure, title, "relative rate", found.mechanism.qd_names, series)


# Stops, their tables and searches, sweeps, calibrations, distances and zones.


def _table_rows(table: StoppingTable) -> list[dict[str, Any]]:
    from mbplugin.stopping.table import flat

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


def _draw_fit(calibration: Calibration, figure: Any) -> None:
    axes = figure.add_subplot()
    for held_out, label in ((False, "fitted"), (True, "predicted")):
        own = [row for row in calibration.rows if row.held_out is held_out]
        axes.plot(range(len(own)), [row.distance_deviation for row in own], "o", label=label)
    axes.set_ylabel("relative deviation of the distance")
    axes.legend()


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
    "Trajectory": Presentation(
        rows=_samples,
        document=_motion_document,
        lines=lambda motion, width: writer("text.reactions").simulate_lines(motion, width=width),
        chapter=lambda motion: writer("html.chapters").Chapter(
            title=f"Motion of {motion.mechanism.name}", model=motion.mechanism, motion=motion
        ),
        pictures=charts_of,
    ),
    "Agreement": Presentation(
        rows=lambda found: attributes(
            ("quantity", "element", "deviation", "bound", "unit", "agrees", "time"), found.rows
        ),
        document=lambda found: writer("documents.motions").crosscheck_document(found, "", ()),
        lines=lambda found, width: writer("text.models").crosscheck_lines(
            found, f"{found.engine} and mbplugin", width
        ),
        chapter=lambda found: writer("html.chapters").Chapter(
            title=f"Beside {found.engine}", agreement=found
        ),
    ),
    "Reactions": Presentation(
        rows=_wrenches,
        columns=_WRENCH,
        shown=("constraint", "type", "component", "value", "unit", "unique", "source"),
        document=lambda found: writer("documents.motions").reactions_document(
            found, found.mechanism.name, ()
        ),
        lines=lambda found, width: writer("text.reactions").reactions_lines(found, width),
        chapter=lambda found: writer("html.chapters").Chapter(
            title=f"Joint reactions of {found.mechanism.name}", model=found.mechanism, reactions=found
        ),
        draw=_draw_reactions,
    ),
    "ReactionMask": Presentation(rows=_mask_rows, columns=("joint", *COMPONENTS), draw=_draw_mask),
    "MisfitResponse": Presentation(
        rows=_misfit_rows, columns=_MISFIT, lines=_misfit_lines, draw=_draw_misfits
    ),
    "ActuatorForces": Presentation(
        rows=lambda found: attributes(_ACTUATOR, found.forces),
        columns=_ACTUATOR,
        draw=lambda found, figure: bars(
            figure, "actuator forces", "N, N·m", found.joints, {"least norm": found.values.tolist()}
        ),
    ),
    "Envelope": Presentation(
        rows=lambda envelope: list(envelope.rows),
        lines=lambda envelope, width: writer("text.reactions").envelope_lines(envelope, width),
        draw=_draw_envelope,
    ),
    "Equilibrium": Presentation(
        rows=_rest_rows,
        lines=lambda found, width: writer("text.models").equilibrium_lines(found, width),
        draw=_draw_rest,
    ),
    "Linearization": Presentation(
        rows=_mode_rows,
        columns=_MODE,
        shown=_MODE,
        document=lambda found: writer("documents.motions").modes_document(found, ()),
        lines=lambda found, width: writer("text.models").modes_lines(found, width),
        chapter=lambda found: writer("html.chapters").Chapter(
            title=f"Modes of {found.mechanism.name}", model=found.mechanism, modes=found
        ),
        draw=_draw_modes,
    ),
    "SideBySide": Presentation(
        rows=_engine_rows,
        document=lambda found: writer("documents.models").engines_document(found, found.mechanism.name, ()),
        lines=lambda found, width: writer("text.models").engines_lines(found, width),
        chapter=lambda found: writer("html.chapters").Chapter(
            title=f"Joint forces of {found.mechanism.name}", side_by_side=found
        ),
        draw=_draw_engines,
    ),
    "Swept": Presentation(
        rows=_quantiles,
        columns=("quantity", *(f"{share:.0%}" for share in QUANTILES)),
        document=lambda swept: writer("documents.stopping").sweep_document(swept, "", ()),
        lines=lambda swept, width: writer("text.stopping").sweep_lines(swept, width),
        chapter=lambda swept: writer("html.chapters").sweep_chapter(swept),
        draw=_draw_sweep,
    ),
    "StopReport": Presentation(
        rows=lambda stop: attributes(_JOINT, stop.joints),
        shown=("name", "unit", "rate", "time", "travel", "brake_energy", "stopped"),
        document=lambda stop: writer("documents.stopping").estop_document(stop, "", ()),
        lines=lambda stop, width: writer("text.stop").estop_lines(stop, width),
        chapter=lambda stop: writer("html.chapters").Chapter(
            title=f"Stop of {stop.trajectory.mechanism.name}", model=stop.trajectory.mechanism, stop=stop
        ),
        pictures=lambda stop: charts_of(stop.trajectory),
        draw=_draw_stop,
    ),
    "StoppingTable": Presentation(
        rows=_table_rows,
        shown=(
            *("category", "joint", "speed_percent", "extension_percent", "payload_percent"),
            *("time", "distance", "unit", "tool_distance"),
        ),
        document=lambda table: writer("documents.stopping").stop_table_document(table),
        lines=lambda table, width: writer("text.stopping").stop_table_lines(table, width),
        chapter=lambda table: writer("html.chapters").table_chapter(table),
        draw=_draw_table,
    ),
    "WorstStops": Presentation(
        rows=lambda worst: attributes(_WORST, worst.found),
        shown=_WORST[:-1],
        document=lambda worst: writer("documents.stopping").worst_stop_document(worst, "", ()),
        lines=lambda worst, width: writer("text.stopping").worst_stop_lines(worst, width),
        chapter=lambda worst: writer("html.chapters").worst_chapter(worst),
        draw=lambda worst, figure: bars(
            figure,
            "worst stops",
            "s; rad, m",
            [one.name for one in worst.found],
            {"found": [one.value for one in worst.found]},
        ),
    ),
    "Calibration": Presentation(
        rows=lambda calibration: attributes(_FITTED, calibration.rows),
        document=lambda calibration: writer("documents.stopping").calibrate_document(calibration),
        lines=lambda calibration, width: writer("text.stopping").calibrate_lines(calibration, width),
        chapter=lambda calibration: writer("html.chapters").calibration_chapter(calibration),
        draw=_draw_fit,
    ),
    "Distance": Presentation(
        rows=lambda distance: attributes(("symbol", "value", "unit", "meaning", "source"), distance.terms),
        document=lambda distance: writer("documents.stopping").distance_document(distance),
        lines=lambda distance, width: writer("text.stopping").distance_lines(distance, width),
        chapter=lambda distance: writer("html.chapters").distance_chapter(distance),
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
