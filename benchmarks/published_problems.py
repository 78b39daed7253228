"""Published problems in other programs: how near do they come, and what does it cost?

    python benchmarks/published_problems.py

Each row is one motion of a model that has been built before: the best processor seconds of three runs, and the error
at the end against the reference of ``examples/benchmarks``. Ours are the tolerances of that folder. Programs that are
not installed (``mujoco``, ``exudyn``) are left out. The last column compares with the fastest of our rows whose error
is no larger, or else with our first.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"
FOLDER = Path(__file__).resolve().parent.parent / "examples" / "benchmarks"
sys.path.insert(0, str(FOLDER))

import by_hand  # noqa: E402
import numpy as np  # noqa: E402

import mbplugin as mb  # noqa: E402

sys.exudynFast = True  # type: ignore[attr-defined]  # its build without range checks
Found = tuple[str, str, float, float]
#: What a program returns that ran a motion: seconds and its end.
Run = Callable[[], np.ndarray]


def seconds(run: Run, before: Callable[[], Any] = lambda: None) -> tuple[float, np.ndarray]:
    best, end = np.inf, np.zeros(0)
    for _ in range(3):
        before()
        start = time.process_time()
        end = run()
        best = min(best, time.process_time() - start)
    return best, end


def row(program: str, setting: str, run: Run, exact: Any, before: Callable[[], Any] = lambda: None) -> Found:
    spent, end = seconds(run, before)
    return program, setting, float(np.abs(end - np.asarray(exact)).max()), spent


def ours(
    name: str, duration: float, pick: Callable[[Any], Any], exact: Any, rtol: float, **options: Any
) -> Found:
    scene = mb.load(FOLDER / f"{name}.scene.toml")

    def run() -> np.ndarray:
        return np.asarray(pick(mb.simulate(scene, duration, rtol=rtol, atol=rtol / 100, **options)))

    return row("mbplugin", f"{rtol:g}", run, exact)


def mujoco(
    xml: str, duration: float, start: tuple[Any, Any], pick: Callable[[Any], Any], exact: Any
) -> Iterator[Found]:
    if find_spec("mujoco") is None:
        return
    import mujoco as mj

    for step in (1e-3, 1e-4):
        model = mj.MjModel.from_xml_string(xml.replace("STEP", f"{step}"))
        data = mj.MjData(model)

        def before(model: Any = model, data: Any = data) -> None:
            mj.mj_resetData(model, data)
            data.qpos[:], data.qvel[:] = start

        def run(model: Any = model, data: Any = data, step: float = step) -> np.ndarray:
            mj.mj_step(model, data, nstep=round(duration / step))
            return np.array(pick(data))

        yield row("MuJoCo, RK4", f"{step:g} s", run, exact, before)


def exudyn(
    build: Callable[[Any, Any], Callable[[], Any]], duration: float, exact: Any, redundant: bool = False
) -> Iterator[Found]:
    if find_spec("exudyn") is None:
        return
    import exudyn as exu

    for step in (1e-3, 1e-4):
        container = exu.SystemContainer()
        system = container.AddSystem()
        pick = build(exu, system)
        system.Assemble()
        settings = exu.SimulationSettings()
        settings.timeIntegration.numberOfSteps = round(duration / step)
        settings.timeIntegration.endTime = duration
        settings.timeIntegration.verboseMode = 0
        settings.timeIntegration.newton.useModifiedNewton = True
        settings.timeIntegration.generalizedAlpha.computeInitialAccelerations = True
        settings.timeIntegration.generalizedAlpha.spectralRadius = 0.95
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = 1e9
        settings.parallel.numberOfThreads = 1
        if redundant:
            settings.linearSolver.solverType = exu.LinearSolverType.EigenDense
            settings.linearSolver.ignoreSingularJacobian = True

        def run(system: Any = system, settings: Any = settings, pick: Any = pick) -> np.ndarray:
            try:
                system.SolveDynamic(settings)
            except exu.SolverError:
                return np.asarray(exact) + np.nan
            return np.asarray(pick())

        yield row("Exudyn, generalised α", f"{step:g} s", run, exact)


HEAD = '<mujoco><option timestep="STEP" integrator="RK4" gravity="{}"><flag contact="disable"/></option>'
PENDULUM = HEAD.format("0 -9.81 0") + (
    '<worldbody><body><joint name="h" axis="0 0 1"/><inertial pos="1 0 0" mass="1" diaginertia="1e-14 1e-14 1e-14"/>'
    "</body></worldbody></mujoco>"
)
TOP = HEAD.format("0 0 -9.81") + (
    '<worldbody><body><joint type="ball"/><inertial pos="0 1 0" mass="15" diaginertia="0.234375 0.46875 0.234375"/>'
    "</body></worldbody></mujoco>"
)
BODY = HEAD.format("0 0 0") + (
    '<worldbody><body><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 2 2.5"/></body></worldbody></mujoco>'
)


def exudyn_pendulum(exu: Any, system: Any) -> Callable[[], Any]:
    from exudyn import itemInterface as items

    ground = system.AddObject(items.ObjectGround())
    node = system.AddNode(items.NodePoint2D(referenceCoordinates=[-1, 0]))
    system.AddObject(items.MassPoint2D(mass=1, nodeNumber=node))
    ends = [
        system.AddMarker(items.MarkerBodyPosition(bodyNumber=ground, localPosition=[0, 0, 0])),
        system.AddMarker(items.MarkerNodePosition(nodeNumber=node)),
    ]
    system.AddObject(items.DistanceConstraint(markerNumbers=ends, distance=1))
    system.AddLoad(items.Force(markerNumber=ends[1], loadVector=[0, -9.81, 0]))

    def angle() -> list[float]:
        x, y, _ = system.GetNodeOutput(node, exu.OutputVariableType.Position)
        return [np.arctan2(x, -y)]

    return angle


def exudyn_windows(exu: Any, system: Any) -> Callable[[], Any]:
    from exudyn import itemInterface as items

    ground = system.AddObject(items.ObjectGround())
    upright, level = 0.5 * np.pi, 0.0
    places = [(0, 0.5, upright), (0.5, 1, level), (1, 0.5, upright), (1.5, 1, level), (2, 0.5, upright)]
    ends = []
    for x, y, angle in places:
        rates = [0.5, 0, -1] if angle else [1, 0, 0]
        node = system.AddNode(
            items.NodeRigidBody2D(referenceCoordinates=[x, y, angle], initialVelocities=rates)
        )
        body = system.AddObject(items.RigidBody2D(nodeNumber=node, mass=1, inertia=1 / 12))
        mass = system.AddMarker(items.MarkerBodyMass(bodyNumber=body))
        system.AddLoad(items.LoadMassProportional(markerNumber=mass, loadVector=[0, -9.81, 0]))
        ends.append(
            [
                system.AddMarker(items.MarkerBodyPosition(bodyNumber=body, localPosition=[side, 0, 0]))
                for side in (-0.5, 0.5)
            ]
        )
    feet = [
        system.AddMarker(items.MarkerBodyRigid(bodyNumber=ground, localPosition=[x, 0, 0])) for x in range(3)
    ]
    left, first, middle, second, right = ends
    for pair in (
        *((foot, rod[0]) for foot, rod in zip(feet, (left, middle, right), strict=True)),
        *((left[1], first[0]), (first[1], second[0]), (middle[1], second[0]), (second[1], right[1])),
    ):
        system.AddObject(items.RevoluteJoint2D(markerNumbers=list(pair)))
    return lambda: system.GetNodeOutput(0, exu.OutputVariableType.Position)[:2]


def exudyn_bricard(exu: Any, system: Any) -> Callable[[], Any]:
    from exudyn.utilities import InertiaCuboid, ObjectGround

    corners = np.array([[0, 0, 0], [1, 0, 0], [1, -1, 0], [1, -1, 1], [0, -1, 1], [0, 0, 1]], dtype=float)
    axes = [[0, 1, 0], [0, 0, 1], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
    ground = last = system.AddObject(ObjectGround())
    bodies = []
    for k in range(5):
        sides = np.where(np.abs(corners[k + 1] - corners[k]) > 0.5, 1.0, 0.1)
        body = system.CreateRigidBody(
            inertia=InertiaCuboid(density=100, sideLengths=list(sides)),
            referencePosition=list(0.5 * (corners[k] + corners[k + 1])),
            gravity=[0, -9.81, 0],
        )
        system.CreateRevoluteJoint(itemNumbers=[last, body], position=list(corners[k]), axis=axes[k])
        bodies.append(body)
        last = body
    system.CreateGenericJoint(
        itemNumbers=[last, ground], position=list(corners[5]), constrainedAxes=[1, 1, 1, 0, 1, 1]
    )
    return lambda: system.GetObjectOutputBody(bodies[1], exu.OutputVariableType.Position)


def exudyn_coin(exu: Any, system: Any) -> Callable[[], Any]:
    from exudyn.utilities import (
        MarkerBodyRigid,
        ObjectGround,
        ObjectJointRollingDisc,
        RigidBodyInertia,
        RotationMatrixY,
    )

    lean, radius, spin = np.pi / 180, 0.01, [0.0, 0.0, 10 * np.pi]
    centre = radius * np.array([np.sin(lean), 0.0, np.cos(lean)])
    coin = system.CreateRigidBody(
        inertia=RigidBodyInertia(mass=1, inertiaTensor=np.diag([5e-5, 2.5e-5, 2.5e-5])),
        referencePosition=list(centre),
        referenceRotationMatrix=RotationMatrixY(lean),
        initialAngularVelocity=spin,
        initialVelocity=list(np.cross(spin, centre)),
        gravity=[0, 0, -9.81],
        nodeType=exu.NodeType.RotationEulerParameters,
    )
    ground = system.AddObject(ObjectGround())
    both = [system.AddMarker(MarkerBodyRigid(bodyNumber=body)) for body in (ground, coin)]
    system.AddObject(ObjectJointRollingDisc(markerNumbers=both, constrainedAxes=[1, 1, 1], discRadius=radius))
    return lambda: system.GetObjectOutputBody(coin, exu.OutputVariableType.Position)


def exudyn_slider_crank(exu: Any, system: Any) -> Callable[[], Any]:
    from exudyn import itemInterface as items

    rod_angle = -np.pi / 6
    slider = np.cos(rod_angle)
    ground = system.AddObject(items.ObjectGround())
    bodies = []
    # the rod's mass is at the slider, which needs no body of its own
    for place, mass, inertia in (([0, 0, np.pi / 2], 1, 1), ([slider, 0, rod_angle], 1, 2)):
        node = system.AddNode(items.NodeRigidBody2D(referenceCoordinates=place))
        bodies.append(system.AddObject(items.RigidBody2D(nodeNumber=node, mass=mass, inertia=inertia)))
    crank, rod = bodies

    def marker(body: int, along: float) -> int:
        return int(system.AddMarker(items.MarkerBodyPosition(bodyNumber=body, localPosition=[along, 0, 0])))

    for pair in ((marker(ground, 0), marker(crank, 0)), (marker(crank, 0.5), marker(rod, -1))):
        system.AddObject(items.RevoluteJoint2D(markerNumbers=list(pair)))
    level = [
        system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=number, coordinate=coordinate))
        for number, coordinate in (
            (system.AddNode(items.NodePointGround()), 0),
            (1, 1),
        )
    ]
    system.AddObject(items.CoordinateConstraint(markerNumbers=level))
    middles = [marker(crank, 0.25), marker(rod, -0.5)]
    system.AddObject(items.SpringDamper(markerNumbers=middles, stiffness=1, damping=1, referenceLength=1))
    system.AddLoad(items.Force(markerNumber=marker(rod, 1), loadVector=[1, 0, 0]))
    return lambda: [np.pi / 2 + system.GetNodeOutput(0, exu.OutputVariableType.Coordinates)[2]]


def problems() -> Iterator[tuple[str, list[Found]]]:
    end = by_hand.swinging(np.array([10.0]), 1.0)
    yield (
        "A01, pendulum: angle after 10 s, rad",
        [
            ours("pendulum", 10.0, lambda m: m.q[-1] - 1.5 * np.pi, end, 1e-10),
            *mujoco(PENDULUM, 10.0, ([np.pi], [0]), lambda d: d.qpos - 1.5 * np.pi, end),
            *exudyn(exudyn_pendulum, 10.0, end),
        ],
    )
    turned = by_hand.turning(np.array([10.0]), 3.5 * by_hand.G / 3, 1.0)[0]
    middle = [0.5 * np.sin(turned), 0.5 * np.cos(turned)]
    yield (
        "A02, two windows: middle of the left crank after 10 s, m",
        [
            ours("double_four_bar", 10.0, lambda m: m.point("left", (0, 0, 0)).p_W[-1, :2], middle, 1e-10),
            *exudyn(exudyn_windows, 10.0, middle),
        ],
    )
    x, _ = by_hand.one_freedom(by_hand.bricard, np.array([0.0, -by_hand.G, 0.0]), 0.0, 10.0)
    rod = by_hand.bricard(x)[1][3]
    yield (
        "A04, Bricard: middle of the second rod after 10 s, m",
        [
            ours("bricard", 10.0, lambda m: m.point("2", (0, 0, 0)).p_W[-1], rod, 1e-10),
            *exudyn(exudyn_bricard, 10.0, rod, redundant=True),
        ],
    )
    end = by_hand.damped_slider_crank(10.0)[:1]
    yield (
        "slider-crank of SUNDIALS: crank angle after 10 s, rad",
        [
            ours("sundials_slider_crank", 10.0, lambda m: m.q[-1, :1], end, 1e-10),
            *exudyn(exudyn_slider_crank, 10.0, end),
        ],
    )
    qd = {"coin.wx": 0.0, "coin.wy": 0.0, "coin.wz": 10 * np.pi}
    accurate = mb.simulate(mb.load(FOLDER / "rolling_coin.scene.toml"), 0.5, qd=qd, rtol=1e-13, atol=1e-15)
    centre = accurate.q[-1, :3]
    yield (
        "spinning coin: its centre after 0.5 s, m, beside ours at 1e-13",
        [
            ours("rolling_coin", 0.5, lambda m: m.q[-1, :3], centre, 1e-11, qd=qd),
            ours("rolling_coin", 0.5, lambda m: m.q[-1, :3], centre, 1e-6, qd=qd),
            *exudyn(exudyn_coin, 0.5, centre),
        ],
    )
    quaternion, spin = by_hand.top(2.0), [0.0, 150.0, -4.61538]
    qd = dict(zip(("tip.wx", "tip.wy", "tip.wz"), spin, strict=True))
    yield (
        "heavy top: quaternion after 2 s",
        [
            ours("heavy_top", 2.0, lambda m: m.q[-1], quaternion, 1e-11, qd=qd),
            ours("heavy_top", 2.0, lambda m: m.q[-1], quaternion, 1e-6, qd=qd),
            *mujoco(TOP, 2.0, ([1, 0, 0, 0], spin), lambda d: d.qpos[[1, 2, 3, 0]], quaternion),
        ],
    )
    rates = by_hand.tumbling(np.array([60.0]), (1.0, 2.0, 2.5), 1.1, 1.0)[0]
    # the size of the rate is the same in all axes
    size = np.linalg.norm(rates)
    qd = {"body.wx": 1.1, "body.wy": 0.0, "body.wz": 1.0}
    yield (
        "free body: size of its rate after 60 s, rad/s",
        [
            ours("free_body", 60.0, lambda m: np.linalg.norm(m.qd[-1, 3:]), size, 1e-12, qd=qd),
            *mujoco(
                BODY,
                60.0,
                ([0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 1.1, 0, 1]),
                lambda d: np.linalg.norm(d.qvel[3:]),
                size,
            ),
        ],
    )


if __name__ == "__main__":
    print("| problem | program | step or tolerance | error | CPU time | times ours |")
    print("|---|---|---|---|---|---|")
    for title, rows in problems():
        for program, setting, error, spent in rows:
            better = [ours[3] for ours in rows if ours[0] == "mbplugin" and not error < ours[2]]
            ratio = "" if program == "mbplugin" else f"{spent / min(better, default=rows[0][3]):.2g}"
            off = "does not arrive" if np.isnan(error) else f"{error:.0e}"
            print(f"| {title} | {program} | {setting} | {off} | {spent:.2g} s | {ratio} |", flush=True)
            title = ""
