"""What holds at every sample and every jump of a motion: energies, constraints, forces, impulses."""

from __future__ import annotations

import numpy as np

from along import loop_gaps
from looked import INSTANTS, Looked, hold_below, spread
from mbplugin.constraints.rank import rank_blocks
from mbplugin.constraints.rows import plane_columns
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.spatial import AnyArray
from mbplugin.simulation.trajectory.trajectory import Trajectory

#: A rate that is held is zero up to this share of the largest one.
_RATE = 1e-7


def numbers_are_finite_and_in_order(look: Looked) -> None:
    """Times do not decrease, and every array is finite and has one entry per sample."""
    m = look.motion
    assert (np.diff(m.time) >= 0).all(), f"time decreases by {-np.diff(m.time).min():.3g} s"
    for name in ("q", "qd", "qdd", "kinetic", "potential", "dissipated", "applied", "driven"):
        values = getattr(m, name)
        assert len(values) == len(m.time), f"{name} has {len(values)} entries for {len(m.time)} samples"
        assert np.isfinite(values).all(), f"{name} is not finite at sample {_first(~np.isfinite(values))}"


def energies_are_those_of_the_states(look: Looked) -> None:
    """T = ∑ ½ m v² + ½ ωᵀJω + ½ a q̇² and V = −∑ m g·p + springs, from poses and twists by plain numpy."""
    m, at = look.motion, look.samples
    for name, own in zip(("kinetic", "potential"), look.energies, strict=True):
        gap = np.abs(getattr(m, name)[at] - own)
        size = 1e-10 * (np.abs(own).max(initial=0.0) + look.at_stake)
        k = int(gap.argmax())
        assert gap[k] <= size + 1e-13, (
            f"{name} energy at t = {m.time[at[k]]:.6g} s is {getattr(m, name)[at[k]]:.12g} J, and from the "
            f"state it is {own[k]:.12g} J: off by {gap[k]:.3g} J, more than {size:.3g} J"
        )


def loops_stay_closed(look: Looked) -> None:
    """Pairs that close loops, couplings and drivers hold in position and rate (C q̇ + b = 0) at samples.

    Rows that rounding alone keeps apart (the Minitaur's 1.57075) cannot all hold but up to that rounding.
    """
    if look.options.stabilization != "projection":
        return
    here, m = look.here, look.motion
    place, rate = loop_gaps(here)
    size = 1e-4 if place.size and place.max() > 1e-7 and rounds_to_redundancy(m) else 1e-7
    hold_below(look, place, size, "a loop is open by", "m or rad")
    if m.outcome != "loop_opened":
        # a motion that ends because a loop is about to open says so
        hold_below(look, rate, size * (1.0 + look.fastest), "a loop opens at", "m/s or rad/s")
    freedoms = {pair.name: pair for pair in m.mechanism.pairs}
    for coupling in m.mechanism.couplings:
        total = sum(t.coefficient * here.rate(freedoms[t.joint], t.freedom) for t in coupling.terms)
        text = f"coupling {coupling.name!r} is violated at"
        hold_below(look, np.abs(total), 1e-7 * (1.0 + look.fastest), text, "rad/s or m/s")
    for driver in m.mechanism.drivers:
        if driver.name not in look.options.profiles:
            wanted = np.array([driver.at(float(t))[1] for t in m.time[look.samples]])
            for freedom in driver.freedoms or freedoms[driver.joint].kind.free:
                gap = np.abs(here.rate(freedoms[driver.joint], freedom) - wanted)
                text = f"driver {driver.name!r} is not followed, off by"
                hold_below(look, gap, 1e-7 * (1.0 + look.fastest), text, "rad/s or m/s")


def rounds_to_redundancy(m: Trajectory) -> bool:
    """Whether rows are redundant at the usual tolerance, and independent at one of rounding."""
    found = [
        sum(
            block.redundancy
            for block in rank_blocks(
                m.mechanism, forward(m.mechanism, m.q[0]), plane_columns(None), t, m.q[0]
            )
        )
        for t in (1e-4, 1e-9)
    ]
    return found[0] > found[1]


def what_holds_stands_still(look: Looked) -> None:
    """While friction or a brake sticks, or a lock is closed, the rate of its freedom is zero."""
    m, here = look.motion, look.here
    if look.options.stabilization != "projection":
        return
    pairs = m.mechanism.pair_by_name
    segment = m.segment[look.samples]
    size = _RATE * look.fastest + 2e-9
    for name in sorted({name for names in m.active for name in names}):
        kind, _, joint = name.partition(" ")
        pair = pairs.get(joint)
        if kind not in ("friction", "brake", "lock") or pair is None or len(pair.kind.free) != 1:
            continue
        holding = np.array([name in names for names in m.active])[segment]
        rate = np.where(holding, np.abs(here.rate(pair, pair.kind.free[0])), 0.0)
        hold_below(look, rate, size, f"{name!r} is said to hold, and its rate is", "rad/s or m/s")


def forces_are_admissible(look: Looked, most: int) -> None:
    """At samples M q̈ = F + Cᵀλ with forces that the laws allow (wojtyra2013 (8), Coulomb).

    What slides resists with its dry part against the rate; what sticks takes any force up to its static
    part, alone or shared with others that depend on it; locks, drives and closures take any.
    """
    m = look.motion
    if look.options.stabilization != "projection" or m.planar or not look.smooth:
        return
    if look.options.transition != "consistent":
        return
    at = spread(len(m.time), most, look.beside_events[: most // 2])
    for k in at:
        if not _passes_singular(m, float(m.time[k])):
            look.balance.require(int(k))


def _passes_singular(m: Trajectory, time: float) -> bool:
    """Whether a sample is at a pose whose constraints are said to lose rank."""
    return any(e.kind == "singular" and abs(e.time - time) < 1e-9 for e in m.events)


def jumps_are_made_by_what_holds_afterwards(look: Looked) -> None:
    """M (q̇₊ − q̇₋) = J₊ᵀΛ with rows that hold after the instant, J₊ q̇₊ + b = 0 (mueller2026 (22), (24)).

    Friction and brakes give no impulse: their forces are bounded. Of constraints at rest the kinetic
    energy then falls by ½ Δq̇ᵀMΔq̇ (Carnot).
    """
    m = look.motion
    if look.options.transition != "consistent" or m.planar or look.options.stabilization != "projection":
        return
    for k in np.flatnonzero(np.diff(m.time) == 0)[:INSTANTS].tolist():
        if np.abs(m.qd[k + 1] - m.qd[k]).max(initial=0.0) > 1e-6 * look.fastest + 1e-9:
            look.balance.require_jump(k)


def _first(wrong: AnyArray) -> int:
    return int(np.argwhere(wrong)[0][0])
