"""The generic pose: redundancy at all poses is structural, redundancy at this pose only is singular."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mbplugin.constraints.rank import RankedBlock
from mbplugin.constraints.sampling import sample_poses
from mbplugin.constraints.view import View, redundancy
from mbplugin.model.spatial import Array

#: Samples in a row that show nothing new and end the search: a random pose has the generic rank with
#: probability one.
_ENOUGH = 3
#: A sampled pose proves a higher rank only by singular values that are clear of the tolerance.
CLEAR = 10.0


def generic_pose(
    view: View, blocks: Sequence[RankedBlock], samples: int, seed: int
) -> tuple[int, Array, int]:
    """Return the redundancy at the generic rank, the pose that shows most of it, and the samples taken.

    The generic rank of a block is the largest seen over the sampled poses.
    """
    redundant = [b for b in blocks if b.redundancy]
    fewest = [b.redundancy for b in redundant]
    best_q, best = view.q, sum(fewest)
    again = [b.block for b in redundant]
    strict = replace(view, tolerance=CLEAR * view.tolerance)
    taken = nothing_new = 0
    for q in sample_poses(view.mech, view.q, samples, seed=seed):
        there = strict.at(q).ranked(again)
        now = [min(f, b.redundancy) for f, b in zip(fewest, there, strict=True)]
        taken, nothing_new = taken + 1, nothing_new + 1 if now == fewest else 0
        fewest = now
        if redundancy(there) < best:
            best_q, best = q, redundancy(there)
        if nothing_new == _ENOUGH:
            break
    return sum(fewest), best_q, taken
