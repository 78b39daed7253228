"""Kernels of few instructions do what the same functions do in Python."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mbplugin.dynamics.compiler import kernel
from mbplugin.model.spatial import AnyArray

BODY = np.dtype(
    [("pad", "i4"), ("mass", "f8"), ("p", "f8", 3), ("R", "f8", (3, 3)), ("n", "i8", 2)], align=True
)


@kernel
def _ends(a: AnyArray) -> float:
    last = -1
    return a[0] + 10 * a[-1] + 100 * a[last] + 1000 * a[len(a) - 2]


@kernel
def _diagonals(a: AnyArray) -> float:
    total = 0.0
    for i in range(a.shape[0]):
        total = 3 * total + a[i, i] + 2 * a[-1 - i, i] + a[0, -1] + a[i, 1]
    return total


@kernel
def _ranges(a: AnyArray) -> int:
    count = 0
    for i in range(-2, 3):
        for j in range(i, 2):
            count = 2 * count + i * j + int(a[j + 2])
    for _ in range(5, 3):
        count = -1
    for i in range(6, 0, -2):
        count = 2 * count + i
    return count + i


@kernel
def _put(a: AnyArray) -> int:
    for i in range(len(a)):
        a[i] = 2 * i
    a[-1] = 7
    a[1] = a[-2] > 3
    return len(a)


@kernel
def _records(bodies: AnyArray) -> float:
    total = 0.0
    for k in range(len(bodies)):
        body = bodies[k]
        body.n[1] = k + body.n[-2]
        for i in range(3):
            body.p[-i] += body.R[i, 1] * body.R[-1, i] + body.mass
            body.R[i, -1] = body.p[i]
        total = 2 * total + body.p[0] + bodies[-1].R[2, 0] + body.n[1]
    return total


@kernel
def _compared(a: AnyArray) -> int:
    count, numbers = 0, len(a)
    for i in range(numbers):
        for j in range(numbers):
            x, y = a[i], a[j]
            if x < y and x != y and i <= j:
                count += 1
            if x <= y or i > j:
                count += 10
            if x > y and i != j:
                count += 100
            if x >= y or i == 2:
                count += 1000
            if x == y or (x != y and i < j):
                count += 10000
            if x != y and i >= j:
                count += 100000
    return count


@kernel
def _arithmetic(a: AnyArray) -> float:
    # a whole number first, then a real one
    total = 0
    for i in range(len(a)):
        total += a[i] / (i - 2.5 * a[i]) - (i - 3) * a[i] + i / 4
    return total


@kernel
def _row(a: AnyArray, i: int) -> AnyArray:
    return a[i]


@kernel
def _row_sum(a: AnyArray) -> float:
    total = 0.0
    for i in range(len(a)):
        row = _row(a, i)
        part = row[1:]
        total = 2 * total + part[0] + row[-1]
    return total


@kernel
def _sorted_sum(a: AnyArray) -> float:
    made = np.empty(len(a))
    made[:] = a
    made.sort()
    total = 0.0
    for i in range(len(made)):
        total = 2 * total + made[i]
    return total


def _bodies() -> AnyArray:
    bodies = np.zeros(3, BODY)
    bodies["mass"], bodies["n"] = [1, 2, 4], [[1, 2], [3, 4], [5, 6]]
    bodies["p"], bodies["R"] = np.arange(9).reshape(3, 3), np.arange(27).reshape(3, 3, 3)
    return bodies


def _line() -> AnyArray:
    return np.array([3.0, 1.0, 4.0, 1.5, 9.0])


def _square() -> AnyArray:
    return np.arange(16.0).reshape(4, 4) ** 2


CASES: list[tuple[Any, Callable[[], AnyArray]]] = [
    (_ends, _line),
    (_ends, lambda: np.arange(20.0)[::-3]),
    (_ends, lambda: np.arange(7, dtype=np.int32)),
    (_diagonals, _square),
    (_diagonals, lambda: _square().T),
    (_diagonals, lambda: _square()[::2, ::2]),
    (_ranges, _line),
    (_compared, lambda: np.array([1.0, -np.inf, 0.0, np.nan, -0.0, 2.0])),
    (_arithmetic, _line),
    (_arithmetic, lambda: np.array([3, 1, 4], dtype=np.int32)),
    (_put, lambda: np.zeros(5)),
    (_put, lambda: np.zeros((5, 2))[:, 1]),
    (_records, _bodies),
    (_records, lambda: np.concatenate([_bodies()] * 2)[::2]),
    (_row_sum, _square),
    (_row_sum, lambda: _square().T),
    (_sorted_sum, _line),
]


@pytest.mark.long
@pytest.mark.parametrize(("function", "made"), CASES)
def test_a_kernel_does_what_it_does_in_python(function: Any, made: Callable[[], AnyArray]) -> None:
    mine, theirs = made(), made()
    expected = function.py_func(theirs.view(np.recarray) if theirs.dtype.names else theirs)
    assert function(mine) == expected
    np.testing.assert_array_equal(mine, theirs)
    # a compiler leaves errors behind that have what was to be computed
    gc.collect()
    references = sys.getrefcount(mine)
    for _ in range(3):
        function(mine)
    assert sys.getrefcount(mine) == references
