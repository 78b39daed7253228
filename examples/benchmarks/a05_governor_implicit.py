"""The same governor in steps that follow its motion, not the time constants of its springs (IFToMM A05)."""

import by_hand
import numpy as np
from harness import Problem, scene, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="IFToMM A05, the same with `rodas5p`, 10 s",
    parameters="IFToMM library of benchmarks, A05",
    reference="three equations by hand, Radau 1e-11",
    quantity="slider height and rod angle at the end, m and rad",
    tolerance="1e-7",
    allowed=1e-8,
    others="0.233 s OpenSim 3.2 [1]",
)


def solve() -> tuple[float, float]:
    governor, tolerance = mb.load(scene("governor")), {"rtol": 1e-7, "atol": 1e-7}
    motion, seconds = timed(lambda: mb.simulate(governor, 10.0, integrator="rodas5p", **tolerance))
    angle, height, *_ = by_hand.governor(10.0)
    end = dict(zip(motion.joint_names, motion.q[-1], strict=True))
    return float(np.abs([end["s"] - height, end["right"] - angle, end["left"] - angle]).max()), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
