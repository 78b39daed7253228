"""``watch``: attach to a running simulation, and look at its forces at every update."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mbplugin.arguments import checked
from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.errors import BadUsage, MbPluginError, MissingDependency
from mbplugin.files import PLOTTING_ENDINGS, replacing, require_folder
from mbplugin.model import AnyArray, Array, RowLabel, library_model
from mbplugin.phrases import counted, listed, one_line
from mbplugin.readers import BulletClient, MuJoCoData, MuJoCoModel, client_id
from mbplugin.watching import Structure, length_of
from mbplugin.watching.bullet import BulletSource
from mbplugin.watching.hooks import HOOKS, Hooks
from mbplugin.watching.log import Log
from mbplugin.watching.numbers import MOST_ROWS, Mark, Numbers, evaluate, marks_of, row_labels
from mbplugin.watching.update import Update

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mbplugin.watching.mujoco import MujocoSource
    from mbplugin.watching.overlay import Overlay

#: Forces with a curve of their own: the largest ones.
_MOST = 10
#: Updates that are kept for a plot; the log has all of them.
_KEPT = 20_000
#: Sets of contacts whose labels are kept.
_LABELS = 256
#: Bodies in a note.
_NAMED = 4


@checked
def watch(
    client: int | BulletClient | MuJoCoModel,
    data: MuJoCoData | None = None,
    *,
    every: int | None = None,
    log: str | Path | None = None,
    intervals: int | None = None,
    hold: Iterable[str] | None = None,
    overlay: bool | None = None,
    tolerance: float = 0.02,
    drift: float = 5e-3,
) -> Watch:
    """Watch the forces of a running simulation, without changing it.

    Call ``update()`` after a step, or give ``every``. Each update reads the state and the engine's forces, finds which
    forces the rigid model determines, and marks numbers of the engine that are not possible.

    Parameters
    ----------
    client : PyBullet client or MjModel
        The id of a client of this process (DIRECT, GUI or SHARED_MEMORY), or a ``BulletClient``; or MuJoCo's model.
    data : MjData, optional
        MuJoCo's data, with a model.
    every : int, optional
        Update after each so many calls of ``stepSimulation`` or ``mj_step`` of this process.
    log : str or Path, optional
        ``.csv`` or ``.parquet`` file, which is complete when the watch is closed.
    intervals : int, optional
        Compute the intervals of undetermined forces at every so many updates. By default only when they are asked for.
    hold : iterable of str, optional
        Joints (or ``joint.freedom``) that drives hold. By default those whose drive gives a force.
    overlay : bool, optional
        Draw into PyBullet's window. By default if it has one.
    tolerance : float
        Accepted deviation of a force, relative to the weight of all that moves, N; of a moment, that times the
        characteristic length, N·m.
    drift : float
        Accepted gap of a constraint, m and rad.

    Returns
    -------
    Watch
        To be closed, or used in a ``with`` block.

    Raises
    ------
    UnknownName
        No such client is connected; or a held joint does not exist.
    BadUsage
        A number is out of range, or model and data do not belong together.
    MissingDependency
        The engine, or what a log needs, is not installed.
    """
    return start(
        client, data, every=every, log=None if log is None else Log(Path(log)), intervals=intervals, hold=hold,
        overlay=overlay, tolerance=tolerance, drift=drift,
    )  # fmt: skip


def start(
    client: Any,
    data: Any,
    *,
    log: Log | None,
    every: int | None = None,
    intervals: int | None = None,
    hold: Iterable[str] | None = None,
    overlay: bool | None = None,
    tolerance: float = 0.02,
    drift: float = 5e-3,
    hooks: Hooks = HOOKS,
) -> Watch:
    """Return a watch whose log may be shared with others; see :func:`watch`.

    Raises
    ------
    MbPluginError
        As for :func:`watch`.
    """
    for name, number in (("every", every), ("intervals", intervals)):
        if number is not None and number < 1:
            raise BadUsage(f"{name} is {number}", expected="a whole number from 1")
    for name, value in (("tolerance", tolerance), ("drift", drift)):
        if not 0 < value < np.inf:
            raise BadUsage(f"{name} is {value:g}", expected="a positive number")
    held = None if hold is None else tuple([hold] if isinstance(hold, str) else hold)
    own = client_id(client)
    source: BulletSource | MujocoSource
    key: Any
    if own is not None:
        if data is not None:
            raise BadUsage("MuJoCo's data are given with a PyBullet client", remedy="leave them out")
        source, key = BulletSource(own, held, DEFAULT_TOLERANCE), own
    elif library_model(client) == ("mujoco", "MjModel"):
        if data is None:
            raise BadUsage("a MuJoCo model is given without its data", expected="mb.watch(model, data)")
        from mbplugin.watching.mujoco import MujocoSource

        source, key = MujocoSource(client, data, held, DEFAULT_TOLERANCE), ("mujoco", id(data))
    else:
        raise BadUsage(
            f"a {type(client).__name__} cannot be watched",
            expected="a PyBullet client, or MuJoCo's MjModel with its MjData",
        )
    if overlay and not source.draws:
        raise BadUsage("an overlay needs PyBullet's own window", expected="a client connected by GUI")
    made = Watch(source, key, hooks, every, log, intervals, tolerance, drift)
    if source.draws and overlay is not False:
        from mbplugin.watching.overlay import Overlay

        made.overlay = Overlay(source.bullet, source.client)  # type: ignore[union-attr]
    if every is not None:
        source.count_steps()
        hooks.follow(key, made)
    return made


class Watch:
    """A watch on a running simulation (N, N·m, s); made by :func:`watch`.

    ``latest`` is the last update, ``marks`` counts what was not possible, and ``notes`` says what happened besides.
    """

    def __init__(
        self,
        source: BulletSource | MujocoSource,
        key: Any,
        hooks: Hooks,
        every: int | None,
        log: Log | None,
        intervals: int | None,
        tolerance: float,
        drift: float,
    ) -> None:
        self.source, self.every, self.intervals = source, every, intervals
        self.tolerance, self.drift = tolerance, drift
        self.latest: Update | None = None
        self.updates, self.steps = 0, 0
        self.notes: list[str] = []
        #: Number of updates in which a number was marked, by constraint, component and kind.
        self.marks: dict[tuple[str, str, str], int] = {}
        self.kept: deque[Kept] = deque(maxlen=_KEPT)
        self.log, self.closed = log, False
        self.overlay: Overlay | None = None
        self._key, self._hooks = key, hooks
        self._told = self._spins_told = False
        self._lock = RLock()
        self._length: tuple[Structure | None, float] = (None, 1.0)
        self._names: dict[Any, tuple[RowLabel, ...]] = {}

    def __repr__(self) -> str:
        facts = [counted(self.updates, "update"), counted(len(self.marks), "marked force")]
        return one_line(self, str(self.source_name), (*facts, *(["closed"] if self.closed else [])))

    @property
    def source_name(self) -> str:
        """Name of what is watched, for messages."""
        return f"client {self.source.client}" if isinstance(self.source, BulletSource) else "MuJoCo's data"

    def update(self) -> Update:
        """Read state and forces, and return what they say.

        Raises
        ------
        BadUsage
            The watch is closed, or the client is empty.
        UnknownName
            The client is not connected any more.
        """
        with self._lock:
            if self.closed:
                raise BadUsage("the watch is closed", remedy="watch the client again")
            return self._update()

    def _update(self) -> Update:
        reading = self.source.read()
        self._note_events()
        s = self.source.structure
        assert s is not None
        state = (reading.twists, reading.geometry.poses.p_WC, reading.geometry.poses.R_WL)
        if not all(np.isfinite(values).all() for values in state):
            raise BadUsage(
                f"at {reading.time:.4g} s the state of {self.source_name} is not a number: the simulation has diverged",
                remedy="take shorter time steps, or start again from an earlier state",
            )
        if self.source.rebuilt:
            self._names.clear()
            self.note(f"at {reading.time:.4g} s {self.source.rebuilt}: the structure was read again")
        if self.source.soft:
            self.note(f"soft bodies are not watched, nor contacts with them: {listed(self.source.soft)}")
        numbers = evaluate(s, reading, self._length_of(s, reading))
        if not self._spins_told and (spins := numbers.unread_moments).any():
            self._spins_told = True
            bodies = dict.fromkeys(s.mech.bodies[k].name for k in reading.touching.body[spins].tolist())
            self.note(
                f"contacts of {listed(list(bodies), _NAMED)} have rolling or spinning friction, whose moments PyBullet "
                "does not report: no intervals are computed while they carry a load"
            )
        if isinstance(self.source, BulletSource) and self.source.silent and not self._told:
            self._told = self._tell_of_sensors(numbers, self.source.sensor_pairs)
        decided = len(numbers.rows.J) <= MOST_ROWS
        cheap = tuple(marks_of(numbers, self.tolerance, self.drift, decided=decided))
        self.updates += 1
        self.latest = made = Update(self.updates, reading.time, numbers, cheap, self.tolerance)
        if not decided:
            self.note(
                f"with more than {MOST_ROWS} rows of contacts, what is determined is computed only when it is asked for"
            )
        if self.intervals and self.updates % self.intervals == 0:
            self._bound(made)
        for mark in made.marks:
            key = (mark.constraint, mark.component, mark.kind)
            self.marks[key] = self.marks.get(key, 0) + 1
        names = self._labels(made)
        verdict = numbers.verdict if decided else None
        self.kept.append(
            Kept(
                made.time,
                names,
                numbers.rows.engine,
                verdict.rows if verdict else None,
                made.marks,
                verdict.redundancy if verdict else None,
            )
        )
        if self.log is not None:
            self.log.add(made.log_rows(names))
        if self.overlay is not None:
            self.overlay.draw(made)
        return made

    def _note_events(self) -> None:
        for event in self.source.events:
            self.note(event)
        self.source.events.clear()

    def _bound(self, made: Update) -> None:
        try:
            _ = made.intervals
        except MbPluginError as error:
            self.note(f"no intervals: {error}")

    def _tell_of_sensors(self, numbers: Numbers, pairs: AnyArray) -> bool:
        """Note that no joint of tree pairs (j,) has a sensor on, though some carry a load; no getter tells it."""
        forces = numbers.pair_wrenches(np.nan_to_num(numbers.rows.engine))[pairs, :3]
        if not (np.abs(forces) > self.tolerance * numbers.force).any():
            return False
        self.note(
            "PyBullet's force sensors of joints are off, so that forces in joints have no number of the engine: "
            "enableJointForceTorqueSensor in your script turns them on"
        )
        return True

    def _length_of(self, s: Structure, reading: Any) -> float:
        """Return the characteristic length, of the first update with contacts of a structure."""
        if self._length[0] is not s:
            from mbplugin.watching.intervals import with_contacts

            first = evaluate(s, reading, 1.0)
            mech = with_contacts(first) if len(reading.touching) <= MOST_ROWS else s.mech
            length = length_of(s, mech, reading.geometry.poses)
            self._length = (s if len(reading.touching) else None, length)
        return self._length[1]

    def _labels(self, made: Update) -> tuple[RowLabel, ...]:
        """Return the labels of the rows, kept for the bodies that touch: contacts of a robot that buzzes come back."""
        n = made.numbers
        key = (
            id(n.structure),
            n.reading.touching.body.tobytes(),
            n.rows.contact.tobytes(),
            n.rows.part.tobytes(),
        )
        if key not in self._names:
            if len(self._names) == _LABELS:
                self._names.clear()
            self._names[key] = tuple(row_labels(n))
        return self._names[key]

    def note(self, sentence: str) -> None:
        """Keep a sentence, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def plot(self, path: str | Path | None = None) -> Figure:
        """Draw normal forces, what is marked and the degree of redundancy over time.

        Parameters
        ----------
        path : str or Path, optional
            ``.png``, ``.svg`` or ``.pdf`` file.

        Raises
        ------
        MissingDependency
            Matplotlib is not installed.
        BadUsage
            There was no update, or the file cannot be written.
        """
        return _picture(tuple(self.kept), None if path is None else Path(path))

    def close(self) -> None:
        """End the watch: complete the log, remove the overlay, and give back what was wrapped.

        Raises
        ------
        BadUsage
            The log cannot be written.
        """
        with self._lock:
            if self.closed:
                return
            self.closed = True
            self._hooks.leave(self._key, self)
            if self.overlay is not None:
                self.overlay.remove()
            if self.log is not None:
                self.log.close()

    def __enter__(self) -> Watch:
        """Return the watch, which is closed at the end of the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the watch."""
        self.close()

    # Called around the steps; nothing here may reach the script.

    def _guarded(self, call: Callable[[], object]) -> None:
        try:
            with self._lock:
                if not self.closed:
                    call()
        except Exception as error:
            self.note(str(error) if isinstance(error, MbPluginError) else f"{type(error).__name__}: {error}")

    def before_step(self) -> None:
        """Keep the state before the step that is looked at."""
        # the state after the last update is that before the next step
        if self.every is None or (self.steps + 1) % self.every:
            return
        if self.every > 1 or self.source.state_was_set:
            self._guarded(self.source.remember)

    def after_step(self) -> None:
        """Count the step, and update after each ``every`` of them."""

        def count() -> None:
            self.steps += 1
            self.source.note_step()
            self._note_events()
            if self.every is not None and self.steps % self.every == 0:
                self._update()
            elif isinstance(self.source, BulletSource):
                self.source.forget_forces()

        self._guarded(count)

    def before_disconnect(self) -> None:
        """Close the watch, since its client goes."""
        self._guarded(lambda: self.note(f"{self.source_name} was disconnected"))
        self._guarded(self.close)

    def after_reset(self) -> None:
        """Read everything again at the next update."""
        if isinstance(self.source, BulletSource):
            self._guarded(self.source.forget)

    def state_set(self, restored: bool) -> None:
        """Forget the state that is kept: the script has set another one, or ``restored`` a saved one."""
        if isinstance(self.source, BulletSource):
            source = self.source
            self._guarded(lambda: source.note_state(restored))

    def dynamics_set(self) -> None:
        """Look at all masses and frictions at the next update."""
        if isinstance(self.source, BulletSource):
            self._guarded(self.source.note_dynamics)

    def pushed(self, body: int, link: int, force: Any, point: Any, frame: int) -> None:
        """Note a force or moment that the script applies."""
        if isinstance(self.source, BulletSource):
            source = self.source
            self._guarded(lambda: source.note_push(body, link, force, point, frame))

    def torque(self, body: int, joint: int, value: float) -> None:
        """Note a torque that the script gives to a joint."""
        if isinstance(self.source, BulletSource):
            source = self.source
            self._guarded(lambda: source.note_torque(body, joint, value))


def summary(made: Watch) -> Iterator[str]:
    """Yield what a watch found, one sentence a line."""
    line = f"{made.source_name}: {counted(made.steps, 'step')}, {counted(made.updates, 'update')}"
    if made.latest is not None and made.latest.decided:
        line += f"; at the end degree of redundancy {made.latest.degree_of_redundancy}"
    yield line
    for (constraint, component, kind), count in sorted(made.marks.items(), key=lambda item: -item[1])[:12]:
        yield f"  {constraint}.{component}: {kind} in {counted(count, 'update')}"
    if len(made.marks) > 12:
        yield f"  and {len(made.marks) - 12} more"
    yield from (f"  {note}" for note in made.notes)


# The picture of a watch: normal forces of contacts, what is marked, and the degree of redundancy over time.


class Kept(NamedTuple):
    """What is kept of each update for a plot: names of the rows, the engine's numbers and what is determined."""

    time: float
    labels: tuple[RowLabel, ...]
    engine: Array
    determined: AnyArray | None
    marks: tuple[Mark, ...]
    redundancy: int | None


def _picture(kept: Sequence[Kept], path: Path | None) -> Figure:
    """Return the picture of some updates, and write it to a file if a path is given.

    Raises
    ------
    MissingDependency
        Matplotlib is not installed.
    BadUsage
        There is no update, the ending means no picture, or the file cannot be written.
    """
    if not kept:
        raise BadUsage("there is nothing to plot yet", remedy="call update() first")
    if path is not None:
        if path.suffix.lower() not in PLOTTING_ENDINGS:
            raise BadUsage(
                f"the plot is {str(path)!r}, which is no picture",
                expected=f"a file that ends in {' or '.join(PLOTTING_ENDINGS)}",
            )
        require_folder(path)
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependency.of("a plot", "Matplotlib", "plot") from None
    figure = Figure(figsize=(9, 6), layout="constrained")
    forces, counts = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
    _forces(forces, kept)
    time = np.array([one.time for one in kept])
    redundancy = np.array([np.nan if one.redundancy is None else one.redundancy for one in kept])
    marks = np.array([float(len(one.marks)) for one in kept])
    counts.plot(*_parted(time, redundancy), color="0.3", label="degree of redundancy")
    counts.plot(*_parted(time, marks), color="tab:red", label="marked numbers")
    counts.set(xlabel="time, s", ylabel="number")
    counts.legend(loc="upper right", fontsize="small")
    if path is not None:
        with replacing(path) as temporary:
            figure.savefig(temporary, dpi=120)
    return figure


def _forces(axes: Any, kept: Sequence[Kept]) -> None:
    """Draw the largest normal forces, dashed where they are not determined, and red points where they are marked."""
    names = list(dict.fromkeys(label for one in kept for label in one.labels if label.component == "cn"))
    curves = {label: _curve(kept, label) for label in names}
    largest = sorted(names, key=lambda label: -np.nanmax(np.abs(curves[label][0]), initial=0.0))[:_MOST]
    time = np.array([one.time for one in kept])
    for label in sorted(largest, key=names.index):
        values, determined, marked = curves[label]
        one_of_many, known = (np.where(determined == part, values, np.nan) for part in (False, True))
        (line,) = axes.plot(*_parted(time, one_of_many), "--", linewidth=1.2)
        axes.plot(*_parted(time, known), "-", color=line.get_color(), label=label.constraint)
        axes.plot(time[marked], values[marked], ".", color="tab:red")
    axes.set(ylabel="normal force, N", title="solid: determined; dashed: one of many; red: not possible")
    if largest:
        axes.legend(loc="upper right", fontsize="x-small")
    if len(names) > len(largest):
        axes.annotate(
            f"{len(names) - len(largest)} smaller forces are not drawn",
            (0.01, 0.02),
            xycoords="axes fraction",
            fontsize="small",
        )


def _parted(time: Array, values: Array) -> tuple[Array, Array]:
    """Return time (n,) and values (n,) with a gap wherever the time went back, as after a reset."""
    back = np.flatnonzero(np.diff(time) < 0) + 1
    return np.insert(time, back, np.nan), np.insert(values.astype(float), back, np.nan)


def _curve(kept: Sequence[Kept], label: RowLabel) -> tuple[Array, Any, Any]:
    """Return values, whether they are determined, and whether they are marked, (n,) each."""
    values = np.full(len(kept), np.nan)
    determined, marked = np.zeros(len(kept), dtype=bool), np.zeros(len(kept), dtype=bool)
    for k, one in enumerate(kept):
        if label not in one.labels:
            continue
        row = one.labels.index(label)
        values[k] = one.engine[row]
        determined[k] = one.determined is not None and bool(one.determined[row])
        marked[k] = any(mark.constraint == label.constraint for mark in one.marks)
    return values, determined, marked
