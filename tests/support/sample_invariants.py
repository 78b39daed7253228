"""What holds for ``resample``: at samples, and between them."""

from __future__ import annotations

import numpy as np

from along import loop_gaps
from between import GAUSS, WEIGHTS
from looked import INSTANTS, Looked, hold_below, spread
from state_invariants import energies_are_those_of_the_states, forces_are_admissible, what_holds_stands_still


def samples_are_returned(look: Looked) -> None:
    """``resample`` at a sample returns the sample: both of an instant that has two."""
    m = look.motion
    at = spread(len(m.time), INSTANTS, look.beside_events[:INSTANTS])
    # a time names both of two samples, and of more the first and the last
    _, place, counts = np.unique(m.time, return_inverse=True, return_counts=True)
    at = at[counts[place[at]] <= 2]
    at = np.flatnonzero(np.isin(place, place[at]))
    if not at.size:
        return
    back = m.resample(m.time[at])
    for name in ("q", "qd", "qdd", "kinetic", "potential", "dissipated", "applied", "driven"):
        there, sample = getattr(back, name), getattr(m, name)[at]
        size = 1e-9 * (1.0 + np.abs(sample).max(initial=0.0))
        gap = np.abs(there - sample).reshape(len(at), -1).max(axis=1, initial=0.0)
        n = int(gap.argmax())
        assert gap[n] <= size, (
            f"{name} of the sample at t = {m.time[at[n]]:.9g} s is off by {gap[n]:.3g} when resampled there, "
            f"more than {size:.3g}"
        )
    assert (back.segment == m.segment[at]).all(), "resampling at samples changes what holds"


def between_samples_all_holds(look: Looked) -> None:
    """Between samples the motion is that of its equations, to the tolerance of the integrator.

    Closures hold, what sticks stands still, M q̈ = F + Cᵀλ with admissible forces, and from one sample to
    the next q̇ changes by ∫ q̈ dt and q by ∫ q̇ dt (Gauss' rule of six nodes).
    """
    m = look.motion
    if not look.intervals.size or not look.smooth or look.options.stabilization != "projection":
        return
    if look.options.integrator != "dop853" or m.playback is None:
        # a motion that ran out of seconds is interpolated, and says so
        return
    k = look.intervals[spread(len(look.intervals), 8)]
    h = m.time[k + 1] - m.time[k]
    dense = m.resample((m.time[k][:, None] + h[:, None] * GAUSS).reshape(-1))
    there = Looked(dense, look.options)
    size = 100 * max(look.options.rtol, look.options.atol)
    place, rate = loop_gaps(there.here)
    hold_below(there, place, size, "between samples a loop is open by", "m or rad")
    hold_below(there, rate, size * (1 + look.fastest), "between samples a loop opens at", "m/s or rad/s")
    what_holds_stands_still(there)
    energies_are_those_of_the_states(there)
    forces_are_admissible(there, 16)
    names = m.mechanism.q_names
    plain = [(names.index(name), n) for n, name in enumerate(m.mechanism.qd_names) if name in names]
    rises = (m.qd[k + 1] - m.qd[k], (m.q[k + 1] - m.q[k])[:, [i for i, _ in plain]])
    slopes = (dense.qdd, dense.qd[:, [n for _, n in plain]])
    for rise, slope, what in zip(rises, slopes, ("rates", "coordinates"), strict=True):
        own = h[:, None] * np.einsum("g,kgn->kn", WEIGHTS, slope.reshape(len(k), len(GAUSS), -1))
        gap = np.abs(own - rise).max(axis=1, initial=0.0)
        n = int(gap.argmax())
        limit = size * (1.0 + float(np.abs(rise).max(initial=0.0)))
        assert gap[n] <= limit, (
            f"from t = {m.time[k[n]]:.9g} to {m.time[k[n] + 1]:.9g} s the {what} change otherwise than the "
            f"integral of their slopes between: off by {gap[n]:.3g}, more than {limit:.3g} (SI)"
        )
