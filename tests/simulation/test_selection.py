"""What the kernels choose among numbers is what NumPy chooses."""

from __future__ import annotations

import numpy as np
import pytest

from mbplugin.simulation.breaking_away import largest_size, place_of_least, true_positions


@pytest.mark.parametrize("n", [0, 1, 2, 7])
def test_choices_are_those_of_numpy(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(20):
        a = np.round(rng.normal(size=n), 1)
        assert true_positions(a > 0).tolist() == np.flatnonzero(a > 0).tolist()
        assert largest_size(a) == np.abs(a).max(initial=0.0)
        assert place_of_least(a) == (int(a.argmin()) if n else 0)
