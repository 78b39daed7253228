"""The divide-and-conquer uniqueness test from preconditions to verdicts (pekal2024 §3.5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mbplugin.analysis.dca.connection import GroundConnection, null_wrenches
from mbplugin.analysis.dca.extension import NullReaction, carry
from mbplugin.analysis.dca.model import DcaModel, dca_model
from mbplugin.analysis.dca.preconditions import (
    require_pairs_only,
    require_tolerance,
    singular_pose,
)
from mbplugin.analysis.dca.propagation import Decision, Propagation, propagate
from mbplugin.analysis.dca.result import DcaResult, DcaVerdict
from mbplugin.analysis.sampling import sample_poses
from mbplugin.constraints.assembly import assemble
from mbplugin.constraints.planar import plane_columns
from mbplugin.mechanism.kinematics import JointValues, joint_vector
from mbplugin.mechanism.mechanism import Mechanism
from mbplugin.spatial import Array

#: A sampled pose proves a higher rank only by singular values that are clear of the tolerance.
_CLEAR = 10.0


def dca_uniqueness(
    mech: Mechanism,
    q: JointValues = None,
    *,
    tolerance: float = 1e-4,
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
        Poses sampled to tell a singular pose; 0 takes the pose for regular.
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
    require_tolerance(tolerance)
    columns = plane_columns(planar)
    require_pairs_only(mech)
    closed_q = assemble(mech, joint_vector(mech, q), seed=seed).q
    model = dca_model(mech, closed_q, columns)
    connections = model.connections(tolerance)
    _require_regular_pose(mech, closed_q, columns, connections, tolerance, samples, seed)
    bodies = [body.name for body in mech.bodies]
    propagation = propagate(bodies, model.handles, _step_2(model, connections))
    verdicts = _verdicts(model, connections, propagation, extended)
    closed_q.setflags(write=False)
    return DcaResult(
        mech, closed_q, planar, tolerance, samples, extended, model, connections, propagation, verdicts
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
    """Refuse a pose at which G has a lower rank than at poses around it."""
    redundant = {c.joints: c for c in connections if c.redundancy}
    if not redundant or not q.size:
        return
    for sample in sample_poses(mech, q, samples, seed=seed):
        for joints, there in dca_model(mech, sample, columns).scaled().items():
            c = redundant.get(joints)
            rank = there.rank(_CLEAR * tolerance)
            if c is not None and len(there.size) - rank < c.redundancy:
                raise singular_pose(joints, c.rank, rank)


def _step_2(model: DcaModel, connections: Sequence[GroundConnection]) -> list[Decision]:
    """Decide the reactions between the complete assemblies and the ground."""
    multi = {c.joints: c for c in connections}
    decisions = []
    for label, _, ground in model.tree.roots:
        c = multi.get(ground)
        for joint in ground:
            # a single joint takes whatever the assembly needs, it has nothing to share it with
            unique = c is None or bool((_sizes(c)[c.columns[joint]] <= c.zero).all())
            decisions.append(Decision(2, 0, label, joint, unique))
    return decisions


def _sizes(connection: GroundConnection) -> Array:
    return np.asarray(np.linalg.norm(connection.N_scaled, axis=1))


def _verdicts(
    model: DcaModel, connections: Sequence[GroundConnection], propagation: Propagation, extended: bool
) -> tuple[DcaVerdict, ...]:
    """Return one verdict per pair, in file order."""
    found: dict[str, DcaVerdict] = {}
    for c in connections:
        found.update({name: _at_ground(c, name) for name in c.joints})
        if extended:
            found.update(_carried(model, c, propagation))
    steps = {d.joint: f"step {d.step}" for d in propagation.decisions}
    for joint in model.joints:
        if joint.name not in found:
            unique = propagation.unique.get(joint.name)
            found[joint.name] = _plain(joint.name, joint.components, unique, steps.get(joint.name, ""))
    for pair in model.mechanism.pairs:
        found.setdefault(pair.name, DcaVerdict(pair.name, "unique", (), 0, "no rows"))
    return tuple(found[pair.name] for pair in model.mechanism.pairs)


def _at_ground(c: GroundConnection, joint: str) -> DcaVerdict:
    rows = c.columns[joint]
    unique = _sizes(c)[rows] <= c.zero
    names = tuple(component for _, component in c.labels[rows])
    dim = int((np.linalg.svd(c.N_scaled[rows], compute_uv=False) > c.zero).sum()) if c.redundancy else 0
    return DcaVerdict(
        joint,
        "unique" if unique.all() else "non-unique",
        tuple((n, bool(u)) for n, u in zip(names, unique, strict=True)),
        0 if unique.all() else max(1, dim),
        "step 2",
    )


def _carried(model: DcaModel, c: GroundConnection, propagation: Propagation) -> dict[str, DcaVerdict]:
    """Return the verdicts of the inner joints of an assembly that statics gives."""
    bodies = next(own for _, own, ground in model.tree.roots if ground == c.joints)
    loads = null_wrenches(c, model.joint_scaled)
    carried = carry(bodies, model.joints_scaled, loads, model.columns)
    steps = {d.joint: f"step {d.step}" for d in propagation.decisions}
    return {
        name: _from_statics(name, model, null, c.zero, propagation.unique.get(name), steps.get(name))
        for name, null in carried.items()
    }


def _from_statics(
    name: str, model: DcaModel, null: NullReaction, zero: float, decided: bool | None, step: str | None
) -> DcaVerdict:
    components = model.joint[name].components
    flags = null.components_unique(zero)
    unique = all(flags) if decided is None else decided
    if unique or all(flags):
        # what the steps decided stands; statics that sees nothing of it tells no components
        return _plain(name, components, unique, step or "extension")
    labelled = tuple(zip(components, flags, strict=True))
    return DcaVerdict(name, "non-unique", labelled, max(1, null.dimension(zero)), step or "extension")


def _plain(name: str, components: Sequence[str], unique: bool | None, by: str) -> DcaVerdict:
    """Return a verdict on a whole reaction; the rows of a pair are independent, so unique means all."""
    told = True if unique else None
    reaction = {True: "unique", False: "non-unique", None: "undecided"}[unique]
    return DcaVerdict(name, reaction, tuple((c, told) for c in components), 0 if unique else None, by)
