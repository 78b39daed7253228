"""Labelled rows, the constraint matrix, its reduction to joint rates, and closing a pose.

Here are the rank tolerance with its default, contradictions of stated values, and routines of LAPACK without the import
of ``scipy.linalg``.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from decimal import Decimal
from functools import cache
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mbplugin.errors import BadUsage, ContradictedState
from mbplugin.phrases import listed

if TYPE_CHECKING:
    from mbplugin.model.scene import Scene


#: Relative to the largest singular value of a block's scaled closure Jacobian.
DEFAULT_TOLERANCE = 1e-4
#: Largest number of poses sampled to distinguish structural redundancy from a singular pose.
DEFAULT_SAMPLES = 8
#: Tolerance for computed values to agree: rad or lengths of the mechanism; for rates, a fraction of the largest.
AGREED = 1e-8
#: A number with at least this many significant digits may be rounded; with fewer it is exact.
_DIGITS = 5
#: Largest number of names in a sentence.
_NAMED = 8
#: Returns the values of all names if those of some are prescribed; None if these cannot hold together.
Follows = Callable[[Collection[str]], Mapping[str, float] | None]


def rank_tolerance(scene: Scene | None, requested: float | None) -> float:
    """Return the relative rank tolerance: the requested one, else the scene's, else the default.

    Raises
    ------
    BadUsage
        It is not between 0 and 1.
    """
    stated = scene.options.tolerance if scene is not None and requested is None else requested
    tolerance = DEFAULT_TOLERANCE if stated is None else stated
    require_tolerance(tolerance)
    return tolerance


def require_tolerance(tolerance: float) -> None:
    """Raise if a number is not a valid relative tolerance.

    Raises
    ------
    BadUsage
        It is not between 0 and 1.
    """
    if not 0 < tolerance < 1:
        raise BadUsage(f"the tolerance is {tolerance:g}", expected="a number between 0 and 1")


# Contradictions of stated values: a minimal contradicting set, and the values that would agree.


def rounding_of(value: float) -> float:
    """Return half a unit in the last written digit of a number, or zero for one with few digits, which is exact."""
    written = Decimal(repr(float(value))).normalize()
    exponent = written.as_tuple().exponent
    rounded = len(written.as_tuple().digits) >= _DIGITS and isinstance(exponent, int)
    return float(Decimal("0.5").scaleb(int(exponent))) if rounded else 0.0


def contradiction(
    what: str, stated: Mapping[str, float], caller: Collection[str], follows: Follows, closing: Sequence[str]
) -> ContradictedState:
    """Return the error that names a minimal set of contradicting values, and the values that would agree.

    Parameters
    ----------
    what : "coordinate" or "rate"
    stated : mapping of str to float
        The values, rad and m (per second).
    caller : collection of str
        Names of the values stated by the caller; the others come from the file.
    follows : callable
        Gives the values that follow from some of them.
    closing : sequence of str
        The constraints that couple them.
    """
    members = _smallest(sorted(stated, key=lambda name: (name not in caller, name)), follows)
    through = (
        f"{'constraint' if len(closing) == 1 else 'constraints'} {listed([repr(n) for n in closing], _NAMED)}"
    )
    least = AGREED * max(abs(stated[name]) for name in members)
    agreeing: dict[str, float] = {}
    for name in members:
        if (values := follows([other for other in members if other != name])) is not None:
            agreeing[name] = values[name] if abs(values[name]) > least else 0.0
    if len(members) == 1:
        (name,) = members
        state = "pose" if what == "coordinate" else "motion at this pose"
        text = f"no {state} that {through} allow{'s' if len(closing) == 1 else ''} has {name} = {stated[name]:.8g}"
        text += ": it is locked or at a dead centre" if what == "rate" and agreeing.get(name) == 0 else ""
        remedy = "state another value, or leave it out: the others are computed"
    else:
        values_text = listed([f"{name} = {stated[name]:.8g}" for name in members], _NAMED)
        text = f"the stated {what}s {values_text} contradict each other through {through}"
        remedy = "state fewer of them: the others are computed"
    either = " or ".join(f"{name} = {value:.10g}" for name, value in list(agreeing.items())[:_NAMED])
    expected = f"{either}, the others as stated" if len(members) > 1 and either else either
    error = ContradictedState(text, expected=expected, remedy=remedy)
    error.of_file = not any(name in caller for name in stated)
    return error


def _smallest(names: Sequence[str], follows: Follows) -> list[str]:
    """Return a minimal set of names whose values contradict each other: without any one of them the rest agree."""
    held: list[str] = []
    for name in names:
        if follows([*held, name]) is None:
            for other in list(held):
                without = [n for n in held if n != other]
                if follows([*without, name]) is None:
                    held = without
            return [*held, name]
        held.append(name)
    return list(names)


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
