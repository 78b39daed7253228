"""The budget of a motion: computing time, memory and events; beyond it the motion ends, and its samples are kept."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import monotonic

from mbplugin.dynamics.compiler.safe_points import at_safe_points

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
