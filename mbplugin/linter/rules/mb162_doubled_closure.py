"""A hinge that closes a loop has six rows in the simulator.

What it does
------------
For each simulator that is named with ``--target``, lists the hinges that close a loop and that it holds by two
points of their axis, and the pairs of ``<connect>`` between the same two bodies of an MJCF file. Without ``--target``
it reports nothing.

Why it matters
--------------
Two points of two bodies have six rows, and a hinge restrains five motions. One row is redundant for sure, whatever
the mechanism is: the distance of the two points is restrained in both bodies already. Rounding of the points loads
the loop.

Example
-------
A revolute ``excludeFromArticulation`` joint, which Newton's MuJoCo solver writes as two ``connect``.

Remedy
------
``mbplugin close FILE --to FORMAT`` finds a weaker closure, or a cut at another joint.

References
----------
Newton: SolverMuJoCo, loop joints; PyBullet: createConstraint; wojtyra2013 §2.3: redundant constraints.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.formats import format_of
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.simulators import LABELS, TWO_POINTS
from mbplugin.linter.files.places import constraint_place
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Scene

SEVERITY: Severity = "note"
_HINGES = ("revolute", "continuous")


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per simulator."""
    for simulator in scene.options.targets:
        found = [*_hinges(scene)] if simulator in TWO_POINTS else []
        if simulator in ("mujoco", "newton") and format_of(scene) == "mjcf":
            found += _connects(scene)
        yield from joined_finding(
            __name__,
            SEVERITY,
            found,
            f"{LABELS[simulator]} holds a hinge by two points, 6 rows for 5 freedoms",
            so="one row of each is redundant",
            help="find a weaker closure with mbplugin close, or cut the loop at another joint",
            evidence={"target": simulator},
        )


def _hinges(scene: Scene) -> Iterator[Instance]:
    for pair in scene.mechanism.tree.cut:
        if pair.type in _HINGES:
            yield Instance(pair.name, constraint_place(scene, pair.name), repr(pair.name))


def _connects(scene: Scene) -> Iterator[Instance]:
    balls = [pair for pair in scene.mechanism.pairs if pair.closure and pair.type == "spherical"]
    for first, second in combinations(balls, 2):
        if set(first.bodies) == set(second.bodies):
            shown = f"{first.name!r} with {second.name!r}"
            yield Instance(second.name, constraint_place(scene, second.name), shown)
