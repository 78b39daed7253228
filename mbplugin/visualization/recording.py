"""A motion or a stop for a replay: poses equally spaced in time, transparent robots, the path of the tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.errors import BadNumber, BadUsage
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Scene, as_scene
from mbplugin.model.spatial import Array
from mbplugin.simulation.trajectory.resampling import drawn

if TYPE_CHECKING:
    from mbplugin.simulation.trajectory.trajectory import Trajectory
    from mbplugin.stopping.outcome.values import StopReport

#: Poses per second that one sees, and the most of them.
RATE, _MOST = 25, 3000
#: How long a replay lasts where no speed is asked for, s: what lasts otherwise is slowed down or sped up.
_SHORTEST, _LONGEST = 3.0, 30.0
#: Speeds that read well, of real time.
_SPEEDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)


@dataclass(frozen=True, eq=False)
class Replay:
    """What is replayed.

    Parameters
    ----------
    time : (T,) array
        s, equally spaced.
    q : (T, nq) array
        Joint coordinates, rad, m and quaternions xyzw.
    speed : float
        Of real time, at first.
    ghosts : mapping of a key of the palette to (nq,) array
        Other poses that stay in view.
    path_W : (n, 3) array
        Path of the tool, m.
    events : tuple of (float, str)
        When something happens, s, and what.
    tolerance : float or None
        The relative rank tolerance of the motion, where it is known.
    """

    title: str
    time: Array
    q: Array
    speed: float
    ghosts: Mapping[str, Array] = field(default_factory=dict)
    path_W: Array = field(default_factory=lambda: np.zeros((0, 3)))
    events: tuple[tuple[float, str], ...] = ()
    tolerance: float | None = None

    def said(self, frame: int, speed: float) -> tuple[str, ...]:
        """Return the lines beside a pose: the time, and the last event."""
        now = float(self.time[frame])
        past = [text for time, text in self.events if time <= now + 1e-12]
        clock = f"{self.title}: {now:.3f} of {self.time[-1]:.3f} s, at {speed:g} of real time"
        return (clock, past[-1]) if past else (clock,)


def replay_of(
    model: Scene | Mechanism, motion: Trajectory | StopReport | str | Path, speed: float | None = None
) -> Replay:
    """Return the replay of a motion, a stop, or a motion in a file (``.npz`` or ``.csv``).

    Parameters
    ----------
    model : Scene or Mechanism
    motion : Trajectory, StopReport or path
    speed : float, optional
        Of real time; else one at which the replay lasts 3 to 30 s.

    Raises
    ------
    BadNumber, BadUsage
        A speed that is not positive, or a motion of another mechanism.
    """
    if speed is not None and not (np.isfinite(speed) and speed > 0):
        raise BadNumber(f"the speed is {speed:g}", expected="a positive number, 1 for real time")
    if isinstance(motion, (str, Path)):
        return _of_file(model, Path(motion), speed)
    from mbplugin.stopping.outcome.values import StopReport

    if isinstance(motion, StopReport):
        return _of_stop(model, motion, speed)
    times = _times(float(motion.time[0]), float(motion.time[-1]), speed)
    _require_same(model, motion.mechanism)
    q = drawn(motion, times).q
    return Replay(
        "motion",
        times,
        q,
        _speed(times, speed),
        path_W=_path(motion.mechanism, q),
        events=_events(motion),
        tolerance=motion.tolerance,
    )


def _of_stop(model: Scene | Mechanism, stop: StopReport, speed: float | None) -> Replay:
    motion = stop.trajectory
    _require_same(model, motion.mechanism)
    times = _times(float(motion.time[0]), float(motion.time[-1]), speed)
    ghosts = {"signal": motion.q[0], "naive": stop.naive.q}
    assumed = ", ASSUMED brakes" if stop.scenario.of_effort.joints else ""
    title = f"stop, category {stop.scenario.category}{assumed}"
    q = drawn(motion, times).q
    pace, path = _speed(times, speed), stop.tool.path
    return Replay(title, times, q, pace, ghosts, path, _events(motion), motion.tolerance)


def _of_file(model: Scene | Mechanism, file: Path, speed: float | None) -> Replay:
    from mbplugin.stopping.scenario.recording import read_recording

    mech = model.mechanism if isinstance(model, Scene) else model
    recording = read_recording(file, mech.q_names)
    home = as_scene(model).state.q
    times = _times(float(recording.time[0]), float(recording.time[-1]), speed)
    q = np.array([recording.state(mech, home, at)[0] for at in times])
    return Replay(file.name, times, q, _speed(times, speed), path_W=_path(mech, q))


def _require_same(model: Scene | Mechanism, moved: Mechanism) -> None:
    mech = model.mechanism if isinstance(model, Scene) else model
    if mech.q_names != moved.q_names:
        raise BadUsage(
            f"the motion is that of {moved.name!r}, not of {mech.name!r}", expected="the same coordinates"
        )


def _times(start: float, end: float, speed: float | None) -> Array:
    """Return the times (T,) at which the poses are seen, s."""
    shown = (end - start) / (speed or _chosen(end - start))
    count = int(np.clip(np.ceil(shown * RATE), 1, _MOST)) + 1
    return np.asarray(np.linspace(start, end, count), dtype=float)


def _speed(times: Array, speed: float | None) -> float:
    """Return the stated speed of a film of ``times`` (T,), s, else one near real time."""
    return speed or _chosen(float(times[-1] - times[0]))


def _chosen(lasts: float) -> float:
    """Return the speed nearest to real time at which something lasts neither too short nor too long."""
    fitting = [s for s in _SPEEDS if _SHORTEST <= lasts / s <= _LONGEST]
    nearest = sorted(fitting, key=lambda s: abs(np.log(s)))
    return nearest[0] if nearest else (_SPEEDS[0] if lasts < 1.0 else _SPEEDS[-1])


def _path(mech: Mechanism, q: Array) -> Array:
    """Return where the tool has been, (T, 3), m, in a motion q (T, nq)."""
    from mbplugin.stopping.table.default_tool import default_tool

    if not mech.bodies:
        return np.zeros((0, 3))
    index = mech.body_index[default_tool(mech).body]
    return np.array([forward(mech, one).p_WC[index] for one in q])


def _events(motion: Trajectory) -> tuple[tuple[float, str], ...]:
    return tuple((e.time, e.sentence) for e in motion.events)
