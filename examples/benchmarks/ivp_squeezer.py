"""The seven angles of Andrews' squeezer at 0.03 s, against the digits of the Test Set for IVP Solvers."""

import by_hand
import numpy as np
from harness import Problem, scene, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="IVP test set, seven-body problem, 0.03 s",
    parameters="Schiehlen (1990); Hairer and Wanner (1996), VII.7",
    reference="published digits: Test Set for IVP Solvers 2.4, II-7",
    quantity="largest of seven angles, rad",
    tolerance="1e-11",
    allowed=5e-9,
)
PUBLISHED = {
    "beta": 15.81077119629904,
    "theta": -15.75637105984298,
    "gamma": 0.04082224013073101,
    "phi": -0.5347301163226948,
    "delta": 0.5244099658805304,
    "omega": 0.5347301163226948,
    "epsilon": 1.048080741042263,
}


def solve() -> tuple[float, float]:
    squeezer = mb.load(scene("squeezer"))
    settings = {"torques": {"beta": 0.033}, "rtol": 1e-11, "atol": 1e-13}
    motion, seconds = timed(lambda: mb.simulate(squeezer, 0.03, **settings))
    end = dict(zip(motion.joint_names, motion.q[-1], strict=True))
    # one equation by hand says that the digits are off, not the motion
    assert abs(end["beta"] - by_hand.squeezer_crank(motion.q[0, 0], 0.03)) < 1e-10
    return float(np.abs([end[name] - value for name, value in PUBLISHED.items()]).max()), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
