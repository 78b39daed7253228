"""The stopping table of a KUKA iiwa: times and distances over speed, extension and payload.

Robot makers print such tables in their manuals. This one is computed, not measured, and its head says what
it assumes. Writes out/iiwa_stops.html and, where matplotlib is installed, out/stopping_table.png.

Run it from anywhere: python examples/07_a_stopping_table.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pybullet_data

import mbplugin as mb

ROOT = Path(__file__).resolve().parent.parent

robot = mb.load(Path(pybullet_data.getDataPath()) / "kuka_iiwa" / "model.urdf", base="fixed")
# the file allows 10 rad/s, which no arm of that size does
speeds = {f"lbr_iiwa_joint_{k}": np.radians(rate) for k, rate in ((1, 85.0), (2, 85.0), (4, 75.0))}
table = mb.stopping_table(robot, payload=7.0, speeds=speeds)
(ROOT / "out").mkdir(exist_ok=True)
table.save(ROOT / "out" / "iiwa_stops.html")

print(f"{table.model}: {len(table.rows)} stops, axes {', '.join(table.axes)}")
for sentence in table.assumptions:
    print(f"  {sentence}")
print("\ncategory 0, full speed, extension and payload:")
for row in (r for r in table.rows if r["category"] == 0):
    travel, took = np.degrees(row["distance"]), 1e3 * row["time"]
    print(f"  {row['joint']}: {travel:6.2f}° in {took:4.0f} ms ({row['outcome']})")
print("written to out/iiwa_stops.html")

try:
    import matplotlib
except ImportError:
    print("no figure: pip install matplotlib")
else:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(2, len(table.axes), figsize=(14, 6.5), sharex=True, layout="constrained")
    for k, name in enumerate(table.axes):
        ramps = [
            r for r in table.rows if r["joint"] == name and r["category"] == 1 and r["payload_percent"] == 100
        ]
        for extension in sorted({r["extension_percent"] for r in ramps}):
            rows = [r for r in ramps if r["extension_percent"] == extension]
            speeds = [r["speed_percent"] for r in rows]
            label = f"extension {extension} %"
            axes[0, k].plot(speeds, [np.degrees(r["distance"]) for r in rows], "o-", label=label)
            axes[1, k].plot(speeds, [1e3 * r["time"] for r in rows], "o-", label=label)
        axes[0, k].set(
            title=f"{name}, category 1, {table.axes.index(name) + 1}. axis", ylabel="distance, degrees"
        )
        axes[1, k].set(xlabel="speed, %", ylabel="time, ms")
        axes[0, k].legend(fontsize="small")
    figure.savefig(ROOT / "out" / "stopping_table.png", dpi=120)
    print("drawn to out/stopping_table.png")
