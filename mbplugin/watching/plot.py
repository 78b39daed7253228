"""The picture of a watch: normal forces of contacts, what is marked, and the degree of redundancy over time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbplugin.errors import BadUsage, MissingDependency
from mbplugin.files import PLOTTING_ENDINGS, replacing, require_folder
from mbplugin.model import AnyArray, Array, RowLabel
from mbplugin.watching.numbers import Mark

if TYPE_CHECKING:
    from matplotlib.figure import Figure


#: Forces with a curve of their own: the largest ones.
_MOST = 10


class Kept(NamedTuple):
    """What is kept of each update for a plot: names of the rows, the engine's numbers and what is determined."""

    time: float
    labels: tuple[RowLabel, ...]
    engine: Array
    determined: AnyArray | None
    marks: tuple[Mark, ...]
    redundancy: int | None


def plot(kept: Sequence[Kept], path: Path | None) -> Figure:
    """Return the picture of some updates, and write it to a file if a path is given.

    Raises
    ------
    MissingDependency
        Matplotlib is not installed.
    BadUsage
        There is no update, the ending means no picture, or the file cannot be written.
    """
    if not kept:
        raise BadUsage("there is nothing to plot yet", remedy="call update() first")
    if path is not None:
        if path.suffix.lower() not in PLOTTING_ENDINGS:
            raise BadUsage(
                f"the plot is {str(path)!r}, which is no picture",
                expected=f"a file that ends in {' or '.join(PLOTTING_ENDINGS)}",
            )
        require_folder(path)
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependency.of("a plot", "Matplotlib", "plot") from None
    figure = Figure(figsize=(9, 6), layout="constrained")
    forces, counts = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    _forces(forces, kept)
    time = np.array([one.time for one in kept])
    redundancy = np.array([np.nan if one.redundancy is None else one.redundancy for one in kept])
    marks = np.array([float(len(one.marks)) for one in kept])
    counts.plot(*_parted(time, redundancy), color="0.3", label="degree of redundancy")
    counts.plot(*_parted(time, marks), color="tab:red", label="marked numbers")
    counts.set(xlabel="time, s", ylabel="number")
    counts.legend(loc="upper right", fontsize="small")
    if path is not None:
        with replacing(path) as temporary:
            figure.savefig(temporary, dpi=120)
    return figure


def _forces(axes: Any, kept: Sequence[Kept]) -> None:
    """Draw the largest normal forces, dashed where they are not determined, and red points where they are marked."""
    names = list(dict.fromkeys(label for one in kept for label in one.labels if label.component == "cn"))
    curves = {label: _curve(kept, label) for label in names}
    largest = sorted(names, key=lambda label: -np.nanmax(np.abs(curves[label][0]), initial=0.0))[:_MOST]
    time = np.array([one.time for one in kept])
    for label in sorted(largest, key=names.index):
        values, determined, marked = curves[label]
        one_of_many, known = (np.where(determined == part, values, np.nan) for part in (False, True))
        (line,) = axes.plot(*_parted(time, one_of_many), "--", linewidth=1.2)
        axes.plot(*_parted(time, known), "-", color=line.get_color(), label=label.constraint)
        axes.plot(time[marked], values[marked], ".", color="tab:red")
    axes.set(ylabel="normal force, N", title="solid: determined; dashed: one of many; red: not possible")
    if largest:
        axes.legend(loc="upper right", fontsize="x-small")
    if len(names) > len(largest):
        axes.annotate(
            f"{len(names) - len(largest)} smaller forces are not drawn",
            (0.01, 0.02),
            xycoords="axes fraction",
            fontsize="small",
        )


def _parted(time: Array, values: Array) -> tuple[Array, Array]:
    """Return time (n,) and values (n,) with a gap wherever the time went back, as after a reset."""
    back = np.flatnonzero(np.diff(time) < 0) + 1
    return np.insert(time, back, np.nan), np.insert(values.astype(float), back, np.nan)


def _curve(kept: Sequence[Kept], label: RowLabel) -> tuple[Array, Any, Any]:
    """Return values, whether they are determined, and whether they are marked, (n,) each."""
    values = np.full(len(kept), np.nan)
    determined, marked = np.zeros(len(kept), dtype=bool), np.zeros(len(kept), dtype=bool)
    for k, one in enumerate(kept):
        if label not in one.labels:
            continue
        row = one.labels.index(label)
        values[k] = one.engine[row]
        determined[k] = one.determined is not None and bool(one.determined[row])
        marked[k] = any(mark.constraint == label.constraint for mark in one.marks)
    return values, determined, marked
