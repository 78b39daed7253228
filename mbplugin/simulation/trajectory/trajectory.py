"""The trajectory of a motion: time, state, energy, residuals, events, and reactions on demand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.errors import BadNumber, UnknownName, suggestion
from mbplugin.files import replacing
from mbplugin.model import AnyArray, Array, make_read_only
from mbplugin.phrases import counted, one_line
from mbplugin.rendering import Result
from mbplugin.simulation.trajectory import PointMotion, Samples, body_motions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mbplugin.simulation.trajectory.wrenches import AxisForces, JointWrenches


@dataclass(frozen=True, eq=False)
class Trajectory(Samples, Result):
    """A motion, sampled at T times. An event has two samples, before and after it.

    Parameters
    ----------
    mechanism : Mechanism
    actions : AppliedForces
        Forces other than gravity.
    time : (T,) array
        s, not decreasing.
    q : (T, nq) array
        Joint coordinates in the order of ``q_names``, rad, m and quaternions xyzw.
    qd, qdd : (T, nv) array
        Joint rates and accelerations in the order of ``qd_names``.
    kinetic, potential : (T,) array
        J; the zero is at the world origin for gravity, and at rest length for springs.
    dissipated, applied, driven : (T,) array
        Work since the start, J: lost in dampers and friction (not negative), done by loads, torques and
        controllers, done by drivers. Kinetic + potential energy changes by applied + driven − dissipated, and
        drops when a constraint closes.
    active : tuple of tuple of str
        Names of the active constraints besides the mechanism's own, by segment.
    segment : (T,) array of int
        Index into ``active`` for each sample.
    residuals : dict of str to float
        Largest position residual of every closing constraint over the motion, m or rad.
    events : tuple of Event
    outcome : str
        ``completed``, ``stopped`` (it came to rest, if that is to end it), ``limit_hit``, ``event`` (a
        user function stopped it), ``interrupted``, ``budget_spent`` (time, memory or events, see ``notes``),
        ``singular``, ``step_too_small``, ``loop_opened`` (a row of a loop, possibly a dependent one, is violated, see
        ``notes``), or ``failed`` (with an error, see ``notes``);
        ``singular_transition`` if constraints close at a singular pose, and
        ``contradictory_transition`` if no rates satisfy them all.
    notes : tuple of str
        Changes and assumptions, one sentence each.
    planar : str or None
    redundancy : str
        The handling of redundant rows, which selects the values of non-unique reactions.
    degree_of_redundancy : int
    held : tuple of Constraint
        Timed constraints other than locks; closures with their pose at the start of the interval.
    coordinates : "joint" or "absolute"
        Rows over which ``redundancy`` distributes the reactions: closing rows only, or those of every pair.
    dropped : tuple of (constraint, component)
        Redundant rows with zero multipliers.
    tolerance : float
        The relative rank tolerance of the computation.
    independent : tuple of Leading
        Independent joint rates, and the time (s) from which they apply: one entry for the start and
        one for each change. For formulations ``closing`` and ``partitioning``; empty for all others.
    playback : Playback or None
        Integrates the motion again between its samples; None if only samples are known.
    stiffness : StatedStiffness or None
        Determines the reactions that the rigid model does not.
    motion_range : MotionRange or None
        Range of the accelerations at the first sample that slides, if friction depends on forces that the rigid model
        does not determine: then the motion is one of many. None if it is unique.
    """

    def __repr__(self) -> str:
        facts = (f"{self.time[-1] - self.time[0]:.6g} s", counted(len(self.time), "sample"), self.outcome)
        events = counted(len(self.events), "event")
        return one_line(self, self.mechanism.name, (*facts, events, f"tolerance {self.tolerance:g}"))

    @property
    def joint_names(self) -> tuple[str, ...]:
        """Names of the joint rates, in the order of ``qd``."""
        return self.mechanism.qd_names

    @property
    def energy(self) -> Array:
        """Kinetic plus potential energy (T,), J."""
        return self.kinetic + self.potential

    def reactions(self, pair: str) -> Array:
        """Return the reaction of a pair at every sample.

        A non-unique reaction (see :meth:`uniqueness`) has one of its possible values, selected by ``redundancy``
        and ``dropped`` among the rows of ``coordinates``. A controller is called again at every sample.

        Returns
        -------
        (T, 6) array
            [f; m] on the successor at the origin of S, axes of P, N and N·m: the values of the constrained
            components, zero in free ones.

        Raises
        ------
        UnknownName
            Not a pair of the mechanism.
        """
        self._require(pair, self.pair_names, "pair")
        return self._wrenches.of_pair[pair]

    def transmitted(self, pair: str) -> Array:
        """Return the total wrench that a pair transmits, (T, 6).

        It is :meth:`reactions` plus the forces of drives, brakes, friction and springs along the freedoms.

        Raises
        ------
        UnknownName
            Not a pair of the mechanism.
        """
        self._require(pair, self.pair_names, "pair")
        return self._wrenches.transmitted[pair]

    def axis_forces(self, joint: str) -> AxisForces | None:
        """Return the forces along the freedom of a joint: total, drive, brake, friction.

        Return None if the joint does not have exactly one freedom.

        Raises
        ------
        UnknownName
            Not a pair of the mechanism.
        """
        from mbplugin.simulation.trajectory.wrenches import axis_forces

        self._require(joint, tuple(self.mechanism.pair_by_name), "pair")
        return axis_forces(self, self._wrenches, joint)

    def multipliers(self, constraint: str) -> Array:
        """Return the multipliers (T, k) of a driver, lock, coupling or wheel, N and N·m, row by row.

        They are zero while the constraint is not active, and may be non-unique in loops.

        Raises
        ------
        UnknownName
            A pair, an unknown constraint, or one that was never active.
        """
        self._require(constraint, tuple(self._wrenches.of_rest), "driver, lock, coupling or wheel")
        return self._wrenches.of_rest[constraint]

    def braking(self, joint: str) -> Array:
        """Return the force of the brake of a joint at every sample, (T,), N·m or N along the joint's freedom.

        It is zero before the brake engages. While the brake holds, it includes dry friction of the same joint.

        Raises
        ------
        UnknownName
            A joint without a brake in this motion.
        """
        self._require(joint, tuple(self._wrenches.of_brake), "braked joint")
        return self._wrenches.of_brake[joint]

    def uniqueness(self, pair: str) -> AnyArray:
        """Return flags (T, 6) of the components of a pair's reaction that the rigid model determines.

        They are computed for every set of active constraints, at poses of the motion that are not
        singular; a free component is zero and counts as determined.
        """
        self._require(pair, self.pair_names, "pair")
        return self._determined[pair]

    def determined(self, pair: str) -> AnyArray:
        """Return flags (T, 6) of the components of a pair's reaction that are determined.

        Either the rigid model or the stated stiffness determines them.
        """
        return self._wrenches.determined[pair] if self.stiffness else self.uniqueness(pair)

    def point(self, body: str, p_L: Sequence[float] | Array = (0.0, 0.0, 0.0)) -> PointMotion:
        """Return the path and the velocity of a point fixed in a body, at every sample.

        Parameters
        ----------
        p_L : (3,) sequence
            The point in the body's link frame, m; by default the frame's origin.

        Raises
        ------
        UnknownName
            Not a body of the mechanism.
        BadNumber
            Not three finite numbers.
        """

        self._require(body, tuple(self.mechanism.body_index), "body")
        try:
            place = np.array(p_L, dtype=float)
        except (TypeError, ValueError):
            place = np.empty(0)
        if place.shape != (3,) or not np.isfinite(place).all():
            raise BadNumber(f"the point of {body!r} is {p_L}", expected="three finite numbers, m")
        found = body_motions(self.mechanism, self.q, self.qd).point(self.mechanism.body_index[body], place)
        make_read_only(*found)
        return PointMotion(*found)

    def resample(self, times: Sequence[float] | Array) -> Trajectory:
        """Return the motion at other times (s, in order).

        At the time of a sample, the result is that sample; if there are several (at a jump), the last one, or
        the first and the last if the time is given twice. Between samples, the equations of
        motion are integrated again from the sample before, to the tolerance of the run; a controller
        is called again. A trajectory with samples only is interpolated, but never across a jump.
        """
        from mbplugin.simulation.trajectory.resampling import resample

        return resample(self, times)

    def save(self, path: str | Path = "", *, reactions: Sequence[str] = ()) -> None:
        """Write to ``.npz`` (arrays) or ``.csv`` (a table with units), with the reactions of the given pairs.

        Without reactions, the formats of all results can be written too: ``.json``, ``.html``, ``.txt`` and ``.xlsx``.
        """
        if not reactions or not str(path):
            super().save(path)
            return
        from mbplugin.simulation.trajectory.resampling import require_ending, write

        require_ending(Path(path))
        with replacing(Path(path)) as temporary:
            write(self, temporary, {pair: self.reactions(pair) for pair in reactions})

    def _writers(self) -> Mapping[str, Callable[[Path], object]]:
        from mbplugin.simulation.trajectory.resampling import ENDINGS, write

        return {ending: partial(write, self) for ending in ENDINGS}

    def plot(self, path: str | Path | None = None) -> Figure:
        """Plot coordinates, rates, momenta and energies into a file, or in a window; needs matplotlib."""
        from mbplugin.simulation.trajectory.resampling import plot

        return plot(self, path)

    @cached_property
    def _wrenches(self) -> JointWrenches:
        from mbplugin.simulation.trajectory.wrenches import joint_wrenches

        return joint_wrenches(self)

    @cached_property
    def _determined(self) -> dict[str, AnyArray]:
        from mbplugin.simulation.trajectory.wrenches import determined_components

        return determined_components(self)

    @staticmethod
    def _require(name: str, known: tuple[str, ...], kind: str) -> None:
        if name not in known:
            raise UnknownName(f"there is no {kind} {name!r}", remedy=suggestion(name, known))
