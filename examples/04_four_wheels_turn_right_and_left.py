"""A four-wheel robot with redundant wheels turns right, goes straight on, turns left.

One motion, whichever two of its 22 planar constraint rows are left out; but the forces on its wheels depend
on that choice, except where the rigid model determines them. After Wojtyra and Frączek (2013), section 4.
Leaves out/four_wheels.png.

Run it from anywhere: python examples/04_four_wheels_turn_right_and_left.py
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import mbplugin as mb
from mbplugin.dynamics.absolute import absolute_equations
from mbplugin.dynamics.formulations import solve

VARIANTS = ((6, 21), (18, 21), (19, 21), (18, 20))
CORNERS = ((0.0, 0.0), (1.0, 0.04), (3.0, 0.04), (4.0, 0.0), (6.0, 0.0), (7.0, -0.04), (10.0, -0.04))


def steering(t: float) -> tuple[float, float, float]:
    """Where the steering slider is, its rate and its acceleration: smooth between the corners."""
    k = min(sum(t > time for time, _ in CORNERS[1:]), len(CORNERS) - 2)
    (t0, x0), (t1, x1) = CORNERS[k], CORNERS[k + 1]
    h, rise, s = t1 - t0, x1 - x0, (t - t0) / (t1 - t0)
    value = x0 + rise * s**3 * (10 - 15 * s + 6 * s**2)
    return value, rise * 30 * s**2 * (1 - s) ** 2 / h, rise * 60 * s * (1 - s) * (1 - 2 * s) / h**2


scene = mb.load(Path(__file__).parents[1] / "assets" / "four_wheel_robot.scene.toml")
push = {"body": "1", "force": [4.0, 1.0, 0.0], "frame": "body"}
motion = mb.simulate(scene, 10.0, qd0={"1.vx": 1.0}, loads=[push], profiles={"drive": steering}, samples=100)
print(
    f"{motion.outcome}; p = 2 of 22 rows; energy balance to "
    f"{np.abs(motion.energy - motion.energy[0] - motion.applied - motion.driven).max():.1e} J"
)

forces: dict[str, list[list[float]]] = {name: [[] for _ in VARIANTS] for name in ("W1", "W3", "W4", "W5")}
for time, q, qd in zip(motion.time, motion.q, motion.qd, strict=True):
    value, rate, acceleration = steering(time)
    driver = mb.Driver("drive", "H", value=value, rate=rate, acceleration=acceleration)
    mech = replace(scene.mechanism, drivers=(driver,))
    equations = absolute_equations(mech, q, qd, motion.actions, planar="xy", degree_of_redundancy=2)
    names = [name for name, _ in equations.labels]
    for v, variant in enumerate(VARIANTS):
        left_out = tuple(equations.labels[row - 1] for row in variant)
        multipliers = solve(equations, "projected", "eliminate", left_out).multipliers
        for name, lines in forces.items():
            lines[v].append(float(multipliers[names.index(name)]))
for name, lines in forces.items():
    spread = np.ptp(np.array(lines), axis=0).max()
    print(f"{name}: {'one answer' if spread < 1e-6 else f'answers up to {spread:.2f} N apart'}")

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    print("pip install matplotlib for the picture")
else:
    figure, axes = plt.subplots(1, 3, figsize=(13, 4), layout="constrained")
    axes[0].plot(motion.q[:, 0], motion.q[:, 1])
    axes[0].set(title="path of the platform", xlabel="x, m", ylabel="y, m", aspect="equal")
    for axis, name in zip(axes[1:], ("W3", "W5"), strict=True):
        for variant, line in zip(VARIANTS, forces[name], strict=True):
            axis.plot(motion.time, line, label=f"without rows {variant[0]}, {variant[1]}")
        axis.set(title=f"side force on {name}", xlabel="t, s", ylabel="N")
    axes[1].legend()
    target = Path(__file__).resolve().parents[1] / "out" / "four_wheels.png"
    target.parent.mkdir(exist_ok=True)
    figure.savefig(target, dpi=120)
    print(f"picture in {target}")
