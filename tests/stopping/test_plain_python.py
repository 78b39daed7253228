"""Without a compiler the kernels run as plain Python, with the same numbers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.model.brake_law import Brake
from mbplugin.stopping.batch import CompiledStop
from mbplugin.stopping.many import StopStarts
from mbplugin.stopping.run import make_scenario
from rod_arms import arm

ROOT = Path(__file__).resolve().parents[2]
FOUR_BAR = str(ROOT / "assets" / "four_bar.scene.toml")
STEPS: dict[str, Any] = {"rk4": {"step": 0.005}, "variational": {"step": 0.005}}


def ended(trajectory: mb.Trajectory) -> list[float]:
    """The time, state and energy at the end of a motion."""
    last = np.concatenate((trajectory.q[-1], trajectory.qd[-1], trajectory.qdd[-1]))
    return [float(len(trajectory.time)), *last.tolist()]


def numbers() -> dict[str, list[float]]:
    """Motions, stops and accelerations by name."""
    out = {"pendulum": ended(mb.simulate(arm((0.5,)), 0.05, q=[0.3], qd=[1.0]))}
    for integrator in ("dopri5", "rodas5p", *STEPS):
        motion = mb.simulate(
            FOUR_BAR, 0.02, qd={"j0": 2.0}, integrator=integrator, **STEPS.get(integrator, {})
        )
        out[integrator] = ended(motion)
    out["absolute"] = ended(mb.simulate(FOUR_BAR, 0.02, qd={"j0": 2.0}, coordinates="absolute"))
    rods, brakes = arm((0.5, 0.4)), [Brake("j0", 90.0, viscous=0.5, delay=0.01), Brake("j1", 8.0)]
    report = mb.estop(rods, [0.3, 0.5], [1.0, 0.5], brakes=brakes, rtol=1e-6, atol=1e-8)
    out["stop"] = [report.time, *report.trajectory.q[-1].tolist()]
    stops = CompiledStop(make_scenario(rods, [0.3, 0.5], [1.0, 0.5], brakes=brakes, payload=2.0))
    q, one = np.array([[0.3, 0.5], [-0.2, 1.0]]), np.ones((2, 2))
    starts = StopStarts(q, np.array([[1.0, 0.5], [0.5, -0.5]]), one, one, one[0])
    several = stops.stops(starts, stops.scenario.brakes, stops.scenario.actions.payloads)
    out["side by side"] = [*several.times.tolist(), *several.ended["tool_distance"].tolist()]
    out["side by side"] += several.joints.ravel().tolist()
    forward, inverse = mb.ForwardDynamics(rods), mb.InverseDynamics(rods)
    out["accelerations"] = [*forward(q[0], q[1], q[1]).tolist(), *forward.many(q, q, q).ravel().tolist()]
    out["forces"] = [*inverse(q[0], q[1], q[1]).tolist(), *inverse.many(q, q, q).ravel().tolist()]
    return out


@pytest.mark.long
def test_the_numbers_are_those_of_the_compiled_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mbplugin.stopping.batch.LEAST_IN_LANES", 1)
    code = (
        "import json, test_plain_python as own, mbplugin.stopping.batch as batch\n"
        "batch.LEAST_IN_LANES = 1\nprint(json.dumps(own.numbers()))"
    )
    path = os.pathsep.join(map(str, (ROOT, Path(__file__).parent, ROOT / "tests" / "support")))
    plain = subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True,
        text=True,
        check=False,
        timeout=280,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path},
    )
    assert plain.returncode == 0 and not plain.stderr, plain.stderr
    interpreted, compiled = json.loads(plain.stdout), numbers()
    assert interpreted.keys() == compiled.keys()
    for name, values in compiled.items():
        assert interpreted[name] == pytest.approx(values, rel=1e-12, abs=1e-12), name


@pytest.mark.long
def test_nothing_is_compiled_in_advance() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "mbplugin", "warmup"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)},
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "mbplugin: NUMBA_DISABLE_JIT is set, so nothing is compiled; unset it.\n"
