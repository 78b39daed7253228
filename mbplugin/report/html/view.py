"""The 3D view with its controls, the verdict with its key numbers, and the curves of a motion."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from mbplugin.model import WORLD, BodyPoses, Mechanism, coordinate_units, forward, rate_units, said_in
from mbplugin.model.spatial import COMPONENTS, Array, Pose, quaternion_from_rotation
from mbplugin.phrases import counted, joined_by_words
from mbplugin.report import findings_summary, shown
from mbplugin.report.html.chapters import Chapter
from mbplugin.report.html.chart import (
    Chart,
    Curve,
    Html,
    element,
    figure,
    joined,
    most_moving,
    section,
    table,
    unshown,
)
from mbplugin.report.picture import (
    LEGEND,
    PALETTE,
    QUANTITIES,
    ArrowLengths,
    DrawnArrow,
    LegendEntry,
    Picture,
    arrow_scale,
    drawn_arrows,
    legend_of,
    length,
)
from mbplugin.report.picture.bodies import Mesh
from mbplugin.report.record import record_facts
from mbplugin.report.text.lint import analysis_verdict, verdict
from mbplugin.report.text.models import engines_verdict
from mbplugin.report.text.reactions import ENERGIES
from mbplugin.report.text.stop import falling_sentence
from mbplugin.report.text.stopping import table_verdict
from mbplugin.simulation.trajectory.resampling import drawn
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.scenario import assumed_brakes

#: Maximum number of notes below the view that are not folded.
_MOST = 2
_SWITCHES = (
    ("bodies", "bodies", True),
    ("joints", "joints", True),
    ("forces", "forces", True),
    ("moments", "moments", False),
    ("labels", "labels", False),
    ("ghosts", "ghosts", True),
    ("path", "tool path", True),
)
_AGREEMENTS: Mapping[str, str] = {
    "agrees": "{} agrees",
    "disagrees": "{} disagrees",
    "not asymptotic": "Undecided: {}'s error does not shrink in proportion to its step",
    "not comparable": "Undecided: the two motions cannot be compared",
}
_TIME = "time [s]"
_MOTION_MOST = 200
#: Additional points of a curve between the samples of the motion, which may be sparse.
_BETWEEN = 400
_TITLES = {"rad": "Angles", "m": "Travels", "1": "Orientation (quaternions)"}
_LINES = (
    *("serial number of the robot", "version of its controller", "place"),
    *("computed by", "date", "signature", "checked and released by", "date", "signature"),
)


def view_section(
    seen: Picture, identifier: str, *, film: bool, bar: Html | None = None, ghosts: set[str], path: bool
) -> Html:
    """Return the frame of a 3D view, whose data are in the script element ``identifier``.

    ``bar`` are controls of this page alone.
    """
    more = legend_of(ghosts | ({"path"} if path else set()))
    present = {
        "forces": any(a.quantity == "force" for a in seen.arrows),
        "moments": any(a.quantity == "moment" for a in seen.arrows),
        "ghosts": bool(ghosts),
        "path": path,
    }
    switches = [
        element(
            "label", element("input", type="checkbox", data_show=key, checked=checked), words, class_="switch"
        )
        for key, words, checked in _SWITCHES
        if present.get(key, True)
    ]
    words = "The mechanism in 3D: drag to turn, scroll to zoom, click a body or joint for its name."
    return element(
        "section",
        element("h2", "View", class_="hidden"),
        element(
            "div",
            element("canvas", tabindex=0, role="img", aria_label=words),
            element("div", class_="labels", aria_hidden="true"),
            element("img", class_="still", alt="the mechanism, coloured by result"),
            element("p", "The 3D view needs WebGL, which this browser does not support.", class_="no-webgl"),
            element("p", class_="picked", aria_live="polite"),
            class_="stage",
        ),
        _film_bar() if film else bar,
        element(
            "div", switches, element("button", "whole view", type="button", data_reset=True), class_="bar"
        ),
        element("ul", [_legend_line(entry) for entry in (*seen.legend, *more)], class_="legend"),
        element("p", words, class_="fine screen"),
        _notes(seen.notes),
        class_="view",
        data_drawing=identifier,
    )


def _notes(notes: tuple[str, ...]) -> Html:
    """Return the notes on the drawing; more than ``_MOST`` are folded, on paper too."""
    lines = [element("p", note, class_="fine") for note in notes]
    if len(lines) <= _MOST:
        return joined(lines)
    said = element("summary", f"{len(lines)} notes on what is drawn", class_="fine")
    return element("details", said, lines, class_="drawn")


def _legend_line(entry: LegendEntry) -> Html:
    colour = f"light-dark({entry.colour.hex},{entry.colour.on_dark})"
    paint = f"background:{colour};opacity:{max(entry.colour.alpha, 0.4)}"
    return element("li", element("span", class_=f"swatch {entry.marks}", style=paint), entry.text)


def _film_bar() -> Html:
    return element(
        "div",
        element("button", "play", type="button", data_play=True, aria_pressed="false"),
        element(
            "input", type="range", min=0, max=1000, value=0, step=1, data_time=True, aria_label="time, s"
        ),
        element("output", "0.000 s", data_clock=True),
        element(
            "label",
            "speed ",
            element(
                "select",
                [
                    element("option", f"{speed:g} ×", value=speed, selected=speed == 1)
                    for speed in (0.1, 0.25, 0.5, 1, 2)
                ],
                data_speed=True,
            ),
        ),
        class_="bar film",
    )


# The controls below the 3D view: a slider along the constraint manifold, and a draggable load.


def interaction_panel(moves: dict[str, Any], load: dict[str, Any], why: str) -> Html | None:
    """Return the controls to move and to load the mechanism, with the sentence ``why`` if it cannot be loaded.

    None if there is neither a control nor a sentence.
    """
    loading = _load(load) if load else element("p", why, class_="fine") if why else None
    if not moves and loading is None:
        return None
    return element("div", _pose(moves) if moves else None, loading, class_="try screen")


def _pose(moves: dict[str, Any]) -> Html:
    names = [one["name"] for group in moves["groups"] for one in group["coordinates"]]
    return element(
        "fieldset",
        element("legend", "Move along the constraint manifold"),
        element(
            "label",
            "coordinate ",
            element(
                "select",
                [element("option", name, value=k) for k, name in enumerate(names)],
                data_coordinate=True,
            ),
        ),
        element(
            "input",
            type="range",
            min=0,
            max=1,
            value=0,
            step=1,
            data_lead=True,
            aria_label="pose along the constraint manifold",
        ),
        element("output", "", data_led=True),
        element("button", "first pose", type="button", data_first=True),
        element("p", _words(moves), class_="fine"),
        element("p", "", class_="fine", data_pose_words=True, aria_live="polite"),
        data_pose=True,
    )


def _words(moves: dict[str, Any]) -> str:
    """Return sentences on how the coordinates move together."""
    loops = [group["loops"] for group in moves["groups"]]
    if len(moves["groups"]) == 1 and len(moves["groups"][0]["coordinates"]) == 1:
        return "All other coordinates follow from the loops. Computed poses: loops are closed in each."
    words = (
        "The others stay where they are, what is in a loop follows. Computed poses: loops are closed in each."
    )
    if len(set(loops)) < len(loops):
        words += " Coordinates of the same loops move from the first pose, one at a time."
    return words


def _load(load: dict[str, Any]) -> Html:
    bodies = [
        element("option", name, value=k, selected=k == load["first"]) for k, name in enumerate(load["bodies"])
    ]
    forces = [
        element(
            "label",
            f"F{axis} ",
            element("input", type="number", step="any", value=f"{value:g}", data_force=k),
            " N",
        )
        for k, (axis, value) in enumerate(zip("xyz", load["force"], strict=True))
    ]
    return element(
        "fieldset",
        element("legend", "Load a body"),
        element(
            "label", element("input", type="checkbox", data_load_on=True), "add this load", class_="switch"
        ),
        element("label", "at ", element("select", bodies, data_load_body=True)),
        forces,
        element("output", "", data_load_words=True),
        element(
            "p",
            "World axes, at the centre of mass or where a body is clicked; drag the head of the arrow. The table of"
            " joint reactions follows: they are linear in the load, as far as the rigid model determines them.",
            class_="fine",
        ),
        data_load=True,
    )


# The verdict and its key numbers.


def verdict_section(chapter: Chapter) -> Html:
    """Return the top of a chapter: verdict, warnings and key numbers."""
    said = sentence(chapter)
    return joined(
        [
            element("p", said, class_=f"verdict {grade(chapter)}") if said else None,
            [element("p", one, class_="alarm", role="alert") for one in chapter.warnings],
            element(
                "dl",
                [
                    element("div", element("dt", words), element("dd", value))
                    for value, words in _tiles(chapter)
                ],
                class_="tiles",
            ),
        ]
    )


def grade(chapter: Chapter) -> str:
    """Return the grade that colours the verdict: good, fair (assumed or undetermined) or bad (failed or dangerous)."""
    if chapter.report is not None and chapter.report.exit_code:
        return "bad"
    if set(_outcomes(chapter)) - {"stopped"} or _too_short(chapter):
        return "bad"
    if chapter.difference is not None:
        return "good" if chapter.difference.same else "bad"
    if chapter.agreement is not None:
        # a comparison that decides nothing is not dangerous
        of_engines = (chapter.agreement, chapter.agreement.second)
        if any(one is not None and one.verdict == "disagrees" for one in of_engines):
            return "bad"
        return "good" if chapter.agreement.agrees and not chapter.agreement.assumed else "fair"
    if chapter.side_by_side is not None and not chapter.side_by_side.agrees:
        return "bad"
    if chapter.side_by_side is not None and not chapter.side_by_side.compared:
        return "fair"
    if chapter.modes is not None and chapter.modes.equilibrium.stability != "stable":
        return "fair"
    made = chapter.distance
    if chapter.warnings or (made is not None and (made.stop.assumed or made.tool_choice.reason)):
        return "fair"
    if chapter.calibration is not None and any(row.unexplained for row in chapter.calibration.rows):
        return "fair"
    redundant = chapter.verdicts is not None and chapter.verdicts.degree_of_redundancy
    found = chapter.report is not None and chapter.report.findings
    return "fair" if redundant or found else "good"


def _outcomes(chapter: Chapter) -> Iterator[str]:
    """Yield the outcomes of all stops of a chapter."""
    if chapter.stop is not None:
        yield chapter.stop.outcome
    if chapter.table is not None:
        yield from (row["outcome"] for row in chapter.table.rows)
    yield from (one.outcome for worst in chapter.searched for one in worst.found)
    if chapter.sweep is not None:
        yield from chapter.sweep.report.outcomes


def sentence(chapter: Chapter) -> str:
    """Return the one-line verdict of a chapter; empty if there is none."""
    if chapter.stop is not None:
        stop = chapter.stop
        if stop.falls:
            return falling_sentence(stop)
        joint = f"{stop.impact.joint} " if stop.impact is not None else ""
        return (
            f"{stop.scenario.mech.name}: stop of category {stop.scenario.category},"
            f" {joint}{stop.verdict}; computed, not measured"
        )
    if chapter.modes is not None:
        rest = chapter.modes.equilibrium
        freedoms = counted(len(rest.coordinates), "freedom")
        return f"{rest.mechanism.name}: {rest.stability} equilibrium with {freedoms}"
    if chapter.motion is not None:
        motion = chapter.motion
        outcome = motion.outcome.replace("_", " ")
        return f"{motion.mechanism.name}: motion over {motion.time[-1]:.6g} s, {outcome}"
    if chapter.table is not None:
        unrested = f", {chapter.table.unrested}" if chapter.table.unrested else ""
        return table_verdict(chapter.table, chapter.units, f"{unrested}{_too_short(chapter)}")
    if chapter.worst is not None:
        worst = chapter.worst
        return f"{worst.model}: worst of {counted(worst.count, 'stop')}{_longest(chapter)}; computed, not measured"
    if chapter.distance is not None:
        made = chapter.distance
        return f"{made.stop.model}: {made.symbol} = {made.value:.4f} m by {made.standard}; computed, not measured"
    if chapter.sweep is not None:
        swept = chapter.sweep.report
        stops = f"{counted(swept.count, 'stop')}{_largest(chapter)}{_missed(swept.outcomes)}"
        return f"{chapter.sweep.plan.scenario.mech.name}: {stops}; computed, not measured"
    if chapter.calibration is not None:
        return f"{chapter.calibration.model}: {chapter.calibration.verdict}"
    if chapter.difference is not None:
        return f"{chapter.difference.a.name} and {chapter.difference.b.name}: {chapter.difference.verdict}"
    if chapter.side_by_side is not None:
        return f"{chapter.side_by_side.mechanism.name}: {engines_verdict(chapter.side_by_side, 'non-unique')}"
    if chapter.agreement is not None:
        of_engines = (chapter.agreement, chapter.agreement.second or chapter.agreement)
        # a second engine that disagrees comes first
        first = min(of_engines, key=lambda one: one.verdict != "disagrees")
        return _AGREEMENTS[first.verdict].format(first.engine)
    if chapter.report is not None:
        return verdict(chapter.report)
    return "" if chapter.verdicts is None else analysis_verdict(chapter.verdicts)


def _too_short(chapter: Chapter) -> str:
    """Return the numbers of measured stops beyond and far below the computed ones; empty if there are none."""
    beside = chapter.table.measured if chapter.table is not None else None
    rows = [] if beside is None else beside.rows
    uncovered, far = sum(not row.covered for row in rows), sum(row.far for row in rows)
    stops = counted(len(rows), "measured stop")
    short = f", TOO SHORT for {uncovered} of {stops}" if uncovered else ""
    return short + (f", TOO LONG for {far} of {stops}" if far else "")


def _missed(outcomes: Mapping[str, int]) -> str:
    """Return the number of stops that do not end at rest; empty if all do."""
    number, count = sum(outcomes.values()), outcomes.get("stopped", 0)
    return (
        f", {number - count} of {counted(number, 'stop')} not at rest within the limits"
        if count < number
        else ""
    )


def _longest(chapter: Chapter) -> str:
    """Return the longest time to rest and the longest tool path of a search, with their axes."""
    rested = [one for one in chapter.worst.found if one.outcome == "stopped"] if chapter.worst else []
    if not rested:
        return ""
    size, m = chapter.units.shown("m")
    slow = max(rested, key=lambda one: one.time)
    far = max(rested, key=lambda one: one.tool_distance)
    return (
        f": {slow.time:.4g} s to rest ({slow.axis or 'robot'}),"
        f" {shown(far.tool_distance, size=size)} {m} of tool path ({far.axis or 'robot'})"
    )


def _largest(chapter: Chapter) -> str:
    """Return the longest time to rest and the longest tool path of a sweep."""
    found = chapter.sweep.report.quantiles if chapter.sweep else {}
    if not {"time", "tool_distance"} <= set(found):
        return ""
    size, m = chapter.units.shown("m")
    slow, far = (max(found[name].values()) for name in ("time", "tool_distance"))
    return f": at most {slow:.4g} s to rest, {shown(far, size=size)} {m} of tool path"


def _tiles(chapter: Chapter) -> Iterator[tuple[str, str]]:
    if chapter.stop is not None:
        stop = chapter.stop
        rested = stop.outcome == "stopped"
        yield f"{stop.time:.4g} s", f"from the signal to {'rest' if rested else 'the end of the motion'}"
        size, m = chapter.units.shown("m")
        yield f"{shown(stop.tool.distance, size=size)} {m}", f"path of the tool {stop.tool.body}"
        yield f"{shown(stop.tool.speed, size=size)} {m}/s", "tool at the signal"
        yield f"{shown(stop.naive.tool_error, size=size)} {m}", "tool error of an instant stop"
    if chapter.modes is not None:
        lowest = next((mode for mode in chapter.modes.modes if mode.stiffness > 0), None)
        if lowest is not None:
            yield f"{lowest.frequency:.4g} Hz", "lowest natural frequency"
        growing = [mode.growth_time for mode in chapter.modes.modes if mode.stiffness < 0]
        if growing:
            yield f"{min(growing):.4g} s", "in which a push grows by e"
    analysis = chapter.verdicts
    if analysis is not None and chapter.stop is None:
        several = sum(c.reaction == "non-unique" for c in analysis.constraints)
        flexible = sum(not body.may_stay_rigid for body in analysis.bodies)
        yield str(analysis.degree_of_redundancy), "redundant constraints"
        finite = analysis.finite_dof
        if finite is None or finite == analysis.dof:
            yield str(analysis.dof), f"mobility (Grübler {analysis.gruebler})"
        else:
            yield (
                str(finite),
                f"mobility in fact; {analysis.dof} to first order (Grübler {analysis.gruebler})",
            )
        yield f"{several} of {len(analysis.constraints)}", "reactions not unique"
        yield f"{flexible} of {len(analysis.bodies)}", "bodies that must be flexible"
    if chapter.report is not None:
        yield findings_summary([chapter.report]), "findings"


# The curves and events of a motion.


def motion_section(chapter: Chapter) -> Html | None:
    """Return the section with curves and events of a motion."""
    motion = chapter.moving
    if motion is None or len(motion.time) < 2:
        return None
    outcome, residual = motion.outcome.replace("_", " "), ""
    if motion.residuals:
        name, worst = max(motion.residuals.items(), key=lambda item: item[1])
        residual = f" Constraints hold to {worst:.2g} (m, rad), worst at {name}."
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
    """Yield the charts of a motion, and of the reactions of ``pairs``, each with a note."""
    between = np.linspace(sampled.time[0], sampled.time[-1], _BETWEEN)
    motion = drawn(sampled, np.sort(np.concatenate((sampled.time, between))))
    mech = motion.mechanism
    marks = tuple((e.time, f"{e.time:.6g} s: {e.sentence}") for e in motion.events[:_MOTION_MOST])
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
    """Return the curves of the columns of ``values`` (T, n) that have the unit ``unit``."""
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


def _events(motion: Trajectory) -> Html | None:
    if not motion.events:
        return None
    rows = [(f"{e.time:.6g}", e.kind, e.sentence) for e in motion.events[:_MOTION_MOST]]
    events = table(("time [s]", "kind", "what happened"), rows, caption="Events")
    return element("div", events, unshown(len(motion.events), _MOTION_MOST))


# All assumptions and notes.


def assumptions_section(chapter: Chapter) -> Html | None:
    """Return the section with all assumptions and notes, each once."""
    sentences = list(dict.fromkeys(said_in(_assumed(chapter), chapter.units)))
    if not sentences:
        return None
    return section("Assumptions and notes", element("ul", [element("li", one) for one in sentences]))


def _assumed(chapter: Chapter) -> Iterator[str]:
    yield from chapter.notes
    if chapter.stop is not None:
        yield from said_in(chapter.stop.scenario.stated, chapter.units)
        yield from joined_by_words(chapter.stop.assumed)
        yield from chapter.stop.notes
    if chapter.table is not None:
        yield from chapter.table.assumptions
    if chapter.reactions is not None:
        yield from chapter.reactions.notes
        for e in chapter.reactions.estimated:
            yield (
                f"{e.body}: stiffness estimated as a beam of {e.material}, {e.length:.4g} m long,"
                f" A {e.section.A:.3g} m²."
            )
    if chapter.motion is not None:
        yield from joined_by_words(assumed_brakes(chapter.motion.actions.brakes))
    if chapter.agreement is not None:
        yield from joined_by_words(chapter.agreement.assumed)
    if chapter.modes is not None:
        yield from chapter.modes.equilibrium.notes
    if chapter.moving is not None:
        yield from chapter.moving.notes


# The record of a run.


def record_section(chapter: Chapter) -> Html | None:
    """Return the section with the record: date, version, command and files."""
    if chapter.record is None:
        return None
    # a stopping table has its signature lines on the first page
    return section(
        "Record",
        element("ul", [element("li", one) for one in record_facts(chapter.record)]),
        signature_lines() if chapter.table is None else None,
    )


def signature_lines() -> Html:
    """Return the lines to fill in and sign on paper."""
    return element("div", [element("span", line) for line in _LINES], class_="sign")


#: Lengths of arrows, relative to the radius of the picture.
_ARROWS = ArrowLengths(largest=0.45, smallest=0.06, fan=0.22)
#: Maximum number of frames of a film, and maximum size of its data, bytes.
_FRAMES, _BYTES = 300, 3_000_000


def drawing_data(seen: Picture) -> dict[str, Any]:
    """Return bodies, joints, arrows and colours as data; poses are position xyz, m, and quaternion xyzw."""
    shelf = _Shelf()
    index = {body.name: k for k, body in enumerate(seen.bodies)}
    return {
        "center": seen.center_W,
        "radius": seen.radius,
        "palette": {key: [colour.hex, colour.alpha, colour.on_dark] for key, colour in PALETTE.items()},
        "legend": [[entry.key, entry.marks, entry.text] for entry in LEGEND],
        "bodies": [
            {
                "name": body.name,
                "verdict": body.verdict,
                "stick": body.stick,
                "parts": [[shelf.place(part.mesh), seven_numbers(part.X_LM)] for part in body.parts],
            }
            for body in seen.bodies
        ],
        "joints": [
            {
                "name": joint.name,
                "type": joint.type,
                "kind": joint.kind,
                "verdict": joint.verdict,
                "ends": [joint.body_a, joint.body_b],
                "body": index[joint.body],
                "mesh": shelf.place(joint.mesh),
                "place": seven_numbers(joint.X_LJ),
            }
            for joint in seen.joints
        ],
        "arrows": [_arrow(one) for one in drawn_arrows(seen.arrows, seen.radius, _ARROWS)],
        "arrow_scale": {
            quantity: arrow_scale(seen.arrows, quantity, seen.radius, _ARROWS) for quantity in QUANTITIES
        },
        "poses": pose_bytes(seen.poses),
        "geometries": shelf.geometries,
    }


def film_data(motion: Trajectory) -> dict[str, Any]:
    """Return the poses of all bodies along a motion, equally spaced in time; empty without motion or bodies."""
    bodies = len(motion.mechanism.bodies)
    count = int(np.clip(_BYTES // (28 * (bodies + 1)), 2, _FRAMES))
    start, end = float(motion.time[0]), float(motion.time[-1])
    if end <= start or not bodies:
        return {}
    times = np.asarray(np.linspace(start, end, count), dtype=float)
    frames = drawn(motion, times)
    poses = np.stack([body_places(forward(motion.mechanism, q)) for q in frames.q])
    places = poses[:, :, :3].reshape(-1, 3)
    reach = [places.min(axis=0), places.max(axis=0)]
    return {"time": frames.time, "poses": base64_of(poses), "bodies": bodies, "reach": reach}


def ghost_data(mech: Mechanism, key: str, q: Array) -> dict[str, Any]:
    """Return the data of the whole mechanism at another pose q (nq,)."""
    return {"key": key, "poses": pose_bytes(forward(mech, q))}


def pose_bytes(poses: BodyPoses) -> str:
    """Return the poses of all bodies without the ground, seven numbers each, in Base64."""
    return base64_of(body_places(poses))


def path_bytes(path: Array) -> str:
    """Return the points of a path (n, 3), m, in Base64."""
    return base64_of(path)


def body_places(poses: BodyPoses) -> Array:
    """Return position and quaternion xyzw of all bodies, (N, 7)."""
    count = len(poses.p_WL)
    return np.array([seven_numbers(poses.of(k)) for k in range(count)]).reshape(count, 7)


def seven_numbers(X: Pose) -> list[float]:
    """Return position and quaternion xyzw of a pose, m."""
    return [round(float(v), 9) for v in (*X.p, *quaternion_from_rotation(X.R))]


def base64_of(values: Array) -> str:
    """Return values (...,) of any shape as 32-bit floats in Base64, clipped to the range of such numbers."""
    largest = float(np.finfo("<f4").max)
    return b64encode(np.clip(values, -largest, largest).astype("<f4").tobytes()).decode()


class _Shelf:
    """Geometries of a page, each stored once."""

    def __init__(self) -> None:
        self.geometries: list[dict[str, Any]] = []
        self._places: dict[int, int] = {}
        # keep the meshes alive, as an id is unique only during an object's lifetime
        self._kept: list[Mesh] = []

    def place(self, mesh: Mesh) -> int:
        if id(mesh) not in self._places:
            self._places[id(mesh)] = len(self.geometries)
            self._kept.append(mesh)
            kind = "<u2" if len(mesh.vertices) < 2**16 else "<u4"
            faces = np.ascontiguousarray(mesh.faces, dtype=kind).tobytes()
            self.geometries.append(
                {"v": base64_of(mesh.vertices), "f": b64encode(faces).decode(), "wide": kind == "<u4"}
            )
        return self._places[id(mesh)]


def _arrow(drawn: DrawnArrow) -> dict[str, Any]:
    arrow = drawn.arrow
    unit = "N" if arrow.quantity == "force" else "N·m"
    said = f"{arrow.constraint}: {arrow.quantity}"
    if length(arrow.known) or not len(arrow.fan):
        said += f" {length(arrow.known):.4g} {unit}"
    if len(arrow.fan):
        said += ", partly not determined by a rigid model" if length(arrow.known) else " not determined"
    if arrow.resolved is not None:
        said += f"; by stiffness {length(arrow.resolved):.4g} {unit}"
    return {
        "joint": arrow.constraint,
        "quantity": arrow.quantity,
        "point": arrow.point_W,
        "known": drawn.known,
        "resolved": drawn.resolved,
        "fan": drawn.fan,
        "text": said,
    }


def stress_data(constraints: tuple[str, ...], ends: dict[str, tuple[str, str]]) -> dict[str, Any]:
    """Return the constraints that a self-stress loads, and the bodies they connect."""
    loaded = {body for name in constraints for body in ends.get(name, ())} - {WORLD}
    return {"joints": list(constraints), "bodies": sorted(loaded)}
