"""Independent blocks of the constraint graph: sets of constraints that can share a self-stress.

Nodes are the bodies and the ground. Every pair, driver, lock and Pfaffian row is a bond of its own,
so that two parallel bonds are a cycle; a coupling merges the blocks of its joints. What lies in no
cycle carries no self-stress.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass

from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.mechanism.coupling import Coupling, Driver, Lock
from mbplugin.model.mechanism.graph import DisjointSets, biconnected_components
from mbplugin.model.mechanism.mechanism import Constraint, Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.mechanism.pfaffian import KnifeEdge, Rolling
from mbplugin.phrases import one_line_repr

_Bond = frozenset[str]


@one_line_repr
@dataclass(frozen=True, eq=False)
class Block:
    """Constraints that may restrain one another.

    Parameters
    ----------
    constraints : tuple of str
        In file order.
    bodies : tuple of str
        In file order, without the ground.
    grounded : bool
        Whether the ground is one of its nodes.
    """

    constraints: tuple[str, ...]
    bodies: tuple[str, ...]
    grounded: bool


def find_blocks(mech: Mechanism) -> tuple[Block, ...]:
    """Return the blocks that hold more than one bond, in file order."""
    if not (mech.tree.cut or mech.couplings or mech.drivers or mech.locks or mech.pfaffians):
        return ()
    bonds = {c.name: _bonds(mech, c) for c in mech.constraints()}
    block_of_bond = _merged_components(bonds)
    members: dict[int, list[str]] = defaultdict(list)
    count: Counter[int] = Counter()
    for name, own in bonds.items():
        if own:
            block = block_of_bond[own[0]]
            members[block].append(name)
            count[block] += len(own)
    return tuple(_block(mech, names, bonds) for block, names in members.items() if count[block] > 1)


def _bonds(mech: Mechanism, constraint: Constraint) -> list[_Bond]:
    """Return the body pairs that a constraint ties, one per edge of the graph."""
    match constraint:
        case Pair():
            tied = [constraint.bodies] if constraint.kind.constrained else []
        case Coupling():
            tied = [mech.pair_by_name[term.joint].bodies for term in constraint.terms]
        case Driver() | Lock():
            tied = [mech.pair_by_name[constraint.joint].bodies]
        case KnifeEdge() | Rolling():
            rows = len(constraint.holonomic) + len(constraint.nonholonomic)
            tied = [(WORLD, constraint.body)] * rows
    return [frozenset(ends) for ends in tied]


def _merged_components(bonds: dict[str, list[_Bond]]) -> dict[_Bond, int]:
    """Return the block of each bond: its biconnected component, merged where one constraint spans two."""
    edges = (tuple(bond) for own in bonds.values() for bond in own)
    components = biconnected_components((first, last) for first, *_, last in edges)
    component = {frozenset(edge): number for number, found in enumerate(components) for edge in found}
    merged: DisjointSets[int] = DisjointSets()
    for own in bonds.values():
        for bond in own[1:]:
            merged.join(component[bond], component[own[0]])
    return {bond: merged.find(number) for bond, number in component.items()}


def _block(mech: Mechanism, names: list[str], bonds: dict[str, list[_Bond]]) -> Block:
    nodes = frozenset(node for name in names for bond in bonds[name] for node in bond)
    bodies = tuple(body.name for body in mech.bodies if body.name in nodes)
    return Block(tuple(names), bodies, WORLD in nodes)
