"""The HTML page: a sequence of chapters with embedded style, viewer and data."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from importlib.resources import files
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.constraints.rank import View, sample_poses
from mbplugin.constraints.rows import plane_columns
from mbplugin.errors import MbPluginError
from mbplugin.joint_reactions.run import LoadResponse, load_response
from mbplugin.model.mechanism.kinematics import BodyPoses, forward, rate_units, rigid_groups
from mbplugin.model.mechanism.mechanism import WORLD
from mbplugin.model.spatial import AnyArray, Array, Pose, quaternion_from_rotation
from mbplugin.report.formats import runs_summary
from mbplugin.report.html.chapters import Chapter
from mbplugin.report.html.chart import Html, element, joined, json_script
from mbplugin.report.html.sections.compared import (
    against_section,
    agreement_section,
    diff_section,
    engines_section,
)
from mbplugin.report.html.sections.findings import (
    dca_section,
    decided_section,
    findings_section,
    groups_section,
    record_section,
    rules_section,
    with_terms,
)
from mbplugin.report.html.sections.reactions import (
    assumptions_section,
    misfits_section,
    reactions_section,
    remedies_section,
    stresses_section,
    uniqueness_section,
)
from mbplugin.report.html.sections.stopping import (
    calibration_section,
    distance_section,
    stop_section,
    sweep_section,
    worst_stops_section,
)
from mbplugin.report.html.sections.stopping_table import (
    first_page_section,
    stopping_table_section,
    zone_section,
)
from mbplugin.report.html.sections.view import (
    grade,
    interaction_panel,
    motion_section,
    sentence,
    verdict_section,
    view_section,
)
from mbplugin.report.picture import Mesh, Picture, picture
from mbplugin.report.picture.picture import (
    LEGEND,
    PALETTE,
    QUANTITIES,
    ArrowLengths,
    DrawnArrow,
    arrow_scale,
    drawn_arrows,
    length,
)
from mbplugin.simulation.manifold import Manifold, SampledPath, Slider
from mbplugin.simulation.trajectory.resampling import drawn
from mbplugin.version import __version__

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.joint_reactions.values import Reactions
    from mbplugin.model.mechanism.mechanism import Mechanism
    from mbplugin.simulation.trajectory.trajectory import Trajectory

_SECTIONS: tuple[Callable[[Chapter], Html | None], ...] = (
    findings_section,
    stop_section,
    motion_section,
    stopping_table_section,
    worst_stops_section,
    zone_section,
    sweep_section,
    calibration_section,
    distance_section,
    assumptions_section,
    agreement_section,
    diff_section,
    engines_section,
    remedies_section,
    stresses_section,
    misfits_section,
    uniqueness_section,
    groups_section,
    reactions_section,
    decided_section,
    dca_section,
    against_section,
    record_section,
)
#: Maximum count of numbers in the load maps of all poses of a page.
_NUMBERS = 120_000
#: Maximum contribution of loads other than weights to a reaction, relative to the largest reaction.
_ROUNDING = 1e-6
#: Length of a load arrow of the mechanism's weight, relative to the radius of the picture.
_LOAD = 0.5
#: Maximum numbers of bodies of an interactive mechanism, of driven coordinates, and of poses of all of them.
BODIES, _SLIDERS, _POSES = 60, 8, 330
#: Poses to each side of the start: minimum and maximum for a single coordinate, and maximum for two coupled ones.
_LEAST, _MOST, _OF_TWO = 8, 36, 6
#: Maximum step of each of two coupled coordinates between poses, rad or m; a short range is divided by 24 instead.
_STEP = np.pi / 12
#: Entries of a Jacobian below this, in characteristic lengths, are rounding.
_NOTHING = 1e-9
#: Lengths of arrows, relative to the radius of the picture.
_ARROWS = ArrowLengths(largest=0.45, smallest=0.06, fan=0.22)
#: Maximum number of frames of a film, and maximum size of its data, bytes.
_FRAMES, _BYTES = 300, 3_000_000


def html_page(*chapters: Chapter) -> str:
    """Return one page about one or several models.

    The page needs no other file and no network. Its content security policy enforces this: only the
    embedded scripts may run, and no request is allowed.
    """
    title = chapters[0].title if len(chapters) == 1 else f"{len(chapters)} models"
    live = any(one.model is not None or one.report is not None for one in chapters)
    scripts = [_own("page.js"), *([_own("viewer.min.js")] if live else [])]
    body = joined(
        [
            element(
                "header",
                element("h1", title),
                element(
                    "div",
                    element("span", f"mbplugin {__version__}", class_="fine"),
                    element("button", "dark", type="button", data_theme_switch=True, hidden=True),
                    class_="screen",
                ),
            ),
            _index(chapters) if len(chapters) > 1 else None,
            element(
                "main",
                with_terms(joined([_chapter(k, one, len(chapters)) for k, one in enumerate(chapters)])),
                rules_section(chapters),
            ),
            [element("script", Html(script)) for script in scripts],
        ]
    )
    head = joined(
        [
            element("meta", charset="utf-8"),
            element("meta", name="viewport", content="width=device-width, initial-scale=1"),
            Html(f'<meta http-equiv="Content-Security-Policy" content="{_policy(scripts)}">'),
            element("title", f"{title} – mbplugin"),
            element("style", Html(_own("style.css"))),
        ]
    )
    return f"<!doctype html>\n{element('html', element('head', head), element('body', body), lang='en')}\n"


def _policy(scripts: list[str]) -> str:
    digests = [b64encode(sha256(script.encode()).digest()).decode() for script in scripts]
    own = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; script-src {own}; style-src 'unsafe-inline'; img-src data:"


@cache
def _own(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _index(chapters: tuple[Chapter, ...]) -> Html:
    """Return the index: a line for each model with its verdict as a link to its chapter."""
    reports = [one.report for one in chapters if one.report is not None]
    lines = [
        element("li", element("a", sentence(one) or one.title, href=f"#run-{k}", class_=f"mark {grade(one)}"))
        for k, one in enumerate(chapters)
    ]
    summary = element("p", runs_summary(reports), class_="lead") if len(reports) == len(chapters) else None
    return element("nav", summary, element("ol", lines), aria_label="models")


def _in_order(chapter: Chapter) -> Sequence[Callable[[Chapter], Html | None]]:
    """Return the sections in order; without a lint report, the joint reactions come first."""
    return _SECTIONS if chapter.report else sorted(_SECTIONS, key=lambda make: make is not reactions_section)


def _chapter(k: int, chapter: Chapter, count: int) -> Html:
    inner = joined(
        [
            verdict_section(chapter),
            first_page_section(chapter),
            _view(k, chapter),
            [made for make in _in_order(chapter) if (made := make(chapter)) is not None],
        ]
    )
    if count == 1:
        return element("article", inner, class_="run", id="run-0")
    return element(
        "details",
        element("summary", chapter.title),
        inner,
        class_="run",
        id=f"run-{k}",
        name="run",
        open=k == 0,
    )


def _view(k: int, chapter: Chapter) -> Html | None:
    if chapter.model is None:
        return None
    motion = chapter.moving
    seen = picture(
        chapter.model,
        analysis=chapter.verdicts,
        reactions=chapter.reactions,
        q=None if motion is None else motion.q[0],
    )
    data = drawing_data(seen)
    data["film"] = {} if motion is None else film_data(motion)
    data["ghosts"] = _ghosts(chapter)
    data["path"] = "" if chapter.stop is None else path_bytes(chapter.stop.tool.path)
    data["stresses"] = _stresses(chapter)
    data["moves"], data["load"] = _interactive(chapter, seen.radius)
    identifier = f"drawing-{k}"
    frame = view_section(
        seen,
        identifier,
        film=bool(data["film"]),
        ghosts={ghost["key"] for ghost in data["ghosts"]},
        path=bool(data["path"]),
    )
    # pages without reactions do not mention loads
    shown = chapter.moving is None and (chapter.reactions is not None or chapter.report is not None)
    panel = interaction_panel(data["moves"], data["load"], why_no_load(chapter.reactions) if shown else "")
    return joined([frame, panel, json_script(identifier, data)])


def _interactive(chapter: Chapter, radius: float) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the data to move and to load the mechanism on the page; empty for a page with a film."""
    if chapter.moving is not None or chapter.verdicts is None:
        return {}, {}
    return interactive_data(chapter.verdicts, chapter.reactions, radius)


def _ghosts(chapter: Chapter) -> list[dict[str, Any]]:
    if chapter.stop is None:
        return []
    stop = chapter.stop
    return [
        ghost_data(stop.trajectory.mechanism, "naive", stop.naive.q),
        ghost_data(stop.trajectory.mechanism, "signal", stop.trajectory.q[0]),
    ]


def _stresses(chapter: Chapter) -> list[dict[str, Any]]:
    analysis = chapter.verdicts
    if analysis is None:
        return []
    ends = {c.name: (c.body_a, c.body_b) for c in analysis.constraints}
    return [stress_data(stress.constraints, ends) for stress in analysis.self_stresses]


# Data to move and to load a mechanism on the page: sampled poses, and the linear maps from loads to reactions.


def interactive_data(
    analysis: Analysis, reactions: Reactions | None, radius: float
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the data to move the mechanism on the page, and the data to load it; empty if it cannot be done."""
    response = None if reactions is None else _response(reactions)
    load = {} if reactions is None or response is None else _load_data(reactions, response, radius)
    found = pose_groups(analysis)
    if found is None:
        return {}, load
    manifold, groups = found
    mech = manifold.mech
    data = [group_data(manifold, group) for group in groups]
    if reactions is not None and response is not None and mech.q_names == reactions.mechanism.q_names:
        for one, maps in zip(data, _maps(reactions, response, groups), strict=True):
            one["maps"] = maps
    places = base64_of(relative_places(mech, forward(mech, analysis.q)))
    moves = {
        "tree": tree_data(mech),
        "places": places,
        "groups": data,
        "structural": analysis.structural_redundancy,
    }
    return moves, load


def why_no_load(reactions: Reactions | None) -> str:
    """Return a sentence on why no load can be added on the page."""
    if reactions is None:
        return (
            "No load can be added: nothing holds the mechanism, and it would move."
            " Hold joints or fix the base to see what a load does to the reactions."
        )
    if reactions.mode != "statics":
        return (
            "No load can be added: these reactions belong to a motion, in which a load would change the accelerations."
            " Reactions at rest can be loaded."
        )
    if len(reactions.mechanism.bodies) > BODIES:
        return f"No load can be added: the mechanism has more than {BODIES} bodies."
    return "No load can be added: no body is held against every force on it."


def _response(reactions: Reactions) -> LoadResponse | None:
    """Return the map from loads to reactions at the pose of ``reactions``; None if nothing can be loaded."""
    if reactions.mode != "statics" or len(reactions.mechanism.bodies) > BODIES:
        return None
    try:
        found = load_response(reactions)
    except MbPluginError:
        return None
    return found if found.bodies and found.labels else None


def _load_data(reactions: Reactions, found: LoadResponse, radius: float) -> dict[str, Any]:
    mech = reactions.mechanism
    still = rigid_groups(mech)[WORLD]
    weights = _weights(reactions, found)
    size = float(f"{np.linalg.norm(weights.sum(axis=0)) or 1.0:.1g}")
    return {
        "bodies": list(found.bodies),
        "indices": [mech.body_index[name] for name in found.bodies],
        # preselect a moving body
        "first": next((k for k, name in enumerate(found.bodies) if name not in still), 0),
        "centers": [mech.bodies[mech.body_index[name]].p_LC for name in found.bodies],
        "weights": weights,
        "labels": [list(label) for label in found.labels],
        "base": _base(reactions, found),
        "matrix": base64_of(found.matrix),
        "force": [0.0, 0.0, -size],
        "metres": _LOAD * radius / size,
        "joints": _joints(reactions, found),
    }


def _weights(reactions: Reactions, found: LoadResponse) -> Array:
    """Return the weights of the bodies that can be loaded, N, world axes, (N, 3)."""
    mech = reactions.mechanism
    masses = np.array([mech.bodies[mech.body_index[name]].mass for name in found.bodies])
    return np.outer(masses, mech.gravity)


def _base(reactions: Reactions, found: LoadResponse) -> Array:
    """Return the determined reaction components without an added load, (k,)."""
    return np.array([reactions.value(*label) for label in found.labels])


def _joints(reactions: Reactions, found: LoadResponse) -> list[dict[str, Any]]:
    """Return for each joint its axes in the predecessor, and the point on the successor where its reaction acts."""
    mech = reactions.mechanism
    poses = forward(mech, reactions.q)
    constraints = [reactions[name] for name in dict.fromkeys(name for name, _ in found.labels)]
    data = []
    for one in constraints:
        if one.point is None or one.R_WJ is None or one.wrench is None:
            continue
        a, b = (mech.body_index.get(name, -1) for name in (one.body_a, one.body_b))
        X_WA, X_WB = poses.of(a), poses.of(b)
        point = (X_WB.inverse() @ Pose(np.eye(3), one.point)).p
        data.append({"name": one.name, "a": a, "b": b, "point": point, "axes": (X_WA.R.T @ one.R_WJ).T})
    return data


def _maps(reactions: Reactions, found: LoadResponse, groups: list[PoseGroup]) -> list[str]:
    """Return for each group the load maps of all its poses, (n, N, k, 6), encoded, with NaN if not determined.

    They are empty if there would be too many numbers, or if loads other than weights act, as the page computes the
    reactions of other poses from the weights alone.
    """
    poses = sum(len(group.q) for group in groups)
    base, weights = _base(reactions, found), _weights(reactions, found)
    by_weight = np.einsum("nkf,nf->k", found.matrix[:, :, :3], weights)
    known = np.abs(base - by_weight).max() <= _ROUNDING * max(float(np.abs(base).max()), 1e-9)
    if not known or poses * found.matrix.size > _NUMBERS:
        return ["" for _ in groups]
    return [
        base64_of(np.stack([_like(found, load_response(reactions, q)) for q in group.q])) for group in groups
    ]


def _like(first: LoadResponse, other: LoadResponse) -> Array:
    """Return the map (N, k, 6) of another pose for the bodies and components of the first; NaN where it has none."""
    if other.bodies != first.bodies:
        return np.full_like(first.matrix, np.nan)
    places = {label: k for k, label in enumerate(other.labels)}
    kept = [(k, places[label]) for k, label in enumerate(first.labels) if label in places]
    matrix = np.full_like(first.matrix, np.nan)
    matrix[:, [k for k, _ in kept]] = other.matrix[:, [j for _, j in kept]]
    return matrix


# Poses for the page: groups of driven coordinates, and closed poses along each.


@dataclass(frozen=True, eq=False)
class PoseGroup:
    """Poses along one driven coordinate, or along two coupled ones.

    Parameters
    ----------
    across : SampledPath or None
        Poses along the first of two coordinates.
    rows : tuple of SampledPath
        Poses along the last coordinate, one path for each pose of ``across``.
    loops : int
        Number of the set of coupled loops that it moves. Of groups with the same number, only one can be away from
        the first pose at a time.
    moved : (nv,) array of bool
        The joint rates of these loops.
    """

    sliders: tuple[Slider, ...]
    across: SampledPath | None
    rows: tuple[SampledPath, ...]
    loops: int
    moved: AnyArray

    @property
    def q(self) -> Array:
        """All poses, row by row, (n, nq)."""
        return np.concatenate([row.q for row in self.rows])


def pose_groups(analysis: Analysis) -> tuple[Manifold, list[PoseGroup]] | None:
    """Return the manifold and the groups of driven coordinates with their poses; None if nothing can be moved."""
    mech = analysis.mechanism
    if len(mech.bodies) > BODIES or not mech.bodies:
        return None
    view = View(mech, analysis.q, plane_columns(analysis.planar), analysis.tolerance)
    manifold = Manifold(view, analysis.structural_redundancy)
    found = [group for group in _sampled(manifold, analysis.q) if len(group.q) > 1]
    return (manifold, found) if found else None


def _sampled(manifold: Manifold, q: Array) -> Iterator[PoseGroup]:
    """Yield the groups of driven coordinates, with poses to both sides of a pose q (nq,)."""
    together = _together(manifold, q)
    pairs = sum(len(sliders) == 2 for sliders, _ in together)
    single = sum(len(sliders) for sliders, _ in together if len(sliders) != 2)
    count = int(np.clip(_POSES // (2 * max(1, single + 9 * pairs)), _LEAST, _MOST))
    of_two = min(_OF_TWO, (isqrt(_POSES // max(1, pairs)) - 1) // 2)
    for k, (sliders, moved) in enumerate(together):
        if len(sliders) == 2:
            across, rows = _grid(manifold, sliders, q, of_two)
            yield PoseGroup(sliders, across, rows, k, moved)
        else:
            for slider in sliders:
                yield PoseGroup((slider,), None, (manifold.along(slider, q, count),), k, moved)


def _grid(
    manifold: Manifold, sliders: tuple[Slider, ...], q: Array, count: int
) -> tuple[SampledPath, tuple[SampledPath, ...]]:
    """Return poses along the first coordinate near q (nq,), and along the second one at each of these poses."""
    first, second = (_near(slider, count) for slider in sliders)
    across = manifold.along(first, q, count)
    return across, tuple(manifold.along(second, pose, count) for pose in across.q)


def _near(slider: Slider, count: int) -> Slider:
    """Return a slider with its range limited to ``count`` steps to each side of its start."""
    step = min(_STEP, (slider.upper - slider.lower) / 24)
    lower, upper = slider.start - count * step, slider.start + count * step
    lower, upper = max(slider.lower, lower), min(slider.upper, upper)
    return replace(slider, lower=lower, upper=upper, below="", above="")


def _together(manifold: Manifold, q: Array) -> list[tuple[tuple[Slider, ...], AnyArray]]:
    """Group the driven coordinates by coupled loops at a pose q (nq,), each group with the rates (nv,) of its loops."""
    from scipy.sparse.csgraph import connected_components

    count = len(manifold.mech.qd_names)
    joined = np.eye(count, dtype=bool)
    if manifold.closure.constraints:
        for pose in (q, *sample_poses(manifold.mech, q, 2)):
            moves = np.abs(manifold.closure.linearise(pose)[0]) > _NOTHING * manifold.closure.length
            joined |= (moves.T.astype(int) @ moves.astype(int)) > 0
    part = connected_components(joined, directed=False)[1]
    found: dict[int, tuple[Slider, ...]] = {}
    for slider in manifold.sliders[:_SLIDERS]:
        own = int(part[slider.rate])
        found[own] = (*found.get(own, ()), slider)
    return [(sliders, part == own) for own, sliders in found.items()]


def tree_data(mech: Mechanism) -> list[list[int]]:
    """Return pairs of body and parent body index, outwards from the ground; the ground is −1."""
    index = mech.body_index
    return [
        [index[joint.outer], -1 if joint.pair is None else index.get(joint.inner, -1)]
        for joint in mech.tree.joints
    ]


def relative_places(mech: Mechanism, poses: BodyPoses) -> Array:
    """Return the pose of each body relative to its parent, position and quaternion (N, 7)."""
    places = np.zeros((len(mech.bodies), 7))
    for body, carrier in tree_data(mech):
        places[body] = seven_numbers(poses.of(carrier).inverse() @ poses.of(body))
    return places


def group_data(manifold: Manifold, group: PoseGroup) -> dict[str, Any]:
    """Return a group as data for the page: coordinates, values, redundancies, and poses of the bodies that it moves."""
    mech, units = manifold.mech, rate_units(manifold.mech)
    places = np.stack([relative_places(mech, forward(mech, q)) for q in group.q])
    moved = [mech.body_index[joint.outer] for joint in mech.tree.joints if group.moved[joint.qd].any()]
    return {
        "coordinates": [
            {"name": one.name, "unit": units[one.rate].removesuffix("/s")} for one in group.sliders
        ],
        "loops": group.loops,
        "across": None if group.across is None else _path_data(group.across),
        "rows": [_path_data(row) for row in group.rows],
        "bodies": moved,
        "places": base64_of(places[:, moved]),
        "redundancy": [manifold.verdict_at(q).degree_of_redundancy for q in group.q],
    }


def _path_data(path: SampledPath) -> dict[str, Any]:
    return {"values": path.values, "start": path.start, "low": path.low, "high": path.high}


# A picture, a film and ghosts as data for the viewer.


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
