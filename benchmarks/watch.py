"""Cost of a watch per step: a standing Minitaur in DIRECT, an update after every step.

    python benchmarks/watch.py

Prints the time of PyBullet's step and of the update after it, without and with a log; then that of the intervals,
which are computed only when they are asked for. Times are of the thread, since other programs delay the clock on the
wall; its median is beside them.
"""

from __future__ import annotations

import argparse
import math
import tempfile
from pathlib import Path
from time import perf_counter, thread_time

import numpy as np
import pybullet as p
import pybullet_data

import mbplugin as mb


def minitaur(client: int) -> None:
    """Put PyBullet's Minitaur on a plane, with closed legs and held motors."""
    own = {"physicsClientId": client}
    p.setAdditionalSearchPath(pybullet_data.getDataPath(), **own)
    p.setGravity(0, 0, -9.81, **own)
    p.setTimeStep(1 / 500, **own)
    p.loadURDF("plane.urdf", **own)
    robot = p.loadURDF("quadruped/minitaur.urdf", [0, 0, 0.2], **own)
    index = {p.getJointInfo(robot, j, **own)[1].decode(): j for j in range(p.getNumJoints(robot, **own))}
    for leg, way in (("front_left", -1), ("back_left", -1), ("front_right", 1), ("back_right", 1)):
        for side in "LR":
            motor, knee = index[f"motor_{leg}{side}_joint"], index[f"knee_{leg}{side}_link"]
            p.resetJointState(robot, motor, way * math.pi / 2, **own)
            p.resetJointState(robot, knee, -way * 2.1834, **own)
            p.setJointMotorControl2(robot, motor, p.POSITION_CONTROL, way * math.pi / 2, force=20, **own)
            p.setJointMotorControl2(robot, knee, p.VELOCITY_CONTROL, force=0, **own)
        feet = index[f"knee_{leg}R_link"], index[f"knee_{leg}L_link"]
        pivots = [0, 0.005, 0.2], [0, 0.01, 0.2]
        p.createConstraint(robot, feet[0], robot, feet[1], p.JOINT_POINT2POINT, [0, 0, 0], *pivots, **own)


def timed(client: int, steps: int, log: Path | None) -> None:
    """Print the times of steps and updates."""
    with mb.watch(client, log=log) as watch:
        p.stepSimulation(physicsClientId=client)
        begun = perf_counter()
        watch.update()
        first = perf_counter() - begun
        times = []
        for _ in range(steps):
            a = thread_time()
            p.stepSimulation(physicsClientId=client)
            b, wall = thread_time(), perf_counter()
            watch.update()
            times.append((b - a, thread_time() - b, perf_counter() - wall))
        step, update, wall_time = 1e3 * np.median(times, axis=0)
        fast = 1e3 * np.quantile([one[1] for one in times], 0.1)
        slow = 1e3 * np.quantile([one[1] for one in times], 0.95)
        print(
            f"{'with a log' if log else 'without a log':>14}: {len(watch.latest.numbers.reading.touching)} contacts, "
            f"first update {1e3 * first:.0f} ms; step {step:.2f} ms, update {update:.2f} ms (95 % below {slow:.2f}; "
            f"a tenth below {fast:.2f}; wall {wall_time:.2f})"
        )
        begun = perf_counter()
        _ = watch.latest.intervals
        if log is None:
            print(f"{'intervals':>14}: {1e3 * (perf_counter() - begun):.0f} ms, only when they are asked for")


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1000)
    steps = parser.parse_args().steps
    client = p.connect(p.DIRECT)
    minitaur(client)
    for _ in range(500):
        p.stepSimulation(physicsClientId=client)
    timed(client, steps, None)
    with tempfile.TemporaryDirectory() as folder:
        timed(client, steps, Path(folder) / "watch.csv")
    p.disconnect(client)


if __name__ == "__main__":
    main()
