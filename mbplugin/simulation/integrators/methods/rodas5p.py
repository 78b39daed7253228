"""A linearly implicit method of order 5 for stiff springs and dampers, with step control.

Rodas5P: Steinebach, Construction of Rosenbrock–Wanner method Rodas5P and numerical benchmarks within the Julia
differential equations package, BIT 63 (2023) 27. It is L-stable and stiffly accurate, so that its step follows the
motion and not the fastest time constant. A step solves eight linear systems with one matrix,

    (1/(hγ) − J) uᵢ = f(t + cᵢh, y + Σⱼ aᵢⱼuⱼ) + Σⱼ cᵢⱼuⱼ/h + h dᵢ ∂f/∂t,

as in Hairer and Wanner, Solving ordinary differential equations II (7.25), where y stacks increment and rates and
J = ∂f/∂y is taken by differences: a step costs 8 + 2 nv evaluations. The works are integrated with the same
formula; nothing depends on them.
"""

from __future__ import annotations

from functools import lru_cache
from math import sqrt
from typing import Any

import numba
import numpy as np
from numba import types

from mbplugin.dynamics.compiler import Records, compiled, kernel
from mbplugin.dynamics.kernels.articulated import displace
from mbplugin.model import AnyArray, Array
from mbplugin.simulation.events import EVENT_FUNCTION, clear_candidates, mark_overloaded, reason_to_return
from mbplugin.simulation.integrators.contract import (
    Chunk,
    Control,
    Derivative,
    Integrator,
    PythonStep,
    State,
    StepperInPython,
)
from mbplugin.simulation.integrators.explicit import sizes_of, step_of_small_error
from mbplugin.simulation.integrators.explicit_loop import (
    LEAST,
    SAFETY,
    SHORTEST,
    keep,
    put,
    put_row,
    settle,
    stage,
)
from mbplugin.simulation.kernel_state import (
    DONE,
    MATRIX,
    MOST_STAGES,
    TOO_SMALL,
    VECTOR,
    WEAK,
    KernelState,
    evaluate_address,
    evaluate_from,
    load_struct,
    place_of,
)

#: The coefficients of Rodas5P. Weights of earlier stages in the state of each stage; those of the step are the last
#: row and 1, and the last stage is the error estimate.
A: Array = np.array(
    (
        (0, 0, 0, 0, 0, 0, 0, 0),
        (3.0, 0, 0, 0, 0, 0, 0, 0),
        (2.849394379747939, 0.45842242204463923, 0, 0, 0, 0, 0, 0),
        (-6.954028509809101, 2.489845061869568, -10.358996098473584, 0, 0, 0, 0, 0),
        (2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641, 0, 0, 0, 0),
        (
            -7.502846399306121,
            2.561846144803919,
            -11.627539656261098,
            -0.18268767659942256,
            0.030198172008377946,
            *(0, 0, 0),
        ),
        (
            -7.502846399306121,
            2.561846144803919,
            -11.627539656261098,
            -0.18268767659942256,
            0.030198172008377946,
            *(1, 0, 0),
        ),
        (
            -7.502846399306121,
            2.561846144803919,
            -11.627539656261098,
            -0.18268767659942256,
            0.030198172008377946,
            *(1, 1, 0),
        ),
    ),
    dtype=float,
)
#: Weights of earlier stages, divided by the step, on the right-hand side of each stage.
C: Array = np.array(
    (
        (0, 0, 0, 0, 0, 0, 0, 0),
        (-14.155112264123755, 0, 0, 0, 0, 0, 0, 0),
        (-17.97296035885952, -2.859693295451294, 0, 0, 0, 0, 0, 0),
        (147.12150275711716, -1.41221402718213, 71.68940251302358, 0, 0, 0, 0, 0),
        (165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306, 0, 0, 0, 0),
        (
            24.854864614690072,
            -3.0009227002832186,
            47.4931110020768,
            5.5814197821558125,
            -0.6610691825249471,
            *(0, 0, 0),
        ),
        (
            30.91273214028599,
            -3.1208243349937974,
            77.79954646070892,
            34.28646028294783,
            -19.097331116725623,
            -28.087943162872662,
            *(0, 0),
        ),
        (
            37.80277123390563,
            -3.2571969029072276,
            112.26918849496327,
            66.9347231244047,
            -40.06618937091002,
            -54.66780262877968,
            -9.48861652309627,
            0,
        ),
    ),
    dtype=float,
)
#: Fractions of the step at which the stages are evaluated.
FRACTIONS: Array = np.array(
    (0.0, 0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1.0, 1.0, 1.0)
)
#: Weights of ∂f/∂t in the stages; the first is γ.
TIME_WEIGHTS: Array = np.array(
    (
        0.21193756319429014,
        -0.42387512638858027,
        -0.3384627126235924,
        1.8046452872882734,
        2.325825639765069,
        0.0,
        0.0,
        0.0,
    )
)
#: Weights of the stages in the three terms of the dense output beyond the chord.
H: Array = np.array(
    (
        (
            25.948786856663858,
            -2.5579724845846235,
            10.433815404888879,
            -2.3679251022685204,
            0.524948541321073,
            1.1241088310450404,
            0.4272876194431874,
            -0.17202221070155493,
        ),
        (
            -9.91568850695171,
            -0.9689944594115154,
            3.0438037242978453,
            -24.495224566215796,
            20.176138334709044,
            15.98066361424651,
            -6.789040303419874,
            -6.710236069923372,
        ),
        (
            11.419903575922262,
            2.8879645146136994,
            72.92137995996029,
            80.12511834622643,
            -52.072871366152654,
            -59.78993625266729,
            -0.15582684282751913,
            4.883087185713722,
        ),
    )
)
STAGES, GAMMA = 8, float(TIME_WEIGHTS[0])
#: Exponent of the error in the step control, −1/(q+1) for an estimate of order q = 4, and the largest growth of a step.
EXPONENT, MOST = -1.0 / 5.0, 6.0
#: Degree of the dense output.
DEGREE = 4
#: Perturbations of the differences, relative to the size of a coordinate or rate, which is taken to be at least
#: ``LEAST_SIZE``, and relative to the step.
PERTURBATION, LEAST_SIZE, TIME_PERTURBATION = 1.5e-8, 0.1, 1e-4
#: The row of the stages' workspace that differences use; no stage uses it.
_SPARE = MOST_STAGES - 1


class Rodas5P(Integrator):
    """The linearly implicit integrator."""

    adaptive, by_momenta, degree = True, False, DEGREE
    # stages, projection and the differences of a handful of rates
    evaluations = 24

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

        Arrays as for :meth:`mbplugin.simulation.integrators.contract.Integrator.advance`.
        """
        status, kept, state.t, state.h = rosenbrock_loop()(
            *(control.evaluate or (evaluate_address(), place_of(kernel_state))),
            *(A, C, FRACTIONS, TIME_WEIGHTS, H),
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
            *(state.q, state.qd, state.qdd, state.work),
            *(chunk.time, chunk.q, chunk.qd, chunk.qdd, chunk.work, chunk.dense),
            counts,
        )
        return int(status), int(kept)

    def in_python(self, stepper: StepperInPython) -> PythonStep:
        """Return the step of this method in Python."""
        return RosenbrockStep(stepper)


INTEGRATOR = Rodas5P()


# The compiled loop.


def advance_rosenbrock(
    address: int,
    place: int,
    A: Array,
    C: Array,
    fractions: Array,
    time_weights: Array,
    H: Array,
    event_functions: Records,
    t: float,
    end: float,
    h: float,
    largest: float,
    rtol: float,
    atol: float,
    reselect_below: float,
    dependent: float,
    projected: bool,
    q: Array,
    qd: Array,
    qdd: Array,
    work: Array,
    out_t: Array,
    out_q: Array,
    out_qd: Array,
    out_qdd: Array,
    out_work: Array,
    dense: Array,
    counts: Array,
) -> tuple[int, int, float, float]:
    """Take steps from (q, qd, qdd), all changed in place, until ``end`` or until the chunk is full.

    Returns status, number of samples, time (s), and the next step (s).

    Parameters
    ----------
    A, C : (8, 8) array
    fractions, time_weights : (8,) array
    H : (3, 8) array
        The coefficients.
    q, qd, qdd : (nq,), (nv,), (nv,) array
        The state; rad, m and s.
    work : (3,) array
        Work of dampers, applied forces and drivers, J.
    out_t, out_q, out_qd, out_qdd, out_work : (c,), (c, nq), (c, nv), (c, nv), (c, 3) array
        The chunk.
    dense : (c, d, 2, nv) array
        Its polynomials; empty without dense output.
    counts : (2,) array
        Numbers of evaluations and of rejected steps, which are incremented.
    """
    evaluate = evaluate_from(address)
    m, kept, status, nv = load_struct(place), 0, DONE, len(qd)
    kx, kv, kw, x, v = m.kx, m.kv, m.kw, m.x, m.v
    n = 2 * nv
    f, U = np.empty(n + 3), np.zeros((STAGES, n + 3))
    J, slopes, W, pivots = np.empty((n + 3, n)), np.zeros(n + 3), np.empty((n, n)), np.empty(n, np.int64)
    put_row(m.power, kw, 0)
    while kept < len(out_t) and end - t > SHORTEST * (1.0 + abs(end)):
        put_row(qd, kx, 0)
        put_row(qdd, kv, 0)
        grown, independent = MOST, m.row_independence[0] >= dependent
        h = min(h, largest, end - t)
        _jacobian(evaluate, place, t, h, q, qd, J, slopes)
        counts[0] += n + (1 if len(m.motion_segments) else 0)
        while True:
            last = h >= (end - t) * (1.0 - 1e-12)
            step = end - t if last else h
            if step < SHORTEST * (1.0 + abs(t)):
                return TOO_SMALL, kept, t, h
            for i in range(n):
                for j in range(n):
                    W[i, j] = -J[i, j]
                W[i, i] += 1.0 / (GAMMA * step)
            error = np.inf
            clear_candidates(event_functions)
            if factorize(W, pivots):
                for s in range(STAGES):
                    if s:
                        _stage_state(A[s], s, U, qd, x, v)
                        stage(evaluate, place, t + fractions[s] * step, t, q, x, v, s)
                        mark_overloaded(m, event_functions)
                    _right_hand_side(step, s, C[s], time_weights[s], kx, kv, kw, slopes, U, f)
                    _solve_stage(step, W, pivots, J, f, U[s])
                counts[0] += STAGES - 1
                # the step ends where the last stage would begin, moved by the last stage
                _stage_state(A[STAGES - 1], STAGES - 1, U, qd, x, v)
                for j in range(nv):
                    x[j] += U[STAGES - 1, j]
                    v[j] += U[STAGES - 1, nv + j]
                displace(m.composites, q, x, m.at)
                error = _error(U[STAGES - 1], q, qd, m.at, x, v, m.rates, rtol, atol)
            if error < 1.0:
                grown = min(grown, SAFETY * error**EXPONENT if error > 0.0 else MOST)
                break
            counts[1] += 1
            shrunk = max(LEAST, SAFETY * error**EXPONENT) if error < np.inf else LEAST
            h, grown = step * shrunk, 1.0
            if not independent:
                return WEAK, kept, t, h
        for i in range(3):
            for s in range(STAGES):
                work[i] += (A[STAGES - 1, s] if s < STAGES - 1 else 1.0) * U[s, n + i]
        if len(dense):
            _polynomial(H, U, qd, x, v, dense[kept])
        put(m.at, q)
        put(v, qd)
        begun = t
        t = end if last else t + step
        status = settle(evaluate, place, t, begun, projected, q, qd, qdd)
        counts[0] += 1
        put_row(m.power, kw, 0)
        # a step that was shortened to hit the end does not limit the next one
        h = max(h, step * grown) if last else step * grown
        keep(kept, t, q, qd, qdd, work, out_t, out_q, out_qd, out_qdd, out_work)
        kept += 1
        if status == DONE:
            status = reason_to_return(m, event_functions, step, q, qd, reselect_below)
        if status != DONE:
            break
    return status, kept, t, h


@lru_cache(maxsize=1)
def rosenbrock_loop() -> Any:
    """Return the compiled loop; its first arguments are the addresses of ``evaluate`` and of the kernel state."""
    result: Any = types.Tuple  # the stubs leave it untyped
    constant = types.Array(types.float64, 2, "C")
    return compiled(
        advance_rosenbrock,
        result((types.int64, types.int64, types.float64, types.float64))(
            *(types.intp, types.intp, constant, constant, VECTOR, VECTOR, constant),
            numba.from_dtype(EVENT_FUNCTION)[::1],
            *([types.float64] * 8),
            types.boolean,
            *([VECTOR] * 5 + [MATRIX] * 4),
            *(types.Array(types.float64, 4, "C"), VECTOR),
        ),
    )


@kernel
def _jacobian(
    evaluate: Any, place: int, t: float, h: float, q: Array, qd: Array, J: Array, slopes: Array
) -> None:
    """Fill J (2 nv + 3, 2 nv), and slopes (2 nv + 3,) with ∂f/∂t, at q (nq,), qd (nv,), the start of a step of h, s.

    They are differences from the derivatives there, which are in row 0 of ``kx``, ``kv`` and ``kw``.
    """
    m, nv = load_struct(place), len(qd)
    kx, kv, kw, x, v = m.kx, m.kv, m.kw, m.x, m.v
    for j in range(nv):
        x[j], v[j] = 0.0, qd[j]
    for j in range(2 * nv):
        i = j if j < nv else j - nv
        travel = abs(h * qd[i])
        if j < nv:
            coordinate = m.rates[i].coordinate
            delta = PERTURBATION * max(LEAST_SIZE, travel, abs(q[coordinate]) if coordinate >= 0 else 1.0)
            x[i] = delta
        else:
            v[i] = qd[i] + PERTURBATION * max(LEAST_SIZE, abs(qd[i]))
            delta = v[i] - qd[i]
        stage(evaluate, place, t, t, q, x, v, _SPARE)
        x[i], v[i] = 0.0, qd[i]
        for k in range(nv):
            J[k, j] = (kx[_SPARE, k] - kx[0, k]) / delta
            J[nv + k, j] = (kv[_SPARE, k] - kv[0, k]) / delta
        for k in range(3):
            J[2 * nv + k, j] = (kw[_SPARE, k] - kw[0, k]) / delta
    if len(m.motion_segments):
        delta = TIME_PERTURBATION * h
        stage(evaluate, place, t + delta, t, q, x, v, _SPARE)
        for k in range(nv):
            slopes[k] = (kx[_SPARE, k] - kx[0, k]) / delta
            slopes[nv + k] = (kv[_SPARE, k] - kv[0, k]) / delta
        for k in range(3):
            slopes[2 * nv + k] = (kw[_SPARE, k] - kw[0, k]) / delta


@kernel
def factorize(W: Array, pivots: AnyArray) -> bool:
    """Replace W (n, n) by its LU factors with partial pivoting, and fill pivots (n,); False if it is singular."""
    n = len(W)
    for k in range(n):
        p = k
        for i in range(k + 1, n):
            if abs(W[i, k]) > abs(W[p, k]):
                p = i
        pivots[k] = p
        if not 0.0 < abs(W[p, k]) < np.inf:
            return False
        if p != k:
            for j in range(n):
                W[k, j], W[p, j] = W[p, j], W[k, j]
        for i in range(k + 1, n):
            W[i, k] /= W[k, k]
            if W[i, k] != 0.0:
                for j in range(k + 1, n):
                    W[i, j] -= W[i, k] * W[k, j]
    return True


@kernel
def solve_factorized(W: Array, pivots: AnyArray, b: Array) -> None:
    """Replace the first n entries of b (m,) by the solution, with factors W (n, n) and pivots (n,)."""
    n = len(W)
    for k in range(n):
        p = pivots[k]
        b[k], b[p] = b[p], b[k]
    for i in range(n):
        for j in range(i):
            b[i] -= W[i, j] * b[j]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            b[i] -= W[i, j] * b[j]
        b[i] /= W[i, i]


@kernel
def _stage_state(a: Array, s: int, U: Array, qd: Array, x: Array, v: Array) -> None:
    """Fill increment x (nv,) and rates v (nv,) of a stage from the s stages before it.

    a (8,) is its row of ``A``; U (8, 2 nv + 3) are the stages; qd (nv,) are the rates at the start.
    """
    nv = len(qd)
    for j in range(nv):
        x[j], v[j] = 0.0, qd[j]
        for i in range(s):
            x[j] += a[i] * U[i, j]
            v[j] += a[i] * U[i, nv + j]


@kernel
def _right_hand_side(
    h: float,
    s: int,
    c: Array,
    d: float,
    kx: Array,
    kv: Array,
    kw: Array,
    slopes: Array,
    U: Array,
    f: Array,
) -> None:
    """Fill the right-hand side f (2 nv + 3,) of stage s of a step of h, s.

    c (8,) is its row of ``C``; row s of kx (n, nv), kv (n, nv) and kw (n, 3) has its derivatives; slopes (2 nv + 3,)
    are ∂f/∂t with weight d; U (8, 2 nv + 3) are the stages.
    """
    nv = (len(f) - 3) // 2
    for j in range(nv):
        f[j], f[nv + j] = kx[s, j], kv[s, j]
    for j in range(3):
        f[2 * nv + j] = kw[s, j]
    for j in range(len(f)):
        f[j] += h * d * slopes[j]
        for i in range(s):
            f[j] += c[i] * U[i, j] / h


@kernel
def _solve_stage(h: float, W: Array, pivots: AnyArray, J: Array, f: Array, u: Array) -> None:
    """Fill a stage u (2 nv + 3,) from its right-hand side f (2 nv + 3,); the works follow from increment and rates.

    W (2 nv, 2 nv) and pivots (2 nv,) are the factors for a step of h, s, and J (2 nv + 3, 2 nv) the derivatives.
    """
    n = len(W)
    for j in range(len(f)):
        u[j] = f[j]
    solve_factorized(W, pivots, u)
    for k in range(n, n + 3):
        for j in range(n):
            u[k] += J[k, j] * u[j]
        u[k] *= GAMMA * h


@kernel
def _error(
    u: Array,
    q: Array,
    qd: Array,
    q_new: Array,
    x: Array,
    v: Array,
    rates: Records,
    rtol: float,
    atol: float,
) -> float:
    """Return the root mean square of the error estimate u (2 nv + 3,), relative to the tolerance.

    q and q_new (nq,), and qd and v (nv,), are the states before and after; x (nv,) is the increment. The result is
    infinite if a number is not finite.
    """
    total, nv = 0.0, len(qd)
    for j in range(nv):
        i = rates[j].coordinate
        size = max(abs(q[i]), abs(q_new[i])) if i >= 0 else max(1.0, abs(x[j]))
        total += (u[j] / (atol + rtol * size)) ** 2
        total += (u[nv + j] / (atol + rtol * max(abs(qd[j]), abs(v[j])))) ** 2
    error = sqrt(total / (2 * nv)) if nv else 0.0
    return error if error < np.inf else np.inf


@kernel
def _polynomial(H: Array, U: Array, qd: Array, x: Array, v: Array, out: Array) -> None:
    """Fill the dense output, lowest power of the fraction of the step first.

    out (5, 2, nv) is (1−θ)y₀ + θy₁ + θ(1−θ)(k₁ + θk₂ + θ²k₃) with k = H U; H (3, 8) and U (8, 2 nv + 3) are weights
    and stages; qd (nv,) are the rates at the start, x (nv,) and v (nv,) increment and rates at the end.
    """
    nv = len(qd)
    for part in range(2):
        for j in range(nv):
            y0 = 0.0 if part == 0 else qd[j]
            y1 = x[j] if part == 0 else v[j]
            k1, k2, k3 = 0.0, 0.0, 0.0
            for s in range(STAGES):
                u = U[s, part * nv + j]
                k1 += H[0, s] * u
                k2 += H[1, s] * u
                k3 += H[2, s] * u
            out[0, part, j] = y0
            out[1, part, j] = y1 - y0 + k1
            out[2, part, j] = k2 - k1
            out[3, part, j] = k3 - k2
            out[4, part, j] = -k3


# The step in readable Python, with the same coefficients.


class RosenbrockStep:
    """A step of the method in Python. y (n,) stacks increment, rates and works."""

    def __init__(self, stepper: StepperInPython) -> None:
        self._stepper = stepper

    def __call__(self, kernel_state: KernelState, state: State, control: Control, dense: Array) -> float:
        """Take a step in place and fill its ``dense`` (5, 2, nv) output; return its length, s, or 0 or −1."""
        f, nv = self._stepper.derivative(kernel_state, state), len(state.qd)
        y = np.concatenate((np.zeros(nv), state.qd, state.work))
        state.h = min(state.h, control.largest_step, control.end - state.t)
        first = f(state.t, y)
        J, slopes = self._derivatives(f, kernel_state, state, y, first)

        def attempt(h: float) -> tuple[Array, Array, float]:
            new, U = self._stages(f, state.t, h, y, first, J, slopes)
            scale = control.atol + control.rtol * sizes_of(kernel_state, state.q, y, new)
            with np.errstate(over="ignore", invalid="ignore"):
                error = float(np.sqrt(np.mean((U[-1, : 2 * nv] / scale) ** 2))) if nv else 0.0
            return new, U, error

        found = step_of_small_error(
            attempt, EXPONENT, MOST, kernel_state, state, control, self._stepper.counts
        )
        if isinstance(found, float):
            return found
        h, last, new, U = found
        k = H @ U
        rise = new - y
        powers = (y, rise + k[0], k[1] - k[0], k[2] - k[1], -k[2])
        dense[:] = np.array(powers)[:, : 2 * nv].reshape(len(dense), 2, nv)
        self._stepper.finish(kernel_state, state, h, new)
        self._stepper.counts[0] += 1
        if last:
            state.t = control.end
        return h

    def _derivatives(
        self, f: Derivative, kernel_state: KernelState, state: State, y: Array, first: Array
    ) -> tuple[Array, Array]:
        """Return ∂f/∂y (n, n − 3), by y without the works, and ∂f/∂t (n,), by differences from ``first`` (n,)."""
        nv = len(state.qd)
        coordinate = kernel_state.rates["coordinate"]
        position = np.where(coordinate >= 0, np.abs(state.q[coordinate]), 1.0)
        position = np.maximum(np.maximum(LEAST_SIZE, np.abs(state.h * state.qd)), position)
        deltas = PERTURBATION * np.concatenate((position, np.maximum(LEAST_SIZE, np.abs(state.qd))))
        J = np.empty((len(y), 2 * nv))
        for j, delta in enumerate(deltas):
            moved = y.copy()
            moved[j] += delta
            J[:, j] = (f(state.t, moved) - first) / (moved[j] - y[j])
        delta = TIME_PERTURBATION * state.h
        slopes = (f(state.t + delta, y) - first) / delta
        self._stepper.counts[0] += 2 * nv + 1
        return J, slopes

    def _stages(
        self, f: Derivative, t: float, h: float, y: Array, first: Array, J: Array, slopes: Array
    ) -> tuple[Array, Array]:
        """Return the state (n,) after a step of h, s, and its stages (8, n); NaN if a too long step overflows.

        first and slopes (n,) are f and ∂f/∂t at the start, and J (n, n − 3) is ∂f/∂y.
        """
        n = J.shape[1]
        W, U = np.eye(n) / (GAMMA * h) - J[:n], np.full((STAGES, len(y)), np.nan)
        if not np.isfinite(W).all():
            return y + np.nan, U
        with np.errstate(over="ignore", invalid="ignore"):
            for s in range(STAGES):
                at = y + A[s, :s] @ U[:s]
                if not np.isfinite(at).all():
                    return y + np.nan, U
                slope = f(t + FRACTIONS[s] * h, at) if s else first
                right = slope + h * TIME_WEIGHTS[s] * slopes + C[s, :s] @ U[:s] / h
                if not np.isfinite(right).all():
                    return y + np.nan, U
                U[s, :n] = np.linalg.solve(W, right[:n])
                U[s, n:] = GAMMA * h * (right[n:] + J[n:] @ U[s, :n])
            new = y + A[-1, :-1] @ U[:-1] + U[-1]
        self._stepper.counts[0] += STAGES - 1
        return new, U
