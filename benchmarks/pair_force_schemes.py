"""What do the three schemes for pair forces cost, (35), (37) and (38) of blajer1994?

    python benchmarks/pair_force_schemes.py

Microseconds of processor time, the best of many runs, one thread, NumPy. Given what the motion has computed
anyway: M, F, D, ξ and the accelerations. (35) stands twice: as it is, and with M⁻¹ at hand, as the paper's
recursive formalism has it; (38) stands twice: by elimination on the dependent rows, and by least squares on all.
Each scheme gives the same forces, which the last column shows. In joint coordinates the cut pairs are the rows,
in absolute ones all pairs.
"""

from __future__ import annotations

import os

for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import time  # noqa: E402
from collections.abc import Callable  # noqa: E402
from dataclasses import replace  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402
from _models import table  # noqa: E402

import mbplugin as mb  # noqa: E402
from mbplugin.dynamics.absolute import absolute_equations  # noqa: E402
from mbplugin.dynamics.formulations import (  # noqa: E402
    Equations,
    as_they_are,
    motion_in,
    partition,
    pivoted_coordinates,
)
from mbplugin.dynamics.tree_model import joint_equations  # noqa: E402
from mbplugin.joint_reactions import closed_state  # noqa: E402
from mbplugin.model.spatial import Array  # noqa: E402
from mbplugin.studies.elimination import from_balance, from_masses, from_projection, in_plane  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
MODELS = {
    "four-bar": (ROOT / "assets" / "crank_rocker.scene.toml", {"O1": 0.7}, {"O1": 3.0}),
    "hexapod": (ROOT / "tests" / "oracles" / "stewart_6UPS.sdf", None, None),
}


def best(run: Callable[[], Array], seconds: float = 0.3) -> float:
    """Return the processor time of a run, s: the least of blocks of 20."""
    run()
    least, begun = np.inf, time.process_time()
    while time.process_time() - begun < seconds:
        start = time.process_time()
        for _ in range(20):
            run()
        least = min(least, (time.process_time() - start) / 20)
    return least


def schemes(equations: Equations) -> dict[str, Callable[[], Array]]:
    """Return the schemes on equations without redundant rows, each with what it needs."""
    constraints = as_they_are(equations)
    parts = partition(constraints, pivoted_coordinates(equations, constraints))
    needed = equations.M @ motion_in(equations, constraints, parts).v_dot - equations.F
    B, M, inverse = equations.C, equations.M, np.linalg.inv(equations.M)
    with_inverse = replace(equations, solver=lambda rhs: inverse @ rhs)
    factored = replace(equations, solver=lambda rhs: np.linalg.solve(M, rhs))
    return {
        "(35)": lambda: from_masses(factored, B, parts),
        "(35), M⁻¹ at hand": lambda: from_masses(with_inverse, B, parts),
        "(37)": lambda: from_projection(equations, B, parts, needed),
        "(38), elimination": lambda: from_balance(B, parts, needed),
        "(38), least squares": lambda: np.linalg.lstsq(B.T, needed, rcond=None)[0],
    }


def main() -> None:
    rows = []
    for name, (file, q, qd) in MODELS.items():
        state = closed_state(mb.load(file), q, qd, None, None, None)
        for coordinates, build in (("joint", joint_equations), ("absolute", absolute_equations)):
            equations = build(state.mech, state.q, state.qd, planar=state.planar)
            equations = in_plane(equations) if state.planar else equations
            if equations.degree_of_redundancy:
                print(f"{name}, {coordinates}: {equations.degree_of_redundancy} redundant rows, left out")
                continue
            runs = schemes(equations)
            reference, fastest = runs["(37)"](), best(runs["(37)"])
            for scheme, run in runs.items():
                m, n = equations.C.shape
                seconds, error = best(run), np.abs(run() - reference).max() / np.abs(reference).max()
                size = f"{name}, {coordinates}, n = {n}, m = {m}"
                rows.append(
                    [size, scheme, f"{1e6 * seconds:.1f}", f"{seconds / fastest:.2f}", f"{error:.0e}"]
                )
    table("Pair forces", ["mechanism", "scheme", "µs", "of (37)", "difference"], rows)


if __name__ == "__main__":
    main()
