"""The mechanism: bodies, and everything that constrains them. Pure data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from mbplugin.errors import BrokenModel, UnknownName, suggestion
from mbplugin.model.mechanism.body import WORLD, Body
from mbplugin.model.mechanism.coupling import Coupling, Driver, Lock
from mbplugin.model.mechanism.pair import PAIR_TYPES, Pair
from mbplugin.model.mechanism.pfaffian import Pfaffian
from mbplugin.model.mechanism.topology import SpanningTree, spanning_tree
from mbplugin.model.spatial import Array
from mbplugin.phrases import counted, one_line

Constraint = Pair | Coupling | Driver | Lock | Pfaffian


@dataclass(frozen=True, eq=False)
class Mechanism:
    """Bodies and constraints of a mechanism: any graph, with loops, several roots, several models.

    Parameters
    ----------
    name : str
        The name in reports.
    bodies : tuple of Body
        In file order; columns of the constraint matrix follow it.
    pairs, couplings, drivers, locks, pfaffians : tuple
        Constraints in file order; rows follow it, holonomic ones first.
    gravity : (3,) array
        m/s², world axes.

    Raises
    ------
    BrokenModel
        Two bodies or constraints with one name.
    UnknownName
        A constraint on a body, pair or freedom that does not exist.
    """

    name: str
    bodies: tuple[Body, ...]
    pairs: tuple[Pair, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    drivers: tuple[Driver, ...] = ()
    locks: tuple[Lock, ...] = ()
    pfaffians: tuple[Pfaffian, ...] = ()
    gravity: Array = field(default_factory=lambda: np.array([0.0, 0.0, -9.81]))

    def __post_init__(self) -> None:
        _require_unique("body", [WORLD, *(body.name for body in self.bodies)])
        _require_unique("constraint", [constraint.name for constraint in self.constraints()])
        for pair in self.pairs:
            self._require_bodies(pair.name, pair.body_a, pair.body_b)
            if pair.body_a == pair.body_b:
                raise BrokenModel(f"pair {pair.name!r} joins body {pair.body_a!r} to itself")
        for pfaffian in self.pfaffians:
            self._require_bodies(pfaffian.name, pfaffian.body)
            if pfaffian.body == WORLD:
                raise BrokenModel(f"constraint {pfaffian.name!r} is on {WORLD!r}, which does not move")
        for owner, name, freedom in self._references():
            self._require_freedom(owner, name, freedom)

    def __repr__(self) -> str:
        facts = (counted(len(self.bodies), "body", "bodies"), counted(len(self.pairs), "pair"))
        return one_line(self, self.name, (*facts, counted(len(self.couplings), "coupling")))

    def constraints(self) -> Iterator[Constraint]:
        """Yield every constraint in the order of the rows."""
        yield from self.pairs
        yield from self.couplings
        yield from self.drivers
        yield from self.locks
        yield from self.pfaffians

    @cached_property
    def body_index(self) -> dict[str, int]:
        """Index of each body by name; the ground is −1."""
        return {WORLD: -1, **{body.name: i for i, body in enumerate(self.bodies)}}

    @cached_property
    def pair_by_name(self) -> dict[str, Pair]:
        """Each pair by name."""
        return {pair.name: pair for pair in self.pairs}

    @cached_property
    def tree(self) -> SpanningTree:
        """The spanning tree whose joint coordinates describe the mechanism."""
        return spanning_tree([b.name for b in self.bodies], self.pairs)

    @cached_property
    def measured_pairs(self) -> frozenset[str]:
        """Pairs of whose freedoms a coupling, driver or lock speaks."""
        return frozenset(pair for _, pair, _ in self._references())

    @cached_property
    def largest_place(self) -> float:
        """The largest coordinate of a joint or a centre of mass in a link frame or the world, m."""
        places = [*(body.p_LC for body in self.bodies), *(X.p for p in self.pairs for X in (p.X_AP, p.X_BS))]
        return float(np.abs(places).max()) if places else 0.0

    @cached_property
    def largest_arm(self) -> float:
        """The largest distance of a joint from the centre of mass of a body that it joins, m."""
        sides = (side for p in self.pairs for side in ((p.body_a, p.X_AP), (p.body_b, p.X_BS)))
        arms = [X.p - self.bodies[self.body_index[name]].p_LC for name, X in sides if name != WORLD]
        return float(np.linalg.norm(arms, axis=1).max()) if arms else 0.0

    @property
    def q_names(self) -> tuple[str, ...]:
        """Names of the joint coordinates."""
        return self.tree.q_names

    @property
    def qd_names(self) -> tuple[str, ...]:
        """Names of the joint rates."""
        return self.tree.qd_names

    def _references(self) -> Iterator[tuple[str, str, str]]:
        for coupling in self.couplings:
            yield from ((coupling.name, t.joint, t.freedom) for t in coupling.terms)
        for driver in self.drivers:
            yield from ((driver.name, driver.joint, f) for f in driver.freedoms or ("",))
        for lock in self.locks:
            yield from ((lock.name, lock.joint, f) for f in lock.freedoms or ("",))

    def _require_bodies(self, owner: str, *names: str) -> None:
        for name in names:
            if name not in self.body_index:
                raise UnknownName(
                    f"constraint {owner!r} names an unknown body {name!r}",
                    remedy=suggestion(name, list(self.body_index)),
                )

    def _require_freedom(self, owner: str, pair: str, freedom: str) -> None:
        if pair not in self.pair_by_name:
            raise UnknownName(
                f"constraint {owner!r} names an unknown pair {pair!r}",
                remedy=suggestion(pair, list(self.pair_by_name)),
            )
        kind = PAIR_TYPES[self.pair_by_name[pair].type]
        if not kind.free:
            raise BrokenModel(f"constraint {owner!r} acts on {kind.name} pair {pair!r}, which has no freedom")
        if freedom and freedom not in kind.free:
            raise UnknownName(
                f"constraint {owner!r} names freedom {freedom!r} of {kind.name} pair {pair!r}",
                expected=f"one of {', '.join(kind.free)}",
            )


def _require_unique(kind: str, names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise BrokenModel(f"two of the model's {kind} names are {name!r}", remedy="rename one")
        seen.add(name)
