"""Which rates of a tree are held (locked, led by a drive, stuck): the recursion takes nothing out for them."""

from __future__ import annotations

from mbplugin.dynamics.compiler.jit import Records, kernel
from mbplugin.dynamics.kernels.rows import RATE
from mbplugin.model.spatial import AnyArray


@kernel
def hold_rates(rates: Records, rows: Records, independent_rows: AnyArray) -> bool:
    """Hold the rates of ``independent_rows`` (r,) where no row is of anything but a rate; return whether.

    Such rows of a tree never depend on each other.
    """
    if len(independent_rows) == 0:
        return False
    for i in range(len(rows)):
        if rows[i].kind != RATE:
            return False
    for j in range(len(rates)):
        rates[j].held = False
    for i in range(len(independent_rows)):
        joint_rate = rates[rows[independent_rows[i]].rate]
        if joint_rate.held:
            return False
        joint_rate.held = True
    return True


@kernel
def any_held(rates: Records) -> bool:
    """Return whether a rate is held."""
    # a generator in any() is not compiled
    for j in range(len(rates)):  # noqa: SIM110
        if rates[j].held:
            return True
    return False
