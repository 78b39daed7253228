"""The overview of a lint: its verdict, each kind of finding once, and the reactions to distrust.

Equal parts of a robot count as one: findings that differ only in the side or number of their element, such as those
of ``foot_front_left`` and ``foot_back_right``, are one group with the pattern ``foot_*``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from mbplugin.linter.rule import SEVERITIES, Finding, Severity
from mbplugin.model import WORLD, base_sentence
from mbplugin.phrases import dataclass

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis
    from mbplugin.linter.run import Report

Verdict = Literal[
    "overconstrained",
    "not overconstrained",
    "singular pose",
    "unusable input",
    "skipped",
    "not linted",
    "configuration",
]
_UNUSED_WAIVER, _NOT_LINTED = "MB913", "MB915"
#: Words, letters and numbers of a name, and what separates them: ``foot``, ``_``, ``right``, ``R``.
_TOKENS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^A-Za-z\d]+")
#: Tokens that distinguish equal parts of a robot; so do numbers.
_SIDES = frozenset(
    (
        *("left", "right", "front", "back", "rear", "fore", "hind", "l", "r", "f", "b", "a", "c", "d"),
        *("fl", "fr", "rl", "rr", "bl", "br", "lf", "rf", "lh", "rh", "lr", "lb", "rb", "lm", "rm"),
    )
)
_STARS = re.compile(r"\*(?:[\W_]*\*)+")
#: Longest list of the names of equal parts that takes the place of their number and pattern, characters.
_SHORT = 20
_PLURALS = {"foot": "feet", "axis": "axes", "chassis": "chassis"}


@dataclass(frozen=True)
class Place:
    """A file, and a line in it; 0 if the finding has none."""

    file: str
    line: int


@dataclass(frozen=True)
class Alike:
    """Parts of a robot that differ only by side or number.

    Parameters
    ----------
    pattern : str
        Their common name with ``*`` for the sides and numbers; the name itself for a single part.
    names : tuple of str
    """

    pattern: str
    names: tuple[str, ...]

    @property
    def label(self) -> str:
        """The names of the parts if they are short, else number and pattern: ``4 feet`` or ``8 motor_*_joint``."""
        if len(self.names) == 1 or len(", ".join(self.names)) <= _SHORT:
            return ", ".join(self.names)
        words = [token for token in _TOKENS.findall(self.pattern) if token.isalpha()]
        return f"{len(self.names)} {_plural(words[0]) if len(words) == 1 else self.pattern}"


@dataclass(frozen=True)
class Kind:
    """All findings of one rule with one severity.

    Parameters
    ----------
    severity : "error", "warning" or "note"
    code, name : str
    findings : tuple of Finding
        In the order of the report.
    parts : tuple of Alike
        The elements of the findings; equal findings about equal parts are one entry.
    places : tuple of Place
        Without repetition, in the order of the findings.
    remedies : tuple of str
        The first sentence of each distinct help, with the pattern in place of the names of equal parts.
    """

    severity: Severity
    code: str
    name: str
    findings: tuple[Finding, ...]
    parts: tuple[Alike, ...]
    places: tuple[Place, ...]
    remedies: tuple[str, ...]

    @property
    def count(self) -> int:
        """The number of findings."""
        return len(self.findings)


@dataclass(frozen=True)
class Freedoms:
    """The degrees of freedom of a robot that stands on nothing: those of its joints, and those of its free bases."""

    joints: int
    bases: int


@dataclass(frozen=True)
class Overview:
    """What the owner of a robot needs to know first.

    Parameters
    ----------
    verdict : str
    declared : bool
        True if the scene declares the degree of redundancy that was found.
    counts : mapping of severity to int
    ignored : int
        Number of findings that the configuration ignores.
    exit_code : int
    kinds : tuple of Kind
        Every finding belongs to exactly one kind; the most severe first.
    freedoms : Freedoms or None
        None if the robot is tied to the ground.
    distrusted, undecided : tuple of Alike
        Constraints with a non-unique reaction, and those that the method cannot decide.
    constraints : int
        Number of all constraints.
    assumptions : tuple of str
        Assumptions made by default, one sentence each.
    """

    verdict: Verdict
    declared: bool
    counts: Mapping[Severity, int]
    ignored: int
    exit_code: int
    kinds: tuple[Kind, ...]
    freedoms: Freedoms | None
    distrusted: tuple[Alike, ...]
    undecided: tuple[Alike, ...]
    constraints: int
    assumptions: tuple[str, ...]


def overview_of(report: Report) -> Overview:
    """Return the overview of a lint."""
    analysis = report.analysis
    found = [finding.severity for finding in report.findings]
    stated = None if report.scene is None else report.scene.options.degree_of_redundancy
    return Overview(
        verdict=verdict_of(report),
        declared=analysis is not None and 0 < analysis.degree_of_redundancy == stated,
        counts={severity: found.count(severity) for severity in reversed(SEVERITIES)},
        ignored=len(report.suppressed),
        exit_code=report.exit_code,
        kinds=kinds_of(report.findings),
        freedoms=None if analysis is None else freedoms_of(analysis),
        distrusted=_with_reaction(analysis, "non-unique"),
        undecided=_with_reaction(analysis, "undecided"),
        constraints=0 if analysis is None else len(analysis.constraints),
        assumptions=() if analysis is None else _assumed(report, analysis),
    )


def _assumed(report: Report, analysis: Analysis) -> tuple[str, ...]:
    if report.stance is None:
        return base_sentence(analysis.mechanism.assumed_fixed)
    # only a lint of contacts needs it
    from mbplugin.readers.standing import stance_sentence

    return *base_sentence(analysis.mechanism.assumed_fixed), *stance_sentence(report.stance)


def verdict_of(report: Report) -> Verdict:
    """Return the verdict of a lint: on the mechanism, or the reason for having none."""
    if report.scene is None and all(finding.code == _UNUSED_WAIVER for finding in report.findings):
        return "configuration"
    if report.analysis is None:
        late = any(finding.code == _NOT_LINTED for finding in report.findings)
        return "skipped" if report.skipped else "not linted" if late else "unusable input"
    if report.analysis.structural_redundancy:
        return "overconstrained"
    return "singular pose" if report.analysis.degree_of_redundancy else "not overconstrained"


def freedoms_of(analysis: Analysis) -> Freedoms | None:
    """Return the degrees of freedom of the joints and of the free bases; None if the robot is tied to the ground."""
    mech = analysis.mechanism
    free = sum(joint.pair is None for joint in mech.tree.joints)
    tied = mech.pfaffians or any(WORLD in pair.bodies for pair in mech.pairs)
    in_fact = analysis.mobility.finite == analysis.dof
    if not free or tied or analysis.planar or not in_fact or len(mech.bodies) == free:
        return None
    return Freedoms(analysis.dof - 6 * free, free)


def kinds_of(findings: Sequence[Finding]) -> tuple[Kind, ...]:
    """Return the kinds of findings in the order of their first findings."""
    same: dict[tuple[Severity, str], list[Finding]] = {}
    for finding in findings:
        same.setdefault((finding.severity, finding.code), []).append(finding)
    return tuple(_kind(group) for group in same.values())


def _kind(findings: Sequence[Finding]) -> Kind:
    first = findings[0]
    equal: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        # equal findings about equal parts share the pattern, the remedy and the numbers
        pattern = pattern_of(finding.element)
        numbers = (
            (key, f"{value:.3g}" if isinstance(value, float) else str(value))
            for key, value in finding.evidence.items()
            if isinstance(value, int | float)
        )
        equal.setdefault((pattern, _remedy(finding, pattern), *numbers), []).append(finding)
    parts, remedies = [], []
    for group in equal.values():
        names = tuple(dict.fromkeys(finding.element for finding in group if finding.element))
        if names:
            parts.append(Alike(pattern_of(names[0]) if len(names) > 1 else names[0], names))
        remedies.append(_remedy(group[0], parts[-1].pattern if names else ""))
    places = dict.fromkeys(Place(finding.file, finding.line) for finding in findings if finding.file)
    return Kind(
        first.severity,
        first.code,
        first.name,
        tuple(findings),
        tuple(parts),
        tuple(places),
        tuple(dict.fromkeys(filter(None, remedies))),
    )


def _remedy(finding: Finding, pattern: str) -> str:
    """Return the first line of a finding's help, with a pattern in place of the element."""
    sentence = finding.help.partition("\n")[0].strip()
    return sentence.replace(finding.element, pattern) if finding.element else sentence


# Equal parts: names that differ only in sides and numbers.


def pattern_of(name: str) -> str:
    """Return a name with ``*`` for the sides and numbers in it; a name of nothing else is returned unchanged."""
    tokens = _TOKENS.findall(name)
    general = ["*" if token.isdigit() or token.lower() in _SIDES else token for token in tokens]
    if not any(token.isalpha() for token in general):
        return name
    return _STARS.sub("*", "".join(general))


def alike(names: Iterable[str]) -> tuple[Alike, ...]:
    """Group names that have the same pattern, in the order of their first names."""
    same: dict[str, list[str]] = {}
    for name in names:
        same.setdefault(pattern_of(name), []).append(name)
    return tuple(Alike(pattern if len(own) > 1 else own[0], tuple(own)) for pattern, own in same.items())


def _with_reaction(analysis: Analysis | None, reaction: str) -> tuple[Alike, ...]:
    constraints = () if analysis is None else analysis.constraints
    return alike(one.name for one in constraints if one.reaction == reaction)


def _plural(word: str) -> str:
    if word in _PLURALS:
        return _PLURALS[word]
    if word.endswith("s") and not word.endswith("ss"):
        return word
    if word.endswith("y") and word[-2:-1] not in tuple("aeiou"):
        return f"{word[:-1]}ies"
    return word + ("es" if word.endswith(("ss", "x", "ch", "sh")) else "s")
