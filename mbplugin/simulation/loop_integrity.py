"""Loops stay closed during a motion: all their rows, those that the rank decision calls dependent as well.

A step projects onto independent rows only. That closes the others too where they are dependent at all poses near, and
opens them along a freedom that is infinitesimal only. Such a freedom is held where it begins, since no motion has it;
and what opens for any other reason ends the motion.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mbplugin.analysis.mobility import finite_mobility
from mbplugin.constraints.rows.planar import plane_columns
from mbplugin.constraints.view import View
from mbplugin.errors import BadUsage
from mbplugin.model.mechanism.coupling import Lock
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import Array
from mbplugin.phrases import listed
from mbplugin.simulation.options import Options
from mbplugin.simulation.projection import CLOSED
from mbplugin.simulation.steppers.kernel_state import KernelState
from mbplugin.simulation.trajectory.measure import measure

#: What a dependent row may open, in scaled rows: what the projection leaves, over the share of a weak row; …
_EXACT = 1e6 * CLOSED
#: … so many times what rounded numbers leave open, or what the kept rows do where nothing projects.
_ROUNDED, _DRIFTED = 10.0, 100.0


@dataclass(frozen=True)
class Opened:
    """A row of a loop that no longer holds.

    Parameters
    ----------
    time : float
        s.
    constraint, component : str
    gap : float
        m or rad.
    """

    time: float
    constraint: str
    component: str
    gap: float

    @property
    def text(self) -> str:
        """The sentence."""
        unit = "m" if self.component[:1] in ("t", "d") else "rad"
        return (
            f"the loops open at t = {self.time:.6g} s: {self.constraint} {self.component} by {self.gap:.3g} {unit};"
            " what moves is a freedom to first order only, which no motion of the mechanism has (see MB506)"
        )


def hold_shaky_joints(
    mech: Mechanism, q: Array, qd: Array, options: Options, timed: Container[str]
) -> tuple[Mechanism, list[str], float]:
    """Hold the joints that are free to first order only, at a closed pose q (nq,).

    Parameters
    ----------
    qd : (nv,) array
        Rates at the start, rad/s and m/s.
    timed : container of str
        Joints that something else locks or leads for a while.

    Returns
    -------
    Mechanism
        With a lock on these joints.
    list of str
        A note where there are any.
    float
        What rounded numbers may leave open in dependent rows, scaled.

    Raises
    ------
    BadUsage
        A rate of such a joint is not zero.
    """
    view = View(mech, q, plane_columns(options.planar), options.tolerance)
    rounded = max((b.sigma_next for b in view.blocks if b.redundancy), default=0.0)
    rates = [
        rate for block in finite_mobility(view, 0).shaky for rate in (block.shaky_rates, block.held_rates)
    ]
    names = list(mech.qd_names)
    fixed, held = ({name for group in rates[k::2] for name in group} for k in (0, 1))
    if not held:
        return mech, [], rounded
    scale = max(1.0, float(np.abs(qd).max(initial=0.0)))
    if moving := [name for name in names if name in fixed and abs(qd[names.index(name)]) > 1e-9 * scale]:
        raise BadUsage(
            f"{listed(moving, 4)} cannot move: free to first order only, as the loops have no pose beside this one",
            expected="a rate of 0",
            remedy="start along a freedom of motion, or weaken a closure of the loop (mbplugin lint names it)",
        )
    locks = []
    for joint in mech.tree.joints:
        if joint.pair is None or joint.pair.name in timed:
            continue
        freedoms = tuple(
            freedom
            for freedom, name in zip(joint.pair.kind.free, names[joint.qd], strict=True)
            if name in held
        )
        if freedoms:
            locks.append(Lock(joint.pair.name, freedoms=freedoms))
    note = (
        f"{listed(sorted(fixed, key=names.index), 6)} cannot move and "
        f"{'stays' if len(fixed) == 1 else 'stay'}: free to first order only (see MB506); forces along that freedom"
        " have no finite reactions in a rigid model, those of the lock stand for them"
    )
    return replace(mech, locks=(*mech.locks, *locks)), [note] if locks else [], rounded


class GapWatch:
    """Looks whether all rows of the mechanism still hold.

    Parameters
    ----------
    labels : sequence of (str, str)
        Constraint and component of each row.
    units : (m,) array
        The factors that make residuals of rows dimensionless.
    rounded : float
        What rounded numbers may leave open, scaled.
    projected : bool
        Whether the steps are projected on the rows.
    """

    def __init__(
        self, labels: Sequence[tuple[str, str]], units: Array, rounded: float, projected: bool
    ) -> None:
        self._labels, self._units = labels, units
        self._rounded, self._projected = rounded, projected
        self._start: Array | None = None

    def opened(self, m: KernelState, time: float, q: Array, qd: Array) -> Opened | None:
        """Return the row that is open farthest at a state q (nq,), qd (nv,); none at the first look."""
        gaps = measure(m, len(self._labels), np.array([time]), q[None], qd[None])[2]
        if self._start is None:
            self._start = gaps
        scaled = self._units * gaps
        allowed = max(_EXACT, _ROUNDED * self._rounded)
        if not self._projected:
            kept = m.independent_rows[m.independent_rows < len(scaled)]
            allowed = max(allowed, _DRIFTED * float(scaled[kept].max(initial=0.0)))
        over = scaled - np.maximum(allowed, _ROUNDED * self._units * self._start)
        k = int(over.argmax())
        if over[k] <= 0.0:
            return None
        return Opened(time, self._labels[k][0], self._labels[k][1], float(gaps[k]))
