"""What a page needs to move a mechanism and to load it: sampled poses, and the maps from loads to reactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.errors import MbPluginError
from mbplugin.joint_reactions.load_response import LoadResponse, load_response
from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.mechanism.rigid import rigid_groups
from mbplugin.model.spatial import Array, Pose
from mbplugin.report.html.drawing import base64_of
from mbplugin.report.html.poses import BODIES, PoseGroup, group_data, pose_groups, relative_places, tree_data

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.joint_reactions.values import Reactions

#: Numbers in the maps of all poses that a page carries.
_NUMBERS = 120_000
#: What the loads other than weights may add to a reaction, beside the largest one.
_ROUNDING = 1e-6
#: Length of a load arrow of the weight of the mechanism, beside the radius of the picture.
_LOAD = 0.5


def interactive_data(
    analysis: Analysis, reactions: Reactions | None, radius: float
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what moves the mechanism on the page, and what loads it; each is empty where it cannot be."""
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
    """Return why no load can be added on the page, in a sentence."""
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
    """Return the map from loads to reactions at the pose of some reactions, None where nothing can be loaded."""
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
        # one that moves is the more interesting
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
    """Return the components that the rigid model determines without a load of the page, (k,)."""
    return np.array([reactions.value(*label) for label in found.labels])


def _joints(reactions: Reactions, found: LoadResponse) -> list[dict[str, Any]]:
    """Return the axes of each joint in its predecessor, and where on the successor its reaction acts."""
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
    """Return for each group the maps of all its poses, (n, N, k, 6), with NaN for what is not determined there.

    They are left out where they are too many, or where other loads than weights act: the reactions of
    another pose follow from the weights alone.
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
    """Return the map (N, k, 6) of another pose for bodies and components of the first, NaN where it has none."""
    if other.bodies != first.bodies:
        return np.full_like(first.matrix, np.nan)
    places = {label: k for k, label in enumerate(other.labels)}
    kept = [(k, places[label]) for k, label in enumerate(first.labels) if label in places]
    matrix = np.full_like(first.matrix, np.nan)
    matrix[:, [k for k, _ in kept]] = other.matrix[:, [j for _, j in kept]]
    return matrix
