"""``mbplugin simulate``: compute a motion, its energies and joint reactions; and ``mbplugin modes``."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbplugin import choices as names
from mbplugin.cli import braking, options as opt
from mbplugin.cli.report import (
    AS_WRITTEN,
    CommandReport,
    Reading,
    complain,
    earlier_report,
    emit_report,
    quantities_of,
    read_scene,
    reads_model,
    record_of_scene,
)
from mbplugin.errors import UnknownName, suggestion
from mbplugin.files import require_folder
from mbplugin.phrases import visible
from mbplugin.processes.supervised import INTERRUPTED
from mbplugin.simulation.integrators import DEFAULT_INTEGRATOR, integrator_choices
from mbplugin.simulation.options import MAX_SECONDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mbplugin.model import Scene, Units
    from mbplugin.report.html.chapters import Chapter
    from mbplugin.report.text import Line
    from mbplugin.simulation.trajectory.trajectory import Trajectory


Duration = Annotated[float, typer.Option(metavar="S", parser=opt.seconds("--duration"), help="Duration, s.")]
Signal = Annotated[
    float | None,
    typer.Option(
        metavar="S",
        parser=opt.seconds("--signal"),
        help="Time of the brake signal, s; default: 0 with --brake, else the brakes do not act.",
    ),
]
Limits = Annotated[str, typer.Option(help=f"At a joint limit: {opt.choices(names.Limits)}.")]
Integrator = Annotated[str, typer.Option(help=f"{integrator_choices()}.")]
Step = Annotated[
    float | None,
    typer.Option(
        metavar="S",
        parser=opt.seconds("--step"),
        help="Step, s; for an adaptive integrator the largest step.",
    ),
]
Rtol = Annotated[float, typer.Option(help="Relative tolerance of an adaptive integrator.")]
Atol = Annotated[float, typer.Option(help="Absolute tolerance of an adaptive integrator.")]
Formulation = Annotated[str, typer.Option(help=f"{opt.choices(names.Formulation)}.")]
Redundancy = Annotated[str, typer.Option(help=f"{opt.choices(names.Redundancy)}.")]
Coordinates = Annotated[str, typer.Option(help=f"{opt.choices(names.Coordinates)}.")]
Transition = Annotated[
    str,
    typer.Option(
        help=f"{opt.choices(names.TransitionRule)}: naive sets only the locked rates to zero, for comparison."
    ),
]
Samples = Annotated[
    int | None, typer.Option(metavar="N", help="Number of equal intervals to report; default: all steps.")
]
ReactionsOption = Annotated[
    list[str] | None,
    typer.Option("--reactions", metavar="NAME,…", help="Joints whose reactions are reported."),
]
Save = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Also save all samples, .npz (arrays) or .csv (units).")
]
Plot = Annotated[Path | None, typer.Option(metavar="FILE", help="Also draw all samples, .png, .svg or .pdf.")]


@reads_model
def simulate_command(
    file: opt.FileArgument,
    duration: Duration = 1.0,
    q: opt.QOption = None,
    qd: opt.QdOption = None,
    load: braking.LoadOption = None,
    payload: braking.PayloadOption = None,
    torque: braking.TorqueOption = None,
    profile: braking.ProfileOption = None,
    lock: braking.LockOption = None,
    hold: braking.HoldOption = None,
    brake: braking.BrakeOption = None,
    signal: Signal = None,
    damping: braking.DampingOption = True,
    friction: braking.FrictionOption = True,
    limits: Limits = "record",
    integrator: Integrator = DEFAULT_INTEGRATOR,
    step: Step = None,
    rtol: Rtol = 1e-8,
    atol: Atol = 1e-10,
    formulation: Formulation = "projected",
    redundancy: Redundancy = "eliminate",
    coordinates: Coordinates = "joint",
    transition: Transition = "consistent",
    samples: Samples = None,
    reactions: ReactionsOption = None,
    max_seconds: opt.MaxSecondsOption = MAX_SECONDS,
    planar: opt.PlanarOption = None,
    save: Save = None,
    plot: Plot = None,
    output_format: opt.PageFormatOption = "text",
    output: opt.OutputOption = None,
    against: opt.AgainstOption = None,
    reading: Reading = AS_WRITTEN,
) -> None:
    """Compute the motion from a state; print its range, energies, events and reactions.

    Loops are closed first. The scene's [[brake]] tables act only after --signal. Exit code: 0 for
    every outcome but interrupted (130), failed and loop_opened (2; results up to that time are reported and saved),
    2 for unusable input or wrong usage.
    """
    _require_files(save, plot, output)
    earlier = earlier_report(against, "simulate")
    motions = braking.profile_files(profile)
    scene = read_scene(file, (output, save, plot), reading, also=(against, *motions.values()))
    given = quantities_of(scene, file, reading)
    pairs = opt.split(reactions)
    _require_pairs(scene, pairs)
    request: dict[str, Any] = {
        "duration": duration,
        "integrator": integrator,
        "step": step,
        "rtol": rtol,
        "atol": atol,
        "formulation": formulation,
        "redundancy": redundancy,
        "coordinates": coordinates,
        "transition": transition,
        "samples": samples,
        "limits": limits,
        "damping": damping,
        "friction": friction,
        "max_seconds": max_seconds,
    }
    locks, rates, payloads = given.locks(lock), given.rates(qd), given.payloads(payload)
    from mbplugin.simulation.run import simulate

    with braking.time_bar() as progress:
        motion = simulate(
            scene,
            q=given.coordinates(q),
            qd=rates,
            loads=given.loads(load),
            payload=payloads,
            torques=given.torques(torque),
            profiles=braking.read_profiles(motions, scene.mechanism),
            locks=locks,
            holds=given.holds(hold),
            brakes=given.brakes(brake) if brake else None,
            signal=signal,
            planar=planar,
            progress=progress,
            **request,
        )
    if save is not None:
        motion.save(save, reactions=pairs)
    if plot is not None:
        motion.plot(plot)
    also = tuple(motions.values())
    written = _report(motion, request, pairs, scene, file, given.units, also)
    emit_report(written, output_format, output, earlier)
    if motion.outcome == "interrupted":
        raise typer.Exit(INTERRUPTED)
    if motion.outcome in ("failed", "loop_opened"):
        if output is not None or output_format != "text":
            complain(f"mbplugin simulate: {visible(file)}: {motion.notes[-1]}")
        raise typer.Exit(2)


def _require_pairs(scene: Scene, pairs: tuple[str, ...]) -> None:
    known = list(scene.mechanism.pair_by_name)
    for name in pairs:
        if name not in known:
            raise UnknownName(f"--reactions names an unknown pair {name!r}", remedy=suggestion(name, known))


def _report(
    motion: Trajectory,
    request: dict[str, Any],
    pairs: tuple[str, ...],
    scene: Scene,
    file: str,
    units: Units,
    also: Sequence[Path],
) -> CommandReport:
    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.reactions import simulate_lines

        return simulate_lines(motion, pairs, width, units)

    def chapter() -> Chapter:
        from mbplugin.report.html.chapters import motion_chapter

        return motion_chapter(scene, motion, pairs)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.motions import simulate_document

        return simulate_document(motion, request, pairs, file, scene.files)

    return CommandReport(lines, document, partial(record_of_scene, scene, also), chapter)


def _require_files(save: Path | None, plot: Path | None, output: Path | None) -> None:
    """Require, before the motion is computed, that the output files can be written."""
    for path in (save, plot, output):
        require_folder(path)
    if save is not None:
        from mbplugin.simulation.trajectory.resampling import require_ending

        require_ending(save)
    if plot is not None:
        from mbplugin.simulation.trajectory.resampling import require_picture

        require_picture(plot)


Hold = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME,…", help="Joints to hold at the start, such as those with brakes."),
]
Picture = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Also draw the modes, .png, .svg or .pdf.")
]


@reads_model
def modes_command(
    file: opt.FileArgument,
    q: opt.QOption = None,
    hold: Hold = None,
    load: braking.LoadOption = None,
    payload: braking.PayloadOption = None,
    picture: Picture = None,
    planar: opt.PlanarOption = None,
    tolerance: opt.ToleranceOption = None,
    output_format: opt.PageFormatOption = "text",
    output: opt.OutputOption = None,
    against: opt.AgainstOption = None,
    reading: Reading = AS_WRITTEN,
) -> None:
    """Find the pose in which gravity, loads and springs balance, and the natural frequencies and modes there.

    The search goes downhill from --q, or from the pose of the file. Loops stay closed, redundant constraints do not
    matter, and dry friction is left out.
    """
    from mbplugin.simulation.equilibrium import linearize

    earlier = earlier_report(against, "modes")
    scene = read_scene(file, (output, picture), reading, also=(against,))
    require_folder(picture)
    given = quantities_of(scene, file, reading)
    found = linearize(
        scene,
        q=given.coordinates(q),
        hold=given.joints(hold, "--hold") if hold else (),
        loads=given.loads(load),
        payload=given.payloads(payload),
        tolerance=tolerance,
        planar=planar,
    )
    if picture is not None:
        found.plot(picture)

    def lines(width: int) -> Iterable[Line]:
        from mbplugin.report.text.models import modes_lines

        return modes_lines(found, width)

    def document() -> dict[str, Any]:
        from mbplugin.report.documents.motions import modes_document

        return modes_document(found, scene.files)

    def chapter() -> Chapter:
        from mbplugin.report.html.chapters import modes_chapter

        return modes_chapter(scene, found)

    report = CommandReport(lines, document, partial(record_of_scene, scene), chapter)
    emit_report(report, output_format, output, earlier)
