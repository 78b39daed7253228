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

import numpy as np
import pybullet_data

import mbplugin as mb
from mbplugin.model.scene import Brake
from mbplugin.stopping.compiled.batch import CompiledStop
from mbplugin.stopping.run import make_scenario
from mbplugin.stopping.scenario.scenario import Scenario
from mbplugin.stopping.sweep.plan import SweepPlan
from mbplugin.stopping.sweep.run import sweep

JOINTS = 6
TORQUES = (120.0, 120.0, 80.0, 25.0, 25.0, 15.0)


def scenario() -> Scenario:
    """A six-axis arm: the first six joints of the KUKA iiwa, the last one held by its inertia alone."""
    scene = mb.load(pybullet_data.getDataPath() + "/kuka_iiwa/model.urdf", base="fixed")
    mech = scene.mechanism
    last = mech.pairs[-1]
    mech = replace(mech, pairs=(*mech.pairs[:-1], replace(last, type="fixed", freedoms=())))
    brakes = [
        Brake(name, torque, viscous=2.0, delay=0.01, engagement=0.02)
        for name, torque in zip(mech.q_names, TORQUES, strict=True)
    ]
    q, qd = np.array([0, 0.6, 0, -1.2, 0, 0.5]), np.array([1.5, 0.5, 0.8, -1.0, 0.3, 1.0])
    return make_scenario(mech, q, qd, brakes=brakes, payload=5.0)


def one_core(stops: int) -> None:
    whole = scenario()
    for name, qd in (("all joints move", whole.qd), ("one joint moves", whole.qd * np.eye(JOINTS)[0])):
        kernel_state = CompiledStop(whole)
        result = kernel_state.stop(whole.q, qd)
        begun = time.process_time()
        for _ in range(stops):
            kernel_state.stop(whole.q, qd)
        spent = (time.process_time() - begun) / stops
        print(
            f"{name}: {1 / spent:.0f} stops/s per core, {1e3 * spent:.2f} ms each,"
            f" {result.evaluations} evaluations, rests after {result.time:.3f} s ({result.outcome})"
        )


def whole_sweep(stops: int) -> None:
    plan = SweepPlan(scenario(), stops, 1, None, 0.3, (0.2, 1.0), 0.2, 0.2, (0.0, 1.0))
    with tempfile.TemporaryDirectory() as folder:
        begun = time.perf_counter()
        report = sweep(plan, folder)
        spent = time.perf_counter() - begun
    rate = f"{stops / spent:.0f} stops/s"
    print(f"sweep of {stops} stops on all cores: {spent:.1f} s by the clock, {rate}; {report.outcomes}")


def table() -> None:
    scene = mb.load(pybullet_data.getDataPath() + "/kuka_iiwa/model.urdf", base="fixed")
    begun = time.perf_counter()
    rows = len(mb.stopping_table(scene, payload=7.0).rows)
    print(f"stopping table of the iiwa: {rows} rows in {time.perf_counter() - begun:.2f} s")


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    one_core(500)
    table()
    whole_sweep(count)
