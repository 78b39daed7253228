"""The contract of an integrator, in numbered clauses, and the record of its steps.

1. It works on increments: at the start of a step x = 0 and the coordinates are q₀; inside the step they
   are q₀ ∘ x, with turns on the group, so that no quaternion is ever added to.
2. Inside the step ẋ follows from x and q̇, q̈ from the equations of motion, and three works (dampers,
   applied forces, drivers) are integrated along.
3. After every accepted step the state is projected onto position and velocity constraints, and the
   accelerations there are those with which the next step begins.
4. It steps compiled, ``advance``, and in Python, ``in_python``, for models with Python callables; both give
   the same trajectory. An explicit Runge–Kutta method is a :class:`Tableau` that a common loop and a common
   step in Python read. The variational one, whose steps are no function of accelerations (clause 2), solves
   the equations of a step instead, to which callables add what acts at the midpoint. A step that cannot be
   solved is taken in parts.
5. A loop returns after a chunk of steps, at the end time, after a step that may hold an event, or when the
   independent rows have become badly conditioned; a status tells which.
6. Between two samples a polynomial in the fraction of the step gives x and q̇ (dense output).
7. It is registered by its file in ``integrators/methods``, see
   :mod:`mbplugin.simulation.integrators.registry`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from mbplugin.model.spatial import AnyArray, Array

if TYPE_CHECKING:
    from mbplugin.simulation.steppers.kernel_state import KernelState

#: dy/dt at (t, y), y stacking increment, rates and works.
Derivative = Callable[[float, Array], Array]


@dataclass(eq=False)
class State:
    """Where a motion is: time, coordinates, rates, accelerations, works, and the next step."""

    t: float
    q: Array
    qd: Array
    qdd: Array
    work: Array = field(default_factory=lambda: np.zeros(3))
    h: float = 0.0

    def copy(self) -> State:
        """Return a state that later steps do not change."""
        return State(self.t, self.q.copy(), self.qd.copy(), self.qdd.copy(), self.work.copy(), self.h)


@dataclass(frozen=True, eq=False)
class Step:
    """One step with its dense output.

    Parameters
    ----------
    start, length : float
        s.
    q, qd : (nq,), (nv,) array
        State at the start.
    polynomial : (d, 2, nv) array
        Coefficients of increment x and rates q̇ in the fraction of the step, lowest power first.
    work : (2, 3) array
        Works at start and end, J.
    """

    start: float
    length: float
    q: Array
    qd: Array
    polynomial: Array
    work: Array

    def at(self, fraction: float) -> tuple[Array, Array]:
        """Return increment x (nv,) and rates (nv,) at a fraction of the step."""
        powers = fraction ** np.arange(len(self.polynomial))
        x, qd = (powers @ self.polynomial.reshape(len(powers), -1)).reshape(2, -1)
        return x, qd


@dataclass
class Chunk:
    """Arrays that a compiled loop fills: the state after each of its steps.

    Parameters
    ----------
    time, q, qd, qdd, work : (n,), (n, nq), (n, nv), (n, nv), (n, 3) array
    dense : (n, d, 2, nv) array
        Polynomial of the step that led to each sample.
    """

    time: Array
    q: Array
    qd: Array
    qdd: Array
    work: Array
    dense: Array


def make_chunk(n: int, nq: int, nv: int, degree: int, dense: bool) -> Chunk:
    """Return room for n steps; without dense output its array is empty."""
    return Chunk(
        np.zeros(n),
        np.zeros((n, nq)),
        np.zeros((n, nv)),
        np.zeros((n, nv)),
        np.zeros((n, 3)),
        np.zeros((n if dense else 0, degree + 1, 2, nv)),
    )


class Control(NamedTuple):
    """What bounds steps, and what makes them end.

    Parameters
    ----------
    end, largest_step : float
        s; the step counts for adaptive methods only.
    rtol, atol : float
        Tolerances of adaptive methods.
    reselect_below, dependent : float
        Share of an independent row of its own below which rows are to be selected anew, and below which a
        rejected step may be due to a singular pose.
    projected : bool
        Whether states are projected onto the constraints.
    evaluate : tuple of int, optional
        Addresses of the compiled evaluation and of what it evaluates, where that is not the one of the tree.
    """

    end: float
    largest_step: float
    rtol: float
    atol: float
    reselect_below: float
    dependent: float
    projected: bool
    evaluate: tuple[int, int] | None = None


class StepperInPython(Protocol):
    """What a step in Python asks of the stepper that runs it.

    Attributes
    ----------
    counts : (2,) array
        Adds up evaluations and rejected steps.
    """

    counts: Array

    @property
    def control(self) -> Callable[[float, Array, Array], None]:
        """Adds a controller's forces at (t, q, q̇) to ``tau``, and their power."""

    def prescribe(self, kernel_state: KernelState, t: float, begun: float | None = None) -> None:
        """Set the prescribed motions that are callables at a time, s, of a step that has begun at one."""

    def evaluate(self, kernel_state: KernelState, state: State, begun: float | None = None) -> None:
        """Fill the accelerations of a state, of a step that has begun at a time (s), or begins here."""

    def derivative(self, kernel_state: KernelState, state: State) -> Derivative:
        """Return dy/dt, y stacking increment, rates and works."""

    def finish(self, kernel_state: KernelState, state: State, h: float, new: Array) -> None:
        """Put a state to the end of a step and settle it; ``new`` (2 nv + 3,) stacks increment, rates and works."""


#: A step in Python, taken in place by (kernel state, state, control, dense output (d, 2, nv) to fill): its
#: length, s; 0 where it becomes too small, −1 where a rejected one is not to be tried again.
PythonStep = Callable[["KernelState", State, Control, Array], float]


class Integrator(ABC):
    """One way to step.

    Attributes
    ----------
    adaptive : bool
        Whether it chooses its steps by the tolerances, else they are fixed.
    by_momenta : bool
        Whether it steps by momenta: then no other formulation can provide its accelerations.
    degree : int
        Of the dense output.
    evaluations : int
        Evaluations of the equations of motion in a step, roughly.
    """

    adaptive: bool
    by_momenta: bool
    degree: int
    evaluations: int

    @abstractmethod
    def advance(
        self,
        kernel_state: KernelState,
        event_functions: AnyArray,
        state: State,
        control: Control,
        chunk: Chunk,
        counts: Array,
    ) -> tuple[int, int]:
        """Take compiled steps in place; return status and number of samples.

        The records of ``event_functions`` (e,) are updated; ``counts`` (2,) adds up evaluations and rejected
        steps.
        """

    @abstractmethod
    def in_python(self, stepper: StepperInPython) -> PythonStep:
        """Return the step in Python, for one run of a stepper."""
