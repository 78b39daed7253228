"""A four-wheel robot with redundant wheels turns right, turns left, and goes straight on.

One motion, whichever two of its 22 planar constraint rows are left out; but the forces on its wheels depend
on that choice, except where the rigid model determines them. After Wojtyra and Frączek (2013), section 4,
figures 2 to 4: the steering, the paths of the platform and of the edges, and forces of three eliminations.
Leaves out/four_wheels.png.

Run it from anywhere: python examples/04_four_wheels_turn_right_and_left.py
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import mbplugin as mb
from mbplugin import studies

VARIANTS = ((6, 21), (18, 21), (19, 21))
#: Where the steering slider is, m, at some times, s: it rests at each of them.
CORNERS = (
    (0.0, 0.0),
    (1.0, 0.04),
    (3.0, 0.04),
    (4.0, 0.0),
    (5.0, -0.04),
    (7.0, -0.04),
    (8.0, 0.0),
    (10.0, 0.0),
)
EDGES = {"W1": ("2", -0.1, 0.0), "W2": ("3", -0.1, 0.0), "W3": ("1", 0.3, 0.0), "W4": ("1", -0.3, 0.0)}
SHOWN = ("B", "W3", "D", "W5")


def steering(t: float) -> tuple[float, float, float]:
    """Where the steering slider is, its rate and its acceleration: quintic from corner to corner."""
    k = min(sum(t >= time for time, _ in CORNERS[1:]), len(CORNERS) - 2)
    (t0, x0), (t1, x1) = CORNERS[k], CORNERS[k + 1]
    h, rise, s = t1 - t0, x1 - x0, (t - t0) / (t1 - t0)
    value = x0 + rise * s**3 * (10 - 15 * s + 6 * s**2)
    return value, rise * 30 * s**2 * (1 - s) ** 2 / h, rise * 60 * s * (1 - s) * (1 - 2 * s) / h**2


scene = mb.load(Path(__file__).parents[1] / "assets" / "four_wheel_robot.scene.toml")
# nothing pushes: the robot rolls on, and goes straight as soon as its edges are parallel
motion = mb.simulate(scene, 10.0, qd0={"1.vx": 1.0}, profiles={"drive": steering}, samples=100)
balance = np.abs(motion.energy - motion.energy[0] - motion.driven).max()
print(
    f"{motion.outcome}; p = 2 of 22 rows; energy and the work of the drive agree to 1e-7 J: {balance < 1e-7}"
)
paths = {"platform": motion.point("1").p_W}
paths |= {name: motion.point(body, (0.0, y, z)).p_W for name, (body, y, z) in EDGES.items()}
heading = np.unwrap(np.arctan2(*(paths["W3"] - paths["W4"])[:, [1, 0]].T))
straight = motion.time > 8.0
print(f"the last two seconds are a straight line: {np.ptp(heading[straight]) < 1e-6}")

# the same state with other rows left out, at each sample
forces: dict[tuple[str, str], list[list[float]]] = {}
for time, q, qd in zip(motion.time, motion.q, motion.qd, strict=True):
    value, rate, acceleration = steering(time)
    driver = mb.Driver("drive", "H", value=value, rate=rate, acceleration=acceleration)
    now = replace(scene, mechanism=replace(scene.mechanism, drivers=(driver,)))
    found = studies.elimination_variants(now, VARIANTS, q=q, qd=qd)
    for label, *own in zip(found.labels, *(v.multipliers for v in found.variants), strict=True):
        if label[0] in SHOWN:
            forces.setdefault((label[0], label[1]), []).append(own)
lines = {label: np.array(values) for label, values in forces.items()}
for name in SHOWN:
    spread = max(np.ptp(values, axis=1).max() for (of, _), values in lines.items() if of == name)
    print(f"{name}: {'one answer' if spread < 1e-6 else f'answers up to {spread:.2f} N apart'}")

try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    print("pip install matplotlib for the picture")
else:

    def of_pair(name: str, body: str) -> list[tuple[str, np.ndarray]]:
        """The forces (T, 3 variants) of a hinge along the axes of the world; those of its rows turn with a body."""
        ahead = motion.point(body, (1.0, 0.0, 0.0)).p_W - motion.point(body).p_W
        c, s = ahead[:, :1], ahead[:, 1:2]
        x, y = lines[name, "tx"], lines[name, "ty"]
        return [(f"{name} x", c * x - s * y), (f"{name} y", s * x + c * y)]

    curves = [
        *of_pair("B", "1"),
        ("W3", lines["W3", "side"]),
        *of_pair("D", "2"),
        ("W5", lines["W5", "side"]),
    ]
    figure, axes = plt.subplots(2, 4, figsize=(16, 7), layout="constrained")
    axes[0, 0].plot(motion.time, [steering(t)[0] for t in motion.time])
    axes[0, 0].set(title="steering", xlabel="t, s", ylabel="slider, m")
    for name, path in paths.items():
        axes[1, 0].plot(path[:, 0], path[:, 1], label=name)
    axes[1, 0].set(title="paths", xlabel="x, m", ylabel="y, m", aspect="equal")
    axes[1, 0].legend(fontsize="small", loc="upper right")
    for axis, (name, values) in zip(axes[:, 1:].flat, curves, strict=True):
        for variant, line in zip(VARIANTS, values.T, strict=True):
            axis.plot(motion.time, line, label=f"without rows {variant[0]}, {variant[1]}")
        axis.set(title=f"{name}{' across its edge' if name[0] == 'W' else ', axes of the world'}")
        axis.set(xlabel="t, s", ylabel="N")
    axes[0, 1].legend(fontsize="small")
    target = Path(__file__).resolve().parents[1] / "out" / "four_wheels.png"
    target.parent.mkdir(exist_ok=True)
    figure.savefig(target, dpi=100)
    print(f"picture in {target}")
