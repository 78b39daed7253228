"""A leaning disc rolls for 10 s without slipping."""

import by_hand
import numpy as np
from harness import Problem, scene, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="Rolling disc, 10 s",
    parameters="MotionGenesis, tutorial on the rolling disc: 2 kg, 0.343 m",
    reference="moments about the contact by hand, DOP853 1e-13",
    quantity="centre of the disc at the end, m",
    tolerance="1e-10",
    allowed=1e-8,
)
LEAN, SPIN = 0.2617993877991494, 5.0


def solve() -> tuple[float, float]:
    disc = mb.load(scene("rolling_disc"))
    qd = {"disc.wx": 0.0, "disc.wy": SPIN * np.cos(LEAN), "disc.wz": SPIN * np.sin(LEAN)}
    motion, seconds = timed(lambda: mb.simulate(disc, 10.0, qd=qd, rtol=1e-10, atol=1e-12))
    exact = by_hand.disc(2.0, 0.343, LEAN, SPIN, 10.0)
    return float(np.abs(motion.q[-1, :3] - exact[6:]).max()), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
