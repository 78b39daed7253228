"""Dense factorisations straight from LAPACK, by the routines that ``scipy.linalg`` calls.

To import ``scipy.linalg`` takes twice what NumPy takes, since it imports most of NumPy and SciPy; and for the small
matrices of one mechanism its wrappers take ten times as long as the work. The routines are an extension module that
needs none of that.
"""

from __future__ import annotations

import importlib
import sys
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Order = NDArray[np.intp]


@cache
def _lapack() -> Any:
    """Return SciPy's module of LAPACK's routines, without its package; with it where SciPy is laid out otherwise."""
    name = "scipy.linalg._flapack"
    package = find_spec("scipy")
    if name in sys.modules or package is None or sys.platform == "win32":
        # on Windows the package names the folder of its libraries
        return importlib.import_module("scipy.linalg.lapack")
    folders = [str(Path(folder) / "linalg") for folder in package.submodule_search_locations or ()]
    spec = PathFinder.find_spec(name, folders)
    if spec is None or spec.loader is None:
        return importlib.import_module("scipy.linalg.lapack")
    # the package finds it there when it is imported after all
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pivoted_qr(A: Array) -> tuple[Array, Array, Order]:
    """Return Q (m, m), R (m, n) and the order (n,) of the columns with A[:, order] = Q R, for A (m, n)."""
    m, n = A.shape
    if not A.size:
        return np.eye(m), np.zeros((m, n)), np.arange(n)
    factors, order, scales = _factored(A)
    reflectors = np.empty((m, m))
    reflectors[:, :n] = factors[:, :m]
    (Q,) = _called(_lapack().dorgqr, reflectors, scales)
    return Q, np.triu(factors), order


def pivots(A: Array) -> tuple[Array, Order]:
    """Return the sizes of the pivots of A (m, n), (min(m, n),), and the order of its columns, (n,), best first."""
    if not A.size:
        return np.zeros(0), np.arange(A.shape[1])
    factors, order, _ = _factored(A)
    return np.abs(np.diag(factors)), order


def pivot_order(A: Array) -> Order:
    """Return the columns of A (m, n) as a QR factorisation with pivoting takes them, best first."""
    return pivots(A)[1]


def solve_triangular(A: NDArray[Any], rhs: Array, *, lower: bool = False, transposed: bool = False) -> Array:
    """Return A⁻¹ rhs, or A⁻ᵀ rhs, for a triangular A (n, n) and rhs (n,) or (n, k)."""
    if not rhs.size:
        return np.zeros_like(rhs)
    return np.asarray(_lapack().dtrtrs(A, rhs, lower=lower, trans=transposed)[0]).reshape(rhs.shape)


def _factored(A: Array) -> tuple[Array, Order, Array]:
    """Return R over the reflectors (m, n), the order (n,) of the columns and the reflectors' scales, for A (m, n)."""
    factors, order, scales = _called(_lapack().dgeqp3, np.asarray_chkfinite(A))
    return factors, order - 1, scales


def _called(routine: Any, *arrays: Array) -> tuple[Any, ...]:
    """Return the result of a LAPACK routine that is first asked for its best workspace."""
    room = int(routine(*arrays, lwork=-1)[-2][0])
    *found, _, info = routine(*arrays, lwork=room)
    if info < 0:
        raise ValueError(f"LAPACK refuses argument {-info} of {routine.__name__}")
    return tuple(found)
