"""A fast top precesses about its fixed point for 2 s."""

import by_hand
import numpy as np
from harness import Problem, scene, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="Heavy top with a fixed point, 2 s",
    parameters="Brüls, Cardona and Arnold (2012); Terze, Müller and Zlatar (2016)",
    reference="Euler's equations by hand, DOP853 1e-13, and to 1e-5 the published digits [2]",
    quantity="quaternion at the end",
    tolerance="1e-11",
    allowed=1e-8,
)
#: x, y, z, w at 2 s, of RK4 at h = 0.1 ms.
PUBLISHED = (-0.49108, 0.35043, -0.78799, 0.12295)


def solve() -> tuple[float, float]:
    top = mb.load(scene("heavy_top"))
    qd = {"tip.wx": 0.0, "tip.wy": 150.0, "tip.wz": -4.61538}
    motion, seconds = timed(lambda: mb.simulate(top, 2.0, qd=qd, rtol=1e-11, atol=1e-13))
    assert np.abs(motion.q[-1] - PUBLISHED).max() < 1e-5
    return float(np.abs(motion.q[-1] - by_hand.top(2.0)).max()), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
