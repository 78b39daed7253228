"""The state of the compiled step loops, and its transfer between them.

A loop passes the address of its kernel state, one number instead of a hundred, and whoever
reads it there counts no references.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

from mbplugin.dynamics.compiler.jit import Records
from mbplugin.dynamics.kernels.forces import LOAD, SPRING
from mbplugin.dynamics.kernels.resistance import RESISTANCE
from mbplugin.dynamics.kernels.rows import JOINT_FRAME, ROW, TERM
from mbplugin.dynamics.kernels.tree import COMPOSITE, RATE
from mbplugin.dynamics.tree_model import TreeModel
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.integrators.tableau import MOST_STAGES

#: One segment of a prescribed motion: from ``start`` (s) on, a polynomial in t − start, lowest power first.
MOTION_SEGMENT = np.dtype([("drive", np.int64), ("start", np.float64), ("c", np.float64, (6,))], align=True)

#: Why a loop came back.
DONE, LOOK, MASSLESS, RESELECT, TOO_SMALL, NOT_FINITE, WEAK = range(7)
#: Increments and rates, rad, m and s, from which on nothing is a motion any more: products of three would
#: overflow.
BEYOND = 1e100
#: The independence of rows that have not been decomposed yet.
UNKNOWN_INDEPENDENCE = (1.0, 0.0, 0.0)


class KernelState(NamedTuple):
    """The records of a tree model, the rows that hold now, and room for their decomposition and for a step.

    Parameters
    ----------
    composites, rates, joint_frames, rows, terms, loads, springs, resistances : record arrays
    motion_segments : record array
        Prescribed motions; sorted by drive, then by start.
    drive : (d, 3) array
    independent_rows : (r,) array of int
        Independent rows that hold.
    Q, R : (r, nv), (r, r) array
    multipliers, gap : (r,) array
        λ of the chosen rows; what a jump has to close, in scaled rows.
    power : (3,) array
        Of dampers and friction, of applied forces, of drivers, W.
    row_independence : (3,) array
        Smallest own share of a chosen row at the last decomposition; the share below which a jump leaves a
        row alone; and that for the corrections of steps.
    kx, kv, kw : (MOST_STAGES, nv), (MOST_STAGES, nv), (MOST_STAGES, 3) array
        Of each stage of a step the rates of the increment, the accelerations and the power.
    x, v, slope, at : (nv,), (nv,), (nv,), (nq,) array
        Of one stage the increment, the rates, the rates of the increment and the coordinates.
    """

    composites: Records
    rates: Records
    joint_frames: Records
    rows: Records
    terms: Records
    loads: Records
    springs: Records
    resistances: Records
    motion_segments: Records
    drive: Array
    independent_rows: AnyArray
    Q: Array
    R: Array
    multipliers: Array
    gap: Array
    power: Array
    row_independence: Array
    kx: Array
    kv: Array
    kw: Array
    x: Array
    v: Array
    slope: Array
    at: Array


def kernel_state_of(model: TreeModel, motion_segments: AnyArray, independent_rows: AnyArray) -> KernelState:
    """Return the kernel state of a model with ``independent_rows`` (r,) holding.

    ``motion_segments`` (g,) are the records of what drivers prescribe.
    """
    r, nv = len(independent_rows), len(model.rates)
    return KernelState(
        model.composites,
        model.rates,
        model.table.joint_frames,
        model.table.rows,
        model.table.terms,
        model.loads,
        model.springs,
        model.resistances,
        motion_segments,
        model.drive,
        np.asarray(independent_rows, dtype=np.int64),
        np.zeros((r, nv)),
        np.zeros((r, r)),
        np.zeros(r),
        np.zeros(r),
        model.power,
        np.array(UNKNOWN_INDEPENDENCE),
        *(np.zeros((MOST_STAGES, n)) for n in (nv, nv, 3)),
        *(np.zeros(n) for n in (nv, nv, nv, len(model.mech.q_names))),
    )


def words_of(arrays: tuple[Any, ...]) -> list[int]:
    """Return named tuples of arrays as kernels find them in memory, where nobody owns them; the caller keeps them."""
    words: list[int] = []
    for array in arrays_of(arrays):
        assert array.flags.c_contiguous
        words += (0, 0, array.size, array.itemsize, array.ctypes.data, *array.shape, *array.strides)
    return words


def held_words() -> tuple[tuple[int, ...], int]:
    """Return where the words of a kernel state say how many rows hold, in several places, and the size of Q."""
    starts = np.cumsum([0, *(5 + 2 * kind.ndim for kind in KERNEL_STATE)]).tolist()
    at = dict(zip(KernelState._fields, starts, strict=False))
    vectors = [at[name] for name in ("independent_rows", "multipliers", "gap")]
    return (*(start + n for start in vectors for n in (2, 5)), at["Q"] + 5), at["Q"] + 2


def arrays_of(state: tuple[Any, ...]) -> Iterator[AnyArray]:
    """Yield the arrays of named tuples."""
    for one in state:
        yield from arrays_of(one) if isinstance(one, tuple) else (one,)


def record_array(dtype: np.dtype[Any]) -> Any:
    """Return the compiler's type of an array of records."""
    record: Any = numba.from_dtype(dtype)
    return record[::1]


named_tuple: Any = types.NamedTuple  # the stubs leave these untyped
_intrinsic: Any = intrinsic
cgutils: Any = _cgutils

VECTOR, MATRIX, INDICES = types.float64[::1], types.float64[:, ::1], types.int64[::1]
#: The kernel state as the compiler knows it.
KERNEL_STATE = named_tuple(
    [
        record_array(d)
        for d in (COMPOSITE, RATE, JOINT_FRAME, ROW, TERM, LOAD, SPRING, RESISTANCE, MOTION_SEGMENT)
    ]
    + [MATRIX, INDICES, MATRIX, MATRIX, *[VECTOR] * 4, *[MATRIX] * 3, *[VECTOR] * 4],
    KernelState,
)


def _ownerless(context: Any, builder: Any, kind: Any, kernel_state: Any) -> Any:
    """Return a kernel state whose arrays have no owners: whoever borrows it counts no references."""
    arrays = []
    for n, kind_of_array in enumerate(kind.types):
        array = context.make_array(kind_of_array)(context, builder, builder.extract_value(kernel_state, n))
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        arrays.append(array._getvalue())
    return context.make_tuple(builder, kind, arrays)


def _struct_pointer(_: Any, kernel_state: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = cgutils.alloca_once_value(builder, _ownerless(context, builder, kernel_state, args[0]))
        return builder.ptrtoint(place, context.get_value_type(types.intp))

    return types.intp(kernel_state), code


def struct_loader(kind: Any) -> Callable[[int], Any]:
    """Return what loads a named tuple of a kind from an address, for kernels.

    Parameters
    ----------
    kind : numba type
    """

    def typed(_: Any, place: Any) -> Any:
        def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            pointer = context.get_value_type(signature.return_type).as_pointer()
            return builder.load(builder.inttoptr(args[0], pointer))

        return kind(place), code

    made: Callable[[int], Any] = _intrinsic(typed)
    return made


#: In a loop: the address of a kernel state, good until the function that asks for it returns.
struct_pointer: Callable[[KernelState], int] = _intrinsic(_struct_pointer)
#: In a kernel: the kernel state at an address.
load_struct: Callable[[int], KernelState] = struct_loader(KERNEL_STATE)
