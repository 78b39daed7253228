"""Random places and directions."""

from __future__ import annotations

import numpy as np

from mbplugin.model.spatial import Pose, rotation_from_vector


def anywhere(rng: np.random.Generator) -> Pose:
    """Return a frame within ten metres, turned at random."""
    return Pose(rotation_from_vector(rng.normal(size=3)), rng.uniform(-10, 10, 3))


def anywhere_near(rng: np.random.Generator, size: float) -> Pose:
    """Return a frame within a length, turned at random."""
    return Pose(rotation_from_vector(rng.normal(size=3)), rng.uniform(-size, size, 3))
