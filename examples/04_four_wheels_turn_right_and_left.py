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
#: Where the edges touch: body, and the place in its frame, m.
EDGES = {
    "W1": ("2", (0.0, -0.1, 0.0)),
    "W2": ("3", (0.0, -0.1, 0.0)),
    "W3": ("1", (0.0, 0.3, 0.0)),
    "W4": ("1", (0.0, -0.3, 0.0)),
    "W5": ("7", (-0.1, 0.0, 0.0)),
}
SHOWN = ("B", "W3", "D", "W5")


def steering(left: float) -> mb.MotionProfile:
    """Where the slider is over time, at rest at each point: right, straight, left by ``left`` (m), straight."""
    points = [(0, 0), (1, 0.04), (2.5, 0.04), (3.5, 0), (5, 0), (6, -left), (7.5, -left), (8.5, 0), (10, 0)]
    return mb.MotionProfile.from_points(points, between="rest")


def drive(left: float) -> mb.Trajectory:
    """Let the robot roll on: nothing pushes it."""
    return mb.simulate(scene, 10.0, qd={"1.vx": 1.0}, profiles={"drive": steering(left)}, samples=100)


def headings(motion: mb.Trajectory) -> np.ndarray:
    """Return the direction (T,) of the platform, rad from the x axis of the world."""
    ahead = motion.point("1", (1.0, 0.0, 0.0)).p_W - motion.point("1").p_W
    return np.unwrap(np.arctan2(ahead[:, 1], ahead[:, 0]))


scene = mb.load(Path(__file__).parents[1] / "assets" / "four_wheel_robot.scene.toml")
# steered to the left as far as it takes to end parallel to the x axis: some steps of the secant method
tried = [0.04, 0.036]
ends = [float(headings(drive(left))[-1]) for left in tried]
for _ in range(3):
    tried.append(tried[-1] - ends[-1] * (tried[-1] - tried[-2]) / (ends[-1] - ends[-2]))
    motion = drive(tried[-1])
    ends.append(float(headings(motion)[-1]))
profile = steering(tried[-1])
balance = np.abs(motion.energy - motion.energy[0] - motion.driven).max()
print(
    f"{motion.outcome}; p = 2 of 22 rows; energy and the work of the drive agree to 1e-7 J: {balance < 1e-7}"
)
paths = {"platform": motion.point("1").p_W}
paths |= {name: motion.point(*edge).p_W for name, edge in EDGES.items()}
heading = headings(motion)
print(f"it turns right by {-np.degrees(heading.min()):.1f} degrees and drives on so, without a push")
between, last = (motion.time > 3.5) & (motion.time < 5.0), motion.time > 8.5
for name, line in (("between the turns", between), ("at the end", last)):
    away = np.ptp(heading[line])
    print(f"{name} the path is a straight line: {away < 1e-6}")
print(f"its end is parallel to the x axis: {abs(heading[-1]) < 1e-6}")

# the same state with other rows left out, at each sample
forces: dict[tuple[str, str], list[list[float]]] = {}
for time, q, qd in zip(motion.time, motion.q, motion.qd, strict=True):
    value, rate, acceleration = profile(time)
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
    axes[0, 0].plot(motion.time, [profile(t)[0] for t in motion.time])
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
