"""A closure is of a stronger type than its loop can use.

What it does
------------
Looks in every redundant block for a stated closure that, made one type weaker, would alone remove the
redundancy of the block and leave the mobility as it is; names the type and the lines to paste.

Why it matters
--------------
The type of a closure is often a guess, because few formats can say it, and it decides the answer: one
planar robot is redundant 0, 1 or 3 times when its closure is read as a point in a line, a ball or a
hinge. Weakening the closure leaves the tree of the robot as it was drawn.

Example
-------
The fourth hinge of a planar four-bar, closed as ``revolute`` (p = 3) instead of ``point-on-line``
(p = 0).

Remedy
------
Give the closure the weaker type, if the real joint has that play; or keep it and declare the
redundancy.

References
----------
wojtyra2013 (21) to (27): rows of the left null space that form a regular block can be released.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from mbplugin.analysis import Analysis
from mbplugin.analysis.catalogue import replacements
from mbplugin.analysis.rank import RankedBlock
from mbplugin.analysis.remedies import Change, apply_changes
from mbplugin.analysis.uniqueness import stress
from mbplugin.constraints.null_space import spectrum
from mbplugin.constraints.planar import plane_columns
from mbplugin.constraints.reduction import reduce_block
from mbplugin.lint.blocks import undeclared_blocks
from mbplugin.lint.finding import Finding, Severity
from mbplugin.lint.places import constraint_place
from mbplugin.lint.registry import make_finding
from mbplugin.mechanism import Pair
from mbplugin.mechanism.kinematics import BodyPoses, forward, relative_pose
from mbplugin.sources.scene import Scene
from mbplugin.spatial import AnyArray, Array

SEVERITY: Severity = "warning"
#: Rows of unit self-stresses below this hardly carry them; rounded angles leave up to 1e-3.
_CARRIES = 1e-3


def check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
    """Yield one finding per block, about the closure that is easiest to weaken."""
    if analysis is None or analysis.singular_pose:
        # what is too strong at a singular pose is just right beside it
        return
    poses = forward(analysis.mechanism, analysis.q)
    for ranked in undeclared_blocks(scene, analysis):
        change = next(_weaker(analysis, ranked, poses), None)
        if change is None:
            continue
        yield make_finding(
            __name__,
            SEVERITY,
            f"closure {change.constraint!r} is {change.old} where {change.new} would do: that takes the "
            f"degree of redundancy of its loop from {ranked.redundancy} to 0 and leaves the mobility",
            element=change.constraint,
            origin=constraint_place(scene, change.constraint),
            evidence={
                "type": change.old,
                "weaker_type": change.new,
                "degree_of_redundancy": ranked.redundancy,
                "toml": change.toml(),
            },
            help=f"add to the scene:\n{change.toml()}",
        )


def _weaker(analysis: Analysis, ranked: RankedBlock, poses: BodyPoses) -> Iterator[Change]:
    """Yield the changes of one closure after which nothing in a block is redundant, the cheapest first."""
    mech = analysis.mechanism
    (stressed,) = stress([ranked])
    options = []
    for name in ranked.block.constraints:
        pair = mech.pair_by_name.get(name)
        if pair is not None and pair.closure:
            Z_X = stressed.Z[stressed.slices[name]]
            options += [
                (option.cost, pair, option)
                for option in replacements(pair, _turn(analysis, pair, poses))
                if analysis.planar or _releases_all(option.released, Z_X)
            ]
    options.sort(key=lambda option: option[0])
    for _, pair, option in options:
        axis = None if option.axis is None else _triple(option.axis)
        change = Change(pair.name, pair.type, option.type, axis)
        if _cures(analysis, ranked, poses, change):
            yield change


def _releases_all(released: Array, Z_X: Array) -> bool:
    """Return whether p rows are released, and every self-stress needs them.

    Fewer would leave some redundancy, more would add a freedom.
    """
    if len(released) != Z_X.shape[1]:
        return False
    return bool(np.linalg.svd(released @ Z_X, compute_uv=False)[-1] > _CARRIES)


def _turn(analysis: Analysis, pair: Pair, poses: BodyPoses) -> float:
    R_PS = relative_pose(analysis.mechanism, pair, poses).R
    return float(np.arctan2(R_PS[1, 0], R_PS[0, 0]))


def _triple(axis: AnyArray) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in axis)
    return x, y, z


def _cures(analysis: Analysis, ranked: RankedBlock, poses: BodyPoses, change: Change) -> bool:
    """Return whether a block has p = 0 and its mobility after a change, at the pose."""
    changed = apply_changes(analysis.mechanism, (change,))
    columns = plane_columns(analysis.planar)
    after = reduce_block(changed, poses, ranked.block, columns)
    released = len(ranked.reduced.labels) - len(after.labels)
    return released == ranked.redundancy and spectrum(after.J).redundancy(analysis.tolerance) == 0
