"""The PyBullet window: a movable robot coloured by result, and replays of motions and stops."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import IO, TYPE_CHECKING

import numpy as np

from mbplugin import visualization
from mbplugin.arguments import checked, known_as
from mbplugin.constraints.rank import View
from mbplugin.constraints.rows import plane_columns
from mbplugin.errors import MbPluginError
from mbplugin.model import Array, JointValues, Mechanism, Scene, forward
from mbplugin.phrases import counted
from mbplugin.processes import isolated_command
from mbplugin.readers import ModelSource, model_of
from mbplugin.report.picture import LEGEND, Picture, ReactionArrow, picture as whole_picture, reaction_arrows
from mbplugin.report.record import judged, reactions_at, reactions_at_rest
from mbplugin.simulation.manifold import Manifold, PoseVerdict
from mbplugin.visualization import Replay, Surface, VisualScene, replay_of
from mbplugin.visualization.gui.controls import Controls, Screen, TextOverlay
from mbplugin.visualization.render import camera_for

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.joint_reactions.values import Reactions
    from mbplugin.simulation.trajectory.trajectory import Trajectory
    from mbplugin.stopping.outcome import StopReport


OPENED, ENDED = b"opened\n", b"ended\n"
CLOSED_SENTENCE = "The window was closed."
ENDED_SENTENCE = "The replay has reached its end."
#: Exit code after an exception; PyBullet does not use this code.
BUG = 70
#: Messages of Xlib when its window is destroyed.
_GONE = (b"(explicit kill or server shutdown)", b"fatal IO error")
#: Remedy if no window can be opened.
_WITHOUT = "use --picture or --film (picture=… or film=… in Python), which need no window"
#: How long PyBullet may take to close its window, s.
_PATIENCE = 20


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

    Sliders move it along its constraint manifold; the window displays the redundancy p and the rank at every
    pose. A motion or a stop is replayed; :func:`replay` has further options.

    Parameters
    ----------
    mech : path, PyBullet client, Scene or Mechanism
    result : Analysis, Trajectory or StopReport, optional
        Verdicts and a pose (rad, m), or a motion; by default the scene is analyzed.
    reactions : Reactions, optional
        Drawn as arrows; by default the reactions at rest under the loads of the scene, if it has an equilibrium.
    picture : path, optional
        Draw into this ``.png`` or ``.jpg`` instead of opening a window.
    size : tuple of int, optional
        Width and height of the picture, pixels.
    camera : tuple of float
        Yaw and pitch (degrees) and distance (m) of the picture's camera; missing ones are chosen.

    Returns
    -------
    str
        One sentence: how the window ended, or what was written.

    Raises
    ------
    MbPluginError
        A window that cannot be opened, a picture that cannot be written, or a crash of PyBullet.
    """
    from mbplugin.analysis import Analysis

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
        A path names a motion saved as ``.npz`` or ``.csv``.
    speed : float, optional
        Relative to real time; by default chosen so that the replay lasts 3 to 30 s.
    loop : bool
        Restart at the end; otherwise the window closes there.
    picture, film : path, optional
        Draw the end into a ``.png`` or ``.jpg``, and the whole motion into a ``.gif`` or ``.mp4``, instead of
        opening a window.
    size : tuple of int, optional
        Width and height of picture and film, pixels.
    camera : tuple of float
        Yaw and pitch (degrees) and distance (m) of the camera of picture and film; missing ones are chosen.

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
    from mbplugin.readers.standing import taken_in
    from mbplugin.simulation.trajectory.trajectory import Trajectory
    from mbplugin.stopping.outcome import StopReport

    mech = model_of(mech)
    moved = motion.trajectory if isinstance(motion, StopReport) else motion
    if isinstance(mech, Scene) and isinstance(moved, Trajectory):
        mech = taken_in(mech, moved.mechanism)
    made = replay_of(mech, motion, speed)
    return open_or_draw(
        mech, replay=made, loop=loop, picture=picture, film=film, size=size, camera=camera
    ).sentence


#: :func:`show` under the name of its command.
view = known_as(show, "view")


@dataclass(frozen=True)
class Viewed:
    """The outcome of a view.

    Parameters
    ----------
    outcome : "closed", "ended" or "written"
        The window was closed, a replay has reached its end, or files were written instead.
    notes : tuple of str
        Differences between the drawing and the model.
    """

    outcome: str
    files: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The outcome as one sentence."""
        return f"{'; '.join(self._parts)}."

    @property
    def lines(self) -> tuple[str, ...]:
        """The outcome with its first note, then one line for each other note."""
        outcome, *notes = self._parts
        return (f"{'; '.join((outcome, *notes[:1]))}.", *(f"note: {note}" for note in notes[1:]))

    @property
    def _parts(self) -> tuple[str, ...]:
        if self.outcome != "written":
            return ((CLOSED_SENTENCE if self.outcome == "closed" else ENDED_SENTENCE).removesuffix("."),)
        return (f"{' and '.join(self.files)} written", *self.notes)


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
    """Show a scene or a replay in a window, or draw it into files, and return the outcome.

    Parameters are those of :func:`show` and :func:`replay`, and of :func:`mbplugin.analyze`.
    """
    from mbplugin.visualization.render import FILM_SIZE, SIZE, check_files, write_film, write_picture

    files = [None if path is None else Path(path) for path in (picture, film)]
    check_files(*files)
    if replay is None:
        from mbplugin.analysis import analyze

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
    """Return the drawing at the closed pose of an analysis, with reactions if they can be computed."""
    if reactions is None:
        # a mechanism without an equilibrium under its loads has no arrows
        reactions, _ = reactions_at_rest(mech, analysis)
    return whole_picture(mech, analysis=analysis, reactions=reactions, q=analysis.q)


def seen_in_motion(
    mech: Scene | Mechanism, made: Replay, planar: str | None = None, tolerance: float | None = None
) -> Picture:
    """Return the drawing at the start of a replay, with verdicts if that pose can be analyzed."""
    analysis, _ = judged(mech, made.q[0], planar, made.tolerance if tolerance is None else tolerance)
    return whole_picture(mech, analysis=analysis, q=made.q[0])


def title_of(seen: Picture, analysis: Analysis) -> tuple[str, ...]:
    """Return the title lines of a picture at rest."""
    p = analysis.degree_of_redundancy
    sentence = f"{counted(p, 'redundant constraint')}, {analysis.mobility.words}"
    return (seen.mechanism.name, sentence + (", singular pose" if analysis.singular_pose else ""))


# A window has a separate process, as closing PyBullet's window ends its process with exit code 1.
#
# The process writes to its original standard output when the window is open and when a replay has ended.
# All other output, that of PyBullet, is collected in case the process crashes. It is not a child
# of :mod:`mbplugin.processes.foreign`: it has no limits, and its one request gets no answer.


@dataclass(frozen=True, eq=False)
class Window:
    """The request for a window.

    Parameters
    ----------
    analysis : Analysis, optional
        The robot is moved by sliders from the pose of this analysis.
    replay : Replay, optional
        Shown instead of sliders.
    loop : bool
        Whether the replay restarts at its end.
    model : Scene or Mechanism, optional
        Its reactions at rest are drawn at every pose of the sliders.
    """

    seen: Picture
    title: tuple[str, ...]
    analysis: Analysis | None = None
    replay: Replay | None = None
    loop: bool = True
    model: Scene | Mechanism | None = None


def in_window(window: Window) -> str:
    """Show a window until it is closed or its replay ends, and return a sentence that says which.

    Raises
    ------
    MbPluginError
        No window can be opened, or the process was ended by a signal.
    RuntimeError
        Any other exception in the process, with its traceback.
    """
    with tempfile.TemporaryFile() as printed:
        process = subprocess.Popen(
            isolated_command("mbplugin.visualization.gui"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=printed,
        )
        try:
            status_lines = _talk(process, pickle.dumps(window))
            try:
                process.wait(_PATIENCE)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        except BaseException:
            # an interrupt closes the window too
            process.kill()
            process.wait()
            raise
        finally:
            if process.stdout is not None:
                process.stdout.close()
        return _sentence(status_lines, process.returncode, printed)


def _talk(process: subprocess.Popen[bytes], request: bytes) -> set[bytes]:
    """Send the request, and return the status lines of the process up to its last one."""
    assert process.stdin is not None and process.stdout is not None
    try:
        with process.stdin:
            process.stdin.write(request)
    except BrokenPipeError:
        return set()
    status_lines = set()
    for line in process.stdout:
        status_lines.add(line)
        if line == ENDED:
            break
    return status_lines


def _sentence(status_lines: set[bytes], code: int, printed: IO[bytes]) -> str:
    """Return the sentence for the status lines and the exit code of the process; raise after a failure."""
    text = _all_of(printed).decode(errors="replace")
    # a failure before main() has Python's own exit code; PyBullet and X print no traceback
    if code == BUG or (OPENED not in status_lines and "Traceback (most recent" in text):
        raise RuntimeError(f"in the process with the window:\n{text[text.rfind('Traceback') :]}")
    if ENDED in status_lines:
        return ENDED_SENTENCE
    if OPENED not in status_lines:
        raise MbPluginError(
            f"PyBullet cannot open a window{_on_display()}",
            expected="a display with OpenGL 3",
            remedy=_WITHOUT,
        )
    # after the user closes the window, PyBullet's threads may crash while they shut down
    if code < 0 and not any(words in _all_of(printed) for words in _GONE):
        raise MbPluginError(
            f"the process with the window ended by signal {signal.Signals(-code).name}",
            remedy=_WITHOUT,
        )
    return CLOSED_SENTENCE


def _on_display() -> str:
    if sys.platform in ("win32", "darwin"):
        return ""
    display = os.environ.get("DISPLAY")
    return f" on display {display}" if display else " since no display is set"


def _all_of(printed: IO[bytes]) -> bytes:
    printed.seek(0)
    return printed.read()


SIZE = (1280, 760)
#: Camera distance relative to that of pictures, as the window has a wider field of view.
_NEARER = 0.75
#: Polling interval of sliders and buttons, s.
PAUSE = 0.02


class DebugWindow:
    """A window with a robot in it.

    Parameters
    ----------
    bullet : module
        The imported ``pybullet``.
    """

    def __init__(self, bullet: ModuleType, client: int, window: Window) -> None:
        self.bullet, self.client, self.window = bullet, client, window
        self.stage = VisualScene(bullet, client, window.seen.mechanism)
        bullet.configureDebugVisualizer(bullet.COV_ENABLE_RENDERING, 0, physicsClientId=client)
        self.stage.draw(visualization.robot_surfaces(window.seen))
        self.arrows = self.stage.draw(self._beside())
        self.stage.place(window.seen.poses)
        bullet.configureDebugVisualizer(bullet.COV_ENABLE_RENDERING, 1, physicsClientId=client)
        extra = (
            visualization.arrow_points(window.seen)
            if window.replay is None
            else visualization.replay_points(window.seen, window.replay)
        )
        camera = camera_for(window.seen, SIZE, cloud_W=extra)
        bullet.resetDebugVisualizerCamera(
            _NEARER * camera.distance,
            camera.yaw,
            camera.pitch,
            camera.target_W.tolist(),
            physicsClientId=client,
        )
        light = camera.eye_W + 2 * camera.distance * camera.R_WK[:, 1]
        bullet.configureDebugVisualizer(lightPosition=light.tolist(), physicsClientId=client)
        self.controls = Controls(bullet, client)
        self.board = TextOverlay(bullet, client, window.seen)
        keys = self._keys()
        self.board.write(
            title=[(line, "") for line in window.title],
            legend=[(entry.text, entry.key) for entry in LEGEND if entry.key in keys],
        )

    def tick(self) -> None:
        """Wait for one polling interval, then update controls from mouse and keys, and texts from the camera."""
        time.sleep(PAUSE)
        screen = Screen.of(self.bullet, self.client)
        self.controls.follow(screen)
        self.board.follow(screen)

    def pose(self, q: Array) -> None:
        """Move the robot and its labels to coordinates q (nq,)."""
        poses = forward(self.window.seen.mechanism, q)
        self.stage.place(poses)
        self.board.pose(poses)

    def redraw_arrows(self, arrows: tuple[ReactionArrow, ...]) -> None:
        """Replace the drawn reaction arrows; an empty tuple removes them all."""
        self.stage.remove(self.arrows)
        surfaces = visualization.arrow_surfaces(replace(self.window.seen, arrows=arrows))
        self.arrows = self.stage.draw(surfaces) if arrows else ()

    def slider(self, name: str, lower: float, upper: float, start: float) -> int:
        """Add a slider, or a button where lower > upper, and return its id."""
        return self.controls.slider(name, lower, upper, start)

    def read(self, slider: int) -> float:
        """Return the value of a slider, or the number of presses of a button."""
        return self.controls.read(slider)

    def _beside(self) -> list[Surface]:
        """Return the surfaces besides the robot: arrows, or the path and ghosts of a replay."""
        seen, replay = self.window.seen, self.window.replay
        if replay is None:
            return list(visualization.arrow_surfaces(seen))
        line = visualization.path_surface(replay.path_W, seen.radius)
        beside = [] if line is None else [line]
        for key, q in replay.ghosts.items():
            beside += visualization.placed(visualization.ghost_surfaces(seen, key), seen.mechanism, q)
        return beside

    def _keys(self) -> set[str]:
        keys = {entry.key for entry in self.window.seen.legend}
        return keys | {surface.key for surface in self._beside()}


_BUTTONS = ("pause / play", "step >", "< step", "to the start")
#: Range of the speed slider, relative to the initial speed.
_SLOWER, _FASTER = 0.1, 4.0
#: Pause at the end of the replay, and interval between updates of the clock text, s.
_REST, _CLOCK = 1.0, 0.5

#: Features switched off: image preview panels, shadows, mouse dragging, one-letter keyboard commands.
_OFF = (
    "COV_ENABLE_RGB_BUFFER_PREVIEW",
    "COV_ENABLE_DEPTH_BUFFER_PREVIEW",
    "COV_ENABLE_SEGMENTATION_MARK_PREVIEW",
    "COV_ENABLE_GUI",
    "COV_ENABLE_SHADOWS",
    "COV_ENABLE_MOUSE_PICKING",
    "COV_ENABLE_KEYBOARD_SHORTCUTS",
)


def main() -> None:
    """Show the requested window; once it is open, the first status line is written."""
    status_lines = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    try:
        _run(pickle.loads(sys.stdin.buffer.read()), status_lines)
    except Exception:
        traceback.print_exc()
        sys.stderr.flush()
        # PyBullet's threads would keep the process running
        os._exit(BUG)


def _run(window: Window, status_lines: IO[bytes]) -> None:
    import pybullet

    white = " ".join(f"--background_color_{c}=1" for c in ("red", "green", "blue"))
    client = pybullet.connect(pybullet.GUI, options=f"--width={SIZE[0]} --height={SIZE[1]} {white}")
    status_lines.write(OPENED)
    for name in _OFF:
        pybullet.configureDebugVisualizer(getattr(pybullet, name), 0, physicsClientId=client)
    view = DebugWindow(pybullet, client, window)
    if window.replay is not None:
        play(view, window.replay, window.loop)
    elif window.analysis is not None:
        lead(view, window.analysis)
    status_lines.write(ENDED)
    pybullet.disconnect(client)


# The window with a replay: pause, single steps, speed, back to the start.


def play(shown: DebugWindow, replay: Replay, loop: bool) -> None:
    """Play a replay once, or in a loop until the window is closed."""
    speed = shown.slider("speed, of real time", _SLOWER * replay.speed, _FASTER * replay.speed, replay.speed)
    buttons = {name: shown.slider(name, 1, 0, 0) for name in _BUTTONS}
    pressed = {name: shown.read(handle) for name, handle in buttons.items()}
    clock = Clock(replay)
    frame, written = -1, -np.inf
    while True:
        rate = shown.read(speed)
        for name, handle in buttons.items():
            count = shown.read(handle)
            for _ in range(round(count - pressed[name])):
                clock.press(name)
            pressed[name] = count
        clock.tick(rate)
        if clock.frame != frame:
            frame = clock.frame
            shown.pose(replay.q[frame])
        if time.monotonic() - written > _CLOCK or clock.at_end:
            written = time.monotonic()
            shown.board.write(status=[(line, "") for line in replay.said(frame, round(rate, 4))])
        if clock.at_end and not clock.paused:
            if not loop:
                _rest(shown)
                return
            _rest(shown)
            clock.press("to the start")
        shown.tick()


class Clock:
    """The current time of a replay."""

    def __init__(self, replay: Replay) -> None:
        self._time = replay.time
        self._now = float(replay.time[0])
        self._last = time.monotonic()
        self.paused = False

    @property
    def frame(self) -> int:
        """Index of the current pose."""
        return int(np.clip(np.searchsorted(self._time, self._now + 1e-9) - 1, 0, len(self._time) - 1))

    @property
    def at_end(self) -> bool:
        """Whether the current pose is the last one."""
        return self.frame == len(self._time) - 1

    def tick(self, speed: float) -> None:
        """Advance by the real time elapsed since the last call, times ``speed``, unless paused."""
        now = time.monotonic()
        if not self.paused:
            self._now = min(self._now + (now - self._last) * speed, float(self._time[-1]))
        self._last = now

    def press(self, button: str) -> None:
        """Handle a button; a step moves by one pose and pauses."""
        if button == "pause / play":
            self.paused = not self.paused
        elif button == "to the start":
            self._now = float(self._time[0])
        else:
            self.paused = True
            step = 1 if button == "step >" else -1
            self._now = float(self._time[int(np.clip(self.frame + step, 0, len(self._time) - 1))])


def _rest(shown: DebugWindow) -> None:
    until = time.monotonic() + _REST
    while time.monotonic() < until:
        shown.tick()


# The window with sliders: one coordinate is driven, the others follow; p is displayed at every pose.


def lead(shown: DebugWindow, analysis: Analysis) -> None:
    """Move the robot along its constraint manifold by sliders until the window is closed."""
    mech = analysis.mechanism
    view = View(mech, analysis.q, plane_columns(analysis.planar), analysis.tolerance)
    manifold = Manifold(view, analysis.structural_redundancy)
    q = analysis.q
    values = [slider.start for slider in manifold.sliders]
    handles = [shown.slider(s.name, s.lower, s.upper, s.start) for s in manifold.sliders]
    asked = [shown.read(handle) for handle in handles]
    shown.board.write(status=status_lines(manifold.verdict_at(q)))
    stale = False
    while True:
        shown.tick()
        moved = False
        for k, handle in enumerate(handles):
            target = shown.read(handle)
            if target == asked[k]:
                continue
            asked[k] = target
            followed = manifold.lead(manifold.sliders[k], q, target - values[k])
            q, values[k] = followed.q, values[k] + followed.moved
            shown.pose(q)
            moved = True
            name = manifold.sliders[k].name
            why = f"{name} stays at {values[k]:.4g}: {followed.stopped}" if followed.stopped else ""
            shown.board.write(status=status_lines(manifold.verdict_at(q), why))
        if moved and not stale:
            # arrows of an earlier pose are wrong here
            shown.redraw_arrows(())
        elif stale and not moved:
            shown.redraw_arrows(arrows_at(shown, analysis, q))
        stale = moved


def arrows_at(shown: DebugWindow, analysis: Analysis, q: Array) -> tuple[ReactionArrow, ...]:
    """Return the arrows of the reactions at rest at a pose q (nq,); empty if they cannot be computed."""
    model = shown.window.model
    reactions = None if model is None else reactions_at(model, q, analysis.tolerance, analysis.planar)[0]
    return () if reactions is None else reaction_arrows(reactions)


def status_lines(verdict: PoseVerdict, why: str = "") -> list[tuple[str, str]]:
    """Return the status lines of a pose, each with the key of its colour."""
    p = verdict.degree_of_redundancy
    lines = [(f"p = {p}, rank {verdict.rank}", "non-unique" if p else "unique")]
    lines.append(("singular pose", "non-unique") if verdict.singular else ("", ""))
    return [*lines, (why, "naive" if why else "")]
