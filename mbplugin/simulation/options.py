"""The options of a motion, checked before the computation, and its budget of time, memory and events."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import inf, isfinite
from time import monotonic
from typing import TYPE_CHECKING, Literal, get_args

from mbplugin.choices import Coordinates, Limits, TransitionRule
from mbplugin.constraints import DEFAULT_TOLERANCE, require_tolerance
from mbplugin.errors import BadUsage, UnknownName, answers_wrong_calls, suggestion
from mbplugin.phrases import one_line_repr
from mbplugin.processes.supervised import at_safe_points
from mbplugin.simulation.integrators import DEFAULT_INTEGRATOR, find_integrator, integrator_names

if TYPE_CHECKING:
    from mbplugin.model import Array


#: Default time limit of a motion, a search or a fit, s.
MAX_SECONDS = 600.0
#: Limits of a motion: memory for samples and steps, bytes; number of events.
MOST_BYTES, MOST_EVENTS = 1_500_000_000, 100_000
#: Memory of a sample and its step besides their numbers, bytes.
_OVERHEAD = 1000


@dataclass
class Budget:
    """A time and memory budget, whose clock starts at construction.

    Parameters
    ----------
    sample_numbers : int
        Count of numbers in a sample and its step.
    out_of_time : bool
        Whether the time was used up; integrating such a motion again between its samples would take as long.
    """

    max_seconds: float
    sample_numbers: int
    begun: float = field(default_factory=monotonic)
    out_of_time: bool = False

    @property
    def most_samples(self) -> int:
        """Largest number of samples and steps that fits into the memory limit."""
        return MOST_BYTES // (_OVERHEAD + 8 * self.sample_numbers)

    def spent(self, samples: int, events: int, time: float) -> str:
        """Return a message that names the budget used up at a time (s), or an empty string."""
        used = monotonic() - self.begun
        if used > self.max_seconds:
            self.out_of_time = True
            what = f"{self.max_seconds:g} s of computing"
            return _sentence(time, what, "it is interpolated between its samples; allow more (--max-seconds)")
        if samples > self.most_samples:
            return _sentence(time, f"{self.most_samples} steps", "take longer steps or a shorter duration")
        if events > MOST_EVENTS:
            return _sentence(time, f"{MOST_EVENTS} events", "take a shorter duration")
        return ""


def _sentence(time: float, what: str, remedy: str) -> str:
    return f"the motion ends at {time:.6g} s because {what} were used up; {remedy}"


# Defer Ctrl-C while compiled code runs: an interruption there would lose results or garble an error.


@contextlib.contextmanager
def ctrl_c_waits() -> Iterator[Callable[[], None]]:
    """Defer a Ctrl-C to the end of the block; a second one takes effect at once.

    The block gets a function, to be called where an interruption loses nothing: a pending Ctrl-C takes effect there.
    While functions are compiled in the block (ten seconds in all), a Ctrl-C waits only for the present one.
    """
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield _nothing
        return
    interrupted: list[int] = []

    def wait(number: int, frame: object) -> None:
        if interrupted:
            before(number, frame)  # type: ignore[arg-type]
        interrupted.append(number)

    def finish() -> None:
        if interrupted:
            before(interrupted.pop(), None)

    signal.signal(signal.SIGINT, wait)
    try:
        with at_safe_points(finish):
            yield finish
    finally:
        signal.signal(signal.SIGINT, before)
    if interrupted:
        before(interrupted[0], None)


def _nothing() -> None:
    """Do nothing: outside the main thread, Python itself handles Ctrl-C."""


LIMITS: tuple[Limits, ...] = get_args(Limits)
TRANSITIONS: tuple[TransitionRule, ...] = get_args(TransitionRule)
STABILIZATIONS = ("projection", "baumgarte", "none")
#: Largest duration, s (31 years), and largest number of samples.
LONGEST, MOST_SAMPLES = 1e9, 1_000_000
#: Shortest step, s; a shorter one changes the state by less than rounding.
SHORTEST_STEP = 1e-13
#: A prescribed motion: value, rate and acceleration at a time, rad and s or m and s. If its acceleration jumps, an
#: attribute ``breaks`` gives the times of the jumps, s; no step crosses one.
Profile = Callable[[float], tuple[float, float, float]]
Outcome = Literal[
    "completed",
    "stopped",
    "limit_hit",
    "event",
    "interrupted",
    "budget_spent",
    "singular",
    "step_too_small",
    "loop_opened",
    "singular_transition",
    "contradictory_transition",
    "failed",
]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@answers_wrong_calls
@one_line_repr
@dataclass(frozen=True)
class UserEvent:
    """A function of (t, q, qd), s and rad or m, whose zeros are events.

    Parameters
    ----------
    function : callable
    terminal : bool
        Whether the motion ends there.
    direction : float
        Only zeros crossed upwards (+1), downwards (−1), or both (0).
    """

    function: Callable[[float, Array, Array], float]
    name: str = "event"
    terminal: bool = False
    direction: float = 0.0


def breaks_of(profile: Profile) -> tuple[float, ...]:
    """Return the times at which the acceleration of a prescribed motion jumps, s, from its attribute ``breaks``."""
    return tuple(sorted(float(time) for time in getattr(profile, "breaks", ())))


@dataclass(frozen=True)
class Options:
    """Options of the computation of a motion.

    Parameters
    ----------
    duration : float
        s.
    dropped : tuple of (constraint, component)
        Rows to eliminate.
    step : float, optional
        Step of a fixed-step integrator; the largest step of an adaptive one, s.
    rtol, atol : float
        Error tolerances of an adaptive integrator.
    tolerance : float
        Tolerance of rank decisions.
    samples : int, optional
        Number of equal intervals between the samples of the trajectory; by default there is a sample at every step.
    profiles : mapping
        Prescribed motions of drivers by name, in place of those of the model.
    readable : bool
        Run the loops that are written in Python, even where compiled ones exist.
    transition : "consistent" or "naive"
        Whether all rates jump by momentum balance when a lock closes, or only the locked ones to zero:
        the usual simplification, which is wrong, for comparison.
    max_seconds : float
        Time limit of the computation; a motion that takes longer ends with the outcome ``budget_spent``.
    step_of_profiles : float
        Largest adaptive step for which the work of drivers with profiles is accurate, s: prescribed coordinates have
        no integration error that could control the step.
    """

    duration: float
    integrator: str = DEFAULT_INTEGRATOR
    formulation: str = "projected"
    redundancy: str = "eliminate"
    coordinates: str = "joint"
    stabilization: str = "projection"
    limits: str = "record"
    dropped: tuple[tuple[str, str], ...] = ()
    step: float | None = None
    rtol: float = 1e-8
    atol: float = 1e-10
    tolerance: float = DEFAULT_TOLERANCE
    planar: str | None = None
    events: tuple[UserEvent, ...] = ()
    samples: int | None = None
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    readable: bool = False
    transition: str = "consistent"
    max_seconds: float = MAX_SECONDS
    step_of_profiles: float = inf

    def __post_init__(self) -> None:
        require_positive("duration", self.duration, "s", LONGEST)
        require_positive("time to compute", self.max_seconds, "s", LONGEST)
        require_positive("rtol", self.rtol, "")
        require_positive("atol", self.atol, "")
        if self.step is not None:
            require_positive("step", self.step, "s")
            if self.step < SHORTEST_STEP:
                raise BadUsage(f"the step is {self.step:g} s", expected=f"at least {SHORTEST_STEP:g} s")
        if self.samples is not None and not 1 <= self.samples <= MOST_SAMPLES:
            raise BadUsage(
                f"{self.samples} samples were requested",
                expected=f"at least one interval and at most {MOST_SAMPLES}",
            )
        require_tolerance(self.tolerance)
        for what, value, known in (
            ("integrator", self.integrator, integrator_names()),
            ("stabilization", self.stabilization, STABILIZATIONS),
            ("limits", self.limits, LIMITS),
            ("transition", self.transition, TRANSITIONS),
            ("coordinates", self.coordinates, get_args(Coordinates)),
        ):
            if value not in known:
                raise UnknownName(f"there is no {what} {value!r}", remedy=suggestion(value, known))

    @property
    def largest_step(self) -> float:
        """Upper bound of an adaptive step, s."""
        return self.step_of_profiles if self.step is None else self.step

    @property
    def projects_independent_rows(self) -> bool:
        """True for the projected formulation with elimination in joint coordinates, as in the compiled loops."""
        method = (self.formulation, self.redundancy, self.coordinates)
        return method == ("projected", "eliminate", "joint")

    @property
    def projects_absolute(self) -> bool:
        """True for the projected formulation with elimination in absolute coordinates, which is compiled too."""
        method = (self.formulation, self.redundancy, self.coordinates)
        return method == ("projected", "eliminate", "absolute")

    @property
    def has_leading_coordinates(self) -> bool:
        """True if the formulation selects independent joint coordinates, which may change along the motion."""
        return self.coordinates == "joint" and self.formulation in ("closing", "partitioning")

    @property
    def plain(self) -> bool:
        """True if the compiled loops support the options."""
        # whether the rows that the user drops are redundant at a pose is decided in Python
        absolute = (
            self.projects_absolute and not self.dropped and not find_integrator(self.integrator).by_momenta
        )
        return (
            (self.projects_independent_rows or absolute)
            and not self.profiles
            and not self.readable
            and self.stabilization != "baumgarte"
        )


def require_positive(what: str, value: float, unit: str, largest: float = inf) -> None:
    """Require a finite positive number.

    Raises
    ------
    BadUsage
    """
    if not (isfinite(value) and 0 < value <= largest):
        bound = "" if largest == inf else f" up to {largest:g}{' ' + unit if unit else ''}"
        raise BadUsage(
            f"the {what} is {value:g}{' ' + unit if unit else ''}", expected=f"a positive number{bound}"
        )


# The outcomes of a motion, declared once for the runner and the schema.


def declared(outcome: str) -> Outcome:
    """Return an outcome, checked to be one of ``OUTCOMES``.

    Raises
    ------
    AssertionError
        It is not declared.
    """
    assert outcome in OUTCOMES, f"outcome {outcome!r} is not declared"
    return outcome
