"""Names of rows and of locks, brakes and drives of joints: the only module that writes and parses them.

The names occur in files, documents and messages: ``lock j2`` is the lock of joint ``j2``, ``rz_lock`` its row.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Generic, Literal, NamedTuple, TypeVar, get_args

#: Kinds of constraints that hold or drive a joint, in addition to those of the mechanism.
HolderKind = Literal["lock", "brake", "friction", "drive"]
_KINDS = get_args(HolderKind)
#: Suffixes of the freedom in the component names of lock and driver rows.
_LOCK, _DRIVE = "_lock", "_drive"
NodeName = TypeVar("NodeName", bound=Hashable)
Edge = TypeVar("Edge")


class Holder(NamedTuple):
    """A lock, brake, friction or drive that holds or drives a joint; its ``str`` is the name of the constraint.

    Parameters
    ----------
    kind : "lock", "brake", "friction" or "drive"
    joint : str
        The pair, or one of its freedoms as :func:`freedom_name` writes it.
    """

    kind: HolderKind
    joint: str

    def __str__(self) -> str:
        return f"{self.kind} {self.joint}"

    @classmethod
    def of(cls, name: str) -> Holder | None:
        """Return the holder that a name denotes; None for the name of another constraint."""
        kind, _, joint = name.partition(" ")
        return cls(kind, joint) if kind in _KINDS and joint else None  # type: ignore[arg-type]


class RowLabel(NamedTuple):
    """The identity of a row: its constraint and its component in that constraint."""

    constraint: str
    component: str

    def __str__(self) -> str:
        return f"{self.constraint} {self.component}"

    @property
    def dotted(self) -> str:
        """The label as written on the command line, ``CONSTRAINT.COMPONENT``."""
        return f"{self.constraint}.{self.component}"

    @property
    def holder(self) -> Holder | None:
        """The holder to which the row belongs; None for a row of another constraint."""
        return Holder.of(self.constraint)

    @property
    def of_lock(self) -> bool:
        """True if the row belongs to a lock."""
        return self.component.endswith(_LOCK)

    @property
    def freedom(self) -> str:
        """The component, without the suffix of a lock or driver row."""
        return freedom_of(self.component)


def lock_component(freedom: str) -> str:
    """Return the component of the row that locks a freedom."""
    return freedom + _LOCK


def drive_component(freedom: str) -> str:
    """Return the component of the row that drives a freedom."""
    return freedom + _DRIVE


def freedom_of(component: str) -> str:
    """Return the freedom of a lock or driver row; other components are returned unchanged."""
    return component.removesuffix(_DRIVE).removesuffix(_LOCK)


def freedom_name(pair: str, freedom: str, count: int = 0) -> str:
    """Return the name of one freedom of a pair; if ``count`` is 1, it is the name of the pair."""
    return pair if count == 1 else f"{pair}.{freedom}"


def pair_and_freedom(name: str, pairs: Container[str]) -> tuple[str, str]:
    """Split a name into pair and freedom; the freedom is "" if the name is that of a pair.

    Any other name is split at its last point.
    """
    if name in pairs:
        return name, ""
    pair, _, freedom = name.rpartition(".")
    return pair, freedom


def lock_label(joint: str, freedom: str) -> RowLabel:
    """Return the label of the row that locks a freedom of a joint."""
    return RowLabel(str(Holder("lock", joint)), lock_component(freedom))


def freedom_held(label: RowLabel) -> tuple[str, str]:
    """Return the joint and the freedom that a row of friction, a brake or a lock holds.

    Raises
    ------
    ValueError
        The row belongs to another constraint.
    """
    holder = label.holder
    if holder is None:
        raise ValueError(f"row {label} holds no joint")
    return holder.joint, label.freedom


# Graphs of bodies and pairs. Importing networkx would take longer than a lint.


def adjacency(
    nodes: Iterable[NodeName], edges: Iterable[tuple[NodeName, NodeName, Edge]]
) -> dict[NodeName, list[tuple[NodeName, Edge]]]:
    """Return the neighbours of each node with the connecting edges, in the order of the edges."""
    found: dict[NodeName, list[tuple[NodeName, Edge]]] = {node: [] for node in nodes}
    for a, b, edge in edges:
        found[a].append((b, edge))
        found[b].append((a, edge))
    return found


def breadth_first(
    neighbours: Mapping[NodeName, Sequence[tuple[NodeName, Edge]]], root: NodeName, seen: set[NodeName]
) -> Iterator[tuple[NodeName, NodeName, Edge]]:
    """Yield (inner, outer, edge) in breadth-first order from a root, for nodes that are not yet in ``seen``.

    The root and the nodes reached are added to ``seen``.
    """
    seen.add(root)
    reached = [root]
    for inner in reached:
        for outer, edge in neighbours[inner]:
            if outer not in seen:
                seen.add(outer)
                reached.append(outer)
                yield inner, outer, edge


class DisjointSets(Generic[NodeName]):
    """Disjoint sets (union-find); an unknown node is a set of its own."""

    def __init__(self) -> None:
        self._parent: dict[NodeName, NodeName] = {}

    def find(self, node: NodeName) -> NodeName:
        """Return the representative of the set that contains a node."""
        root = node
        while (parent := self._parent.get(root, root)) != root:
            root = parent
        while node != root:
            self._parent[node], node = root, self._parent.get(node, node)
        return root

    def join(self, a: NodeName, b: NodeName) -> bool:
        """Join the sets of two nodes; return True if they were separate."""
        a, b = self.find(a), self.find(b)
        self._parent[a] = b
        return a != b


def biconnected_components(
    edges: Iterable[tuple[NodeName, NodeName]],
) -> list[list[tuple[NodeName, NodeName]]]:
    """Return the biconnected components of a graph as lists of edges (Hopcroft and Tarjan, 1973).

    Parallel edges count once; an edge from a node to itself is in no component. A bridge is a component by itself.
    """
    neighbours: dict[NodeName, dict[NodeName, None]] = {}
    for a, b in edges:
        if a != b:
            neighbours.setdefault(a, {})[b] = None
            neighbours.setdefault(b, {})[a] = None
    found: dict[NodeName, int] = {}
    components: list[list[tuple[NodeName, NodeName]]] = []
    for root in neighbours:
        if root not in found:
            components += _components_from(root, neighbours, found)
    return components


def _components_from(
    root: NodeName, neighbours: Mapping[NodeName, Mapping[NodeName, None]], found: dict[NodeName, int]
) -> Iterator[list[tuple[NodeName, NodeName]]]:
    """Yield the components found by a depth-first search from a root; ``found`` numbers the nodes in visiting order."""
    lowest = {root: len(found)}
    found[root] = len(found)
    way = [(root, root, iter(neighbours[root]))]
    met: list[tuple[NodeName, NodeName]] = []
    begins: dict[NodeName, int] = {}
    while way:
        before, node, rest = way[-1]
        following = next(rest, None)
        if following is None:
            way.pop()
            if not way:
                return
            lowest[before] = min(lowest[before], lowest[node])
            if lowest[node] >= found[before]:
                yield met[begins[node] :]
                del met[begins[node] :]
        elif following not in found:
            lowest[following] = found[following] = len(found)
            begins[following] = len(met)
            met.append((node, following))
            way.append((node, following, iter(neighbours[following])))
        elif following != before and found[following] < found[node]:
            lowest[node] = min(lowest[node], found[following])
            met.append((node, following))
