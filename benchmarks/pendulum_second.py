"""How long does one second of a 3R pendulum take, RK4 at 1e-4 s, beside MuJoCo and Exudyn?

    python benchmarks/pendulum_second.py

Best wall seconds of several runs, one thread; the ratio is to MuJoCo (or to ours). "whole call" is
`simulate` with set-up and energies; the other row, as the peers' rows, runs on a model built before.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
from _models import mjcf, pendulum, prepared, table, wall  # noqa: E402

from mbplugin.model.spatial import Array  # noqa: E402
from mbplugin.simulation.run import simulate  # noqa: E402

START, STEP = np.full(3, np.pi / 6), 1e-4


def whole_call() -> Array:
    return simulate(pendulum(), 1.0, q=START, integrator="rk4", step=STEP, limits="ignore").q[-1]


def loop() -> tuple[float, Array]:
    run = prepared(pendulum(), START, integrator="rk4", step=STEP)
    return wall(run), run()


def mujoco() -> tuple[float, Array]:
    import mujoco as mj

    model = mj.MjModel.from_xml_string(mjcf(pendulum(), "RK4", STEP))
    data = mj.MjData(model)

    def run() -> None:
        mj.mj_resetData(model, data)
        data.qpos[:] = START
        mj.mj_step(model, data, nstep=10_000)

    return wall(run), np.array(data.qpos)


def exudyn() -> tuple[float, Array]:
    import exudyn as exu
    from _exudyn import kinematic_tree, settings

    system, node = kinematic_tree(pendulum(), START)
    options = settings(1.0, STEP)
    seconds = wall(lambda: system.SolveDynamic(options, solverType=exu.DynamicSolverType.RK44), 3)
    return seconds, system.GetNodeOutput(node, exu.OutputVariableType.Coordinates)


def main() -> None:
    truth = simulate(pendulum(), 1.0, q=START, rtol=1e-13, atol=1e-14, limits="ignore").q[-1]
    found = {"mbplugin, whole call": (wall(whole_call), whole_call()), "mbplugin, model built before": loop()}
    for name, peer in (("MuJoCo RK4", mujoco), ("Exudyn RK44", exudyn)):
        try:
            found[name] = peer()
        except ImportError:
            print(f"{name} is not installed")
    reference = found.get("MuJoCo RK4", found["mbplugin, model built before"])[0]
    rows = [
        [tool, f"{seconds:.4f}", f"{seconds / reference:.2f}", f"{np.abs(q - truth).max():.1e}"]
        for tool, (seconds, q) in found.items()
    ]
    table("3R pendulum, 1 s, fixed step 1e-4 s", ["tool", "s", "ratio", "error of q(1 s), rad"], rows)


if __name__ == "__main__":
    main()
