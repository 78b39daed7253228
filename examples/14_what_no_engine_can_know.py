"""Three engines, one four-bar: where a rigid model determines a joint force they agree, elsewhere none can know.

Four parallel hinges make the four-bar three times overconstrained. Its coupler is pushed, in its plane and across
it. Draws the joint forces of mbplugin, PyBullet and MuJoCo to out/engines.png where matplotlib is installed.

Run it from anywhere: python examples/14_what_no_engine_can_know.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mbplugin as mb

ROOT = Path(__file__).resolve().parent.parent
COMPONENTS = ("fx", "fy", "fz", "mx", "my", "mz")
#: Of these joints the picture shows forces in the plane and moments across it.
JOINTS = ("j0", "j1", "j3")

push = {"body": "coupler", "force": [10, 5, 20]}
found = mb.engines(ROOT / "assets" / "four_bar.scene.toml", loads=[push])

for answer in found.engines:
    print(f"{answer.engine} {answer.version}" + (f": no answer, {answer.reason}" if answer.reason else ""))
print(f"{found.degree_of_redundancy} redundant constraints")
print(f"  on what is determined they agree to {found.largest_unique_difference:.0e} of the joint's largest")
print(f"  on what is not, they differ by {found.largest_undetermined_difference:.0%}")
for name in JOINTS:
    for k in np.flatnonzero(~found[name].unique):
        values = ", ".join(f"{wrench[k] + 0.0:8.3f}" for wrench in found[name].wrenches.values())
        print(f"  {name} {COMPONENTS[k]}: {values}")

try:
    import matplotlib
except ImportError:
    print("no figure: pip install matplotlib")
else:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(15, 4.5), layout="constrained")
    titles = (
        ("force, N", "determined by the rigid model: every engine has the same", (0, 1)),
        ("moment, N·m", "not determined: every engine prints a number, none can know", (3, 4)),
    )
    for plot, (unit, title, components) in zip(axes, titles, strict=True):
        shown = [(name, k) for name in JOINTS for k in components]
        at = np.arange(len(shown))
        for n, engine in enumerate(answer.engine for answer in found.answers):
            values = np.array([found[name].wrenches[engine][k] for name, k in shown])
            bars = plot.bar(at + 0.27 * (n - 1), np.nan_to_num(values), 0.25, label=engine)
            for bar, value in zip(bars, values, strict=True):
                if np.isnan(value):
                    plot.annotate("?", (bar.get_x() + 0.125, 0), ha="center", va="bottom", fontsize="x-large")
        plot.axhline(0.0, color="black", linewidth=0.8)
        plot.set_xticks(at, [f"{name} {COMPONENTS[k]}" for name, k in shown])
        plot.set(ylabel=unit, title=title)
        plot.legend()
    (ROOT / "out").mkdir(exist_ok=True)
    figure.savefig(ROOT / "out" / "engines.png", dpi=120)
    print("drawn to out/engines.png")
