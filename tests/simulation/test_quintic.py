"""The quintics of a step, against polynomials that they have to reproduce."""

from __future__ import annotations

import numpy as np

from mbplugin.simulation.integrators.explicit_loop import QUINTIC, motion_at, quintic


def test_a_motion_of_degree_five_is_its_own_quintic() -> None:
    rng = np.random.default_rng(5)
    motions = [np.polynomial.Polynomial(rng.normal(size=QUINTIC + 1)) for _ in range(3)]
    start, h, inside = 0.4, 0.3, np.zeros((QUINTIC + 1, 2, 3))

    def at(t: float) -> list[np.ndarray]:
        return [np.array([motion.deriv(k)(t) for motion in motions]) for k in range(3)]

    begun, ended = at(start), at(start + h)
    quintic(h, begun[0], ended[0], begun[1], ended[1], begun[2], ended[2], inside)
    for fraction in (0.0, 0.21, 0.5, 0.93, 1.0):
        found = [np.empty(3) for _ in range(3)]
        motion_at(h, fraction, begun[0], inside, *found)
        for ours, theirs in zip(found, at(start + fraction * h), strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-11)
