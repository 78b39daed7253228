"""A trajectory as a picture: coordinates, rates, momenta and energies over time, events as lines across."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mbplugin.errors import BadUsage, MissingDependency
from mbplugin.files import replacing
from mbplugin.phrases import cut_short
from mbplugin.simulation.trajectory.saving import Column, columns

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mbplugin.simulation.trajectory.trajectory import Trajectory

#: Endings of pictures.
ENDINGS = (".png", ".svg", ".pdf", ".jpg")
#: Curves that still fit into a legend.
_NAMED = 12
#: Letters of a name that leave room for the curves beside them, and of a title for its outcome.
_LONGEST, _TITLE = 32, 60


def plot(trajectory: Trajectory, path: str | Path | None = None) -> Figure:
    """Draw a trajectory into a file, or in a window where none is named, and return the figure.

    Raises
    ------
    MissingDependency
        Matplotlib is not installed.
    BadUsage
        No picture by its ending, or a file that cannot be written.
    """
    return draw(partial(_draw, trajectory), (9.0, 12.0), path)


def draw(onto: Callable[[Any], None], size: tuple[float, float], path: str | Path | None) -> Figure:
    """Return a figure (inches) onto which something was drawn, in a file, or in a window where none is named."""
    if path is None:
        pyplot = _matplotlib("pyplot")
        shown: Figure = pyplot.figure(figsize=size, layout="constrained")
        onto(shown)
        if "inline" in pyplot.get_backend():
            # a cell shows what it returns: once, not twice
            pyplot.close(shown)
        else:
            pyplot.show()
        return shown
    path = Path(path)
    require_picture(path)
    figure: Figure = _matplotlib("figure").Figure(figsize=size, layout="constrained")
    onto(figure)
    save(figure, path)
    return figure


def require_picture(path: Path) -> None:
    """Refuse a file name that is no picture's, and a picture where matplotlib is missing.

    Raises
    ------
    BadUsage
        The name has another ending.
    MissingDependency
        matplotlib is not installed.
    """
    if path.suffix.lower() not in ENDINGS:
        raise BadUsage(f"cannot draw curves into {path.name!r}", expected=", ".join(ENDINGS))
    _matplotlib("figure")


def save(figure: Any, path: Path) -> None:
    """Write a figure in the format of the ending."""
    with replacing(path) as temporary, warnings.catch_warnings():
        # a letter that the font lacks is drawn as a box
        warnings.filterwarnings("ignore", "Glyph .* missing", UserWarning)
        figure.savefig(temporary)


def legend(axes: Any, lines: Sequence[Any], names: Sequence[str], **where: str) -> None:
    """Name the curves as their file does, where so many fit."""
    if 0 < len(lines) <= _NAMED:
        shown = [cut_short(name, _LONGEST) for name in names]
        for text in axes.legend(lines, shown, fontsize="small", **where).get_texts():
            # a dollar sign in a name is no formula
            text.set_parse_math(False)


def _matplotlib(module: str) -> Any:
    import importlib

    try:
        return importlib.import_module(f"matplotlib.{module}")
    except ImportError:
        raise MissingDependency.of("a plot", "matplotlib", "plot") from None


def _draw(trajectory: Trajectory, figure: Any) -> None:
    curves = list(columns(trajectory))
    panels = {
        "coordinates": [c for c in curves if c.what == "q"],
        "rates": [c for c in curves if c.what == "qd"],
        "momenta": [c for c in curves if c.what == "momentum"],
        "energy": [c for c in curves if c.unit == "J"],
    }
    all_axes = figure.subplots(len(panels), 1, sharex=True)
    for axes, (title, shown) in zip(all_axes, panels.items(), strict=True):
        _panel(axes, trajectory, title, shown)
    all_axes[-1].set_xlabel("time [s]")
    name = cut_short(trajectory.mechanism.name, _TITLE)
    figure.suptitle(f"{name}: {trajectory.outcome}").set_parse_math(False)


def _panel(axes: Any, trajectory: Trajectory, title: str, shown: list[Column]) -> None:
    lines = [axes.plot(trajectory.time, curve.values, linewidth=1.2)[0] for curve in shown]
    for event in trajectory.events:
        axes.axvline(event.time, color="0.6", linewidth=0.8, linestyle="--")
    units = dict.fromkeys(c.unit for c in shown if c.unit != "1")
    axes.set_ylabel(f"{title} [{', '.join(units)}]" if units else title)
    axes.grid(alpha=0.3)
    legend(axes, lines, [curve.name or curve.what for curve in shown], loc="upper right")
