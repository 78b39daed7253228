"""The JSON document of ``mbplugin crosscheck`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mbplugin.report.documents.json import SCHEMA_VERSION

if TYPE_CHECKING:
    from mbplugin.comparison.agreement import Agreement, Check, Row


def crosscheck_document(found: Agreement, source: str, files: Sequence[str]) -> dict[str, Any]:
    """Return the document of one cross-check."""
    curves = None
    if found.curves is not None:
        names = found.curves.names
        curves = {
            "time": found.curves.time,
            "ours": dict(zip(names, found.curves.ours.T, strict=True)),
            "pybullet": dict(zip(names, found.curves.bullet.T, strict=True)),
        }
    return {
        "schema_version": SCHEMA_VERSION,
        "source": source,
        "files": list(files),
        "verdict": found.verdict,
        "reason": found.reason,
        "duration": found.duration,
        "steps": list(found.steps),
        "orders": list(found.orders),
        "solver": found.settings,
        "rows": [_row(row) for row in found.rows],
        "checks": [_check(check) for check in found.checks],
        "curves": curves,
        "notes": list(found.notes),
    }


def _check(check: Check) -> dict[str, Any]:
    return {
        "program": check.program,
        "name": check.name,
        "value": check.value,
        "bound": check.bound,
        "unit": check.unit,
        "passes": check.passes,
    }


def _row(row: Row) -> dict[str, Any]:
    return {
        "quantity": row.quantity,
        "element": row.element,
        "unit": row.unit,
        "deviation": row.deviation,
        "bound": row.bound,
        "agrees": row.agrees,
        "errors": list(row.errors),
        "orders": list(row.orders),
        "time": row.time,
    }
