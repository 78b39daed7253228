"""Poses that a page can take: groups of leading coordinates, and closed poses along each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.constraints.rows.planar import plane_columns
from mbplugin.constraints.sampling import sample_poses
from mbplugin.constraints.view import View
from mbplugin.model.mechanism.coordinate_units import rate_units
from mbplugin.model.mechanism.kinematics import BodyPoses, forward
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.report.html.drawing import base64_of, seven_numbers
from mbplugin.simulation.manifold import Manifold, SampledPath, Slider

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.model.mechanism.mechanism import Mechanism

#: Bodies of a mechanism, coordinates that lead, and poses of all of them that a page carries.
BODIES, _SLIDERS, _POSES = 60, 8, 330
#: Poses on one side of the start of one coordinate, and of each of two that act on each other.
_LEAST, _MOST, _OF_TWO = 8, 36, 6
#: How far each of two moves between poses: 15°, or the twelfth part of its range where that is less.
_STEP = np.pi / 12
#: Entries of a Jacobian below this, in characteristic lengths, are rounding.
_NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class PoseGroup:
    """Poses along one leading coordinate, or along two that act on each other.

    Parameters
    ----------
    across : SampledPath or None
        Poses along the first of two coordinates.
    rows : tuple of SampledPath
        Poses along the last coordinate, one path for each pose of ``across``.
    loops : int
        Which loops it moves. Where several groups have the same, one of them is away from the first pose.
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
    """Return groups of coordinates that lead, each with its poses; None where there is nothing to move."""
    mech = analysis.mechanism
    if len(mech.bodies) > BODIES or not mech.bodies:
        return None
    view = View(mech, analysis.q, plane_columns(analysis.planar), analysis.tolerance)
    manifold = Manifold(view, analysis.structural_redundancy)
    found = [group for group in _sampled(manifold, analysis.q) if len(group.q) > 1]
    return (manifold, found) if found else None


def _sampled(manifold: Manifold, q: Array) -> Iterator[PoseGroup]:
    """Yield the groups with poses to both sides of a pose q (nq,)."""
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
    """Return poses along two coordinates near a pose q (nq,): along the second at each pose of the first."""
    first, second = (_near(slider, count) for slider in sliders)
    across = manifold.along(first, q, count)
    return across, tuple(manifold.along(second, pose, count) for pose in across.q)


def _near(slider: Slider, count: int) -> Slider:
    """Return a slider with a range of some steps to each side of its start."""
    step = min(_STEP, (slider.upper - slider.lower) / 24)
    lower, upper = slider.start - count * step, slider.start + count * step
    return replace(slider, lower=max(slider.lower, lower), upper=min(slider.upper, upper))


def _together(manifold: Manifold, q: Array) -> list[tuple[tuple[Slider, ...], AnyArray]]:
    """Return the leading coordinates by their loops, at a pose q (nq,), and the rates (nv,) in these loops."""
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
    """Return the bodies outwards from the ground, each with the one that carries it; the ground is −1."""
    index = mech.body_index
    return [
        [index[joint.outer], -1 if joint.pair is None else index.get(joint.inner, -1)]
        for joint in mech.tree.joints
    ]


def relative_places(mech: Mechanism, poses: BodyPoses) -> Array:
    """Return each body's place on the body that carries it, (N, 7)."""
    places = np.zeros((len(mech.bodies), 7))
    for body, carrier in tree_data(mech):
        places[body] = seven_numbers(poses.of(carrier).inverse() @ poses.of(body))
    return places


def group_data(manifold: Manifold, group: PoseGroup) -> dict[str, Any]:
    """Return a group for the page: coordinates, values, verdicts, and the places of the bodies that it moves."""
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
