"""How long does one evaluation of the accelerations take, beside Pinocchio, MuJoCo, Drake and PyBullet?

    python benchmarks/acceleration.py

Microseconds, best of several runs in one process and one thread; the ratio is to Pinocchio (or to ours).
A single state uses one number of each register; many states use all, which is the limit of the machine.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
from _models import chain, iiwa, mjcf, pendulum, per_call, table, urdf  # noqa: E402

from mbplugin.dynamics.compiler import kernel  # noqa: E402
from mbplugin.dynamics.kernels.articulated import free_accelerations  # noqa: E402
from mbplugin.dynamics.tree_calls import ForwardDynamics, InverseDynamics  # noqa: E402
from mbplugin.model.brakes import AppliedForces  # noqa: E402
from mbplugin.model.mechanism import Mechanism  # noqa: E402
from mbplugin.model.spatial import Array  # noqa: E402

_LOOP, _MANY = 200, 800


@kernel
def many(n, composites, rates, loads, springs, power, q, qd, tau, out):  # type: ignore[no-untyped-def]
    for _ in range(n):
        free_accelerations(composites, rates, loads, springs, power, q, qd, tau, out)


def ours(mech: Mechanism, q: Array, qd: Array) -> dict[str, tuple[float, Array]]:
    forward, out = ForwardDynamics(mech, AppliedForces(damping=False)), np.empty(len(qd))
    tau = np.zeros(len(qd))
    records = (m := forward._calls.model).composites, m.rates, m.loads, m.springs, m.power
    count = max(20, 2000 // len(qd))
    looped = per_call(lambda: many(_LOOP, *records, q, qd, tau, out), max(1, count // 20)) / _LOOP
    states = np.tile(q, (_MANY, 1)), np.tile(qd, (_MANY, 1))
    together = per_call(lambda: forward.many(*states), max(1, count // 50)) / _MANY
    return {
        "mbplugin, many states in one call": (together, forward.many(*states)[-1]),
        "mbplugin, in a compiled loop": (looped, forward(q, qd)),
        "mbplugin, one Python call": (per_call(lambda: forward(q, qd, tau, out), count), forward(q, qd)),
    }


def pinocchio(mech: Mechanism, q: Array, qd: Array) -> dict[str, tuple[float, Array]]:
    import pinocchio as pin

    model = pin.buildModelFromXML(urdf(mech))
    model.gravity.linear = mech.gravity
    data, tau = model.createData(), np.zeros(len(qd))
    call = lambda: pin.aba(model, data, q, qd, tau)  # noqa: E731
    return {"Pinocchio aba, one Python call": (per_call(call, max(20, 2000 // len(qd))), np.array(call()))}


def mujoco(mech: Mechanism, q: Array, qd: Array) -> dict[str, tuple[float, Array]]:
    import mujoco as mj

    model = mj.MjModel.from_xml_string(mjcf(mech))
    data = mj.MjData(model)
    data.qpos[:], data.qvel[:] = q, qd
    seconds = per_call(lambda: mj.mj_forward(model, data), max(20, 2000 // len(qd)))
    return {"MuJoCo mj_forward": (seconds, np.array(data.qacc))}


def drake(mech: Mechanism, q: Array, qd: Array) -> dict[str, tuple[float, Array]]:
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.systems.framework import DiagramBuilder  # noqa: F401

    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(urdf(mech), "urdf")
    plant.WeldFrames(plant.world_frame(), plant.GetFrameByName("base"))
    plant.mutable_gravity_field().set_gravity_vector(mech.gravity)
    plant.Finalize()
    context = plant.CreateDefaultContext()
    both = np.concatenate((q, qd))

    def call() -> Array:
        plant.SetPositionsAndVelocities(context, both)
        return plant.EvalTimeDerivatives(context).CopyToVector()[len(q) :]

    return {"Drake EvalTimeDerivatives": (per_call(call, max(20, 1000 // len(qd))), call())}


PEERS = (pinocchio, mujoco, drake)


def forces(mech: Mechanism, q: Array, qd: Array, qdd: Array) -> dict[str, tuple[float, Array]]:
    """Drive forces, ours and Pinocchio's, in seconds a call."""
    inverse, out, count = InverseDynamics(mech, AppliedForces(damping=False)), np.empty(len(qd)), 5000
    states = [np.tile(values, (_MANY, 1)) for values in (q, qd, qdd)]
    found = {
        "mbplugin, many states in one call": (
            per_call(lambda: inverse.many(*states), count // 50) / _MANY,
            inverse.many(*states)[-1],
        ),
        "mbplugin, one Python call": (
            per_call(lambda: inverse(q, qd, qdd, out), count),
            inverse(q, qd, qdd),
        ),
    }
    try:
        import pinocchio as pin
    except ImportError:
        return found
    model = pin.buildModelFromXML(urdf(mech))
    model.gravity.linear = mech.gravity
    data = model.createData()
    call = lambda: pin.rnea(model, data, q, qd, qdd)  # noqa: E731
    return {**found, "Pinocchio rnea, one Python call": (per_call(call, count), np.array(call()))}


def main() -> None:
    rng = np.random.default_rng(1)
    rows = []
    for name, mech in (
        ("iiwa", iiwa()),
        ("3R pendulum", pendulum()),
        ("chain of 90", chain(90)),
        ("chain of 1000", chain(1000)),
    ):
        nv = len(mech.qd_names)
        q, qd = rng.uniform(-1, 1, nv), rng.uniform(-1, 1, nv) * (nv < 50)
        found = ours(mech, q, qd)
        for peer in PEERS:
            if nv >= 1000 and peer is not drake:
                # Pinocchio's data take 64 bytes times nv³, MuJoCo's XML parser nests 100 deep
                continue
            try:
                found |= peer(mech, q, qd)
            except ImportError:
                print(f"{peer.__name__} is not installed")
        reference = next((s for n, (s, _) in found.items() if n.startswith("Pinocchio")), None)
        base, truth = found["mbplugin, one Python call"]
        for tool, (seconds, qdd) in found.items():
            error = float(np.abs(qdd - truth).max() / np.abs(truth).max())
            ratio = seconds / (reference or base)
            rows.append([name, tool, f"{1e6 * seconds:.2f}", f"{ratio:.2f}", f"{error:.1e}"])
    heads = ["model", "tool", "µs", "ratio", "difference"]
    table("One evaluation of the accelerations", heads, rows)
    rows = []
    for name, mech in (("iiwa", iiwa()), ("3R pendulum", pendulum())):
        found = forces(mech, *rng.uniform(-1, 1, (3, len(mech.qd_names))))
        base, truth = found["mbplugin, one Python call"]
        reference = next((s for n, (s, _) in found.items() if n.startswith("Pinocchio")), base)
        for tool, (seconds, tau) in found.items():
            error = float(np.abs(tau - truth).max() / np.abs(truth).max())
            rows.append([name, tool, f"{1e6 * seconds:.2f}", f"{seconds / reference:.2f}", f"{error:.1e}"])
    table("One evaluation of the drive forces", heads, rows)


if __name__ == "__main__":
    main()
