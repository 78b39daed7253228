"""Verdicts per pair, from the null space at the ground, the steps, and the extension."""

from __future__ import annotations

from collections.abc import Sequence

from mbplugin.analysis.dca.connection import GroundConnection, null_loads
from mbplugin.analysis.dca.extension import Edge, Load, NullReaction, carry, edges_of
from mbplugin.analysis.dca.model import DcaModel
from mbplugin.analysis.dca.propagation import Propagation
from mbplugin.analysis.dca.result import DcaVerdict
from mbplugin.model.enumerations import Uniqueness


def verdicts(
    model: DcaModel, connections: Sequence[GroundConnection], propagation: Propagation, extended: bool
) -> tuple[DcaVerdict, ...]:
    """Return one verdict per pair, in file order."""
    steps = {d.joint: f"step {d.step}" for d in propagation.decisions}
    found = {name: _at_ground(c, name) for c in connections for name in c.joints}
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
    """Return what the null spaces put on inner joints and welds; what they do not reach is left out."""
    out: dict[str, NullReaction] = {}
    welds = weld_edges(model)
    for c in connections:
        bodies = next(own for _, own, ground in model.tree.roots if ground == c.joints)
        loads = null_loads(c, model.joint_scaled)
        out.update(carry(edges_of(bodies, model.joints_scaled), loads, model.columns, c.zero))
        for name, reaction in carry(welds, on_supports(loads), model.columns, c.zero).items():
            # one weld may hold the ground joints of several assemblies
            out[name] = out[name].beside(reaction) if name in out else reaction
    return out


def on_supports(loads: Sequence[Load]) -> list[Load]:
    """Return what null loads of an assembly put on the ground that bears them."""
    return [(joint.support, joint, -wrenches) for _, joint, wrenches in loads]


def weld_edges(model: DcaModel) -> list[Edge]:
    """Return the welds with their bodies, from the outermost to the world."""
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
        # what the steps decided stands; statics that sees nothing of it tells no components
        return _plain(name, components, unique, step or "extension")
    labelled = tuple(zip(components, flags, strict=True))
    return DcaVerdict(name, "non-unique", labelled, max(1, null.dimension()), step or "extension")


def _plain(name: str, components: Sequence[str], unique: bool | None, by: str) -> DcaVerdict:
    """Return a verdict on a whole reaction; the rows of a pair are independent, so unique means all."""
    component_unique = True if unique else None
    reactions: dict[bool | None, Uniqueness] = {True: "unique", False: "non-unique", None: "undecided"}
    return DcaVerdict(
        name, reactions[unique], tuple((c, component_unique) for c in components), 0 if unique else None, by
    )
