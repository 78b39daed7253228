"""Partition of a mechanism into dyads, one after another, until every dependent coordinate is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.dynamics.explicit_closure import newton
from mbplugin.dynamics.explicit_closure.planar import DyadStep, Ring, dyad, may_be_planar, planar_ring
from mbplugin.dynamics.explicit_closure.space import SpatialRing, SpatialStep, spatial_ring, spatial_step
from mbplugin.errors import BadUsage
from mbplugin.model import WORLD, Array, BodyPoses, Coupling, Pair, adjacency, breadth_first, forward

# Substitute bodies, each made of bodies connected by known joints, and the small loops between them.
#
# blajer1993 §2: with the known coordinates fixed, the bodies connected by their joints are one body. A dyad is
# then a loop of three unknown joints between substitute bodies, independent of where the tree cuts loops.


class SubstituteBodies:
    """The bodies of a mechanism, with those connected by known joints merged into substitute bodies.

    Parameters
    ----------
    known : set of int
        Known rates of the tree, and of the cut pairs that follow them.
    """

    def __init__(self, layout: newton.Layout, known: set[int]) -> None:
        bodies = (WORLD, *(body.name for body in layout.mech.bodies))
        planar = [pair for pair in layout.mech.pairs if may_be_planar(layout, pair)]
        frozen = [pair for pair in planar if layout.is_known(pair, known)]
        self._open = [pair for pair in planar if not layout.is_known(pair, known)]
        neighbours = adjacency(bodies, ((*pair.bodies, pair) for pair in frozen))
        # the tree of each substitute body: the path of every body to its root
        self._towards: dict[str, tuple[str, Pair] | None] = {}
        self._whole: dict[str, str] = {}
        seen: set[str] = set()
        for root in bodies:
            if root in seen:
                continue
            self._towards[root], self._whole[root] = None, root
            for here, there, pair in breadth_first(neighbours, root, seen):
                self._towards[there], self._whole[there] = (here, pair), root

    def loops(self) -> Iterator[newton.Cycle]:
        """Yield the loops of one, two or three open pairs, including the frozen pairs between them."""
        between: dict[frozenset[str], list[Pair]] = {}
        beside: dict[str, set[str]] = {}
        for pair in self._open:
            a, b = self._whole[pair.body_a], self._whole[pair.body_b]
            between.setdefault(frozenset((a, b)), []).append(pair)
            beside.setdefault(a, set()).add(b)
            beside.setdefault(b, set()).add(a)
        for number, pair in enumerate(self._open):
            a, b = self._whole[pair.body_a], self._whole[pair.body_b]
            if a == b:
                yield self._cycle(pair)
                continue
            later = self._open[number + 1 :]
            yield from (self._cycle(pair, p) for p in between[frozenset((a, b))] if p in later)
            for c in beside[a] & beside[b] - {a, b}:
                for p in between[frozenset((a, c))]:
                    yield from (
                        self._cycle(pair, p, r)
                        for r in between[frozenset((b, c))]
                        if p in later and r in later
                    )

    def _cycle(self, *pairs: Pair) -> newton.Cycle:
        """Return the names of a loop's pairs; parts that the paths of two ends share cancel."""
        ends = chain.from_iterable(pair.bodies for pair in pairs)
        cycle = frozenset(pair.name for pair in pairs)
        for end in ends:
            cycle ^= self._way(end)
        return cycle

    def _way(self, body: str) -> newton.Cycle:
        names = []
        while (step := self._towards[body]) is not None:
            body, pair = step
            names.append(pair.name)
        return frozenset(names)


# Couplings: one coordinate as a linear function of others.


@dataclass(frozen=True)
class GearStep:
    """The last unknown coordinate of a coupling.

    Coordinates y (nq + c,) and rates yd (nv + c,) are in the order of the layout, c of them for cut pairs.

    Parameters
    ----------
    joint : str
        Pair of the unknown.
    at, rate : int
        Its coordinate and rate.
    others_at, known : tuple of int
        Coordinates and rates of the other terms.
    ratios : tuple of float
        Rate of the unknown per rate of each other term.
    offset : float
        Offset of the unknown, rad or m.
    """

    joint: str
    at: int
    rate: int
    others_at: tuple[int, ...]
    known: tuple[int, ...]
    ratios: tuple[float, ...]
    offset: float

    kind = "coupling"
    branch = 0
    reason = ""

    @property
    def joints(self) -> tuple[str, ...]:
        """The unknown's name."""
        return (self.joint,)

    @property
    def dependent(self) -> tuple[int, ...]:
        """The unknown's rate."""
        return (self.rate,)

    def closed(self, y: Array) -> Array:
        """Return y (nq + c,) with the unknown coordinate solved."""
        out = np.array(y)
        out[self.at] = self.offset + np.dot(self.ratios, y[list(self.others_at)])
        return out

    def alternatives(self) -> Iterator[GearStep]:
        """Yield nothing: a coupling has one solution."""
        return iter(())

    def slope(self, y: Array) -> Array:
        """Return the ratios (1, known)."""
        return np.array([self.ratios])

    def bias(self, y: Array, yd: Array) -> Array:
        """Return zero (1,)."""
        return np.zeros(1)

    def margin(self, y: Array) -> float:
        """Return one: a coupling is never singular."""
        return 1.0


def terms(layout: newton.Layout, coupling: Coupling) -> dict[int, tuple[str, int, float]] | None:
    """Return name, coordinate and coefficient of each rate in a coupling; None if a term has no plain coordinate."""
    out: dict[int, tuple[str, int, float]] = {}
    for term in coupling.terms:
        if layout.is_cut(term.joint) or term.joint not in layout.places:
            return None
        at, rate = layout.places[term.joint]
        k = layout.mech.pair_by_name[term.joint].kind.free.index(term.freedom)
        before = out[rate + k][2] if rate + k in out else 0.0
        out[rate + k] = (term.joint, at + k, before + term.coefficient)
    return out


def gear(layout: newton.Layout, coupling: Coupling, unknown: int) -> GearStep | None:
    """Return the coupling solved for one rate; None if its coefficient is zero or the coupling has no plain form."""
    members = terms(layout, coupling)
    if members is None or not members[unknown][2]:
        return None
    joint, at, coefficient = members.pop(unknown)
    return GearStep(
        joint,
        at,
        unknown,
        tuple(place for _, place, _ in members.values()),
        tuple(members),
        tuple(-c / coefficient for _, _, c in members.values()),
        coupling.offset / coefficient,
    )


Step = DyadStep | SpatialStep | GearStep | newton.NewtonStep


@dataclass(eq=False)
class _Peeling:
    """State of the partition: the rates known so far, and the steps that determine them."""

    layout: newton.Layout
    y: Array
    poses: BodyPoses
    closings: newton.Closings
    ties: dict[str, set[int]]
    rings: dict[newton.Cycle, Ring | str] = field(default_factory=dict)
    chains: dict[str, SpatialRing | str] = field(default_factory=dict)
    known: set[int] = field(default_factory=set)
    steps: list[Step] = field(default_factory=list)

    @property
    def missing(self) -> set[int]:
        """Rates of the tree that are not yet determined."""
        return set(range(self.layout.nv)) - self.known

    def take(self, step: Step) -> None:
        self.steps.append(step)
        self.known.update(step.dependent)

    def peel(self) -> None:
        """Solve dyads, couplings and spatial loops in closed form while rates are missing and any can be solved."""
        while self.missing and (step := next(self._closed_forms(), None)):
            self.take(step)

    def _closed_forms(self) -> Iterator[Step]:
        for coupling in self.closings:
            if not isinstance(coupling, Coupling):
                continue
            members = terms(self.layout, coupling) or {}
            unknown = [rate for rate in members if rate not in self.known]
            if len(unknown) == 1 and (geared := gear(self.layout, coupling, unknown[0])):
                yield geared
        for cycle in SubstituteBodies(self.layout, self.known).loops():
            ring = self.ring(cycle)
            if not isinstance(ring, Ring):
                continue
            unknown = [k for k, joint in enumerate(ring.joints) if joint.rate not in self.known]
            if len(unknown) in (2, 3) and (found := dyad(ring, unknown, self.y)):
                yield found
        for closing in self.closings:
            if isinstance(closing, Pair) and (in_space := self._in_space(closing)):
                yield in_space

    def _in_space(self, closing: Pair) -> SpatialStep | None:
        """Return the closed form of a spatial loop; None if it has none or is already closed."""
        missing = self.ties[closing.name] - self.known
        if not missing or isinstance(ring := self.chain(closing), str):
            return None
        unknown = [k for k, joint in enumerate(ring.joints) if joint.rate not in self.known]
        ball = self.layout.mech.tree.joint_of_pair.get(ring.closing.name if ring.closing else "")
        balls = set() if ball is None else set(range(ball.qd.start, ball.qd.stop))
        if missing != balls | ({ring.joints[k].rate for k in unknown} & set(range(self.layout.nv))):
            return None
        rates = newton_step(self, [closing], missing, self.ties[closing.name] - missing)
        return spatial_step(ring, unknown, self.y, None if ball is None else ball.q, rates)

    def chain(self, closing: Pair) -> SpatialRing | str:
        """Return the loop of a cut pair as a spatial chain, or the reason why it is not one."""
        if closing.name not in self.chains:
            cycle = newton.fundamental_cycle(self.layout.mech, closing)
            self.chains[closing.name] = spatial_ring(self.layout, cycle, self.poses)
        return self.chains[closing.name]

    def ring(self, cycle: newton.Cycle) -> Ring | str:
        """Return a loop as a planar ring, or the reason why it is not planar."""
        if cycle not in self.rings:
            self.rings[cycle] = planar_ring(self.layout, cycle, self.poses)
        return self.rings[cycle]


def partition(
    layout: newton.Layout, y: Array, closings: newton.Closings, first: Sequence[int], *, stated: bool
) -> tuple[Step, ...]:
    """Return the steps that follow from independent rates at a closed pose.

    Parameters
    ----------
    y : (nq + c,) array
        Coordinates, which select the branches.
    closings : sequence of Pair or Coupling
        The cut pairs and couplings.
    first : sequence of int
        Candidates for independent rates, best first; only as many as needed are used.
    stated : bool
        Whether the caller requires all of ``first`` to be independent.

    Raises
    ------
    BadUsage
        There are too few independent rates.
    """
    ties = {closing.name: tied_rates(layout, closing) for closing in closings}
    peeling = _Peeling(layout, y, forward(layout.mech, y[: layout.nq]), closings, ties)
    peeling.known = set(range(layout.nv)) - set().union(*ties.values()) | set(first if stated else ())
    peeling.peel()
    for rate in first:
        if rate not in peeling.known:
            peeling.known.add(rate)
            peeling.peel()
    for component in _components(ties, peeling.missing):
        own = [c for c in closings if ties[c.name] & component]
        known = set().union(*(ties[c.name] for c in own)) - component
        peeling.take(_newton(peeling, own, component, known))
    return tuple(peeling.steps)


def tied_rates(layout: newton.Layout, closing: Pair | Coupling) -> set[int]:
    """Return the rates of the tree that a closure or coupling relates."""
    tree, mech = layout.mech.tree, layout.mech
    out: set[int] = set()
    if isinstance(closing, Pair):
        for name in newton.fundamental_cycle(mech, closing) - {closing.name}:
            free = name not in tree.joint_of_pair
            joint = tree.joint_of_body[name.removeprefix(newton.FREE)] if free else tree.joint_of_pair[name]
            out.update(range(joint.qd.start, joint.qd.stop))
        return out
    for term in closing.terms:
        pair = mech.pair_by_name[term.joint]
        if layout.is_cut(pair.name):
            out |= tied_rates(layout, pair)
        else:
            out.add(tree.joint_of_pair[pair.name].qd.start + pair.kind.free.index(term.freedom))
    return out


def _components(ties: dict[str, set[int]], missing: set[int]) -> list[set[int]]:
    """Return the unknown rates in groups that share closures or couplings."""
    out: list[set[int]] = []
    for tied in ties.values():
        if own := tied & missing:
            out = [*(c for c in out if not c & own), own.union(*(c for c in out if c & own))]
    return out


def _newton(
    peeling: _Peeling, closings: newton.Closings, unknown: set[int], known: set[int]
) -> newton.NewtonStep:
    layout, q = peeling.layout, peeling.y[: peeling.layout.nq]
    rows = newton.closing_rows(layout.mech, closings, q)
    J = rows.linearise(q)[0] * rows.units
    rank = int(np.linalg.matrix_rank(J, tol=DEFAULT_TOLERANCE * float(np.linalg.norm(J, 2))))
    if len(unknown) > rank:
        rates = ", ".join(repr(layout.mech.qd_names[k]) for k in sorted(unknown))
        raise BadUsage(
            f"the loops through {', '.join(repr(c.name) for c in closings)} do not determine {rates}",
            expected=f"{len(unknown) - rank} more independent joints, each with a coordinate per rate",
            remedy=f"name them{_spin(layout, unknown)}, or use a formulation that needs no coordinates",
        )
    step = newton_step(peeling, closings, unknown, known)
    spatial = any(
        isinstance(closing, Pair) and not _may_have_closed_form(peeling, closing) for closing in closings
    )
    mech = peeling.layout.mech
    not_planar = {
        closing.name: ring
        for closing in closings
        if isinstance(closing, Pair)
        and isinstance(ring := peeling.ring(newton.fundamental_cycle(mech, closing)), str)
    }
    return replace(step, reason=_reason(closings, not_planar), spatial=spatial)


def _spin(layout: newton.Layout, unknown: set[int]) -> str:
    """Return a remedy for a rod that can spin between two ball joints, whose rates have no plain coordinates."""
    balls = [
        name
        for name, joint in layout.mech.tree.joint_of_pair.items()
        if name not in layout.places and unknown & set(range(joint.qd.start, joint.qd.stop))
    ]
    if not balls:
        return ""
    return f", make the pair {balls[0]!r} universal, close the loop by a distance in place of a rod between two balls"


def newton_step(
    peeling: _Peeling, closings: newton.Closings, unknown: set[int], known: set[int]
) -> newton.NewtonStep:
    """Return a Newton step that solves closing rows for unknown rates."""
    rows = newton.closing_rows(peeling.layout.mech, closings, peeling.y[: peeling.layout.nq])
    return newton.NewtonStep(peeling.layout, rows, tuple(sorted(unknown)), tuple(sorted(known)), "", False)


def _may_have_closed_form(peeling: _Peeling, closing: Pair) -> bool:
    """Return True if other independent joints might give a loop a closed form."""
    if isinstance(peeling.ring(newton.fundamental_cycle(peeling.layout.mech, closing)), Ring):
        return True
    chain = peeling.chain(closing)
    return not isinstance(chain, str) and chain.may_have_closed_form


def _reason(closings: newton.Closings, spatial: dict[str, str]) -> str:
    for name, why in spatial.items():
        return f"The loop through {name!r} has no closed form: {why}."
    listed = ", ".join(repr(closing.name) for closing in closings)
    return f"The loops through {listed} are coupled, and no dyad can be solved by itself."
