"""Models of the motion benchmarks, and the same models written for the peers."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import mbplugin as mb
from mbplugin.dynamics.kernels.composite_bodies import find_composites
from mbplugin.model.brakes import AppliedForces
from mbplugin.model.mechanism import Body, Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import State
from mbplugin.model.spatial import Array, Pose, quaternion_from_rotation
from mbplugin.simulation.activation import Activation
from mbplugin.simulation.options import Options
from mbplugin.simulation.passing_marks import schedule_of
from mbplugin.simulation.problem import pose_problem
from mbplugin.simulation.runner import Runner
from mbplugin.simulation.steppers import CompiledStepper

G = np.array([0.0, 0.0, -9.81])


def pendulum(n: int = 3) -> Mechanism:
    """Planar pendulum of bars 1 m, 108 kg, in x-y, gravity along −y."""
    inertia = np.diag([0.72, 9.36, 9.36])
    bodies = tuple(Body(f"b{k}", 108.0, np.array([0.5, 0, 0]), inertia) for k in range(n))
    pairs = tuple(
        Pair(
            f"j{k + 1}",
            "revolute",
            "world" if k == 0 else f"b{k - 1}",
            f"b{k}",
            Pose(np.eye(3), np.array([1.0 if k else 0.0, 0, 0])),
            Pose.identity(),
        )
        for k in range(n)
    )
    return Mechanism("pendulum", bodies, pairs, gravity=np.array([0, -9.81, 0]))


def chain(n: int) -> Mechanism:
    """Spatial chain of n bars 0.1 m, 1 kg, neighbouring axes across each other."""
    turn = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
    bodies = tuple(Body(f"b{k}", 1.0, np.array([0.05, 0, 0]), 1e-2 * np.eye(3)) for k in range(n))
    pairs = tuple(
        Pair(
            f"j{k}",
            "revolute",
            "world" if k == 0 else f"b{k - 1}",
            f"b{k}",
            Pose(turn, np.array([0.1 if k else 0.0, 0, 0])),
            Pose.identity(),
        )
        for k in range(n)
    )
    return Mechanism("chain", bodies, pairs)


def iiwa() -> Mechanism:
    """PyBullet's KUKA iiwa on a fixed base."""
    import pybullet_data

    path = Path(pybullet_data.getDataPath()) / "kuka_iiwa" / "model.urdf"
    return mb.load(path, base="fixed").mechanism


def urdf(mech: Mechanism) -> str:
    """Return a tree of revolute joints as a URDF without shapes, damping and limits."""
    out = ['<robot name="m"><link name="base"/>']
    for k, composite in enumerate(find_composites(mech).composites, 1):
        I, c = composite.I_C, composite.p_KC  # noqa: E741
        out.append(
            f'<link name="l{k}"><inertial><origin xyz="{_text(c)}"/><mass value="{composite.mass!r}"/>'
            f'<inertia ixx="{I[0, 0]!r}" ixy="{I[0, 1]!r}" ixz="{I[0, 2]!r}" iyy="{I[1, 1]!r}"'
            f' iyz="{I[1, 2]!r}" izz="{I[2, 2]!r}"/></inertial></link>'.replace("np.float64(", "").replace(
                ")", ""
            )
        )
        parent = f"l{composite.parent}" if composite.parent else "base"
        out.append(
            f'<joint name="j{k}" type="revolute"><parent link="{parent}"/><child link="l{k}"/>'
            f'<origin xyz="{_text(composite.X_in.p)}" rpy="{_text(_rpy(composite.X_in.R))}"/><axis xyz="0 0 1"/>'
            '<limit lower="-1e6" upper="1e6" effort="1e9" velocity="1e9"/></joint>'
        )
    return "".join(out) + "</robot>"


def mjcf(mech: Mechanism, integrator: str = "RK4", step: float = 1e-3, equality: str = "") -> str:
    """Return a tree of revolute and free joints as an MJCF model without damping and contacts."""
    composites = find_composites(mech).composites
    sys.setrecursionlimit(20_000)
    children: dict[int, list[int]] = {}
    for k, composite in enumerate(composites, 1):
        children.setdefault(composite.parent, []).append(k)

    def body(k: int) -> str:
        composite = composites[k - 1]
        I = composite.I_C  # noqa: E741
        full = (I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2])
        free = composite.joint.pair is None
        joint = (
            "<freejoint/>"
            if free
            else f'<joint name="j{k}" axis="0 0 {1 if not composite.joint.reversed else -1}"/>'
        )
        w = quaternion_from_rotation(composite.X_in.R)
        return (
            f'<body name="l{k}" pos="{_text(composite.X_in.p)}" quat="{_text((w[3], w[0], w[1], w[2]))}">{joint}'
            f'<inertial pos="{_text(composite.p_KC)}" mass="{float(composite.mass)!r}" fullinertia="{_text(full)}"/>'
            + "".join(body(c) for c in children.get(k, []))
            + "</body>"
        )

    worldbody = "".join(body(k) for k in children[0])
    return (
        '<mujoco><compiler angle="radian" inertiafromgeom="false"/>'
        f'<option timestep="{step}" integrator="{integrator}" gravity="{_text(mech.gravity)}"/>'
        f"<worldbody>{worldbody}</worldbody><equality>{equality}</equality></mujoco>"
    )


def _text(values: object) -> str:
    return " ".join(repr(float(v)) for v in np.asarray(values, dtype=float))


def _rpy(R: Array) -> Array:
    return np.array(
        [
            np.arctan2(R[2, 1], R[2, 2]),
            np.arctan2(-R[2, 0], np.hypot(R[2, 1], R[2, 2])),
            np.arctan2(R[1, 0], R[0, 0]),
        ]
    )


def per_call(function: Callable[[], object], number: int = 2000, repeats: int = 15) -> float:
    """Return the best seconds per call: on a shared machine noise only adds."""
    function()
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        for _ in range(number):
            function()
        best = min(best, (time.perf_counter() - start) / number)
    return float(best)


def wall(function: Callable[[], object], repeats: int = 7) -> float:
    """Return the best wall time of a call, s."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def median(values: list[float]) -> float:
    return statistics.median(values)


def table(title: str, head: list[str], rows: list[list[str]]) -> None:
    """Print a table as Markdown."""
    print(f"\n{title}\n\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |", flush=True)


def prepared(mech: Mechanism, q: Array, qd: Array | None = None, **options: object) -> Callable[[], Array]:
    """Return a run of 1 s, from rest or from qd, that returns q(1 s); the model is built once, as the peers' are."""
    made = Options(1.0, limits="ignore", **options)  # type: ignore[arg-type]
    rates = np.zeros(len(mech.qd_names)) if qd is None else qd
    passive = AppliedForces(damping=False, friction=False)
    problem = pose_problem(mech, passive, State(q, rates), (), made)

    def run() -> Array:
        stepper = CompiledStepper(made, dense=problem.own_rank > 0)
        runner = Runner(problem, stepper, made, Activation(problem, made), schedule_of((), (), (), False))
        if runner.run() != "completed":
            raise SystemExit("a run did not come to its end")
        return runner.record.arrays()[1][-1]

    return run
