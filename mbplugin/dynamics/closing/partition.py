"""Taking dyads off a mechanism one after another until every dependent coordinate is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from mbplugin.constraints.assembly import RANK_TOLERANCE
from mbplugin.dynamics.closing.cycles import FREE, Cycle, fundamental_cycle, other_cycles
from mbplugin.dynamics.closing.dyad import DyadStep, dyad
from mbplugin.dynamics.closing.gear import GearStep, gear, terms
from mbplugin.dynamics.closing.layout import Layout
from mbplugin.dynamics.closing.newton import NewtonStep
from mbplugin.dynamics.closing.recognise import planar_ring
from mbplugin.dynamics.closing.ring import Ring
from mbplugin.dynamics.closing.rows import closing_rows
from mbplugin.errors import BadUsage
from mbplugin.mechanism.coupling import Coupling
from mbplugin.mechanism.kinematics import BodyPoses, forward
from mbplugin.mechanism.pair import Pair
from mbplugin.spatial import Array

Step = DyadStep | GearStep | NewtonStep


@dataclass(eq=False)
class _Peeling:
    """What is known so far, and the steps that made it known."""

    layout: Layout
    y: Array
    poses: BodyPoses
    rings: list[Ring]
    not_planar: dict[str, str]
    couplings: list[Coupling]
    known: set[int] = field(default_factory=set)
    steps: list[Step] = field(default_factory=list)

    @property
    def missing(self) -> set[int]:
        """Rates of the tree that nothing determines so far."""
        return set(range(self.layout.nv)) - self.known

    def take(self, step: Step) -> None:
        self.steps.append(step)
        self.known.update(step.dependent)

    def peel(self) -> None:
        """Take off dyads and couplings as long as there are any."""
        while (step := next(self._closed_forms(), None)) is not None:
            self.take(step)

    def _closed_forms(self) -> Iterator[Step]:
        for coupling in self.couplings:
            members = terms(self.layout, coupling) or {}
            unknown = [rate for rate in members if rate not in self.known]
            if len(unknown) == 1 and (geared := gear(self.layout, coupling, unknown[0])):
                yield geared
        for ring in self.rings:
            open_joints = [k for k, joint in enumerate(ring.joints) if joint.rate not in self.known]
            if len(open_joints) in (2, 3) and (found := dyad(ring, open_joints, self.y, self.layout.nv)):
                yield found

    def add_rings(self, cycles: Iterator[Cycle]) -> None:
        for cycle in cycles:
            ring = planar_ring(self.layout, cycle, self.poses)
            if isinstance(ring, Ring):
                self.rings.append(ring)


def partition(
    layout: Layout, y: Array, closings: Sequence[Pair | Coupling], first: Sequence[int], *, stated: bool
) -> tuple[Step, ...]:
    """Return the steps that follow from independent rates at a closed pose.

    Parameters
    ----------
    layout : Layout
    y : array
        Coordinates; they tell the branches.
    closings : sequence of Pair or Coupling
        The cut pairs and couplings.
    first : sequence of int
        Rates to take as independent, best first; only as many are taken as are needed.
    stated : bool
        Whether all of ``first`` are independent, because the caller says so.

    Raises
    ------
    BadUsage
        Too few independent rates.
    """
    cycles = {pair.name: fundamental_cycle(layout.mech, pair) for pair in closings if isinstance(pair, Pair)}
    ties = {closing.name: tied_rates(layout, closing) for closing in closings}
    peeling = _start(layout, y, closings, cycles)
    peeling.known = set(range(layout.nv)) - set().union(*ties.values()) | set(first if stated else first[:1])
    peeling.peel()
    if peeling.missing:
        peeling.add_rings(other_cycles(list(cycles.values())))
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


def tied_rates(layout: Layout, closing: Pair | Coupling) -> set[int]:
    """Return the rates of the tree that a closure or coupling ties."""
    tree, mech = layout.mech.tree, layout.mech
    out: set[int] = set()
    if isinstance(closing, Pair):
        for name in fundamental_cycle(mech, closing) - {closing.name}:
            free = name not in tree.joint_of_pair
            joint = tree.joint_of_body[name.removeprefix(FREE)] if free else tree.joint_of_pair[name]
            out.update(range(joint.qd.start, joint.qd.stop))
        return out
    for term in closing.terms:
        pair = mech.pair_by_name[term.pair]
        if layout.is_cut(pair.name):
            out |= tied_rates(layout, pair)
        else:
            out.add(tree.joint_of_pair[pair.name].qd.start + pair.kind.free.index(term.freedom))
    return out


def _start(
    layout: Layout, y: Array, closings: Sequence[Pair | Coupling], cycles: dict[str, Cycle]
) -> _Peeling:
    poses = forward(layout.mech, y[: layout.nq])
    rings = {name: planar_ring(layout, cycle, poses) for name, cycle in cycles.items()}
    return _Peeling(
        layout,
        y,
        poses,
        [ring for ring in rings.values() if isinstance(ring, Ring)],
        {name: reason for name, reason in rings.items() if isinstance(reason, str)},
        [c for c in closings if isinstance(c, Coupling)],
    )


def _components(ties: dict[str, set[int]], missing: set[int]) -> list[set[int]]:
    """Return the rates still unknown, those that share a closing together."""
    out: list[set[int]] = []
    for tied in ties.values():
        if own := tied & missing:
            out = [*(c for c in out if not c & own), own.union(*(c for c in out if c & own))]
    return out


def _newton(
    peeling: _Peeling, closings: Sequence[Pair | Coupling], unknown: set[int], known: set[int]
) -> NewtonStep:
    layout, q = peeling.layout, peeling.y[: peeling.layout.nq]
    rows = closing_rows(layout.mech, closings, q)
    J, _ = rows.linearise(q)
    rank = int(np.linalg.matrix_rank(J, tol=RANK_TOLERANCE * float(np.linalg.norm(J, 2))))
    if len(unknown) > rank:
        rates = ", ".join(repr(layout.mech.qd_names[k]) for k in sorted(unknown))
        raise BadUsage(
            f"the loops through {', '.join(repr(c.name) for c in closings)} do not determine {rates}",
            expected=f"{len(unknown) - rank} more independent joints, each with a coordinate per rate",
            remedy="name them, or use a formulation that needs no coordinates",
        )
    names = [closing.name for closing in closings]
    spatial = any(name in peeling.not_planar for name in names)
    return NewtonStep(
        layout, rows, tuple(sorted(unknown)), tuple(sorted(known)), _reason(peeling, names), spatial
    )


def _reason(peeling: _Peeling, names: Sequence[str]) -> str:
    for name in names:
        if name in peeling.not_planar:
            return f"The loop through {name!r} has no closed form: {peeling.not_planar[name]}."
    listed = ", ".join(repr(name) for name in names)
    return f"The loops through {listed} hang together, and no dyad comes off alone."
