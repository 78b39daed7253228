"""The variational integrator: order, what it keeps over long runs, constraints, what acts besides."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from closed_mechanisms import paper_four_bar
from mbplugin.dynamics.kernels.articulated import energies, kinetic_slopes, momenta
from mbplugin.dynamics.tree_model import TreeModel, tree_model
from mbplugin.errors import BadUsage
from mbplugin.model.mechanism import Body, Driver, Lock, Mechanism
from mbplugin.model.mechanism.kinematics import displace
from mbplugin.model.mechanism.pair import PAIR_TYPES, Freedom
from mbplugin.model.spatial import Array
from mbplugin.simulation.trajectory.trajectory import Trajectory
from models import chain
from places import ORACLES
from variational_cases import exact, floating_chain, momentum, pendulum, run, sled

MOVING = [t for t, kind in PAIR_TYPES.items() if kind.has_coordinates and kind.free]


def energy_errors(motion: Trajectory) -> tuple[float, float]:
    """Largest energy error in the first and in the last tenth, relative to the largest kinetic energy."""
    error, tenth = np.abs(motion.energy - motion.energy[0]) / motion.kinetic.max(), len(motion.time) // 10
    return float(error[:tenth].max()), float(error[-tenth:].max())


@pytest.mark.parametrize("against", [False, True])
@pytest.mark.parametrize("pair_type", MOVING)
def test_slopes_of_the_kinetic_energy(pair_type: str, against: bool) -> None:
    """∂T/∂q̇ and ∂T/∂q, the latter along turns on the group, are finite differences of T."""
    mech, q = chain(3, pair_type, np.random.default_rng(7))
    if against:
        mech = replace(mech, pairs=tuple(replace(p, body_a=p.body_b, body_b=p.body_a) for p in mech.pairs))
    rng, nv = np.random.default_rng(1), len(mech.qd_names)
    q, qd = displace(mech, q, rng.normal(size=nv)), rng.normal(size=nv)
    model, small = tree_model(mech, q=q), 1e-5 * np.eye(nv)
    P = [(kinetic(model, q, qd + d) - kinetic(model, q, qd - d)) / 2e-5 for d in small]
    joint_frames = [(displace(mech, q, d), displace(mech, q, -d)) for d in small]
    slopes = [(kinetic(model, a, qd) - kinetic(model, b, qd)) / 2e-5 for a, b in joint_frames]
    model.evaluate(q, qd)
    momenta(model.composites, model.rates, qd)
    np.testing.assert_allclose(model.rates["u"], P, atol=1e-8 * max(np.abs(P)))
    kinetic_slopes(model.composites, model.rates, qd)
    np.testing.assert_allclose(model.rates["qdd"], slopes, atol=1e-8 * max(np.abs(P)))


def kinetic(model: TreeModel, q: Array, qd: Array) -> float:
    model.evaluate(q, qd)
    return float(energies(model.composites, model.rates, model.springs, q, qd)[0])


def closed(name: str) -> Any:
    return mb.load(ORACLES / f"{name}.sdf")


@pytest.mark.parametrize(
    ("mech", "qd"),
    [
        (pendulum(3), [1.0, -2.0, 3.0]),
        (pendulum(2, "spherical"), [1.0, 0.5, -1.0, 0.3, 2.0, 1.0]),
        (pendulum(2, "universal", freedoms=(Freedom(damping=0.3), Freedom(damping=0.1))), [1, 0.5, -1, 0.3]),
        (floating_chain(3), np.linspace(-1, 1, 12)),
        (sled(), [1.0, 0.0, 2.0]),
        (closed("bricard_A04"), None),
    ],
    ids=["turns", "turns on the group", "damped", "floating", "knife edge", "Bricard"],
)
def test_order_two(mech: Any, qd: Any) -> None:
    """Half the step leaves a quarter of the error, in the position on the group and in the rates."""
    reference = exact(mech, 0.5, qd0=qd)
    errors = []
    for step in (0.01, 0.005):
        motion = run(mech, 0.5, step, qd0=qd)
        assert len(motion.time) == round(0.5 / step) + 1
        gap = np.abs(motion.q[-1] - reference.q[-1]).max(), np.abs(motion.qd[-1] - reference.qd[-1]).max()
        errors.append(gap)
    order = np.log2(np.array(errors[0]) / np.array(errors[1]))
    assert order == pytest.approx([2.0, 2.0], abs=0.15)


@pytest.mark.parametrize(("n", "amplitude"), [(2, 1.0), (3, 0.3)])
def test_energy_without_drift(n: int, amplitude: float) -> None:
    """In 200 s the error stays what it is, where that of RK4 with the same step grows tenfold."""
    start = {"q0": np.concatenate(([np.pi / 2 + amplitude], np.zeros(n - 1)))}
    first, last = energy_errors(run(pendulum(n), 200.0, 0.02, **start))
    assert first < 2e-3
    assert last < 1.5 * first
    first, last = energy_errors(run(pendulum(n), 200.0, 0.02, integrator="rk4", **start))
    assert last > 8 * first


def test_momenta_of_a_floating_chain() -> None:
    mech, rng = floating_chain(4), np.random.default_rng(5)
    motion = run(mech, 30.0, 0.01, qd0=rng.normal(size=len(mech.qd_names)))
    start = momentum(mech, motion.q[0], motion.qd[0])
    for k in range(0, len(motion.time), 100):
        np.testing.assert_allclose(momentum(mech, motion.q[k], motion.qd[k]), start, rtol=0, atol=2e-11)
    assert len(motion.time) == 3001
    first, last = energy_errors(motion)
    assert last < 1.2 * first < 1e-4


def test_free_top_that_tumbles() -> None:
    """About its middle axis, turn after turn: angular momentum in space as it was, energy bounded."""
    top = Mechanism("top", (Body("b", 1.0, np.zeros(3), np.diag([0.1, 0.2, 0.3])),), (), gravity=np.zeros(3))
    motion = run(top, 100.0, 0.01, qd0=np.array([0.0, 0.0, 0.0, 0.01, 3.0, 0.01]))
    start = momentum(top, motion.q[0], motion.qd[0])
    for k in range(0, len(motion.time), 500):
        np.testing.assert_allclose(momentum(top, motion.q[k], motion.qd[k]), start, rtol=0, atol=1e-11)
    first, last = energy_errors(motion)
    assert last < 1.01 * first < 1e-4
    # it has turned over
    assert (motion.q[:, 3:] ** 2).min(axis=0).max() < 0.1


def test_bricard_for_a_long_time() -> None:
    motion = run(closed("bricard_A04"), 50.0, 0.01)
    assert max(motion.residuals.values()) < 1e-12
    first, last = energy_errors(motion)
    assert last < 1.2 * first < 1e-3


def test_work_of_a_driver() -> None:
    """A crank led at a constant rate: the motor's work is the change of energy."""
    mech = replace(paper_four_bar(), drivers=(Driver("motor", "a1", (), None, 2.0),))
    motion, reference = run(mech, 2.0, 0.002), exact(mech, 2.0)
    assert max(motion.residuals.values()) < 1e-12
    gained = motion.energy - motion.energy[0]
    assert np.ptp(gained) > 1.0
    np.testing.assert_allclose(gained, motion.driven, atol=1e-4 * np.ptp(gained))
    np.testing.assert_allclose(motion.q[-1], reference.q[-1], atol=1e-10)
    np.testing.assert_allclose(motion.qd[-1], reference.qd[-1], atol=1e-10)


def test_damping_takes_what_is_lost() -> None:
    mech = pendulum(2, freedoms=(Freedom(damping=0.4),))
    motion, reference = run(mech, 3.0, 0.002), exact(mech, 3.0)
    assert motion.dissipated[-1] > 1.0
    assert (np.diff(motion.dissipated) >= 0).all()
    lost = motion.energy[0] - motion.energy
    np.testing.assert_allclose(lost, motion.dissipated, atol=1e-3 * motion.kinetic.max())
    assert motion.dissipated[-1] == pytest.approx(reference.dissipated[-1], rel=1e-4)


def test_locks_and_limits_as_with_other_integrators() -> None:
    mech = pendulum(3)
    lock = Lock("j1", at=0.3)
    motion, reference = run(mech, 0.6, 0.0005, locks=[lock]), exact(mech, 0.6, locks=[lock])
    np.testing.assert_allclose(motion.q[-1], reference.q[-1], atol=2e-5)
    assert [event.kind for event in motion.events] == ["lock"]
    assert np.abs(motion.qd[motion.time > 0.3 + 1e-9, 1]).max() < 1e-12
    event = mb.simulation.options.UserEvent(lambda t, q, qd: q[0] - 0.4, "level", terminal=True)
    stopped = run(mech, 1.0, 0.001, events=[event])
    assert stopped.outcome == "event"
    assert stopped.q[-1, 0] == pytest.approx(0.4, abs=1e-6)


@pytest.mark.parametrize(
    "mech", [pendulum(3), floating_chain(3), sled(), closed("bricard_A04").mechanism], ids=lambda m: m.name
)
def test_reversed(mech: Mechanism) -> None:
    rates = np.linspace(-1, 1, len(mech.qd_names))
    if mech.tree.cut:
        # one freedom: all other rates follow that of the first joint
        rates = run(mech, 0.01, 0.01, qd0={mech.qd_names[0]: -1.0}).qd[0]
    there = run(mech, 1.0, 0.01, qd0=rates)
    back = run(mech, 1.0, 0.01, q0=there.q[-1], qd0=-there.qd[-1])
    np.testing.assert_allclose(back.q[-1], there.q[0], atol=1e-10)
    np.testing.assert_allclose(back.qd[-1], -there.qd[0], atol=1e-9)


def test_step_too_long_is_taken_in_parts() -> None:
    motion = run(pendulum(3), 2.0, 0.1, qd0=np.array([5.0, -8.0, 10.0]))
    assert motion.outcome == "completed"
    assert 0 < motion.statistics["rejected"] < 20
    assert motion.time[-1] == 2.0
    steps = np.diff(motion.time)
    assert steps.min() < 0.06 < 0.09 < steps.max()
    assert np.isfinite(motion.qd).all()


def test_rest_stays_rest() -> None:
    motion = run(pendulum(3), 1.0, 0.01, q0=np.array([np.pi / 2, 0.0, 0.0]))
    assert motion.statistics["rejected"] == 0
    np.testing.assert_allclose(motion.q - motion.q[0], 0.0, atol=1e-14)


@pytest.mark.parametrize(
    "wish",
    [
        {"coordinates": "absolute"},
        {"formulation": "voronets"},
        {"redundancy": "minimum-norm"},
        {"stabilization": "baumgarte"},
    ],
)
def test_what_it_refuses(wish: dict[str, str]) -> None:
    with pytest.raises(BadUsage, match="variational integrator steps by momenta"):
        run(pendulum(2), 0.1, 0.01, **wish)
