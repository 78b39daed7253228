"""Identity of rows and of what holds a joint: the one place that writes and reads their names.

Names are texts in files, documents and messages: ``lock j2`` is the lock of joint ``j2``, ``rz_lock`` its row.
"""

from __future__ import annotations

from collections.abc import Container, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Generic, Literal, NamedTuple, TypeVar, get_args

#: What holds or leads a joint besides the constraints of the mechanism.
HolderKind = Literal["lock", "brake", "friction", "drive"]
_KINDS = get_args(HolderKind)
#: What the component of a row of a lock and of a driver has behind its freedom.
_LOCK, _DRIVE = "_lock", "_drive"
Node = TypeVar("Node", bound=Hashable)
Edge = TypeVar("Edge")


class Holder(NamedTuple):
    """What holds or leads a joint; its text is the name of a constraint.

    Parameters
    ----------
    kind : "lock", "brake", "friction" or "drive"
    joint : str
        The pair, or one freedom of it as :func:`freedom_name` writes it.
    """

    kind: HolderKind
    joint: str

    def __str__(self) -> str:
        return f"{self.kind} {self.joint}"

    @classmethod
    def of(cls, name: str) -> Holder | None:
        """Return the holder that a name denotes; None where it is the name of another constraint."""
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
        """The label as it is written on the command line, ``CONSTRAINT.COMPONENT``."""
        return f"{self.constraint}.{self.component}"

    @property
    def holder(self) -> Holder | None:
        """What the row holds a joint by, None for a row of another constraint."""
        return Holder.of(self.constraint)

    @property
    def of_lock(self) -> bool:
        """Whether the row is that of a lock."""
        return self.component.endswith(_LOCK)

    @property
    def freedom(self) -> str:
        """The component, for a row of a lock or of a driver without what marks it as such."""
        return freedom_of(self.component)


def lock_component(freedom: str) -> str:
    """Return the component of the row that locks a freedom."""
    return freedom + _LOCK


def drive_component(freedom: str) -> str:
    """Return the component of the row that drives a freedom."""
    return freedom + _DRIVE


def freedom_of(component: str) -> str:
    """Return the freedom that a row of a lock or of a driver holds; other components as they are."""
    return component.removesuffix(_DRIVE).removesuffix(_LOCK)


def freedom_name(pair: str, freedom: str, count: int = 0) -> str:
    """Return the name of one freedom of a pair; a single one (of ``count``) is called as its pair."""
    return pair if count == 1 else f"{pair}.{freedom}"


def pair_and_freedom(name: str, pairs: Container[str]) -> tuple[str, str]:
    """Return the pair that a name says, and its freedom: "" where the name is that of a pair.

    Of a name that is neither, the pair is what stands before the last point.
    """
    if name in pairs:
        return name, ""
    pair, _, freedom = name.rpartition(".")
    return pair, freedom


def lock_label(joint: str, freedom: str) -> RowLabel:
    """Return the label of the row by which a lock holds a freedom of a joint."""
    return RowLabel(str(Holder("lock", joint)), lock_component(freedom))


def freedom_held(label: RowLabel) -> tuple[str, str]:
    """Return the joint and the freedom that a row of friction, a brake or a lock holds.

    Raises
    ------
    ValueError
        The row holds no joint.
    """
    holder = label.holder
    if holder is None:
        raise ValueError(f"row {label} holds no joint")
    return holder.joint, label.freedom


# Graphs of bodies and pairs, as every model needs them: networkx takes longer to import than a lint.


def adjacency(
    nodes: Iterable[Node], edges: Iterable[tuple[Node, Node, Edge]]
) -> dict[Node, list[tuple[Node, Edge]]]:
    """Return the neighbours of each node, with the edges that lead there, in the order of the edges."""
    found: dict[Node, list[tuple[Node, Edge]]] = {node: [] for node in nodes}
    for a, b, edge in edges:
        found[a].append((b, edge))
        found[b].append((a, edge))
    return found


def breadth_first(
    neighbours: Mapping[Node, Sequence[tuple[Node, Edge]]], root: Node, seen: set[Node]
) -> Iterator[tuple[Node, Node, Edge]]:
    """Yield (inner, outer, edge) from a root to the nodes that are not yet in ``seen``, nearer ones first.

    The root and the nodes that are reached are added to ``seen``.
    """
    seen.add(root)
    reached = [root]
    for inner in reached:
        for outer, edge in neighbours[inner]:
            if outer not in seen:
                seen.add(outer)
                reached.append(outer)
                yield inner, outer, edge


class DisjointSets(Generic[Node]):
    """Sets that are joined one by one; a node that was not named is alone."""

    def __init__(self) -> None:
        self._parent: dict[Node, Node] = {}

    def find(self, node: Node) -> Node:
        """Return the node that stands for the set of a node."""
        root = node
        while (parent := self._parent.get(root, root)) != root:
            root = parent
        while node != root:
            self._parent[node], node = root, self._parent.get(node, node)
        return root

    def join(self, a: Node, b: Node) -> bool:
        """Join the sets of two nodes; return whether they were two."""
        a, b = self.find(a), self.find(b)
        self._parent[a] = b
        return a != b


def biconnected_components(edges: Iterable[tuple[Node, Node]]) -> list[list[tuple[Node, Node]]]:
    """Return the edges of a graph, sorted into its biconnected components (Hopcroft and Tarjan, 1973).

    Parallel edges count once; an edge from a node to itself is in no component. A bridge is a component of
    its own.
    """
    neighbours: dict[Node, dict[Node, None]] = {}
    for a, b in edges:
        if a != b:
            neighbours.setdefault(a, {})[b] = None
            neighbours.setdefault(b, {})[a] = None
    found: dict[Node, int] = {}
    components: list[list[tuple[Node, Node]]] = []
    for root in neighbours:
        if root not in found:
            components += _components_from(root, neighbours, found)
    return components


def _components_from(
    root: Node, neighbours: Mapping[Node, Mapping[Node, None]], found: dict[Node, int]
) -> Iterator[list[tuple[Node, Node]]]:
    """Yield the components that a walk in depth from a root closes; ``found`` numbers the nodes it meets."""
    lowest = {root: len(found)}
    found[root] = len(found)
    way = [(root, root, iter(neighbours[root]))]
    met: list[tuple[Node, Node]] = []
    begins: dict[Node, int] = {}
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
