"""An agreement as a picture: errors over the step, and the coordinates of both."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.comparison.agreement import Agreement
from mbplugin.phrases import cut_short
from mbplugin.simulation.trajectory.plotting import draw, legend

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot(found: Agreement, path: str | Path | None = None) -> Figure:
    """Draw an agreement into a file, or in a window where none is named, and return the figure.

    Raises
    ------
    MissingDependency
        Matplotlib is not installed.
    BadUsage
        No picture by its ending, or a file that cannot be written.
    """
    return draw(partial(_draw, found), (11.0, 5.0), path)


def _draw(found: Agreement, figure: Any) -> None:
    errors, curves = figure.subplots(1, 2)
    _draw_errors(found, errors)
    _draw_curves(found, curves)
    lines = (f"PyBullet and mbplugin: {found.verdict}", cut_short(found.of_effort.heading, 110))
    figure.suptitle("\n".join(filter(None, lines))).set_parse_math(False)


def _draw_errors(found: Agreement, axes: Any) -> None:
    axes.set_xlabel("step of PyBullet [s]")
    axes.set_ylabel("largest deviation [rad, m, rad/s, m/s]")
    axes.grid(alpha=0.3, which="both")
    shown = dict.fromkeys(row.quantity for row in found.rows if row.errors)
    for quantity in shown:
        errors = np.max([row.errors for row in found.rows if row.quantity == quantity and row.errors], axis=0)
        if errors.min() > 0:
            axes.loglog(found.steps, errors, "o-", label=quantity)
    if axes.lines:
        steps = np.array(found.steps)
        top = max(float(line.get_ydata()[0]) for line in axes.lines)
        axes.loglog(steps, top * steps / steps[0], "k--", linewidth=0.8, label="first order")
        axes.legend(fontsize="small")


def _draw_curves(found: Agreement, axes: Any) -> None:
    axes.set_xlabel("time [s]")
    axes.set_ylabel("coordinates [rad, m]")
    axes.grid(alpha=0.3)
    if found.curves is None:
        return
    lines = []
    for ours, bullet in zip(found.curves.ours.T, found.curves.bullet.T, strict=True):
        lines += axes.plot(found.curves.time, ours, linewidth=1.2)
        axes.plot(found.curves.time[::4], bullet[::4], ".", color=lines[-1].get_color(), markersize=4)
    legend(axes, lines, found.curves.names)
    axes.set_title("lines: mbplugin, dots: PyBullet at its smallest step", fontsize="small")
