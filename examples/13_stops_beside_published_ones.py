"""Stops that makers publish, beside those that are computed with and without a calibration.

This program prints the page ``docs/validation.md`` up to its second opinions. The tables of the manuals are in
``examples/published_stops``. The arms of Universal Robots need the extra ``robots``. The distances of the TM5-700 are
drawn to out/published_stops.png where matplotlib is installed.
"""

from __future__ import annotations

import csv
import importlib.metadata
import sys
import warnings
from collections.abc import Iterator, Sequence
from math import degrees
from pathlib import Path
from textwrap import fill
from typing import Any

import mbplugin as mb
from mbplugin.errors import ImplausibleValue

PUBLISHED = Path(__file__).parent / "published_stops"
OUT = Path(__file__).resolve().parent.parent / "out"
#: Rated payload, kg, and full speed of all joints, 183 °/s.
PAYLOADS, SPEED = {"ur5": 5.0, "ur3": 3.0}, 3.1939525
AXES = ("shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint")
LAWS = (("delay", "torque"), ("torque", "viscous"))
INTRODUCTION = (
    "Every published row beside the computed stop, with and without a calibration."
    " `examples/13_stops_beside_published_ones.py` prints this page up to the second opinions;"
    " a test compares it. Take the published"
    " numbers from the maker's manual before you quote them. σ = 2 d/(v T) is the shape index of a stop: 1 for"
    " constant deceleration, larger with a reaction before it."
)
TM5 = (
    "Techman Robot, safety manual 3.3, appendix C, table 16. Fitted to the rows at 33 and 66 % of speed; the rows"
    " at 100 %, marked \\*, are predicted. Without a calibration nothing is predicted: names and speed limits of the"
    " joints are known, masses and ramps are not."
)
TM5_TIMES = (
    "- The times are not explained: the shape indices of the fitted rows are {low:.2f} to {high:.2f}, and no ramp gives"
    " less than 1. The times contain the settling of the drives; the computed ones end with the ramps and are shorter."
)
UR = (
    "Universal Robots, user manual of the CB3 series: full speed (183 °/s), extension and payload. The URDF is that"
    " of example-robot-data. One row per joint is two numbers: no row can be held out, and a fit of two parameters"
    ' that is exact proves nothing. "Effort limit" is the brake that is assumed where none is stated; the published'
    " times and distances are larger by the factors beside it."
)
UR_END = (
    "Gravity does not load joint 1: where its σ is below 1, no delay with dry friction gives the row, and the fit of"
    " these two parameters misses time or distance. A law that fits one row may fail at other speeds and payloads:"
    " measure more rows."
)
KR20 = (
    "KUKA, technical data of the KR IONTEC, 4.11.2. There is no model with masses and no full speed beside the"
    " values: nothing is computed."
)


def load(robot: str) -> mb.Scene:
    """Return an arm of the extra ``robots``."""
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        print("The arms are in the extra robots: python -m pip install example-robot-data")
        raise SystemExit(0) from None
    found = next(f for f in files if f.name == f"{robot}_robot.urdf")
    return mb.load(Path(str(found.locate())), base="fixed")


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table of Markdown."""
    yield ""
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)


def published(name: str) -> dict[int, list[str]]:
    """Return the rows of a published table by their lines."""
    with (PUBLISHED / f"{name}.csv").open(encoding="utf-8") as file:
        return dict(enumerate(csv.reader(file), start=1))


def ramps() -> Iterator[str]:
    """Yield the section of the TM5-700."""
    robot = mb.load(PUBLISHED / "tm5_700.urdf", base="fixed")
    found = mb.calibrate(robot, PUBLISHED / "tm5_700.csv", hold_out="speed=100%")
    draw(found)
    yield from ("## TM5-700, category 1", "", fill(TM5, 118), "")
    for number, joint in enumerate(found.joints, start=1):
        held = [row for row in found.rows if row.held_out and row.joint == joint.joint]
        gaps = [abs(row.distance_deviation or 0.0) for row in held]
        within = ", ".join(f"{sum(gap <= size / 100 for gap in gaps)} within {size} %" for size in (5, 10))
        time = joint.parameters["time"].value
        yield f"- Joint {number}: a ramp of {1e3 * time:.1f} ms at every speed. Of nine predicted distances {within};"
        yield f"  the largest deviation is {100 * max(gaps):.1f} %."
    shapes = [row.shape_index for row in found.rows if not row.held_out and row.shape_index is not None]
    yield fill(TM5_TIMES.format(low=min(shapes), high=max(shapes)), 118, subsequent_indent="  ")
    cells = published("tm5_700")
    rows = []
    for row in found.rows:
        joint, _, payload, extension, speed, *_ = cells[row.line]
        deviation, mark = row.distance_deviation or 0.0, " \\*" if row.held_out else ""
        rows.append(
            (
                *(joint[-1], f"{payload} %", f"{extension} %", f"{speed} %{mark}"),
                f"{1e3 * (row.time_measured or 0):.0f} ms, {degrees(row.distance_measured or 0):.2f}°",
                f"{row.shape_index:.2f}",
                f"{1e3 * row.time_computed:.0f} ms, {degrees(row.distance_computed):.2f}°",
                f"{100 * deviation:+.1f} %{' **more than 10 %**' if abs(deviation) > 0.10 else ''}",
            )
        )
    heads = ("joint", "payload", "extension", "speed", "published", "σ", "computed", "distance differs by")
    yield from table(heads, rows)


def draw(found: Any) -> None:
    """Draw the computed distances over the published ones."""
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6.5, 5.5), layout="constrained")
    for number, joint in enumerate(found.joints, start=1):
        for held_out, style, words in ((False, "o", "fitted"), (True, "^", "predicted, full speed")):
            rows = [row for row in found.rows if row.joint == joint.joint and row.held_out is held_out]
            points = [(degrees(row.distance_measured or 0.0), degrees(row.distance_computed)) for row in rows]
            axes.plot(
                *zip(*points, strict=True), style, color=f"C{number - 1}", label=f"joint {number}, {words}"
            )
    end = max(axes.get_xlim()[1], axes.get_ylim()[1])
    axes.axline((0, 0), slope=1, color="grey", linewidth=0.8)
    for slope in (0.9, 1.1):
        axes.axline((0, 0), slope=slope, color="grey", linewidth=0.8, linestyle=":")
    axes.set(xlim=(0, end), ylim=(0, end), aspect="equal", xlabel="published stopping distance, °")
    axes.set(ylabel="computed, °", title="TM5-700, category 1; dotted: 10 %")
    axes.legend(fontsize="small")
    OUT.mkdir(exist_ok=True)
    figure.savefig(OUT / "published_stops.png", dpi=110)


def arm(name: str) -> Iterator[str]:
    """Yield the section of an arm of which one row is published for each joint."""
    payload, scene, file = PAYLOADS[name], load(name), PUBLISHED / f"{name}.csv"
    speeds = dict.fromkeys(AXES, SPEED)
    with warnings.catch_warnings():
        # the published speed is 1 % above the velocity limits of the file
        warnings.simplefilter("ignore", ImplausibleValue)
        assumed = mb.stopping_table(
            scene, axes=AXES, payload=payload, speeds=speeds, categories=[0], tool="tool0"
        )
    laws = [mb.calibrate(scene, file, payload=payload, parameters=law, tool="tool0") for law in LAWS]
    rows = []
    for k, axis in enumerate(AXES):
        default = next(row for row in assumed.rows if row["joint"] == axis)
        own = laws[0].rows[k]
        time, distance = own.time_measured or 0.0, own.distance_measured or 0.0
        rows.append(
            (
                str(k + 1),
                stop(time, distance),
                f"{own.shape_index:.2f}",
                stop(default["time"], default["distance"]),
                f"{time / default['time']:.1f}, {distance / default['distance']:.1f}",
                *(fitted(law.joints[k], law.rows[k]) for law in laws),
            )
        )
    heads = (
        "joint",
        "published",
        "σ",
        "effort limit",
        "factors",
        *(f"fitted: {' and '.join(law)}" for law in LAWS),
    )
    yield from ("", f"### {name.upper()}, category 0, {payload:g} kg")
    yield from table(heads, rows)


def stop(time: float, distance: float) -> str:
    """Return time (s) and distance (rad) as a cell."""
    return f"{1e3 * time:.0f} ms, {distance:.2f} rad"


def fitted(joint: Any, row: Any) -> str:
    """Return fitted values and the stop with them."""
    values = ", ".join(f"{p.value:.3g} {p.unit}" for p in joint.parameters.values())
    missed = " **more than 10 %**" if row.unexplained else ""
    return f"{stop(row.time_computed, row.distance_computed)}{missed} ({values})"


def page() -> str:
    """Return the page."""
    rows = [
        (row[0][-1], f"{row[5]} ms, {row[6]}°", "not computed")
        for row in list(published("kr20_r3100").values())[2:]
    ]
    return "\n".join(
        (
            *("# Validation", "", fill(INTRODUCTION, 118), ""),
            *ramps(),
            *("", "## UR5 and UR3", "", fill(UR, 118)),
            *(line for name in PAYLOADS for line in arm(name)),
            *("", fill(UR_END, 118), "", "## KR 20 R3100, STOP 0", "", fill(KR20, 118)),
            *table(("joint", "published", "computed"), rows),
            "",
        )
    )


if __name__ == "__main__":
    sys.stdout.write(page())
