"""Graphs of bodies and pairs, as every model needs them: networkx takes longer to import than they to walk."""

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
