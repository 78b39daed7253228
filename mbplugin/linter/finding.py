"""A finding: the result of a rule for one element."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from mbplugin.phrases import one_line, shortened

Severity = Literal["error", "warning", "note"]
#: From mild to severe.
SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")
#: Characters of a message and of the sentence of its help: what an annotation of a pull request shows.
LONGEST = 300
#: Where the full text of a message is kept that had to be shortened.
FULL_MESSAGE = "full_message"
#: Key of the evidence with all elements of a finding that is about several: one per file and rule.
ELEMENTS = "elements"


@dataclass(frozen=True)
class Finding:
    """One finding (a JSON contract: docs/lint.schema.json).

    Parameters
    ----------
    code, name : str
        ``MB201`` and ``redundant-constraints``.
    severity : "error", "warning" or "note"
    message : str
        One sentence of at most 300 characters: what is the matter. A longer one, of long names for example,
        is shortened, and is in the evidence in full as ``full_message``.
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

    @property
    def elements(self) -> tuple[str, ...]:
        """All elements that the finding is about, of which ``element`` is the first."""
        return tuple(self.evidence.get(ELEMENTS, ())) or (self.element,)

    def __post_init__(self) -> None:
        if isinstance(self.message, str) and len(self.message) > LONGEST:
            full = {**self.evidence, FULL_MESSAGE: self.message}
            object.__setattr__(self, "evidence", full)
            object.__setattr__(self, "message", shortened(self.message, LONGEST))
        sentence, line_break, to_paste = (
            self.help.partition("\n") if isinstance(self.help, str) else ("", "", "")
        )
        if len(sentence) > LONGEST:
            object.__setattr__(self, "help", f"{shortened(sentence, LONGEST)}{line_break}{to_paste}")

    def __repr__(self) -> str:
        place = f"{self.file}:{self.line}"
        return one_line(self, self.code, (self.severity, self.name, self.element, place))
