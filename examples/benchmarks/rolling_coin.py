"""A coin that spins almost upright rolls for 0.5 s without slipping."""

import numpy as np
from harness import Problem, scene, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="Spinning coin that rolls, 0.5 s",
    parameters="Rill and Schaeffer (2010), page 59; Exudyn, rollingCoinTest",
    reference="published digits of Exudyn's reference solutions [2], generalised α at h = 0.5 ms",
    quantity="x of the point of contact, m",
    tolerance="1e-11",
    allowed=2e-6,
)
RADIUS, PUBLISHED = 0.01, 0.0020040999273379673
#: The same program at h = 0.125 and 0.0625 ms, run here.
COARSE, FINE = 2.00489472e-3, 2.00493404e-3


def solve() -> tuple[float, float]:
    coin = mb.load(scene("rolling_coin"))
    qd = {"coin.wx": 0.0, "coin.wy": 0.0, "coin.wz": 10 * np.pi}
    motion, seconds = timed(lambda: mb.simulate(coin, 0.5, qd=qd, rtol=1e-11, atol=1e-13))
    centre, beside = (motion.point("coin", place).p_W[-1] for place in ((0, 0, 0), (1, 0, 0)))
    normal = beside - centre
    rim = np.array([0, 0, 1.0]) - normal[2] * normal
    contact = centre - RADIUS * rim / np.linalg.norm(rim)
    assert abs(contact[2]) < 1e-12
    # a method of second order: two thirds of an error are gone at half the step
    assert abs(contact[0] - (4 * FINE - COARSE) / 3) < 1e-9
    return float(abs(contact[0] - PUBLISHED)), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
