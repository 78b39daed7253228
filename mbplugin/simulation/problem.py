"""The start of a motion: a closed state, and a model with its rows chosen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbplugin.constraints.rows.planar import plane_columns
from mbplugin.constraints.stated_state import consistent_state
from mbplugin.dynamics.kernels.solve import row_rate
from mbplugin.dynamics.moved_mass import without_mass
from mbplugin.dynamics.tree_model import TreeModel, massless_joint, tree_model
from mbplugin.errors import BadUsage
from mbplugin.model.applied_forces import AppliedForces
from mbplugin.model.mechanism.coupling import Lock
from mbplugin.model.mechanism.mechanism import Constraint, Mechanism
from mbplugin.model.scene import State
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.active_set.choose import choose_rows, generic_redundancy
from mbplugin.simulation.events.schedule import TimedDrive
from mbplugin.simulation.loop_integrity import hold_shaky_joints
from mbplugin.simulation.options import Options
from mbplugin.simulation.projection import project_state
from mbplugin.simulation.steppers.evaluate import KINEMATICS, evaluate_at
from mbplugin.simulation.steppers.kernel_state import MOTION_SEGMENT, KernelState, kernel_state_of

#: Rates that all constraints together cannot follow to this fraction contradict each other.
_FOLLOWED = 1e-3


@dataclass(frozen=True, eq=False)
class Problem:
    """A mechanism ready to move.

    Parameters
    ----------
    kernel_state : KernelState
        With the mechanism's own independent rows chosen.
    q, qd : (nq,), (nv,) array
        A state that satisfies them.
    degree_of_redundancy : int
        p of the mechanism's own rows in joint rates, at the generic pose.
    dropped : tuple of int
        Rows that the user eliminates.
    locks : tuple of Lock
        Those that close later.
    drives : tuple of TimedDrive
        Those that act from the start and may be released.
    held : tuple of Constraint
        What else holds for a while.
    rounded : float
        What rounded numbers may leave open in dependent rows, scaled.
    """

    model: TreeModel
    kernel_state: KernelState
    q: Array
    qd: Array
    degree_of_redundancy: int
    dropped: tuple[int, ...]
    locks: tuple[Lock, ...]
    notes: tuple[str, ...]
    drives: tuple[TimedDrive, ...] = ()
    held: tuple[Constraint, ...] = ()
    rounded: float = 0.0

    @property
    def own_rank(self) -> int:
        """Generic rank of the mechanism's own rows."""
        return self.model.table.persistent - self.degree_of_redundancy


def pose_problem(
    mech: Mechanism,
    actions: AppliedForces,
    stated: State,
    locks: tuple[Lock, ...],
    options: Options,
    drives: tuple[TimedDrive, ...] = (),
    held: tuple[Constraint, ...] = (),
) -> Problem:
    """Return the problem that starts from what is stated, see :mod:`mbplugin.constraints.stated_state`.

    Raises
    ------
    CannotClose
        A loop that cannot be closed.
    ContradictedState
        Stated values that contradict each other.
    BadUsage
        Rates that no motion follows: a driver that contradicts a closure.
    BrokenModel
        A joint that moves no mass.
    """
    state = consistent_state(mech, stated, plane_columns(options.planar))
    q, notes, rounded = state.q, list(state.notes), 0.0
    p = generic_redundancy(mech, q, options.planar, options.tolerance)
    if p:
        timed = {*(lock.joint for lock in locks), *(d.driver.joint for d in drives)}
        mech, shaky, rounded = hold_shaky_joints(mech, q, state.qd, options, timed)
        notes += shaky
        if shaky:
            p = generic_redundancy(mech, q, options.planar, options.tolerance)
    model = tree_model(
        mech, actions, locks=(*locks, *held, *(d.driver for d in drives)), planar=options.planar, q=q
    )
    motion_segments = motion_segments_of(model, drives)
    empty = kernel_state_of(model, motion_segments, np.zeros(0, dtype=np.int64))
    start, rates = np.array(q), np.array(state.qd, dtype=float)
    if not evaluate_at(empty, KINEMATICS, 0.0, start, rates):
        raise massless_joint(model)
    if (still := without_mass(model.composites, model.rates)).any():
        raise massless_joint(model, still)
    _keep_given_values(model, motion_segments)
    dropped = row_indices(model, options)
    own = tuple(range(model.table.persistent))
    choice = choose_rows(model, own, len(own) - p, options.tolerance, dropped)
    kernel_state = kernel_state_of(model, motion_segments, choice.rows)
    project_state(kernel_state, 0.0, start, rates.copy())
    project_state(kernel_state, 0.0, start, rates)
    _require_followed(model, kernel_state, rates)
    return Problem(model, kernel_state, start, rates, p, dropped, locks, tuple(notes), drives, held, rounded)


def motion_segments_of(model: TreeModel, drives: tuple[TimedDrive, ...]) -> AnyArray:
    """Return the prescribed motions as records (k,), one segment for each driver, those of drives behind them."""
    own = {drive.driver.name: drive.motion_segments for drive in drives}
    out = []
    for d, (driver, _) in enumerate(model.table.driven):
        for start, polynomial in own.get(driver.name, driver.segments()):
            out.append((d, start, (*polynomial, *(6 - len(polynomial)) * (0.0,))))
    return np.array(out, dtype=MOTION_SEGMENT)


def _keep_given_values(model: TreeModel, motion_segments: AnyArray) -> None:
    """Let drivers without a value start where they are, and locks keep what they find (Φ tells where).

    What the drivers keep is written to motion_segments (k,).
    """
    for row, label in zip(model.table.rows, model.table.labels, strict=False):
        if label.of_lock:
            row["offset"] += row["phi"]
        # a driver without a value has one segment
        if row["drive"] >= 0 and model.table.driven[row["drive"]][0].value is None:
            motion_segments["c"][motion_segments["drive"] == row["drive"], 0] = row["phi"]


def row_indices(model: TreeModel, options: Options) -> tuple[int, ...]:
    """Return the rows to drop, as numbers among the rows of the model.

    Raises
    ------
    BadUsage
        A row that is none of the closing rows.
    """
    if options.coordinates != "joint":
        return ()
    labels = model.table.labels[: model.table.persistent]
    if other := [row for row in options.dropped if row not in labels]:
        raise BadUsage(
            f"row {' '.join(other[0])!r} cannot be dropped: it is no closing row",
            expected="one of " + ", ".join(" ".join(label) for label in labels),
            remedy="use coordinates='absolute' to drop rows of any pair",
        )
    return tuple(labels.index(row) for row in options.dropped)


def _require_followed(model: TreeModel, kernel_state: KernelState, rates: Array) -> None:
    """Raise where a row that was left out is not followed by the rates (nv,) either."""
    table = model.table
    gaps = np.array(
        [
            table.rows["unit"][i]
            * (row_rate(model.composites, table.rows, table.terms, i, rates) + table.rows["bias"][i])
            for i in range(table.persistent)
        ]
    )
    size = max(float(np.abs(rates).max(initial=0.0)), float(np.abs(table.rows["bias"]).max(initial=0.0)))
    if gaps.size and np.abs(gaps).max() > _FOLLOWED * max(size, 1e-9):
        name = table.labels[int(np.abs(gaps).argmax())][0]
        raise BadUsage(
            f"no rates satisfy constraint {name!r} together with the others",
            remedy="change what its drivers prescribe",
        )
