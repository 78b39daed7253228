"""A block on a belt sticks and slips for 30 s."""

import by_hand
import numpy as np
from harness import Problem, scene, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="Stick-slip of a block on a belt, 30 s",
    parameters="Leine and others (1998): m = k = 1, belt at 0.2 m/s; friction 1.5 and 1 N",
    reference="closed form, pieces of harmonic motion",
    quantity="time of any of 6 transitions, s",
    tolerance="1e-8",
    allowed=1e-6,
)


def solve() -> tuple[float, float]:
    belt = mb.load(scene("stick_slip"))
    motion, seconds = timed(lambda: mb.simulate(belt, 30.0, signal=0.0))
    times = [event.time for event in motion.events if event.kind in ("stick", "slip")]
    period = by_hand.stick_slip(1.5, 1.0, 0.2)
    exact = [7.5 + period * (k // 2) + (period - 5) * (k % 2) for k in range(6)]
    return float(np.abs(np.subtract(times, exact)).max()), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
