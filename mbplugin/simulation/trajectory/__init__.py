"""The trajectory of a motion: samples, reactions, energies, files and plots; here the numbers at its samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.model.brakes import AppliedForces
from mbplugin.model.mechanism import Constraint, Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Array, make_read_only
from mbplugin.simulation import MotionRange
from mbplugin.simulation.options import Outcome
from mbplugin.simulation.passing_marks import Event

if TYPE_CHECKING:
    from mbplugin.joint_reactions.stiffness_estimate import Section
    from mbplugin.simulation.steppers import Leading
    from mbplugin.simulation.trajectory.record import Playback


@dataclass(frozen=True, eq=False)
class StatedStiffness:
    """Stated flexibility: compliance (6, 6) of pairs and sections of bodies, by name."""

    pairs: Mapping[str, Array]
    sections: Mapping[str, Section]

    def __bool__(self) -> bool:
        return bool(self.pairs or self.sections)


@dataclass(frozen=True, eq=False)
class Samples:
    """The fields of :class:`~mbplugin.simulation.trajectory.trajectory.Trajectory`, which documents them."""

    mechanism: Mechanism
    actions: AppliedForces
    time: Array
    q: Array
    qd: Array
    qdd: Array
    kinetic: Array
    potential: Array
    dissipated: Array
    applied: Array
    driven: Array
    active: tuple[tuple[str, ...], ...]
    segment: Array
    residuals: dict[str, float]
    events: tuple[Event, ...] = ()
    outcome: Outcome = "completed"
    notes: tuple[str, ...] = ()
    planar: str | None = None
    redundancy: str = "eliminate"
    degree_of_redundancy: int = 0
    statistics: dict[str, float] = field(default_factory=dict)
    held: tuple[Constraint, ...] = ()
    coordinates: str = "joint"
    dropped: tuple[tuple[str, str], ...] = ()
    tolerance: float = DEFAULT_TOLERANCE
    independent: tuple[Leading, ...] = ()
    playback: Playback | None = field(default=None, repr=False)
    stiffness: StatedStiffness | None = field(default=None, repr=False)
    motion_range: MotionRange | None = field(default=None, repr=False)

    @property
    def pair_names(self) -> tuple[str, ...]:
        """Names of all pairs, including timed closures."""
        return (*self.mechanism.pair_by_name, *(c.name for c in self.held if isinstance(c, Pair)))

    @cached_property
    def momenta(self) -> Array:
        """Generalised momenta M(q) q̇ (T, nv), in the order of ``qd``: N·m·s for rotations, N·s for translations.

        M includes the payloads and the inertia of the drives. It is that of the tree in space: a planar view, closures
        and drivers do not change it. When a constraint closes, momenta change by the generalised impulses along the
        rates; momenta without an impulse are continuous.
        """
        # pages of lints import this module, and no kernels
        from mbplugin.dynamics.kernels import move
        from mbplugin.dynamics.kernels.articulated import factor, mass_matrix
        from mbplugin.dynamics.tree_model import tree_model

        model = tree_model(self.mechanism, self.actions)
        out, M = np.empty(self.qd.shape), np.empty((len(model.rates), len(model.rates)))
        for k, (q, qd) in enumerate(zip(self.q, self.qd, strict=True)):
            move(model.composites, model.rates, q, qd)
            factor(model.composites, model.rates)
            mass_matrix(model.composites, model.rates, M)
            out[k] = M @ qd
        make_read_only(out)
        return out
