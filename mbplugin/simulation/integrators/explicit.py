"""Explicit Runge–Kutta methods as integrators: a tableau, the compiled loop and the steps in Python."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np

from mbplugin.dynamics.kernels.articulated import increment_rate
from mbplugin.model import AnyArray, Array
from mbplugin.simulation.integrators import contract
from mbplugin.simulation.integrators.explicit_loop import (
    LEAST,
    MOST,
    REMAINDER,
    SAFETY,
    SHORTEST,
    Tableau,
    cubic,
    explicit_loop,
)
from mbplugin.simulation.kernel_state import KernelState, evaluate_address, place_of

#: The coefficients of DOP853: weights of earlier stages in each stage of a step.
A: tuple[tuple[float, ...], ...] = (
    (),
    (0.05260015195876773,),
    (0.0197250569845379, 0.0591751709536137),
    (0.02958758547680685, 0.0, 0.08876275643042054),
    (0.2413651341592667, 0.0, -0.8845494793282861, 0.924834003261792),
    (0.037037037037037035, 0.0, 0.0, 0.17082860872947386, 0.12546768756682242),
    (0.037109375, 0.0, 0.0, 0.17025221101954405, 0.06021653898045596, -0.017578125),
    (
        0.03709200011850479,
        0.0,
        0.0,
        0.17038392571223998,
        0.10726203044637328,
        -0.015319437748624402,
        0.008273789163814023,
    ),
    (
        0.6241109587160757,
        0.0,
        0.0,
        -3.3608926294469414,
        -0.868219346841726,
        27.59209969944671,
        20.154067550477894,
        -43.48988418106996,
    ),
    (
        0.47766253643826434,
        0.0,
        0.0,
        -2.4881146199716677,
        -0.590290826836843,
        21.230051448181193,
        15.279233632882423,
        -33.28821096898486,
        -0.020331201708508627,
    ),
    (
        -0.9371424300859873,
        0.0,
        0.0,
        5.186372428844064,
        1.0914373489967295,
        -8.149787010746927,
        -18.52006565999696,
        22.739487099350505,
        2.4936055526796523,
        -3.0467644718982196,
    ),
    (
        2.273310147516538,
        0.0,
        0.0,
        -10.53449546673725,
        -2.0008720582248625,
        -17.9589318631188,
        27.94888452941996,
        -2.8589982771350235,
        -8.87285693353063,
        12.360567175794303,
        0.6433927460157636,
    ),
)
#: The same for the three additional stages of the dense output.
A_EXTRA: tuple[tuple[float, ...], ...] = (
    (
        0.056167502283047954,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.25350021021662483,
        -0.2462390374708025,
        -0.12419142326381637,
        0.15329179827876568,
        0.00820105229563469,
        0.007567897660545699,
        -0.008298,
    ),
    (
        0.03183464816350214,
        0.0,
        0.0,
        0.0,
        0.0,
        0.028300909672366776,
        0.053541988307438566,
        -0.05492374857139099,
        0.0,
        0.0,
        -0.00010834732869724932,
        0.0003825710908356584,
        -0.00034046500868740456,
        0.1413124436746325,
    ),
    (
        -0.42889630158379194,
        0.0,
        0.0,
        0.0,
        0.0,
        -4.697621415361164,
        7.683421196062599,
        4.06898981839711,
        0.3567271874552811,
        0.0,
        0.0,
        0.0,
        -0.0013990241651590145,
        2.9475147891527724,
        -9.15095847217987,
    ),
)
#: Weights of the stages in the step.
B: tuple[float, ...] = (
    0.054293734116568765,
    0.0,
    0.0,
    0.0,
    0.0,
    4.450312892752409,
    1.8915178993145003,
    -5.801203960010585,
    0.3111643669578199,
    -0.1521609496625161,
    0.20136540080403034,
    0.04471061572777259,
)
#: Fractions of the step at which the stages are evaluated.
C: tuple[float, ...] = (
    0.0,
    0.05260015195876773,
    0.0789002279381516,
    0.1183503419072274,
    0.2816496580927726,
    0.3333333333333333,
    0.25,
    0.3076923076923077,
    0.6512820512820513,
    0.6,
    0.8571428571428571,
    1.0,
)
#: Fractions of the additional stages of the dense output.
C_EXTRA: tuple[float, ...] = (
    0.1,
    0.2,
    0.7777777777777778,
)
#: Weights of stages and end in the error estimate of order 3.
E3: tuple[float, ...] = (
    -0.18980075407240762,
    0.0,
    0.0,
    0.0,
    0.0,
    4.450312892752409,
    1.8915178993145003,
    -5.801203960010585,
    -0.4226823213237919,
    -0.1521609496625161,
    0.20136540080403034,
    0.02265179219836082,
    0.0,
)
#: Weights of stages and end in the error estimate of order 5.
E5: tuple[float, ...] = (
    0.01312004499419488,
    0.0,
    0.0,
    0.0,
    0.0,
    -1.2251564463762044,
    -0.4957589496572502,
    1.6643771824549864,
    -0.35032884874997366,
    0.3341791187130175,
    0.08192320648511571,
    -0.022355307863886294,
    0.0,
)
#: Weights of all stages in the four terms of highest order of the dense output.
D: tuple[tuple[float, ...], ...] = (
    (
        -8.428938276109013,
        0.0,
        0.0,
        0.0,
        0.0,
        0.5667149535193777,
        -3.0689499459498917,
        2.38466765651207,
        2.117034582445028,
        -0.871391583777973,
        2.2404374302607883,
        0.6315787787694688,
        -0.08899033645133331,
        18.148505520854727,
        -9.194632392478356,
        -4.436036387594894,
    ),
    (
        10.427508642579134,
        0.0,
        0.0,
        0.0,
        0.0,
        242.28349177525817,
        165.20045171727028,
        -374.5467547226902,
        -22.113666853125306,
        7.733432668472264,
        -30.674084731089398,
        -9.332130526430229,
        15.697238121770845,
        -31.139403219565178,
        -9.35292435884448,
        35.81684148639408,
    ),
    (
        19.985053242002433,
        0.0,
        0.0,
        0.0,
        0.0,
        -387.0373087493518,
        -189.17813819516758,
        527.8081592054236,
        -11.57390253995963,
        6.8812326946963,
        -1.0006050966910838,
        0.7777137798053443,
        -2.778205752353508,
        -60.19669523126412,
        84.32040550667716,
        11.99229113618279,
    ),
    (
        -25.69393346270375,
        0.0,
        0.0,
        0.0,
        0.0,
        -154.18974869023643,
        -231.5293791760455,
        357.6391179106141,
        93.40532418362432,
        -37.45832313645163,
        104.0996495089623,
        29.8402934266605,
        -43.53345659001114,
        96.32455395918828,
        -39.17726167561544,
        -149.72683625798564,
    ),
)


class ExplicitIntegrator(contract.Integrator):
    """An explicit Runge–Kutta method.

    Parameters
    ----------
    tableau : Tableau
        With error weights, the step is adaptive; otherwise it is fixed.
    """

    by_momenta = False

    def __init__(self, tableau: Tableau) -> None:
        self.tableau = tableau
        self.adaptive, self.degree, self.evaluations = tableau.adaptive, tableau.degree, tableau.stages

    def advance(
        self,
        kernel_state: KernelState,
        event_functions: AnyArray,
        state: contract.State,
        control: contract.Control,
        chunk: contract.Chunk,
        counts: Array,
    ) -> tuple[int, int]:
        """Take compiled steps in place; return status and number of samples.

        Arrays as for :meth:`mbplugin.simulation.integrators.contract.Integrator.advance`.
        """
        status, kept, state.t, state.h = explicit_loop()(
            *(control.evaluate or (evaluate_address(), place_of(kernel_state))),
            self.tableau.table,
            event_functions,
            state.t,
            control.end,
            state.h,
            control.largest_step,
            control.rtol,
            control.atol,
            control.reselect_below,
            control.dependent,
            control.projected,
            False,
            *(state.q, state.qd, state.qdd, state.work),
            *(chunk.time, chunk.q, chunk.qd, chunk.qdd, chunk.work, chunk.dense),
            counts,
        )
        return int(status), int(kept)

    def in_python(self, stepper: contract.StepperInPython) -> contract.PythonStep:
        """Return the step of this method in Python."""
        return ExplicitStep(self.tableau, stepper)


# The steps of all explicit Runge–Kutta methods in readable Python, with the same coefficients.


class ExplicitStep:
    """A step of an explicit method in Python.

    y (n,) stacks increment, rates and works; k (s, n) are the derivatives at the stages, ``first`` (n,) that at the
    start.
    """

    def __init__(self, tableau: Tableau, stepper: contract.StepperInPython) -> None:
        self._tableau, self._stepper = tableau, stepper
        self._of = tableau.coefficients

    def __call__(
        self, kernel_state: KernelState, state: contract.State, control: contract.Control, dense: Array
    ) -> float:
        """Take a step in place and fill its ``dense`` (d, 2, nv) output; return its length, s, or 0 or −1."""
        f, nv = self._stepper.derivative(kernel_state, state), len(state.qd)
        y = np.concatenate((np.zeros(nv), state.qd, state.work))
        first = f(state.t, y)
        self._stepper.counts[0] += 1
        if self._tableau.adaptive:
            found = self._adaptive(f, kernel_state, state, control, y, first)
            if isinstance(found, float):
                return found
            h, last, new, k = found
        else:
            remaining = control.end - state.t
            last = remaining < state.h * (1.0 + REMAINDER)
            h = remaining if last else state.h
            new, k = self._stages(f, state.t, h, y, first)
        qd, qdd, slope = state.qd.copy(), state.qdd.copy(), np.empty(nv)
        if len(self._of.dense):
            polynomial = self._polynomial(f, state.t, h, y, k)[:, : 2 * nv]
            dense[:] = polynomial.reshape(len(dense), 2, nv)
        x = np.array(new[:nv])
        increment_rate(kernel_state.composites, x, np.array(new[nv : 2 * nv]), slope)
        self._stepper.finish(kernel_state, state, h, new)
        if not len(self._of.dense):
            cubic(h, x, qd, slope, qd, state.qd, qdd, state.qdd, dense)
        if last:
            state.t = control.end
        return h

    def _adaptive(
        self,
        f: contract.Derivative,
        kernel_state: KernelState,
        state: contract.State,
        control: contract.Control,
        y: Array,
        first: Array,
    ) -> tuple[float, bool, Array, Array] | float:
        """Return a step of sufficiently small error: length, whether it is the last one, end state and stages.

        Return 0 if the step becomes too small, −1 if a rejected step is not to be tried again.
        """

        def attempt(h: float) -> tuple[Array, Array, float]:
            new, k = self._stages(f, state.t, h, y, first)
            scale = control.atol + control.rtol * sizes_of(kernel_state, state.q, y, new)
            return new, k, self._error(h, k[:, : 2 * len(state.qd)], scale)

        state.h = min(state.h, control.largest_step)
        return step_of_small_error(
            attempt, self._of.exponent, MOST, kernel_state, state, control, self._stepper.counts
        )

    def _stages(
        self, f: contract.Derivative, t: float, h: float, y: Array, first: Array
    ) -> tuple[Array, Array]:
        """Return the state after a step of h, and the derivatives at its stages and, if the method uses it, at its end.

        If a too long step overflows, the state and the later derivatives are NaN.
        """
        of, s = self._of, len(self._of.b)
        k = np.full((s + self._tableau.evaluates_end, len(y)), np.nan)
        k[0] = first
        with np.errstate(over="ignore", invalid="ignore"):
            for i in range(1, s):
                stage = y + h * of.A[i, :i] @ k[:i]
                if not np.isfinite(stage).all():
                    break
                k[i] = f(t + of.c[i] * h, stage)
            new = y + h * of.b @ k[:s]
            if self._tableau.evaluates_end and np.isfinite(new).all():
                k[s] = f(t + h, new)
        self._stepper.counts[0] += len(k) - 1
        return new, k

    def _error(self, h: float, k: Array, scale: Array) -> float:
        """Return the error of a step from k (s, n), relative to the tolerance ``scale`` (n,) of each state."""
        with np.errstate(over="ignore", invalid="ignore"):
            first, second = (float((((weights @ k) / scale) ** 2).sum()) for weights in self._of.errors)
        if first == second == 0.0:
            return 0.0
        return abs(h) * first / sqrt((first + 0.01 * second) * len(scale))

    def _polynomial(self, f: contract.Derivative, t: float, h: float, y: Array, k: Array) -> Array:
        """Return the dense output (d+1, n) of a step, lowest power of its fraction first."""
        of, known = self._of, len(k)
        k = np.vstack((k, np.zeros((len(of.A) - known, len(y)))))
        for i in range(known, len(of.A)):
            k[i] = f(t + of.c[i] * h, y + h * of.A[i, :i] @ k[:i])
        self._stepper.counts[0] += len(of.A) - known
        out = h * of.dense.T @ k
        out[0] += y
        return np.asarray(out)


def step_of_small_error(
    attempt: Callable[[float], tuple[Array, Array, float]],
    exponent: float,
    most: float,
    kernel_state: KernelState,
    state: contract.State,
    control: contract.Control,
    counts: Array,
) -> tuple[float, bool, Array, Array] | float:
    """Return a step of sufficiently small error: length, whether it is the last one, end state and stages.

    Return 0 if the step becomes too small, −1 if a rejected step is not to be tried again. ``attempt`` returns the
    state (n,) after a step, its stages (s, n) and its error relative to the tolerance; the error grows with a power of
    the step that is −1/``exponent``. The next step is at most ``most`` times as long. Rejected steps are counted in
    ``counts[1]`` of counts (2,).
    """
    grown = most
    independent = kernel_state.row_independence[0] >= control.dependent
    while True:
        last = state.h >= (control.end - state.t) * (1.0 - 1e-12)
        h = control.end - state.t if last else state.h
        if h < SHORTEST * (1.0 + abs(state.t)):
            return 0.0
        new, stages, error = attempt(h)
        if error < 1.0:
            break
        counts[1] += 1
        state.h = h * max(LEAST, SAFETY * error**exponent) if np.isfinite(error) else h * LEAST
        grown = 1.0
        if not independent:
            return -1.0
    grown = min(grown, SAFETY * error**exponent) if error > 0 else grown
    state.h = max(state.h, h * grown) if last else h * grown
    return h, last, new, stages


def sizes_of(kernel_state: KernelState, q: Array, y: Array, new: Array) -> Array:
    """Return the magnitudes (n,) to which the relative tolerance applies.

    They are those of coordinates rather than increments, and at least 1 for rotations on the group. q (nq,) are the
    coordinates; y (n,) and ``new`` (n,) are the states before and after the step.
    """
    nv = len(kernel_state.rates)
    place = kernel_state.rates["coordinate"]
    x = np.abs(new[:nv])
    own = np.maximum(np.abs(q[place]), np.abs(q[place] + new[:nv]))
    return np.concatenate(
        (np.where(place >= 0, own, np.maximum(1.0, x)), np.maximum(np.abs(y[nv:-3]), np.abs(new[nv:-3])))
    )
