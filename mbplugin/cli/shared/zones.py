"""Options of stops that write the zone that is swept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mbplugin.cli.shared.output import complain
from mbplugin.cli.shared.progress import count_bar
from mbplugin.errors import BadUsage
from mbplugin.files import require_folder
from mbplugin.visible import visible

if TYPE_CHECKING:
    from mbplugin.model.scene import Scene
    from mbplugin.model.units import Units
    from mbplugin.stopping.outcome.values import StopReport
    from mbplugin.stopping.sweep.plan import SweepPlan
    from mbplugin.stopping.table.values import StoppingTable
    from mbplugin.stopping.zones.zone import StopZone

#: Largest sagitta and growth of the outline, m.
RESOLUTION = 0.002

ZoneOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--zone",
        metavar="FILE",
        help="Write what robot, tool and payload sweep: .dxf, .svg, .csv (floor), .stl (solids); repeatable.",
    ),
]
ZoneResolutionOption = Annotated[
    str | None,
    typer.Option(
        "--zone-resolution",
        metavar="M",
        help=f"Largest sagitta and growth of the zone, m; default: {RESOLUTION:g} m.",
    ),
]
PayloadRadiusOption = Annotated[
    str | None,
    typer.Option(
        "--payload-radius",
        metavar="M",
        help="Of a ball around the payload, for the zone, m.",
    ),
]


@dataclass(frozen=True)
class ZoneRequest:
    """The zone that a command line asks for.

    Parameters
    ----------
    files : tuple of Path
    resolution : float
        m.
    payload_radius : float, optional
        m.
    """

    files: tuple[Path, ...]
    resolution: float
    payload_radius: float | None

    def write(self, scene: Scene, stops: StopReport | StoppingTable | SweepPlan) -> None:
        """Compute the zone, write it to all files, and say on stderr what it is."""
        if not self.files:
            return
        from mbplugin.stopping.zones.files import zone_sentences

        zone = self._computed(scene, stops)
        for file in self.files:
            zone.save(file)
        for sentence in zone_sentences(zone):
            complain(f"mbplugin: {visible(sentence)}.")

    def _computed(self, scene: Scene, stops: StopReport | StoppingTable | SweepPlan) -> StopZone:
        from mbplugin.stopping.zones.run import stop_zone

        with count_bar("stops in the zone") as progress:
            return stop_zone(
                scene,
                stops,
                resolution=self.resolution,
                payload_radius=self.payload_radius,
                solid=any(file.suffix.lower() == ".stl" for file in self.files),
                progress=progress,
            )


def zone_request(
    files: list[Path] | None,
    resolution: str | None,
    payload_radius: str | None,
    output: Path | None,
    units: Units,
) -> ZoneRequest:
    """Return what the options of a zone ask for, checked before anything is computed.

    Raises
    ------
    BadUsage
        An unknown ending, a file twice, a missing folder, or an option of a zone without one.
    MissingDependency
    """
    own = tuple(files or ())
    if not own and payload_radius is not None:
        raise BadUsage("--payload-radius is for a zone, and none is asked for", remedy="add --zone FILE")
    if own:
        from mbplugin.stopping.zones.files import require_writable

        require_writable(own)
    names = [file.resolve() for file in (*own, output) if file is not None]
    if len(set(names)) < len(names):
        raise BadUsage("two outputs are one file", expected="a file for each")
    for file in own:
        require_folder(file)
    size = RESOLUTION if resolution is None else units.value(resolution, "length", "--zone-resolution is")
    radius = None if payload_radius is None else units.value(payload_radius, "length", "--payload-radius is")
    return ZoneRequest(own, size, radius)
