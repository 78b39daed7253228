"""The generic pose: redundancy that stays when the mechanism moves is structural, the rest singular."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mbplugin.analysis.rank import RankedBlock
from mbplugin.analysis.sampling import sample_poses
from mbplugin.analysis.view import View, redundancy
from mbplugin.spatial import Array

#: A sampled pose proves a higher rank only by singular values that are clear of the tolerance.
_CLEAR = 10.0


def generic_pose(view: View, blocks: Sequence[RankedBlock], samples: int, seed: int) -> tuple[int, Array]:
    """Return the redundancy at the generic rank, and the pose that shows most of it.

    The generic rank of a block is the largest seen over the sampled poses.
    """
    redundant = [b for b in blocks if b.redundancy]
    fewest = [b.redundancy for b in redundant]
    best_q, best = view.q, sum(fewest)
    again = [b.block for b in redundant]
    strict = replace(view, tolerance=_CLEAR * view.tolerance)
    for q in sample_poses(view.mech, view.q, samples, seed=seed):
        there = strict.at(q).ranked(again)
        fewest = [min(f, b.redundancy) for f, b in zip(fewest, there, strict=True)]
        if redundancy(there) < best:
            best_q, best = q, redundancy(there)
    return sum(fewest), best_q
