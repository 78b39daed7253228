"""A rank that is decided within a factor of ten: whatever is decided, a self-stress loads something."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.model.spatial import Pose, rotation_from_vector
from models import ring


@pytest.mark.parametrize("seed", range(2))
def test_what_is_redundant_is_carried_by_reactions_that_are_not_unique(seed: int) -> None:
    """Six hinges, parallel but for tilts that go through the tolerance: p falls from three to none."""
    mech, q = ring(6)
    tilts = np.random.default_rng(seed).normal(size=(6, 3)) * [1.0, 1.0, 0.0]
    seen = set()
    for size in np.logspace(-5, -1.5, 30):
        turned = [Pose(rotation_from_vector(size * tilt), np.zeros(3)) for tilt in tilts]
        pairs = (
            replace(p, X_AP=p.X_AP @ X, X_BS=p.X_BS @ X) for p, X in zip(mech.pairs, turned, strict=True)
        )
        found = mb.analyze(replace(mech, pairs=tuple(pairs)), q, samples=0)
        p = found.degree_of_redundancy
        seen.add(p)
        assert len(found.self_stresses) == p
        assert all(stress.components for stress in found.self_stresses)
        # a self-stress of a ring goes all the way round
        assert all(v.unique is (p == 0) for v in found.constraints), (size, p)
    assert seen == {0, 1, 2, 3}
