"""Bennett's loop is led once round."""

import numpy as np
from harness import Problem, scene, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="Bennett's loop, a full turn",
    parameters="ours, a : b = sin α : sin β; Bennett (1903)",
    reference="closed form, tan(θ₁/2) tan(θ₂/2) = sin((α + β)/2) / sin((β − α)/2)",
    quantity="θ₂ at any time, rad, and the gap of the loop, m",
    tolerance="1e-10",
    allowed=1e-12,
)


def solve() -> tuple[float, float]:
    loop = mb.load(scene("bennett"))
    motion, seconds = timed(lambda: mb.simulate(loop, 2 * np.pi, rtol=1e-10, atol=1e-12))
    first, second = motion.q[:, 0], motion.q[:, 1]
    alpha, beta = np.arcsin(0.6), np.arcsin(0.8)
    ratio = np.sin((alpha + beta) / 2) / np.sin((beta - alpha) / 2)
    off = np.angle(np.exp(1j * (second - 2 * np.arctan(ratio / np.tan(first / 2)))))
    return float(max(np.abs(off).max(), motion.residuals["r4"])), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
