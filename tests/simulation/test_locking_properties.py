"""What closing constraints must do to any mechanism: trees, loops and redundant loops, drawn at random."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

from locked_mechanisms import spatial_four_bar_with_pendulum, two_arms_one_part
from mbplugin.analysis import analyze
from mbplugin.dynamics.absolute import absolute_equations
from mbplugin.dynamics.formulations import Equations
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.model.mechanism import Coupling, Driver, Lock, Mechanism, Term
from mbplugin.model.mechanism.pair import PAIR_TYPES
from mbplugin.model.spatial import Array
from mbplugin.simulation.impact import FORMS, Transition, activate
from models import chain
from random_mechanisms import geared_twice, mechanisms
from states import random_states

MOVING = tuple(t for t, kind in PAIR_TYPES.items() if kind.has_coordinates and kind.free)
quickly = settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))


class Instant:
    """A mechanism at a random state, and some of its pairs with locks that are about to close."""

    def __init__(self, mech: Mechanism, q: Array, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.mech, self.rng = mech, rng
        p = joint_equations(mech, q, np.zeros(len(mech.qd_names))).degree_of_redundancy
        ((self.q, self.qd),) = random_states(mech, q, 1, redundancy=p, seed=seed)
        candidates = [pair.name for pair in mech.pairs if pair.kind.free]
        count = int(rng.integers(1, min(4, len(candidates)) + 1))
        self.names = [str(n) for n in rng.choice(candidates, count, replace=False)]
        self.rows = tuple(f"lock {name}" for name in self.names)

    def locked(self, *names: str) -> Mechanism:
        return replace(self.mech, locks=tuple(Lock(name) for name in names))

    def equations(self, *names: str, kind: str = "joint") -> Equations:
        make = joint_equations if kind == "joint" else absolute_equations
        return make(self.locked(*names), self.q, self.qd)

    def impulse(self, size: int) -> Array:
        return np.asarray(self.rng.normal(size=size))


def tree(seed: int, pair_type: str) -> tuple[Mechanism, Array]:
    return chain(4, pair_type, np.random.default_rng(seed))


trees = st.builds(tree, st.integers(0, 2**31), st.sampled_from(MOVING))
drawn = st.builds(lambda m, seed: Instant(*m, seed), st.one_of(mechanisms, trees), st.integers(0, 2**31))


def healthy(equations: Equations) -> bool:
    """Whether something moves, and the drawn pose is far from singular ones, where rounding grows."""
    sigma = np.linalg.svd(equations.scaled_C, compute_uv=False)
    r = equations.rank
    rest = sigma[r] if r < len(sigma) else 0.0
    regular = r == 0 or (sigma[r - 1] > 1e-3 * sigma[0] and rest < 1e-10 * sigma[0])
    return bool(regular and np.abs(equations.v).max() > 1e-3)


def same(a: Array, b: Array, size: float, tolerance: float = 1e-10) -> bool:
    return bool(np.abs(a - b).max(initial=0.0) <= tolerance * max(size, 1e-12))


@pytest.mark.long
@quickly
@given(drawn, st.booleans())
def test_three_forms_are_one_and_meet_every_condition(instant: Instant, pushed: bool) -> None:
    for kind in ("joint", "absolute"):
        equations = instant.equations(*instant.names, kind=kind)
        assume(healthy(equations))
        U = instant.impulse(len(equations.v)) if pushed else 0.0
        # a push, and rates that have drifted off the persistent constraints, which are to be met as well
        before = equations.v + 0.1 * U
        found = [activate(equations, before, instant.rows, U, form) for form in FORMS]
        size = max(np.abs(found[0].jump).max(), np.abs(equations.v).max())
        strength = max(np.abs(found[0].impulses).max(initial=0.0), np.abs(equations.M).max() * size)
        for one in found:
            assert one.outcome == "regular"
            assert same(one.qd_plus, found[0].qd_plus, size)
            assert same(one.impulses, found[0].impulses, strength)
            # J₊q̇₊ + b₊ = 0, and momentum balance with these very impulses
            assert same(equations.C @ one.qd_plus, -equations.b, np.abs(equations.C).max(initial=0.0) * size)
            balance = equations.M @ one.jump - U - equations.C.T @ one.impulses
            assert same(balance, np.zeros_like(balance), strength)


@quickly
@given(drawn)
def test_energy_is_lost_and_free_momenta_stay(instant: Instant) -> None:
    """T₋ − T₊ = ½ Δq̇ᵀM Δq̇ ≥ 0, and HᵀM Δq̇ = 0 for H spanning ker J₊."""
    equations = instant.equations(*instant.names)
    assume(healthy(equations))
    found = activate(equations, None, instant.rows)
    lost = 0.5 * found.jump @ equations.M @ found.jump
    assert found.loss == pytest.approx(lost, abs=1e-11 * found.energy_before)
    assert found.loss >= -1e-12 * found.energy_before
    size = equations.column_scale
    _, _, Vt = np.linalg.svd(equations.scaled_C)
    H = size[:, None] * Vt[equations.rank :].T
    momentum = np.abs(equations.M @ found.qd_minus * size).max()
    assert same(H.T @ equations.M @ found.jump, np.zeros(H.shape[1]), momentum, 1e-12)


@pytest.mark.long
@quickly
@given(drawn)
def test_any_order_at_one_instant_is_all_at_once(instant: Instant) -> None:
    assume(healthy(instant.equations(*instant.names)))
    at_once = activate(instant.equations(*instant.names), None, instant.rows)
    size = np.abs(instant.qd).max()
    for order in permutations(instant.names[:3]):
        qd = instant.qd
        closed: list[str] = []
        for name in (*order, *instant.names[3:]):
            closed.append(name)
            equations = instant.equations(*closed)
            assume(healthy(equations))
            qd = activate(equations, qd, (f"lock {name}",), form=FORMS[len(closed) % 3]).qd_plus
        assert same(qd, at_once.qd_plus, size)


@pytest.mark.long
@quickly
@given(drawn)
def test_what_is_locked_cannot_be_locked_again(instant: Instant) -> None:
    equations = instant.equations(*instant.names)
    assume(healthy(equations))
    qd = activate(equations, None, instant.rows).qd_plus
    size = np.abs(instant.qd).max()
    for form in FORMS:
        assert same(activate(equations, qd, instant.rows, form=form).qd_plus, qd, size)
    # and a release changes nothing by itself
    fewer = instant.equations(*instant.names[:-1])
    assert same(activate(fewer, qd).qd_plus, qd, size)


@quickly
@given(drawn)
def test_impulses_are_unique_exactly_where_the_reactions_are(instant: Instant) -> None:
    equations = instant.equations(*instant.names)
    assume(healthy(equations))
    analysis = analyze(instant.locked(*instant.names), instant.q, samples=0)
    verdict = {(v.name, c.name): c.unique for v in analysis.constraints for c in v.components}
    found = activate(equations, None, instant.rows)
    for label, unique in zip(found.labels, found.unique.tolist(), strict=True):
        assert unique == verdict[label]


@pytest.mark.parametrize("seed", range(4))
def test_drivers_and_couplings_that_close(seed: int) -> None:
    """A clutch and a motor take hold at one instant: b₊ is met, and the rest follows by momentum."""
    rng = np.random.default_rng(seed)
    mech, q = chain(5, "revolute", rng)
    clutch = Coupling("clutch", "gear", (Term("j1", "rz", 1.0), Term("j3", "rz", -2.0)))
    mech = replace(mech, couplings=(clutch,), drivers=(Driver("motor", "j4", rate=1.5),))
    equations = joint_equations(mech, q + rng.normal(size=5), rng.normal(size=5))
    found = [activate(equations, None, ("clutch", ("motor", "rz_drive")), form=form) for form in FORMS]
    for one in found:
        assert same(one.qd_plus, found[0].qd_plus, 1.0)
        assert one.qd_plus[4] == pytest.approx(1.5, abs=1e-12)
        assert one.qd_plus[1] - 2 * one.qd_plus[3] == pytest.approx(0, abs=1e-12)
    # forces on j0 and j2 there were none
    assert same((equations.M @ found[0].jump)[[0, 2]], np.zeros(2), 1.0, 1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_redundant_clutches_agree_or_contradict(form: str) -> None:
    mech, q = chain(2, "revolute", np.random.default_rng(1))
    mech = geared_twice(mech)
    q = np.concatenate((q, np.zeros(2)))
    equations = joint_equations(mech, q, np.array([1.0, 2.0, 3.0, 4.0]))
    one = activate(equations, None, ("gear0", "gear1"), form=form)
    assert one.outcome == "regular" and one.open_impulses == (("gear0", "c"), ("gear1", "c"))
    assert one.impulses[0] == pytest.approx(one.impulses[1])
    against = replace(equations, b=np.array([0.0, 0.5]))
    other = activate(against, None, ("gear0", "gear1"), form=form)
    assert other.outcome == "contradictory"
    assert np.isnan(other.qd_plus).all() and np.isnan(other.impulses).all() and not other.unique.any()


def transition(mech: Mechanism, q: Array, names: list[str], form: str) -> tuple[Transition, Equations]:
    p = joint_equations(mech, q, np.zeros(len(mech.qd_names))).degree_of_redundancy
    ((pose, qd),) = random_states(mech, q, 1, redundancy=p, seed=5)
    equations = joint_equations(replace(mech, locks=tuple(Lock(n) for n in names)), pose, qd)
    return activate(equations, None, [f"lock {n}" for n in names], form=form), equations


@pytest.mark.parametrize("form", FORMS)
def test_crank_and_rocker_braked_at_once(form: str) -> None:
    """The pendulum on the coupler goes on; which brake has stopped the linkage nobody can tell."""
    found, equations = transition(*spatial_four_bar_with_pendulum(), ["crank", "rocker"], form)
    assert equations.degree_of_redundancy == 1
    assert [label[0] for label in found.open_impulses if "lock" in label[0]] == ["lock crank", "lock rocker"]
    moving = found.qd_plus[-1]
    # one brake alone does the same to the pendulum: by hand, momentum about its hinge
    alone, _ = transition(*spatial_four_bar_with_pendulum(), ["crank"], "full")
    assert alone.unique.all() and abs(moving) > 1e-3
    assert same(alone.qd_plus, found.qd_plus, np.abs(found.qd_minus).max())
    M, k = equations.M, len(moving.reshape(-1))
    assert k == 1 and M[-1] @ found.jump == pytest.approx(0, abs=1e-12 * np.abs(M @ found.qd_minus).max())


@pytest.mark.parametrize("form", FORMS)
def test_two_arms_that_hold_one_part_with_all_brakes(form: str) -> None:
    mech, q = two_arms_one_part()
    names = [f"{side}j{k}" for side in "lr" for k in range(3)]
    found, equations = transition(mech, q, [*names, "pendulum"], form)
    verdicts = analyze(mech, q, samples=0)
    assert (verdicts.degree_of_redundancy, equations.degree_of_redundancy) == (3, 6)
    assert {name for name, _ in found.open_impulses} >= {f"lock {name}" for name in names}
    # the pendulum's brake is in no loop
    assert found.unique[equations.labels.index(("lock pendulum", "rz_lock"))]
    assert np.abs(found.qd_plus).max() < 1e-12
    # three brakes of six already stop the arms: the other three can have any share
    fewer, _ = transition(mech, q, [*names[:3], "pendulum"], form)
    assert same(fewer.qd_plus, found.qd_plus, 1.0)
