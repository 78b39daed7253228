"""``mbplugin estop``: compute the stop of a moving robot by its brakes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.acting import LoadOption
from mbplugin.cli.shared.braking import (
    BrakeOption,
    CategoryOption,
    DecelerationOption,
    RequireBrakesOption,
    StopDurationOption,
    StopLimitsOption,
    StopPayloadOption,
    ToolOption,
    ToolPointOption,
)
from mbplugin.cli.shared.command_line import record_of_scene
from mbplugin.cli.shared.model import AS_WRITTEN, Reading, quantities_of, read_scene, reads_model
from mbplugin.cli.shared.progress import time_bar
from mbplugin.cli.shared.report import CommandReport, earlier_report, emit_report
from mbplugin.cli.shared.zones import (
    PayloadRadiusOption,
    ZoneOption,
    ZoneResolutionOption,
    zone_request,
)
from mbplugin.errors import BadUsage
from mbplugin.files import require_folder
from mbplugin.simulation.budget import MAX_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbplugin.cli.shared.quantities import Quantities
    from mbplugin.model.scene import Scene
    from mbplugin.model.units import Units
    from mbplugin.report.html.chapter import Chapter
    from mbplugin.report.text.layout import Line
    from mbplugin.stopping.outcome.values import StopReport
    from mbplugin.stopping.scenario.start import Start

PayloadShare = Annotated[
    float, typer.Option("--payload-share", metavar="S", help="Factor of the scene's payloads; 0: none.")
]
Trajectory = Annotated[
    Path | None,
    typer.Option(metavar="CSV|NPZ", help="Start from a recorded motion (columns time and joints)."),
]
To = Annotated[
    list[str] | None,
    typer.Option("--to", metavar="NAME=VALUE,…", help="Start during a move from --q to this pose."),
]
At = Annotated[
    float,
    typer.Option(metavar="S", parser=opt.seconds("--at"), help="Time of the stop signal in that motion, s."),
]


@reads_model
def estop_command(
    file: opt.FileArgument,
    q: opt.QOption = None,
    qd: opt.QdOption = None,
    category: CategoryOption = 0,
    payload: StopPayloadOption = None,
    payload_share: PayloadShare = 1.0,
    brake: BrakeOption = None,
    require_brakes: RequireBrakesOption = False,
    deceleration: DecelerationOption = None,
    load: LoadOption = None,
    trajectory: Trajectory = None,
    to: To = None,
    at: At = 0.0,
    tool: ToolOption = None,
    tool_point: ToolPointOption = None,
    limits: StopLimitsOption = "stop",
    duration: StopDurationOption = 10.0,
    max_seconds: opt.MaxSecondsOption = MAX_SECONDS,
    zone: ZoneOption = None,
    zone_resolution: ZoneResolutionOption = None,
    payload_radius: PayloadRadiusOption = None,
    output_format: opt.PageFormatOption = "text",
    output: opt.OutputOption = None,
    against: opt.AgainstOption = None,
    reading: Reading = AS_WRITTEN,
) -> None:
    """Print how a moving robot stops: times, distances, loads and energies, computed, not measured.

    Exit code: 0 for every outcome, 2 for unusable input or wrong usage.
    """
    require_folder(output)
    earlier = earlier_report(against, "estop")
    scene = read_scene(file, (output, *(zone or ())), reading, also=(trajectory, against))
    given = quantities_of(scene, file, reading)
    requested = zone_request(zone, zone_resolution, payload_radius, output, given.units)
    from mbplugin.stopping.run import estop

    with time_bar() as progress:
        report = estop(
            scene,
            given.coordinates(q),
            given.rates(qd),
            category=category,
            payload=given.tool_payloads(payload),
            payload_share=payload_share,
            brakes=given.brakes(brake),
            require_brakes=require_brakes,
            decelerations=given.accelerations(deceleration, "--deceleration"),
            loads=given.loads(load),
            start=_start(trajectory, to, q, at, given),
            tool=tool,
            tool_point=given.point(tool_point, "--tool-point"),
            limits=limits,
            duration=duration,
            max_seconds=max_seconds,
            progress=progress,
        )
    requested.write(scene, report)
    written = _report(report, scene, file, given.units, trajectory)
    emit_report(written, output_format, output, earlier)


def _report(
    stop: StopReport, scene: Scene, file: str, units: Units, trajectory: Path | None
) -> CommandReport:
    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.stopping.estop import estop_lines

        return estop_lines(stop, width, units)

    def chapter() -> Chapter:
        from mbplugin.report.html.chapters import stop_chapter

        return stop_chapter(scene, stop, units)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.stopping.estop import estop_document

        return estop_document(stop, file, scene.files)

    return CommandReport(lines, document, partial(record_of_scene, scene, (trajectory,)), chapter)


def _start(
    trajectory: Path | None, to: list[str] | None, q: list[str] | None, at: float, given: Quantities
) -> Start | None:
    from mbplugin.stopping.scenario.start import Move, Recorded

    if trajectory is not None and to is not None:
        raise BadUsage("--trajectory and --to were both given", expected="one of them")
    if trajectory is not None:
        return Recorded(trajectory, at)
    if to is not None:
        return Move(given.coordinates(q), given.coordinates(to, "--to"), at)
    if at:
        raise BadUsage("--at says when in a motion, and there is none", remedy="add --trajectory or --to")
    return None
