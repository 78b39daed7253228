"""The coefficients of an explicit Runge–Kutta method."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.steppers.kernel_state import MOST_STAGES

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
