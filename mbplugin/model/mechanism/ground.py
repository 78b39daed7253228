"""What counts as the ground: the world, and the bodies welded to it.

A base that one fixed pair holds to the world does not move: a loop through it is a loop through the ground.
"""

from __future__ import annotations

from collections.abc import Collection

from mbplugin.model.mechanism.mechanism import Mechanism


def ground_welds(mech: Mechanism, tying: Collection[str] | None = None) -> dict[str, int]:
    """Return the fixed pairs that make a body part of the ground, and that body, from the world outwards.

    A body that the ground also holds in another way stays a body: then the weld is one of several
    joints between which its reaction can split.

    Parameters
    ----------
    tying : collection of str, optional
        Pairs that constrain anything in the view of the caller. Default: all that have rows in space.
    """
    ends = {
        pair.name: (mech.body_index[pair.body_a], mech.body_index[pair.body_b])
        for pair in mech.pairs
        if (pair.kind.constrained if tying is None else pair.name in tying)
    }
    ground, found = {-1}, dict[str, int]()
    while True:
        held = _held(ends, ground)
        new = next(
            (
                (names[0], body)
                for body, names in held.items()
                if len(names) == 1 and mech.pair_by_name[names[0]].type == "fixed"
            ),
            None,
        )
        if new is None:
            return found
        found[new[0]] = new[1]
        ground.add(new[1])


def _held(ends: dict[str, tuple[int, int]], ground: set[int]) -> dict[int, list[str]]:
    """Return, per body off the ground, the pairs that tie it to the ground."""
    held: dict[int, list[str]] = {}
    for name, (a, b) in ends.items():
        if (a in ground) != (b in ground):
            held.setdefault(b if a in ground else a, []).append(name)
    return held


def welded_bodies(mech: Mechanism, tying: Collection[str] | None = None) -> frozenset[str]:
    """Return the names of the bodies that count as ground; arguments as for :func:`ground_welds`."""
    return frozenset(mech.bodies[body].name for body in ground_welds(mech, tying).values())
