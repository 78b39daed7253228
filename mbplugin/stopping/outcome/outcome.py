"""The outcomes of a stop: declared once, for the computation and the schemas."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from mbplugin.model.spatial import Array

StopOutcome = Literal["stopped", "limit_hit", "not_stopped", "slipped_back", "budget_spent", "loop_opened"]
OUTCOMES: tuple[StopOutcome, ...] = get_args(StopOutcome)

#: A joint has slipped back when it has come back this far (rad, m), and by this share of its travel.
_BACK, _SHARE = 1e-3, 0.05


def slipped_back(back: Array, travels: Array) -> bool:
    """Whether a joint has slipped back; ``back`` (n,) and ``travels`` (n,) are those of all joints, rad and m."""
    return bool((back > np.maximum(_BACK, _SHARE * np.abs(travels))).any())
