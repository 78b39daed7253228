"""The plan of a sweep: random states, brakes and payloads, drawn from a seed for each stop.

Each stop k has the numbers of ``numpy.random.default_rng([seed, k])``, so that it depends only on the seed and its
number. To create a generator takes longer than to draw, so the states of all generators are computed as arrays: NumPy's
``SeedSequence``, which mixes seed and number in 32-bit words, and PCG64 (O'Neill 2014), whose n-th state follows from
the first in one multiplication and one addition modulo 2¹²⁸.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cached_property
from importlib.util import find_spec
from math import isfinite
from typing import Any, Protocol, get_args

import numpy as np

from mbplugin import errors
from mbplugin.constraints.assembly import assemble
from mbplugin.constraints.closure import Assembly
from mbplugin.constraints.stated_state import following_rates
from mbplugin.model import LARGEST, AnyArray, Array, Backend, Payload, State, units_of
from mbplugin.model.brakes import JointBrake, no_brakes
from mbplugin.phrases import one_line_repr
from mbplugin.processes.foreign import interrupts_held, isolated_starts
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.batch import ArmStopper, CompiledStop, supports_compiled_stop
from mbplugin.stopping.evaluation import summarise
from mbplugin.stopping.many import Stops, StopStarts
from mbplugin.stopping.outcome import StopSummary
from mbplugin.stopping.run import run_stop
from mbplugin.stopping.scenario import Scenario
from mbplugin.stopping.zones import StopMotion, motion_of_trajectory

#: Constants of the hash and of the mixing of ``SeedSequence``, and the number of its words.
_INIT_A, _MULT_A, _INIT_B, _MULT_B = 0x43B0D7E5, 0x931E8875, 0x8B51F9DD, 0x58F38DED
_MIX_LEFT, _MIX_RIGHT, _POOL = np.uint32(0xCA01F9DD), np.uint32(0x4973F715), 4
#: Multiplier of PCG64.
_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
_32, _64, _128 = (1 << 32) - 1, (1 << 64) - 1, (1 << 128) - 1
_HALF, _LOW = np.uint64(32), np.uint64(_32)
#: A 128-bit number as its high and low 64 bits.
_Wide = tuple[AnyArray, AnyArray]


def words_for(seed: int, numbers: AnyArray, count: int) -> AnyArray:
    """Return the first ``count`` outputs (k, count) of 64 bits of ``default_rng([seed, k])`` for k in numbers (k,)."""
    state, increment = _seeded(seed, numbers)
    factors, terms = zip(*_jumps(count), strict=True)
    high, low = _plus(_times(_wide(factors), state), _times(_wide(terms), increment))
    turned, by = high ^ low, high >> np.uint64(58)
    # a shift by 64 is undefined
    return np.asarray((turned >> by) | (turned << ((np.uint64(64) - by) & np.uint64(63))))


def doubles(words: AnyArray) -> Array:
    """Return the numbers (k, n) in [0, 1) that generators make of their outputs, words (k, n)."""
    return np.asarray((words >> np.uint64(11)) * 2.0**-53)


def integers_below(most: int, words: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Return the integers (k,) below ``most`` that generators make of words (k,), and the mask (k,) of those accepted.

    The words are first outputs. A generator takes the low half of its output, then the high half; where both are
    rejected, it would take more.
    """
    found, accepted = np.zeros(len(words), dtype=np.int64), np.zeros(len(words), dtype=bool)
    least = np.uint64(((1 << 32) - most) % most)
    for half in (words & _LOW, words >> _HALF):
        product = half * np.uint64(most)
        fits = ~accepted & ((product & _LOW) >= least)
        found[fits] = (product >> _HALF)[fits].astype(np.int64)
        accepted |= fits
    return found, accepted


# The seeds of the generators.


def _seeded(seed: int, numbers: AnyArray) -> tuple[_Wide, _Wide]:
    """Return state before the first output and increment of the generators, (k, 1) each, for ``numbers`` (k,)."""
    own = [seed >> shift & _32 for shift in range(0, max(seed.bit_length(), 1), 32)]
    entropy = [np.full(len(numbers), word, dtype=np.uint32) for word in own]
    first, second, third, fourth = _generated(_mixed([*entropy, numbers.astype(np.uint32)]))
    initial, increment = (first[:, None], second[:, None]), (third[:, None], fourth[:, None])
    increment = (increment[0] << np.uint64(1)) | (increment[1] >> np.uint64(63)), increment[1] << np.uint64(1)
    increment = increment[0], increment[1] | np.uint64(1)
    return _plus(_times(_wide([_MULTIPLIER]), _plus(initial, increment)), increment), increment


def _mixed(entropy: list[AnyArray]) -> list[AnyArray]:
    """Return the pool of ``SeedSequence``, four arrays (k,) of 32 bits, from the words of the entropy, (k,) each."""
    constant = _INIT_A

    def hashed(value: AnyArray) -> AnyArray:
        nonlocal constant
        value, constant = value ^ np.uint32(constant), constant * _MULT_A & _32
        value = value * np.uint32(constant)
        return np.asarray(value ^ (value >> np.uint32(16)))

    def mixed(x: AnyArray, y: AnyArray) -> AnyArray:
        result = _MIX_LEFT * x - _MIX_RIGHT * y
        return np.asarray(result ^ (result >> np.uint32(16)))

    zero = np.zeros_like(entropy[0])
    pool = [hashed(entropy[n] if n < len(entropy) else zero) for n in range(_POOL)]
    for source in range(_POOL):
        for n in range(_POOL):
            if n != source:
                pool[n] = mixed(pool[n], hashed(pool[source]))
    for word in entropy[_POOL:]:
        for n in range(_POOL):
            pool[n] = mixed(pool[n], hashed(word))
    return pool


def _generated(pool: list[AnyArray]) -> Iterator[AnyArray]:
    """Yield four arrays (k,) of 64 bits from a pool, low words first."""
    constant, words = _INIT_B, []
    for n in range(2 * _POOL):
        value, constant = pool[n % _POOL] ^ np.uint32(constant), constant * _MULT_B & _32
        value = value * np.uint32(constant)
        words.append((value ^ (value >> np.uint32(16))).astype(np.uint64))
    for low, high in zip(words[::2], words[1::2], strict=True):
        yield low | (high << _HALF)


# Arithmetic of 128 bits.


def _jumps(count: int) -> Iterator[tuple[int, int]]:
    """Yield factor and term with which state and increment give the state of each of ``count`` outputs."""
    factor, term = 1, 0
    for _ in range(count):
        factor, term = factor * _MULTIPLIER & _128, (term * _MULTIPLIER + 1) & _128
        yield factor, term


def _wide(values: tuple[int, ...] | list[int]) -> _Wide:
    """Return numbers of 128 bits as an array (1, n)."""
    return (
        np.array([[value >> 64 for value in values]], dtype=np.uint64),
        np.array([[value & _64 for value in values]], dtype=np.uint64),
    )


def _plus(a: _Wide, b: _Wide) -> _Wide:
    """Return a + b modulo 2¹²⁸."""
    low = a[1] + b[1]
    return a[0] + b[0] + (low < a[1]), low


def _times(a: _Wide, b: _Wide) -> _Wide:
    """Return a b modulo 2¹²⁸."""
    p, q, r, s = a[1] >> _HALF, a[1] & _LOW, b[1] >> _HALF, b[1] & _LOW
    across = p * s + (q * s >> _HALF)
    middle = q * r + (across & _LOW)
    high = p * r + (across >> _HALF) + (middle >> _HALF)
    return high + a[0] * b[1] + a[1] * b[0], a[1] * b[1]


#: Version of the part files. Increase it when columns or their meanings change, so that old folders count as other
#: sweeps.
_COLUMNS = 2
#: Upper limit for the number of stops.
MOST_STOPS = 10_000_000
#: Number of stops per file; and where they are computed together, in some milliseconds for each hundred: to write and
#: read a file takes as long as 60 stops, and towards the end of a part lanes run empty.
PART, FAST_PART = 250, 1000
#: Shares of a variation of the coordinates that are tried in turn until the loops close.
_SHARES = (1.0, 0.5, 0.25, 0.125, 0.0625)
BACKENDS: tuple[Backend, ...] = get_args(Backend)
#: Address at which the processes of a local cluster listen: only this machine can reach it.
LOOPBACK = "127.0.0.1"
#: Interval at which a worker checks that its parent is alive, s.
_INTERVAL = 0.5
#: Module that a cluster backend needs.
_MODULE = {"dask": "distributed", "ray": "ray"}


@one_line_repr
@dataclass(frozen=True, eq=False)
class SweepPlan:
    """Many stops of one robot. Stop k depends only on the plan and on k, wherever it is computed.

    Parameters
    ----------
    scenario : Scenario
        Its state is the centre of the drawn states, unless ``states`` is given.
    count : int
        Number of stops.
    states : (n, nq + nv) array, optional
        Coordinates and rates along a motion; each stop starts from one of them.
    recorded : tuple of str
        Recorded coordinates of that motion: their values hold, those of other joints follow.
    q_spread : float
        Largest variation of the coordinates in either direction, rad and m; clipped to the limits. Coordinates of
        a free base and of joints with quaternions do not vary. If the mechanism has loops or couplings, the variation
        is halved until it closes within the limits.
    speed_range : (float, float)
        Range of the factor on the rates.
    torque_tolerance, delay_tolerance : float
        Of the brakes, relative, in both directions, independent for each joint.
    payload_range : (float, float)
        Range of the factor on the masses and inertias of the payloads.
    part : int
        Number of stops per file.
    """

    scenario: Scenario
    count: int
    seed: int = 0
    states: Array | None = None
    q_spread: float = 0.0
    speed_range: tuple[float, float] = (1.0, 1.0)
    torque_tolerance: float = 0.0
    delay_tolerance: float = 0.0
    payload_range: tuple[float, float] = (1.0, 1.0)
    part: int = PART
    recorded: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MOST_STOPS or self.part < 1:
            raise errors.BadUsage(
                f"a sweep of {self.count} stops was requested", expected=f"at least one, at most {MOST_STOPS}"
            )
        if self.seed < 0:
            raise errors.BadUsage(f"the seed is {self.seed}", expected="a number that is not negative")
        for what in ("q_spread", "torque_tolerance", "delay_tolerance"):
            value = getattr(self, what)
            if not 0 <= value <= LARGEST or (what != "q_spread" and value >= 1):
                raise errors.BadNumber(
                    f"the {what.replace('_', ' ')} is {value:g}",
                    expected=f"not negative, a spread up to {LARGEST:g}, tolerances below 1",
                )
        for what in ("speed_range", "payload_range"):
            low, high = getattr(self, what)
            least = -np.inf if what == "speed_range" else 0.0
            if not (isfinite(low) and isfinite(high) and least <= low <= high):
                raise errors.BadNumber(
                    f"the {what.replace('_', ' ')} is {low:g} to {high:g}",
                    expected="two factors in ascending order, not negative for a payload",
                )
        if self.payload_range != (1.0, 1.0) and not self.scenario.actions.payloads:
            raise errors.BadUsage("a payload is to vary, and there is none", remedy="state a payload")
        if not self.scenario.brakes:
            raise no_brakes(self.scenario.mech)

    @property
    def joints(self) -> tuple[str, ...]:
        """The reported joints: those that have a brake and a coordinate."""
        names = [brake.joint for brake in self.scenario.brakes]
        return tuple(name for name in names if self.scenario.rate_of(name) >= 0)

    def unit_of(self, quantity: str) -> str:
        """Return the unit of a reported quantity: s, the joint's coordinate unit, or m for the tool."""
        what, _, joint = quantity.partition(" ")
        if what == "time":
            return "s"
        freedoms = [brake.freedom for brake in self.scenario.brakes if brake.joint == joint]
        return units_of(freedoms[0]).coordinate if freedoms else "m"

    @property
    def parts(self) -> int:
        """Number of files."""
        return -(-self.count // self.part)

    def size_of(self, part: int) -> int:
        """Return the number of stops in a part."""
        return min(self.part, self.count - part * self.part)

    @cached_property
    def fingerprint(self) -> str:
        """Checksum that identifies this plan."""
        # assumptions and notes do not affect the stops
        scenario = replace(self.scenario, assumed=(), notes=())
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "scenario"}
        return fingerprint_of(_COLUMNS, scenario, own)

    def draw(self, k: int) -> tuple[Array, Array, tuple[JointBrake, ...], tuple[Payload, ...]]:
        """Return coordinates, rates, brakes and payloads of stop k."""
        rng = np.random.default_rng([self.seed, k])
        s = self.scenario
        q, qd = s.q, s.qd
        if self.states is not None:
            q, qd = np.split(self.states[rng.integers(len(self.states))], [len(q)])
        q = self._closed(q, np.where(self._varied, rng.uniform(-self.q_spread, self.q_spread, len(q)), 0.0))
        qd = self._agreeing(q, qd * rng.uniform(*self.speed_range))
        torques = 1 + rng.uniform(-self.torque_tolerance, self.torque_tolerance, len(s.brakes))
        delays = 1 + rng.uniform(-self.delay_tolerance, self.delay_tolerance, len(s.brakes))
        factors = zip(s.brakes, torques.tolist(), delays.tolist(), strict=True)
        brakes = tuple(brake.scaled(torque, delay) for brake, torque, delay in factors)
        share = float(rng.uniform(*self.payload_range))
        payloads = tuple(
            replace(p, mass=share * p.mass, inertia=share * p.inertia) for p in s.actions.payloads
        )
        return q, qd, brakes, payloads

    def draws(self, numbers: range) -> StopStarts:
        """Return the starts of stops of a robot whose joints move independently; each is that of :meth:`draw`."""
        s, count = self.scenario, len(numbers)
        nq, n = len(s.q), len(s.brakes)
        several = self.states is not None and len(self.states) > 1
        words = words_for(self.seed, np.array(numbers), several + nq + 2 + 2 * n)
        values = doubles(words[:, several:])
        q, qd = np.tile(s.q, (count, 1)), np.tile(s.qd, (count, 1))
        if self.states is not None:
            places = np.zeros(count, dtype=np.int64)
            if several:
                places, accepted = integers_below(len(self.states), words[:, 0])
                for k in np.flatnonzero(~accepted).tolist():
                    rng = np.random.default_rng([self.seed, numbers[k]])
                    places[k], values[k] = rng.integers(len(self.states)), rng.random(values.shape[1])
            q, qd = np.split(self.states[places], [nq], axis=1)
        change, speeds, torques, delays, shares = np.split(values, np.cumsum([nq, 1, n, n]), axis=1)
        change = _uniform(-self.q_spread, self.q_spread, change)
        return StopStarts(
            self._within(q + np.where(self._varied, change, 0.0)),
            qd * _uniform(*self.speed_range, speeds),
            1 + _uniform(-self.torque_tolerance, self.torque_tolerance, torques),
            1 + _uniform(-self.delay_tolerance, self.delay_tolerance, delays),
            _uniform(*self.payload_range, shares)[:, 0],
        )

    @cached_property
    def _varied(self) -> AnyArray:
        """Mask of the coordinates (nq,) that vary: those of joints with one coordinate per freedom."""
        varied = np.zeros(len(self.scenario.q), dtype=bool)
        for joint in self.scenario.mech.tree.joints:
            if joint.pair is not None:
                varied[joint.q] = joint.q.stop - joint.q.start == len(joint.pair.kind.free)
        return varied

    def _closed(self, q: Array, change: Array) -> Array:
        """Return q (nq,) with the largest tried share of ``change`` (nq,) that limits and loops allow; rad and m."""
        scenario = self.scenario
        if not (scenario.mech.tree.cut or scenario.mech.couplings):
            return self._within(q + change)
        for share in _SHARES:
            drawn = self._within(q + share * change)
            try:
                closed = self._led(drawn)
            except errors.CannotClose:
                continue
            if scenario.limits == "ignore" or not closed.beyond_limits:
                return np.array(closed.q)
        return q

    def _led(self, q: Array) -> Assembly:
        """Return a drawn pose q (nq,) closed with the named coordinates fixed, or freely if that is impossible."""
        named = self.scenario.named if self.states is None else self.recorded
        try:
            return assemble(self.scenario.mech, q, named, named)
        except errors.ContradictedState:
            return assemble(self.scenario.mech, q)

    def _agreeing(self, q: Array, qd: Array) -> Array:
        """Return rates from qd (nv,) at q (nq,) that the constraints allow, stated rates unchanged; rad/s and m/s.

        If more rates are stated than there are freedoms, they contradict each other at poses other than the scenario's;
        then none is fixed.
        """
        mech = self.scenario.mech
        named = self.scenario.named_rates if self.states is None else self.recorded
        names = frozenset(named) & {*mech.qd_names}
        stated = State(q, qd, given_rates=names, named_rates=names)
        try:
            return following_rates(mech, q, stated)[0]
        except errors.ContradictedState:
            return following_rates(mech, q, State(q, qd))[0]

    def _within(self, q: Array) -> Array:
        """Clip coordinates q (nq,), rad and m, to the limits in place, and return them."""
        lower, upper = self._limits
        return np.clip(q, lower, upper, out=q)

    @cached_property
    def _limits(self) -> tuple[Array, Array]:
        """Lower and upper limits (nq,) of the coordinates that vary, rad and m; infinite where none applies."""
        lower, upper = np.full(len(self.scenario.q), -np.inf), np.full(len(self.scenario.q), np.inf)
        if self.scenario.limits != "stop":
            return lower, upper
        for joint in self.scenario.mech.tree.joints:
            if joint.pair is not None and self._varied[joint.q].all():
                for k, freedom in zip(range(joint.q.start, joint.q.stop), joint.pair.freedoms, strict=True):
                    if freedom.lower < freedom.upper:
                        lower[k], upper[k] = freedom.lower, freedom.upper
        return lower, upper


def _uniform(low: float, high: float, values: Array) -> Array:
    """Return numbers (k, n) between two bounds from ``values`` (k, n) in [0, 1), as NumPy's generators do."""
    return low + (high - low) * values


# The identity of a sweep: the checksum of all values on which its stops depend.


def fingerprint_of(*values: object) -> str:
    """Return the checksum of values: numbers, texts, arrays, and dataclasses, mappings and sequences of these."""
    total = hashlib.sha256()
    for value in values:
        total.update(_told(value).encode())
    return total.hexdigest()[:16]


def _told(value: object) -> str:
    """Return a text that identifies a value and is the same in every process."""
    if isinstance(value, np.ndarray):
        return f"array{value.shape}{value.tolist()}"
    if isinstance(value, Enum):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        own = ",".join(f"{field.name}={_told(getattr(value, field.name))}" for field in fields(value))
        return f"{type(value).__qualname__}({own})"
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{key!r}:{_told(value[key])}" for key in sorted(value)) + "}"
    if isinstance(value, (tuple, list)):
        return f"[{','.join(map(_told, value))}]"
    if callable(value):
        return f"{value.__module__}.{getattr(value, '__qualname__', type(value).__qualname__)}"
    return repr(value)


# The stops of a sweep: computed by the compiled loop if the robot allows it, else as by estop.


class Stopper(Protocol):
    """Computes stops of one robot."""

    def stop(
        self, q: Array, qd: Array, brakes: tuple[JointBrake, ...], payloads: tuple[Payload, ...]
    ) -> StopSummary:
        """Return the result of a stop from q (nq,) and qd (nv,); rad and m, rad/s and m/s."""

    def part(self, plan: SweepPlan, numbers: range) -> tuple[Stops, Array, Array]:
        """Return results, rates (k, nv) at the signal and carried masses (k,), kg, of some stops of a plan."""

    def motion(self) -> StopMotion:
        """Return the motion of the last stop."""


def stopper_of(scenario: Scenario, threads: int = 1) -> Stopper:
    """Return a stopper that supports the robot; an arm computes stops of category 0 in ``threads``."""
    return _Compiled(scenario, threads) if supports_compiled_stop(scenario) else _General(scenario)


def computed_in_one_process(scenario: Scenario) -> bool:
    """Return True if one process computes many stops together: compiled, or after ramps as arrays."""
    return supports_compiled_stop(scenario)


class _Compiled(ArmStopper):
    """Computes stops of an arm whose joints each have one freedom and a brake."""

    def __init__(self, scenario: Scenario, threads: int) -> None:
        super().__init__(CompiledStop(scenario), threads)
        self._start = scenario.q

    def stop(
        self, q: Array, qd: Array, brakes: tuple[JointBrake, ...], payloads: tuple[Payload, ...]
    ) -> StopSummary:
        """Return the result of a stop from q (nq,) and qd (nv,); rad and m, rad/s and m/s."""
        self._start = q
        return super().stop(q, qd, brakes, payloads)

    def part(self, plan: SweepPlan, numbers: range) -> tuple[Stops, Array, Array]:
        """Return results, rates and carried masses of some stops of a plan, computed together."""
        starts, payloads = plan.draws(numbers), self.scenario.actions.payloads
        masses = starts.shares * sum(payload.mass for payload in payloads)
        return self.stops(starts, payloads), starts.qd, masses

    def motion(self) -> StopMotion:
        return self.arm.motion(self._start)


class _General:
    """Computes stops of any other robot: with a free base, wheels, loops, or joints without a brake."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._last: Trajectory | None = None

    def stop(
        self, q: Array, qd: Array, brakes: tuple[JointBrake, ...], payloads: tuple[Payload, ...]
    ) -> StopSummary:
        """Return the result of a stop from q (nq,) and qd (nv,); rad and m, rad/s and m/s."""
        scenario = self.scenario.from_state(q, qd, brakes, payloads)
        self._last = run_stop(scenario)
        return summarise(scenario, self._last)

    def part(self, plan: SweepPlan, numbers: range) -> tuple[Stops, Array, Array]:
        """Return results, rates and carried masses of some stops of a plan."""
        return _one_by_one(self, plan, numbers)

    def motion(self) -> StopMotion:
        assert self._last is not None, "no stop was computed"
        return motion_of_trajectory(self._last)


def _one_by_one(stopper: Stopper, plan: SweepPlan, numbers: range) -> tuple[Stops, Array, Array]:
    """Return results, rates (k, nv) and carried masses (k,), kg, of some stops of a plan, computed one by one."""
    found, rates, masses = [], [], []
    for k in numbers:
        q, qd, brakes, payloads = plan.draw(k)
        found.append(stopper.stop(q, qd, brakes, payloads))
        rates.append(qd)
        masses.append(float(sum(payload.mass for payload in payloads)))
    return Stops.of(found, plan.scenario.duration), np.array(rates), np.array(masses)


# The backends of a sweep: the cores of this machine, or a cluster of dask or ray.


def joblib_with(backend: str) -> Any:
    """Return the joblib module, after checking that everything a backend needs is installed.

    Raises
    ------
    UnknownName
        There is no such backend.
    MissingDependency
        joblib, dask or ray is not installed.
    """
    if backend not in BACKENDS:
        raise errors.UnknownName(
            f"there is no backend {backend!r}", remedy=errors.suggestion(backend, BACKENDS)
        )
    if backend in _MODULE and find_spec(_MODULE[backend]) is None:
        raise errors.MissingDependency.of(f"the backend {backend}", backend, backend)
    try:
        import joblib
    except ImportError:
        raise errors.MissingDependency.of("a sweep", "joblib", "sweep") from None
    return joblib


@contextlib.contextmanager
def working(joblib: Any, backend: str, jobs: int) -> Iterator[None]:
    """Direct joblib's work to a backend; a cluster must be connected already."""
    if backend == "dask":
        _require_client()
    elif backend == "ray":
        from ray.util.joblib import register_ray

        register_ray()
    elif jobs == 1:
        backend = "sequential"
    settings = {}
    if backend == "loky":
        # a worker watches its parent from its start, since it may never get a task; clusters manage their own
        settings = {"initializer": end_with, "initargs": (os.getpid(),)}
    with isolated_starts(), joblib.parallel_config(backend, n_jobs=jobs, **settings):
        yield


def finished(joblib: Any, backend: str, work: Sequence[Any]) -> Iterator[Any]:
    """Yield the results of joblib's jobs as they finish."""
    if not work:
        return
    if backend != "ray":
        _start_trackers()
        # the workers start here, in another folder: numba reads settings from the current one
        with isolated_starts(move=True), interrupts_held():
            results = joblib.Parallel(return_as="generator_unordered")(work)
        yield from results
        return
    # with ray, joblib returns all results at once: submit in rounds so that progress is visible
    size = 4 * joblib.effective_n_jobs()
    for k in range(0, len(work), size):
        yield from joblib.Parallel()(work[k : k + size])


def end_workers() -> None:
    """End the idle workers that loky keeps for reuse at once; otherwise they silently take seconds to end."""
    from joblib.externals.loky import get_reusable_executor, reusable_executor

    # a sweep in threads has none, and they would start only to be ended
    if getattr(reusable_executor, "_executor", True) is not None:
        get_reusable_executor(reuse=True).shutdown(wait=True, kill_workers=True)


# Worker processes of a sweep end when the process that started them is gone.
#
# Workers of joblib wait some minutes for more work. A killed sweep would leave them behind, with their memory and
# with its output open, while a caller waits for the end of that output.


def end_with(parent: int) -> None:
    """End this process when its parent has ended.

    Windows does not report the end of a parent: there the worker ends when joblib's timeout is over.

    Parameters
    ----------
    parent : int
        Its process id.
    """
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_INTERVAL)
    os._exit(1)


def _start_trackers() -> None:
    """Start the resource trackers now: their start lets Ctrl-C through to the processes that start next."""
    # Windows needs no resource tracker
    if sys.platform == "win32":
        return
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()
    with contextlib.suppress(ImportError):
        from joblib.externals.loky.backend.resource_tracker import ensure_running

        ensure_running()


def _require_client() -> None:
    from distributed import get_client

    try:
        get_client()
    except ValueError:
        raise errors.BadUsage(
            "no dask client is connected", remedy="make a distributed.Client(…) before"
        ) from None


@contextlib.contextmanager
def connected(backend: str, address: str | None, jobs: int) -> Iterator[None]:
    """Connect to the cluster at an address, or to a local one on this machine's cores, for a with block.

    Raises
    ------
    BadUsage
        An address is given for a backend that is not a cluster, or nothing answers there.
    """
    if backend not in _MODULE:
        if address is not None:
            raise errors.BadUsage(f"backend {backend!r} has no address", expected="dask or ray")
        yield
        return
    with isolated_starts(), _dask(address, jobs) if backend == "dask" else _ray(address, jobs):
        yield


@contextlib.contextmanager
def _dask(address: str | None, jobs: int) -> Iterator[None]:
    from distributed import Client, LocalCluster

    count = jobs if jobs > 0 else None
    with contextlib.ExitStack() as stack:
        if address is None:
            options = {
                "n_workers": count,
                "threads_per_worker": 1,
                "dashboard_address": None,
                "host": LOOPBACK,
            }
            with isolated_starts(move=True):
                cluster = LocalCluster(**options)  # type: ignore[no-untyped-call]
            address = stack.enter_context(cluster).scheduler_address
        try:
            stack.enter_context(Client(address, timeout=20))  # type: ignore[no-untyped-call]
        except (OSError, ValueError):
            raise errors.BadUsage("no dask scheduler answers", where=str(address)) from None
        yield


@contextlib.contextmanager
def _ray(address: str | None, jobs: int) -> Iterator[None]:
    import ray

    count = jobs if jobs > 0 and address is None else None
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.WARNING}
    quiet |= {} if address else {"include_dashboard": False, "_node_ip_address": LOOPBACK}
    with contextlib.nullcontext() if address else _ray_on_loopback():
        try:
            # ray makes its processes search for modules in the current folder
            with isolated_starts(move=True):
                ray.init(address=address or "local", num_cpus=count, **quiet)
        except (ConnectionError, ValueError, RuntimeError):
            raise errors.BadUsage("no ray cluster answers", where=str(address)) from None
        try:
            if address is None:
                _require_loopback(ray)
            yield
        finally:
            ray.shutdown()


@contextlib.contextmanager
def _ray_on_loopback() -> Iterator[None]:
    """Make ray use the loopback address as stated, as it does by default on Windows and macOS.

    On Linux it replaces it by the address of the machine, and its servers listen on every interface.
    """
    from ray._private import ray_constants

    constants: Any = ray_constants
    before = getattr(constants, "ENABLE_RAY_CLUSTER", None)
    constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        constants.ENABLE_RAY_CLUSTER = before


def _require_loopback(ray: Any) -> None:
    """Raise an error if other machines can reach the local cluster."""
    addresses = {node["NodeManagerAddress"] for node in ray.nodes()}
    if addresses != {LOOPBACK}:
        raise errors.BadUsage(
            f"the installed ray {ray.__version__} listens at {', '.join(sorted(addresses))}",
            expected=f"a cluster that listens at {LOOPBACK} alone",
            remedy="start a cluster as its documentation says, and pass its --address",
        )
