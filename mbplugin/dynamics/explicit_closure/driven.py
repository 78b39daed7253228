"""Rheonomic closing conditions: independent coordinates that drivers prescribe as functions of time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from mbplugin.dynamics.explicit_closure.layout import Layout
from mbplugin.model.mechanism.coupling import Driver


@dataclass(frozen=True)
class Led:
    """A rate that a driver leads.

    Parameters
    ----------
    rate, at : int
        Its place among ``qd_names``, and that of its coordinate among ``q_names``.
    """

    driver: Driver
    rate: int
    at: int


def led_rates(layout: Layout, among: Collection[int]) -> tuple[Led, ...]:
    """Return the rates ``among`` those given that drivers lead; a closing joint has none of its own."""
    found: dict[int, Led] = {}
    for driver in layout.mech.drivers:
        if driver.joint not in layout.places or layout.is_cut(driver.joint):
            continue
        at, rate = layout.places[driver.joint]
        free = layout.mech.pair_by_name[driver.joint].kind.free
        for freedom in driver.freedoms or free:
            k = free.index(freedom)
            if rate + k in among:
                found[rate + k] = Led(driver, rate + k, at + k)
    return tuple(found.values())
