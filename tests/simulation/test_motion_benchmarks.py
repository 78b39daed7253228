"""IFToMM benchmark problems and Andrews' squeezer: the motion against what is known of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import mbplugin as mb
from benchmark_mechanisms import (
    ORACLES,
    SQUEEZER_END,
    SQUEEZER_START,
    bricard,
    n_four_bar,
    spatial_slider_crank,
    squeezer,
    squeezer_turns,
)
from mbplugin.constraints.reduction import body_twists
from mbplugin.model.brakes import NO_FORCES
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.scene import State
from mbplugin.simulation.friction import choose_rows
from mbplugin.simulation.kernel_state import KINEMATICS, evaluate_at
from mbplugin.simulation.options import Options
from mbplugin.simulation.problem import pose_problem
from mbplugin.simulation.run import simulate
from mbplugin.simulation.trajectory.trajectory import Trajectory


def energy_error(motion: Trajectory) -> float:
    """Largest change of energy, relative to the largest kinetic energy."""
    return float(np.abs(motion.energy - motion.energy[0]).max() / motion.kinetic.max())


def assert_sound(motion: Trajectory) -> None:
    assert motion.outcome == "completed"
    assert all(np.isfinite(a).all() for a in (motion.q, motion.qd, motion.qdd, motion.energy))
    assert max(motion.residuals.values()) < 1e-10


@pytest.mark.long_after(13)
@pytest.mark.parametrize(
    ("n", "options"),
    [
        (1, {}),
        (2, {}),
        (2, {"rtol": 1e-10, "atol": 1e-12}),
        (2, {"rtol": 1e-7, "atol": 1e-9}),
        (40, {}),
        pytest.param(40, {"rtol": 1e-10, "atol": 1e-12}, marks=pytest.mark.slow),
    ],
)
def test_windows_stay_a_parallelogram_through_the_flat_pose(n: int, options: dict[str, float]) -> None:
    mech, q, rates = n_four_bar(n)
    motion = simulate(mech, 10.0, q0=q, qd0=rates, **options)
    assert_sound(motion)
    assert motion.degree_of_redundancy == 3 * n
    assert energy_error(motion) < 1e-6
    cranks = motion.q[:, [mech.qd_names.index(f"g{k}") for k in range(n + 1)]]
    # it turns over: 1 m/s on the upright windows carries it through every flat pose
    assert cranks.min() < -2.5 * np.pi
    assert np.abs(cranks - cranks[:, :1]).max() < 1e-6
    couplers = cranks[:, :-1] + motion.q[:, [mech.qd_names.index(f"a{k}") for k in range(n)]]
    assert np.abs(couplers).max() < 1e-6


def test_windows_are_one_pendulum() -> None:
    """All cranks turn alike, so N windows are a pendulum: (N+1)(1/3)φ̈ + N φ̈ = ((N+1)/2 + N) g sin φ."""
    n = 2
    mech, q, rates = n_four_bar(n)
    motion = simulate(mech, 3.0, q0=q, qd0=rates, rtol=1e-10, atol=1e-12)
    weight = ((n + 1) / 2 + n) * 9.81 / ((n + 1) / 3 + n)
    exact = solve_ivp(lambda t, y: [y[1], weight * np.sin(y[0])], (0, 3), [0, 1], rtol=1e-12, atol=1e-13)
    assert motion.q[-1, 0] == pytest.approx(-exact.y[0, -1], abs=1e-6)


@pytest.mark.parametrize("step", [pytest.param(1e-3, marks=pytest.mark.slow), 0.005])
def test_fixed_steps_cross_the_flat_pose(step: float) -> None:
    mech, q, rates = n_four_bar(2)
    motion = simulate(mech, 1.5, q0=q, qd0=rates, integrator="rk4", step=step)
    assert_sound(motion)
    assert energy_error(motion) < 1e-6
    assert motion.q[:, :3] == pytest.approx(np.tile(motion.q[:, :1], (1, 3)), abs=1e-9)
    assert all("one step" in event.text for event in motion.events)


def test_rows_that_hold_generically_hold_beside_the_flat_pose() -> None:

    mech, q, rates = n_four_bar(2)
    problem = pose_problem(mech, NO_FORCES, State(q, np.zeros(len(mech.qd_names))), (), Options(1.0))
    assert len(problem.kernel_state.independent_rows) == problem.own_rank == 4
    for away in (1e-3, 1e-6, 1e-8):
        near = q + (np.pi / 2 - away) * np.array([-rates.get(n, 0.0) for n in mech.qd_names])
        evaluate_at(problem.kernel_state, KINEMATICS, 0.0, near, np.zeros(len(mech.qd_names)))
        choice = choose_rows(problem.model, tuple(range(10)), problem.own_rank, 1e-4)
        assert (len(choice.rows), choice.missing) == (4, 0)


def test_bricard_keeps_its_energy_and_says_what_its_hinges_carry() -> None:
    mech = bricard()
    motion = simulate(mech, 10.0)
    assert_sound(motion)
    assert motion.degree_of_redundancy == 1
    assert energy_error(motion) < 1e-8
    assert motion.kinetic.max() > 4.0
    analysis = mb.analyze(mech)
    for pair in mech.pairs:
        # at the pose of the file some components are unique by symmetry, along the motion none is
        assert motion.uniqueness(pair.name).any(axis=0).tolist() == [False] * 5 + [True]
    assert analysis.degree_of_redundancy == 1


@pytest.mark.long
def test_bricard_by_other_formulations() -> None:
    mech = bricard()
    reference = simulate(mech, 0.3, rtol=1e-10, atol=1e-12).q[-1]
    for formulation, coordinates in (("kkt", "absolute"), ("null-space", "joint"), ("partitioning", "joint")):
        other = simulate(
            mech, 0.3, formulation=formulation, coordinates=coordinates, rtol=1e-10, atol=1e-12
        ).q[-1]
        assert np.abs(other - reference).max() < 1e-8, formulation


def test_spatial_slider_crank_starts_as_published_and_keeps_its_energy() -> None:
    mech, q = spatial_slider_crank()
    motion = simulate(mech, 5.0, q0=q, qd0={"A": 6.0}, rtol=1e-10, atol=1e-12)
    assert_sound(motion)
    assert energy_error(motion) < 1e-8
    twists = body_twists(mech, forward(mech, motion.q[0]), motion.qd[0])
    rod, slider = (
        twists[[b.name for b in mech.bodies].index("rod")],
        motion.qd[0][mech.qd_names.index("slide")],
    )
    assert rod == pytest.approx([0.12, -0.24, 0, 1.92, -0.96, 0.48], abs=1e-12)
    assert slider == pytest.approx(0.24, abs=1e-12)


@pytest.mark.long
def test_spatial_slider_crank_in_absolute_coordinates() -> None:
    mech, q = spatial_slider_crank()
    options = {"q0": q, "qd0": {"A": 6.0}, "rtol": 1e-10, "atol": 1e-12}
    ours = simulate(mech, 0.3, **options)
    other = simulate(mech, 0.3, formulation="kkt", coordinates="absolute", **options)
    assert np.abs(ours.q[-1] - other.q[-1]).max() < 1e-8


def test_squeezer_ends_where_the_literature_says() -> None:
    mech, q, spring = squeezer()
    options = {"q0": q, "springs": [spring], "torques": {"O": 0.033}}
    motion = simulate(mech, 0.03, rtol=1e-11, atol=1e-13, **options)
    assert_sound(motion)
    X = forward(mech, motion.q[-1])
    measured = np.array([np.arctan2(R[1, 0], R[0, 0]) for R in X.R_WL])
    expected = squeezer_turns(SQUEEZER_END) - squeezer_turns(SQUEEZER_START)
    assert np.abs(np.exp(1j * measured) - np.exp(1j * expected)).max() < 1e-7
    assert motion.q[-1, 0] == pytest.approx(SQUEEZER_END[0] - SQUEEZER_START[0], abs=1e-7)
    # the motor's work
    assert motion.energy - motion.energy[0] == pytest.approx(motion.applied, abs=1e-9)
    assert motion.applied[-1] == pytest.approx(0.033 * (motion.q[-1, 0]), abs=1e-9)


@pytest.mark.parametrize("gravity", [0.0, 9.81])
def test_folding_parallelogram_leaves_its_folded_pose_along_its_branch(gravity: float) -> None:
    mech = mb.load(ORACLES / "four_bar_fold_rectangle.sdf").mechanism
    mech = replace(mech, gravity=np.array([0.0, -gravity, 0.0]))
    motion = simulate(mech, 3.0, qd0={"j0": 1.0, "j1": -1.0, "j2": 1.0})
    assert_sound(motion)
    assert energy_error(motion) < 1e-6
    # opposite links stay parallel
    assert motion.q @ np.array([[1, 1, 0], [0, 1, 1]]).T == pytest.approx(0.0, abs=1e-6)
    assert "singular" in {event.kind for event in motion.events}


@pytest.mark.parametrize("rates", [None, {"j0": 1.0}, {"j0": 1.0, "j1": -0.5, "j2": 1.0}])
def test_folding_parallelogram_stops_where_more_than_one_motion_may_follow(rates: dict[str, float]) -> None:
    mech = mb.load(ORACLES / "four_bar_fold_rectangle.sdf").mechanism
    mech = replace(mech, gravity=np.array([0.0, -9.81, 0.0]))
    motion = simulate(mech, 3.0, qd0=rates)
    assert (motion.outcome, len(motion.time)) == ("singular", 1)
    assert "more than one motion" in motion.events[-1].text


def test_folding_parallelogram_comes_back_through_its_folded_pose() -> None:
    mech = mb.load(ORACLES / "four_bar_fold_rectangle.sdf").mechanism
    mech = replace(mech, gravity=np.array([0.0, -9.81, 0.0]))
    start = {"j0": 0.5, "j1": -0.5, "j2": 0.5}
    motion = simulate(mech, 5.0, q0=start, qd0=None)
    assert_sound(motion)
    assert motion.q[:, 0].min() < -3.0
    assert energy_error(motion) < 1e-6
    assert motion.q @ np.array([[1, 1, 0], [0, 1, 1]]).T == pytest.approx(0.0, abs=1e-6)
