"""Linear equations of small motions about an equilibrium, and their natural modes.

About a pose of rest M̄ s̈ + D̄ ṡ + K̄ s = 0 in independent coordinates s; :mod:`mbplugin.simulation.equilibrium` has their
meaning, and finds the pose.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf, nan, pi, sqrt

import numpy as np

from mbplugin.arguments import checked
from mbplugin.model.mechanism.kinematics import JointValues
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import LoadLike, PayloadLike
from mbplugin.model.spatial import AnyArray, Array, JointSpring, Spring
from mbplugin.phrases import counted, one_line, one_line_repr
from mbplugin.readers.source import ModelSource
from mbplugin.rendering import Result
from mbplugin.simulation.equilibrium import Equilibrium, settled


@one_line_repr
@dataclass(frozen=True, eq=False)
class Mode:
    """A natural mode of vibration without damping, K̄ φ = ω² M̄ φ.

    Parameters
    ----------
    stiffness : float
        ω², rad²/s²; negative in an unstable equilibrium.
    damping_ratio : float
        φᵀ D̄ φ / (2 ω φᵀ M̄ φ): the share of critical damping, if damping does not couple the modes. NaN unless ω² > 0.
    shape : (nv,) array
        Joint rates, rad and m, all loops moving along; the largest of them is 1.
    """

    stiffness: float
    damping_ratio: float
    shape: Array

    @property
    def frequency(self) -> float:
        """Natural frequency ω/2π, Hz; zero if the mode is neutral or unstable."""
        return sqrt(max(self.stiffness, 0.0)) / (2 * pi)

    @property
    def growth_time(self) -> float:
        """Time in which a small deviation grows by e without damping, s; infinite unless the mode is unstable."""
        return 1 / sqrt(-self.stiffness) if self.stiffness < 0 else inf


@dataclass(frozen=True, eq=False)
class Linearization(Result):
    """The linear equations of small motions M̄ s̈ + D̄ ṡ + K̄ s = 0 about an equilibrium, and their modes.

    Parameters
    ----------
    equilibrium : Equilibrium
        With the independent coordinates s (k).
    basis : (nv, k) array
        H: joint rates q̇ = H ṡ.
    mass, damping, stiffness : (k, k) array
        kg·m², N·m·s/rad and N·m/rad between turns; kg, N·s/m and N/m between travels.
    modes : tuple of Mode
        By rising ω².
    """

    equilibrium: Equilibrium
    basis: Array
    mass: Array
    damping: Array
    stiffness: Array
    modes: tuple[Mode, ...]

    def __repr__(self) -> str:
        lowest = [f"{mode.frequency:.4g} Hz" for mode in self.modes if mode.stiffness > 0][:3]
        facts = (f"{self.equilibrium.stability} equilibrium", counted(len(self.modes), "mode"), *lowest)
        return one_line(self, self.mechanism.name, facts)

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism, with the joints that are held."""
        return self.equilibrium.mechanism

    @property
    def eigenvalues(self) -> AnyArray:
        """Eigenvalues (2k,) of the damped system, 1/s, by rising imaginary part."""
        k = len(self.mass)
        A = np.zeros((2 * k, 2 * k))
        A[:k, k:] = np.eye(k)
        A[k:] = -np.linalg.solve(self.mass, np.column_stack((self.stiffness, self.damping)))
        values = np.linalg.eigvals(A)
        return values[np.lexsort((values.real, values.imag))]


@checked
def linearize(
    mech: ModelSource,
    *,
    q: JointValues = None,
    hold: Iterable[str] = (),
    loads: Iterable[LoadLike] = (),
    payload: Iterable[PayloadLike] | None = None,
    springs: Iterable[Spring | JointSpring] = (),
    tolerance: float | None = None,
    planar: str | None = None,
) -> Linearization:
    """Find the equilibrium from a start, and compute mass, damping, stiffness and modes of small motions about it.

    Parameters
    ----------
    mech : path, PyBullet client, Scene or Mechanism
    q : mapping or vector, optional
        Start of the search, rad and m; the scene's state by default.
    hold, loads, payload, springs, tolerance, planar
        As for :func:`mbplugin.simulation.equilibrium.equilibrium`.

    Returns
    -------
    Linearization

    Raises
    ------
    BadUsage, UnknownName, BadNumber, CannotClose, BrokenModel
        As for :func:`mbplugin.simulation.equilibrium.equilibrium`.
    """
    found, statics, here = settled(mech, q, hold, loads, payload, springs, tolerance, planar)
    D = statics.damping(found.q, here)
    modes = []
    for square, phi in zip(*here.modes, strict=True):
        # its rounding must not look like a slow vibration
        own = 0.0 if here.is_neutral(square, phi) else float(square)
        ratio = float(phi @ D @ phi) / (2 * sqrt(own)) if own > 0 else nan
        shape = here.H @ phi
        modes.append(Mode(own, ratio, shape / shape[np.abs(shape).argmax()]))
    return Linearization(found, here.H, here.M, D, here.K, tuple(modes))
