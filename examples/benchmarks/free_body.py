"""A free body tumbles about its middle axis for 60 s."""

import by_hand
import numpy as np
from harness import Problem, scene, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="Free body near its middle axis, 60 s",
    parameters="ours",
    reference="published formula: Landau and Lifshitz, Mechanics, § 37, (37.10)",
    quantity="angular velocity in its own axes at any time, rad/s",
    tolerance="1e-12",
    allowed=1e-8,
)


def solve() -> tuple[float, float]:
    body = mb.load(scene("free_body"))
    qd = {"body.wx": 1.1, "body.wy": 0.0, "body.wz": 1.0}
    motion, seconds = timed(lambda: mb.simulate(body, 60.0, qd=qd, rtol=1e-12, atol=1e-14))
    (x, y, z, w), rates = motion.q[:, 3:].T, motion.qd[:, 3:]
    # from world axes to the body's: v + 2 s x (s x v) - 2 w s x v
    s = np.column_stack((x, y, z))
    across = np.cross(s, rates)
    own = rates + 2 * np.cross(s, across) - 2 * w[:, None] * across
    return float(np.abs(own - by_hand.tumbling(motion.time, (1.0, 2.0, 2.5), 1.1, 1.0)).max()), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
