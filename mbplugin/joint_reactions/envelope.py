"""``envelope``: the reactions at every instant of a motion, and the largest of each kind."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np

from mbplugin.arguments import checked
from mbplugin.errors import BadNumber, BadUsage, ImplausibleValue
from mbplugin.joint_reactions.flexible import StiffnessLike
from mbplugin.joint_reactions.run import reactions
from mbplugin.joint_reactions.sizing import PARTS, Envelope, LargestLoad, LoadKind
from mbplugin.joint_reactions.values import ComponentReaction, ConstraintReaction, Reactions
from mbplugin.model import Array, Mechanism, ReactionUnit, implausible, units_of, warn_of
from mbplugin.model.scene import LoadLike, PayloadLike, Scene, mechanism_of, read_payloads
from mbplugin.phrases import listed
from mbplugin.readers import ModelSource, model_of
from mbplugin.readers.motions import MOST_INSTANTS, RecordedMotion, read_motion, require_instants
from mbplugin.readers.standing import bolted_down, in_motion

#: Components of the wrench that make up each part.
_OF_PART: dict[LoadKind, tuple[str, ...]] = {
    "axial": ("tz",),
    "radial": ("tx", "ty"),
    "moment": ("rx", "ry"),
    "torque": ("rz",),
}
_PLACE = {name: k for k, name in enumerate(("tx", "ty", "tz", "rx", "ry", "rz"))}


class Trajectory(Protocol):
    """The states of a computed motion: time (T,), q (T, nq), qd and qdd (T, nv)."""

    time: Array
    q: Array
    qd: Array
    qdd: Array


@checked
def envelope(
    model: ModelSource,
    motion: str | Path | Trajectory | RecordedMotion,
    *,
    instants: int | None = None,
    loads: Iterable[LoadLike] = (),
    stiffness: StiffnessLike = (),
    payload: Iterable[PayloadLike] | None = None,
    hold: Iterable[str] | None = None,
    stance: Iterable[str] | bool | None = None,
    friction: float | None = None,
    tolerance: float | None = None,
    planar: str | None = None,
    progress: Callable[[int], None] | None = None,
) -> Envelope:
    """Compute the largest force and moment of every joint along a motion, and bounds of undetermined ones.

    The reactions at each instant are those of :func:`mbplugin.joint_reactions.run.reactions` with the coordinates,
    rates and accelerations of the motion. No stiffness is estimated: what the rigid model and the stated stiffness
    leave open is not a number to choose a bearing by. Loads are in N and N·m, times in s.

    Parameters
    ----------
    model : path, Scene or Mechanism
    motion : path, Trajectory or RecordedMotion
        A Trajectory of this mechanism, such as that of a stop, or a ``.csv`` or ``.npz`` file as its ``save`` and
        ``mbplugin simulate --save`` write it, or the table of the ``.csv`` file as ``.parquet``.
    instants : int, optional
        Number of instants, at about equal distances from the first to the last; by default all of the motion.
    loads, stiffness, payload, hold, stance, friction, tolerance, planar
        As for :func:`mbplugin.joint_reactions.run.reactions`.
    progress : callable, optional
        Called with 1 after each instant.

    Raises
    ------
    BadUsage
        The motion is not one of this mechanism, or at some instant the reactions cannot be computed; the message
        has the time.
    BadNumber
        ``instants`` is impossible.
    """
    read, recorded = moved_model(model_of(model), motion, instants)
    given: dict[str, Any] = {
        "loads": tuple(loads),
        "stiffness": stiffness,
        "payload": None if payload is None else tuple(payload),
        "hold": None if hold is None else tuple(hold),
        "stance": stance if stance is None or isinstance(stance, bool) else tuple(stance),
        "friction": friction,
        "tolerance": tolerance,
        "planar": planar,
    }

    # once for the motion, with the largest rates, and not at each instant
    fastest = recorded.qd[np.abs(recorded.qd).argmax(axis=0), np.arange(recorded.qd.shape[1])]
    mech = mechanism_of(read)
    warn_of(implausible(mech, fastest, read_payloads(mech, given["payload"] or ())))

    def made() -> Iterator[Reactions]:
        for k in range(len(recorded.time)):
            yield _at(read, recorded, k, given)
            if progress is not None:
                progress(1)

    return enveloped(made(), recorded)


def _at(model: Any, motion: RecordedMotion, k: int, given: dict[str, Any]) -> Reactions:
    """Return the reactions at one instant; an error has its time."""
    state = motion.q[k], motion.qd[k], motion.qdd[k]
    return reactions_at(model, state, f"{motion.time[k]:.6g} s of the motion", given)


def moved_model(
    model: Scene | Mechanism, motion: str | Path | Trajectory | RecordedMotion, instants: int | None = None
) -> tuple[Scene | Mechanism, RecordedMotion]:
    """Read a motion of a model, and return the model with its base as in the motion.

    An arm whose base is not stated is bolted down, as in ``reactions``, unless the motion moves its base.

    Raises
    ------
    BadUsage, BadNumber
        As for :func:`recorded_motion`.
    """
    try:
        return model, recorded_motion(motion, model, instants)
    except BadUsage as error:
        held = in_motion(model)
        fixed = bolted_down(held) if isinstance(held, Scene) else held
        if fixed is model:
            raise
        try:
            return fixed, recorded_motion(motion, fixed, instants)
        except BadUsage:
            raise error from None


def recorded_motion(
    motion: str | Path | Trajectory | RecordedMotion, model: Any, instants: int | None = None
) -> RecordedMotion:
    """Read a motion of a model, and take some of its instants.

    Raises
    ------
    BadUsage
        The motion is not one of this mechanism.
    BadNumber
        ``instants`` is impossible.
    """
    mech = mechanism_of(model)
    if isinstance(motion, str | Path):
        recorded = read_motion(motion, mech)
    elif isinstance(motion, RecordedMotion):
        recorded = motion
    else:
        recorded = RecordedMotion(motion.time, motion.q, motion.qd, motion.qdd, "a computed motion")
    count = len(recorded.time)
    if recorded.q.shape[1:] != (len(mech.q_names),) or recorded.qd.shape[1:] != (len(mech.qd_names),):
        raise BadUsage(
            f"the motion has {recorded.q.shape[1]} coordinates and {recorded.qd.shape[1]} rates",
            expected=f"{len(mech.q_names)} and {len(mech.qd_names)}, those of {mech.name!r}",
        )
    require_instants(count)
    if instants is None:
        return recorded
    if not 1 <= instants <= MOST_INSTANTS:
        raise BadNumber(f"instants is {instants}", expected=f"1 to {MOST_INSTANTS}")
    taken = np.unique(np.round(np.linspace(0, count - 1, min(instants, count))).astype(int))
    return RecordedMotion(
        recorded.time[taken], recorded.q[taken], recorded.qd[taken], recorded.qdd[taken], recorded.source
    )


def reactions_at(
    model: Any, state: tuple[Array, Array, Array], when: str, given: dict[str, Any]
) -> Reactions:
    """Compute the reactions at one instant without warnings of rates and without estimated stiffness.

    Parameters
    ----------
    state : tuple of arrays
        q (nq,), qd and qdd (nv,), rad and m, rad/s and m/s, rad/s² and m/s².
    when : str
        The instant, for the message of an error.

    Raises
    ------
    BadUsage
        The reactions cannot be computed; the message begins with ``when``.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ImplausibleValue)
            found: Reactions = reactions(model, *state, estimate=False, **given)
    except BadUsage as error:
        raise BadUsage(f"at {when}: {error}") from None
    return found


def enveloped(found: Iterable[Reactions], motion: RecordedMotion) -> Envelope:
    """Return the largest loads of reactions at the instants of a motion."""
    largest = LargestLoads()
    for result, time in zip(found, motion.time.tolist(), strict=True):
        largest.add(result, time)
    return largest.envelope(motion.time, motion.source)


class LargestLoads:
    """The largest loads of the reactions that were added so far."""

    def __init__(self) -> None:
        self._tops: dict[tuple[str, LoadKind, str], _Top] = {}
        self._held: dict[str, None] = {}
        self._notes: dict[str, None] = {}
        self._last: Reactions | None = None

    def add(self, result: Reactions, time: float, stop: int | None = None) -> None:
        """Take the reactions at another instant into account: a time, s, of a motion, or of a numbered stop."""
        self._last = result
        self._held.update(dict.fromkeys(result.held))
        self._notes.update(dict.fromkeys(result.notes))
        for constraint in result.constraints:
            for part in _parts(constraint):
                key = (constraint.name, part.kind, part.name)
                self._tops.setdefault(key, _Top(constraint.type, part.unit)).add(part, (time, stop))

    def envelope(self, times: Array, source: str, stops: int = 0, notes: Iterable[str] = ()) -> Envelope:
        """Return the result for all instants, ``times`` (T,), s; further notes stand before those of the reactions."""
        assert self._last is not None, "no reactions were added"
        return Envelope(
            mechanism=self._last.mechanism,
            time=times,
            source=source,
            loads=tuple(top.load(*key) for key, top in self._tops.items()),
            held=tuple(self._held),
            tolerance=self._last.tolerance,
            notes=(*_changing(self._tops, len(times)), *notes, *self._notes),
            stops=stops,
        )


def _changing(tops: dict[tuple[str, LoadKind, str], _Top], count: int) -> Iterator[str]:
    """Yield a note on constraints that carry load at some of ``count`` instants only."""
    partly = list(dict.fromkeys(name for (name, _, _), top in tops.items() if top.instants < count))
    if partly:
        yield f"at some instants only, there is {listed(partly, 6)}"


class _Part(NamedTuple):
    """One part of a reaction at an instant: its value, or the largest possible one; both are None if unbounded."""

    kind: LoadKind
    name: str
    unit: ReactionUnit
    value: float | None
    bound: float | None
    stated: bool


def _parts(constraint: ConstraintReaction) -> Iterator[_Part]:
    """Yield the parts of a reaction: of a pair those of its wrench, of others each component."""
    own = {component.name: component for component in constraint.components}
    if constraint.wrench is None or not set(own) <= set(_PLACE):
        for component in constraint.components:
            value = None if component.value is None else abs(component.value)
            stated = component.source == "stated"
            yield _Part("component", component.name, component.unit, value, _most(component), stated)
        return
    for kind in PARTS:
        names = [name for name in _OF_PART[kind] if name in own]
        if not names:
            continue
        values = constraint.wrench[[_PLACE[name] for name in names]]
        value = None if np.isnan(values).any() else float(np.linalg.norm(values))
        most = [
            _most(own[name]) if np.isnan(v) else abs(float(v)) for name, v in zip(names, values, strict=True)
        ]
        known = [one for one in most if one is not None]
        bound = float(np.linalg.norm(known)) if len(known) == len(most) else None
        stated = any(own[name].source == "stated" for name in names)
        yield _Part(kind, "", units_of(names[0]).force, value, bound, stated)


def _most(component: ComponentReaction) -> float | None:
    """Return the largest magnitude that the inequalities allow; None if nothing bounds it."""
    if component.lower is None or component.upper is None:
        return None
    return max(abs(component.lower), abs(component.upper))


#: Time, s, and number of the stop, None of a single motion.
_When = tuple[float, int | None]


class _Top:
    """The largest value of one part so far."""

    def __init__(self, type_: str, unit: ReactionUnit) -> None:
        self._type, self._unit = type_, unit
        self._value: tuple[float, _When] | None = None
        self._bound: tuple[float | None, _When] | None = None
        self._stated = False
        self._open = 0
        self.instants = 0

    def add(self, part: _Part, when: _When) -> None:
        """Take another instant into account."""
        self.instants += 1
        self._stated |= part.stated
        if part.value is not None:
            if self._value is None or part.value > self._value[0]:
                self._value = part.value, when
            return
        self._open += 1
        if self._bound is None or (
            self._bound[0] is not None and (part.bound is None or part.bound > self._bound[0])
        ):
            self._bound = part.bound, when

    def load(self, joint: str, kind: LoadKind, name: str) -> LargestLoad:
        """Return the largest load."""
        value, (time, stop) = self._value or (None, (None, None))
        bound, (bound_time, bound_stop) = self._bound or (None, (None, None))
        return LargestLoad(
            joint,
            self._type,
            kind,
            name,
            self._unit,
            value,
            time,
            self._stated,
            self._open,
            bound,
            bound_time,
            stop,
            bound_stop,
        )
