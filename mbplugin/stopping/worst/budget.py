"""The time that a search for worst stops may take, and how much of the search was done in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import monotonic
from typing import NamedTuple

from mbplugin.simulation.options import LONGEST, require_positive


class Searches(NamedTuple):
    """How many searches, one for each value, came to their end, of how many, and the time that all had, s."""

    complete: int
    planned: int
    max_seconds: float

    @property
    def heading(self) -> str:
        """How much was done, in one clause; empty where all searches are complete."""
        if self.complete == self.planned:
            return ""
        return (
            f"the search ended early: {self.max_seconds:g} s of computing were used up when {self.complete} of "
            f"{self.planned} values were searched; the others are the worst so far, and may be much larger"
        )

    @property
    def warning(self) -> str:
        """What stands on top of a report; empty where all searches are complete."""
        return f"INCOMPLETE: {self.heading}. Allow more (--max-seconds)." if self.heading else ""


@dataclass
class SearchBudget:
    """A clock that runs from its making.

    Parameters
    ----------
    max_seconds : float
    out_of_time : bool
        Whether something was left out because the seconds were used up.
    complete : int
        Searches that came to their end.

    Raises
    ------
    BadUsage
        A time that is not positive.
    """

    max_seconds: float
    out_of_time: bool = False
    complete: int = 0
    begun: float = field(init=False)

    def __post_init__(self) -> None:
        require_positive("time to compute", self.max_seconds, "s", LONGEST)
        self.begun = monotonic()

    def is_spent(self) -> bool:
        """Return whether the seconds are used up; what is left out then is noted."""
        self.out_of_time = self.out_of_time or monotonic() - self.begun > self.max_seconds
        return self.out_of_time

    def end_search(self) -> None:
        """Count a search as complete, unless something of it was left out."""
        self.complete += not self.out_of_time
