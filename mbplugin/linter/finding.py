"""A finding: the result of a rule for one element."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]
#: From mild to severe.
SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")


@dataclass(frozen=True)
class Finding:
    """One finding (a JSON contract: docs/lint.schema.json).

    Parameters
    ----------
    code, name : str
        ``MB201`` and ``redundant-constraints``.
    severity : "error", "warning" or "note"
    message : str
        One sentence: what is the matter.
    element : str
        The body, pair or model it is about.
    file, line : str, int
        Where it was written; empty and 0 where it was not (a live client).
    evidence : mapping
        Numbers, with their units in the keys.
    help : str
        What to do.
    """

    code: str
    name: str
    severity: Severity
    message: str
    element: str = ""
    file: str = ""
    line: int = 0
    evidence: Mapping[str, Any] = field(default_factory=dict)
    help: str = ""
