"""The loops of a mechanism: what each cut pair closes, and the way once round."""

from __future__ import annotations

from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair

#: A free joint on the way round a loop has no pair; this stands for it.
FREE = "free "

Cycle = frozenset[str]


def fundamental_cycle(mech: Mechanism, cut: Pair) -> Cycle:
    """Return the names of a cut pair and of the joints of the tree that it closes to a loop."""
    return frozenset({cut.name}) | (_way_in(mech, cut.body_a) ^ _way_in(mech, cut.body_b))


def _way_in(mech: Mechanism, body: str) -> Cycle:
    joints = mech.tree.way_in(body)
    return frozenset(FREE + joint.outer if joint.pair is None else joint.pair.name for joint in joints)


def once_round(mech: Mechanism, cycle: Cycle) -> list[tuple[Pair, bool]] | None:
    """Return the pairs of a loop in order, and whether each is passed from its predecessor on.

    It starts at the ground, or at the first body of the file, with the first pair of the file. None
    where the pairs are not one simple loop.
    """
    pairs = [pair for pair in mech.pairs if pair.name in cycle]
    at: dict[str, list[Pair]] = {}
    for pair in pairs:
        for body in pair.bodies:
            at.setdefault(body, []).append(pair)
    if len(pairs) != len(cycle) or any(len(two) != 2 for two in at.values()):
        return None
    start = min(at, key=lambda name: mech.body_index[name])
    out: list[tuple[Pair, bool]] = []
    here, pair = start, at[start][0]
    while True:
        forward = pair.body_a == here
        out.append((pair, forward))
        here = pair.body_b if forward else pair.body_a
        if here == start:
            return out if len(out) == len(pairs) else None
        first, second = at[here]
        pair = second if first is pair else first
