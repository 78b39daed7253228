"""The result of a cross-check: whether PyBullet converges to our motion."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from mbplugin.constraints.tolerance import DEFAULT_TOLERANCE
from mbplugin.model.spatial import Array
from mbplugin.phrases import one_line, one_line_repr
from mbplugin.rendering import Result
from mbplugin.stopping.scenario.effort_limits import NO_EFFORT_LIMITS, EffortLimits

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Verdict = Literal["agrees", "disagrees", "not asymptotic", "not comparable"]
Program = Literal["mbplugin", "PyBullet"]

#: Orders of convergence that count as first order.
FIRST_ORDER = (0.7, 1.3)


@one_line_repr
@dataclass(frozen=True)
class Row:
    """One compared quantity of one element.

    Parameters
    ----------
    quantity : str
        What is compared: ``mass``, ``joint axis``, ``mass matrix``, ``coordinate``, ``rate``, ``jump`` …
    element : str
        The body, joint or coordinate.
    deviation : float
        Between PyBullet and us; of what depends on the step, PyBullet extrapolated to step zero.
    bound : float
        What the deviation may be.
    errors : tuple of float
        Largest deviation along the motion at each step of PyBullet, the coarsest first; empty where
        there is no step.
    orders : tuple of float
        Binary logarithms of their ratios.
    time : float or None
        When the deviation first leaves its bound, or is largest, s.
    """

    quantity: str
    element: str
    unit: str
    deviation: float
    bound: float
    errors: tuple[float, ...] = ()
    orders: tuple[float, ...] = ()
    time: float | None = None

    @property
    def agrees(self) -> bool:
        """Whether the deviation keeps its bound."""
        return self.deviation <= self.bound


@dataclass(frozen=True)
class Check:
    """What one motion, seen for itself, has to satisfy.

    Parameters
    ----------
    program : "mbplugin" or "PyBullet"
    name : str
        What is checked.
    value, bound : float
        By how much it is off, and may be.
    """

    program: Program
    name: str
    value: float
    bound: float
    unit: str

    @property
    def passes(self) -> bool:
        """Whether the value keeps its bound."""
        return self.value <= self.bound


@one_line_repr
@dataclass(frozen=True, eq=False)
class Curves:
    """Joint coordinates of both, for a picture.

    Parameters
    ----------
    names : tuple of str
        Of coordinates that are numbers, not parts of quaternions.
    time : (n,) array
        s.
    ours, bullet : (n, k) array
        At PyBullet's smallest step, rad and m.
    """

    names: tuple[str, ...]
    time: Array
    ours: Array
    bullet: Array


@dataclass(frozen=True, eq=False)
class Agreement(Result):
    """The result of a cross-check.

    Parameters
    ----------
    verdict : str
        ``agrees``, ``disagrees``, ``not asymptotic`` (PyBullet's values do not change with its
        step as those of a first-order method, so an extrapolation is not possible) or ``not comparable`` (PyBullet
        cannot model the mechanism, or our motion ended early).
    reason : str
        One sentence.
    rows : tuple of Row
        Parameters of the model first, then quantities without a time step, then the motion.
    steps : tuple of float
        PyBullet's steps, s, each half of the one before; between two events they are adjusted to end at
        them.
    orders : tuple of float
        Observed orders of convergence of all joint coordinates together, one for each halving.
    duration : float
        s.
    settings : dict of str to float
        PyBullet's solver: ``iterations``, ``residual_threshold``, ``erp``.
    notes : tuple of str
        Parts that are omitted in both models, or read differently; one sentence each.
    curves : Curves or None
    checks : tuple of Check
        Checks of each motion alone, if the motions do not agree: the evidence for and against each.
    tolerance : float
        Relative rank tolerance of our motion.
    assumed : tuple of str
        Values of brakes and decelerations that are not stated, one sentence each. Both programs compute with them:
        that they agree says nothing about these values.
    of_effort : EffortLimits
        The joints of these brakes and decelerations.
    """

    verdict: Verdict
    reason: str
    rows: tuple[Row, ...] = ()
    steps: tuple[float, ...] = ()
    orders: tuple[float, ...] = ()
    duration: float = 0.0
    settings: dict[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    curves: Curves | None = None
    checks: tuple[Check, ...] = ()
    tolerance: float = DEFAULT_TOLERANCE
    assumed: tuple[str, ...] = ()
    of_effort: EffortLimits = NO_EFFORT_LIMITS

    def __repr__(self) -> str:
        return one_line(self, self.verdict, (*(("assumed values",) if self.assumed else ()), self.reason))

    @property
    def agrees(self) -> bool:
        """Whether the verdict is ``agrees``."""
        return self.verdict == "agrees"

    @property
    def order(self) -> float:
        """The order observed at the last halving; NaN if there is none."""
        return self.orders[-1] if self.orders else float("nan")

    def plot(self, path: str | Path | None = None) -> Figure:
        """Draw the errors over the step and the coordinates of both motions into a file or a window."""
        from mbplugin.comparison.agreement_plot import plot

        return plot(self, path)
