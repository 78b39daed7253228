"""The outcomes of a motion: declared once, for the runner and the schema."""

from __future__ import annotations

from typing import Literal, get_args

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


def declared(outcome: str) -> Outcome:
    """Return an outcome; one that is not declared here is a bug of the program.

    Raises
    ------
    AssertionError
        It is not declared.
    """
    assert outcome in OUTCOMES, f"outcome {outcome!r} is not declared"
    return outcome
