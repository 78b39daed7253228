"""Where a four-bar with a spring across its diagonal rests, and how it swings there."""

import by_hand
import numpy as np
from harness import Problem, scene, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="Four-bar with a diagonal spring, equilibrium and eigenvalue",
    parameters="after the IFToMM problem of that name; 1 m, 1 kg, 25 N/m",
    reference="slope and curvature of the potential by hand, Brent's method",
    quantity="crank angle, rad, and eigenvalue, rad/s",
    tolerance="—",
    allowed=1e-8,
    others="7.5, without a unit, EoM, eigenvalues alone [3]",
)


def solve() -> tuple[float, float]:
    linkage = mb.load(scene("diagonal_spring"))
    found, seconds = timed(lambda: mb.linearize(linkage))
    angle, frequency = by_hand.diagonal_spring()
    ours = [found.equilibrium.q[0], np.abs(found.eigenvalues.imag).max()]
    assert np.abs(found.eigenvalues.real).max() < 1e-8
    return float(np.abs(np.subtract(ours, [angle, frequency])).max()), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
