"""Zones as files, by the ending: DXF, SVG and CSV of the floor, STL of the solids."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import numpy as np

from mbplugin.csv_tables import write_csv
from mbplugin.errors import BadUsage
from mbplugin.phrases import number
from mbplugin.stopping.zones.libraries import ezdxf, shapely
from mbplugin.visible import visible

if TYPE_CHECKING:
    from mbplugin.stopping.zones.zone import StopZone

_LAYER = "STOP_ZONE"
#: Metres, in the header of a DXF.
_METRES = 6


def require_writable(paths: Iterable[Path]) -> None:
    """Refuse files that no zone can be written to, before anything is computed.

    Raises
    ------
    BadUsage
        An unknown ending.
    MissingDependency
    """
    for path in paths:
        if path.suffix.lower() not in WRITERS:
            raise BadUsage(
                f"a zone cannot be written as {path.suffix or 'a file without ending'}",
                where=str(path),
                expected=" or ".join(WRITERS),
            )
        shapely()
        if path.suffix.lower() == ".dxf":
            ezdxf()


def zone_sentences(zone: StopZone) -> tuple[str, ...]:
    """Return what a zone is, and what was assumed, one sentence each."""
    size = " × ".join(f"{d:.3f}" for d in zone.upper - zone.lower)
    stops = "1 stop" if zone.stops == 1 else f"{zone.stops} stops"
    return (
        f"zone of {stops} of {zone.model}: {zone.area:.4g} m² on the floor, a box of {size} m",
        *zone.assumptions,
    )


def _dxf(zone: StopZone, path: Path) -> None:
    document = ezdxf().new("R2010", setup=False)
    document.units = _METRES
    document.layers.add(_LAYER, color=1)
    for k, sentence in enumerate(zone_sentences(zone)):
        document.header.custom_vars.append(f"mbplugin {k + 1}", visible(sentence))
    space = document.modelspace()
    for polygon in zone.polygons:
        space.add_lwpolyline(polygon.tolist(), close=True, dxfattribs={"layer": _LAYER})
    document.saveas(path)


def _csv(zone: StopZone, path: Path) -> None:
    corners = [(k, x, y) for k, polygon in enumerate(zone.polygons, start=1) for x, y in polygon]
    write_csv(
        path,
        ("polygon", "x [m]", "y [m]"),
        ((k, number(x, ".6f"), number(y, ".6f")) for k, x, y in corners),
        map(visible, zone_sentences(zone)),
    )


def _svg(zone: StopZone, path: Path) -> None:
    """Write a picture in mm, x to the right and y up."""
    low, high = 1e3 * zone.lower[:2], 1e3 * zone.upper[:2]
    wide, tall = high - low
    outlines = " ".join(
        "M " + " L ".join(f"{number(1e3 * x, '.3f')} {number(-1e3 * y, '.3f')}" for x, y in polygon) + " Z"
        for polygon in zone.polygons
    )
    sentences = escape(visible(" ".join(f"{sentence}." for sentence in zone_sentences(zone))))
    path.write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{wide:.3f}mm" height="{tall:.3f}mm"'
        f' viewBox="{low[0]:.3f} {-high[1]:.3f} {wide:.3f} {tall:.3f}">\n'
        f"<title>{escape(visible(f'Stop zone of {zone.model}'))}</title>\n<desc>{sentences}</desc>\n"
        f'<path d="{outlines}" fill="#d62728" fill-opacity="0.25" stroke="#d62728" stroke-width="1"/>\n</svg>\n',
        encoding="utf-8",
        newline="\n",
    )


def _stl(zone: StopZone, path: Path) -> None:
    """Write the solids as binary STL, by trimesh.

    Raises
    ------
    BadUsage
        The zone has none.
    """
    if zone.triangles is None:
        raise BadUsage("the zone has no solids", where=str(path), remedy="compute it with solid=True")
    import trimesh

    corners = np.asarray(zone.triangles).reshape(-1, 3)
    mesh = trimesh.Trimesh(corners, np.arange(len(corners)).reshape(-1, 3), process=False)
    mesh.export(path, file_type="stl")


#: What writes a zone, by the ending of the file.
WRITERS: dict[str, Callable[[StopZone, Path], None]] = {
    ".dxf": _dxf,
    ".svg": _svg,
    ".csv": _csv,
    ".stl": _stl,
}
