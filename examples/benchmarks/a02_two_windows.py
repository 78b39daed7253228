"""Two four-bars side by side turn over and over, through the poses in which all rods are on one line (IFToMM A02)."""

import by_hand
import numpy as np
from harness import Problem, scene, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="IFToMM A02, two four-bar windows, 10 s",
    parameters="IFToMM library of benchmarks, A02",
    reference="closed form: all cranks are one pendulum, Jacobi's am",
    quantity="crank angle at any time, rad",
    tolerance="1e-10",
    allowed=1e-6,
    others="0.455 s OpenSim 3.2 [1]; 0.078 s Exudyn, 4 s of motion, energy to 0.11 J [2]",
)


def solve() -> tuple[float, float]:
    linkage = mb.load(scene("double_four_bar"))
    motion, seconds = timed(lambda: mb.simulate(linkage, 10.0, rtol=1e-10, atol=1e-12))
    exact = by_hand.turning(motion.time, 3.5 * by_hand.G / 3, 1.0)
    return float(np.abs(motion.q[:, :3] + exact[:, None]).max()), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
