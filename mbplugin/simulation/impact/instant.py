"""Constraints that close during a motion: their frames at that instant, and whether they can close."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from mbplugin.constraints.sampling import sample_poses
from mbplugin.dynamics.joint import equations_of
from mbplugin.dynamics.kernels.row_evaluation import DISTANCE
from mbplugin.dynamics.kernels.rows import MEASURED, RATE
from mbplugin.dynamics.kernels.solve import row_rate
from mbplugin.dynamics.tree_model import TreeModel
from mbplugin.model.mechanism import Constraint, Pair
from mbplugin.model.spatial import Array, Pose
from mbplugin.simulation.active_set.choose import rank_of
from mbplugin.simulation.impact.activate import FOLLOWED, REST, activate
from mbplugin.simulation.impact.timed import with_constraints
from mbplugin.simulation.steppers.evaluate import KINEMATICS, evaluate_at
from mbplugin.simulation.steppers.kernel_state import KernelState

#: Poses at which a rank may prove to be higher.
_SAMPLES = 4


def grip(model: TreeModel, rows: Sequence[int]) -> None:
    """Let closures among the rows close where they find the other body, at the configured state."""
    table = model.table
    own = [i for i in rows if table.rows["joint_frame"][i] >= 0 and table.rows["angles"][i] != MEASURED]
    for n in {int(table.rows["joint_frame"][i]) for i in own if table.rows["kind"][i] != DISTANCE}:
        joint_frame = table.joint_frames[n]
        R, p = model.composites["R"][joint_frame["b"]], model.composites["p"][joint_frame["b"]]
        joint_frame["R_bS"], joint_frame["p_bS"] = R.T @ joint_frame["P"], R.T @ (joint_frame["p_P"] - p)


def gripped(model: TreeModel, constraint: Constraint) -> Constraint:
    """Return a constraint as it holds: a closure with its successor frame where it has gripped."""
    if not isinstance(constraint, Pair):
        return constraint
    labels, rows = model.table.labels, model.table.rows
    (n, *_) = (int(rows["joint_frame"][i]) for i, label in enumerate(labels) if label[0] == constraint.name)
    joint_frame = model.table.joint_frames[n]
    _, X_KL = model.composites_of.frame(model.mech, constraint.body_b, Pose.identity())
    return replace(
        constraint, X_BS=X_KL.inverse() @ Pose(joint_frame["R_bS"].copy(), joint_frame["p_bS"].copy())
    )


def is_singular(
    model: TreeModel,
    kernel_state: KernelState,
    t: float,
    q: Array,
    sets: Sequence[tuple[Sequence[int], Sequence[Constraint]]],
    tolerance: float,
) -> bool:
    """Whether rows lose rank at this very pose (mueller2026 Def. 1).

    The rank of a set of rows is compared with that at poses nearby. Locks may sit anywhere, so those
    poses keep the closures and couplings only.

    Parameters
    ----------
    q : (nq,) array
        The pose.
    sets : sequence of (rows, constraints)
        Before and after the instant: the rows in force, and which constraints that hold for a while
        are among them.
    """
    rates = np.zeros(len(model.rates))
    for rows, held in sets:
        if not len(rows) or (model.table.rows["kind"][list(rows)] == RATE).all():
            continue
        evaluate_at(kernel_state, KINEMATICS, t, q, rates)
        here = rank_of(model, list(rows), tolerance)
        mech = with_constraints(replace(model.mech, locks=(), drivers=()), held)
        for pose in sample_poses(mech, q, _SAMPLES):
            evaluate_at(kernel_state, KINEMATICS, t, pose, rates)
            if rank_of(model, list(rows), 10 * tolerance) > here:
                return True
    return False


def contradict(model: TreeModel, rows: Sequence[int], qd: Array) -> bool:
    """Whether rows that depend on others ask for something else than those, at the configured pose and qd (nv,)."""
    table = model.table
    gaps = [
        table.rows["unit"][i]
        * (row_rate(model.composites, table.rows, table.terms, i, qd) + table.rows["bias"][i])
        for i in rows
    ]
    return bool(np.abs(gaps).max(initial=0.0) > max(FOLLOWED * float(np.abs(qd).max(initial=0.0)), REST))


def all_impulses(
    model: TreeModel,
    kernel_state: KernelState,
    t: float,
    q: Array,
    qd: Array,
    rows: Sequence[int],
    closing: Sequence[int],
) -> tuple[dict[tuple[str, str], float], tuple[tuple[str, str], ...]]:
    """Return the impulses of all rows in force at q (nq,) and qd (nv,), and which of them a rigid model leaves open."""
    p = len(rows) - len(kernel_state.independent_rows)
    drive = kernel_state.drive.copy()
    equations = equations_of(
        model, q, qd, time=t, degree_of_redundancy=p, rows=rows, drive=drive, decided=True
    )
    found = activate(equations, None, [k for k, i in enumerate(rows) if i in closing])
    if found.outcome != "regular":
        return {}, found.labels
    return found.impulse, found.open_impulses
