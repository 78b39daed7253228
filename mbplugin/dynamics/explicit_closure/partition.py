"""Taking dyads off a mechanism one after another until every dependent coordinate is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mbplugin.constraints.tolerance import DEFAULT_TOLERANCE
from mbplugin.dynamics.explicit_closure.cycles import FREE, Cycle, fundamental_cycle
from mbplugin.dynamics.explicit_closure.gear import GearStep, gear, terms
from mbplugin.dynamics.explicit_closure.layout import Layout
from mbplugin.dynamics.explicit_closure.newton import NewtonStep
from mbplugin.dynamics.explicit_closure.planar.dyad import DyadStep, dyad
from mbplugin.dynamics.explicit_closure.planar.recognise import planar_ring
from mbplugin.dynamics.explicit_closure.planar.ring import Ring
from mbplugin.dynamics.explicit_closure.rows import Closings, closing_rows
from mbplugin.dynamics.explicit_closure.space.chain import SpatialRing, spatial_ring
from mbplugin.dynamics.explicit_closure.space.step import SpatialStep, spatial_step
from mbplugin.dynamics.explicit_closure.substitute import SubstituteBodies
from mbplugin.errors import BadUsage
from mbplugin.model.mechanism.coupling import Coupling
from mbplugin.model.mechanism.kinematics import BodyPoses, forward
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array

Step = DyadStep | SpatialStep | GearStep | NewtonStep


@dataclass(eq=False)
class _Peeling:
    """What is known so far, and the steps that made it known."""

    layout: Layout
    y: Array
    poses: BodyPoses
    closings: Closings
    ties: dict[str, set[int]]
    rings: dict[Cycle, Ring | str] = field(default_factory=dict)
    chains: dict[str, SpatialRing | str] = field(default_factory=dict)
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
        """Take off dyads and couplings as long as they are needed and there are any."""
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
        """Return the closed form of a loop in space, None where it has none or is closed already."""
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
        """Return the loop of a cut pair as a chain in space, or why it is none."""
        if closing.name not in self.chains:
            cycle = fundamental_cycle(self.layout.mech, closing)
            self.chains[closing.name] = spatial_ring(self.layout, cycle, self.poses)
        return self.chains[closing.name]

    def ring(self, cycle: Cycle) -> Ring | str:
        """Return a loop in its plane, or why it has none."""
        if cycle not in self.rings:
            self.rings[cycle] = planar_ring(self.layout, cycle, self.poses)
        return self.rings[cycle]


def partition(
    layout: Layout, y: Array, closings: Closings, first: Sequence[int], *, stated: bool
) -> tuple[Step, ...]:
    """Return the steps that follow from independent rates at a closed pose.

    Parameters
    ----------
    y : (nq + c,) array
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
        pair = mech.pair_by_name[term.joint]
        if layout.is_cut(pair.name):
            out |= tied_rates(layout, pair)
        else:
            out.add(tree.joint_of_pair[pair.name].qd.start + pair.kind.free.index(term.freedom))
    return out


def _components(ties: dict[str, set[int]], missing: set[int]) -> list[set[int]]:
    """Return the rates still unknown, those that share a closing together."""
    out: list[set[int]] = []
    for tied in ties.values():
        if own := tied & missing:
            out = [*(c for c in out if not c & own), own.union(*(c for c in out if c & own))]
    return out


def _newton(peeling: _Peeling, closings: Closings, unknown: set[int], known: set[int]) -> NewtonStep:
    layout, q = peeling.layout, peeling.y[: peeling.layout.nq]
    rows = closing_rows(layout.mech, closings, q)
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
    return replace(step, reason=_reason(closings, _not_planar(peeling, closings)), spatial=spatial)


def _spin(layout: Layout, unknown: set[int]) -> str:
    """Return a remedy where a rod may spin between two balls, of which none has a coordinate per rate."""
    balls = [
        name
        for name, joint in layout.mech.tree.joint_of_pair.items()
        if name not in layout.places and unknown & set(range(joint.qd.start, joint.qd.stop))
    ]
    if not balls:
        return ""
    return f", make the pair {balls[0]!r} universal, close the loop by a distance in place of a rod between two balls"


def newton_step(peeling: _Peeling, closings: Closings, unknown: set[int], known: set[int]) -> NewtonStep:
    """Return closing rows solved for unknown rates."""
    rows = closing_rows(peeling.layout.mech, closings, peeling.y[: peeling.layout.nq])
    return NewtonStep(peeling.layout, rows, tuple(sorted(unknown)), tuple(sorted(known)), "", False)


def _not_planar(peeling: _Peeling, closings: Closings) -> dict[str, str]:
    """Return why each of the loops is not planar, by its closing pair."""
    mech = peeling.layout.mech
    return {
        closing.name: ring
        for closing in closings
        if isinstance(closing, Pair)
        and isinstance(ring := peeling.ring(fundamental_cycle(mech, closing)), str)
    }


def _may_have_closed_form(peeling: _Peeling, closing: Pair) -> bool:
    """Whether other independent joints may give a loop a closed form."""
    if isinstance(peeling.ring(fundamental_cycle(peeling.layout.mech, closing)), Ring):
        return True
    chain = peeling.chain(closing)
    return not isinstance(chain, str) and chain.may_have_closed_form


def _reason(closings: Closings, spatial: dict[str, str]) -> str:
    for name, why in spatial.items():
        return f"The loop through {name!r} has no closed form: {why}."
    listed = ", ".join(repr(closing.name) for closing in closings)
    return f"The loops through {listed} hang together, and no dyad comes off alone."
