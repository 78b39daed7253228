"""What counts as the ground: the world, and the bodies welded to it.

A base that one fixed pair holds to the world does not move, so a loop through it is a loop through the
ground. Its weld is no part of G: it takes the sum of what the joints on the base bring.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from mbplugin.constraints.rows.row import Rows
from mbplugin.model.mechanism.graph import DisjointSets
from mbplugin.model.mechanism.ground import ground_welds
from mbplugin.model.mechanism.mechanism import Mechanism


def welds(mech: Mechanism, rows: Sequence[Rows]) -> dict[str, int]:
    """Return the fixed pairs that make a body part of the ground, and that body, from the world outwards.

    A body that the ground also holds in another way stays a body: then the weld is one of several
    joints between which its reaction can split.

    Parameters
    ----------
    rows : sequence of Rows
        Of the pairs; those without rows tie nothing.
    """
    return ground_welds(mech, {r.constraint for r in rows if r.components})


def only_ties(mech: Mechanism, rows: Sequence[Rows]) -> frozenset[str]:
    """Return the pairs that alone tie a group of bodies to the world.

    What they carry has nothing to be shared with, whatever loops lie beyond (pekal2024 §2.2).
    """
    groups: DisjointSets[int] = DisjointSets()
    ties: list[tuple[str, int]] = []
    for r in rows:
        pair = mech.pair_by_name[r.constraint]
        a, b = mech.body_index[pair.body_a], mech.body_index[pair.body_b]
        if not r.components:
            continue
        if a >= 0 and b >= 0:
            groups.join(a, b)
        else:
            ties.append((pair.name, max(a, b)))
    roots = [groups.find(body) for _, body in ties]
    count = Counter(roots)
    return frozenset(name for (name, _), root in zip(ties, roots, strict=True) if count[root] == 1)
