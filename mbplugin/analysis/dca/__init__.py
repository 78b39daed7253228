"""The divide-and-conquer uniqueness test in relative coordinates (pekal2024), from preconditions to verdicts."""

from __future__ import annotations

from collections.abc import Sequence

from mbplugin.analysis.catalogue import CLEAR
from mbplugin.analysis.dca.model import DcaModel, GroundConnection, dca_model, null_loads
from mbplugin.analysis.dca.propagation import (
    TOOLS,
    DcaNotApplicable,
    Decision,
    Edge,
    GroupUniqueness,
    Load,
    NullReaction,
    Propagation,
    carry,
    edges_of,
    propagate,
    require_decidable,
    require_pairs_only,
    singular_pose,
)
from mbplugin.analysis.dca.trace import DcaResult, DcaVerdict, explain
from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.constraints.rank import sample_poses
from mbplugin.constraints.rows import plane_columns
from mbplugin.constraints.stated_state import closed_pose, stated_state
from mbplugin.model import Array, JointValues, Mechanism, Uniqueness

__all__ = [
    "TOOLS",
    "DcaNotApplicable",
    "DcaResult",
    "DcaVerdict",
    "GroupUniqueness",
    "dca_uniqueness",
    "explain",
]


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
        A mechanism with pairs only, in which all loops close through the ground; with ``extended``, any loops.
    q : mapping or vector, optional
        Joint coordinates at which closing the loops starts.
    tolerance : float
        Relative tolerance for the rank of a dimensionless root of G. The root scales like the closure rows,
        while G contains them squared.
    planar : "xy", "yz" or "zx", optional
        Analyze the motion in a plane.
    extended : bool
        Take loops that do not pass through the ground, each cut at a joint whose two sides are added to the ground
        joints; and if the paper's steps stall, propagate the null space of G through the tree to decide the rest.
    samples : int
        Number of sampled poses to detect a singular pose; with 0, or for a large mechanism, the pose is assumed
        regular.
    seed : int
        Random seed for the samples.

    Returns
    -------
    DcaResult
        Verdicts, G, its rank and null space, the order of propagation, and the bodies at which it stalls.

    Raises
    ------
    DcaNotApplicable
        A precondition of the method does not hold; the message names it and an alternative.
    CannotClose
        A loop cannot be closed.
    BadUsage
        The tolerance is outside (0, 1), or the plane is unknown.
    """
    require_decidable(tolerance)
    columns = plane_columns(planar)
    require_pairs_only(mech)
    closed_q = closed_pose(mech, stated_state(mech, q, plausible=False, closing=True), seed=seed)[0].q
    model = dca_model(mech, closed_q, columns, cut_loops=extended)
    connections = model.connections(tolerance)
    if any(c.supports for c in connections):
        # closing a large mechanism at sampled poses takes longer than the rest of the test
        samples = 0
    _require_regular_pose(model, closed_q, connections, tolerance, samples, seed)
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
    model: DcaModel,
    q: Array,
    connections: Sequence[GroundConnection],
    tolerance: float,
    samples: int,
    seed: int,
) -> None:
    """Reject a pose q (nq,) at which G has a lower rank than at nearby poses."""
    redundant = {c.joints: c for c in connections if c.redundancy}
    if not redundant or not q.size:
        return
    mech, cut_loops = model.mechanism, bool(model.cut)
    for sample in sample_poses(mech, q, samples, seed=seed):
        for joints, there in dca_model(mech, sample, model.columns, cut_loops=cut_loops).scaled().items():
            c = redundant.get(joints)
            rank = there.rank(CLEAR * tolerance)
            if c is not None and len(there.size) - rank < c.redundancy:
                raise singular_pose(tuple(c.columns), c.rank, rank)


def _step_2(model: DcaModel, connections: Sequence[GroundConnection]) -> list[Decision]:
    """Decide the reactions between the complete assemblies and the ground, and of welds that are only ties."""
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
            # the reaction of a single joint is unique: no other joint shares the load
            unique = c is None or bool(c.zero_rows[c.columns[model.pair_of.get(joint, joint)]].all())
            decisions.append(Decision(2, 0, label, joint, unique))
    return decisions


# Verdicts on pairs, from the null space at the ground, the steps, and the extension.


def verdicts(
    model: DcaModel, connections: Sequence[GroundConnection], propagation: Propagation, extended: bool
) -> tuple[DcaVerdict, ...]:
    """Return one verdict for each pair, in file order."""
    steps = {d.joint: f"step {d.step}" for d in propagation.decisions}
    found = {name: _at_ground(c, name) for c in connections for name in c.columns}
    null = _null_reactions(model, connections) if extended else {}
    for name, joint in model.joint.items():
        unique = propagation.unique.get(name)
        if name in null:
            found[name] = _from_statics(name, joint.components, null[name], unique, steps.get(name))
        elif name not in found:
            found[name] = _plain(name, joint.components, unique, steps.get(name, ""))
    for pair in model.mechanism.pairs:
        found.setdefault(pair.name, DcaVerdict(pair.name, "unique", (), 0, "no rows"))
    return tuple(found[pair.name] for pair in model.mechanism.pairs)


def _at_ground(c: GroundConnection, joint: str) -> DcaVerdict:
    rows = c.columns[joint]
    unique = c.zero_rows[rows]
    names = tuple(component for _, component in c.labels[rows])
    return DcaVerdict(
        joint,
        "unique" if unique.all() else "non-unique",
        tuple((n, bool(u)) for n, u in zip(names, unique, strict=True)),
        0 if unique.all() else max(1, c.dimension(joint)),
        "step 2",
    )


def _null_reactions(model: DcaModel, connections: Sequence[GroundConnection]) -> dict[str, NullReaction]:
    """Return the null reactions of inner joints and welds of redundant connections to the ground."""
    out: dict[str, NullReaction] = {}
    welds = weld_edges(model)
    for c in connections:
        bodies = next(own for _, own, ground in model.tree.roots if ground == c.joints)
        loads = null_loads(c, model.joint_scaled)
        out.update(carry(edges_of(bodies, model.joints_scaled), loads, model.columns, c.zero))
        for name, reaction in carry(welds, on_supports(loads), model.columns, c.zero).items():
            # one weld may carry the ground joints of several assemblies
            out[name] = out[name].beside(reaction) if name in out else reaction
    return out


def on_supports(loads: Sequence[Load]) -> list[Load]:
    """Return the opposite null loads, which act on the welded bodies that support the ground joints."""
    return [(joint.support, joint, -wrenches) for _, joint, wrenches in loads]


def weld_edges(model: DcaModel) -> list[Edge]:
    """Return the edges of the welds, from the outermost to the world."""
    edges = []
    for weld in model.welds_scaled:
        outer = model.welded[weld.name]
        edges.append((weld, weld.body_a if weld.body_b == outer else weld.body_b, outer))
    return edges[::-1]


def _from_statics(
    name: str, components: Sequence[str], null: NullReaction, decided: bool | None, step: str | None
) -> DcaVerdict:
    flags = null.components_unique()
    unique = all(flags) if decided is None else decided
    if unique or all(flags):
        # the decision of the steps stands; if statics finds no null reaction, the components stay undecided
        return _plain(name, components, unique, step or "extension")
    labelled = tuple(zip(components, flags, strict=True))
    return DcaVerdict(name, "non-unique", labelled, max(1, null.dimension()), step or "extension")


def _plain(name: str, components: Sequence[str], unique: bool | None, by: str) -> DcaVerdict:
    """Return a verdict on a whole reaction; if it is unique, so are all components: a pair's rows are independent."""
    component_unique = True if unique else None
    reactions: dict[bool | None, Uniqueness] = {True: "unique", False: "non-unique", None: "undecided"}
    return DcaVerdict(
        name, reactions[unique], tuple((c, component_unique) for c in components), 0 if unique else None, by
    )
