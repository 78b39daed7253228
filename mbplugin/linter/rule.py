"""The contract of a rule."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mbplugin import phrases
from mbplugin.linter.finding import Finding, Severity
from mbplugin.model.scene import Origin, Scene
from mbplugin.phrases import one_line
from mbplugin.rendering import Result

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis

# Findings about parts that a reader skipped: the reader has the facts, the rule its severity.


def defects_noted(rule: Rule, scene: Scene, help: str) -> Iterator[Finding]:
    """Yield a finding per defect that carries the code of a rule.

    Parameters
    ----------
    rule : Rule
        Its severity is that of a defect that states none of its own.
    scene : Scene
    help : str
        What to do, where the defect's evidence has no ``toml`` to paste.
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

    1. ``code`` is capital letters and at least three digits, ``ACME101``. ``MB`` is taken. A code means
       one thing for ever: the code of a removed rule is not used again.
    2. ``name`` says the same in kebab-case, ``payload-not-stated``.
    3. ``severity`` is that of its findings, unless a finding says otherwise: "error" means wrong numbers
       downstream, "warning" something to decide about, "note" a hint.
    4. The docstring of the class is the documentation: its first paragraph is the summary, its section
       ``Remedy`` the help of findings that give none.
    5. ``check(scene, analysis)`` yields findings, best made by ``self.finding``. ``analysis`` is None
       where the model could be read but not analyzed; ``scene.origin`` is empty for a live client.
    6. ``check`` depends on its arguments only, and prints nothing: files are linted in several processes,
       in any order. The evidence of a finding is plain numbers, texts, lists and mappings.
    7. What ``check`` raises, ``SystemExit`` too, is reported as MB911 with the name of the rule, and the
       other rules run. Texts of findings are shown on one line each, with escapes for what does not print.
    8. A distribution announces its rules, one entry point each, in the group ``mbplugin.rules``; an entry
       point is the class, without arguments to its constructor, or an instance.
    9. ``opt_in = True`` makes a rule off by default: it runs where the user selects it.
    """

    code: str
    name: str
    severity: Severity
    opt_in: bool = False

    def __repr__(self) -> str:
        return one_line(self, self.code, (self.name, self.severity, self.summary), "Rule")

    @abstractmethod
    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield what is wrong.

        Parameters
        ----------
        scene : Scene
            The model as it was read.
        analysis : Analysis or None
            None where the model could not be analyzed.
        """

    @property
    def documentation(self) -> str:
        """What the rule does, why it matters, an example, the remedy, references."""
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
            One sentence without a line break: what is the matter.
        element : str
            The body, pair or model it is about.
        origin : Origin, optional
            Where that was written, as ``scene.origin`` has it.
        evidence : mapping, optional
            Numbers, with their units in the keys.
        help : str
            What to do; the remedy of the documentation where nothing is given.
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
    """Return a finding of a rule, without help where none is given."""
    file, line = (origin.file, origin.line) if origin else ("", 0)
    return Finding(rule.code, rule.name, severity, message, element, file, line, evidence or {}, help)


# The place of a finding in a file; elements of a live client have none.


def body_place(scene: Scene, body: str, *parts: str) -> Origin | None:
    """Return where a part of a body was written, the first one that was; else the body itself."""
    places = (scene.origin.get(("body", body, part)) for part in (*parts, ""))
    return next((place for place in places if place is not None), None)


def constraint_place(scene: Scene, name: str) -> Origin | None:
    """Return where a constraint was written."""
    return scene.origin.get(("constraint", name, ""))


def model_place(scene: Scene, part: str = "") -> Origin | None:
    """Return where the model, or an option of its scene, was written; at least the file."""
    for key in (("model", scene.mechanism.name, part), ("model", scene.mechanism.name, "")):
        if key in scene.origin:
            return scene.origin[key]
    return Origin(scene.files[0], 0) if scene.files else None


def listed(names: Sequence[str], most: int = 8, room: int = 150) -> str:
    """Return names in one phrase as short as a message needs; see :func:`mbplugin.phrases.listed`."""
    return phrases.listed(names, most, room)
