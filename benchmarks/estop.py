"""How many stops a second one core computes, and how long a sweep and a stopping table take.

    python benchmarks/estop.py [stops]

Times are those of the processor where one core is meant, of the clock where all are; machine code is
compiled before.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pybullet_data

import mbplugin as mb
from mbplugin.model.brake_law import Brake
from mbplugin.stopping.batch import CompiledStop
from mbplugin.stopping.run import make_scenario
from mbplugin.stopping.scenario import Scenario
from mbplugin.stopping.sweep.plan import FAST_PART, SweepPlan
from mbplugin.stopping.sweep.run import part_columns, sweep

ASSETS = Path(__file__).parents[1] / "assets"
TORQUES = (120.0, 120.0, 80.0, 25.0, 25.0, 15.0, 10.0)
#: What the issue of speed asks for, stops per second and core, and seconds for 10 000 stops on two cores.
LIMIT, SWEEP_LIMIT = 2000.0, 5.0


def iiwa() -> Scenario:
    """KUKA's iiwa with a brake of its own in each of its seven joints, and 5 kg."""
    scene = mb.load(pybullet_data.getDataPath() + "/kuka_iiwa/model.urdf", base="fixed")
    mech = scene.mechanism
    brakes = [
        Brake(name, torque, delay=0.01, engagement=0.02)
        for name, torque in zip(mech.q_names, TORQUES, strict=True)
    ]
    q, qd = np.array([0, 0.6, 0, -1.2, 0, 0.5, 0]), np.array([1.5, 0.5, 0.8, -1.0, 0.3, 1.0, 0.5])
    return make_scenario(mech, q, qd, brakes=brakes, payload=5.0)


def arm_6r() -> Scenario:
    """The six-axis arm of the assets, with its own brakes, and 5 kg."""
    scene = mb.load(ASSETS / "arm_6r.scene.toml")
    qd = np.array([1.5, 0.5, 0.8, -1.0, 0.3, 1.0])
    state = scene.state
    q = np.zeros(6) if state is None else np.array(state.q)
    return make_scenario(scene, q, qd, payload=5.0)


def one_core(name: str, whole: Scenario, stops: int) -> None:
    for what, qd in (
        ("all joints move", whole.qd),
        ("one joint moves", whole.qd * (np.arange(len(whole.qd)) == 0)),
    ):
        kernel_state = CompiledStop(whole)
        result = kernel_state.stop(whole.q, qd)
        least = np.inf
        for _ in range(5):
            begun = time.process_time()
            for _ in range(stops // 5):
                kernel_state.stop(whole.q, qd)
            least = min(least, (time.process_time() - begun) / (stops // 5))
        print(
            f"{name}, {what}: {1 / least:.0f} stops/s per core ({1 / least / LIMIT:.2f} x the limit),"
            f" {1e3 * least:.2f} ms each, {result.evaluations} evaluations,"
            f" rests after {result.time:.3f} s ({result.outcome})"
        )


def parts(name: str, scenario: Scenario) -> None:
    """Compute parts of a sweep as each of its processes does: drawn, stopped, and made columns."""
    plan = SweepPlan(scenario, 20_000, 1, None, 0.3, (0.2, 1.0), 0.2, 0.2, (0.0, 1.0), part=FAST_PART)
    part_columns(plan, 0)
    least = np.inf
    for part in range(1, 7):
        begun = time.process_time()
        part_columns(plan, part)
        least = min(least, (time.process_time() - begun) / plan.part)
    print(f"{name}, parts of a sweep: {1 / least:.0f} stops/s per core, {1e6 * least:.0f} µs each")


def worst() -> None:
    scene = mb.load(ASSETS / "arm_6r.scene.toml")
    mb.worst_stop(scene, payload=5.0, axes=["j1"], samples=30)
    begun = time.process_time()
    found = mb.worst_stop(scene, payload=5.0)
    print(f"worst stops of arm_6r: {found.count} stops in {time.process_time() - begun:.2f} s")


def whole_sweep(stops: int, category: int) -> None:
    scenario = replace(arm_6r(), category=category)
    plan = SweepPlan(scenario, stops, 1, None, 0.3, (0.2, 1.0), 0.2, 0.2, (0.0, 1.0), part=FAST_PART)
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        report = sweep(plan, folder)
        spent = time.perf_counter() - begun
    rate = f"{stops / spent:.0f} stops/s, {spent * 10_000 / stops / SWEEP_LIMIT:.2f} x the limit"
    print(
        f"sweep of {stops} stops of category {category}: {spent:.1f} s by the clock, {rate}; {report.outcomes}"
    )


def table() -> None:
    scene = mb.load(pybullet_data.getDataPath() + "/kuka_iiwa/model.urdf", base="fixed")
    begun = time.perf_counter()
    rows = len(mb.stopping_table(scene, payload=7.0).rows)
    print(f"stopping table of the iiwa: {rows} rows in {time.perf_counter() - begun:.2f} s")


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    one_core("arm_6r", arm_6r(), 500)
    one_core("iiwa", iiwa(), 500)
    parts("arm_6r", arm_6r())
    parts("iiwa", iiwa())
    worst()
    table()
    for category in (0, 1, 2):
        whole_sweep(count, category)
