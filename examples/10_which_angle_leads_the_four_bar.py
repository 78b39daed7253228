"""Which coordinate should be the independent one? The projective criterion of a pendulum and of a four-bar.

Geometry says where a coordinate fails; masses say which of the others is the best (Blajer, Schiehlen and Schirm
1994, figure 1 with (26), and figure 3). Leaves out/criterion.png.

Run it from anywhere: python examples/10_which_angle_leads_the_four_bar.py
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

import mbplugin as mb
from mbplugin.studies import projective_criterion, rank_cuts

try:
    import matplotlib
except ImportError:
    raise SystemExit("This example draws a figure: python -m pip install matplotlib.") from None
matplotlib.use("agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parent.parent

scene = mb.load(ROOT / "assets" / "crank_rocker.scene.toml")
heavy = tuple(
    replace(body, mass=20 * body.mass, I_C=20 * body.I_C) if body.name == "coupler" else body
    for body in scene.mechanism.bodies
)
mechanisms = {
    "masses as in the file": scene.mechanism,
    "coupler 20 times as heavy": replace(scene.mechanism, bodies=heavy),
}

# a drive leads the crank through the turn, so that the linkage stays on its branch
turn = mb.MotionProfile.from_points([(0, 0, 1), (2 * np.pi, 2 * np.pi, 1)])
poses = mb.simulate(scene, 2 * np.pi, qd={"O1": 1.0}, profiles={"O1": turn}, samples=120).q

#: A body on a pivot, in the coordinates x, y of its centre and its angle: what the pivot says closes a loop.
PENDULUM = """
gravity = [0, 0, 0]
body = [{ name = "along x" }, { name = "along y" }, { name = "G", mass = 2, inertia = [1, 1, 0.5], xyz = [1, 0, 0] }]
pair = [
    { name = "x", type = "prismatic", body_a = "world", body_b = "along x", xyz_a = [1, 0, 0], axis = [1, 0, 0] },
    { name = "y", type = "prismatic", body_a = "along x", body_b = "along y", xyz_a = [1, 0, 0], axis = [0, 1, 0] },
    { name = "gamma", type = "revolute", body_a = "along y", body_b = "G", xyz_a = [1, 0, 0], axis = [0, 0, 1] },
]
closure = [{ name = "pivot", type = "revolute", body_a = "world", body_b = "G", xyz_a = [0, 0, 0], axis = [0, 0, 1] }]
lint = { planar = "xy" }
"""
with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "pendulum.scene.toml"
    file.write_text(PENDULUM)
    pendulum = mb.load(file)
MASS, INERTIA, ARM = 2.0, 0.5, 1.0
ANGLES = np.linspace(0, np.pi / 2, 31)
leads = np.array(
    [
        list(
            projective_criterion(
                pendulum, {"x": ARM * np.cos(g) - ARM, "y": ARM * np.sin(g), "gamma": g}
            ).values()
        )
        for g in ANGLES
    ]
)
share = MASS * ARM**2 / (MASS * ARM**2 + INERTIA)
by_hand = np.column_stack((share * np.sin(ANGLES) ** 2, share * np.cos(ANGLES) ** 2, np.full(31, 1 - share)))
print(f"pendulum: (26) by hand differs by less than 1e-12: {np.abs(leads - by_hand).max() < 1e-12}")

figure, axes = plt.subplots(1, 3, figsize=(14, 4), sharey=True)
for name, line in zip(("x", "y", "gamma"), leads.T, strict=True):
    axes[0].plot(np.degrees(ANGLES), line, label=name)
axes[0].set(title="physical pendulum", xlabel="angle, degrees", xticks=range(0, 91, 15))
axes[0].legend()
for axis, (title, mech) in zip(axes[1:], mechanisms.items(), strict=True):
    criterion = np.array([list(projective_criterion(mech, q).values()) for q in poses])
    axis.plot(np.degrees(poses[:, 0]), criterion, label=mech.qd_names)
    axis.set(title=title, xlabel="crank angle, degrees", xticks=range(0, 361, 90))
    worst = np.degrees(poses[np.sort(criterion[:-1, 2].argsort()[:2]), 0])
    print(f"{title}: O3 is singular with the crank at {worst[0]:.0f} and {worst[1]:.0f} degrees")
    best = [mech.qd_names[k] for k in criterion.argmax(axis=1)]
    shares = ", ".join(f"{name} over {best.count(name) / len(best):.0%}" for name in mech.qd_names)
    print(f"{title}: the best is {shares} of the turn")
    cuts = ", ".join(f"{cut.pair} {cut.independence:.2f}" for cut in rank_cuts(mech, poses[0]))
    print(f"  where to cut the loop with the crank upright: {cuts}")
axes[0].set_ylabel("cos² of the angle to the allowed motion")
axes[1].legend()

(ROOT / "out").mkdir(exist_ok=True)
figure.savefig(ROOT / "out" / "criterion.png", dpi=120, bbox_inches="tight")
print("out/criterion.png")
