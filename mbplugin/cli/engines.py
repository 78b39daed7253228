"""``mbplugin engines``: the joint forces of several engines side by side."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.acting import LoadOption, PayloadOption
from mbplugin.cli.shared.command_line import record_of_scene
from mbplugin.cli.shared.model import AS_WRITTEN, Reading, quantities_of, read_scene, reads_model
from mbplugin.cli.shared.report import CommandReport, earlier_report, emit_report

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbplugin.comparison.side_by_side.values import SideBySide
    from mbplugin.model.scene import Scene
    from mbplugin.report.html.chapter import Chapter
    from mbplugin.report.text.layout import Line

HoldOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,…", help="Joints to hold; default: at rest the actuated joints, as many as needed."
    ),
]
EngineOption = Annotated[
    list[str] | None,
    typer.Option(
        "--engine",
        metavar="NAME,…",
        help="Engines beside ours: pybullet, mujoco (both by default), pinocchio.",
    ),
]


@reads_model
def engines_command(
    file: opt.FileArgument,
    q: opt.QOption = None,
    qd: opt.QdOption = None,
    load: LoadOption = None,
    payload: PayloadOption = None,
    hold: HoldOption = None,
    engine: EngineOption = None,
    tolerance: opt.ToleranceOption = None,
    output_format: opt.PageFormatOption = "text",
    output: opt.OutputOption = None,
    against: opt.AgainstOption = None,
    reading: Reading = AS_WRITTEN,
) -> None:
    """Print the joint forces of mbplugin, PyBullet, MuJoCo and Pinocchio, and which of them a rigid model determines.

    At rest this is statics; with rates it is the instant of a motion that follows from the loads. A wrench
    acts on the successor, at the origin of its joint frame. Exit code: 0, 1 if engines differ by more than
    1 % in a component that is determined, 2 for unusable input, wrong usage, or a mechanism that moves under
    the load.
    """
    from mbplugin.comparison.side_by_side.run import engines

    earlier = earlier_report(against, "engines")
    scene = read_scene(file, (output,), reading, also=(against,))
    given = quantities_of(scene, file, reading)
    found = engines(
        scene,
        given.coordinates(q),
        given.rates(qd) if qd else None,
        loads=given.loads(load),
        payload=given.payloads(payload) or (),
        hold=None if hold is None else opt.split(hold),
        only=None if engine is None else opt.split(engine),
        tolerance=tolerance,
    )
    emit_report(_report(found, scene, file), output_format, output, earlier)
    if not found.agrees:
        raise typer.Exit(1)


def _report(found: SideBySide, scene: Scene, file: str) -> CommandReport:
    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.engines import engines_lines

        return engines_lines(found, width)

    def chapter() -> Chapter:
        from mbplugin.report.html.chapters import engines_chapter

        return engines_chapter(scene, found)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.engines import engines_document

        return engines_document(found, file, scene.files)

    return CommandReport(lines, document, partial(record_of_scene, scene), chapter)
