"""Data to move and to load a mechanism on the page: sampled poses, and the linear maps from loads to reactions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.constraints.many_poses import WholeTree, redundancy_at_poses
from mbplugin.constraints.rank import View, sample_poses
from mbplugin.constraints.rows import plane_columns
from mbplugin.errors import MbPluginError
from mbplugin.joint_reactions.run import LoadResponse, load_response
from mbplugin.model import WORLD, Mechanism, forward, rate_units, rigid_groups
from mbplugin.model.spatial import AnyArray, Array, Pose, quaternions_from_rotations
from mbplugin.report.html.view import base64_of
from mbplugin.simulation.manifold import Manifold, SampledPath, Slider

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.joint_reactions.values import Reactions

#: Maximum count of numbers in the load maps of all poses of a page.
_NUMBERS = 120_000
#: Maximum contribution of loads other than weights to a reaction, relative to the largest reaction.
_ROUNDING = 1e-6
#: Length of a load arrow of the mechanism's weight, relative to the radius of the picture.
_LOAD = 0.5
#: Maximum numbers of bodies of an interactive mechanism, of driven coordinates, and of poses in total.
BODIES, _SLIDERS, _POSES = 60, 8, 330
#: Poses to each side of the start: minimum and maximum for a single coordinate, and maximum for two coupled ones.
_LEAST, _MOST, _OF_TWO = 8, 36, 6
#: Maximum step of each of two coupled coordinates between poses, rad or m; a short range is divided by 24 instead.
_STEP = np.pi / 12
#: Entries of a Jacobian below this, in characteristic lengths, are rounding.
_NOTHING = 1e-9


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
    return "No load can be added: each body would move under some force."


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
    redundancies = redundancy_at_poses(manifold.view, np.concatenate([group.q for group in groups]))
    of_group = np.split(redundancies, np.cumsum([len(group.q) for group in groups])[:-1])
    data = [group_data(mech, group, p) for group, p in zip(groups, of_group, strict=True)]
    if reactions is not None and response is not None and mech.q_names == reactions.mechanism.q_names:
        for one, maps in zip(data, _maps(reactions, response, groups), strict=True):
            one["maps"] = maps
    places = base64_of(relative_places(mech, analysis.q[None])[0])
    moves = {
        "tree": tree_data(mech),
        "places": places,
        "groups": data,
        "structural": analysis.structural_redundancy,
    }
    return moves, load


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
    # the paths of all groups are sampled together: across first, then along every row
    grids = [k for k, (sliders, _) in enumerate(together) if len(sliders) == 2]
    near = {k: [_near(slider, of_two) for slider in together[k][0]] for k in grids}
    across = dict(zip(grids, manifold.along([(near[k][0], q) for k in grids], of_two), strict=True))
    starts = [(near[k][1], pose) for k in grids for pose in across[k].q]
    rows = iter(manifold.along(starts, of_two))
    lines = iter(
        manifold.along([(one, q) for sliders, _ in together if len(sliders) != 2 for one in sliders], count)
    )
    for k, (sliders, moved) in enumerate(together):
        if k in across:
            yield PoseGroup(sliders, across[k], tuple(islice(rows, len(across[k].q))), k, moved)
        else:
            for slider in sliders:
                yield PoseGroup((slider,), None, (next(lines),), k, moved)


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


def relative_places(mech: Mechanism, Q: Array) -> Array:
    """Return the pose of each body relative to its parent at poses Q (n, nq): position and quaternion, (n, N, 7)."""
    pairs = np.array(tree_data(mech), dtype=int).reshape(-1, 2)
    X_WL = WholeTree(mech, Q).X_WL
    with_ground = np.concatenate((X_WL, np.broadcast_to(np.eye(4), (len(Q), 1, 4, 4))), axis=1)
    X_WB, X_WA = with_ground[:, pairs[:, 0]], with_ground[:, pairs[:, 1]]
    R_AW = X_WA[..., :3, :3].swapaxes(-1, -2)
    R_AB, p_AB = R_AW @ X_WB[..., :3, :3], R_AW @ (X_WB - X_WA)[..., :3, 3:]
    places = np.zeros((len(Q), len(mech.bodies), 7))
    places[:, pairs[:, 0], :3] = p_AB[..., 0]
    turns = quaternions_from_rotations(R_AB.reshape(-1, 3, 3))
    places[:, pairs[:, 0], 3:] = turns.reshape(len(Q), len(pairs), 4)
    return np.asarray(places.round(9))


def group_data(mech: Mechanism, group: PoseGroup, redundancies: AnyArray) -> dict[str, Any]:
    """Return a group as data for the page: coordinates, values, and poses of the bodies that it moves.

    ``redundancies`` (n,) are the degrees of redundancy at its poses.
    """
    units = rate_units(mech)
    places = relative_places(mech, group.q)
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
        "redundancy": redundancies.tolist(),
    }


def _path_data(path: SampledPath) -> dict[str, Any]:
    return {"values": path.values, "start": path.start, "low": path.low, "high": path.high}
