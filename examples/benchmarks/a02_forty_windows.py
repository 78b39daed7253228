"""Forty four-bars side by side turn for 20 s; every flat pose has 41 possible motions (IFToMM A02)."""

import by_hand
import numpy as np
from harness import Problem, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="IFToMM A02, 40 four-bar windows, 20 s",
    parameters="IFToMM library of benchmarks, A02",
    reference="closed form: all cranks are one pendulum, Jacobi's am",
    quantity="crank angle at any time, rad",
    tolerance="1e-8",
    allowed=1e-3,
)
N = 40


def hinge(name: str, a: str, b: str, x_a: float, x_b: float = 0.0, closure: bool = False) -> mb.Pair:
    frames = (mb.Pose.from_xyz_axis((x, 0, 0), (0, 0, 1)) for x in (x_a, x_b))
    return mb.Pair(name, "revolute", a, b, *frames, closure=closure)


def solve() -> tuple[float, float]:
    names = [f"v{n}" for n in range(N + 1)] + [f"h{n}" for n in range(N)]
    rods = tuple(mb.Body(name, 1.0, np.array([0.5, 0, 0]), np.diag([0, 1, 1]) / 12) for name in names)
    pairs = [hinge(f"g{n}", "world", f"v{n}", n) for n in range(N + 1)]
    pairs += [hinge(f"a{n}", f"v{n}", f"h{n}", 1) for n in range(N)]
    pairs += [hinge(f"b{n}", f"h{n}", f"v{n + 1}", 1, 1, True) for n in range(N)]
    linkage = mb.Mechanism("windows", rods, tuple(pairs), gravity=np.array([0, -by_hand.G, 0]))
    q = {f"g{n}": np.pi / 2 for n in range(N + 1)} | {f"a{n}": -np.pi / 2 for n in range(N)}
    motion, seconds = timed(lambda: mb.simulate(linkage, 20.0, q=q, qd={"g0": -1.0}))
    exact = np.pi / 2 - by_hand.turning(motion.time, 1.5 * (3 * N + 1) / (4 * N + 1) * by_hand.G, 1.0)
    return float(np.abs(motion.q[:, : N + 1] - exact[:, None]).max()), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
