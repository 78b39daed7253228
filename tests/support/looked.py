"""A motion as the invariants look at it: samples, intervals and energies, each found once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from along import Along, energies
from balance import Balance
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.options import Options
from mbplugin.simulation.trajectory.trajectory import Trajectory

#: Share of the energies at stake by which works and balances may be off (the error of the integrator).
ENERGY = 1e-6
#: Intervals, samples and instants that are looked at in a motion of any length.
_INTERVALS, _SAMPLES, INSTANTS = 300, 300, 8


@dataclass(frozen=True, eq=False)
class Looked:
    """A motion, how it was computed, and what several invariants need of it."""

    motion: Trajectory
    options: Options

    @cached_property
    def samples(self) -> AnyArray:
        """Samples that are looked at: evenly spread, and those beside every event."""
        return spread(len(self.motion.time), _SAMPLES, self.beside_events)

    @cached_property
    def beside_events(self) -> AnyArray:
        twice = np.flatnonzero(np.diff(self.motion.time) == 0)[: _SAMPLES // 4]
        return np.union1d(np.union1d(twice, twice + 1), [0, len(self.motion.time) - 1])

    @cached_property
    def intervals(self) -> AnyArray:
        """First samples of intervals that are looked at."""
        lengths = np.diff(self.motion.time)
        found = np.flatnonzero(lengths > 1e-12 * (1.0 + self.motion.time[-1]))
        return found[spread(len(found), _INTERVALS)] if len(found) else found

    @cached_property
    def here(self) -> Along:
        return Along(self.motion.mechanism, self.motion.q[self.samples], self.motion.qd[self.samples])

    @cached_property
    def energies(self) -> tuple[Array, Array]:
        return energies(self.motion, self.here)

    @cached_property
    def at_stake(self) -> float:
        """Energy that comes and goes in this motion, J."""
        m = self.motion
        kinetic, potential = self.energies
        return float(
            kinetic.max(initial=0.0)
            + np.ptp(potential)
            + sum(np.abs(w).max(initial=0.0) for w in (m.dissipated, m.applied, m.driven))
        )

    @cached_property
    def fastest(self) -> float:
        return float(np.abs(self.motion.qd).max(initial=0.0))

    @property
    def conserves(self) -> float:
        """Share of the energy at stake by which this integrator may be off."""
        o = self.options
        if o.integrator == "dop853":
            return max(ENERGY, 100 * o.rtol)
        # the error of a fixed step is the user's choice; that of the default one, 1 ms, is small
        return 1e-4 if o.integrator == "rk4" and (o.step or 1e-3) <= 1e-3 else np.inf

    @property
    def smooth(self) -> bool:
        """Whether no function of a user's acts, which may jump where it likes."""
        return self.motion.actions.controller is None and not self.options.profiles

    @cached_property
    def balance(self) -> Balance:
        return Balance(self.motion, self.options.rtol)


def spread(count: int, most: int, always: AnyArray | None = None) -> AnyArray:
    """Up to ``most`` indices below ``count``, evenly spread, and some that are always among them."""
    if count <= most:
        return np.arange(count)
    found = np.unique(np.linspace(0, count - 1, most).round().astype(int))
    return found if always is None else np.union1d(found, always).astype(int)


def hold_below(look: Looked, gap: Array, size: float, text: str, unit: str) -> None:
    k = int(gap.argmax())
    time = look.motion.time[look.samples[k]]
    assert gap[k] <= size, f"{text} {gap[k]:.3g} {unit} at t = {time:.9g} s, more than {size:.3g}"
