"""A document with the record of how it was made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mbplugin.report.documents.part import Record

if TYPE_CHECKING:
    from mbplugin.report.record import Record as RecordValue


def with_record(document: Any, record: RecordValue) -> dict[str, Any]:
    """Return the document with its record after the version of its schema."""
    version = document["schema_version"]
    return {"schema_version": version, "record": Record.of(record), **document}
