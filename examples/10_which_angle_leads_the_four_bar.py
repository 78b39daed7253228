"""Which joint angle should be the independent one? The projective criterion over a turn, for two mass sets.

Geometry says where an angle fails; masses say which of the others is the best (Blajer, Schiehlen and Schirm
1994, figure 3). Leaves out/criterion.png.

Run it from anywhere: python examples/10_which_angle_leads_the_four_bar.py
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import mbplugin as mb
from mbplugin.constraints.assembly import assemble
from mbplugin.studies import projective_criterion, rank_cuts

try:
    import matplotlib
except ImportError:
    raise SystemExit("This example draws a figure: pip install 'mbplugin[plot]'.") from None
matplotlib.use("agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parent.parent
TURN = np.linspace(0, 2 * np.pi, 91)

scene = mb.load(ROOT / "assets" / "crank_rocker.scene.toml")
heavy = tuple(
    replace(body, mass=20 * body.mass, I_C=20 * body.I_C) if body.name == "coupler" else body
    for body in scene.mechanism.bodies
)
mechanisms = {
    "masses as in the file": scene.mechanism,
    "coupler 20 times as heavy": replace(scene.mechanism, bodies=heavy),
}

# from pose to pose, so that the linkage stays on its branch
poses = [scene.state.q]
for crank in TURN:
    start = np.array([crank, *poses[-1][1:]])
    poses.append(assemble(scene.mechanism, start, given=("O1",)).q)

figure, axes = plt.subplots(1, 2, figsize=(10, 4), sharey=True)
for axis, (title, mech) in zip(axes, mechanisms.items(), strict=True):
    criterion = np.array([list(projective_criterion(mech, q).values()) for q in poses[1:]])
    axis.plot(np.degrees(TURN), criterion, label=mech.qd_names)
    axis.set(title=title, xlabel="crank angle, degrees", xticks=range(0, 361, 90))
    best = [mech.qd_names[k] for k in criterion.argmax(axis=1)]
    shares = ", ".join(f"{name} over {best.count(name) / len(best):.0%}" for name in mech.qd_names)
    print(f"{title}: the best is {shares} of the turn")
    cuts = ", ".join(f"{cut.pair} {cut.independence:.2f}" for cut in rank_cuts(mech, poses[0]))
    print(f"  where to cut the loop with the crank upright: {cuts}")
axes[0].set_ylabel("cos² of the angle to the allowed motion")
axes[0].legend()

(ROOT / "out").mkdir(exist_ok=True)
figure.savefig(ROOT / "out" / "criterion.png", dpi=120, bbox_inches="tight")
print("out/criterion.png")
