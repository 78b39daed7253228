"""A document with the record of how it was made, and with what differs from an earlier one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbplugin.report.documents.part import Against, Record, with_keys

if TYPE_CHECKING:
    from mbplugin.report.against.values import Comparison
    from mbplugin.report.record import Record as RecordValue


def with_record(document: dict[str, Any], record: RecordValue) -> dict[str, Any]:
    """Return the document with its record after what wrote it."""
    return with_keys(document, "generator", record=Record.of(record))


def with_comparison(document: dict[str, Any], comparison: Comparison | None) -> dict[str, Any]:
    """Return a document that has a record with what differs from an earlier report after it."""
    return document if comparison is None else with_keys(document, "record", against=Against.of(comparison))
