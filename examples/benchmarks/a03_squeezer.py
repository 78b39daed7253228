"""The motor of Andrews' squeezer works for 0.05 s: the energy is what the motor gave (IFToMM A03)."""

import numpy as np
from harness import Problem, scene, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="IFToMM A03, Andrews' squeezer, 0.05 s",
    parameters="IFToMM library of benchmarks, A03",
    reference="the benchmark's own measure: E − E₀ = τ (β − β₀)",
    quantity="energy at any time, of the largest kinetic energy",
    tolerance="1e-10",
    allowed=1e-9,
    others="0.384 s OpenSim 3.2 [1]",
)


def solve() -> tuple[float, float]:
    squeezer = mb.load(scene("squeezer"))
    settings = {"torques": {"beta": 0.033}, "rtol": 1e-10, "atol": 1e-12}
    motion, seconds = timed(lambda: mb.simulate(squeezer, 0.05, **settings))
    beta = motion.q[:, motion.joint_names.index("beta")]
    gap = motion.energy - motion.energy[0] - 0.033 * (beta - beta[0])
    return float(np.abs(gap).max() / motion.kinetic.max()), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
