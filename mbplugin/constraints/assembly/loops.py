"""Which joints close which constraints: the components that share nothing, and how to part one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mbplugin.model.mechanism.coupling import Coupling, Driver, Lock
from mbplugin.model.mechanism.graph import DisjointSets
from mbplugin.model.mechanism.mechanism import Constraint, Mechanism
from mbplugin.model.mechanism.pair import Pair


@dataclass(frozen=True)
class Group:
    """Constraints that must be closed together, and the joints that can close them.

    Parameters
    ----------
    constraints : tuple of int
        Positions among the constraints to close.
    joints : tuple of int
        Positions among ``mech.tree.joints``.
    """

    constraints: tuple[int, ...]
    joints: tuple[int, ...]


class Paths:
    """Paths through the spanning tree, as positions among ``mech.tree.joints``."""

    def __init__(self, mech: Mechanism) -> None:
        self.mech = mech
        self.index = {joint.outer: k for k, joint in enumerate(mech.tree.joints)}

    def to(self, body: str) -> frozenset[int]:
        """Return the joints between the ground and a body."""
        return frozenset(self.index[joint.outer] for joint in self.mech.tree.way_in(body))

    def of_pair(self, pair: Pair) -> frozenset[int]:
        """Return the joints between both bodies of a pair."""
        return self.to(pair.body_a) ^ self.to(pair.body_b)

    def of(self, constraint: Constraint) -> frozenset[int]:
        """Return the joints, with a freedom, that change the residual of a constraint."""
        match constraint:
            case Pair():
                found = self.of_pair(constraint)
            case Coupling():
                found = self._of_measured(term.joint for term in constraint.terms)
            case Driver() | Lock():
                found = self._of_measured((constraint.joint,))
            case _:
                found = self.to(constraint.body)
        joints = self.mech.tree.joints
        return frozenset(k for k in found if joints[k].qd.stop > joints[k].qd.start)

    def _of_measured(self, names: Iterable[str]) -> frozenset[int]:
        pairs = (self.mech.pair_by_name[name] for name in names)
        return frozenset().union(*(self.of_pair(pair) for pair in pairs))


def connected(members: Sequence[frozenset[int]], names: Sequence[int]) -> list[Group]:
    """Return the groups of constraints that share joints, in the order of their first constraint.

    Parameters
    ----------
    members : sequence of sets of int
        The joints of each constraint.
    names : sequence of int
        The number of each constraint.
    """
    owner: dict[int, int] = {}
    sets: DisjointSets[int] = DisjointSets()
    for k, joints in enumerate(members):
        for joint in joints:
            sets.join(k, owner.setdefault(joint, k))
    parts: dict[int, list[int]] = {}
    for k in range(len(members)):
        parts.setdefault(sets.find(k), []).append(k)
    return [
        Group(
            tuple(names[k] for k in part),
            tuple(sorted(frozenset().union(*(members[k] for k in part)))),
        )
        for part in sorted(parts.values(), key=lambda p: p[0])
    ]
