"""The spatial slider-crank turns for 5 s under gravity."""

import by_hand
import numpy as np
from harness import Problem, scene, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="Spatial rigid slider-crank, 5 s",
    parameters="IFToMM library of benchmarks, after Haug (1989)",
    reference="quadrature of dt = dx/ẋ by conserved energy, Gauss-Kronrod 1e-13",
    quantity="time at which the crank is where it ends, s",
    tolerance="1e-10",
    allowed=1e-8,
)
#: Slider at 0.5 and 1 s, m, of a published solution (F. González), good to 4e-5 m.
PUBLISHED = {0.5: 0.184952803, 1.0: 0.211754668}


def solve() -> tuple[float, float]:
    mechanism = mb.load(scene("slider_crank"))
    motion, seconds = timed(lambda: mb.simulate(mechanism, 5.0, rtol=1e-10, atol=1e-12))
    slider = 0.2 + motion.resample(np.array(list(PUBLISHED))).q[:, -1]
    assert np.abs(slider - list(PUBLISHED.values())).max() < 4e-5
    gravity = np.array([0.0, 0.0, -by_hand.G])
    return abs(by_hand.travel(by_hand.slider_crank, gravity, 6.0, motion.q[-1, 0]) - 5.0), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
