"""The budget of a motion: time, memory for its steps, and events; beyond it the motion ends and is kept."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from time import monotonic

from mbplugin.dynamics.compiler.safe_points import at_safe_points

#: Seconds of computing that a motion, a search or a fit may take where nobody says.
MAX_SECONDS = 600.0
#: Memory for its samples and steps, bytes, and events.
MOST_BYTES, MOST_EVENTS = 1_500_000_000, 100_000
#: What a sample and a step take besides their numbers, bytes.
_OVERHEAD = 1000


@dataclass
class Budget:
    """A clock that runs from its making.

    Parameters
    ----------
    sample_numbers : int
        How many numbers a sample with its step holds.
    out_of_time : bool
        Whether the seconds were used up: following such a motion again between its samples would take as long.
    """

    max_seconds: float
    sample_numbers: int
    begun: float = field(default_factory=monotonic)
    out_of_time: bool = False

    @property
    def most_samples(self) -> int:
        """How many samples and steps there is memory for."""
        return MOST_BYTES // (_OVERHEAD + 8 * self.sample_numbers)

    def spent(self, samples: int, events: int, time: float) -> str:
        """Return which budget a motion has used up at an instant (s), as a sentence; empty: none."""
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


# Ctrl-C waits for compiled code, which it would leave with what was computed lost or its error garbled.


@contextlib.contextmanager
def ctrl_c_waits() -> Iterator[Callable[[], None]]:
    """Let a Ctrl-C wait for the end of a block; a second one does not.

    What the block gets is called where an interruption loses nothing: a Ctrl-C takes effect there too. While
    functions are compiled in the block, which takes ten seconds in all, it waits for one of them only.
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
    """Do nothing: outside of the main thread, Python itself sees to Ctrl-C."""
