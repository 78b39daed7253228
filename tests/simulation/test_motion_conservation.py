"""What a motion must keep: energy, momentum, its way back, whichever loops and formulation computed it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from mbplugin.constraints.reduction import body_twists
from mbplugin.dynamics.formulations import TABLE
from mbplugin.model.mechanism import Driver, Lock, Mechanism
from mbplugin.model.mechanism.kinematics import forward, home
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.spatial import Array, Pose
from mbplugin.simulation.run import simulate
from mbplugin.simulation.trajectory.trajectory import Trajectory
from models import body_at, chain, four_bar, pose_at
from random_mechanisms import loop_mechanism
from states import random_states

TIGHT = {"rtol": 1e-10, "atol": 1e-12}
FEW = settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
PAIRS = ("revolute", "prismatic", "cylindrical", "spherical", "universal", "planar", "floating", "screw")


def heavy(mech: Mechanism) -> Mechanism:
    """With inertias that no axis is principal of, and gravity askew."""
    rng = np.random.default_rng(5)
    bodies = []
    for body in mech.bodies:
        A = rng.normal(size=(3, 3))
        I_C = 0.1 * (A @ A.T + 2 * np.eye(3))
        p_LC = 0.2 * rng.normal(size=3)
        bodies.append(replace(body, mass=float(rng.uniform(0.5, 2)), I_C=I_C, p_LC=p_LC))
    return replace(mech, bodies=tuple(bodies), gravity=np.array([1.0, -2.0, -9.0]))


def assert_balanced(motion: Trajectory, close: float = 1e-7) -> None:
    """Energy changes by what is put in."""
    size = 1.0 + motion.kinetic.max() + np.abs(motion.potential).max()
    given_to_it = motion.applied + motion.driven - motion.dissipated
    assert np.abs(motion.energy - motion.energy[0] - given_to_it).max() < close * size


@pytest.mark.parametrize("pair_type", PAIRS)
def test_trees_keep_their_energy_and_find_their_way_back(pair_type: str) -> None:
    mech, q = chain(3, pair_type, np.random.default_rng(1))
    mech = heavy(mech)
    qd = 0.5 * np.random.default_rng(2).normal(size=len(mech.qd_names))
    there = simulate(mech, 0.5, q0=q, qd0=qd, **TIGHT)
    assert_balanced(there, 1e-9)
    back = simulate(mech, 0.5, q0=there.q[-1], qd0=-there.qd[-1], **TIGHT)
    assert back.qd[-1] == pytest.approx(-qd, abs=1e-7)
    before, after = forward(mech, q), forward(mech, back.q[-1])
    assert after.p_WC == pytest.approx(before.p_WC, abs=1e-7)
    assert np.abs(after.R_WL - before.R_WL).max() < 1e-7


@pytest.mark.long
@FEW
@given(st.integers(0, 10**6), st.integers(1, 3), st.sampled_from(["planar", "spherical", "generic"]))
def test_loops_keep_their_energy(seed: int, loops: int, kind: str) -> None:
    mech, q = loop_mechanism(seed, loops, kind)
    mech = heavy(mech)
    redundancy = simulate(mech, 1e-6, q0=q).degree_of_redundancy
    pose, qd = next(iter(random_states(mech, q, 1, redundancy=redundancy, seed=seed)))
    motion = simulate(mech, 0.2, q0=pose, qd0=0.3 * qd, **TIGHT)
    if motion.outcome == "completed" and not motion.events:
        # the start is projected; from there on nothing may be lost
        assert_balanced(motion, 1e-7)
        assert max(motion.residuals.values(), default=0.0) < 1e-9


def momenta(mech: Mechanism, q: Array, qd: Array) -> Array:
    """Linear momentum, and angular momentum about the origin."""
    poses = forward(mech, q)
    twists = body_twists(mech, poses, qd)
    total = np.zeros(6)
    for k, body in enumerate(mech.bodies):
        p = body.mass * twists[k, :3]
        R = poses.R_WL[k]
        total[:3] += p
        total[3:] += np.cross(poses.p_WC[k], p) + R @ body.I_C @ R.T @ twists[k, 3:]
    return total


@pytest.mark.parametrize("inner", ["revolute", "spherical", "universal", "cylindrical"])
def test_free_floating_bodies_keep_their_momentum(inner: str) -> None:
    rng = np.random.default_rng(4)
    pairs = tuple(
        Pair(
            f"j{k}",
            inner,
            f"b{k}",
            f"b{k + 1}",
            Pose.from_xyz_rpy(rng.uniform(-0.5, 0.5, 3), rng.uniform(-3, 3, 3)),
            Pose.from_xyz_rpy(rng.uniform(-0.5, 0.5, 3), rng.uniform(-3, 3, 3)),
        )
        for k in range(3)
    )
    mech = heavy(Mechanism("floating", tuple(body_at(f"b{k}") for k in range(4)), pairs))
    mech = replace(mech, gravity=np.zeros(3))
    motion = simulate(mech, 2.0, q0=home(mech), qd0=rng.normal(size=len(mech.qd_names)), **TIGHT)
    kept = np.array([momenta(mech, q, qd) for q, qd in zip(motion.q, motion.qd, strict=True)])
    assert np.abs(kept - kept[0]).max() < 1e-8 * np.abs(kept[0]).max()
    assert_balanced(motion, 1e-9)


def test_drivers_dampers_friction_and_loads_balance() -> None:
    mech, q = chain(3, "revolute", np.random.default_rng(7))
    mech = heavy(mech)
    pairs = (
        mech.pairs[0],
        replace(mech.pairs[1], freedoms=(Freedom(damping=0.3),)),
        replace(mech.pairs[2], freedoms=(Freedom(friction=0.4, damping=0.1),)),
    )
    mech = replace(mech, pairs=pairs, drivers=(Driver("drive", "j0", rate=0.7, acceleration=1.1),))
    motion = simulate(
        mech,
        1.5,
        q0=q,
        qd0={"j0": 0.7, "j2": 2.0},
        torques={"j1": 2.0},
        controller=lambda t, q, qd: np.sin(t) + q,
        **TIGHT,
    )
    assert motion.outcome == "completed"
    assert_balanced(motion, 1e-7)
    assert min(motion.dissipated[-1], abs(motion.driven[-1]), abs(motion.applied[-1])) > 1e-2
    assert (np.diff(motion.dissipated) > -1e-9).all()


def cases() -> dict[str, tuple[Mechanism, Array, dict[str, object]]]:
    bar, q_bar = four_bar()
    arm, q_arm = chain(3, "revolute", np.random.default_rng(3))
    sticky = replace(arm, pairs=tuple(replace(p, freedoms=(Freedom(friction=0.2),)) for p in arm.pairs))
    knots, q_knots = loop_mechanism(11, 2, "planar")
    floating, q_floating = chain(2, "spherical", np.random.default_rng(6))
    return {
        "tree": (heavy(arm), q_arm, {"qd0": [0.3, -0.2, 0.5]}),
        "balls": (heavy(floating), q_floating, {"qd0": 0.5 * np.arange(6)}),
        "loop": (heavy(bar), q_bar, {"qd0": {"j0": 1.0}}),
        "loops": (heavy(knots), q_knots, {}),
        "locks": (heavy(arm), q_arm, {"qd0": [0.3, -0.2, 0.5], "locks": [Lock("j1", at=0.2)]}),
        "friction": (heavy(sticky), q_arm, {"qd0": [0.3, -0.2, 0.5]}),
    }


@pytest.mark.parametrize("integrator", ["dop853", "rk4"])
@pytest.mark.parametrize("name", list(cases()))
def test_compiled_and_readable_loops_give_one_trajectory(name: str, integrator: str) -> None:
    mech, q, asked = cases()[name]
    options = {"q0": q, "integrator": integrator, "step": 5e-3, **asked}
    compiled = simulate(mech, 0.4, **options)  # type: ignore[arg-type]
    readable = simulate(mech, 0.4, readable=True, **options)  # type: ignore[arg-type]
    assert [e.kind for e in readable.events] == [e.kind for e in compiled.events]
    assert readable.time == pytest.approx(compiled.time, abs=1e-9)
    assert readable.q == pytest.approx(compiled.q, abs=1e-9)
    assert readable.qd == pytest.approx(compiled.qd, abs=1e-8)
    assert readable.dissipated == pytest.approx(compiled.dissipated, abs=1e-8)


WAYS = [(f, r, c) for f, meaning in TABLE.items() for r in meaning.redundancy for c in meaning.coordinates]


@pytest.mark.long_after(1)
@pytest.mark.parametrize(("formulation", "redundancy", "coordinates"), WAYS)
def test_every_formulation_gives_one_trajectory(formulation: str, redundancy: str, coordinates: str) -> None:
    mech, q = four_bar()
    mech = heavy(mech)
    options = {"q0": q, "qd0": {"j0": 1.0}, "integrator": "rk4", "step": 0.01}
    reference = simulate(mech, 0.1, **options)  # type: ignore[arg-type]
    other = simulate(
        mech,
        0.1,
        formulation=formulation,
        redundancy=redundancy,
        coordinates=coordinates,
        **options,  # type: ignore[arg-type]
    )
    assert np.abs(other.q[-1] - reference.q[-1]).max() < 1e-9
    assert np.abs(other.qd[-1] - reference.qd[-1]).max() < 1e-8


def three_links() -> Mechanism:
    """mueller2026, section 6: three links of 1 m and 108 kg, hinges along z, gravity along −y."""
    along = np.array([0.5, 0.0, 0.0])
    bodies = tuple(
        replace(body_at(f"b{k}", 108.0), p_LC=along, I_C=np.diag([0.72, 9.36, 9.36])) for k in range(3)
    )
    pairs = tuple(
        Pair(
            f"q{k + 1}",
            "revolute",
            f"b{k - 1}" if k else "world",
            f"b{k}",
            pose_at(np.array([1.0 if k else 0.0, 0.0, 0.0])),
            Pose.identity(),
        )
        for k in range(3)
    )
    return Mechanism("three links", bodies, pairs, gravity=np.array([0.0, -9.81, 0.0]))


@pytest.mark.parametrize(
    ("options", "close"),
    [({**TIGHT, "rtol": 1e-11}, 1e-8), ({"integrator": "rk4", "step": 1e-4}, 1e-6)],
)
def test_three_links_lock_one_after_the_other(options: dict[str, object], close: float) -> None:
    locks = [Lock("q2", at=0.8), Lock("q3", at=1.3)]
    motion = simulate(three_links(), 2.0, q0=[np.pi / 6] * 3, locks=locks, **options)  # type: ignore[arg-type]
    # found by Pinocchio's impulse dynamics and an integrator of order eight
    assert motion.q[-1] == pytest.approx([-3.197267988, 0.0913259905, -4.7925685412], abs=max(close, 1e-8))
    assert [e.kind for e in motion.events] == ["lock", "lock"]
    for event, joint in zip(motion.events, (1, 2), strict=True):
        assert abs(event.velocity_after[joint]) < 1e-12
    assert abs(motion.qd[-1, 1:]).max() < 1e-10
    for segment in range(3):
        energy = motion.energy[motion.segment == segment]
        assert np.abs(energy - energy[0]).max() < 1e-6 * motion.kinetic.max()
    assert (np.diff([motion.energy[motion.segment == k][0] for k in range(3)]) < -1.0).all()
