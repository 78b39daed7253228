"""The graph of a mechanism: its spanning tree and the names of its joint coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.mechanism.graph import DisjointSets, adjacency, breadth_first
from mbplugin.model.mechanism.identity import freedom_name
from mbplugin.model.mechanism.pair import Pair

_QUATERNION = ("qx", "qy", "qz", "qw")


@dataclass(frozen=True, eq=False)
class TreeJoint:
    """One edge of the spanning tree, from a known body to the next one outwards.

    Parameters
    ----------
    pair : Pair or None
        None is the free joint of a root: pose and twist of its centre of mass in the world.
    inner, outer : str
        The bodies it joins, ``inner`` nearer to the root.
    q, qd : slice
        Its coordinates in q and its rates in qd.
    """

    pair: Pair | None
    inner: str
    outer: str
    q: slice
    qd: slice

    @property
    def reversed(self) -> bool:
        """Whether the tree runs from the pair's successor to its predecessor."""
        return self.pair is not None and self.pair.body_b == self.inner


@dataclass(frozen=True, eq=False)
class SpanningTree:
    """Joints in order outwards from the ground, and the pairs that close loops.

    Coordinates are ordered as the issue of a file: free roots first, then tree pairs in file order.
    """

    joints: tuple[TreeJoint, ...]
    cut: tuple[Pair, ...]
    q_names: tuple[str, ...]
    qd_names: tuple[str, ...]

    @cached_property
    def joint_of_body(self) -> dict[str, TreeJoint]:
        """The joint that carries each body."""
        return {joint.outer: joint for joint in self.joints}

    @cached_property
    def joint_of_pair(self) -> dict[str, TreeJoint]:
        """The tree joint of each pair that is not cut."""
        return {joint.pair.name: joint for joint in self.joints if joint.pair is not None}

    def way_in(self, body: str) -> Iterator[TreeJoint]:
        """Yield the joints from a body to the ground."""
        while body != WORLD:
            joint = self.joint_of_body[body]
            yield joint
            body = joint.inner


@lru_cache(maxsize=10_000)
def coordinate_names(
    name: str, pair_type: str, free: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of a pair's coordinates and rates (a single freedom is called as its pair)."""
    if len(free) == 1:
        return (name,), (name,)
    if pair_type == "floating":
        rates: tuple[str, ...] = ("vx", "vy", "vz", "wx", "wy", "wz")
        q: tuple[str, ...] = ("x", "y", "z", *_QUATERNION)
    elif free[-3:] == ("rx", "ry", "rz"):
        rates = tuple(f"v{c[1]}" if c[0] == "t" else f"w{c[1]}" for c in free)
        q = tuple(c[1] for c in free[:-3]) + _QUATERNION
    else:
        rates = q = free
    return tuple(freedom_name(name, c) for c in q), tuple(freedom_name(name, c) for c in rates)


def spanning_tree(bodies: Sequence[str], pairs: Sequence[Pair]) -> SpanningTree:
    """Choose tree pairs in file order, stated closures last, and orient them from the ground."""
    chosen = _tree_pairs(pairs)
    neighbours = adjacency((WORLD, *bodies), ((*pair.bodies, pair) for pair in chosen))
    order: list[tuple[str, str, Pair | None]] = []
    seen: set[str] = set()
    for root in (WORLD, *_roots_first(bodies, chosen)):
        if root in seen:
            continue
        if root != WORLD:
            order.append((WORLD, root, None))
        order += breadth_first(neighbours, root, seen)
    return _number(order, pairs, chosen)


def _tree_pairs(pairs: Sequence[Pair]) -> list[Pair]:
    """Return a spanning forest; a distance pair has no coordinates and is always cut."""
    groups: DisjointSets[str] = DisjointSets()
    chosen = []
    # what constrains nothing is the last choice
    candidates = [p for p in pairs if p.kind.has_coordinates and p.kind.constrained]
    candidates += [p for p in pairs if not p.kind.constrained]
    for stated_closure in (False, True):
        for pair in candidates:
            if pair.closure is stated_closure and groups.join(*pair.bodies):
                chosen.append(pair)
    return chosen


def _roots_first(bodies: Sequence[str], chosen: Sequence[Pair]) -> list[str]:
    """Return the bodies, those that are nobody's successor in front."""
    successors = {pair.body_b for pair in chosen}
    return sorted(bodies, key=lambda name: name in successors)


def _number(
    order: list[tuple[str, str, Pair | None]], pairs: Sequence[Pair], chosen: Sequence[Pair]
) -> SpanningTree:
    """Give every tree joint its slices of q and qd: free roots first, then pairs in file order."""
    names = {pair.name for pair in chosen}
    q_names: list[str] = []
    qd_names: list[str] = []
    slices: dict[str, tuple[slice, slice]] = {}

    def number(key: str, name: str, kind: str, free: tuple[str, ...]) -> None:
        q, qd = coordinate_names(name, kind, free)
        slices[key] = (
            slice(len(q_names), len(q_names) + len(q)),
            slice(len(qd_names), len(qd_names) + len(qd)),
        )
        q_names.extend(q)
        qd_names.extend(qd)

    for _, outer, pair in order:
        if pair is None:
            number(f"free {outer}", outer, "floating", ("tx", "ty", "tz", "rx", "ry", "rz"))
    for pair in pairs:
        if pair.name in names:
            number(f"pair {pair.name}", pair.name, pair.type, pair.kind.free)
    joints = tuple(
        TreeJoint(pair, inner, outer, *slices[f"pair {pair.name}" if pair else f"free {outer}"])
        for inner, outer, pair in order
    )
    cut = tuple(pair for pair in pairs if pair.name not in names)
    return SpanningTree(joints, cut, tuple(q_names), tuple(qd_names))
