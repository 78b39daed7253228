"""Dense factorisations by direct calls of the LAPACK routines that ``scipy.linalg`` wraps.

Importing ``scipy.linalg`` takes twice as long as importing NumPy, since it loads most of NumPy and SciPy, and for the
small matrices of one mechanism its wrappers take ten times as long as the factorisation. The routines are in an
extension module that needs neither.
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
    """Load SciPy's LAPACK extension module without its package, or with it if the module is not at its usual path."""
    name = "scipy.linalg._flapack"
    package = find_spec("scipy")
    if name in sys.modules or package is None or sys.platform == "win32":
        # on Windows, importing the package registers the folder of its libraries
        return importlib.import_module("scipy.linalg.lapack")
    folders = [str(Path(folder) / "linalg") for folder in package.submodule_search_locations or ()]
    spec = PathFinder.find_spec(name, folders)
    if spec is None or spec.loader is None:
        return importlib.import_module("scipy.linalg.lapack")
    # registered, so that a later import of the package reuses it
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def pivoted_qr(A: Array) -> tuple[Array, Array, Order]:
    """Return Q (m, m), R (m, n) and the column order (n,) with A[:, order] = Q R, for A (m, n)."""
    m, n = A.shape
    if not A.size:
        return np.eye(m), np.zeros((m, n)), np.arange(n)
    factors, order, scales = _factored(A)
    reflectors = np.empty((m, m))
    reflectors[:, :n] = factors[:, :m]
    (Q,) = _called(_lapack().dorgqr, reflectors, scales)
    return Q, np.triu(factors), order


def pivots(A: Array) -> tuple[Array, Order]:
    """Return the absolute pivots of A (m, n), (min(m, n),), and the column order (n,), largest pivot first."""
    if not A.size:
        return np.zeros(0), np.arange(A.shape[1])
    factors, order, _ = _factored(A)
    return np.abs(np.diag(factors)), order


def pivot_order(A: Array) -> Order:
    """Return the column order (n,) of a pivoted QR factorisation of A (m, n), largest pivot first."""
    return pivots(A)[1]


def solve_triangular(A: NDArray[Any], rhs: Array, *, lower: bool = False, transposed: bool = False) -> Array:
    """Return A⁻¹ rhs, or A⁻ᵀ rhs, for a triangular A (n, n) and rhs (n,) or (n, k)."""
    if not rhs.size:
        return np.zeros_like(rhs)
    return np.asarray(_lapack().dtrtrs(A, rhs, lower=lower, trans=transposed)[0]).reshape(rhs.shape)


def _factored(A: Array) -> tuple[Array, Order, Array]:
    """Return the packed R and reflectors (m, n), the column order (n,) and the reflectors' scales, for A (m, n)."""
    factors, order, scales = _called(_lapack().dgeqp3, np.asarray_chkfinite(A))
    return factors, order - 1, scales


def _called(routine: Any, *arrays: Array) -> tuple[Any, ...]:
    """Return the result of a LAPACK routine, called with the workspace size that it reports as optimal."""
    room = int(routine(*arrays, lwork=-1)[-2][0])
    *found, _, info = routine(*arrays, lwork=room)
    if info < 0:
        raise ValueError(f"LAPACK refuses argument {-info} of {routine.__name__}")
    return tuple(found)
