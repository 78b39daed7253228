"""A mechanism as the kernels of absolute coordinates see it: every body by itself, rows of every pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from mbplugin.constraints.rows.build import rows_of
from mbplugin.constraints.rows.planar import planar_rows, plane_columns
from mbplugin.dynamics.kernels.absolute.state import AbsoluteState
from mbplugin.dynamics.kernels.composite_bodies import Composites, find_composites
from mbplugin.dynamics.kernels.forces import load_records, spring_records
from mbplugin.dynamics.kernels.rows import RowTable, row_table, row_units
from mbplugin.dynamics.kernels.tree import composite_records
from mbplugin.dynamics.tree_model import TreeModel, resisted_freedoms
from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.mechanism.coupling import Lock
from mbplugin.model.mechanism.identity import RowLabel
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.mechanism.mechanism import Constraint, Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.mechanism.topology import TreeJoint
from mbplugin.model.spatial import AnyArray, Array, Pose


@dataclass(frozen=True, eq=False)
class AbsoluteModel:
    """Records of a mechanism in absolute coordinates, beside those of its tree.

    Parameters
    ----------
    tree : TreeModel
    table : RowTable
        Rows of all constraints; behind those that always hold are the same as in the tree, then those that
        measure the rates of the tree.
    counted : (m,) array of bool
        Which rows do not vanish in the plane; not of those that measure rates.
    state : AbsoluteState
        In which no row holds.
    """

    tree: TreeModel
    table: RowTable
    counted: AnyArray
    state: AbsoluteState

    def holding(
        self, active: Sequence[int], degree_of_redundancy: int, dropped: Sequence[RowLabel] = ()
    ) -> AbsoluteState:
        """Return the state in which rows ``active`` of the tree hold, and with them those of all its pairs.

        Parameters
        ----------
        degree_of_redundancy : int
            p of all rows that hold.
        dropped : sequence of RowLabel
            p rows that are left out; without them it is decided at each pose.
        """
        own, in_tree = self.table.persistent, self.tree.table.persistent
        rows = [*range(own), *(i - in_tree + own for i in active if i >= in_tree)]
        rows = [i for i in rows if self.counted[i]]
        rank = len(rows) - degree_of_redundancy
        rows = [i for i in rows if self.table.labels[i] not in dropped]
        m, n = len(rows), len(self.state.v_dot)
        return self.state._replace(
            candidates=np.array(rows, dtype=np.int64),
            order=np.zeros(m, dtype=np.int64),
            G=np.zeros((m, n)),
            R=np.zeros((min(rank, m), m)),
            multipliers=np.zeros(m),
        )


def absolute_model(tree: TreeModel, q: Array, locks: Sequence[Constraint] = ()) -> AbsoluteModel:
    """Return the records of a mechanism in absolute coordinates.

    Parameters
    ----------
    q : (nq,) array
        A pose that tells which rows vanish in a plane.
    locks : sequence of constraints
        Those with which the tree was made.
    """
    mech, actions, columns = tree.mech, tree.actions, plane_columns(tree.planar)
    composites = find_composites(mech, actions.payloads, apart=True)
    freedoms = [(pair, freedom) for pair, freedom, _ in resisted_freedoms(mech, actions)]
    pairs = [joint.pair or _free_pair(mech, joint) for joint in mech.tree.joints]
    rates = [(pair, freedom) for pair in pairs for freedom in pair.kind.free]
    table = row_table(
        mech, composites, locks=cast(Sequence[Lock], locks), resisted=[*freedoms, *rates], every_pair=True
    )
    table.rows["unit"][: len(table.labels)] = row_units(table, tree.length)
    first = len(table.labels) - len(rates)
    w, n = len(columns), len(columns) * len(mech.bodies)
    measured = _measured_rates(mech, first)
    state = AbsoluteState(
        bodies=_body_records(tree, composites),
        joint_frames=table.joint_frames,
        rows=table.rows,
        terms=table.terms,
        loads=load_records(mech, composites, actions),
        springs=spring_records(mech, composites, actions),
        resistances=tree.resistances.copy(),
        columns=np.array(columns, dtype=np.int64),
        measured=measured,
        resisted=np.array([first - len(freedoms)], dtype=np.int64),
        candidates=np.zeros(0, dtype=np.int64),
        order=np.zeros(0, dtype=np.int64),
        applied=np.zeros(len(tree.rates)),
        first=_first_columns(table, measured[tree.rates["armature"] != 0], w, n),
        M=np.zeros((n, n)),
        v_dot=np.zeros(n),
        G=np.zeros((0, n)),
        R=np.zeros((0, 0)),
        multipliers=np.zeros(0),
    )
    return AbsoluteModel(tree, table, _counted(tree, table.labels[:first], q, locks, freedoms), state)


def _body_records(tree: TreeModel, composites: Composites) -> AnyArray:
    """Return the records (N + 1,) of the ground and all bodies, which stand where composite bodies of the tree do."""
    mech, out = tree.mech, composite_records(tree.mech, composites)
    for i in range(len(mech.bodies)):
        record = out[composites.of_body[i]]
        X = tree.composites_of.X_KL[i] @ composites.X_KL[i].inverse()
        record["parent"], record["R_in"], record["p_in"] = tree.composites_of.of_body[i], X.R, X.p
    return out


def _measured_rates(mech: Mechanism, first: int) -> AnyArray:
    """Return the row (nv,) that measures each rate, from row ``first`` on in the order of the tree."""
    out = np.zeros(len(mech.qd_names), dtype=np.int64)
    for joint in mech.tree.joints:
        count = joint.qd.stop - joint.qd.start
        out[joint.qd] = np.arange(first, first + count)
        first += count
    return out


def _free_pair(mech: Mechanism, joint: TreeJoint) -> Pair:
    """Return a pair whose rates are those of a free root: the twist of its centre of mass, in axes of the world."""
    center = Pose(np.eye(3), mech.bodies[mech.body_index[joint.outer]].p_LC)
    return Pair(f"free {joint.outer}", "floating", WORLD, joint.outer, Pose.identity(), center)


def _first_columns(table: RowTable, drives: AnyArray, w: int, n: int) -> AnyArray:
    """Return the first column of each row of M (n,) that is not zero: of its body, or of one that a drive ties to it.

    ``drives`` (k,) are the rows of driven freedoms, w the coordinates of a body.
    """
    body = np.arange(n // w)
    for row in table.rows[drives]:
        low, high = sorted((int(row["a"]) - 1, int(row["b"]) - 1))
        if low >= 0:
            body[high] = min(body[high], low)
    return np.repeat(w * body, w)


def _counted(
    tree: TreeModel,
    labels: Sequence[RowLabel],
    q: Array,
    locks: Sequence[Constraint],
    freedoms: Sequence[tuple[Pair, str]],
) -> AnyArray:
    """Return which rows (m,) do not vanish in the plane at a pose q (nq,); those of ``freedoms`` stand behind."""
    out = np.ones(len(labels), dtype=bool)
    if tree.planar is None:
        return out
    mech, poses, columns = tree.mech, forward(tree.mech, q), plane_columns(tree.planar)

    def in_plane(constraints: Sequence[Constraint]) -> set[RowLabel]:
        rows = (planar_rows(r, columns) for r in rows_of(mech, constraints, poses, q))
        return {RowLabel(r.constraint, c) for r in rows for c in r.components}

    kept, behind = in_plane((*mech.constraints(), *locks)), len(labels) - len(freedoms)
    out[:behind] = [label in kept for label in labels[:behind]]
    out[behind:] = [bool(in_plane((Lock(pair.name, freedoms=(f,)),))) for pair, f in freedoms]
    return out
