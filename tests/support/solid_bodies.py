"""Random masses for mechanisms whose bodies are all alike."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mbplugin.model.mechanism import Body, Mechanism


def with_masses(mech: Mechanism, seed: int) -> Mechanism:
    """Give every body the mass of eight random points, whose principal axes lie across the link frame."""
    rng = np.random.default_rng(seed)
    bodies = []
    for body in mech.bodies:
        points = rng.normal(size=(8, 3))
        spread = points - points.mean(axis=0)
        I_C = sum(0.1 * (p @ p * np.eye(3) - np.outer(p, p)) for p in spread)
        bodies.append(Body(body.name, float(rng.uniform(0.5, 2)), rng.uniform(-0.2, 0.2, 3), np.asarray(I_C)))
    return replace(mech, bodies=tuple(bodies))
