"""Bricard's mechanism falls for 10 s (IFToMM A04)."""

import by_hand
import numpy as np
from harness import Problem, scene, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="IFToMM A04, Bricard's mechanism, 10 s",
    parameters="IFToMM library of benchmarks, A04",
    reference="one equation by hand on the curve of its closed form, DOP853 1e-12",
    quantity="two joint angles at the end, rad",
    tolerance="1e-10",
    allowed=1e-8,
    others="0.258 s OpenSim 3.2 [1]; 3.6 s Exudyn, 5 s of motion, last hinge a stiff spring [2]",
)


def solve() -> tuple[float, float]:
    loop = mb.load(scene("bricard"))
    motion, seconds = timed(lambda: mb.simulate(loop, 10.0, rtol=1e-10, atol=1e-12))
    x, _ = by_hand.one_freedom(by_hand.bricard, np.array([0.0, -by_hand.G, 0.0]), 0.0, 10.0)
    exact = by_hand.bricard_joints(x)
    return float(np.abs(motion.q[-1, :2] - exact).max()), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
