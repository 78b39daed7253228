"""``mbplugin engines``: the joint forces of several engines side by side."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.acting import LoadOption, PayloadOption
from mbplugin.cli.shared.command_line import record_of_scene
from mbplugin.cli.shared.model import AS_WRITTEN, Reading, quantities_of, read_scene, reads_model
from mbplugin.cli.shared.output import emit_document, emit_lines

HoldOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,…", help="Joints to hold; default: at rest the actuated joints, as many as needed."
    ),
]
EngineOption = Annotated[
    list[str] | None,
    typer.Option("--engine", metavar="NAME,…", help="Engines beside ours: pybullet, mujoco; default: both."),
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
    output_format: opt.FormatOption = "text",
    output: opt.OutputOption = None,
    reading: Reading = AS_WRITTEN,
) -> None:
    """Print the joint forces of mbplugin, PyBullet and MuJoCo, and which of them a rigid model determines.

    At rest this is statics; with rates it is the instant of a motion that follows from the loads. A wrench
    acts on the successor, at the origin of its joint frame. Exit code: 0, 1 if engines differ by more than
    1 % in a component that is determined, 2 for unusable input, wrong usage, or a mechanism that moves under
    the load.
    """
    from mbplugin.comparison.side_by_side.run import engines

    scene = read_scene(file, (output,), reading)
    given = quantities_of(scene, file, reading)
    found = engines(
        scene,
        given.coordinates(q),
        given.rates(qd) if qd else None,
        loads=given.loads(load),
        payloads=given.payloads(payload) or (),
        hold=None if hold is None else opt.split(hold),
        only=None if engine is None else opt.split(engine),
        tolerance=tolerance,
    )
    record = partial(record_of_scene, scene)
    if output_format == "text":
        from mbplugin.report.text.engines import engines_lines

        emit_lines(lambda width: engines_lines(found, width), output, record)
    else:
        from mbplugin.report.documents.engines import engines_document

        emit_document(engines_document(found, file, scene.files), output, output_format, record)
    if not found.agrees:
        raise typer.Exit(1)
