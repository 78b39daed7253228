"""The JSON document of ``mbplugin stop-table`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbplugin.report.documents.json import SCHEMA_VERSION

if TYPE_CHECKING:
    from mbplugin.stopping.table.values import StoppingTable


def stop_table_document(table: StoppingTable) -> dict[str, Any]:
    """Return the document of one table."""
    return {
        "schema_version": SCHEMA_VERSION,
        "model": {"name": table.model},
        "computed_not_measured": True,
        "tool": table.tool,
        "axes": list(table.axes),
        "assumptions": list(table.assumptions),
        "rows": [dict(row) for row in table.rows],
    }
