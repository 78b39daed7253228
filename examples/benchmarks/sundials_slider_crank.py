"""A slider-crank with a spring, a damper and a force moves for 10 s, against the printed output of SUNDIALS."""

import by_hand
import numpy as np
from harness import Problem, scene, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="Slider-crank with spring, damper and force, 10 s",
    parameters="SUNDIALS, example idasSlCrank_dns",
    reference="published digits: printed output of SUNDIALS (IDAS, relative tolerance 1e-6)",
    quantity="integral of the kinetic energy, 3.34 J s",
    tolerance="1e-10",
    allowed=3e-5,
)
#: Crank angle, slider and rod angle at 4 and at 10 s, as printed, and the integral.
PRINTED = {4.0: (-1.2064, 1.0623, 0.48609), 10.0: (1.2757, 1.0236, -0.49881)}
INTEGRAL = 3.3366160662934146


def solve() -> tuple[float, float]:
    linkage = mb.load(scene("sundials_slider_crank"))
    motion, seconds = timed(lambda: mb.simulate(linkage, 10.0, rtol=1e-10, atol=1e-12, samples=1000))
    for time, printed in PRINTED.items():
        assert np.abs(motion.q[np.abs(motion.time - time).argmin()] - printed).max() < 1e-3
    # Simpson's rule
    weights = np.array([1.0, *[4, 2] * 499, 4, 1]) * 0.01 / 3
    integral = weights @ motion.kinetic
    exact = by_hand.damped_slider_crank(10.0)
    assert np.abs([motion.q[-1, 0] - exact[0], motion.qd[-1, 0] - exact[1], integral - exact[2]]).max() < 1e-8
    return float(abs(integral - INTEGRAL)), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
