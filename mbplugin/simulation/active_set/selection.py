"""Which of some flags are true, and which number is the least or the largest, written out.

The compiler takes as long for one of NumPy's reductions as for several kernels, and builds each anew for every
type of its arguments.
"""

from __future__ import annotations

import numpy as np

from mbplugin.dynamics.compiler.jit import kernel
from mbplugin.model.spatial import AnyArray, Array


@kernel
def true_positions(flags: AnyArray) -> AnyArray:
    """Return the positions (k,) of those of flags (n,) that are true."""
    count = 0
    for i in range(len(flags)):
        count += flags[i]
    out = np.empty(count, dtype=np.int64)
    count = 0
    for i in range(len(flags)):
        if flags[i]:
            out[count] = i
            count += 1
    return out


@kernel
def largest_size(a: Array) -> float:
    """Return the largest absolute value of a (n,); 0 of none."""
    found = 0.0
    for i in range(len(a)):
        found = max(found, abs(a[i]))
    return found


@kernel
def place_of_least(a: Array) -> int:
    """Return the position of the smallest of a (n,), the first of equal ones; 0 of none."""
    place = 0
    for i in range(1, len(a)):
        if a[i] < a[place]:
            place = i
    return place
