"""Without a compiler the kernels run as plain Python, with the same numbers."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.dynamics.kernels import articulated
from mbplugin.model.brake_law import Brake
from mbplugin.processes.supervised import INTERRUPTED
from mbplugin.stopping.batch import CompiledStop
from mbplugin.stopping.many import StopStarts
from mbplugin.stopping.run import make_scenario
from own_process import python
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
    plain = python("-c", code, folder=str(Path(__file__).parent), NUMBA_DISABLE_JIT="1")
    assert plain.returncode == 0 and not plain.stderr, plain.stderr
    interpreted, compiled = json.loads(plain.stdout), numbers()
    assert interpreted.keys() == compiled.keys()
    for name, values in compiled.items():
        assert interpreted[name] == pytest.approx(values, rel=1e-12, abs=1e-12), name


@pytest.mark.long
def test_nothing_is_compiled_in_advance() -> None:
    done = python("-m", "mbplugin", "warmup", timeout=60, NUMBA_DISABLE_JIT="1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "mbplugin: NUMBA_DISABLE_JIT is set, so nothing is compiled; unset it.\n"


@pytest.mark.long
def test_quitting_the_debugger_in_a_kernel_ends_the_command() -> None:
    tree = ast.parse(Path(articulated.__file__).read_text())
    (inward,) = (one for one in tree.body if isinstance(one, ast.FunctionDef) and one.name == "inward")
    ended = python(
        *("-m", "pdb", "-m", "mbplugin", "simulate", FOUR_BAR, "--duration", "0.01"),
        typed=f"b {articulated.__file__}:{inward.body[1].lineno}\nc\nq\nq\n",
        NUMBA_DISABLE_JIT="1",
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "inward()" in ended.stdout and f"Exit status: {INTERRUPTED}" in ended.stdout
