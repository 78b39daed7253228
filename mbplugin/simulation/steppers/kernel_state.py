"""What the compiled step loops work on, and how they hand it on.

A loop lends its machine: it hands on the place in memory, one number instead of a hundred, and whoever
reads it there counts no references.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import types
from numba.core import cgutils as _cgutils
from numba.extending import intrinsic

from mbplugin.dynamics.compiler.jit import Records
from mbplugin.dynamics.kernels.forces import LOAD, SPRING
from mbplugin.dynamics.kernels.resistance import RESISTANCE
from mbplugin.dynamics.kernels.rows import END, ROW, TERM
from mbplugin.dynamics.kernels.tree import RATE, SOLID
from mbplugin.dynamics.tree_model import TreeModel
from mbplugin.model.spatial import AnyArray, Array

#: One stretch of a prescribed motion: from ``start`` (s) on, a polynomial in t − start, lowest power first.
STRETCH = np.dtype([("drive", np.int64), ("start", np.float64), ("c", np.float64, (6,))], align=True)

#: Why a loop came back.
DONE, LOOK, MASSLESS, RESELECT, TOO_SMALL, NOT_FINITE, WEAK = range(7)


class Machine(NamedTuple):
    """The records of a tree model, the rows that hold now, and room for their decomposition.

    Parameters
    ----------
    solids, rates, ends, rows, terms, loads, springs, resistances : record arrays
    stretches : record array
        Prescribed motions; sorted by drive, then by start.
    drive : (d, 3) array
    chosen : (r,) array of int
        Independent rows that hold.
    Q, R : (r, nv), (r, r) array
    multipliers, gap : (r,) array
        λ of the chosen rows; what a jump has to close, in scaled rows.
    power : (3,) array
        Of dampers and friction, of applied forces, of drivers, W.
    health : (3,) array
        Smallest own share of a chosen row at the last decomposition; the share below which a jump leaves a
        row alone; and that for the corrections of steps.
    """

    solids: Records
    rates: Records
    ends: Records
    rows: Records
    terms: Records
    loads: Records
    springs: Records
    resistances: Records
    stretches: Records
    drive: Array
    chosen: AnyArray
    Q: Array
    R: Array
    multipliers: Array
    gap: Array
    power: Array
    health: Array


def machine_of(model: TreeModel, stretches: AnyArray, chosen: AnyArray) -> Machine:
    """Return the machine of a model with the given rows holding."""
    r, nv = len(chosen), len(model.rates)
    return Machine(
        model.solids,
        model.rates,
        model.table.ends,
        model.table.rows,
        model.table.terms,
        model.loads,
        model.springs,
        model.resistances,
        stretches,
        model.drive,
        np.asarray(chosen, dtype=np.int64),
        np.zeros((r, nv)),
        np.zeros((r, r)),
        np.zeros(r),
        np.zeros(r),
        model.power,
        np.array([1.0, 0.0, 0.0]),
    )


def _records(dtype: np.dtype[Any]) -> Any:
    record: Any = numba.from_dtype(dtype)
    return record[::1]


_named_tuple: Any = types.NamedTuple  # the stubs leave these untyped
_intrinsic: Any = intrinsic
cgutils: Any = _cgutils

VECTOR, MATRIX, INDICES = types.float64[::1], types.float64[:, ::1], types.int64[::1]
#: The machine as the compiler knows it.
MACHINE = _named_tuple(
    [_records(d) for d in (SOLID, RATE, END, ROW, TERM, LOAD, SPRING, RESISTANCE, STRETCH)]
    + [MATRIX, INDICES, MATRIX, MATRIX, VECTOR, VECTOR, VECTOR, VECTOR],
    Machine,
)


def _ownerless(context: Any, builder: Any, kind: Any, machine: Any) -> Any:
    """Return a machine whose arrays have no owners: whoever borrows it counts no references."""
    arrays = []
    for n, one in enumerate(kind.types):
        array = context.make_array(one)(context, builder, builder.extract_value(machine, n))
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        arrays.append(array._getvalue())
    return context.make_tuple(builder, kind, arrays)


def _lend(_: Any, machine: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = cgutils.alloca_once_value(builder, _ownerless(context, builder, machine, args[0]))
        return builder.ptrtoint(place, context.get_value_type(types.intp))

    return types.intp(machine), code


def _lay_down(_: Any, machine: Any, words: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        laid = _ownerless(context, builder, machine, args[0])
        room = context.make_array(words)(context, builder, args[1])
        builder.store(laid, builder.bitcast(room.data, laid.type.as_pointer()))

    return types.void(machine, words), code


def _lent(_: Any, place: Any) -> Any:
    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        pointer = context.get_value_type(signature.return_type).as_pointer()
        return builder.load(builder.inttoptr(args[0], pointer))

    return MACHINE(place), code


#: In a loop: the place of a machine, good until the function that asks for it returns.
lend: Callable[[Machine], int] = _intrinsic(_lend)
#: For Python: put a machine into an array of words, which is then its place.
lay_down: Callable[[Machine, AnyArray], None] = _intrinsic(_lay_down)
#: Enough words for a machine: nine for an array of two dimensions.
WORDS = 9 * len(Machine._fields)
#: In a kernel: the machine at a place.
lent: Callable[[int], Machine] = _intrinsic(_lent)
