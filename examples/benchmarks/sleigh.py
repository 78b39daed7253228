"""Chaplygin's sleigh turns until it glides straight on."""

import by_hand
import numpy as np
from harness import Problem, scene, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="Chaplygin's sleigh on its knife edge, 3 s",
    parameters="ours; Neimark and Fufaev (1972)",
    reference="closed form, tanh and sech",
    quantity="speed along the blade, m/s, and rate, rad/s",
    tolerance="1e-10",
    allowed=1e-9,
)


def solve() -> tuple[float, float]:
    sleigh = mb.load(scene("sleigh"))
    start = {"ice.tx": 0.3, "ice.ty": 0.0, "ice.rz": 2.0}
    motion, seconds = timed(lambda: mb.simulate(sleigh, 3.0, qd=start, rtol=1e-10, atol=1e-12))
    x, y, rate = motion.qd[-1]
    ours = np.array([np.hypot(x, y), rate])
    return float(np.abs(ours - by_hand.sleigh(3.0, 0.5, 0.4, 0.3, 2.0, 3.0)).max()), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
