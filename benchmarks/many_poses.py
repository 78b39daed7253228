"""How much faster is a batch of poses than a loop over them? Matrices, analyses, reactions and joint-space arrays.

Each call is timed on N poses at once, and in a loop over some of them; both give the same numbers, which is checked.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import mbplugin as mb

ASSETS = Path(__file__).parent.parent / "assets"
MODELS = ("four_bar.scene.toml", "minitaur.scene.toml", "arm_6r.scene.toml")
POSES, IN_LOOP, ROUNDS = 500, 10, 2


def poses_of(scene: mb.Scene) -> Any:
    """Closed poses near that of the file: the loops of each are closed once, before anything is timed."""
    rng = np.random.default_rng(0)
    start = mb.analyze(scene, samples=0).q
    near = start + rng.uniform(-0.02, 0.02, (25, len(start)))
    closed = mb.analyze(scene, near).q
    return np.concatenate([closed] * (POSES // len(closed)))


def best(call: Callable[[], Any], rounds: int = ROUNDS) -> tuple[float, Any]:
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        value = call()
        times.append(time.perf_counter() - start)
    return min(times), value


def apart(one: Any, other: Any) -> float:
    return float(np.nanmax(np.abs(np.asarray(one, float) - np.asarray(other, float)), initial=0.0))


def compared(scene: mb.Scene, Q: Any) -> list[tuple[str, Callable[[], Any], Callable[[Any], Any], str]]:
    """Name, batch, single call, and the attribute of both that is compared."""
    return [
        (
            "constraint_matrix",
            lambda: mb.constraint_matrix(scene, Q),
            lambda q: mb.constraint_matrix(scene, q),
            "Phi",
        ),
        ("analyze", lambda: mb.analyze(scene, Q), lambda q: mb.analyze(scene, q), "sigma_r"),
        (
            "analyze, no samples",
            lambda: mb.analyze(scene, Q),
            lambda q: mb.analyze(scene, q, samples=0),
            "sigma_r",
        ),
        (
            "forward_kinematics",
            lambda: mb.forward_kinematics(scene, Q),
            lambda q: mb.forward_kinematics(scene, q),
            "",
        ),
        ("mass_matrix", lambda: mb.mass_matrix(scene, Q), lambda q: mb.mass_matrix(scene, q), ""),
        ("bias_forces", lambda: mb.bias_forces(scene, Q), lambda q: mb.bias_forces(scene, q), ""),
    ]


def main() -> int:
    print(f"{POSES} poses; ms a pose in a loop, in a batch; the largest difference of the numbers")
    print(f"{'model':22}{'call':22}{'loop':>9}{'batch':>9}{'ratio':>8}{'apart':>10}")
    for name in MODELS:
        scene = mb.load(ASSETS / name)
        try:
            Q = poses_of(scene)
        except mb.MbPluginError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        for what, many, single, attribute in compared(scene, Q):
            batch, values = best(many)
            loop, each = best(lambda single=single, some=Q[:IN_LOOP]: [single(q) for q in some], 2)
            if what == "reactions":
                # at one pose an undetermined component has no value
                each = [[part.value for c in one.constraints for part in c.components] for one in each]
                each, values = np.array(each, dtype=float), values.values
            elif attribute:
                values, each = getattr(values, attribute), [getattr(one, attribute) for one in each]
            each = [np.nan if one is None else one for one in each]
            per_pose = 1e3 * loop / IN_LOOP, 1e3 * batch / len(Q)
            print(
                f"{name:22}{what:22}{per_pose[0]:9.3f}{per_pose[1]:9.4f}{per_pose[0] / per_pose[1]:8.0f}"
                f"{apart(values[:IN_LOOP], each):10.1e}"
            )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
