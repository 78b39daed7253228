"""What do the three forms of the transition condition cost, (22), (32) and (37) of mueller2026?

    python benchmarks/transition_forms.py

Microseconds of processor time, the best of many runs, one thread, NumPy. Given what the motion has computed anyway:
M, the rows that hold and those that close, and their ranks. ``full`` solves for n + m₁ + m₂ unknowns, ``projected``
for n + m₂ behind a projector (n × n), ``minimal`` for n − m₁ + m₂ behind a choice of coordinates. The last column is
by how much Δq̇ differs.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

from collections.abc import Callable, Sequence  # noqa: E402
from dataclasses import replace  # noqa: E402
from functools import partial  # noqa: E402
from pathlib import Path  # noqa: E402
from time import process_time  # noqa: E402

import numpy as np  # noqa: E402
from _models import table  # noqa: E402

import mbplugin as mb  # noqa: E402
from mbplugin.dynamics.absolute import absolute_equations  # noqa: E402
from mbplugin.dynamics.formulations import Equations  # noqa: E402
from mbplugin.dynamics.tree_model import joint_equations  # noqa: E402
from mbplugin.joint_reactions import closed_state  # noqa: E402
from mbplugin.model.spatial import Array  # noqa: E402
from mbplugin.simulation.impact import (  # noqa: E402
    ImpactProblem,
    find_rows,
    full,
    minimal,
    projected,
)

ROOT = Path(__file__).resolve().parent.parent
FORMS = {"full (22)": full, "projected (32)": projected, "minimal (37)": minimal}


def chain(n: int) -> mb.Mechanism:
    """Return n links of 0.3 m on hinges about alternating axes."""
    axes = ((0, 1, 0), (0, 0, 1))
    pairs = tuple(
        mb.Pair(
            f"j{k}",
            "revolute",
            f"link {k - 1}" if k else mb.WORLD,
            f"link {k}",
            mb.Pose.from_xyz_axis((0.3 if k else 0, 0, 0), axes[k % 2]),
            mb.Pose.from_xyz_axis((0, 0, 0), axes[k % 2]),
        )
        for k in range(n)
    )
    bodies = tuple(mb.Body(f"link {k}", 1.0, np.array([0.15, 0, 0]), 0.01 * np.eye(3)) for k in range(n))
    return mb.Mechanism(f"chain of {n}", bodies, pairs)


def cases() -> list[tuple[str, mb.Mechanism, list[str], list[str]]]:
    """Return a mechanism, the joints that are locked, and those that lock now."""
    arm = mb.load(ROOT / "assets" / "arm_6r.scene.toml").mechanism
    hexapod = mb.load(ROOT / "tests" / "oracles" / "stewart_6UPS.sdf").mechanism
    long = [f"j{k}" for k in range(40)]
    return [
        ("3R pendulum", chain(3), ["j1"], ["j2"]),
        ("six-axis arm", arm, ["j1", "j2"], ["j3"]),
        ("hexapod", hexapod, [], ["p0"]),
        ("hexapod", hexapod, ["p0", "p1", "p2", "p3"], ["p4"]),
        ("chain of 40", chain(40), long[:2], [long[20]]),
        ("chain of 40", chain(40), long[:38], [long[39]]),
        ("chain of 40", chain(40), long[:20], long[20:]),
    ]


def best(run: Callable[[], Array], seconds: float = 0.3) -> float:
    """Return the processor time of a run, s: the least of blocks of 10."""
    run()
    least, begun = np.inf, process_time()
    while process_time() - begun < seconds:
        start = process_time()
        for _ in range(10):
            run()
        least = min(least, (process_time() - start) / 10)
    return least


def solved(form: str, equations: Equations, qd: Array, closing: Sequence[str]) -> Array:
    """Return Δq̇ (n,) by one form; nothing is kept from an earlier run."""
    rows = find_rows(equations, closing)
    return FORMS[form](ImpactProblem(equations, qd, np.zeros(len(qd)), rows)).v_dot


def main() -> None:
    rows, rng = [], np.random.default_rng(5)
    for name, mech, held, closing in cases():
        locked = replace(mech, locks=tuple(mb.Lock(joint) for joint in (*held, *closing)))
        state = closed_state(locked, None, None, None, None, None)
        for coordinates, build in (("joint", joint_equations), ("absolute", absolute_equations)):
            equations = build(locked, state.q, state.qd)
            if equations.degree_of_redundancy:
                raise SystemExit(f"{name}: redundant rows cost more than the forms")
            if np.linalg.eigvalsh(equations.M)[0] <= 0.0:
                continue  # a body without mass
            m2 = int(find_rows(equations, labels := [f"lock {joint}" for joint in closing]).sum())
            m, n = equations.C.shape
            # velocities that the rows which hold already allow
            J1 = equations.C[~find_rows(equations, labels)]
            qd = rng.normal(size=n)
            qd -= np.linalg.pinv(J1) @ (J1 @ qd) if len(J1) else 0.0
            runs = {form: partial(solved, form, equations, qd, labels) for form in FORMS}
            reference, fastest = runs["full (22)"](), best(runs["full (22)"])
            for form, run in runs.items():
                seconds, error = best(run), np.abs(run() - reference).max() / np.abs(reference).max()
                size = f"{name}, {coordinates}, n = {n}, m₁ = {m - m2}, m₂ = {m2}"
                rows.append([size, form, f"{1e6 * seconds:.0f}", f"{seconds / fastest:.2f}", f"{error:.0e}"])
    table("Transitions", ["mechanism", "form", "µs", "of (22)", "difference"], rows)


if __name__ == "__main__":
    main()
