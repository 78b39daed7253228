"""The left and the right part of a robot differ.

What it does
------------
Pairs links and joints whose names differ by a side only (left and right, FL and FR, l_ and r_), and
compares them: mass and principal moments of links by 5 and 10 %, limits of joints (as they are or
mirrored), and their origins (mirrored, or at the same distance from the parent frame). Only joints that
move are compared. One finding lists all differences.

Why it matters
--------------
Most robots are symmetrical. A difference is often a correction that was made on one side, a copied block
with a forgotten sign, or a digit lost in an export; the robot then walks or drives to one side.

Example
-------
``<mass value="1.013"/>`` of FL_thigh and ``<mass value="1.13"/>`` of FR_thigh.

Remedy
------
Correct the side that is wrong; ignore this for pairs that differ on purpose.

References
----------
Mirroring a body at a plane keeps its mass and its principal moments.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

import numpy as np

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.degrees import in_degrees
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.masses.gyration import implausible_radii
from mbplugin.linter.checks.masses.inertia import placeholder, possible, principal_moments
from mbplugin.linter.checks.masses.repeated_inertia import repeated_inertias
from mbplugin.linter.checks.shapes.comparison import compared_with_shapes
from mbplugin.linter.checks.shapes.density import impossible_densities
from mbplugin.linter.checks.sides import twins
from mbplugin.linter.checks.urdf_elements import written_joints
from mbplugin.linter.files.places import body_place, constraint_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.mechanism import Body, Mechanism, Pair
from mbplugin.model.scene import Origin, Scene

SEVERITY: Severity = "warning"
#: Relative differences of masses, of moments, of limits, and of places.
_MASS, _MOMENTS, _LIMITS, _PLACE = 0.05, 0.10, 0.01, 0.02
#: Lengths below this are rounding, m.
_ROUNDING = 5e-4


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per model."""
    yield from joined_finding(
        __name__,
        SEVERITY,
        [*_links(scene), *_joints(scene)],
        "left and right differ",
        help="correct the side that is wrong, or ignore this where they differ on purpose",
    )


def _links(scene: Scene) -> Iterator[Instance]:
    # what other rules report of one of them is not reported again as a difference
    heavy = set(impossible_densities(scene))
    odd = heavy | {body.name for body in repeated_inertias(scene)} | set(implausible_radii(scene))
    odd |= {comparison.body.name for comparison in compared_with_shapes(scene) if comparison.far}
    bodies = {body.name: body for body in scene.mechanism.bodies if possible(body)}
    parents = _parents(scene.mechanism)
    for left, right in twins(bodies):
        if _in_line(parents, left, right):
            continue
        a, b = bodies[left], bodies[right]
        if _apart(a.mass, b.mass, _MASS):
            if not _one_of(heavy, left, right):
                words = f"mass ({a.mass:.4g}, {b.mass:.4g} kg)"
                yield Instance(
                    right, body_place(scene, right, "mass", "inertial"), _shown(left, right, words)
                )
        elif (words := _moments(a, b)) and not _one_of(odd, left, right):
            yield Instance(right, body_place(scene, right, "inertia", "inertial"), _shown(left, right, words))


def _one_of(names: Collection[str], left: str, right: str) -> bool:
    return (left in names) != (right in names)


def _shown(left: str, right: str, words: str) -> str:
    return f"{left!r} and {right!r} in {words}"


def _moments(left: Body, right: Body) -> str:
    """Return how the principal moments differ; nothing where they do not, or one is a placeholder."""
    if placeholder(left) or placeholder(right):
        return ""
    a, b = principal_moments(left), principal_moments(right)
    worst = int(np.argmax(np.abs(a - b)))
    if np.abs(a - b).max() <= _MOMENTS * max(a[-1], b[-1]):
        return ""
    return f"a principal moment ({a[worst]:.4g}, {b[worst]:.4g} kg·m²)"


def _joints(scene: Scene) -> Iterator[Instance]:
    pairs = {pair.name: pair for pair in scene.mechanism.pairs if len(pair.freedoms) == 1}
    elements = {joint.name: joint for joint in written_joints(scene)}
    parents = _parents(scene.mechanism)
    for left, right in twins(pairs):
        a, b = pairs[left], pairs[right]
        if a.type != b.type or a.closure or b.closure:
            continue
        if _in_line(parents, a.body_b, b.body_b):
            continue
        for tag, what in (("limit", _limits(a, b)), ("origin", _places(a, b))):
            if what:
                element = elements[right].child(tag) if right in elements else None
                place: Origin | None = element.origin if element else constraint_place(scene, right)
                yield Instance(right, place, _shown(left, right, what))


def _parents(mech: Mechanism) -> dict[str, str]:
    return {pair.body_b: pair.body_a for pair in mech.pairs if not pair.closure}


def _in_line(parents: dict[str, str], a: str, b: str) -> bool:
    """Return whether one body carries the other: some makers call the axes of an arm S, L, E, U, R, B, T."""
    return b in _carriers(parents, a) or a in _carriers(parents, b)


def _carriers(parents: dict[str, str], body: str) -> set[str]:
    found: set[str] = set()
    while (body := parents.get(body, body)) not in found:
        found.add(body)
    return found


def _limits(left: Pair, right: Pair) -> str:
    """Return how the limits differ, mirrored or not; nothing where they do not."""
    (a,), (b,) = left.freedoms, right.freedoms
    one, other = np.array([a.lower, a.upper]), np.array([b.lower, b.upper])
    if not all(
        np.isfinite(pair).all() and pair[0] < pair[1] and not in_degrees(pair) for pair in (one, other)
    ):
        # without limits, or reported by another rule
        return ""
    allowed = _LIMITS * max(float(np.ptp(one)), float(np.ptp(other)))
    mirrored = -other[::-1]
    if min(np.abs(one - other).max(), np.abs(one - mirrored).max()) <= allowed:
        return ""
    return f"limits ({a.lower:.4g} … {a.upper:.4g}, {b.lower:.4g} … {b.upper:.4g})"


def _places(left: Pair, right: Pair) -> str:
    """Return how the places on the parents differ, mirrored or not; nothing where they do not."""
    a, b = left.X_AP.p, right.X_AP.p
    distances = [float(np.linalg.norm(place)) for place in (a, b)]
    allowed = max(_ROUNDING, _PLACE * max(distances))
    if left.body_a != right.body_a:
        # their parents are twins with frames of their own
        if abs(distances[0] - distances[1]) <= allowed:
            return ""
        return f"distance from the parent ({distances[0]:.4g}, {distances[1]:.4g} m)"
    # the plane of symmetry need not go through the parent's origin: it changes one coordinate
    mirrored, turned = np.sort(np.abs(a - b))[1] <= allowed, np.abs(np.abs(a) - np.abs(b)).max() <= allowed
    if mirrored or turned:
        return ""
    shown = ["(" + ", ".join(f"{v:.4g}" for v in place) + ")" for place in (a, b)]
    return f"place ({shown[0]}, {shown[1]} m)"


def _apart(a: float, b: float, relative: float) -> bool:
    return abs(a - b) > relative * max(abs(a), abs(b))
