"""A fast top dances for 5 s on a smooth plane: its tip slides, its centre of mass moves straight up and down."""

import by_hand
import numpy as np
from harness import Problem, scene, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="Top without a fixed point, on a smooth plane, 5 s",
    parameters="the heavy top above, tilted by 0.3 rad, at 150 rad/s",
    reference="conserved momenta and one equation by hand, DOP853 1e-13",
    quantity="direction of its axis at the end",
    tolerance="1e-11",
    allowed=1e-8,
)
TILT, SPIN = 0.3, 150.0


def solve() -> tuple[float, float]:
    top = mb.load(scene("sliding_top"))
    q = {"tip.qx": np.sin(TILT / 2), "tip.qy": 0.0, "tip.qz": 0.0, "tip.qw": np.cos(TILT / 2)}
    qd = {"tip.wx": 0.0, "tip.wy": -SPIN * np.sin(TILT), "tip.wz": SPIN * np.cos(TILT)}
    motion, seconds = timed(lambda: mb.simulate(top, 5.0, q=q, qd=qd, rtol=1e-11, atol=1e-13))
    x, y, z, w = motion.q[-1, 2:]
    axis = np.array([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)])
    tilt, turned, *_ = by_hand.sliding_top(0.0, SPIN, TILT, 5.0)
    exact = [np.sin(tilt) * np.sin(turned), -np.sin(tilt) * np.cos(turned), np.cos(tilt)]
    return float(np.abs(axis - exact).max()), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
