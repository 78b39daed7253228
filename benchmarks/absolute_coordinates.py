"""How long does one evaluation in absolute coordinates take: compiled, in readable Python, and in joint coordinates?

    python benchmarks/absolute_coordinates.py

The four-wheel robot in a turn: 7 bodies with 21 coordinates and 22 rows in the plane, two of them redundant. Best of
several runs in one process and one thread. Compiled, most of the time goes to making the rows orthogonal, about
2 · 20 · 22 · 21 multiplications in each of two passes. A motion of half a second, Runge–Kutta 4 at 0.02 s, with
formulation "projected", which is compiled, and "kkt", which is not.
"""

from __future__ import annotations

import os
from pathlib import Path

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np  # noqa: E402
from _models import per_call, table, wall  # noqa: E402

import mbplugin as mb  # noqa: E402
from mbplugin.dynamics.absolute import (  # noqa: E402
    absolute_equations,
    absolute_model,
)
from mbplugin.dynamics.formulations import solve  # noqa: E402
from mbplugin.dynamics.tree_model import (  # noqa: E402
    equations_of,
    tree_model,
)
from mbplugin.simulation.absolute_accelerations import AbsoluteEvaluation  # noqa: E402
from mbplugin.simulation.kernel_state import FORWARD_DYNAMICS, evaluate_at, kernel_state_of  # noqa: E402
from mbplugin.simulation.problem import motion_segments_of  # noqa: E402

SCENE = mb.load(Path(__file__).resolve().parents[1] / "assets" / "four_wheel_robot.scene.toml")
STEERING = mb.MotionProfile.from_points([(0, 0), (1, 0.04), (2.5, 0.04)], between="rest")


def moved(formulation: str, coordinates: str) -> mb.Trajectory:
    return mb.simulate(
        SCENE,
        0.5,
        qd={"1.vx": 1.0},
        profiles={"drive": STEERING},
        integrator="rk4",
        step=0.02,
        formulation=formulation,
        coordinates=coordinates,
    )


def evaluations() -> None:
    mech, motion = SCENE.mechanism, moved("projected", "joint")
    q, qd = np.array(motion.q[-1]), np.array(motion.qd[-1])
    tree = tree_model(mech, planar="xy", q=q)
    rows = equations_of(tree, q, qd, degree_of_redundancy=2).independent_rows
    kernel_state = kernel_state_of(tree, motion_segments_of(tree, ()), rows)
    evaluation = AbsoluteEvaluation(absolute_model(tree, q))
    _, place = evaluation.state(kernel_state, tuple(range(tree.table.persistent)), 2)

    def readable() -> None:
        solve(absolute_equations(mech, q, qd, planar="xy", degree_of_redundancy=2))

    found = {
        "absolute, compiled": per_call(lambda: evaluation.at(place, 0.0, 0.0, q, qd)),
        "absolute, readable Python": per_call(readable, 10, 5),
        "joint coordinates, compiled": per_call(
            lambda: evaluate_at(kernel_state, FORWARD_DYNAMICS, 0.0, q, qd)
        ),
    }
    evaluation.at(place, 0.0, 0.0, q, qd)
    absolute = kernel_state.rates["qdd"].copy()
    evaluate_at(kernel_state, FORWARD_DYNAMICS, 0.0, q, qd)
    apart = float(np.abs(absolute - kernel_state.rates["qdd"]).max())
    base = found["absolute, compiled"]
    lines = [[name, f"{1e6 * seconds:.1f}", f"{seconds / base:.2f}"] for name, seconds in found.items()]
    table(
        f"One evaluation of the four-wheel robot; compiled accelerations {apart:.0e} apart",
        ["way", "µs", "ratio"],
        lines,
    )


def motions() -> None:
    reference, lines = moved("projected", "joint"), []
    for formulation, coordinates in (("projected", "joint"), ("projected", "absolute"), ("kkt", "absolute")):
        motion = moved(formulation, coordinates)
        seconds = wall(lambda f=formulation, c=coordinates: moved(f, c), 3)  # type: ignore[misc]
        apart = float(np.abs(motion.q - reference.q).max())
        lines.append([coordinates, formulation, f"{1e3 * seconds:.0f}", f"{apart:.0e}"])
    table("Half a second of motion", ["coordinates", "formulation", "ms", "difference in q"], lines)


if __name__ == "__main__":
    evaluations()
    motions()
