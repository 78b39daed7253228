"""``mbplugin diff``: whether two models are the same robot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.command_line import record_of_scene
from mbplugin.cli.shared.model import AS_WRITTEN, Reading, read_scene, reads_model
from mbplugin.cli.shared.report import CommandReport, earlier_report, emit_report

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbplugin.comparison.models.values import ModelDiff
    from mbplugin.model.scene import Scene
    from mbplugin.report.html.chapter import Chapter
    from mbplugin.report.record import Record
    from mbplugin.report.text.layout import Line

FirstArgument = Annotated[str, typer.Argument(metavar="A", help="A model or scene file; - reads stdin.")]
SecondArgument = Annotated[str, typer.Argument(metavar="B", help="The other one.")]
MapOption = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="A=B,…",
        help="Links or joints of A and their names in B, where neither names nor structure show it.",
    ),
]
SameOption = Annotated[
    float | None,
    typer.Option(
        "--tolerance",
        metavar="T",
        help="Relative, for masses, and in rad; inertias: 10 T, joints: T/10 of the robot's size. Default 0.001.",
    ),
]


@reads_model
def diff_command(
    first: FirstArgument,
    second: SecondArgument,
    map: MapOption = None,
    tolerance: SameOption = None,
    output_format: opt.PageFormatOption = "text",
    output: opt.OutputOption = None,
    against: opt.AgainstOption = None,
    reading: Reading = AS_WRITTEN,
) -> None:
    """Compare two models: whether they are the same robot, what differs, and probably why.

    Fixed links are merged; link frames, joint axes and zero positions of B are expressed by those of A, and what was
    normalised is listed. Exit code: 0 the same, 1 different, 2 unusable input or wrong usage.
    """
    from mbplugin.comparison.models.run import TOLERANCE, diff

    earlier = earlier_report(against, "diff")
    scenes = tuple(read_scene(file, (output,), reading, also=(against,)) for file in (first, second))
    names = opt.parse_names(map)
    found = diff(*scenes, names=names, tolerance=TOLERANCE if tolerance is None else tolerance)
    emit_report(_report(found, scenes, (first, second)), output_format, output, earlier)
    if not found.same:
        raise typer.Exit(1)


def _report(found: ModelDiff, scenes: tuple[Scene, ...], files: tuple[str, str]) -> CommandReport:
    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.diff import diff_lines

        return diff_lines(found, files, width)

    def chapter() -> Chapter:
        from mbplugin.report.html.chapters import diff_chapter

        return diff_chapter(scenes[0], found)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.diff import diff_document

        return diff_document(found, files, [file for scene in scenes for file in scene.files])

    def record() -> Record:
        return record_of_scene(scenes[0], scenes[1].files)

    return CommandReport(lines, document, record, chapter)
