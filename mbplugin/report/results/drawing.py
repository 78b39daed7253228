"""Pictures that several results share, drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from mbplugin.phrases import cut_short

#: Letters of a name, and names on an axis, that leave room for the picture.
_LONGEST, _MOST = 24, 40
_UNIQUE, _OPEN, _NONE = "#0072b2", "#d55e00", "#eeeeee"


def grid(figure: Any, title: str, names: Sequence[str], unique: Sequence[Mapping[str, bool]]) -> None:
    """Draw which components of named constraints are unique: blue where they are, orange where not."""
    columns = list(dict.fromkeys(name for row in unique for name in row))
    cells = np.array([[row.get(name, -1) for name in columns] for row in unique], dtype=float)
    axes = figure.add_subplot()
    if cells.size:
        from matplotlib.colors import ListedColormap

        colours = ListedColormap([_NONE, _OPEN, _UNIQUE])
        axes.imshow(cells[:_MOST], cmap=colours, vmin=-1, vmax=1, aspect="auto")
    axes.set_xticks(range(len(columns)), columns)
    axes.set_yticks(range(len(names[:_MOST])), [cut_short(name, _LONGEST) for name in names[:_MOST]])
    axes.set_title(f"{cut_short(title, 60)}: blue unique, orange not unique", loc="left")


def bars(
    figure: Any, title: str, unit: str, names: Sequence[str], series: Mapping[str, Sequence[float]]
) -> None:
    """Draw named values beside each other, one colour per series; what is not finite is a word."""
    axes = figure.add_subplot()
    width = 0.8 / max(1, len(series))
    places = np.arange(len(names[:_MOST]))
    for k, (label, values) in enumerate(series.items()):
        shown = np.array(values[:_MOST], dtype=float)
        finite = np.isfinite(shown)
        axes.bar(places + k * width, np.where(finite, shown, 0.0), width, label=label)
        for place in places[~finite] + k * width:
            axes.annotate("infinite", (place, 0.0), rotation=90, ha="center", va="bottom", fontsize="small")
    axes.set_xticks(places + 0.4 - width / 2, [cut_short(name, _LONGEST) for name in names[:_MOST]])
    axes.tick_params(axis="x", rotation=60 if len(names) > 6 else 0)
    axes.set_ylabel(unit)
    axes.set_title(cut_short(title, 80), loc="left")
    if len(series) > 1:
        axes.legend()
