"""The upper left corner of the double four-bar after 10 s and five flat poses, against published digits."""

import numpy as np
from harness import Problem, scene, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="Double four-bar through its singular poses, 10 s",
    parameters="IFToMM library of benchmarks, A02",
    reference="published digits of Exudyn [2], h = 0.25 and 0.125 ms, extrapolated to h = 0",
    quantity="place of the corner, m, and its velocity, m/s",
    tolerance="1e-10",
    allowed=1e-6,
    others="0.078 s Exudyn, 4 s of motion, energy to 0.11 J [2]",
)
COARSE = np.array([0.3284552113, 0.9445195467, 1.423045728, -0.4948619021])
FINE = np.array([0.3284573768, 0.9445187937, 1.423050003, -0.4948670827])


def solve() -> tuple[float, float]:
    linkage = mb.load(scene("double_four_bar"))
    motion, seconds = timed(lambda: mb.simulate(linkage, 10.0, rtol=1e-10, atol=1e-12))
    corner = motion.point("left", (0, 0.5, 0))
    ours = np.concatenate((corner.p_W[-1, :2], corner.v_W[-1, :2]))
    # a method of second order: two thirds of an error are gone at half the step
    return float(np.abs(ours - (4 * FINE - COARSE) / 3).max()), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
