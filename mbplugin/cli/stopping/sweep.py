"""``mbplugin sweep``: many stops with random states, brakes and payloads, on all cores or a cluster."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.acting import LoadOption
from mbplugin.cli.shared.braking import (
    BoundOption,
    BrakeOption,
    CategoryOption,
    DecelerationOption,
    DelayToleranceOption,
    RequireBrakesOption,
    StopDurationOption,
    StopLimitsOption,
    StopPayloadOption,
    ToolOption,
    TorqueToleranceOption,
    parse_bound,
    parse_range,
)
from mbplugin.cli.shared.command_line import record_of_scene
from mbplugin.cli.shared.model import AS_WRITTEN, Reading, quantities_of, read_scene, reads_model
from mbplugin.cli.shared.output import complain
from mbplugin.cli.shared.output_format import ForceOption
from mbplugin.cli.shared.progress import count_bar
from mbplugin.cli.shared.report import CommandReport, earlier_report, emit_report
from mbplugin.cli.shared.termination import exit_code_of, termination_interrupts
from mbplugin.cli.shared.zones import (
    PayloadRadiusOption,
    ZoneOption,
    ZoneResolutionOption,
    zone_request,
)
from mbplugin.files import require_folder
from mbplugin.model.enumerations import Backend
from mbplugin.simulation.budget import MAX_SECONDS
from mbplugin.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbplugin.model.scene import Scene
    from mbplugin.model.units import Units
    from mbplugin.report.html.chapter import Chapter
    from mbplugin.report.text.layout import Line
    from mbplugin.stopping.sweep.run import SweepReport
    from mbplugin.stopping.sweep.swept import Swept

#: Files that are named one by one.
_LINES = 10


Out = Annotated[
    Path,
    typer.Option("--out", metavar="FOLDER", help="Folder of the part files; resumes an interrupted sweep."),
]
Number = Annotated[int, typer.Option("--number", metavar="N", help="Number of stops.")]
Seed = Annotated[int, typer.Option(metavar="S", help="Seed of the random numbers.")]
Trajectory = Annotated[
    Path | None,
    typer.Option(metavar="CSV|NPZ", help="Draw the states from the samples of this motion."),
]
Spread = Annotated[
    float, typer.Option("--q-spread", metavar="R", help="Largest variation of coordinates, rad and m.")
]
Speeds = Annotated[
    str, typer.Option("--speed-range", metavar="LOW,HIGH", help="Range of the factor on all rates.")
]
Payloads = Annotated[
    str,
    typer.Option("--payload-range", metavar="LOW,HIGH", help="Range of the factor on the payload's mass."),
]
BackendOption = Annotated[
    Backend, typer.Option("--backend", help="loky: this machine's cores; dask or ray: a cluster.")
]
Jobs = Annotated[int, typer.Option(metavar="K", help="Processes; -1: all cores.")]
Address = Annotated[
    str | None,
    typer.Option(metavar="HOST:PORT", help="Address of dask's scheduler or of ray; default: this machine."),
]


@reads_model
def sweep_command(
    file: opt.FileArgument,
    out: Out,
    number: Number,
    seed: Seed = 0,
    q: opt.QOption = None,
    qd: opt.QdOption = None,
    trajectory: Trajectory = None,
    q_spread: Spread = 0.0,
    speed_range: Speeds = "1,1",
    category: CategoryOption = 0,
    brake: BrakeOption = None,
    require_brakes: RequireBrakesOption = False,
    deceleration: DecelerationOption = None,
    torque_tolerance: TorqueToleranceOption = 0.0,
    delay_tolerance: DelayToleranceOption = 0.0,
    payload: StopPayloadOption = None,
    payload_range: Payloads = "1,1",
    load: LoadOption = None,
    bound: BoundOption = None,
    tool: ToolOption = None,
    limits: StopLimitsOption = "stop",
    duration: StopDurationOption = 10.0,
    max_seconds: opt.MaxSecondsOption = MAX_SECONDS,
    backend: BackendOption = "loky",
    jobs: Jobs = -1,
    address: Address = None,
    zone: ZoneOption = None,
    zone_resolution: ZoneResolutionOption = None,
    payload_radius: PayloadRadiusOption = None,
    output_format: opt.PageFormatOption = "text",
    output: opt.OutputOption = None,
    force: ForceOption = False,
    against: opt.AgainstOption = None,
    reading: Reading = AS_WRITTEN,
) -> None:
    """Print quantiles and worst cases of many stops: computed, not measured.

    Every stop depends only on the seed and its number, not on the backend. Exit code: 0 for all outcomes, 130
    if interrupted and 143 if terminated (the same command resumes the sweep), 2 for unusable input or wrong
    usage.
    """
    from mbplugin.stopping.sweep.backend import connected, end_workers, joblib_with

    require_folder(output)
    earlier = earlier_report(against, "sweep")
    share = None if bound is None else parse_bound(bound)
    joblib_with(backend)
    scene = read_scene(file, (output, *(zone or ())), reading, also=(trajectory, against))
    given = quantities_of(scene, file, reading)
    requested = zone_request(zone, zone_resolution, payload_radius, output, given.units)
    from mbplugin.stopping.sweep.run import sweep
    from mbplugin.stopping.sweep.study import sweep_plan
    from mbplugin.stopping.sweep.swept import Swept

    plan = sweep_plan(
        scene,
        number,
        given.coordinates(q),
        given.rates(qd),
        seed=seed,
        trajectory=trajectory,
        q_spread=q_spread,
        speed_range=parse_range("--speed-range", speed_range),
        category=category,
        payload=given.tool_payloads(payload),
        brakes=given.brakes(brake),
        require_brakes=require_brakes,
        decelerations=given.accelerations(deceleration, "--deceleration"),
        torque_tolerance=torque_tolerance,
        delay_tolerance=delay_tolerance,
        payload_range=parse_range("--payload-range", payload_range),
        loads=given.loads(load),
        tool=tool,
        limits=limits,
        duration=duration,
        max_seconds=max_seconds,
    )
    try:
        with (
            termination_interrupts(),
            count_bar("stops") as progress,
            connected(backend, address, jobs),
        ):
            report = sweep(plan, out, jobs=jobs, backend=backend, progress=progress, force=force)
            if backend == "loky" and jobs != 1:
                # all parts are in the folder
                end_workers()
    except KeyboardInterrupt as interrupt:
        complain(f"mbplugin: interrupted; the same command goes on in {out}.")
        raise typer.Exit(exit_code_of(interrupt)) from None
    _tell_replaced(report)
    requested.write(scene, plan)
    swept = Swept(report, plan, str(out), {} if share is None else report.bounds(*share))
    emit_report(_report(swept, scene, file, given.units, trajectory), output_format, output, earlier)


def _tell_replaced(report: SweepReport) -> None:
    """Say on stderr which files of the folder were made anew."""
    lines = [f"{file} was made anew: {reason}" for file, reason in report.replaced.items()]
    for line in lines[:_LINES]:
        complain(f"mbplugin: {visible(line)}.")
    if len(lines) > _LINES:
        complain(f"mbplugin: {len(lines) - _LINES} more files were made anew.")


def _report(swept: Swept, scene: Scene, file: str, units: Units, trajectory: Path | None) -> CommandReport:
    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.stopping.sweep import sweep_lines

        return sweep_lines(swept, width, units)

    def chapter() -> Chapter:
        from mbplugin.report.html.chapters import sweep_chapter

        return sweep_chapter(swept, units)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.stopping.sweep import sweep_document

        return sweep_document(swept, file, scene.files)

    return CommandReport(lines, document, partial(record_of_scene, scene, (trajectory,)), chapter)
