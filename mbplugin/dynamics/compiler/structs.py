"""Named tuples of arrays in memory, which compiled functions load from an address."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import intrinsic

from mbplugin.model.spatial import AnyArray

named_tuple: Any = types.NamedTuple  # the stubs leave these untyped
_intrinsic: Any = intrinsic


def words_of(arrays: tuple[Any, ...]) -> list[int]:
    """Return the memory layout of named tuples of arrays as words, without owners; the caller must keep the arrays."""
    words: list[int] = []
    for array in arrays_of(arrays):
        assert array.flags.c_contiguous
        words += (0, 0, array.size, array.itemsize, array.ctypes.data, *array.shape, *array.strides)
    return words


def arrays_of(state: tuple[Any, ...]) -> Iterator[AnyArray]:
    """Yield the arrays of nested named tuples."""
    for one in state:
        yield from arrays_of(one) if isinstance(one, tuple) else (one,)


def record_array(dtype: np.dtype[Any]) -> Any:
    """Return the compiler's type of an array of records."""
    record: Any = numba.from_dtype(dtype)
    return record[::1]


def struct_loader(kind: Any) -> Callable[[int], Any]:
    """Return an intrinsic with which kernels load a named tuple of a kind from an address.

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
