"""Graphs of bodies and pairs, as every model needs them: networkx takes longer to import than a lint."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

Node = TypeVar("Node", bound=Hashable)
Edge = TypeVar("Edge")


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
