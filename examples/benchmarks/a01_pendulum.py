"""A pendulum that is released level swings for 10 s (IFToMM A01)."""

import by_hand
import numpy as np
from harness import Problem, scene, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="IFToMM A01, simple pendulum, 10 s",
    parameters="IFToMM library of benchmarks, A01",
    reference="closed form, Jacobi's sn",
    quantity="angle at any time, rad",
    tolerance="1e-10",
    allowed=1e-8,
    others="0.637 s OpenSim 3.2 [1]; 0.037 s Exudyn, energy to 5e-5 J [2]",
)


def solve() -> tuple[float, float]:
    pendulum = mb.load(scene("pendulum"))
    motion, seconds = timed(lambda: mb.simulate(pendulum, 10.0, rtol=1e-10, atol=1e-12))
    from_hanging = motion.q[:, 0] - 1.5 * np.pi
    return float(np.abs(from_hanging - by_hand.swinging(motion.time, 1.0)).max()), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
