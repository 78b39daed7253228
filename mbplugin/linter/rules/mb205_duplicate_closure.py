"""A closure is stated twice.

What it does
------------
Compares every closure with the other joints between its two bodies: type, position and axis, within 1e-3 of
the mechanism's length and 1e-3 rad.

Why it matters
--------------
The second one restrains no further motion, but its rows are redundant: the degree of redundancy is too high by
their number, and the reactions of both are non-unique.

Example
-------
A loop that is closed by the YAML file beside a URDF, and again by a ``[[closure]]`` of the scene.

Remedy
------
Remove one of them.

References
----------
wojtyra2013 §2.3: redundant constraints.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np

from mbplugin.analysis import Analysis
from mbplugin.linter.files.places import constraint_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.linter.registry import make_finding
from mbplugin.model.mechanism import Pair
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import Array, Pose

SEVERITY: Severity = "warning"
#: Of the mechanism's length, and rad.
_SAME = 1e-3
#: Pairs that restrain the same whatever the turn of their frame, and those with one axis, z.
_ROUND = ("spherical", "distance")
_AXIAL = (
    *("revolute", "prismatic", "screw", "cylindrical", "planar"),
    *("point-on-line", "point-on-plane"),
)


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per closure that repeats an earlier joint."""
    groups: dict[frozenset[str], list[Pair]] = {}
    for pair in scene.mechanism.pairs:
        groups.setdefault(frozenset(pair.bodies), []).append(pair)
    repeated: set[str] = set()
    tolerance = _SAME * _length(scene)
    for first, second in (two for group in groups.values() for two in combinations(group, 2)):
        later, earlier = (second, first) if second.closure else (first, second)
        if later.closure and later.name not in repeated and _same(first, second, tolerance):
            repeated.add(later.name)
            yield _finding(scene, later, earlier)


def _finding(scene: Scene, later: Pair, earlier: Pair) -> Finding:
    place, other = constraint_place(scene, later.name), constraint_place(scene, earlier.name)
    return make_finding(
        __name__,
        SEVERITY,
        f"closure {later.name!r} ({place or 'no file'}) is the same {later.type} joint between "
        f"{later.body_a!r} and {later.body_b!r} as {earlier.name!r} ({other or 'no file'}); its "
        f"{len(later.kind.constrained)} rows are redundant",
        element=later.name,
        origin=place,
        evidence={"same_as": earlier.name, "also_at": str(other or ""), "rows": len(later.kind.constrained)},
        help=f"remove {later.name!r} or {earlier.name!r}",
    )


def _length(scene: Scene) -> float:
    """Return the size of the mechanism: the diagonal of the box around its joints, m."""
    mech = scene.mechanism
    poses = forward(mech, scene.state.q)
    points = [poses.of(mech.body_index[p.body_a]).apply(p.X_AP.p) for p in mech.pairs]
    points += [poses.of(mech.body_index[p.body_b]).apply(p.X_BS.p) for p in mech.pairs]
    return float(np.linalg.norm(np.ptp(np.array(points), axis=0))) if points else 0.0


def _same(first: Pair, second: Pair, tolerance: float) -> bool:
    """Return whether two pairs between the same bodies restrain the same motion."""
    if _kind(first) != _kind(second):
        return False
    ends = [(first.X_AP, first.X_BS), (second.X_AP, second.X_BS)]
    if first.body_a != second.body_a:
        ends[1] = ends[1][::-1]
    if first.type == "fixed":
        # a weld restrains the same wherever its frame is
        X, Y = (a @ b.inverse() for a, b in ends)
        return _near(X, Y, tolerance) and _parallel(X.R, Y.R, signed=True)
    leads = abs(first.lead - second.lead) <= _SAME * max(abs(first.lead), abs(second.lead))
    alike = leads and abs(first.length - second.length) <= tolerance
    return alike and all(_same_side(first, X, Y, tolerance) for X, Y in zip(*ends, strict=True))


def _kind(pair: Pair) -> str:
    return "revolute" if pair.type == "continuous" else pair.type


def _same_side(pair: Pair, X: Pose, Y: Pose, tolerance: float) -> bool:
    if not _near(X, Y, tolerance):
        return False
    if pair.type in _ROUND:
        return True
    axial = _kind(pair) in _AXIAL
    return _parallel(X.R[:, 2:], Y.R[:, 2:]) if axial else _parallel(X.R, Y.R)


def _near(X: Pose, Y: Pose, tolerance: float) -> bool:
    return bool(np.linalg.norm(X.p - Y.p) <= tolerance)


def _parallel(A: Array, B: Array, *, signed: bool = False) -> bool:
    """Return whether the columns of A and B (3, n) have the same directions, up to their sense."""
    cosines = np.einsum("ik,ik->k", A, B)
    sines = np.linalg.norm(np.cross(A, B, axis=0), axis=0)
    return bool((sines <= _SAME).all() and (not signed or (cosines > 0).all()))
