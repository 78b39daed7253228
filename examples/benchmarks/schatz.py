"""Schatz's loop, that of the Turbula mixer, is led once round."""

import by_hand
import numpy as np
from harness import Problem, scene, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="Schatz's loop of the Turbula mixer, a full turn",
    parameters="Schatz's proportions 1 : 1 : 1 : √3, all twists right",
    reference="Denavit and Hartenberg's product by hand",
    quantity="gap of the loop at any time, m and rad",
    tolerance="1e-10",
    allowed=1e-12,
)


def solve() -> tuple[float, float]:
    loop = mb.load(scene("schatz"))
    settings = {"coordinates": "absolute", "rtol": 1e-10, "atol": 1e-12}
    motion, seconds = timed(lambda: mb.simulate(loop, 2 * np.pi, **settings))
    back = np.abs(np.cos(motion.q[-1] - motion.q[0]) - 1).max()
    return float(max(back, *(by_hand.schatz_gap(turns) for turns in motion.q))), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
