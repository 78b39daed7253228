"""500 random mechanisms, each of which keeps what holds for every motion and stop."""

from __future__ import annotations

import pytest

from invariants import check_motion, check_stop
from mbplugin.stopping.outcome import StopReport
from random_motions import random_motion

_FAST, _ALL = 65, 500
_SEEDS = [s if s < _FAST else pytest.param(s, marks=pytest.mark.slow) for s in range(_ALL)]


@pytest.mark.long_after(10)
@pytest.mark.parametrize("seed", _SEEDS)
def test_a_random_mechanism_keeps_what_always_holds(seed: int) -> None:
    case = random_motion(seed)
    found = case.run()
    motion = found.trajectory if isinstance(found, StopReport) else found
    try:
        check_motion(motion, thorough=True)
        if isinstance(found, StopReport):
            check_stop(found, peaks=seed % 4 == 3)
    except AssertionError as broken:
        pytest.fail(f"{case}: {broken}", pytrace=False)
