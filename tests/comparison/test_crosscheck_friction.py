"""PyBullet agrees where friction and brakes act on fewer freedoms than there are of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.comparison.agreement import Agreement
from planar_3rrr import written
from second_program import CrankRocker, Resistance
from stick_slip_cases import FOLDED, Case, crank_rocker

pytestmark = pytest.mark.slow


def require(found: Agreement) -> None:
    assert found.verdict == "agrees", found.reason
    assert len(found.orders) == 3 and all(0.7 < order < 1.3 for order in found.orders), found.orders
    assert not found.checks and "converges to our motion" in found.reason


def test_a_crank_rocker_with_friction_past_its_dead_centre() -> None:
    """1 N·m in the rocker's bearing; both programs and the second one of the tests are at one."""
    case = Case("upright", CrankRocker(), (np.pi / 2,), (10.0,), (Resistance(1, 1.0),), 0.6)
    mech, q = crank_rocker(case)
    found = mb.crosscheck(mech, 0.6, q=q, qd={"j0": 10.0})
    require(found)
    curves = found.curves
    assert curves is not None and curves.ours[-1, 0] > FOLDED + 3.0
    runs = [case.second(n).q[-1, 0] for n in (200, 400)]
    assert curves.ours[-1, 0] == pytest.approx(2 * runs[1] - runs[0], abs=1e-6)
    assert curves.bullet[-1, 0] == pytest.approx(2 * runs[1] - runs[0], abs=2e-4)


def test_a_stop_by_a_brake_on_the_rocker_alone() -> None:
    """The crank comes to rest past a dead centre, at which the brake has no hold on it."""
    system = CrankRocker()
    mech, q = crank_rocker(Case("free", system, (np.pi / 2,), (6.0,), (), 1.0))
    d_phi, d_psi, *_ = system.slopes(np.pi / 2)
    qd = {"j0": 6.0, "j1": 6.0 * (d_phi - 1.0), "j3": 6.0 * d_psi}
    brakes = [{"joint": "j3", "torque": 9.0}]
    stop = mb.estop(mech, q=q, qd=qd, brakes=brakes, limits="ignore", duration=4.0)
    assert stop.outcome == "stopped"
    assert stop.trajectory.q[-1, 0] > FOLDED
    found = mb.crosscheck(stop, step=stop.time / 512)
    require(found)


@pytest.mark.parametrize(("torques", "gravity", "rests"), [
    ((0.15, 0.05, 0.03), "[0, -9.81, 0]", False),
    ((0.4, 0.2, 0.1), "[0, 0, 0]", False),
    ((1.2, 0.8, 0.3), "[0, -9.81, 0]", True),
])  # fmt: skip
def test_a_planar_3rrr_with_friction_in_seven_joints(
    tmp_path: Path, torques: tuple[float, float, float], gravity: str, rests: bool
) -> None:
    motors, elbows, tip = torques
    scene = mb.load(written(tmp_path, motors=motors, elbows=elbows, tip=tip, gravity=gravity))
    found = mb.crosscheck(scene, 0.3, qd={"motor0": 4.0, "motor1": -3.0, "motor2": 1.0}, step=0.3 / 512)
    assert found.curves is not None
    assert (np.ptp(found.curves.ours[-3:], axis=0) < 1e-12).all() == rests
    require(found)
