"""The curves and events of a motion."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mbplugin.model.mechanism.coordinate_units import coordinate_units, rate_units
from mbplugin.model.spatial import COMPONENTS, Array
from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.chart import Chart, Curve, figure, most_moving
from mbplugin.report.html.markup import Html, element, section, table, unshown
from mbplugin.report.text.simulate import ENERGIES
from mbplugin.simulation.trajectory.resampling import drawn
from mbplugin.simulation.trajectory.trajectory import Trajectory

_TIME = "time [s]"
_MOST = 200
#: Instants of a curve besides the samples of the motion, which may be few and far between.
_BETWEEN = 400
_TITLES = {"rad": "Angles", "m": "Travels", "1": "Orientation (quaternions)"}


def motion_section(chapter: Chapter) -> Html | None:
    """Return curves and events of a motion."""
    motion = chapter.moving
    if motion is None or len(motion.time) < 2:
        return None
    outcome, residual = motion.outcome.replace("_", " "), ""
    if motion.residuals:
        name, worst = max(motion.residuals.items(), key=lambda item: item[1])
        residual = f" Constraints hold to {worst:.2g} (m, rad), the worst is {name}."
        if motion.outcome == "loop_opened":
            residual += " Then a loop opens."
    return section(
        "Motion",
        element("div", [figure(*one) for one in motion_charts(motion, chapter.pairs)], class_="charts"),
        _events(motion),
        [element("p", f"Note: {note}", class_="fine") for note in motion.notes],
        lead=f"{motion.time[-1]:.4g} s, {len(motion.time)} samples, {outcome}.{residual}",
    )


def motion_charts(sampled: Trajectory, pairs: tuple[str, ...]) -> Iterator[tuple[Chart, str]]:
    """Yield the charts of a motion, and of the reactions of some pairs, with a note each."""
    between = np.linspace(sampled.time[0], sampled.time[-1], _BETWEEN)
    motion = drawn(sampled, np.sort(np.concatenate((sampled.time, between))))
    mech, marks = motion.mechanism, _marks(motion)
    for unit in ("rad", "m", "1"):
        own = _named(motion, mech.q_names, motion.q, coordinate_units(mech), unit)
        if own:
            kept, note = most_moving(own)
            yield Chart(_TITLES[unit], _TIME, f"[{unit}]", kept, marks, clock=True), note
    for unit in ("rad/s", "m/s"):
        own = _named(motion, mech.qd_names, motion.qd, rate_units(mech), unit)
        if own:
            kept, note = most_moving(own)
            yield Chart(f"Rates [{unit}]", _TIME, f"[{unit}]", kept, marks, clock=True), note
    energies = [
        Curve(words, motion.time, values)
        for name, words in ENERGIES.items()
        if (values := getattr(motion, name)).any()
    ]
    if energies:
        yield Chart("Energy and work", _TIME, "[J]", tuple(energies), marks, clock=True), ""
    for pair in pairs:
        yield from _reactions(sampled, pair, marks)


def _named(
    motion: Trajectory, names: tuple[str, ...], values: Array, units: tuple[str, ...], unit: str
) -> list[Curve]:
    """Return the curves of values (T, n) that have a unit."""
    return [
        Curve(name, motion.time, values[:, k])
        for k, (name, own) in enumerate(zip(names, units, strict=True))
        if own == unit
    ]


def _reactions(
    motion: Trajectory, pair: str, marks: tuple[tuple[float, str], ...]
) -> Iterator[tuple[Chart, str]]:
    wrench, unique = motion.reactions(pair), motion.determined(pair)
    for quantity, unit, part in (("force", "N", range(3)), ("moment", "N·m", range(3, 6))):
        curves = tuple(
            Curve(f"{COMPONENTS[k]}", motion.time, np.where(unique[:, k], wrench[:, k], np.nan))
            for k in part
            if unique[:, k].any() and wrench[:, k].any()
        )
        left_out = [COMPONENTS[k] for k in part if not unique[:, k].all()]
        note = f"{', '.join(left_out)} not determined by the rigid model, and not drawn" if left_out else ""
        if curves:
            yield (
                Chart(f"{pair}: {quantity} on its successor", _TIME, f"[{unit}]", curves, marks, clock=True),
                note,
            )


def _marks(motion: Trajectory) -> tuple[tuple[float, str], ...]:
    return tuple((e.time, f"{e.time:.6g} s: {e.sentence}") for e in motion.events[:_MOST])


def _events(motion: Trajectory) -> Html | None:
    if not motion.events:
        return None
    rows = [(f"{e.time:.6g}", e.kind, e.sentence) for e in motion.events[:_MOST]]
    events = table(("time [s]", "kind", "what happened"), rows, caption="Events")
    return element("div", events, unshown(len(motion.events), _MOST))
