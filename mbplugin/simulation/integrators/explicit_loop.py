"""The coefficients of explicit Runge–Kutta methods, and the compiled loop that takes them as an argument."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import isfinite, sqrt
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types
from numpy.typing import ArrayLike

from mbplugin.dynamics.compiler import Records, address_of, compiled, function_at, kernel
from mbplugin.dynamics.kernels.articulated import displace, increment_rate
from mbplugin.model import AnyArray, Array
from mbplugin.simulation.events import EVENT_FUNCTION, clear_candidates, mark_overloaded, reason_to_return
from mbplugin.simulation.kernel_state import (
    ACCELERATE,
    BEYOND,
    DONE,
    FORWARD_DYNAMICS,
    MASSLESS,
    MATRIX,
    MOST_STAGES,
    NOT_FINITE,
    TOO_SMALL,
    VECTOR,
    WEAK,
    Evaluate,
    evaluate_from,
    load_struct,
)
from mbplugin.simulation.problem import project

#: Highest degree of dense output.
HIGHEST_DEGREE = 7

#: Coefficients as the compiled loop reads them: ``n`` rows, ``s`` weights and ``powers`` columns of ``dense`` are in
#: use; row s of ``A`` is ``b``. See :class:`Coefficients`.
TABLE = np.dtype(
    [
        ("s", np.int64),
        ("n", np.int64),
        ("powers", np.int64),
        ("adaptive", np.bool_),
        ("exponent", np.float64),
        ("A", np.float64, (MOST_STAGES, MOST_STAGES)),
        ("b", np.float64, (MOST_STAGES,)),
        ("c", np.float64, (MOST_STAGES,)),
        ("errors", np.float64, (2, MOST_STAGES)),
        ("dense", np.float64, (MOST_STAGES, HIGHEST_DEGREE + 1)),
    ],
    align=True,
)


class Coefficients(NamedTuple):
    """The arrays of a tableau; all stages of a step come first, then those of its dense output.

    Parameters
    ----------
    A : (n, n) array
        Weights of earlier stages in the state of each stage; row s is ``b`` if the method evaluates the end of
        the step.
    b : (s,) array
        Weights of the stages in the step.
    c : (n,) array
        Fractions of the step at which stages are evaluated.
    errors : (2, s+1) or (0, 0) array
        Weights of stages and end in two error estimates; the second is zero if there is only one; empty for a
        fixed step.
    dense : (n, d+1) or (0, 0) array
        Weight of each stage in each power of the fraction of the step; empty for cubic Hermite
        polynomials.
    exponent : float
        Exponent of the error in the step control, −1/(q+1) for an estimate of order q.
    """

    A: Array
    b: Array
    c: Array
    errors: Array
    dense: Array
    exponent: float


class Tableau:
    """A checked explicit Runge–Kutta method.

    Parameters
    ----------
    A : s rows
        Row i holds the weights of the stages before stage i; trailing zeros may be left out.
    b, c : (s,) array-like
        Weights of the stages in the step, and the fractions of the step at which they are evaluated.
    errors : one or two of (s+1,) array-like
        Weights of the stages, and of the derivative at the end of the step, in the error estimate. Without
        them, the step is fixed; with two, the estimate is that of Hairer, Nørsett and Wanner II.10.
    error_order : int
        Order of the embedded method that the step control assumes, 4 for Dormand–Prince 5(4).
    dense : (s+1+e, d+1) array-like, optional
        Weights of the stages, of the end and of e further stages in the powers 0 … d of the fraction of the
        step: y(θ) = y₀ + h Σ kᵢ dense[i, n] θⁿ. Without it, cubic Hermite polynomials through both ends are used.
    A_dense, c_dense : e rows, (e,) array-like
        Further stages that only the dense output needs.

    Raises
    ------
    ValueError
        The coefficients are not those of an explicit method of order one or higher.
    """

    def __init__(
        self,
        A: Sequence[ArrayLike] | Array,
        b: ArrayLike,
        c: ArrayLike,
        errors: Sequence[ArrayLike] = (),
        error_order: int = 0,
        dense: ArrayLike | None = None,
        A_dense: Sequence[ArrayLike] | Array = (),
        c_dense: ArrayLike = (),
    ) -> None:
        weights = np.array(b, dtype=float)
        s = len(weights)
        rows: list[ArrayLike] = list(A)
        nodes = list(np.atleast_1d(np.asarray(c, dtype=float)))
        self.evaluates_end = bool(len(errors)) or dense is not None
        if self.evaluates_end:
            rows += [weights, *A_dense]
            nodes += [1.0, *np.asarray(c_dense, dtype=float)]
        self.coefficients = Coefficients(
            _frozen(_square(rows)),
            _frozen(weights),
            _frozen(np.array(nodes)),
            _frozen(_errors(errors, s)),
            _frozen(np.zeros((0, 0)) if dense is None else np.array(dense, dtype=float)),
            -1.0 / (error_order + 1.0),
        )
        self._check(error_order)
        self.table = _packed(self.coefficients)

    @property
    def adaptive(self) -> bool:
        """True if the step is controlled by an error estimate."""
        return bool(len(self.coefficients.errors))

    @property
    def degree(self) -> int:
        """Degree of the dense output."""
        return self.coefficients.dense.shape[1] - 1 if len(self.coefficients.dense) else 3

    @property
    def stages(self) -> int:
        """Number of stages of a step."""
        return len(self.coefficients.b)

    def _check(self, error_order: int) -> None:
        """Raise ValueError if the coefficients contradict each other."""
        A, b, c, errors, dense, _ = self.coefficients
        if max(len(A), len(b) + 1) > MOST_STAGES or self.degree > HIGHEST_DEGREE:
            raise ValueError(
                f"there may be {MOST_STAGES} stages, and dense output of degree {HIGHEST_DEGREE}"
            )
        if len(c) != len(A):
            raise ValueError(f"{len(A)} stages have {len(c)} fractions of the step")
        if np.triu(A).any():
            raise ValueError("a stage depends on itself or on a later one: the method is not explicit")
        if not np.allclose(A.sum(axis=1), c, rtol=0.0, atol=1e-12) or abs(b.sum() - 1.0) > 1e-12:
            raise ValueError("rows of A do not add up to c, or weights b to 1")
        if len(errors) and (error_order < 1 or np.abs(errors.sum(axis=1)).max() > 1e-12):
            raise ValueError("error weights need an order of 1 at least, and add up to 0")
        if len(dense) and len(dense) != len(A):
            raise ValueError(f"dense output has weights for {len(dense)} of {len(A)} stages")
        if len(dense) and np.abs(dense.sum(axis=1)[: len(b)] - b).max() > 1e-9:
            raise ValueError("dense output does not end where the step does")


def _square(rows: Sequence[ArrayLike]) -> Array:
    """Return rows of any length as a square matrix (n, n), padded with zeros."""
    out = np.zeros((len(rows), len(rows)))
    for i, row in enumerate(rows):
        values = np.atleast_1d(np.asarray(row, dtype=float))
        out[i, : len(values)] = values
    return out


def _errors(errors: Sequence[ArrayLike], s: int) -> Array:
    """Return error weights (2, s+1), the second row zero for a single estimate; (0, 0) if there are none."""
    out = np.zeros((2, s + 1) if len(errors) else (0, 0))
    for row, weights in zip(out, errors, strict=False):
        row[:] = weights
    return out


def _packed(of: Coefficients) -> AnyArray:
    """Return the coefficients as a record array (1,)."""
    table = np.zeros(1, dtype=TABLE)
    table["s"], table["n"], table["powers"] = len(of.b), len(of.A), of.dense.shape[1]
    table["adaptive"], table["exponent"] = len(of.errors) > 0, of.exponent
    for name in ("A", "b", "c", "errors", "dense"):
        values = getattr(of, name)
        table[name][0][tuple(slice(n) for n in values.shape)] = values
    table["A"][0][len(of.b), : len(of.b)] = of.b
    table.setflags(write=False)
    return table


def _frozen(values: Array) -> Array:
    """Return ``values`` (n, ...) as a contiguous read-only array (n, ...)."""
    out = np.ascontiguousarray(values)
    out.setflags(write=False)
    return out


#: Safety factor of the step size, and its largest and smallest ratio to the previous one.
SAFETY, MOST, LEAST = 0.9, 10.0, 0.2
#: Remaining times below this are skipped: for an adaptive method, relative to 1 s and the time; for a fixed step,
#: relative to the step.
SHORTEST, REMAINDER = 1e-14, 1e-9
#: Compiler's type of the table of a method.
METHOD: Any = types.Array(numba.from_dtype(TABLE), 1, "C", readonly=True)
_tuple: Any = types.Tuple  # the stubs leave it untyped
_SIGNATURE = _tuple((types.int64, types.int64, types.float64, types.float64))(
    *(types.intp, types.intp, METHOD, numba.from_dtype(EVENT_FUNCTION)[::1]),
    *([types.float64] * 8),
    *([types.boolean] * 2),
    *([VECTOR] * 5 + [MATRIX] * 4),
    *(types.Array(types.float64, 4, "C"), VECTOR),
)
#: In an outer loop: get this loop from its address.
advance_from = function_at(types.FunctionType(_SIGNATURE))
#: Degrees of the two kinds of Hermite polynomials.
DEGREE, QUINTIC = 3, 5


def advance_explicit(
    address: int,
    place: int,
    table: Records,
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
    predicts: bool,
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

    Returns status, number of samples, time (s), and the next step (s). With ``predicts`` the next step follows the
    trend of the error over the last two, see :func:`growth`. Near a singular pose, where the independence
    of the rows is below ``dependent``, a rejected step is not tried again here: smaller and smaller steps would only
    approach the pose.

    Parameters
    ----------
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
    m, kept, taken, status, begun = load_struct(place), 0, 0, DONE, t
    last_error, last_step = 0.0, 0.0
    method = table[0]
    adaptive, hermite, n = method.adaptive, method.powers == 0, method.n
    # the last stage is the end of the step, unless that has to be projected
    evaluated_end = n == method.s + 1
    kx, kv, kw, x, v, slope, at = m.kx, m.kv, m.kw, m.x, m.v, m.slope, m.at
    put_row(m.power, kw, 0)
    while kept < len(out_t) and end - t > (SHORTEST * (1.0 + abs(end)) if adaptive else REMAINDER * h):
        put_row(qd, kx, 0)
        put_row(qdd, kv, 0)
        # compute times from the number of fixed steps, so that no rounding accumulates
        now = t if adaptive else begun + taken * h
        grown, independent, regular = MOST, m.row_independence[0] >= dependent, True
        while True:
            if adaptive:
                h = min(h, largest)
                last = h >= (end - t) * (1.0 - 1e-12)
                step = end - t if last else h
                if step < SHORTEST * (1.0 + abs(t)):
                    return TOO_SMALL, kept, t, h
            else:
                last, step = False, fixed_step(end - now, h)
            clear_candidates(event_functions)
            # row s of A gives the end of the step, which not every method evaluates
            for s in range(1, method.s + 1):
                _combine(step, s, method.A[s], kx, kv, qd, x, v)
                if s == n:
                    displace(m.composites, q, x, at)
                    break
                regular = stage(evaluate, place, now + method.c[s] * step, now, q, x, v, s)
                if s < method.s:
                    mark_overloaded(m, event_functions)
            counts[0] += min(method.s, n - 1)
            if not adaptive:
                break
            error = _error(step, method, kx, kv, q, qd, at, x, v, m.rates, rtol, atol)
            if error < 1.0:
                grown = min(grown, growth(error, step, last_error, last_step, method.exponent))
                if predicts:
                    last_error, last_step = error, step
                break
            counts[1] += 1
            shrunk = LEAST if error != error else max(LEAST, SAFETY * error**method.exponent)
            h, grown = step * shrunk, 1.0
            if not independent:
                return WEAK, kept, t, h
        for s in range(method.s):
            for i in range(3):
                work[i] += step * method.b[s] * kw[s, i]
        if len(dense):
            if hermite:
                increment_rate(m.composites, x, v, slope)
            else:
                # the arrays of the next sample serve as workspace for the additional stages
                further = (out_qd[kept], out_qdd[kept])
                for s in range(method.s + 1, n):
                    _combine(step, s, method.A[s], kx, kv, qd, further[0], further[1])
                    then = now + method.c[s] * step
                    stage(evaluate, place, then, now, q, further[0], further[1], s)
                counts[0] += n - method.s - 1
                _polynomial(step, method, kx, kv, qd, dense[kept])
                displace(m.composites, q, x, at)
        put(at, q)
        put(v, qd)
        taken += 1
        t = end if last else now + step
        if evaluated_end and not (projected and len(m.independent_rows)):
            status = take_accelerations(place, regular, q, qd, qdd)
        else:
            status = settle(evaluate, place, t, now, projected, q, qd, qdd)
            counts[0] += 1
        put_row(m.power, kw, 0)
        if adaptive:
            # a step that was shortened to hit the end does not limit the next one
            h = max(h, step * grown) if last else step * grown
        if hermite and len(dense):
            cubic(step, x, kx[0], slope, kx[0], qd, kv[0], qdd, dense[kept])
        keep(kept, t, q, qd, qdd, work, out_t, out_q, out_qd, out_qdd, out_work)
        kept += 1
        if status == DONE:
            status = reason_to_return(m, event_functions, step, q, qd, reselect_below)
        if status != DONE:
            break
    return status, kept, t, h


@lru_cache(maxsize=1)
def explicit_loop() -> Any:
    """Return the compiled loop; its first arguments are the addresses of ``evaluate`` and of the kernel state."""
    return compiled(advance_explicit, _SIGNATURE, address=True)


@lru_cache(maxsize=1)
def advance_address() -> int:
    """Return the address of the compiled loop, for an outer loop."""
    return address_of(explicit_loop(), _SIGNATURE)


@kernel
def growth(error: float, step: float, last_error: float, last_step: float, exponent: float) -> float:
    """Return the factor from a step to the next one.

    If the error, per power of the step, has grown since the last step, it is expected to grow likewise in the next one
    (Gustafsson 1994); otherwise every other step would be rejected while the motion gets faster. A last error of 0
    stands for none.
    """
    if error <= 0.0:
        return MOST
    own = SAFETY * error**exponent
    if last_error > 0.0:
        own = min(own, own * (error / last_error) ** exponent * (step / last_step))
    return float(own)


@kernel
def fixed_step(remaining: float, h: float) -> float:
    """Return the next step (s): h, or the remaining time (s) if that is shorter or only negligibly longer."""
    step = min(h, remaining)
    return remaining if remaining - step < REMAINDER * h else step


@kernel
def _combine(h: float, s: int, a: Array, kx: Array, kv: Array, qd: Array, x: Array, v: Array) -> None:
    """Fill increment x and rates v of a stage from the s stages before it.

    a (MOST_STAGES,) is a row of the tableau; kx and kv (n, nv) are rates of the increment and accelerations of the
    stages; qd, x and v (nv,).
    """
    for j in range(len(qd)):
        dx, dv = 0.0, 0.0
        for i in range(s):
            if a[i] != 0.0:
                dx += a[i] * kx[i, j]
                dv += a[i] * kv[i, j]
        x[j], v[j] = h * dx, qd[j] + h * dv


@kernel
def _error(
    h: float,
    method: Records,
    kx: Array,
    kv: Array,
    q: Array,
    qd: Array,
    q_new: Array,
    x: Array,
    v: Array,
    rates: Records,
    rtol: float,
    atol: float,
) -> float:
    """Return the error of a step relative to the tolerance, from both estimates (2, s+1).

    It is h e₁²/√((e₁² + e₂²/100) n); without a second estimate, the root mean square. kx and kv (n, nv) are
    rates of the increment and accelerations of the stages; q and q_new (nq,), and qd and v (nv,), are the states
    before and after; x (nv,) is the increment.
    """
    first, second, nv = 0.0, 0.0, len(qd)
    for j in range(nv):
        a5, a3, b5, b3 = 0.0, 0.0, 0.0, 0.0
        for s in range(method.s + 1):
            a5 += method.errors[0, s] * kx[s, j]
            a3 += method.errors[1, s] * kx[s, j]
            b5 += method.errors[0, s] * kv[s, j]
            b3 += method.errors[1, s] * kv[s, j]
        i = rates[j].coordinate
        size = max(abs(q[i]), abs(q_new[i])) if i >= 0 else max(1.0, abs(x[j]))
        scale_x = atol + rtol * size
        scale_v = atol + rtol * max(abs(qd[j]), abs(v[j]))
        first += (a5 / scale_x) ** 2 + (b5 / scale_v) ** 2
        second += (a3 / scale_x) ** 2 + (b3 / scale_v) ** 2
    if first == 0.0 and second == 0.0:
        return 0.0
    return abs(h) * first / sqrt((first + 0.01 * second) * 2 * nv)


@kernel
def _polynomial(h: float, method: Records, kx: Array, kv: Array, qd: Array, out: Array) -> None:
    """Fill the dense output (d+1, 2, nv), lowest power of the fraction of the step first.

    kx and kv (n, nv) are rates of the increment and accelerations of the stages; qd (nv,) are the rates at the start;
    out (d+1, 2, nv).
    """
    for n in range(method.powers):
        for j in range(len(qd)):
            out[n, 0, j], out[n, 1, j] = 0.0, 0.0
        for s in range(method.n):
            w = h * method.dense[s, n]
            if w != 0.0:
                for j in range(len(qd)):
                    out[n, 0, j] += w * kx[s, j]
                    out[n, 1, j] += w * kv[s, j]
    for j in range(len(qd)):
        out[0, 1, j] += qd[j]


# Hermite polynomials of a step: cubic ones for methods without dense output, quintic ones for stops.


@kernel
def cubic(
    h: float,
    x: Array,
    xd0: Array,
    xd1: Array,
    qd0: Array,
    qd1: Array,
    qdd0: Array,
    qdd1: Array,
    out: Array,
) -> None:
    """Fill the cubics (4, 2, nv), lowest power first, through increment and rates at both ends.

    Parameters
    ----------
    h : float
        Length of the step, s.
    x, xd0, xd1 : (nv,) array
        Increment, and its rates at start and end, per second.
    qd0, qd1, qdd0, qdd1 : (nv,) array
        Rates and accelerations at start and end.

    out : (4, 2, nv) array
        The cubics.
    """
    for j in range(len(x)):
        for part in range(2):
            y0, y1 = (0.0, x[j]) if part == 0 else (qd0[j], qd1[j])
            s0, s1 = (h * xd0[j], h * xd1[j]) if part == 0 else (h * qdd0[j], h * qdd1[j])
            out[0, part, j] = y0
            out[1, part, j] = s0
            out[2, part, j] = 3.0 * (y1 - y0) - 2.0 * s0 - s1
            out[3, part, j] = 2.0 * (y0 - y1) + s0 + s1


@kernel
def quintic(
    h: float, q0: Array, q1: Array, qd0: Array, qd1: Array, qdd0: Array, qdd1: Array, out: Array
) -> None:
    """Fill the quintics (6, 2, nv), lowest power first, of increment and rates of a step, for additive coordinates.

    The rates are the derivative of the increment. As accelerations at both ends are matched, their error is of order 5
    and smaller than that of the step.

    Parameters
    ----------
    h : float
        Length of the step, s.
    q0, q1, qd0, qd1, qdd0, qdd1 : (nv,) array
        Coordinates, rates and accelerations at start and end.
    out : (6, 2, nv) array
        The quintics.
    """
    for j in range(len(q0)):
        c1, c2 = h * qd0[j], 0.5 * h * h * qdd0[j]
        D = q1[j] - q0[j] - (c1 + c2)
        E = h * qd1[j] - (c1 + 2.0 * c2)
        F = h * h * qdd1[j] - 2.0 * c2
        c = (0.0, c1, c2, 10.0 * D - 4.0 * E + 0.5 * F, -15.0 * D + 7.0 * E - F, 6.0 * D - 3.0 * E + 0.5 * F)
        for n in range(6):
            out[n, 0, j] = c[n]
            out[n, 1, j] = (n + 1) * c[n + 1] / h if n < 5 else 0.0


@kernel
def motion_at(
    h: float, fraction: float, q0: Array, polynomial: Array, q: Array, qd: Array, qdd: Array
) -> None:
    """Fill coordinates, rates and accelerations at a fraction of a step.

    Parameters
    ----------
    h, fraction : float
        Length of the step, s, and the fraction.
    q0 : (nv,) array
        Coordinates at the start.
    polynomial : (powers, 2, nv) array
        Of increment and rates, lowest power first, such as those from :func:`quintic`.
    q, qd, qdd : (nv,) array
        Results.
    """
    for j in range(len(q0)):
        x, v, a = 0.0, 0.0, 0.0
        for n in range(polynomial.shape[0] - 1, -1, -1):
            a = a * fraction + v
            v = v * fraction + polynomial[n, 1, j]
            x = x * fraction + polynomial[n, 0, j]
        q[j], qd[j], qdd[j] = q0[j] + x, v, a / h


# Parts that the compiled integrators share: one stage, the end of a step, and storing its sample.


@kernel
def stage(
    evaluate: Evaluate,
    place: int,
    t: float,
    begun: float,
    q: Array,
    x: Array,
    qd: Array,
    s: int,
) -> bool:
    """Fill row s of ``kx``, ``kv`` and ``kw`` of the kernel state: derivatives of increment, rates and works.

    ``q`` (nq,) is the start of the step, ``x`` (nv,) and ``qd`` (nv,) are increment and rates of the stage. Return
    True if every rate moves mass.
    """
    m = load_struct(place)
    displace(m.composites, q, x, m.at)
    regular: bool = evaluate(place, FORWARD_DYNAMICS, t, begun, m.at, qd)
    increment_rate(m.composites, x, qd, m.slope)
    for j in range(len(qd)):
        m.kx[s, j], m.kv[s, j] = m.slope[j], m.rates[j].qdd
    for i in range(3):
        m.kw[s, i] = m.power[i]
    return regular


@kernel
def is_motion(q: Array, qd: Array) -> bool:
    """Return True if all coordinates q (nq,) and rates qd (nv,) are below ``BEYOND``, so that nothing overflows."""
    for i in range(len(q)):
        if not abs(q[i]) < BEYOND:
            return False
    # a generator in all() is not compiled
    for j in range(len(qd)):  # noqa: SIM110
        if not abs(qd[j]) < BEYOND:
            return False
    return True


@kernel
def settle(
    evaluate: Evaluate, place: int, t: float, begun: float, projected: bool, q: Array, qd: Array, qdd: Array
) -> int:
    """End a step at q (nq,) and qd (nv,): project in place, fill the accelerations qdd (nv,), and return a status."""
    regular = True
    if projected and len(load_struct(place).independent_rows):
        if not project(evaluate, place, t, begun, q, qd):
            return MASSLESS if is_motion(q, qd) else NOT_FINITE
        evaluate(place, ACCELERATE, t, begun, q, qd)
    else:
        regular = evaluate(place, FORWARD_DYNAMICS, t, begun, q, qd)
    return take_accelerations(place, regular, q, qd, qdd)


@kernel
def take_accelerations(place: int, regular: bool, q: Array, qd: Array, qdd: Array) -> int:
    """Fill qdd (nv,) with the accelerations of the kernel state at q (nq,) and qd (nv,); return a status.

    ``regular`` is True if every rate moves mass.
    """
    m = load_struct(place)
    if not is_motion(q, qd):
        return NOT_FINITE
    if not regular:
        return MASSLESS
    for j in range(len(qd)):
        qdd[j] = m.rates[j].qdd
        if not isfinite(qdd[j]):
            return NOT_FINITE
    return DONE


@kernel
def put(values: Array, out: Array) -> None:
    """Copy values (n,) to out (n,).

    ``out[:] = values`` would compile slowly, with code for all error messages.
    """
    for i in range(len(out)):
        out[i] = values[i]


@kernel
def put_row(values: Array, out: Array, i: int) -> None:
    """Copy values (n,) to row i of out (k, n)."""
    for j in range(len(values)):
        out[i, j] = values[j]


@kernel
def keep(
    kept: int,
    t: float,
    q: Array,
    qd: Array,
    qdd: Array,
    work: Array,
    out_t: Array,
    out_q: Array,
    out_qd: Array,
    out_qdd: Array,
    out_work: Array,
) -> None:
    """Store a sample; arrays as for :func:`mbplugin.simulation.integrators.explicit_loop.advance_explicit`."""
    out_t[kept] = t
    put_row(q, out_q, kept)
    put_row(qd, out_qd, kept)
    put_row(qdd, out_qdd, kept)
    put_row(work, out_work, kept)
