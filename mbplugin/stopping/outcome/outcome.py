"""The outcomes of a stop: declared once, for the computation and the schemas."""

from __future__ import annotations

from typing import Literal, get_args

StopOutcome = Literal["stopped", "limit_hit", "not_stopped", "slipped_back", "budget_spent"]
OUTCOMES: tuple[StopOutcome, ...] = get_args(StopOutcome)
