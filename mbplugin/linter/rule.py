"""The contract of a rule, and a finding: its result for one element."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from mbplugin import phrases
from mbplugin.model.scene import Origin, Scene
from mbplugin.phrases import one_line, shortened
from mbplugin.rendering import Result

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis


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


# Findings about parts that a reader skipped: the reader supplies the facts, the rule the severity.


def defects_noted(rule: Rule, scene: Scene, help: str) -> Iterator[Finding]:
    """Yield a finding for each defect with the code of a rule.

    Parameters
    ----------
    rule : Rule
        Its severity applies to defects that state none.
    scene : Scene
    help : str
        Advice on what to do; a ``toml`` text in the evidence of the defect is appended.
    """
    for defect in scene.defects:
        if defect.code == rule.code:
            evidence = dict(defect.evidence)
            toml = evidence.get("toml")
            yield make_finding(
                rule,
                defect.severity or rule.severity,
                defect.message,
                element=defect.element,
                origin=defect.origin,
                evidence=evidence,
                help=f"{help}:\n{toml}" if toml else help,
            )


class Rule(Result, ABC):
    """Base of every rule; subclass it to write one of your own.

    1. ``code`` is capital letters and at least three digits, for example ``ACME101``. ``MB`` is reserved. The
       meaning of a code never changes: the code of a removed rule is not reused.
    2. ``name`` is a name in kebab-case, for example ``payload-not-stated``.
    3. ``severity`` applies to all findings that state no other: "error" means wrong numbers downstream,
       "warning" a decision for the user, "note" a hint.
    4. The docstring of the class is the documentation: its first paragraph is the summary, its section
       ``Remedy`` the help of findings without their own.
    5. ``check(scene, analysis)`` yields findings, preferably made with ``self.finding``. ``analysis`` is None
       if the model could be read but not analyzed; ``scene.origin`` is empty for a live client.
    6. ``check`` depends only on its arguments and prints nothing: files are linted in several processes,
       in any order. The evidence of a finding consists of plain numbers, texts, lists and mappings.
    7. Exceptions from ``check``, including ``SystemExit``, are reported as MB911 with the name of the rule, and the
       other rules run. Each text of a finding is printed on one line, with unprintable characters escaped.
    8. A distribution announces each rule with an entry point in the group ``mbplugin.rules``; the entry
       point is the class, whose constructor takes no arguments, or an instance.
    9. ``opt_in = True`` switches a rule off by default: it runs only if the user selects it.
    """

    code: str
    name: str
    severity: Severity
    opt_in: bool = False

    def __repr__(self) -> str:
        return one_line(self, self.code, (self.name, self.severity, self.summary), "Rule")

    @abstractmethod
    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield a finding for each problem.

        Parameters
        ----------
        scene : Scene
            The model as read.
        analysis : Analysis or None
            None where the model could not be analyzed.
        """

    @property
    def documentation(self) -> str:
        """The full text: what the rule does, why it matters, an example, the remedy, references."""
        return inspect.getdoc(type(self)) or ""

    @property
    def summary(self) -> str:
        """The first paragraph of the documentation, in one line."""
        return " ".join(self.documentation.split("\n\n")[0].split())

    @property
    def remedy(self) -> str:
        """The section ``Remedy`` of the documentation, in one line."""
        _, _, after = self.documentation.partition("Remedy\n------\n")
        return " ".join(after.split("\n\n")[0].split())

    def finding(
        self,
        message: str,
        *,
        element: str = "",
        origin: Origin | None = None,
        evidence: Mapping[str, Any] | None = None,
        help: str = "",
        severity: Severity | None = None,
    ) -> Finding:
        """Return a finding of this rule.

        Parameters
        ----------
        message : str
            The problem, in one sentence without a line break.
        element : str
            The body, pair or model concerned.
        origin : Origin, optional
            Location of the element in the file, from ``scene.origin``.
        evidence : mapping, optional
            Numbers, with their units in the keys.
        help : str
            Advice on what to do; by default the remedy of the documentation.
        severity : "error", "warning" or "note", optional
        """
        file, line = (origin.file, origin.line) if origin else ("", 0)
        return Finding(
            self.code,
            self.name,
            severity or self.severity,
            message,
            element,
            file,
            line,
            dict(evidence or {}),
            help or self.remedy,
        )


def make_finding(
    rule: Rule,
    severity: Severity,
    message: str,
    *,
    element: str = "",
    origin: Origin | None = None,
    evidence: dict[str, Any] | None = None,
    help: str = "",
) -> Finding:
    """Return a finding of a rule; without ``help`` it has none."""
    file, line = (origin.file, origin.line) if origin else ("", 0)
    return Finding(rule.code, rule.name, severity, message, element, file, line, evidence or {}, help)


# Locations of findings in a file; elements of a live client have none.


def body_place(scene: Scene, body: str, *parts: str) -> Origin | None:
    """Return the location of the first of some parts of a body that is in the file; else that of the body."""
    places = (scene.origin.get(("body", body, part)) for part in (*parts, ""))
    return next((place for place in places if place is not None), None)


def constraint_place(scene: Scene, name: str) -> Origin | None:
    """Return the location of a constraint in the file."""
    return scene.origin.get(("constraint", name, ""))


def model_place(scene: Scene, part: str = "") -> Origin | None:
    """Return the location of an option of the scene; else that of the model, else the file."""
    for key in (("model", scene.mechanism.name, part), ("model", scene.mechanism.name, "")):
        if key in scene.origin:
            return scene.origin[key]
    return Origin(scene.files[0], 0) if scene.files else None


def listed(names: Sequence[str], most: int = 8, room: int = 150) -> str:
    """Return names in one phrase short enough for a message; see :func:`mbplugin.phrases.listed`."""
    return phrases.listed(names, most, room)
