"""The contract of an integrator, in numbered clauses, and the data of its steps.

1. It works on increments: at the start of a step x = 0 and the coordinates are q₀; inside the step they
   are q₀ ∘ x, with rotations composed on the group, so that quaternions are never added.
2. Inside the step, ẋ follows from x and q̇, and q̈ from the equations of motion; three works (dampers,
   applied forces, drivers) are integrated as well.
3. After every accepted step, the state is projected onto position and velocity constraints, and the next step
   starts from the accelerations there.
4. It has compiled steps, ``advance``, and steps in Python, ``in_python``, for models with Python callables; both
   give the same trajectory. An explicit Runge–Kutta method is a :class:`Tableau` for a common compiled loop and a
   common step in Python. The variational integrator, whose steps do not use accelerations (clause 2), solves
   the equations of a step instead, to which callables add forces at the midpoint. If a step cannot be solved, it
   is divided.
5. A loop returns after a chunk of steps, at the end time, after a step that may contain an event, or when the
   independent rows have become badly conditioned; a status gives the reason.
6. Between two samples, a polynomial in the fraction of the step gives x and q̇ (dense output).
7. It is registered by its file in ``integrators/methods``, see
   :mod:`mbplugin.simulation.integrators`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from mbplugin.model import AnyArray, Array

if TYPE_CHECKING:
    from mbplugin.simulation.kernel_state import KernelState

#: dy/dt at (t, y), where y stacks increment, rates and works.
Derivative = Callable[[float, Array], Array]


@dataclass(eq=False)
class State:
    """State of a motion: time, coordinates, rates, accelerations, works, and the next step size."""

    t: float
    q: Array
    qd: Array
    qdd: Array
    work: Array = field(default_factory=lambda: np.zeros(3))
    h: float = 0.0

    def copy(self) -> State:
        """Return an independent copy."""
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
        Coefficients of increment x and rates q̇ in powers of the fraction of the step, lowest power first.
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
    """Arrays that a loop fills with the state after each of its steps.

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
    """Return arrays for n steps; that of dense output is empty if ``dense`` is False."""
    return Chunk(
        np.zeros(n),
        np.zeros((n, nq)),
        np.zeros((n, nv)),
        np.zeros((n, nv)),
        np.zeros((n, 3)),
        np.zeros((n if dense else 0, degree + 1, 2, nv)),
    )


class Control(NamedTuple):
    """Bounds of steps, and conditions at which a loop returns.

    Parameters
    ----------
    end, largest_step : float
        End time and largest step of adaptive methods, s.
    rtol, atol : float
        Tolerances of adaptive methods.
    reselect_below, dependent : float
        Independence of the rows below which rows are to be chosen anew, and below which a rejected step may be
        due to a singular pose.
    projected : bool
        Whether states are projected onto the constraints.
    evaluate : tuple of int, optional
        Addresses of the compiled evaluation and its state, if it is not that of the tree.
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
    """The interface of a stepper that a step in Python uses.

    Attributes
    ----------
    counts : (2,) array
        Numbers of evaluations and of rejected steps.
    """

    counts: Array

    @property
    def control(self) -> Callable[[float, Array, Array], None]:
        """Function that adds a controller's forces at (t, q, q̇) to ``tau``, and their power."""

    def prescribe(self, kernel_state: KernelState, t: float, begun: float | None = None) -> None:
        """Evaluate the prescribed motions that are callables at time t of a step that began at ``begun``, s."""

    def follow_loads(self, kernel_state: KernelState, t: float, begun: float, q: Array, qd: Array) -> None:
        """Update friction that grows with joint loads to those at time t (s), q (nq,) and qd (nv,); else do nothing."""

    def evaluate(self, kernel_state: KernelState, state: State, begun: float | None = None) -> None:
        """Fill the accelerations of a state of a step that began at ``begun`` (s), by default here."""

    def derivative(self, kernel_state: KernelState, state: State) -> Derivative:
        """Return the function dy/dt, where y stacks increment, rates and works."""

    def finish(self, kernel_state: KernelState, state: State, h: float, new: Array) -> None:
        """Move a state to the end of a step and project it; ``new`` (2 nv + 3,) stacks increment, rates and works."""


#: A step in Python, in place, called with (kernel state, state, control, dense output (d, 2, nv) to fill). Returns its
#: length, s; 0 if it becomes too small; −1 if a rejected step is not to be tried again.
PythonStep = Callable[["KernelState", State, Control, Array], float]


class Integrator(ABC):
    """An integration method.

    Attributes
    ----------
    adaptive : bool
        Whether the step is adapted to the tolerances; otherwise it is fixed.
    by_momenta : bool
        Whether it steps by momenta, so that other formulations, which give accelerations, cannot be used.
    degree : int
        Degree of the dense output.
    evaluations : int
        Approximate number of evaluations of the equations of motion in a step.
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

        The records of ``event_functions`` (e,) are updated; evaluations and rejected steps are added to
        ``counts`` (2,).
        """

    @abstractmethod
    def in_python(self, stepper: StepperInPython) -> PythonStep:
        """Return the step in Python for one run of a stepper."""
