"""Accelerations of many states of one tree in one compiled call, several states at once in the lanes of vectors.

The kernels are those of a single state, translated once more for records whose fields are numbers of each lane.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numba import types

from mbplugin.dynamics.compiler import (
    Records,
    compiled,
    named_tuple,
    record_array,
    struct_loader,
    words_of,
)
from mbplugin.dynamics.compiler.lanes import LANES, VECTOR_OF_LANES, LanesRecord, aligned, as_lanes
from mbplugin.dynamics.kernels.articulated import free_accelerations
from mbplugin.dynamics.kernels.composite_bodies import COMPOSITE, LOAD, RATE, SPRING
from mbplugin.model.spatial import AnyArray, Array

#: Fields of the states of composite bodies and of rates.
OF_COMPOSITE = ("R", "p", "c", "joint", "v", "bias", "a", "f", "J", "I_A")
OF_RATE = ("s", "e", "U", "D", "root", "per_root", "u", "tau", "qdd")
#: Records of composite bodies and of rates whose states differ from lane to lane; their parameters do not.
LANED_COMPOSITE, LANED_RATE = LanesRecord(COMPOSITE, OF_COMPOSITE), LanesRecord(RATE, OF_RATE)
_MATRIX = types.float64[:, ::1]


class LanesState(NamedTuple):
    """Records and states of all lanes.

    Parameters
    ----------
    composites, rates, loads, springs : record arrays
    power, q, qd, qdd : (3,), (nq,), (nv,), (nv,) array
        Numbers of each lane.
    q_of, qd_of, qdd_of : (nq, LANES), (nv, LANES), (nv, LANES) array
        The same memory as single numbers.
    """

    composites: Records
    rates: Records
    loads: Records
    springs: Records
    power: AnyArray
    q: AnyArray
    qd: AnyArray
    qdd: AnyArray
    q_of: Array
    qd_of: Array
    qdd_of: Array


_load: Any = struct_loader(
    named_tuple(
        [types.Array(kind, 1, "C") for kind in (LANED_COMPOSITE, LANED_RATE)]
        + [record_array(kind) for kind in (LOAD, SPRING)]
        + [VECTOR_OF_LANES] * 4
        + [_MATRIX] * 3,
        LanesState,
    )
)


class ManyStates:
    """Computes the accelerations of a tree without springs at many states.

    Parameters
    ----------
    composites, rates, loads : (b,), (nv,), (l,) record array
        Of the tree, with its parameters.
    """

    def __init__(self, composites: AnyArray, rates: AnyArray, loads: AnyArray) -> None:
        nq = int(max(composites["q_start"] + composites["freedoms"] + composites["quaternion"], default=0))
        q, qd, qdd, power = (aligned((n, LANES), float) for n in (nq, len(rates), len(rates), 3))
        self._state = LanesState(
            in_lanes(composites, LANED_COMPOSITE),
            in_lanes(rates, LANED_RATE),
            loads,
            np.zeros(0, SPRING),
            *(as_lanes(power), as_lanes(q), as_lanes(qd), as_lanes(qdd)),
            *(q, qd, qdd),
        )
        self._words = np.array(words_of(self._state), dtype=np.int64)

    def accelerations(self, q: Array, qd: Array, out: Array) -> bool:
        """Fill ``out`` (k, nv) at states q (k, nq), qd (k, nv); return True if every rate moves mass at each."""
        return bool(_compiled()(self._words.ctypes.data, q, qd, out))


def accelerations_in_lanes(place: int, q: Array, qd: Array, out: Array) -> bool:
    """Fill ``out`` (k, nv) with accelerations at q (k, nq), qd (k, nv); return True if every rate moves mass.

    ``place`` is the address of a :class:`LanesState`. The last state fills lanes that would be empty.
    """
    m, count, regular = _load(place), len(q), True
    for first in range(0, count, LANES):
        for lane in range(LANES):
            k = min(first + lane, count - 1)
            for i in range(q.shape[1]):
                m.q_of[i, lane] = q[k, i]
            for j in range(qd.shape[1]):
                m.qd_of[j, lane] = qd[k, j]
        if not free_accelerations(m.composites, m.rates, m.loads, m.springs, m.power, m.q, m.qd, m.qdd):
            regular = False
        for lane in range(min(LANES, count - first)):
            for j in range(qd.shape[1]):
                out[first + lane, j] = m.qdd_of[j, lane]
    return regular


@lru_cache(maxsize=1)
def _compiled() -> Any:
    """Return the compiled :func:`accelerations_in_lanes`."""
    return compiled(accelerations_in_lanes, types.boolean(types.intp, _MATRIX, _MATRIX, _MATRIX))


def in_lanes(records: AnyArray, kind: LanesRecord) -> AnyArray:
    """Return records (n,) with equal values in all lanes."""
    out = aligned((len(records),), kind.laned)
    for name in records.dtype.names or ():
        values = records[name]
        out[name] = values[..., None] if out[name].ndim > values.ndim else values
    return out
