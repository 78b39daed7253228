"""The random quantities of a sweep: states, brakes and payloads, drawn from a seed, stop by stop."""

from __future__ import annotations

import contextlib
import hashlib
import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from enum import Enum
from functools import cached_property
from importlib.util import find_spec
from math import isfinite
from typing import Any, Protocol, get_args

import numpy as np

from mbplugin.constraints.assembly import Assembly, assemble
from mbplugin.constraints.stated_state import following_rates
from mbplugin.errors import (
    BadNumber,
    BadUsage,
    CannotClose,
    ContradictedState,
    MissingDependency,
    UnknownName,
    suggestion,
)
from mbplugin.model.brake_law import LARGEST
from mbplugin.model.brakes import JointBrake, no_brakes
from mbplugin.model.enumerations import Backend
from mbplugin.model.scene import Payload, State
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.phrases import one_line_repr
from mbplugin.processes.foreign import interrupts_held, isolated_starts
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.batch import CompiledStopper, StopSummary, summary_of, supports_compiled_stop
from mbplugin.stopping.evaluation import evaluate
from mbplugin.stopping.run import run_stop
from mbplugin.stopping.scenario.scenario import Scenario
from mbplugin.stopping.zones.zone import StopMotion, motion_of_pieces, motion_of_trajectory

#: Changes whenever the part files get other columns, or a column another meaning: such a folder is another
#: sweep's.
_COLUMNS = 2
#: More stops than anybody waits for.
MOST_STOPS = 10_000_000
#: Of a variation of the coordinates, tried one after the other until the loops close.
_SHARES = (1.0, 0.5, 0.25, 0.125, 0.0625)
BACKENDS: tuple[Backend, ...] = get_args(Backend)
#: Where the processes of a cluster that is made here listen: on this machine alone.
LOOPBACK = "127.0.0.1"
#: The module that a cluster needs.
_MODULE = {"dask": "distributed", "ray": "ray"}


@one_line_repr
@dataclass(frozen=True, eq=False)
class SweepPlan:
    """Many stops of one robot. Stop k depends on the plan and k only, wherever it is computed.

    Parameters
    ----------
    scenario : Scenario
        Its state is the middle of the states, unless ``states`` is given.
    count : int
        Number of stops.
    states : (n, nq + nv) array, optional
        Coordinates and rates along a motion, of which each stop takes one.
    recorded : tuple of str
        The joints of that motion: their values hold, those of the others follow.
    q_spread : float
        Coordinates vary by up to this much either way, rad and m; limits cut it off. Those of a free base
        and of joints with quaternions do not vary. Where joints are in loops or coupled, the variation is
        halved until the loops close within the limits.
    speed_range : (float, float)
        Rates are multiplied by a number between these.
    torque_tolerance, delay_tolerance : float
        Of brakes, relative, either way, each joint by itself.
    payload_range : (float, float)
        The payload's mass is multiplied by a number between these.
    part : int
        Stops per file.
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
    part: int = 250
    recorded: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 1 <= self.count <= MOST_STOPS or self.part < 1:
            raise BadUsage(
                f"a sweep of {self.count} stops was requested", expected=f"at least one, at most {MOST_STOPS}"
            )
        if self.seed < 0:
            raise BadUsage(f"the seed is {self.seed}", expected="a number that is not negative")
        for what in ("q_spread", "torque_tolerance", "delay_tolerance"):
            value = getattr(self, what)
            if not 0 <= value <= LARGEST or (what != "q_spread" and value >= 1):
                raise BadNumber(
                    f"the {what.replace('_', ' ')} is {value:g}",
                    expected=f"not negative, a spread up to {LARGEST:g}, tolerances below 1",
                )
        for what in ("speed_range", "payload_range"):
            low, high = getattr(self, what)
            least = -np.inf if what == "speed_range" else 0.0
            if not (isfinite(low) and isfinite(high) and least <= low <= high):
                raise BadNumber(
                    f"the {what.replace('_', ' ')} is {low:g} to {high:g}",
                    expected="two factors, the smaller one first, those of a payload not negative",
                )
        if self.payload_range != (1.0, 1.0) and not self.scenario.actions.payloads:
            raise BadUsage("a payload is to vary, and there is none", remedy="state a payload")
        if not self.scenario.brakes:
            raise no_brakes(self.scenario.mech)

    @property
    def joints(self) -> tuple[str, ...]:
        """The joints that a sweep reports: those with a brake and a coordinate."""
        names = [brake.joint for brake in self.scenario.brakes]
        return tuple(name for name in names if self.scenario.rate_of(name) >= 0)

    @property
    def parts(self) -> int:
        """Number of files."""
        return -(-self.count // self.part)

    def size_of(self, part: int) -> int:
        """Return how many stops a part holds."""
        return min(self.part, self.count - part * self.part)

    @cached_property
    def fingerprint(self) -> str:
        """What tells this plan from others."""
        # what is said of a stop does not change it
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
        brakes = tuple(_scaled(brake, torque, delay) for brake, torque, delay in factors)
        share = float(rng.uniform(*self.payload_range))
        payloads = tuple(
            replace(p, mass=share * p.mass, inertia=share * p.inertia) for p in s.actions.payloads
        )
        return q, qd, brakes, payloads

    @cached_property
    def _varied(self) -> AnyArray:
        """Which coordinates (nq,) vary: those of joints that have one for each freedom."""
        varied = np.zeros(len(self.scenario.q), dtype=bool)
        for joint in self.scenario.mech.tree.joints:
            if joint.pair is not None:
                varied[joint.q] = joint.q.stop - joint.q.start == len(joint.pair.kind.free)
        return varied

    def _closed(self, q: Array, change: Array) -> Array:
        """Return q (nq,) with as much of a change (nq,) as limits and loops allow; rad and m."""
        scenario = self.scenario
        if not (scenario.mech.tree.cut or scenario.mech.couplings):
            return self._within(q + change)
        for share in _SHARES:
            drawn = self._within(q + share * change)
            try:
                closed = self._led(drawn)
            except CannotClose:
                continue
            if scenario.limits == "ignore" or not closed.beyond_limits:
                return np.array(closed.q)
        return q

    def _led(self, q: Array) -> Assembly:
        """Return a drawn pose q (nq,) closed with what is named, or near it where that is more than the freedoms."""
        named = self.scenario.named if self.states is None else self.recorded
        try:
            return assemble(self.scenario.mech, q, named, named)
        except ContradictedState:
            return assemble(self.scenario.mech, q)

    def _agreeing(self, q: Array, qd: Array) -> Array:
        """Return rates qd (nv,) at q (nq,) that constraints allow, those that are stated as they are; per second.

        At another pose than that of the scenario, rates of more joints than there are freedoms contradict each other.
        """
        mech = self.scenario.mech
        named = self.scenario.named_rates if self.states is None else self.recorded
        names = frozenset(named) & {*mech.qd_names}
        stated = State(q, qd, given_rates=names, named_rates=names)
        try:
            return following_rates(mech, q, stated)[0]
        except ContradictedState:
            return following_rates(mech, q, State(q, qd))[0]

    def _within(self, q: Array) -> Array:
        """Return coordinates q (nq,), rad and m, put within the limits in place."""
        lower, upper = self._limits
        return np.clip(q, lower, upper, out=q)

    @cached_property
    def _limits(self) -> tuple[Array, Array]:
        """Limits of the coordinates that vary, lower and upper (nq,), rad and m; infinite where none is kept."""
        lower, upper = np.full(len(self.scenario.q), -np.inf), np.full(len(self.scenario.q), np.inf)
        if self.scenario.limits != "stop":
            return lower, upper
        for joint in self.scenario.mech.tree.joints:
            if joint.pair is not None and self._varied[joint.q].all():
                for k, freedom in zip(range(joint.q.start, joint.q.stop), joint.pair.freedoms, strict=True):
                    if freedom.lower < freedom.upper:
                        lower[k], upper[k] = freedom.lower, freedom.upper
        return lower, upper


def _scaled(brake: JointBrake, torque: float, delay: float) -> JointBrake:
    """Return a brake with its torques and its delays multiplied."""
    return replace(
        brake,
        law=brake.law.scaled(torque),
        delay=delay * brake.delay,
        engagement=delay * brake.engagement,
    )


# What tells one sweep from another: the checksum of all values that its stops depend on.


def fingerprint_of(*values: object) -> str:
    """Return the checksum of values: numbers, texts, arrays, and dataclasses, mappings and sequences of these."""
    total = hashlib.sha256()
    for value in values:
        total.update(_told(value).encode())
    return total.hexdigest()[:16]


def _told(value: object) -> str:
    """Return a text that is the same in every process, and another for another value."""
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


# The stops of a sweep, one by one: by the compiled loop where the robot allows it, else like estop.


class Stopper(Protocol):
    """Computes stops of one robot."""

    def stop(
        self, q: Array, qd: Array, brakes: tuple[JointBrake, ...], payloads: tuple[Payload, ...]
    ) -> StopSummary:
        """Return how a stop from q (nq,) and qd (nv,) comes out; rad and m, per second."""

    def motion(self) -> StopMotion:
        """Return the motion of the last stop."""


def stopper_of(scenario: Scenario) -> Stopper:
    """Return the stopper that suits a robot."""
    return _Compiled(scenario) if supports_compiled_stop(scenario) else _General(scenario)


class _Compiled(CompiledStopper):
    """Stops of an arm whose joints have one freedom and a brake each."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        self._start = scenario.q

    def stop(
        self, q: Array, qd: Array, brakes: tuple[JointBrake, ...], payloads: tuple[Payload, ...]
    ) -> StopSummary:
        """Return how a stop from q (nq,) and qd (nv,) comes out; rad and m, per second."""
        self._start = q
        return super().stop(q, qd, brakes, payloads)

    def motion(self) -> StopMotion:
        return motion_of_pieces(self._start, self.compiled.pieces)


class _General:
    """Stops of any other robot: with a free base, wheels, loops, or joints without a brake."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self._last: Trajectory | None = None

    def stop(
        self, q: Array, qd: Array, brakes: tuple[JointBrake, ...], payloads: tuple[Payload, ...]
    ) -> StopSummary:
        """Return how a stop from q (nq,) and qd (nv,) comes out; rad and m, per second."""
        scenario = self.scenario.from_state(q, qd, brakes, payloads)
        self._last = run_stop(scenario)
        return summary_of(evaluate(scenario, self._last))

    def motion(self) -> StopMotion:
        assert self._last is not None, "no stop was computed"
        return motion_of_trajectory(self._last)


# The backends of a sweep: the cores of this machine, or a cluster of dask or ray.


def joblib_with(backend: str) -> Any:
    """Return joblib, once everything that a backend needs is found.

    Raises
    ------
    UnknownName
        No such backend.
    MissingDependency
        joblib, dask or ray is not installed.
    """
    if backend not in BACKENDS:
        raise UnknownName(f"there is no backend {backend!r}", remedy=suggestion(backend, BACKENDS))
    if backend in _MODULE and find_spec(_MODULE[backend]) is None:
        raise MissingDependency.of(f"the backend {backend}", backend, backend)
    try:
        import joblib
    except ImportError:
        raise MissingDependency.of("a sweep", "joblib", "sweep") from None
    return joblib


@contextlib.contextmanager
def working(joblib: Any, backend: str, jobs: int) -> Iterator[None]:
    """Let joblib's work go to a backend; that of a cluster is connected already."""
    if backend == "dask":
        _require_client()
    elif backend == "ray":
        from ray.util.joblib import register_ray

        register_ray()
    elif jobs == 1:
        backend = "sequential"
    with isolated_starts(), joblib.parallel_config(backend, n_jobs=jobs):
        yield


def finished(joblib: Any, backend: str, work: Sequence[Any]) -> Iterator[Any]:
    """Yield what joblib's jobs return, as they end."""
    if not work:
        return
    if backend != "ray":
        _start_trackers()
        # here the others start: elsewhere, for numba looks for settings where it stands
        with isolated_starts(move=True), interrupts_held():
            results = joblib.Parallel(return_as="generator_unordered")(work)
        yield from results
        return
    # joblib returns from ray all results at once: rounds let somebody watch
    size = 4 * joblib.effective_n_jobs()
    for k in range(0, len(work), size):
        yield from joblib.Parallel()(work[k : k + size])


def end_workers() -> None:
    """End the processes that loky keeps for more work, at once: left to themselves they take seconds, in silence."""
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor(reuse=True).shutdown(wait=True, kill_workers=True)


def _start_trackers() -> None:
    """Start the processes that clear up after others: their start lets Ctrl-C through to what starts next."""
    # Windows clears up by itself
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
        raise BadUsage("no dask client is connected", remedy="make a distributed.Client(…) before") from None


@contextlib.contextmanager
def connected(backend: str, address: str | None, jobs: int) -> Iterator[None]:
    """Be connected to the cluster at an address, or to one made of this machine's cores.

    Raises
    ------
    BadUsage
        An address and no cluster, or nothing answers there.
    """
    if backend not in _MODULE:
        if address is not None:
            raise BadUsage(f"backend {backend!r} has no address", expected="dask or ray")
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
            raise BadUsage("no dask scheduler answers", where=str(address)) from None
        yield


@contextlib.contextmanager
def _ray(address: str | None, jobs: int) -> Iterator[None]:
    import ray

    count = jobs if jobs > 0 and address is None else None
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.WARNING}
    quiet |= {} if address else {"include_dashboard": False, "_node_ip_address": LOOPBACK}
    with contextlib.nullcontext() if address else _ray_on_loopback():
        try:
            # ray lets its processes look for modules where this one stands
            with isolated_starts(move=True):
                ray.init(address=address or "local", num_cpus=count, **quiet)
        except (ConnectionError, ValueError, RuntimeError):
            raise BadUsage("no ray cluster answers", where=str(address)) from None
        try:
            if address is None:
                _require_loopback(ray)
            yield
        finally:
            ray.shutdown()


@contextlib.contextmanager
def _ray_on_loopback() -> Iterator[None]:
    """Let ray take the loopback address where it is stated, as it does by itself on Windows and macOS.

    On Linux it puts the address of the machine in its place, and its servers listen on every interface.
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
    """Refuse a cluster of this machine that others can reach."""
    addresses = {node["NodeManagerAddress"] for node in ray.nodes()}
    if addresses != {LOOPBACK}:
        raise BadUsage(
            f"the installed ray {ray.__version__} listens at {', '.join(sorted(addresses))}",
            expected=f"a cluster that listens at {LOOPBACK} alone",
            remedy="start a cluster as its documentation says, and pass its --address",
        )
