"""The PyBullet window: a robot coloured by result that can be moved, and replays of motions and stops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mbplugin.arguments import checked, known_as
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Scene
from mbplugin.phrases import counted
from mbplugin.readers.source import ModelSource, model_of
from mbplugin.report.judging import judged, reactions_at_rest
from mbplugin.report.picture import Picture
from mbplugin.report.picture import picture as whole_picture
from mbplugin.visualization.gui.process import CLOSED_SENTENCE, ENDED_SENTENCE, Window, in_window

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.joint_reactions.values import Reactions
    from mbplugin.model.mechanism.kinematics import JointValues
    from mbplugin.simulation.trajectory.trajectory import Trajectory
    from mbplugin.stopping.outcome.values import StopReport
    from mbplugin.visualization.recording import Replay


@checked
def show(
    mech: ModelSource,
    result: Analysis | Trajectory | StopReport | None = None,
    *,
    reactions: Reactions | None = None,
    picture: str | Path | None = None,
    size: tuple[int, int] | None = None,
    camera: tuple[float, ...] = (),
) -> str:
    """Show a robot coloured by result in a window, and return when it is closed.

    Sliders move it along its constraint manifold; it shows redundancy p and rank at every pose. A motion or
    a stop is replayed; :func:`replay` has the options of that.

    Parameters
    ----------
    mech : path, PyBullet client, Scene or Mechanism
    result : Analysis, Trajectory or StopReport, optional
        Verdicts and a pose (rad, m), or a motion; by default the scene is analyzed.
    reactions : Reactions, optional
        Drawn as arrows; by default those under the loads of the scene at rest, if there is an equilibrium.
    picture : path, optional
        Draw into this ``.png`` or ``.jpg`` instead of opening a window.
    size : tuple of int, optional
        Of the picture, pixels.
    camera : tuple of float
        Of the picture: yaw and pitch (degrees) and distance (m), as far as they are given.

    Returns
    -------
    str
        One sentence: how the window ended, or what was written.

    Raises
    ------
    MbPluginError
        A window that cannot be opened, a picture that cannot be written, or a crash of PyBullet.
    """
    from mbplugin.analysis.result import Analysis

    if result is not None and not isinstance(result, Analysis):
        return replay(mech, result, picture=picture, size=size, camera=camera)
    return open_or_draw(
        model_of(mech), result=result, reactions=reactions, picture=picture, size=size, camera=camera
    ).sentence


@checked
def replay(
    mech: ModelSource,
    motion: Trajectory | StopReport | str | Path,
    *,
    speed: float | None = None,
    loop: bool = True,
    picture: str | Path | None = None,
    film: str | Path | None = None,
    size: tuple[int, int] | None = None,
    camera: tuple[float, ...] = (),
) -> str:
    """Replay a motion or a stop in a window, and return when it is closed.

    For a stop, two transparent robots show the pose at the signal and the end of the usual
    simplification, which sets every rate to zero.

    Parameters
    ----------
    mech : path, PyBullet client, Scene or Mechanism
    motion : Trajectory, StopReport or path
        Or a motion that was saved as ``.npz`` or ``.csv``.
    speed : float, optional
        Relative to real time; by default such that the replay lasts 3 to 30 s.
    loop : bool
        Restart at the end; otherwise the window closes there.
    picture, film : path, optional
        Draw the end into a ``.png`` or ``.jpg``, and the whole into a ``.gif`` or ``.mp4``, instead of
        opening a window.
    size : tuple of int, optional
        Of picture and film, pixels.
    camera : tuple of float
        Of picture and film: yaw and pitch (degrees) and distance (m), as far as they are given.

    Returns
    -------
    str
        One sentence: how the window ended, or what was written.

    Raises
    ------
    MbPluginError
        An unusable motion or speed, a window that cannot be opened, a file that cannot be written, or a
        crash of PyBullet.
    """
    from mbplugin.visualization.recording import replay_of

    mech = model_of(mech)
    made = replay_of(mech, motion, speed)
    return open_or_draw(
        mech, replay=made, loop=loop, picture=picture, film=film, size=size, camera=camera
    ).sentence


#: By the name of the command.
view = known_as(show, "view")


@dataclass(frozen=True)
class Viewed:
    """What a view has come to.

    Parameters
    ----------
    outcome : "closed", "ended" or "written"
        The window was closed, a replay has reached its end, or files were written instead.
    notes : tuple of str
        What is not shown as it is.
    """

    outcome: str
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The same in words."""
        if self.outcome != "written":
            return CLOSED_SENTENCE if self.outcome == "closed" else ENDED_SENTENCE
        sentence = f"{' and '.join(self.files)} written"
        return f"{'; '.join((sentence, *self.notes))}."


def open_or_draw(
    mech: Scene | Mechanism,
    *,
    q: JointValues = None,
    tolerance: float | None = None,
    planar: str | None = None,
    result: Analysis | None = None,
    reactions: Reactions | None = None,
    replay: Replay | None = None,
    loop: bool = True,
    picture: str | Path | None = None,
    film: str | Path | None = None,
    size: tuple[int, int] | None = None,
    camera: tuple[float, ...] = (),
    labels: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Viewed:
    """Return how the window ended in which a scene or a replay was shown, or which files were written.

    Parameters are those of :func:`show` and :func:`replay`, and of :func:`mbplugin.analyze`.
    """
    from mbplugin.visualization.render.film import FILM_SIZE, check_files, write_film, write_picture
    from mbplugin.visualization.render.render import SIZE

    files = [None if path is None else Path(path) for path in (picture, film)]
    check_files(*files)
    if replay is None:
        from mbplugin.analysis.run import analyze

        result = analyze(mech, q, tolerance=tolerance, planar=planar) if result is None else result
        seen = seen_at_rest(mech, result, reactions)
        title = title_of(seen, result)
    else:
        seen = seen_in_motion(mech, replay, planar, tolerance)
        title = (seen.mechanism.name,)
    if files == [None, None]:
        sentence = in_window(Window(seen, title, None if replay else result, replay, loop, mech))
        return Viewed("closed" if sentence == CLOSED_SENTENCE else "ended", notes=seen.notes)
    if files[0] is not None:
        write_picture(files[0], seen, title, size or SIZE, camera, replay, labels)
    if files[1] is not None and replay is not None:
        write_film(files[1], seen, title, replay, size or FILM_SIZE, camera, progress)
    return Viewed("written", tuple(str(path) for path in files if path is not None), seen.notes)


def seen_at_rest(mech: Scene | Mechanism, analysis: Analysis, reactions: Reactions | None = None) -> Picture:
    """Return what is to be seen at the closed pose of an analysis, with reactions where they can be had."""
    if reactions is None:
        # a mechanism that cannot rest under its loads has no arrows
        reactions, _ = reactions_at_rest(mech, analysis)
    return whole_picture(mech, analysis=analysis, reactions=reactions, q=analysis.q)


def seen_in_motion(
    mech: Scene | Mechanism, made: Replay, planar: str | None = None, tolerance: float | None = None
) -> Picture:
    """Return what is to be seen where a replay starts, judged there where that can be done."""
    analysis, _ = judged(mech, made.q[0], planar, made.tolerance if tolerance is None else tolerance)
    return whole_picture(mech, analysis=analysis, q=made.q[0])


def title_of(seen: Picture, analysis: Analysis) -> tuple[str, ...]:
    """Return the lines that stand above a picture at rest."""
    p = analysis.degree_of_redundancy
    sentence = f"{counted(p, 'redundant constraint')}, {analysis.mobility.words}"
    return (seen.mechanism.name, sentence + (", singular pose" if analysis.singular_pose else ""))
