"""``mbplugin reactions``: the force and moment of every joint, and what determines each of them."""

from __future__ import annotations

import sys
from enum import Enum
from typing import Annotated

import typer

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.acting import LoadOption, PayloadOption, parse_load, parse_payload
from mbplugin.cli.shared.output import emit, refuse_overwriting


class Material(str, Enum):
    """Materials of estimated sections."""

    steel = "steel"
    aluminium = "aluminium"


class Axes(str, Enum):
    """Axes of the printed wrenches."""

    joint = "joint"
    world = "world"


File = Annotated[str, typer.Argument(metavar="FILE", help="A model or scene file; - reads stdin.")]
Qd = Annotated[
    list[str] | None, typer.Option("--qd", metavar="NAME=VALUE,…", help="Joint rates (rad/s, m/s).")
]
Qdd = Annotated[
    list[str] | None,
    typer.Option("--qdd", metavar="NAME=VALUE,…", help="Joint accelerations (rad/s², m/s²)."),
]
Hold = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME,…", help="Joints to hold; default: the actuated joints, as many as needed."),
]
Misfit = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME.COMPONENT=VALUE,…", help="Gaps before assembly (m, rad)."),
]
EstimateOption = Annotated[
    bool | None,
    typer.Option(
        "--estimate/--no-estimate",
        help="Estimate stiffness from the links' shapes; default: in loops where none is stated.",
    ),
]
AxesOption = Annotated[Axes, typer.Option(help="Axes of the printed wrenches: joint frame or world.")]
FramesOption = Annotated[bool, typer.Option("--frames", help="Print the pose of every joint frame.")]
MaterialOption = Annotated[Material, typer.Option(help="The material of estimated sections.")]
Tolerance = Annotated[float | None, typer.Option(help="Relative rank tolerance; default 1e-4.")]


def reactions_command(
    file: File,
    q: opt.QOption = None,
    qd: Qd = None,
    qdd: Qdd = None,
    load: LoadOption = None,
    payload: PayloadOption = None,
    hold: Hold = None,
    misfit: Misfit = None,
    estimate: EstimateOption = None,
    material: MaterialOption = Material.steel,
    axes: AxesOption = Axes.joint,
    frames: FramesOption = False,
    base: opt.BaseOption = None,
    planar: opt.PlanarOption = None,
    tolerance: Tolerance = None,
    output_format: opt.FormatOption = opt.Format.text,
    output: opt.OutputOption = None,
    package_dir: opt.PackageDirOption = None,
    xacro_unsafe: opt.XacroUnsafeOption = False,
) -> None:
    """Print the force and moment that every joint carries, and what determines it.

    A wrench acts on the successor, at the origin of its joint frame; the opposite wrench acts on the
    predecessor. The JSON has both axes and every frame. The scene states the stiffness. Exit code: 0, or 2
    for unusable input, wrong usage, or a mechanism that moves under the load.
    """
    from mbplugin import readers
    from mbplugin.joint_reactions.run import reactions

    name, text = opt.read_source(file)
    scene = readers.load(
        name,
        text=text,
        package_dirs=tuple(package_dir or ()),
        base=base.value if base else None,
        xacro_unsafe=xacro_unsafe,
    )
    refuse_overwriting((output,), file, scene)
    result = reactions(
        scene,
        opt.parse_q(q),
        opt.parse_q(qd, "--qd") if qd else None,
        opt.parse_q(qdd, "--qdd") if qdd else None,
        loads=[parse_load(value) for value in load or ()],
        payloads=[parse_payload(value) for value in payload or ()],
        hold=None if hold is None else opt.split(hold),
        misfit=opt.parse_q(misfit, "--misfit"),
        estimate=estimate,
        material=material.value,
        tolerance=tolerance,
        planar=planar.value if planar else None,
    )
    if output_format is opt.Format.json:
        from mbplugin.report.documents.json import dumps
        from mbplugin.report.documents.reactions_json import reactions_document

        emit(dumps(reactions_document(result, file, scene.files)), output)
        return
    from mbplugin.report.text.layout import plain_text, print_lines, terminal_width
    from mbplugin.report.text.reactions import reactions_lines

    if output is None and opt.on_terminal(sys.stdout):
        print_lines(reactions_lines(result, terminal_width(), axes.value, frames))
    else:
        emit(plain_text(reactions_lines(result, axes=axes.value, frames=frames)), output)
