"""``mbplugin reactions``: compute the force and moment of every joint, and what determines each component."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbplugin.choices import Axes, Material
from mbplugin.cli import options as opt, report
from mbplugin.cli.braking import LoadOption, PayloadOption, total_bar
from mbplugin.errors import BadUsage
from mbplugin.files import require_folder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbplugin.joint_reactions.values import Reactions
    from mbplugin.model import Scene
    from mbplugin.report.html.chapters import Chapter
    from mbplugin.report.text import Line

Qdd = Annotated[
    list[str] | None,
    typer.Option("--qdd", metavar="NAME=VALUE,…", help="Joint accelerations (rad/s², m/s²)."),
]
Hold = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,…", help="Joints to hold; default: as many of the actuated joints as are needed."
    ),
]
Actuated = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME,…",
        help="Joints with motors, which hold the robot; prints their forces, with shares that are not determined.",
    ),
]
Misfit = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME.COMPONENT=VALUE,…", help="Gaps before assembly (m, rad)."),
]
MisfitSigma = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME.COMPONENT=VALUE,…", help="Standard deviations of gaps (m, rad)."),
]
Limit = Annotated[
    list[str] | None,
    typer.Option(
        metavar="JOINT=N,…",
        help="Largest force of a joint, or load of JOINT.COMPONENT (N, N·m); prints the misfits it allows.",
    ),
]
EnvelopeOption = Annotated[
    Path | None,
    typer.Option(
        "--envelope",
        metavar="MOTION",
        help="Print the largest loads of every joint along a motion that simulate saved, .csv, .npz or .parquet.",
    ),
]
Instants = Annotated[
    int | None, typer.Option(metavar="N", help="Number of instants of the motion; default: all.")
]
Save = Annotated[
    Path | None, typer.Option(metavar="FILE.csv", help="Also save the table of largest loads, .csv.")
]
EstimateOption = Annotated[
    bool | None,
    typer.Option(
        "--estimate/--no-estimate",
        help="Estimate stiffness from the shapes of the links; default: in loops without a stated stiffness.",
    ),
]
AxesOption = Annotated[Axes, typer.Option(help="Axes of the printed wrenches: joint frame or world.")]
FramesOption = Annotated[bool, typer.Option("--frames", help="Print the pose of every joint frame.")]
MaterialOption = Annotated[Material, typer.Option(help="Material of estimated cross-sections.")]


@report.reads_model
def reactions_command(
    file: opt.FileArgument,
    q: opt.QOption = None,
    qd: opt.QdOption = None,
    qdd: Qdd = None,
    load: LoadOption = None,
    payload: PayloadOption = None,
    hold: Hold = None,
    actuated: Actuated = None,
    stance: opt.StanceOption = None,
    friction: opt.GroundFrictionOption = None,
    misfit: Misfit = None,
    misfit_sigma: MisfitSigma = None,
    limit: Limit = None,
    envelope: EnvelopeOption = None,
    instants: Instants = None,
    save: Save = None,
    estimate: EstimateOption = None,
    material: MaterialOption = "steel",
    axes: AxesOption = "joint",
    frames: FramesOption = False,
    planar: opt.PlanarOption = None,
    tolerance: opt.ToleranceOption = None,
    output_format: opt.PageFormatOption = "text",
    output: opt.OutputOption = None,
    against: opt.AgainstOption = None,
    reading: report.Reading = report.AS_WRITTEN,
) -> None:
    """Print the force and moment in every joint, and whether the model determines them.

    A wrench acts on the successor, at the origin of its joint frame; the opposite wrench acts on the
    predecessor. The JSON has the wrenches in both axes and all frames. Stiffnesses are stated in a scene file. Exit
    code: 0, or 2
    for unusable input, wrong usage, or a mechanism that moves under the load.
    """
    from mbplugin.joint_reactions.run import reactions
    from mbplugin.readers.standing import taken_in

    together: dict[str, object] = {
        "--q": q,
        "--qd": qd,
        "--qdd": qdd,
        "--actuated": actuated,
        "--misfit": misfit,
    }
    together |= {"--misfit-sigma": misfit_sigma, "--limit": limit, "--estimate": estimate or None}
    _require_envelope(envelope, instants, save, together)

    if actuated is not None and hold is not None:
        raise BadUsage(
            "--actuated and --hold are given together", expected="one of them: motors hold as well"
        )
    earlier = report.earlier_report(against, "reactions")
    scene = report.read_scene(file, (output, save), reading, also=(against, envelope))
    given = report.quantities_of(scene, file, reading)
    motors = None if actuated is None else given.joints(actuated, "--actuated")
    motion = (
        given.coordinates(q),
        given.rates(qd) if qd else None,
        given.accelerations(qdd, "--qdd") if qdd or motors is not None else None,
    )
    loads, payloads = given.loads(load), given.payloads(payload)
    if envelope is not None:
        from mbplugin.joint_reactions.envelope import moved_model
        from mbplugin.model import as_scene

        moved, recorded = moved_model(scene, envelope, instants)
        scene = as_scene(moved)
        motion = recorded.q[0], recorded.qd[0], recorded.qdd[0]
    result = reactions(
        scene,
        *motion,
        loads=loads,
        payload=payloads,
        hold=motors if hold is None else given.joints(hold, "--hold"),
        stance=None if stance is None else opt.split(stance),
        friction=friction,
        misfit=given.misfits(misfit),
        misfit_sigma=given.misfits(misfit_sigma, "--misfit-sigma"),
        limits=given.limits(limit),
        estimate=False if envelope is not None else estimate,
        material=material,
        tolerance=tolerance,
        planar=planar,
    )
    if motors is not None:
        from mbplugin.joint_reactions.actuation import inverse_dynamics

        forces = inverse_dynamics(
            scene,
            *motion,
            actuated=motors,
            loads=loads,
            payload=payloads,
            tolerance=tolerance,
            planar=planar,
        )
        result = replace(result, actuation=forces)
    if envelope is not None:
        from mbplugin.joint_reactions.envelope import envelope as envelope_of

        with total_bar("instants") as progress:
            along = envelope_of(
                scene,
                recorded,
                loads=loads,
                payload=payloads,
                hold=None if hold is None else given.joints(hold, "--hold"),
                stance=None if stance is None else opt.split(stance),
                friction=friction,
                tolerance=tolerance,
                planar=planar,
                progress=progress,
            )
        result = replace(result, envelope=along)
        if save is not None:
            along.save(save)
    scene = taken_in(scene, result.mechanism)
    report.emit_report(_report(result, scene, file, axes, frames), output_format, output, earlier)


def _require_envelope(
    envelope: Path | None,
    instants: int | None,
    save: Path | None,
    others: dict[str, object],
) -> None:
    """Require that options that belong together, and only these, are given.

    Raises
    ------
    BadUsage
        --instants or --save is given without --envelope, or --envelope with an option for one state.
    """
    if envelope is None:
        for name, value in (("--instants", instants), ("--save", save)):
            if value is not None:
                raise BadUsage(f"{name} is given without --envelope", expected="both, or neither")
        return
    given = [name for name, value in others.items() if value is not None]
    if given:
        raise BadUsage(f"--envelope and {given[0]} are given together", expected="one of them")
    require_folder(save)
    if save is not None and save.suffix.lower() != ".csv":
        raise BadUsage(f"cannot save the largest loads as {save.name!r}", expected="a .csv file")


def _report(result: Reactions, scene: Scene, file: str, axes: Axes, frames: bool) -> report.CommandReport:
    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.reactions import reactions_lines

        return reactions_lines(result, width, axes, frames)

    def chapter() -> Chapter:
        from mbplugin.report.html.chapters import reactions_chapter

        return reactions_chapter(scene, result)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.motions import reactions_document

        return reactions_document(result, file, scene.files)

    return report.CommandReport(lines, document, partial(report.record_of_scene, scene), chapter)
