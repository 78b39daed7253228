"""The JSON document of ``mbplugin reactions`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from mbplugin.report.documents.json import SCHEMA_VERSION

if TYPE_CHECKING:
    from mbplugin.joint_reactions.family import Family
    from mbplugin.joint_reactions.values import ConstraintReaction, Reactions


def reactions_document(result: Reactions, source: str, files: Sequence[str]) -> dict[str, Any]:
    """Return the document of one result; what nothing determines has the value null."""
    mech = result.mechanism
    return {
        "schema_version": SCHEMA_VERSION,
        "source": source,
        "model": {"name": mech.name, "files": list(files), "planar": result.planar or False},
        "mode": result.mode,
        "gravity": mech.gravity,
        "q": dict(zip(mech.q_names, result.q, strict=True)),
        "qd": dict(zip(mech.qd_names, result.qd, strict=True)),
        "qdd": dict(zip(mech.qd_names, result.qdd, strict=True)),
        "held": list(result.held),
        "tolerance": result.tolerance,
        "degree_of_redundancy": result.degree_of_redundancy,
        "constraints": [_constraint(c) for c in result.constraints],
        "families": [_family(f) for f in result.families],
        "stated": list(result.stated),
        "estimated": [asdict(e) for e in result.estimated],
        "unresolved": [{"constraint": n, "component": c} for n, c in result.unresolved],
        "stiffness_missing": {"bodies": list(result.missing.bodies), "pairs": list(result.missing.pairs)},
        "notes": list(result.notes),
    }


def _constraint(c: ConstraintReaction) -> dict[str, Any]:
    return {
        "name": c.name,
        "kind": c.kind,
        "type": c.type,
        "body_a": c.body_a,
        "body_b": c.body_b,
        "reaction": c.reaction,
        "indeterminate_dim": c.indeterminate_dim,
        "point": c.point,
        "wrench": c.wrench,
        "components": [asdict(component) for component in c.components],
        "null_directions": [[asdict(w) for w in direction.components] for direction in c.directions],
        "shared_with": list(c.shared_with),
        "R_WJ": c.R_WJ,
        "world": None if c.world is None else asdict(c.world),
        "open_force": c.open_force,
        "open_moment": c.open_moment,
    }


def _family(family: Family) -> dict[str, Any]:
    keys = ("constraint", "component", "unit")
    return {
        "parameters": [dict(zip(keys, parameter, strict=True)) for parameter in family.parameters],
        "relations": [asdict(relation) for relation in family.relations],
    }
