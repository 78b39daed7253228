"""What the hinges of a redundant four-bar in space carry while it falls: two forces of each are unique."""

import by_hand
import numpy as np
from harness import Problem, scene, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="Redundantly constrained four-bar in space, reactions after 1 s",
    parameters="IFToMM library of benchmarks: cuboids of 5000 kg/m³ in a unit square",
    reference="Newton's equations in the plane by hand at the same pose and rate",
    quantity="force of a hinge, N, of the weight",
    tolerance="1e-10",
    allowed=1e-10,
)


def solve() -> tuple[float, float]:
    linkage = mb.load(scene("spatial_four_bar"))
    motion, seconds = timed(lambda: mb.simulate(linkage, 1.0, rtol=1e-10, atol=1e-12))
    exact, worst = by_hand.parallelogram(motion.q[-1, 0], motion.qd[-1, 0]), 0.0
    for hinge, (x, z) in exact.items():
        # the joint's y points down: x and y lie in the plane; all else depends on how redundant rows are met
        assert motion.uniqueness(hinge)[-1].tolist() == [True, True, False, False, False, True], hinge
        worst = max(worst, *np.abs(motion.reactions(hinge)[-1, :2] - (x, -z)))
    return float(worst / (150 * by_hand.G)), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
