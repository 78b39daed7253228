"""The divide-and-conquer uniqueness test from preconditions to verdicts (pekal2024 §3.5)."""

from __future__ import annotations

from collections.abc import Sequence

from mbplugin.analysis.dca.connection import GroundConnection
from mbplugin.analysis.dca.model import DcaModel, dca_model
from mbplugin.analysis.dca.preconditions import require_decidable, require_pairs_only, singular_pose
from mbplugin.analysis.dca.propagation import Decision, propagate
from mbplugin.analysis.dca.result import DcaResult
from mbplugin.analysis.dca.verdicts import verdicts
from mbplugin.analysis.generic import CLEAR
from mbplugin.constraints.rows.planar import plane_columns
from mbplugin.constraints.sampling import sample_poses
from mbplugin.constraints.stated_state import closed_pose, stated_state
from mbplugin.constraints.tolerance import DEFAULT_TOLERANCE
from mbplugin.model.mechanism.kinematics import JointValues
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import Array


def dca_uniqueness(
    mech: Mechanism,
    q: JointValues = None,
    *,
    tolerance: float = DEFAULT_TOLERANCE,
    planar: str | None = None,
    extended: bool = False,
    samples: int = 8,
    seed: int = 0,
) -> DcaResult:
    """Decide which joint reactions are unique by the divide-and-conquer algorithm.

    Parameters
    ----------
    mech : Mechanism
        Pairs only; all its loops close through the ground.
    q : mapping or vector, optional
        Joint coordinates; loops are closed from there.
    tolerance : float
        Relative, for the rank of a root of G without units: it is of the size of the closure rows, and
        G holds them squared.
    planar : "xy", "yz" or "zx", optional
        Look at the motion in a plane.
    extended : bool
        Where the paper's steps stall, carry the null space of G through the tree and finish.
    samples : int
        Poses sampled to tell a singular pose; 0 takes the pose for regular, as does a large mechanism.
    seed : int
        Of the samples.

    Returns
    -------
    DcaResult
        Verdicts, G, its rank and null space, the order of propagation, the bodies that stall it.

    Raises
    ------
    DcaNotApplicable
        A precondition of the method does not hold; the message names it and what applies instead.
    CannotClose
        A loop that cannot be closed.
    BadUsage
        A tolerance outside (0, 1), or an unknown plane.
    """
    require_decidable(tolerance)
    columns = plane_columns(planar)
    require_pairs_only(mech)
    closed_q = closed_pose(mech, stated_state(mech, q, plausible=False, closing=True), seed=seed)[0].q
    model = dca_model(mech, closed_q, columns)
    connections = model.connections(tolerance)
    if any(c.supports for c in connections):
        # closing a large mechanism at sampled poses takes longer than all the rest
        samples = 0
    _require_regular_pose(mech, closed_q, columns, connections, tolerance, samples, seed)
    bodies = [body.name for body in mech.bodies]
    propagation = propagate(bodies, model.handles, _step_2(model, connections))
    closed_q.setflags(write=False)
    return DcaResult(
        mech,
        closed_q,
        planar,
        tolerance,
        samples,
        extended,
        model,
        connections,
        propagation,
        verdicts(model, connections, propagation, extended),
    )


def _require_regular_pose(
    mech: Mechanism,
    q: Array,
    columns: tuple[int, ...],
    connections: Sequence[GroundConnection],
    tolerance: float,
    samples: int,
    seed: int,
) -> None:
    """Refuse a pose q (nq,) at which G has a lower rank than at poses around it."""
    redundant = {c.joints: c for c in connections if c.redundancy}
    if not redundant or not q.size:
        return
    for sample in sample_poses(mech, q, samples, seed=seed):
        for joints, there in dca_model(mech, sample, columns).scaled().items():
            c = redundant.get(joints)
            rank = there.rank(CLEAR * tolerance)
            if c is not None and len(there.size) - rank < c.redundancy:
                raise singular_pose(joints, c.rank, rank)


def _step_2(model: DcaModel, connections: Sequence[GroundConnection]) -> list[Decision]:
    """Decide the reactions between the complete assemblies and the ground, and of single ties."""
    multi = {c.joints: c for c in connections}
    names = model.mechanism.bodies
    decisions = [
        Decision(2, 0, names[body].name, weld, True)
        for weld, body in model.welded.items()
        if weld in model.only_ties
    ]
    for label, _, ground in model.tree.roots:
        c = multi.get(ground)
        for joint in ground:
            # a single joint takes whatever the assembly needs, it has nothing to share it with
            unique = c is None or bool(c.zero_rows[c.columns[joint]].all())
            decisions.append(Decision(2, 0, label, joint, unique))
    return decisions
