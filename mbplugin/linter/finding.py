"""A finding: the result of a rule for one element."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from mbplugin.phrases import one_line, shortened

Severity = Literal["error", "warning", "note"]
Applicability = Literal["safe", "unsafe"]
#: In order of increasing severity.
SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")
#: Maximum number of characters of a message and of its help sentence: what a pull-request annotation displays.
LONGEST = 300
#: Key of the evidence with the full text of a shortened message.
FULL_MESSAGE = "full_message"
#: Key of the evidence with all elements of a finding about several elements.
ELEMENTS = "elements"


@dataclass(frozen=True)
class TextRange:
    """A span of a file and the text that replaces it; lines and columns from 1, columns count characters."""

    file: str
    start_line: int
    start_column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True)
class FindingFix:
    """The edits that mend a finding, proved by linting the edited files.

    Parameters
    ----------
    applicability : "safe" or "unsafe"
        Safe: the robot stays as it was read, or what is misspelt takes effect. Unsafe: its meaning changes.
    title : str
        The change in a few words.
    edits : tuple of TextRange
    changes : tuple of str
        What it changes of the robot, as the comparison of both models states it.
    """

    applicability: Applicability
    title: str
    edits: tuple[TextRange, ...]
    changes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """One finding (a JSON contract: docs/lint.schema.json).

    Parameters
    ----------
    code, name : str
        ``MB201`` and ``redundant-constraints``.
    severity : "error", "warning" or "note"
    message : str
        The problem, in one sentence of at most 300 characters. A longer one, for example with long names,
        is shortened; the evidence then has the full text as ``full_message``.
    element : str
        The body, pair or model concerned.
    file, line : str, int
        Location of the element in the file; empty and 0 if there is none (a live client).
    evidence : mapping
        Numbers, with their units in the keys.
    help : str
        Advice on what to do.
    fix : FindingFix, optional
        The edits that mend it; only if a run was asked for them.
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
    fix: FindingFix | None = None

    @property
    def elements(self) -> tuple[str, ...]:
        """All elements that the finding is about; ``element`` is the first."""
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
