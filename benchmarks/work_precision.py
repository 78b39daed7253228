"""What does accuracy cost? Error against time of several tools, on two trees, a redundant loop and a closed robot.

    python benchmarks/work_precision.py [--picture FILE.svg] [--short]

Every row is one run over 1 s on a model that has been built before: best wall seconds of three, and the
error of the joint angles at the end against our solution at rtol 1e-13. Peers that are not installed are
left out. No peer can close Bricard's loop by a hinge without redundancy; MuJoCo closes it by two soft
points, and the Minitaur's legs by four. The Minitaur floats, its joints turning at up to 1 rad/s at first.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import closed_minitaur  # noqa: E402
import numpy as np  # noqa: E402
from _chart import chart  # noqa: E402
from _models import iiwa, mjcf, pendulum, prepared, table, urdf, wall  # noqa: E402

import mbplugin as mb  # noqa: E402
from mbplugin.model.mechanism import Mechanism  # noqa: E402
from mbplugin.model.spatial import Array  # noqa: E402
from mbplugin.simulation.run import simulate  # noqa: E402

Case = tuple[str, Mechanism, Array]
Found = list[tuple[str, str, float, Array]]
BRICARD = Path(__file__).resolve().parent.parent / "tests" / "oracles" / "bricard_A04.sdf"


#: Whether each tool runs with its first setting only, to try the script.
short = False


def tried(*values: float) -> tuple[float, ...]:
    """Return tolerances or steps, from the coarsest to the finest."""
    return values[:1] if short else values


def ours(mech: Mechanism, q: Array, qd: Array | None = None) -> Found:
    out = []
    for rtol in tried(1e-5, 1e-7, 1e-9, 1e-11):
        run = prepared(mech, q, qd, rtol=rtol, atol=rtol)
        out.append(("mbplugin dop853", f"{rtol:g}", wall(run, 3), run()))
    for step in tried(5e-3, 2e-3, 5e-4, 1e-4):
        run = prepared(mech, q, qd, integrator="rk4", step=step)
        out.append(("mbplugin rk4", f"{step:g} s", wall(run, 3), run()))
    return out


def mujoco(mech: Mechanism, q: Array) -> Found:
    import mujoco as mj

    out = []
    for step in tried(5e-3, 2e-3, 5e-4, 1e-4):
        model = mj.MjModel.from_xml_string(mjcf(mech, "RK4", step))
        data = mj.MjData(model)

        def run(model: mj.MjModel = model, data: mj.MjData = data, step: float = step) -> Array:
            mj.mj_resetData(model, data)
            data.qpos[:] = q
            mj.mj_step(model, data, nstep=round(1.0 / step))
            return np.array(data.qpos)

        out.append(("MuJoCo RK4", f"{step:g} s", wall(run, 3), run()))
    return out


def exudyn(mech: Mechanism, q: Array) -> Found:
    import exudyn as exu
    from _exudyn import kinematic_tree, settings

    system, node = kinematic_tree(mech, q)
    out = []
    solver = exu.DynamicSolverType
    for kind, name, values in (
        (solver.RK44, "RK44", (2e-3, 5e-4, 1e-4)),
        (solver.DOPRI5, "DOPRI5", (1e-6, 1e-8, 1e-10)),
    ):
        for value in tried(*values):
            fixed = name == "RK44"
            options = settings(1.0, value if fixed else 1e-2, None if fixed else value)
            run = lambda options=options, kind=kind: system.SolveDynamic(options, solverType=kind)  # noqa: E731
            seconds = wall(run, 3)
            end = system.GetNodeOutput(node, exu.OutputVariableType.Coordinates)
            out.append((f"Exudyn {name}", f"{value:g}{' s' if fixed else ''}", seconds, np.array(end)))
    return out


def drake(mech: Mechanism, q: Array) -> Found:
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.systems.analysis import ApplySimulatorConfig, Simulator, SimulatorConfig

    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(urdf(mech), "urdf")
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
    plant.mutable_gravity_field().set_gravity_vector(mech.gravity)
    plant.Finalize()
    out = []
    for accuracy in tried(1e-4, 1e-7, 1e-10):
        simulator = Simulator(plant)
        config = SimulatorConfig(integration_scheme="runge_kutta5", accuracy=accuracy, use_error_control=True)
        ApplySimulatorConfig(config, simulator)

        def run(simulator: Simulator = simulator) -> Array:
            context = simulator.get_mutable_context()
            context.SetTime(0.0)
            plant.SetPositionsAndVelocities(context, np.concatenate((q, 0 * q)))
            simulator.Initialize()
            simulator.AdvanceTo(1.0)
            return np.array(plant.GetPositions(context))

        out.append(("Drake RK5", f"{accuracy:g}", wall(run, 3), run()))
    return out


def pybullet(mech: Mechanism, q: Array) -> Found:
    import tempfile

    import pybullet as p

    client = p.connect(p.DIRECT)
    path = Path(tempfile.mkdtemp()) / "model.urdf"
    path.write_text(urdf(mech), encoding="utf-8")
    body = p.loadURDF(
        str(path), useFixedBase=True, flags=p.URDF_USE_INERTIA_FROM_FILE, physicsClientId=client
    )
    p.setGravity(*mech.gravity, physicsClientId=client)
    joints = range(p.getNumJoints(body, physicsClientId=client))
    p.changeDynamics(body, -1, linearDamping=0, angularDamping=0, physicsClientId=client)
    for j in joints:
        p.changeDynamics(body, j, linearDamping=0, angularDamping=0, jointDamping=0, physicsClientId=client)
        p.setJointMotorControl2(body, j, p.VELOCITY_CONTROL, force=0, physicsClientId=client)
    out = []
    for step in tried(1e-3, 1e-4):
        p.setTimeStep(step, physicsClientId=client)

        def run(step: float = step) -> Array:
            for j in joints:
                p.resetJointState(body, j, q[j], 0.0, physicsClientId=client)
            for _ in range(round(1.0 / step)):
                p.stepSimulation(physicsClientId=client)
            return np.array([p.getJointState(body, j, physicsClientId=client)[0] for j in joints])

        out.append(("PyBullet", f"{step:g} s", wall(run, 1), run()))
    p.disconnect(client)
    return out


def soft_bricard(mech: Mechanism, q: Array) -> Found:
    import mujoco as mj

    (cut,) = mech.tree.cut
    index = {s.outer: k for k, s in enumerate((j for j in mech.tree.joints), 1)}
    a, b = cut.body_a, cut.body_b
    inner = index.get(a), index.get(b)
    body, X = (inner[0], cut.X_AP) if inner[0] else (inner[1], cut.X_BS)
    composite = mech.tree.joint_of_body[a if inner[0] else b].pair
    assert composite is not None
    X = composite.X_BS.inverse() @ X
    anchors = [X.p, X.p + X.R[:, 2]]
    equality = "".join(
        f'<connect body1="l{body}" anchor="{x!r} {y!r} {z!r}" solref="{{r}} 1"/>'
        for x, y, z in (map(float, p) for p in anchors)
    )
    out = []
    for step in tried(1e-3, 1e-4):
        text = mjcf(mech, "RK4", step, equality.replace("{r}", repr(2 * step)))
        model = mj.MjModel.from_xml_string(text)
        data = mj.MjData(model)

        def run(model: mj.MjModel = model, data: mj.MjData = data, step: float = step) -> Array:
            mj.mj_resetData(model, data)
            data.qpos[:] = q
            mj.mj_step(model, data, nstep=round(1.0 / step))
            return np.array(data.qpos)

        out.append(("MuJoCo RK4, two connects", f"{step:g} s", wall(run, 1), run()))
    return out


def minitaur_rates(mech: Mechanism, q: Array) -> Array:
    """Return rates (nv,) that keep the legs closed: those of base and motors are drawn, and the knees follow."""
    rates = np.random.default_rng(4).uniform(-1, 1, len(mech.qd_names))
    drawn = {
        name: rate for name, rate in zip(mech.qd_names, rates.tolist(), strict=True) if "knee" not in name
    }
    return mb.simulate(mech, 1e-3, q=q, qd=drawn, limits="ignore").qd[0]


def soft_minitaur(mech: Mechanism, q: Array) -> Found:
    rates, out = minitaur_rates(mech, q), []
    for step in tried(2e-3, 5e-4, 1e-4):
        seconds, _, end = closed_minitaur.mujoco(mech, q, rates, step, "RK4")
        out.append(("MuJoCo RK4, connects", f"{step:g} s", seconds, end))
    return out


def angles(mech: Mechanism, q: Array) -> Array:
    """Return the coordinates of the joints, without those of a free base."""
    return np.concatenate([q[j.q] for j in mech.tree.joints if j.pair is not None and j.pair.kind.free])


TREES: tuple[Callable[[Mechanism, Array], Found], ...] = (mujoco, exudyn, drake, pybullet)


def cases() -> list[tuple[str, Mechanism, Array, tuple[Callable[[Mechanism, Array], Found], ...]]]:
    rng = np.random.default_rng(1)
    bricard = mb.load(str(BRICARD)).mechanism
    closed = simulate(bricard, 1e-3, limits="ignore").q[0]
    return [
        ("3R pendulum", pendulum(), np.full(3, np.pi / 6), TREES),
        ("iiwa", iiwa(), rng.uniform(-1, 1, 7), TREES),
        ("Bricard", bricard, closed, (soft_bricard,)),
        ("Minitaur, legs closed", *closed_minitaur.minitaur(), (soft_minitaur,)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description="Error against time.")
    parser.add_argument("--picture", default="")
    parser.add_argument(
        "--short", action="store_true", help="the first setting of each tool, to try the script"
    )
    arguments = parser.parse_args()
    global short
    short = arguments.short
    rows, curves = [], {}
    for name, mech, q, peers in cases():
        qd = minitaur_rates(mech, q) if name.startswith("Minitaur") else None
        options = {"damping": False, "friction": False, "limits": "ignore"}
        truth = angles(mech, simulate(mech, 1.0, q=q, qd=qd, rtol=1e-13, atol=1e-14, **options).q[-1])
        found = [
            (tool, setting, seconds, angles(mech, end)) for tool, setting, seconds, end in ours(mech, q, qd)
        ]
        for peer in peers:
            try:
                found += peer(mech, q)
            except ImportError:
                print(f"{peer.__name__} is not installed")
        for tool, setting, seconds, end in found:
            error = float(np.abs(end - truth).max())
            rows.append([name, tool, setting, f"{seconds:.4f}", f"{error:.1e}"])
            curves.setdefault((name, tool), []).append((seconds, error))
    table("One second of motion", ["model", "tool", "setting", "s", "error, rad"], rows)
    if arguments.picture:
        Path(arguments.picture).write_text(chart(curves), encoding="utf-8")


if __name__ == "__main__":
    main()
