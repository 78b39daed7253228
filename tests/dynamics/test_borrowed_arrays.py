"""Kernels that count no references to arrays: nothing is freed that is used, and nothing is left behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numba
import numpy as np
import pytest

import mbplugin as mb
from mbplugin.dynamics.compiler import kernel
from mbplugin.dynamics.compiler.dispatch import Kernel
from mbplugin.model.spatial import Array
from places import ROOT

memory: Any = numba.core.runtime._nrt_python


@pytest.fixture
def alive() -> Iterator[Callable[[], int]]:
    """Return how many blocks of arrays that kernels made are not freed."""
    enabled = memory.memsys_stats_enabled()
    memory.memsys_enable_stats()
    yield lambda: memory.memsys_get_stats_alloc() - memory.memsys_get_stats_free()
    if not enabled:
        memory.memsys_disable_stats()


@kernel
def same(a: Array) -> Array:
    return a


@kernel
def row_of(a: Array, i: int) -> Array:
    return a[i]


@kernel
def doubled(a: Array) -> Array:
    return a + a


@kernel
def total(a: Array) -> float:
    out = 0.0
    for i in range(len(a)):
        out += a[i]
    return out


@kernel
def filled_by_others(n: int) -> float:
    a, out = np.ones((2, n)), 0.0
    for i in range(2):
        row = row_of(same(a), i)
        out += total(doubled(row)) + total(row)
    return out + total(a[0])


def test_arrays_that_kernels_hand_on_live_as_long_as_they_are_used(alive: Callable[[], int]) -> None:
    assert filled_by_others(1000) == 7000.0
    before = alive()
    for _ in range(100):
        assert filled_by_others(1000) == 7000.0
    assert alive() == before


def test_a_kernel_returns_its_argument_to_python() -> None:
    a = np.arange(3.0)
    kept = [same(a) for _ in range(100)]
    del kept
    assert np.array_equal(same(a), [0.0, 1.0, 2.0])


def test_motions_and_stops_leave_no_array_behind(alive: Callable[[], int]) -> None:
    arm, loop = (mb.load(ROOT / "assets" / f"{name}.scene.toml") for name in ("arm_6r", "four_bar"))

    def run() -> None:
        mb.simulate(loop, 0.01)
        mb.estop(arm, qd={"j1": 0.5})

    run()
    before = alive()
    run()
    assert alive() == before


def test_only_a_kernel_with_arrays_of_its_own_counts() -> None:
    """A count stops the processor for as long as twenty multiplications; it is a call in the translated code."""
    vector = numba.float64[::1]
    signatures = {
        total: (vector,),
        same: (vector,),
        row_of: (numba.float64[:, ::1], numba.int64),
        doubled: (vector,),
    }
    counting = {}
    for one, signature in signatures.items():
        # translated anew: what is kept on disk has no text
        made = Kernel(one.py_func, {"nopython": True}, None)
        made.compile(signature)
        (code,) = (overload.library.get_llvm_str() for overload in made.overloads.values())
        assert one.__name__ in code
        counting[one.__name__] = "NRT_" in code
    assert counting == {"total": False, "same": True, "row_of": True, "doubled": True}
