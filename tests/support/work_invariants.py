"""What holds for the works of a motion: of what resists and what drives, and their balance."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from along import Along
from between import GAUSS, WEIGHTS, rates_between
from looked import ENERGY, Looked
from mbplugin.model.spatial import Array
from mbplugin.simulation.trajectory.resampling import _coordinates
from resisting import load_power, lost_power, moved_by_tree_rates_alone


def dissipation_never_falls(look: Looked) -> None:
    """Dampers, friction and brakes take energy (τ q̇ ≤ 0), so what is dissipated grows from zero."""
    m = look.motion
    size = 1e-12 * look.at_stake + 1e-15
    assert abs(m.dissipated[0]) <= size, f"{m.dissipated[0]:.3g} J are dissipated at the start"
    falls = np.diff(m.dissipated)
    if falls.size:
        k = int(falls.argmin())
        # where a rate passes zero within a step, its sense is wrong for the rest of it
        size += 1e-9 * look.at_stake
        assert falls[k] >= -size, (
            f"dissipated falls by {-falls[k]:.3g} J after t = {m.time[k]:.6g} s, more than {size:.3g} J"
        )


def dissipation_is_the_work_of_what_resists(look: Looked) -> None:
    """∑∫ τ q̇ dt of all dampers, friction and brakes by their laws is what is said to be dissipated.

    The rates between samples are those of Hermite polynomials, the quadrature is Gauss' over each
    interval: no number of the product's own work integral.
    """
    m, k = look.motion, look.intervals
    if not k.size or look.options.integrator == "variational":
        return
    if m.actions.friction and any(f.load_friction for pair in m.mechanism.pairs for f in pair.freedoms):
        # between samples its load is not known; the balance of energy tells what it takes
        return
    own = _integrate(look, lost_power)
    told = np.diff(m.dissipated)[k]
    _agree(look, told, own, _work_size(look), "dissipated", "∑∫ τ q̇ dt")


def loads_do_their_work(look: Looked) -> None:
    """∫ f·v + m·ω + τ q̇ dt of loads and constant torques is the applied work."""
    m, k = look.motion, look.intervals
    if not k.size or m.actions.controller is not None or look.options.integrator == "variational":
        return
    own = np.zeros(len(k))
    if m.actions.loads or m.actions.torques:
        own = _integrate(look, lambda motion, here, time, segment: load_power(motion, here))
    _agree(look, np.diff(m.applied)[k], own, _work_size(look), "applied", "∫ (f·v + m·ω + τ q̇) dt")


def energy_is_balanced(look: Looked) -> None:
    """T + V changes by what is applied and driven less what is dissipated; at jumps it never grows.

    At an instant at which constraints close the works stay, and the kinetic energy falls by what the
    jump of the rates takes (see ``jumps_are_made_by_what_holds_afterwards``).
    """
    m = look.motion
    if look.options.stabilization != "projection" or len(m.time) < 2:
        return
    total = m.kinetic + m.potential
    change = np.diff(total) - np.diff(m.applied) - np.diff(m.driven) + np.diff(m.dissipated)
    jumps = np.diff(m.time) == 0
    size = look.conserves * look.at_stake + 1e-12
    drift = np.cumsum(np.where(jumps, 0.0, change))
    k = int(np.abs(drift).argmax())
    worst = int(np.abs(np.where(jumps, 0.0, change)).argmax())
    assert abs(drift[k]) <= size, (
        f"the energy balance is open by {drift[k]:.6g} J at t = {m.time[k + 1]:.6g} s, over {size:.3g} J "
        f"(kinetic {m.kinetic[k + 1]:.6g}, potential {m.potential[k + 1] - m.potential[0]:.6g}, dissipated "
        f"{m.dissipated[k + 1]:.6g}, applied {m.applied[k + 1]:.6g}, driven {m.driven[k + 1]:.6g} J); the "
        f"largest part comes after t = {m.time[worst]:.9g} s"
    )
    for name in ("potential", "dissipated", "applied", "driven"):
        moved = np.abs(np.where(jumps, np.diff(getattr(m, name)), 0.0))
        assert moved.max() <= 1e-9 * look.at_stake + 1e-12, (
            f"{name} jumps by {moved.max():.3g} J at t = {m.time[int(moved.argmax())]:.6g} s"
        )


def _work_size(look: Looked) -> float:
    loose = 1.0 if look.smooth else np.inf
    return loose * max(ENERGY, 100 * look.options.rtol) * look.at_stake + 1e-12


def _agree(look: Looked, told: Array, own: Array, size: float, what: str, how: str) -> None:
    """Works in intervals agree, singly and added up."""
    m, k, gap = look.motion, look.intervals, told - own
    worst = int(np.abs(np.cumsum(gap)).argmax())
    n = int(np.abs(gap).argmax())
    assert abs(np.cumsum(gap)[worst]) <= size, (
        f"{what} up to t = {m.time[k[worst] + 1]:.6g} s is {np.cumsum(told)[worst]:.9g} J, and {how} is "
        f"{np.cumsum(own)[worst]:.9g} J, off by {np.cumsum(gap)[worst]:.3g} J, more than {size:.3g} J; the "
        f"largest part, {gap[n]:.3g} J, is from {m.time[k[n]]:.9g} to {m.time[k[n] + 1]:.9g} s"
    )


def _integrate(look: Looked, power: Any) -> Array:
    """Work (k,) of a power in every interval."""
    m, k = look.motion, look.intervals
    h = m.time[k + 1] - m.time[k]
    rates = rates_between(m, k)
    count, nodes, nv = rates.shape
    time = (m.time[k][:, None] + h[:, None] * GAUSS).reshape(-1)
    segment = np.repeat(m.segment[k + 1], nodes)
    poses = np.broadcast_to(m.q[0], (len(time), m.q.shape[1]))
    if not moved_by_tree_rates_alone(m):
        first = np.repeat(k, nodes)
        poses = _coordinates(m, first, first + 1, np.repeat(h, nodes), np.tile(GAUSS, count))
    here = _Lazy(m.mechanism, poses, rates.reshape(-1, nv))
    values = power(m, here, time, segment).reshape(count, nodes)
    return np.asarray(h * (values @ WEIGHTS))


class _Lazy(Along):
    """Kinematics that is computed when a body is asked for."""

    def __init__(self, mech: Any, q: Array, qd: Array) -> None:
        self.mech, self.q, self.qd = mech, q, qd

    @cached_property
    def frames(self) -> Any:  # type: ignore[override]
        return Along(self.mech, self.q, self.qd).frames
