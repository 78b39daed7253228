"""Which joints of a graph close its loops, in formats that state joints and not a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mbplugin.model.mechanism.graph import DisjointSets
from mbplugin.model.mechanism.pair import Pair


def mark_closures(pairs: Sequence[Pair]) -> list[Pair]:
    """Return the pairs with those marked that close a loop, and no others.

    A pair that the file states as a closure counts as the one of its loop, then a second joint on one child, then
    the later joint.
    """
    has_parent: set[str] = set()
    late: list[tuple[bool, bool]] = []
    for pair in pairs:
        late.append((pair.closure, pair.body_b in has_parent))
        has_parent.add(pair.body_b)
    marked = list(pairs)
    groups: DisjointSets[str] = DisjointSets()
    for i in sorted(range(len(pairs)), key=late.__getitem__):
        closes = not groups.join(*pairs[i].bodies)
        if closes is not pairs[i].closure:
            marked[i] = replace(pairs[i], closure=closes)
    return marked
