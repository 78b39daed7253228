"""A trajectory as a picture: coordinates, rates and energies over time, events as lines across."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbplugin.errors import BadUsage, MissingDependency
from mbplugin.files import replacing
from mbplugin.simulation.saving import Column, columns

if TYPE_CHECKING:
    from mbplugin.simulation.trajectory import Trajectory

#: Endings of pictures.
ENDINGS = (".png", ".svg", ".pdf", ".jpg")
#: Curves that still fit into a legend.
_NAMED = 12


def plot(trajectory: Trajectory, path: str | Path | None = None) -> None:
    """Draw a trajectory into a file, or in a window where none is named.

    Raises
    ------
    MissingDependency
        Matplotlib is not installed.
    BadUsage
        No picture by its ending, or a file that cannot be written.
    """
    if path is None:
        pyplot = _matplotlib("pyplot")
        _draw(trajectory, pyplot.figure(figsize=(9, 9), layout="constrained"))
        pyplot.show()
        return
    path = Path(path)
    require_picture(path)
    figure = _matplotlib("figure").Figure(figsize=(9, 9), layout="constrained")
    _draw(trajectory, figure)
    with replacing(path) as temporary:
        figure.savefig(temporary)


def require_picture(path: Path) -> None:
    """Refuse a file name that is no picture's, and a picture where matplotlib is missing."""
    if path.suffix not in ENDINGS:
        raise BadUsage(f"cannot draw a trajectory into {path.name!r}", expected=", ".join(ENDINGS))
    _matplotlib("figure")


def _matplotlib(module: str) -> Any:
    import importlib

    try:
        return importlib.import_module(f"matplotlib.{module}")
    except ImportError:
        raise MissingDependency(
            "plots need matplotlib, which is not installed", remedy="pip install 'mbplugin[plot]'"
        ) from None


def _draw(trajectory: Trajectory, figure: Any) -> None:
    curves = list(columns(trajectory))
    panels = {
        "coordinates": [c for c in curves if c.what == "q"],
        "rates": [c for c in curves if c.what == "qd"],
        "energy": [c for c in curves if c.unit == "J"],
    }
    all_axes = figure.subplots(3, 1, sharex=True)
    for axes, (title, shown) in zip(all_axes, panels.items(), strict=True):
        _panel(axes, trajectory, title, shown)
    all_axes[-1].set_xlabel("time [s]")
    figure.suptitle(f"{trajectory.mechanism.name}: {trajectory.outcome}")


def _panel(axes: Any, trajectory: Trajectory, title: str, shown: list[Column]) -> None:
    lines = [axes.plot(trajectory.time, curve.values, linewidth=1.2)[0] for curve in shown]
    for event in trajectory.events:
        axes.axvline(event.time, color="0.6", linewidth=0.8, linestyle="--")
    units = dict.fromkeys(c.unit for c in shown if c.unit != "1")
    axes.set_ylabel(f"{title} [{', '.join(units)}]" if units else title)
    axes.grid(alpha=0.3)
    if 0 < len(shown) <= _NAMED:
        names = [curve.name or curve.what for curve in shown]
        for text in axes.legend(lines, names, fontsize="small", loc="upper right").get_texts():
            # a dollar sign in a name is no formula
            text.set_parse_math(False)
