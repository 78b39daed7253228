"""The zone of stops as a value: polygons on the floor, a box, and solids."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from mbplugin.model.spatial import Array
from mbplugin.phrases import counted, one_line
from mbplugin.rendering import Result


@dataclass(frozen=True, eq=False)
class StopZone(Result):
    """What a robot, its tool and its payload sweep during stops: computed, not measured.

    Parameters
    ----------
    model : str
    stops : int
        How many stops are in it.
    polygons : tuple of (n, 2) array
        The zone on the floor, world x and y, m: counter-clockwise, without holes, the first corner not
        repeated.
    lower, upper : (3,) array
        Of the box around the zone, m.
    sagitta : float
        The largest distance of a path from its chord by which a part of the zone was grown, m.
    resolution : float
        By which the outline was grown and then simplified, m.
    without_shape : tuple of str
        Bodies of which joints and centre of mass stand for shapes that are not stated or cannot be read.
    assumptions : tuple of str
        One sentence each.
    triangles : (m, 3, 3) array or None
        Of closed convex solids that overlap, world, m; None where none were asked for.
    """

    model: str
    stops: int
    polygons: tuple[Array, ...]
    lower: Array
    upper: Array
    sagitta: float
    resolution: float
    without_shape: tuple[str, ...]
    assumptions: tuple[str, ...]
    triangles: Array | None = None

    def __repr__(self) -> str:
        return one_line(self, self.model, (counted(self.stops, "stop"), f"{self.area:.4g} m² on the floor"))

    @property
    def area(self) -> float:
        """On the floor, m²."""
        return sum(
            0.5 * float((x * np.roll(y, -1) - np.roll(x, -1) * y).sum())
            for x, y in (p.T for p in self.polygons)
        )

    def _writers(self) -> Mapping[str, Callable[[Path], object]]:
        """Return what writes the floor as DXF, SVG and CSV, and the solids as STL."""
        from mbplugin.stopping.zones.files import WRITERS

        return {ending: partial(write, self) for ending, write in WRITERS.items()}
