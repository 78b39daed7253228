"""An earlier report, read from its JSON before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from mbplugin.errors import BadUsage, UnreadableFile
from mbplugin.files import parse_json, read_bounded
from mbplugin.report.documents import DOCUMENTS, DocumentName
from mbplugin.report.documents.part import required_keys
from mbplugin.report.documents.schema import output_of, violation
from mbplugin.visible import visible

#: Missing keys that a message names.
_NAMED = 4


@dataclass(frozen=True, eq=False)
class EarlierReport:
    """The JSON document of an earlier report.

    Parameters
    ----------
    path, sha256 : str
        The file, and the hash of its content.
    document : dict
    """

    path: str
    sha256: str
    document: dict[str, Any]


def read_earlier(path: Path | None, document: DocumentName) -> EarlierReport | None:
    """Return the earlier report of a command from its JSON file; None where no file is given.

    Raises
    ------
    UnreadableFile
        The file is missing, or no JSON.
    BadUsage
        It is not the JSON of this command.
    """
    if path is None:
        return None
    data = read_bounded(path)
    try:
        found = parse_json(data)
    except ValueError:
        raise UnreadableFile(
            "the earlier report is no JSON", where=str(path), expected=f"what mbplugin {document} wrote"
        ) from None
    missing = _missing(found, document)
    if missing:
        other = _command_of(found)
        raise BadUsage(
            f"the earlier report is that of mbplugin {other}"
            if other not in (None, document)
            else f"the earlier report has no {', '.join(missing[:_NAMED])}",
            where=str(path),
            expected=f"the JSON of mbplugin {document}",
        )
    if wrong := violation(found, document):
        raise BadUsage(
            f"the earlier report has another {visible(wrong)} than mbplugin {document} writes",
            where=str(path),
            expected=f"the JSON of mbplugin {document}",
            remedy=f"write it once more with mbplugin {document} --output",
        )
    return EarlierReport(str(path), sha256(data).hexdigest(), found)


def _missing(found: Any, document: DocumentName) -> list[str]:
    """Return the keys that every document of a command has and this one has not."""
    keys = required_keys(output_of(document))
    return [key for key in keys if not isinstance(found, dict) or key not in found]


def _command_of(found: Any) -> str | None:
    """Return the command that a report says made it; None where it says none."""
    record = found.get("record") if isinstance(found, dict) else None
    command = str(record.get("command", "")) if isinstance(record, dict) else ""
    return next((word for word in command.split()[1:] if word in DOCUMENTS), None)
