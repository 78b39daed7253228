"""The binary assembly tree: the order in which joints connect parts (pekal2024 §2.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from mbplugin.analysis.dca.handles import Joint

#: Label, bodies, and joints at the handles that are left.
Part = tuple[str, tuple[int, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Node:
    """A subassembly of the binary tree.

    Parameters
    ----------
    label : str
        Its number in parentheses, for the paper's circle; bodies are counted first.
    left, right : str
        Labels of its parts: names of bodies, numbers of subassemblies.
    joint : str
        The joint between them, eliminated here.
    handles : tuple of str
        The joints at the nonempty handles that are left.
    """

    label: str
    left: str
    right: str
    joint: str
    handles: tuple[str, ...]
    bodies: tuple[int, ...]


@dataclass(frozen=True)
class AssemblyTree:
    """How the bodies become one assembly, or one per group of bodies that only the ground ties.

    Parameters
    ----------
    nodes : tuple of Node
        Leaves first; a part comes before what it is part of.
    roots : tuple of (str, tuple of int, tuple of str)
        Label, bodies and ground joints of every complete assembly, in the order of its first body.
    """

    nodes: tuple[Node, ...]
    roots: tuple[Part, ...]

    @cached_property
    def _nodes_of(self) -> dict[int, tuple[Node, ...]]:
        """The nodes of every complete assembly by its first body."""
        first = {body: bodies[0] for _, bodies, _ in self.roots for body in bodies}
        found: dict[int, list[Node]] = {}
        for node in self.nodes:
            found.setdefault(first[node.bodies[0]], []).append(node)
        return {body: tuple(nodes) for body, nodes in found.items()}

    def nodes_of(self, root: Part) -> tuple[Node, ...]:
        """Return the subassemblies of a complete assembly, a part before what it is part of."""
        return self._nodes_of.get(root[1][0], ())


def assembly_tree(
    names: Sequence[str], handles: Sequence[tuple[str, ...]], joints: Sequence[Joint], floating: Sequence[int]
) -> AssemblyTree:
    """Return a shallow binary tree: in every round, each part is joined to one neighbour at most.

    A part with three or more neighbours is only joined to those that have no other. So two bodies at
    most of any part touch its neighbours, and what these feel of it does not grow with it.

    Parameters
    ----------
    names, handles : sequences
        Of all bodies.
    joints : sequence of Joint
        Without welds.
    floating : sequence of int
        The bodies that are not ground.
    """
    parts: dict[int, Part] = {k: (names[k], (k,), handles[k]) for k in floating}
    owner = list(range(len(names)))
    left = [joint for joint in joints if not joint.grounded]
    neighbours = Counter(body for joint in left for body in joint.moving)
    nodes: list[Node] = []
    while left:
        busy: set[int] = set()
        later = []
        for joint in left:
            i, j = owner[joint.body_a], owner[joint.body_b]
            fewest, most = sorted((neighbours[i], neighbours[j]))
            if i in busy or j in busy or (fewest > 1 and most > 2):
                later.append(joint)
                continue
            busy |= {i, j}
            node = _node(f"({len(names) + len(nodes) + 1})", parts[i], parts.pop(j), joint.name)
            nodes.append(node)
            parts[i] = (node.label, node.bodies, node.handles)
            neighbours[i] += neighbours.pop(j) - 2
            for body in node.bodies:
                owner[body] = i
        left = later
    roots = sorted(parts.values(), key=lambda part: min(part[1]))
    in_file = {joint.name: k for k, joint in enumerate(joints)}
    return AssemblyTree(
        tuple(nodes),
        tuple((label, bodies, tuple(sorted(own, key=in_file.__getitem__))) for label, bodies, own in roots),
    )


def _node(label: str, i: Part, j: Part, joint: str) -> Node:
    handles = tuple(name for name in (*i[2], *j[2]) if name != joint)
    return Node(label, i[0], j[0], joint, handles, (*i[1], *j[1]))


_Floats = TypeVar("_Floats")


def accumulate(
    nodes: Sequence[Node],
    bodies: Mapping[int, _Floats],
    joints: Mapping[str, Joint],
    join: Callable[[str, _Floats, _Floats, Joint], _Floats],
) -> _Floats:
    """Return a complete assembly: the main pass, from the leaves.

    Parameters
    ----------
    nodes : sequence of Node
        Of this assembly, a part before what it is part of.
    bodies : mapping of body to its part
        All of the assembly.
    join : callable
        What makes one part of two: (label, part of the predecessor, of the successor, joint).
    """
    at = dict(bodies)
    owner = {body: body for body in bodies}
    for node in nodes:
        joint = joints[node.joint]
        i, j = owner[joint.body_a], owner[joint.body_b]
        at[i] = join(node.label, at[i], at.pop(j), joint)
        for body in node.bodies:
            owner[body] = i
    (complete,) = at.values()
    return complete
