"""A platform on six rods with a triple pendulum: which reactions are unique, and what stiffness makes of the rest.

After Pękal and Wojtyra (2024), section 4: the divide-and-conquer test finds what figure 17 shows, its ranks are those
behind table 1, and the last step of the paper follows: bodies 1, 2, 3, 4 and 7 get a stiffness, the others stay rigid,
and all reactions along a motion have values. Leaves out/parallelogram.png.

Run it from anywhere: python examples/15_which_reactions_of_a_parallelogram_are_unique.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mbplugin as mb

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "assets" / "spatial_parallelogram.scene.toml"
#: Steel tubes of 40 mm, 2 mm thick; the platform is a frame of the same tubes.
TUBE = {"E": 2.1e11, "A": 2.4e-4, "Iy": 4.3e-8, "Iz": 4.3e-8, "J": 8.6e-8}

analysis = mb.analyze(FILE, method="dca")
print("ranks: tested + remaining - whole, and what follows for the effect on the assembly")
for group in analysis.dca.tested:
    r = group.ranks
    ranks = f"{r.tested}{'f' if r.full else ''} + {r.remaining} - {r.whole} = {r.excess}"
    told = {answer.assembly_effect_unique for _, answer in group.answers}
    verdict = "the tools disagree" if len(told) > 1 else "unique" if told.pop() else "non-unique"
    print(f"  {' '.join(group.members):12} {ranks:18} {verdict}")
unique = {joint.name: joint.unique for joint in analysis.constraints}
print("non-unique:", ", ".join(name for name, own in unique.items() if not own))
print("unique:", ", ".join(name for name, own in unique.items() if own))
flexible = [body.name for body in analysis.bodies if not body.may_stay_rigid]
print("to be flexible:", ", ".join(flexible))

# the last step: the motion is that of the rigid model, the reactions are those of the hybrid one
options = {"qd": {"A.wz": 0.2, "R.wx": 1.0}, "samples": 40}
rigid = mb.simulate(FILE, 1.0, **options)
hybrid = mb.simulate(FILE, 1.0, stiffness=dict.fromkeys(flexible, TUBE), **options)
for name in unique:
    change = np.abs(hybrid.reactions(name) - rigid.reactions(name)).max()
    assert hybrid.determined(name).all() and (change < 1e-6 or not unique[name])
print("with their stiffness every reaction has a value; the unique ones are as before")
for name in "ACEG":
    size = np.linalg.norm(hybrid.reactions(name)[:, :3], axis=1)
    print(f"  {name}: {size.min():.1f} to {size.max():.1f} N")

try:
    import matplotlib
except ImportError:
    print("no figure: pip install matplotlib")
else:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(13, 6), layout="constrained")
    place = figure.add_subplot(1, 2, 1, projection="3d")
    pairs = analysis.mechanism.pairs
    points = {pair.name: hybrid.point(pair.body_b, pair.X_BS.p).p_W[0] for pair in pairs}
    links: dict[str, list[str]] = {}
    for pair in pairs:
        for body in pair.bodies:
            links.setdefault(body, []).append(pair.name)
    for body, joints in links.items():
        if body != "world":
            line = np.array([points[name] for name in joints])
            place.plot(*line.T, color="tab:blue" if body in flexible else "0.6", zorder=1)
    for name, point in points.items():
        place.scatter(*point, color="green" if unique[name] else "red", s=50, zorder=2)
        place.text(*point, f"  {name}")
    place.set(title="green: unique, red: non-unique; blue bodies are to be flexible", xlabel="x", ylabel="y")
    place.set_aspect("equal")
    curves = figure.add_subplot(1, 2, 2)
    for k, name in enumerate("ACEG"):
        for motion, style in ((hybrid, "-"), (rigid, ":")):
            size = np.linalg.norm(motion.reactions(name)[:, :3], axis=1)
            label = f"{name}, {'stated stiffness' if motion is hybrid else 'rigid: arbitrary'}"
            curves.plot(motion.time, size, style, color=f"C{k}", label=label)
    curves.set(title="reactions of the lower rods", xlabel="t, s", ylabel="N")
    curves.legend(fontsize="small")
    target = ROOT / "out" / "parallelogram.png"
    target.parent.mkdir(exist_ok=True)
    figure.savefig(target, dpi=100)
    print(f"picture in {target}")
