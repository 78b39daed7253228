"""What a page needs to move a mechanism and to load it: sampled poses, and the map from loads to reactions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.constraints.rows.planar import plane_columns
from mbplugin.constraints.view import View
from mbplugin.errors import MbPluginError
from mbplugin.joint_reactions.load_response import LoadResponse, load_response
from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.mechanism.rigid import rigid_groups
from mbplugin.report.html.drawing import base64_of, body_places
from mbplugin.simulation.manifold import Manifold, SampledPath, Slider
from mbplugin.simulation.trajectory.units import rate_units

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.joint_reactions.values import Reactions

#: Bodies of a mechanism, coordinates that lead, and poses of all of them that a page carries.
_BODIES, _SLIDERS, _POSES = 60, 8, 200
#: Poses on one side of the start.
_LEAST, _MOST = 8, 36
#: Length of a load arrow of the weight of the mechanism, beside the radius of the picture.
_LOAD = 0.5


def slider_data(analysis: Analysis) -> list[dict[str, Any]]:
    """Return for each leading coordinate its poses along the constraint manifold, with p and singularity."""
    mech = analysis.mechanism
    if len(mech.bodies) > _BODIES or not mech.bodies:
        return []
    view = View(mech, analysis.q, plane_columns(analysis.planar), analysis.tolerance)
    manifold = Manifold(view, analysis.structural_redundancy)
    sliders = manifold.sliders[:_SLIDERS]
    count = int(np.clip(_POSES // (2 * max(1, len(sliders))), _LEAST, _MOST))
    units = rate_units(mech)
    paths = [(slider, manifold.along(slider, analysis.q, count)) for slider in sliders]
    return [
        _path_data(manifold, slider, path, units[slider.rate].removesuffix("/s"))
        for slider, path in paths
        if len(path.values) > 1
    ]


def _path_data(manifold: Manifold, slider: Slider, path: SampledPath, unit: str) -> dict[str, Any]:
    verdicts = [manifold.verdict_at(q) for q in path.q]
    poses = np.stack([body_places(forward(manifold.mech, q)) for q in path.q])
    return {
        "name": slider.name,
        "unit": unit,
        "values": path.values.tolist(),
        "start": path.start,
        "low": path.low,
        "high": path.high,
        "redundancy": [one.degree_of_redundancy for one in verdicts],
        "singular": [one.singular for one in verdicts],
        "poses": base64_of(poses),
    }


def load_data(reactions: Reactions, radius: float) -> dict[str, Any]:
    """Return the map from a wrench at a body to the unique reactions; empty where nothing can be loaded."""
    if reactions.mode != "statics" or len(reactions.mechanism.bodies) > _BODIES:
        return {}
    try:
        found = load_response(reactions)
    except MbPluginError:
        return {}
    if not found.bodies or not found.labels:
        return {}
    mech = reactions.mechanism
    still = rigid_groups(mech)[WORLD]
    gravity = float(np.linalg.norm(mech.gravity)) or 1.0
    size = float(f"{gravity * sum(body.mass for body in mech.bodies) or 1.0:.1g}")
    return {
        "bodies": list(found.bodies),
        # one that moves is the more interesting
        "first": next((k for k, name in enumerate(found.bodies) if name not in still), 0),
        "centers": found.p_WC,
        "labels": [list(label) for label in found.labels],
        "base": [reactions.value(*label) for label in found.labels],
        "matrix": base64_of(found.matrix),
        "force": [0.0, 0.0, -size],
        "metres": _LOAD * radius / size,
        "joints": _joints(reactions, found),
    }


def _joints(reactions: Reactions, found: LoadResponse) -> list[dict[str, Any]]:
    """Return the axes of each joint and the place at which its reaction acts."""
    names = dict.fromkeys(name for name, _ in found.labels)
    constraints = [reactions[name] for name in names]
    return [
        {"name": one.name, "point": one.point, "axes": one.R_WJ.T}
        for one in constraints
        if one.point is not None and one.R_WJ is not None and one.wrench is not None
    ]
