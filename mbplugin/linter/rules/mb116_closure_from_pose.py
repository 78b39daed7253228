"""One side of a closure is not stated; it is computed from the pose.

What it does
------------
Reports every ``[[closure]]`` of a scene that gives the joint frame on one body only, with the values that
the other side gets at the pose of the scene; and every ``[[pair]]`` with one joint frame whose bodies state no pose,
if the other side is away from the link frame. It is a warning if the distance of the joint from all known
points of one of its bodies (joints, centre of mass, shapes) is more than three times the length of the
mechanism.

Why it matters
--------------
A side that is computed from the pose always closes the loop, so an error in the other one, 5 for 0.5, gives no
other finding: the analysis is that of another robot. A body without a pose stands at the origin of the world when a
side is computed, which is seldom meant where links are given by their dimensions.

Example
-------
``xyz_a`` without ``xyz_b``.

Remedy
------
Check the values and write them into the scene (the finding contains the lines to paste).

References
----------
wojtyra2013 (1): the constraint equations hold at an assembled pose.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from mbplugin.analysis import Analysis
from mbplugin.linter.defects import reported_defects
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.mechanism import Pair
from mbplugin.model.mechanism.kinematics import BodyPoses, forward
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import Array

SEVERITY: Severity = "note"
#: Distance of the joint from a body over the length of the mechanism.
_FAR = 3.0


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield what the reader noted, as a warning where the joint is far from a body that it joins."""
    for finding in reported_defects(__name__, SEVERITY, scene, "check the values, and write them out"):
        pair = scene.mechanism.pair_by_name.get(finding.element)
        far = None if pair is None else _farthest(scene, pair)
        if far is None:
            yield finding
            continue
        body, distance, length = far
        yield replace(
            finding,
            severity="warning",
            message=f"{finding.message}; the joint lies {distance:.3g} m from all that is known of {body!r}, "
            f"and the mechanism without it is {length:.3g} m long",
            evidence={**finding.evidence, "distance_m": distance, "mechanism_length_m": length},
        )


def _farthest(scene: Scene, pair: Pair) -> tuple[str, float, float] | None:
    """Return the body that a closure is farther from than it should be, how far, and the length, m."""
    poses = forward(scene.mechanism, scene.state.q)
    known = {name: np.array(list(_points(scene, name, pair, poses))) for name in (pair.body_a, pair.body_b)}
    everything = [_points(scene, body.name, pair, poses) for body in scene.mechanism.bodies]
    points = np.array([p for found in everything for p in found])
    length = float(np.linalg.norm(np.ptp(points, axis=0)))
    place = poses.of(scene.mechanism.body_index[pair.body_a]).apply(pair.X_AP.p)
    found = [
        (name, float(np.linalg.norm(own - place, axis=1).min())) for name, own in known.items() if len(own)
    ]
    body, distance = max(found, key=lambda item: item[1], default=("", 0.0))
    return (body, distance, length) if length > 0 and distance > _FAR * length else None


def _points(scene: Scene, name: str, without: Pair, poses: BodyPoses) -> Iterator[Array]:
    """Yield what is known of a body in world axes: joints but one, its centre of mass, its shapes."""
    i = scene.mechanism.body_index[name]
    X_WL = poses.of(i)
    for pair in scene.mechanism.pairs:
        if pair is not without:
            ends = ((pair.body_a, pair.X_AP), (pair.body_b, pair.X_BS))
            yield from (X_WL.apply(X.p) for body, X in ends if body == name)
    if i >= 0 and not scene.mechanism.bodies[i].massless:
        yield poses.p_WC[i]
    yield from (X_WL.apply(shape.X_LS.p) for shape in scene.shapes.get(name, ()))
