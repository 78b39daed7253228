"""JSON documents of the commands (contract: ``schema_version`` 1; keys may be added, never renamed)."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from mbplugin.analysis.directions import joint_place
from mbplugin.model.mechanism.kinematics import forward

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.constraints.matrix import ConstraintMatrix
    from mbplugin.linter.rule import Rule
    from mbplugin.linter.run import Report

SCHEMA_VERSION = 1


def dumps(document: Any) -> str:
    """Return strict JSON text: numbers that are not finite become null."""
    return json.dumps(plain(document), indent=2, allow_nan=False) + "\n"


def plain(value: Any) -> Any:
    """Return a value made of what JSON knows; numpy scalars and arrays included."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Sequence | set | frozenset):
        return [plain(item) for item in value]
    return str(value)


def lint_document(reports: Sequence[Report]) -> dict[str, Any]:
    """Return the run of one report, or all runs of several."""
    if len(reports) == 1:
        return run_document(reports[0])
    return {"schema_version": SCHEMA_VERSION, "runs": [run_document(report) for report in reports]}


def run_document(report: Report) -> dict[str, Any]:
    """Return one lint run; what was not analyzed has no model, no mobility and empty lists."""
    analysis = report.analysis
    return {
        "schema_version": SCHEMA_VERSION,
        "source": report.source,
        "exit_code": report.exit_code,
        "model": None if analysis is None else _model(report, analysis),
        "mobility": None if analysis is None else _mobility(analysis),
        "constraints": [] if analysis is None else _constraints(analysis),
        "groups": [] if analysis is None else [asdict(group) for group in analysis.groups],
        "bodies": [] if analysis is None else [asdict(body) for body in analysis.bodies],
        "self_stresses": [] if analysis is None else [asdict(s) for s in analysis.self_stresses],
        "remedies": [] if analysis is None else _remedies(analysis),
        "obstacles": [] if analysis is None else [asdict(obstacle) for obstacle in analysis.obstacles],
        "findings": [asdict(finding) for finding in report.findings],
        "suppressed": [
            {"finding": asdict(suppressed.finding), "reason": suppressed.ignore.reason}
            for suppressed in report.suppressed
        ],
        **_dca(analysis),
    }


def _constraints(analysis: Analysis) -> list[dict[str, Any]]:
    """Return the verdicts with the place and axes of each joint."""
    mech = analysis.mechanism
    poses = forward(mech, analysis.q)
    found = []
    for verdict in analysis.constraints:
        pair = mech.pair_by_name.get(verdict.name)
        point, R_WJ = (None, None) if pair is None else joint_place(mech, poses, pair)
        found.append({**asdict(verdict), "point": point, "R_WJ": R_WJ})
    return found


def _dca(analysis: Analysis | None) -> dict[str, Any]:
    """Return the divide-and-conquer test, where it was the method."""
    if analysis is None or analysis.dca is None:
        return {}
    dca = analysis.dca
    return {
        "dca": {
            "columns": len(dca.G),
            "rank": dca.rank,
            "order": [{"joint": d.joint, "unique": d.unique} for d in dca.order],
            "stalled": list(dca.stalled),
            "trace": dca.trace,
        }
    }


def _model(report: Report, analysis: Analysis) -> dict[str, Any]:
    mech = analysis.mechanism
    return {
        "name": mech.name,
        "files": list(report.scene.files if report.scene is not None else ()),
        "bodies": len(mech.bodies),
        "pairs": len(mech.pairs),
        "closures": sum(pair.closure for pair in mech.pairs),
        "rows": analysis.rows,
        "holonomic_rows": analysis.holonomic_rows,
        "pfaffian_rows": analysis.pfaffian_rows,
        "columns": analysis.columns,
        "planar": analysis.planar or False,
    }


def _mobility(analysis: Analysis) -> dict[str, Any]:
    keys = (
        "rank rank_holonomic rank_pfaffian dof gruebler degree_of_redundancy structural_redundancy"
        " singular_pose sigma_r sigma_r_plus_1 tolerance"
    )
    return {
        **{key: getattr(analysis, key) for key in keys.split()},
        "plateaus": [
            {"from": p.start, "to": p.stop, "degree_of_redundancy": p.degree_of_redundancy}
            for p in analysis.plateaus
        ],
        "characteristic_length": analysis.characteristic_length,
        "closure_residual_file": analysis.assembly.worst_file,
        "closure_residual": analysis.assembly.worst,
    }


def _remedies(analysis: Analysis) -> list[dict[str, Any]]:
    return [
        {
            "changes": [{"constraint": c.constraint, "from": c.old, "to": c.new} for c in remedy.changes],
            "degree_of_redundancy": remedy.degree_of_redundancy,
            "dof": remedy.dof,
            "toml": remedy.toml,
        }
        for remedy in analysis.remedies
    ]


def rules_document(rules: Sequence[Rule]) -> dict[str, Any]:
    """Return the rules with their documentation."""
    keys = ("code", "name", "severity", "documentation")
    return {
        "schema_version": SCHEMA_VERSION,
        "rules": [{key: getattr(rule, key) for key in keys} for rule in rules],
    }


def matrix_document(matrix: ConstraintMatrix, files: Sequence[str]) -> dict[str, Any]:
    """Return the labelled matrix; its nonzero entries are [row, column, value]."""
    C = matrix.C.tocoo()
    rows = [
        {
            "constraint": constraint,
            "component": component,
            "holonomic": k < matrix.holonomic_rows,
            "b": matrix.b[k],
            "Gamma": matrix.Gamma[k],
            "Phi": matrix.Phi[k],
        }
        for k, (constraint, component) in enumerate(matrix.rows)
    ]
    triplets = zip(C.row.tolist(), C.col.tolist(), C.data.tolist(), strict=True)
    return {
        "schema_version": SCHEMA_VERSION,
        "model": {"name": matrix.mechanism.name, "files": list(files), "planar": matrix.planar or False},
        "shape": list(C.shape),
        "rows": rows,
        "columns": [{"body": body, "component": component} for body, component in matrix.columns],
        "entries": [list(triplet) for triplet in triplets],
    }
