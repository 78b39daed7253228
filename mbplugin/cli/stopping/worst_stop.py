"""``mbplugin worst-stop``: a search for the stops with the longest time, travel and tool path."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.braking import (
    BrakeOption,
    CategoryOption,
    DecelerationOption,
    DelayToleranceOption,
    FullSpeedOption,
    RatedPayloadOption,
    RequireBrakesOption,
    StopDurationOption,
    StopLimitsOption,
    ToolOption,
    TorqueToleranceOption,
    parse_range,
)
from mbplugin.cli.shared.command_line import record_of_scene
from mbplugin.cli.shared.model import AS_WRITTEN, Reading, quantities_of, read_scene, reads_model
from mbplugin.cli.shared.progress import total_bar
from mbplugin.cli.shared.report import CommandReport, earlier_report, emit_report
from mbplugin.errors import BadUsage
from mbplugin.files import require_folder
from mbplugin.model.enumerations import FailureKind, Moving
from mbplugin.model.units import SI
from mbplugin.simulation.budget import MAX_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbplugin.model.scene import Scene
    from mbplugin.model.units import Units
    from mbplugin.report.html.chapter import Chapter
    from mbplugin.report.text.layout import Line
    from mbplugin.stopping.worst.values import Failure, WorstStops

_FORM = "dead, worn=SHARE or late=SECONDS"

Axes = Annotated[
    list[str] | None,
    typer.Option(
        "--axes", metavar="NAME,…", help="Joints that move; default: all to the tool with a velocity limit."
    ),
]
MovingOption = Annotated[
    Moving, typer.Option("--moving", help="one: one axis at a time at full speed; all: all at once.")
]
PayloadRange = Annotated[
    str,
    typer.Option("--payload-range", metavar="LOW,HIGH", help="Shares of the rated payload that are carried."),
]
FailureOption = Annotated[
    list[str] | None,
    typer.Option(
        "--failure",
        metavar="dead|worn=SHARE|late=S",
        help="Compute the worst stops again with each brake failing in this way; repeatable.",
    ),
]
Samples = Annotated[int, typer.Option(metavar="N", help="Random stops with which each search begins.")]
Seed = Annotated[int, typer.Option(metavar="S", help="Seed of the search.")]
MaxSeconds = Annotated[
    float,
    typer.Option(
        "--max-seconds",
        metavar="S",
        parser=opt.seconds("--max-seconds"),
        help="Time limit of the search, s; beyond it the worst stops so far are reported.",
    ),
]
Commands = Annotated[
    bool, typer.Option("--commands", help="In text output, print the estop command of each stop.")
]


@reads_model
def worst_stop_command(
    file: opt.FileArgument,
    axes: Axes = None,
    category: CategoryOption = 0,
    moving: MovingOption = "one",
    payload: RatedPayloadOption = None,
    payload_range: PayloadRange = "0,1",
    speed: FullSpeedOption = None,
    brake: BrakeOption = None,
    deceleration: DecelerationOption = None,
    torque_tolerance: TorqueToleranceOption = 0.0,
    delay_tolerance: DelayToleranceOption = 0.0,
    failure: FailureOption = None,
    require_brakes: RequireBrakesOption = False,
    tool: ToolOption = None,
    limits: StopLimitsOption = "stop",
    duration: StopDurationOption = 10.0,
    samples: Samples = 2000,
    seed: Seed = 0,
    max_seconds: MaxSeconds = MAX_SECONDS,
    commands: Commands = False,
    output_format: opt.PageFormatOption = "text",
    output: opt.OutputOption = None,
    against: opt.AgainstOption = None,
    reading: Reading = AS_WRITTEN,
) -> None:
    """Search the worst stops of a category over poses, directions, payloads and brakes: a lower bound.

    Exit code: 0 for all outcomes, 2 for unusable input or wrong usage.
    """
    require_folder(output)
    earlier = earlier_report(against, "worst-stop")
    scene = read_scene(file, (output,), reading, also=(against,))
    given = quantities_of(scene, file, reading)
    speeds = given.rates(speed, "--speed")
    from mbplugin.stopping.worst.run import worst_stop

    with total_bar("stops") as progress:
        worst = worst_stop(
            scene,
            axes=opt.split(axes) or None,
            category=category,
            moving=moving,
            payload=payload,
            payload_range=parse_range("--payload-range", payload_range),
            speeds=speeds,
            brakes=given.brakes(brake),
            decelerations=given.accelerations(deceleration, "--deceleration"),
            torque_tolerance=torque_tolerance,
            delay_tolerance=delay_tolerance,
            failures=[_parse_failure(text) for text in failure or ()],
            tool=tool,
            require_brakes=require_brakes,
            limits=limits,
            duration=duration,
            samples=samples,
            seed=seed,
            max_seconds=max_seconds,
            progress=progress,
        )
    emit_report(_report(worst, scene, file, given.units, commands), output_format, output, earlier)


def _report(worst: WorstStops, scene: Scene, file: str, units: Units, commands: bool) -> CommandReport:
    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.stopping.worst_stop import worst_stop_lines

        return worst_stop_lines(worst, width, commands=commands, units=units)

    def chapter() -> Chapter:
        from mbplugin.report.html.chapters import worst_chapter

        return worst_chapter(worst, units)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.stopping.worst_stop import worst_stop_document

        return worst_stop_document(worst, file, scene.files)

    return CommandReport(lines, document, partial(record_of_scene, scene), chapter)


def _parse_failure(text: str) -> Failure:
    """Return the failure that ``--failure`` describes.

    Raises
    ------
    BadUsage
        Another word, or an amount that is missing or does not belong there.
    """
    from mbplugin.stopping.worst.values import Failure

    kinds: dict[str, FailureKind] = {"dead": "dead", "worn": "worn", "late": "late"}
    word, equals, amount = text.partition("=")
    kind = kinds.get(word.strip())
    if kind is None or bool(equals) == (kind == "dead"):
        raise BadUsage(f"--failure has {text!r}", expected=_FORM)
    try:
        size = SI.value(amount, "time" if kind == "late" else "number", "--failure has") if equals else 0.0
    except BadUsage:
        raise BadUsage(f"--failure has {text!r}", expected=_FORM) from None
    return Failure(kind, size)
