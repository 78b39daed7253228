"""Dry friction and brakes against a second program: fine time stepping, within the error of its step."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.model.spatial import Array
from second_program import Arm, CrankRocker, Motion, Resistance, move
from stick_slip_cases import FOLDED, STRETCHED, Case, arms, crank_rocker, crank_rockers, freedoms

pytestmark = pytest.mark.no_invariants(
    "samples at equal intervals fall on instants at which friction changes its sense: its force is either"
)

#: Steps of the second program in one interval, at the coarsest of four steps.
REFINEMENT = 16
#: What is left of a mechanism that does not move at all: rad, rad/s, J.
NO_FORCES = 1e-9
ARM = Arm(0.5, (2.0, 1.0), (0.2, 0.3), (0.05, 0.02), (0.0, -9.81))


def columns(motion: Motion) -> Array:
    return np.column_stack([motion.q, motion.v, motion.work.sum(axis=1)])


def require_same(case: Case, refinement: int = REFINEMENT, **options: object) -> mb.Trajectory:
    """Require our freedoms, rates and dissipated energy to be those of the second program.

    Its finest motion of four is off by as much as the last halving of the step has changed it; and
    extrapolated to step zero by as much as that has changed. Where a joint comes to rest or slips within
    a step the error is not even, so a halving may change less by chance, and the one before counts too.
    """
    runs = [columns(case.second(refinement * k)) for k in (1, 2, 4, 8)]
    ours = case.ours(**options)
    own = np.column_stack(freedoms(case, ours)[1:])
    steps = [np.abs(b - a).max(axis=0) for a, b in pairwise(runs)]
    error = np.maximum(steps[2], steps[1] / 2)
    off = np.abs(own - runs[3]).max(axis=0)
    assert (off <= 2 * error + NO_FORCES).all(), (off, error)
    limits = [2 * b - a for a, b in pairwise(runs)]
    changes = [np.abs(b - a).max() for a, b in pairwise(limits)]
    left, changed = np.abs(own - limits[2]).max(), max(changes[1], changes[0] / 2)
    assert left <= 2 * changed + 2e-3 * error.max() + NO_FORCES, (left, changed)
    return ours


def kinetic(system: Arm | CrankRocker, q: Array, v: Array) -> float:
    M = np.array(system.equations(q.tolist(), v.tolist())[0])
    return float(0.5 * v @ M @ v)


def test_the_second_program_slides_to_rest_as_by_hand() -> None:
    """One stiff body of 0.05 + 2·0.2² + 0.02 + 1·0.8² = 0.79 kg·m², 2 N·m against 3 rad/s: 1.185 s."""
    free = Arm(0.5, ARM.mass, ARM.centre, ARM.inertia, (0.0, 0.0))
    both = [Resistance(0, 2.0), Resistance(1, 1e3)]
    motion = move(free, (0.3, 0.0), (3.0, 0.0), both, 1.5, samples=15, refinement=2000)
    rest, travel = 0.79 * 3.0 / 2.0, 0.79 * 9.0 / 4.0
    assert motion.q[-1] == pytest.approx([0.3 + travel, 0.0], abs=2e-4)
    assert (motion.v[motion.time > rest] == 0).all() and motion.v[11, 0] > 0
    assert motion.work[-1] == pytest.approx([2.0 * travel, 0.0], abs=4e-4)


def test_the_second_program_holds_up_to_the_torque_of_a_weight_and_not_beyond() -> None:
    """Stretched out to the right the weights pull with 2·9.81·0.2 + 9.81·0.8 and 9.81·0.3 N·m."""
    shoulder, elbow = 9.81 * 1.2, 9.81 * 0.3
    for share, falls in ((1.001, False), (0.999, True)):
        held = [Resistance(0, 100.0), Resistance(1, share * elbow)]
        assert move(ARM, (0.0, 0.0), (0.0, 0.0), held, 0.1, samples=4, refinement=9).v[-1].any() == falls
        held = [Resistance(0, share * shoulder), Resistance(1, 100.0)]
        assert move(ARM, (0.0, 0.0), (0.0, 0.0), held, 0.1, samples=4, refinement=9).v[-1].any() == falls


def test_the_second_program_keeps_energy_without_friction() -> None:
    for system, q, v in ((CrankRocker(), (0.4,), (7.0,)), (ARM, (0.5, 1.0), (2.0, -3.0))):
        still = (
            system if isinstance(system, CrankRocker) else Arm(0.5, ARM.mass, ARM.centre, ARM.inertia, (0, 0))
        )
        joint_frames = [move(still, q, v, [], 0.8, samples=1, refinement=n) for n in (1000, 2000)]
        start = kinetic(still, np.array(q), np.array(v))
        off = [kinetic(still, m.q[-1], m.v[-1]) - start for m in joint_frames]
        assert abs(2 * off[1] - off[0]) < 1e-3 * abs(off[0]) + 1e-4 * start
        assert 1.9 < off[0] / off[1] < 2.1


@pytest.mark.parametrize("crank", [0.3, STRETCHED, 1.9, FOLDED, 5.0])
def test_the_slopes_of_the_second_program_are_finite_differences(crank: float) -> None:
    rocker, e = CrankRocker(), 1e-5
    before, after = (np.array([*rocker.angles(x), *rocker.slopes(x)[:2]]) for x in (crank - e, crank + e))
    assert rocker.slopes(crank) == pytest.approx((after - before) / (2 * e), abs=1e-8)
    if crank in (STRETCHED, FOLDED):
        assert rocker.slopes(crank)[1] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("case", [arms()[9], crank_rockers()[4]], ids=lambda case: case.name)
def test_half_the_step_of_the_second_program_is_half_the_error(case: Case) -> None:
    runs = [columns(case.second(n)) for n in (32, 64, 128, 256)]
    changes = [np.abs(b - a).max(axis=0) for a, b in pairwise(runs)]
    for coarse, fine in pairwise(changes):
        assert (coarse / fine > 1.9).all() and (coarse / fine < 2.1).all()


@pytest.mark.long_after(5)
@pytest.mark.parametrize("case", arms(), ids=lambda case: case.name)
def test_an_arm_sticks_and_slips_as_in_the_second_program(case: Case) -> None:
    require_same(case)


@pytest.mark.long_after(6)
@pytest.mark.parametrize("case", crank_rockers(), ids=lambda case: case.name)
def test_a_crank_rocker_sticks_and_slips_as_in_the_second_program(case: Case) -> None:
    require_same(case)


@pytest.mark.long
def test_the_arms_stick_slip_and_are_braked_at_one_instant() -> None:
    """The cases above are not tame ones."""
    kinds: Counter[str] = Counter()
    for case in arms():
        kinds.update(event.kind for event in case.ours().events)
    assert kinds["stick"] >= 30 and kinds["slip"] >= 5 and kinds["brake"] >= 25, kinds
    closing = [[r.closes for r in case.resistances if r.closes] for case in (*arms(), *crank_rockers())]
    assert sum(len(times) == 2 and times[0] == times[1] for times in closing) >= 10
    assert sum(len(times) == 2 and times[0] != times[1] for times in closing) >= 10


UPRIGHT = Case("upright", CrankRocker(), (np.pi / 2,), (10.0,), (Resistance(1, 1.0),), 2.0)


@pytest.mark.parametrize(
    "options", [{}, {"integrator": "rk4", "step": 1e-3}, {"integrator": "rodas5p"}, {"readable": True}]
)
def test_friction_in_the_rocker_outlives_the_dead_centres(options: dict[str, object]) -> None:
    """1 N·m in the rocker's bearing takes 5.449 J out of 26.21 J in 2 s, past 6 dead centres."""
    ours = require_same(UPRIGHT, 32, **options)
    joint_frames = [UPRIGHT.second(n).work[-1, 0] for n in (64, 128)]
    assert 2 * joint_frames[1] - joint_frames[0] == pytest.approx(5.44897, abs=5e-5)
    assert ours.dissipated[-1] == pytest.approx(2 * joint_frames[1] - joint_frames[0], rel=1e-4)


@pytest.mark.long
def test_a_brake_on_the_rocker_alone_stops_the_crank() -> None:
    """3 N·m stop it after 5.765 s, and take all of its 26.21 J."""
    case = Case("stop", UPRIGHT.system, UPRIGHT.q, UPRIGHT.v, (Resistance(1, 3.0),), 6.0)
    assert isinstance(case.system, CrankRocker)
    start = kinetic(case.system, np.array(case.q), np.array(case.v))
    rests = []
    for steps in (12_000, 24_000):
        motion = move(case.system, case.q, case.v, case.resistances, 6.0, samples=steps, refinement=1)
        rests.append(float(motion.time[np.flatnonzero(motion.v[:, 0])[-1]]))
    rest = 2 * rests[1] - rests[0]
    assert rest == pytest.approx(5.7652, abs=2e-3)
    mech, q = crank_rocker(Case("free", case.system, case.q, case.v, (), 6.0))
    d_phi, d_psi, *_ = case.system.slopes(case.q[0])
    qd = {"j0": 10.0, "j1": 10.0 * (d_phi - 1.0), "j3": 10.0 * d_psi}
    report = mb.estop(
        mech, q=q, qd=qd, brakes=[{"joint": "j3", "torque": 3.0}], limits="ignore", duration=7.0
    )
    assert report.outcome == "stopped"
    assert report.time == pytest.approx(rest, abs=2e-3)
    assert report.joint("j3").brake_energy == pytest.approx(start, rel=1e-4)
    assert abs(report.energies.losses) < 1e-6 * start
