"""Presentations of motions, reactions and comparisons of programs, and of stops, their tables and zones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.model import COMPONENTS
from mbplugin.report.results import Presentation, bars, grid, head_lines
from mbplugin.stopping.sweep.run import QUANTILES

if TYPE_CHECKING:
    from mbplugin.comparison.agreement import Agreement
    from mbplugin.comparison.side_by_side import SideBySide
    from mbplugin.joint_reactions.misfit_response import MisfitResponse
    from mbplugin.joint_reactions.sizing import Envelope
    from mbplugin.joint_reactions.values import ActuatorForces, ReactionMask, Reactions
    from mbplugin.report.html.chapters import Chapter
    from mbplugin.report.html.chart import Html
    from mbplugin.report.text import Line
    from mbplugin.simulation.equilibrium import Equilibrium, Linearization
    from mbplugin.simulation.trajectory.trajectory import Trajectory
    from mbplugin.stopping.calibration import Calibration
    from mbplugin.stopping.outcome import StopReport
    from mbplugin.stopping.sweep import Swept
    from mbplugin.stopping.table import StoppingTable
    from mbplugin.stopping.worst_search import WorstStops
    from mbplugin.stopping.zones import StopZone
    from mbplugin.stopping.zones.distance import Distance


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


def _motion_lines(motion: Trajectory, width: int) -> Iterator[Line]:
    from mbplugin.report.text.reactions import simulate_lines

    return simulate_lines(motion, width=width)


def _motion_document(motion: Trajectory) -> dict[str, Any]:
    from mbplugin.report.documents.motions import simulate_document

    document = simulate_document(motion, None, (), motion.mechanism.name, ())
    # only the command knows its request
    del document["request"]
    return document


def _motion_chapter(motion: Trajectory) -> Chapter:
    from mbplugin.report.html.chapters import Chapter

    mech = motion.mechanism
    return Chapter(title=f"Motion of {mech.name}", model=mech, motion=motion)


def charts_of(motion: Trajectory) -> Iterator[Html]:
    """Yield the first charts of a motion, as on its page."""
    from itertools import islice

    from mbplugin.report.html.chart import figure
    from mbplugin.report.html.view import motion_charts

    if len(motion.time) > 1:
        yield from (figure(chart, note) for chart, note in islice(motion_charts(motion, ()), _CHARTS))


def _deviations(found: Agreement) -> list[dict[str, Any]]:
    names = ("quantity", "element", "deviation", "bound", "unit", "agrees", "time")
    return [{name: getattr(row, name) for name in names} for row in found.rows]


def _agreement_lines(found: Agreement, width: int) -> Iterator[Line]:
    from mbplugin.report.text.models import crosscheck_lines

    return crosscheck_lines(found, f"{found.engine} and mbplugin", width)


def _agreement_document(found: Agreement) -> dict[str, Any]:
    from mbplugin.report.documents.motions import crosscheck_document

    return crosscheck_document(found, "", ())


def _agreement_chapter(found: Agreement) -> Chapter:
    from mbplugin.report.html.chapters import Chapter

    return Chapter(title=f"Beside {found.engine}", agreement=found)


def _wrenches(reactions: Reactions) -> list[dict[str, Any]]:
    return [
        {"constraint": one.name, "kind": one.kind, "type": one.type, "component": component.name}
        | {name: getattr(component, name) for name in _WRENCH[4:]}
        for one in reactions.constraints
        for component in one.components
    ]


def _reactions_lines(reactions: Reactions, width: int) -> Iterator[Line]:
    from mbplugin.report.text.reactions import reactions_lines

    return reactions_lines(reactions, width)


def _reactions_document(reactions: Reactions) -> dict[str, Any]:
    from mbplugin.report.documents.motions import reactions_document

    return reactions_document(reactions, reactions.mechanism.name, ())


def _reactions_chapter(reactions: Reactions) -> Chapter:
    from mbplugin.report.html.chapters import Chapter

    mech = reactions.mechanism
    return Chapter(title=f"Joint reactions of {mech.name}", model=mech, reactions=reactions)


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


def _actuator_rows(forces: ActuatorForces) -> list[dict[str, Any]]:
    return [{name: getattr(force, name) for name in _ACTUATOR} for force in forces.forces]


def _draw_actuators(forces: ActuatorForces, figure: Any) -> None:
    bars(figure, "actuator forces", "N, N·m", forces.joints, {"least norm": forces.values.tolist()})


def _engine_rows(found: SideBySide) -> list[dict[str, Any]]:
    return [
        {"joint": joint.name, "component": COMPONENTS[k], "unique": bool(joint.unique[k])}
        | {engine: float(wrench[k]) for engine, wrench in joint.wrenches.items()}
        for joint in found.joints
        for k in range(len(COMPONENTS))
    ]


def _engine_lines(found: SideBySide, width: int) -> Iterator[Line]:
    from mbplugin.report.text.models import engines_lines

    return engines_lines(found, width)


def _engine_document(found: SideBySide) -> dict[str, Any]:
    from mbplugin.report.documents.models import engines_document

    return engines_document(found, found.mechanism.name, ())


def _engine_chapter(found: SideBySide) -> Chapter:
    from mbplugin.report.html.chapters import Chapter

    return Chapter(title=f"Joint forces of {found.mechanism.name}", side_by_side=found)


def _draw_engines(found: SideBySide, figure: Any) -> None:
    engines = list(dict.fromkeys(name for joint in found.joints for name in joint.wrenches))
    series = {
        name: [float(np.linalg.norm(joint.wrenches[name][:_FORCES])) for joint in found.joints]
        for name in engines
    }
    names = [joint.name for joint in found.joints]
    bars(figure, f"{found.mechanism.name}: forces in the joints", "N", names, series)


def _envelope_rows(envelope: Envelope) -> list[dict[str, object]]:
    return list(envelope.rows)


def _envelope_lines(envelope: Envelope, width: int) -> Iterator[Line]:
    from mbplugin.report.text.reactions import envelope_lines

    return envelope_lines(envelope, width)


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


def _rest_lines(found: Equilibrium, width: int) -> Iterator[Line]:
    from mbplugin.report.text.models import equilibrium_lines

    return equilibrium_lines(found, width)


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


def _mode_document(found: Linearization) -> dict[str, Any]:
    from mbplugin.report.documents.motions import modes_document

    return modes_document(found, ())


def _mode_lines(found: Linearization, width: int) -> Iterator[Line]:
    from mbplugin.report.text.models import modes_lines

    return modes_lines(found, width)


def _modes_chapter(found: Linearization) -> Chapter:
    from mbplugin.report.html.chapters import Chapter

    mech = found.mechanism
    return Chapter(title=f"Modes of {mech.name}", model=mech, modes=found)


def _draw_modes(found: Linearization, figure: Any) -> None:
    series = {f"{mode.frequency:.3g} Hz": mode.shape.tolist() for mode in found.modes[:_MODES]}
    title = f"{found.mechanism.name}: shapes of the lowest modes"
    bars(figure, title, "relative rate", found.mechanism.qd_names, series)


# Stops, their tables and searches, sweeps, calibrations, distances and zones.


def _with(names: tuple[str, ...], values: Any) -> list[dict[str, Any]]:
    return [{name: getattr(value, name) for name in names} for value in values]


def _stop_lines(module: str) -> Callable[[Any, int], Iterator[Line]]:
    """Return the function that yields the text lines of a command; its module is imported on use."""

    def lines(result: Any, width: int) -> Iterator[Line]:
        from importlib import import_module

        part = "stop" if module == "estop" else "stopping"
        text = import_module(f"mbplugin.report.text.{part}")
        made: Iterator[Line] = getattr(text, f"{module}_lines")(result, width)
        return made

    return lines


def _stop_document(module: str, *also: Any) -> Callable[[Any], dict[str, Any]]:
    def document(result: Any) -> dict[str, Any]:
        from importlib import import_module

        documents = import_module("mbplugin.report.documents.stopping")
        made: dict[str, Any] = getattr(documents, f"{module}_document")(result, *also)
        return made

    return document


def _stop_page(name: str) -> Callable[[Any], Chapter]:
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
    "Trajectory": Presentation(
        rows=_samples,
        document=_motion_document,
        lines=_motion_lines,
        chapter=_motion_chapter,
        pictures=charts_of,
    ),
    "Agreement": Presentation(
        rows=_deviations,
        document=_agreement_document,
        lines=_agreement_lines,
        chapter=_agreement_chapter,
    ),
    "Reactions": Presentation(
        rows=_wrenches,
        columns=_WRENCH,
        shown=("constraint", "type", "component", "value", "unit", "unique", "source"),
        document=_reactions_document,
        lines=_reactions_lines,
        chapter=_reactions_chapter,
        draw=_draw_reactions,
    ),
    "ReactionMask": Presentation(rows=_mask_rows, columns=("joint", *COMPONENTS), draw=_draw_mask),
    "MisfitResponse": Presentation(
        rows=_misfit_rows, columns=_MISFIT, lines=_misfit_lines, draw=_draw_misfits
    ),
    "ActuatorForces": Presentation(rows=_actuator_rows, columns=_ACTUATOR, draw=_draw_actuators),
    "Envelope": Presentation(rows=_envelope_rows, lines=_envelope_lines, draw=_draw_envelope),
    "Equilibrium": Presentation(rows=_rest_rows, lines=_rest_lines, draw=_draw_rest),
    "Linearization": Presentation(
        rows=_mode_rows,
        columns=_MODE,
        shown=_MODE,
        document=_mode_document,
        lines=_mode_lines,
        chapter=_modes_chapter,
        draw=_draw_modes,
    ),
    "SideBySide": Presentation(
        rows=_engine_rows,
        document=_engine_document,
        lines=_engine_lines,
        chapter=_engine_chapter,
        draw=_draw_engines,
    ),
    "Swept": Presentation(
        rows=_quantiles,
        columns=("quantity", *(f"{share:.0%}" for share in QUANTILES)),
        document=_stop_document("sweep", "", ()),
        lines=_stop_lines("sweep"),
        chapter=_stop_page("sweep"),
        draw=_draw_sweep,
    ),
    "StopReport": Presentation(
        rows=lambda stop: _with(_JOINT, stop.joints),
        shown=("name", "unit", "rate", "time", "travel", "brake_energy", "stopped"),
        document=_stop_document("estop", "", ()),
        lines=_stop_lines("estop"),
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
        document=_stop_document("stop_table"),
        lines=_stop_lines("stop_table"),
        chapter=_stop_page("table"),
        draw=_draw_table,
    ),
    "WorstStops": Presentation(
        rows=lambda worst: _with(_WORST, worst.found),
        shown=_WORST[:-1],
        document=_stop_document("worst_stop", "", ()),
        lines=_stop_lines("worst_stop"),
        chapter=_stop_page("worst"),
        draw=_draw_worst,
    ),
    "Calibration": Presentation(
        rows=lambda calibration: _with(_FITTED, calibration.rows),
        document=_stop_document("calibrate"),
        lines=_stop_lines("calibrate"),
        chapter=_stop_page("calibration"),
        draw=_draw_fit,
    ),
    "Distance": Presentation(
        rows=_terms,
        document=_stop_document("distance"),
        lines=_stop_lines("distance"),
        chapter=_stop_page("distance"),
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
