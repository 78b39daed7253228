"""Kernels as plain Python, for a debugger: with ``NUMBA_DISABLE_JIT=1`` nothing is compiled.

The kernels run unchanged on the same memory. What numba gives them has a Python counterpart here: records whose fields
are attributes, structures loaded from an address, and functions called through an address. A vector of lanes has one
lane (:data:`~mbplugin.dynamics.compiler.lanes.LANES`), so that a number of each lane is a plain number.
"""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import cache, wraps
from operator import itemgetter
from typing import Any

import numpy as np
from numba import types as numba_types
from numba.np.numpy_support import as_dtype

from mbplugin.model import AnyArray

types: Any = numba_types  # the stubs leave much out
#: Words of an array in front of its shape: owner, parent, number of elements, size of an element, and address.
_BEFORE_SHAPE = 5
#: Number of structures whose words stay in memory after the call that needed them.
_KEPT = 64
_kept: deque[AnyArray] = deque(maxlen=_KEPT)
#: Functions by the number that stands for their address.
_functions: list[Callable[..., Any]] = []
_calls = threading.local()


# Calls from Python, in which numbers follow IEEE 754 and records get attributes.


def interpreted(function: Callable[..., Any], signature: Any = None) -> Callable[..., Any]:
    """Return a kernel that can be called from Python, and by other kernels, without being compiled.

    Parameters
    ----------
    function : callable
        Plain Python function.
    signature : numba signature, optional
        Types of the arguments of an entry, which are checked as compiled code checks them.

    Returns
    -------
    callable
        Raises TypeError for arguments of other types.
    """

    @wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        if getattr(_calls, "inside", False):
            # another kernel calls: its arguments are prepared already
            return function(*args, **named)
        if signature is not None:
            if len(signature.args) != len(args):
                raise TypeError(f"{function.__name__} takes {len(signature.args)} arguments, not {len(args)}")
            for kind, value in zip(signature.args, args, strict=True):
                if isinstance(kind, types.Array) and not _is_array(kind, value):
                    raise TypeError(f"{function.__name__} takes {kind}, not {value!r}")
        _calls.inside = True
        try:
            with np.errstate(all="ignore"):
                return function(*map(_prepared, args), **{name: _prepared(a) for name, a in named.items()})
        finally:
            _calls.inside = False

    return call


def _prepared(value: Any) -> Any:
    """Return an argument as kernels take it: records with attributes, and numbers whose quotient by zero is infinite.

    Arrays (n, ...) are views of the same memory.
    """
    if isinstance(value, (np.ndarray, np.void)):
        return value.view(_with_attributes(value.dtype)) if value.dtype.names else value
    if isinstance(value, tuple):
        parts = map(_prepared, value)
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return np.float64(value) if type(value) is float else value


@cache
def _with_attributes(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return records of the same memory whose fields are attributes, ten times as fast as those of ``np.recarray``."""
    fields = dtype.fields
    if fields is None:
        return dtype
    names = dtype.names or ()
    layout: Any = {
        "names": names,
        "formats": [_with_attributes(fields[name][0]) for name in names],
        "offsets": [fields[name][1] for name in names],
        "itemsize": dtype.itemsize,
    }
    return np.dtype(
        (type("Record", (np.void,), {name: _attribute(name) for name in names}), np.dtype(layout))
    )


def _attribute(name: str) -> property:
    """Return the attribute with which a record offers one of its fields."""

    def put(record: Any, value: Any) -> None:
        record[name] = value

    return property(itemgetter(name), put)


def _is_array(kind: Any, value: Any) -> bool:
    """Return True if a value is an array (n, ...) of a kind, contiguous, and writable if it has to be."""
    return (
        isinstance(value, np.ndarray)
        and value.ndim == kind.ndim
        and value.dtype == _dtype(kind.dtype)
        and (kind.layout != "C" or value.flags.c_contiguous)
        and (not kind.mutable or value.flags.writeable)
    )


@cache
def _dtype(kind: Any) -> np.dtype[Any]:
    """Return the elements of an array as NumPy has them; a number of each lane is a single one."""
    own: np.dtype[Any] = kind.of_one_lane if hasattr(kind, "of_one_lane") else as_dtype(kind)
    return own


# Addresses of functions and of structures.


def address_of_function(function: Callable[..., Any]) -> int:
    """Return a number that stands for the address of a function; 0 stands for none."""
    _functions.append(function)
    return len(_functions)


def function_at_address(address: int) -> Callable[..., Any]:
    """Return the function that a number stands for."""
    return _functions[address - 1]


def pointer_to(words: Sequence[int]) -> int:
    """Return the address of the words of a structure; they stay there during the calls that need them."""
    _kept.append(np.array(words, dtype=np.int64))
    return int(_kept[-1].ctypes.data)


def structure_loader(kind: Any) -> Callable[[int], Any]:
    """Return a function that loads an integer, an array (n, ...) or a named tuple of these from an address.

    Parameters
    ----------
    kind : numba type

    Returns
    -------
    callable
        Takes the address of words, see :func:`~mbplugin.dynamics.compiler.words_of`; arrays share their memory.
    """
    size, load = _part(kind)
    words = ctypes.c_int64 * size
    return lambda place: load(words.from_address(int(place)), 0)


def _part(kind: Any) -> tuple[int, Callable[[Any, int], Any]]:
    """Return the number of words of a part of a structure, and a function that loads it from there on."""
    if isinstance(kind, types.BaseTuple):
        parts, size = [], 0
        for one in kind:
            length, load = _part(one)
            parts.append((size, load))
            size += length
        made = getattr(kind, "instance_class", lambda *loaded: loaded)
        return size, lambda words, at: made(*[load(words, at + offset) for offset, load in parts])
    if isinstance(kind, types.Integer):
        return 1, lambda words, at: words[at]
    assert isinstance(kind, types.Array), kind
    dtype, first, after = _with_attributes(_dtype(kind.dtype)), _BEFORE_SHAPE, _BEFORE_SHAPE + kind.ndim

    def load_array(words: Any, at: int) -> AnyArray:
        size = words[at + 2] * dtype.itemsize
        memory = (ctypes.c_char * size).from_address(words[at + 4]) if size else b""
        loaded: AnyArray = np.ndarray(tuple(words[at + first : at + after]), dtype, memory)
        return loaded

    return _BEFORE_SHAPE + 2 * kind.ndim, load_array
