"""The contract of a rule, a finding (its result for one element), and all rules: built-in ones and plugins.

A rule is a class with a code in a module of ``linter/rules``: see :class:`Rule`. It needs no registration.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, NoReturn

from mbplugin import phrases
from mbplugin.arguments import checked
from mbplugin.choices import Severity as Severity
from mbplugin.errors import UnknownName, suggestion
from mbplugin.formats import ENDINGS
from mbplugin.linter import rules as rule_package
from mbplugin.model import Origin, Scene
from mbplugin.phrases import dataclass, one_line, shortened, visible
from mbplugin.processes.foreign import RULE_GROUP, rules_are_announced
from mbplugin.processes.supervised import running
from mbplugin.rendering import Result, refuse_attribute

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from mbplugin.analysis import Analysis


Applicability = Literal["safe", "unsafe"]
#: In order of increasing severity.
SEVERITIES: tuple[Severity, ...] = ("note", "warning", "error")
#: Maximum number of characters of a message and of its help sentence: what a pull-request annotation displays.
LONGEST = 300
#: Key of the evidence with the full text of a shortened message.
FULL_MESSAGE = "full_message"
#: Key of the evidence with all elements of a finding about several elements.
ELEMENTS = "elements"
_CODE = re.compile(r"[A-Z]+[0-9]{3,}")


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
        The edits that fix it; only if the run requested them.
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

    def __getattr__(self, name: str) -> NoReturn:
        """Raise the error for an attribute that does not exist, with the nearest one that does."""
        refuse_attribute(self, name)

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


@cache
def built_in_rules() -> tuple[Rule, ...]:
    """Return the rules of ``linter/rules``, sorted by code."""
    return tuple(sorted((made() for made in _classes()), key=lambda rule: rule.code))


def _classes() -> Iterator[type[Rule]]:
    """Yield the classes in ``linter/rules`` that have a code; classes without one are base classes."""
    for module in pkgutil.iter_modules(rule_package.__path__):
        found = importlib.import_module(f"{rule_package.__name__}.{module.name}")
        for made in vars(found).values():
            own = getattr(made, "__module__", "") == found.__name__
            if own and isinstance(made, type) and issubclass(made, Rule) and hasattr(made, "code"):
                yield made


@cache
def _plugins() -> tuple[tuple[Rule, ...], tuple[BrokenPlugin, ...]]:
    return plugin_rules([rule.code for rule in built_in_rules()])


@checked
def rules() -> tuple[Rule, ...]:
    """Return all rules sorted by code, those that come with mbplugin first."""
    return (*built_in_rules(), *sorted(_plugins()[0], key=lambda rule: rule.code))


def is_built_in(rule: Rule) -> bool:
    """Return True if a rule comes with mbplugin."""
    return any(rule is own for own in built_in_rules())


def broken_plugins() -> tuple[BrokenPlugin, ...]:
    """Return the plugins that announce a rule but do not provide it."""
    return _plugins()[1]


#: Words of the field that the names and pages of rules do not use, and the word there.
_OF_THE_FIELD = {
    **dict.fromkeys(("overconstrained", "overconstraint", "overconstraints", "hyperstatic"), "redundant"),
    **dict.fromkeys(("indeterminate", "underdetermined", "ambiguous"), "unique"),
    **dict.fromkeys(("collision", "collisions", "penetration"), "overlap"),
    **dict.fromkeys(("bounds", "range", "ranges"), "limit"),
}
#: Shortest beginning of a word that is searched for.
_BEGINNING = 5


def rules_about(words: str) -> tuple[Rule, ...]:
    """Return the rules whose name or documentation contains all given words, matches in names first.

    Where there is none, words of the field and the beginnings of the words count.
    """
    wanted = words.lower().replace("-", " ").replace("_", " ").split()
    field = [_OF_THE_FIELD.get(word, word) for word in wanted]
    begun = [word[: max(_BEGINNING, len(word) - 3)] for word in field if word.isalpha()]
    return next(filter(None, (_all_in(stems) for stems in (wanted, field, begun) if stems)), ())


def _all_in(words: Sequence[str]) -> tuple[Rule, ...]:
    named = [rule for rule in rules() if all(word in rule.name for word in words)]
    other = [rule for rule in rules() if all(word in rule.documentation.lower() for word in words)]
    return (*named, *(rule for rule in other if rule not in named))


def named_rule(code: str) -> Rule | None:
    """Return a rule by code or name, or None; rules of plugins are searched last."""
    for rule in _own_first():
        if code.upper() == rule.code or code.lower() == rule.name:
            return rule
    return None


def _own_first() -> Iterator[Rule]:
    yield from built_in_rules()
    yield from _plugins()[0]


def find_rule(code: str | int) -> Rule:
    """Return a rule by code, the number of its code, or name.

    Raises
    ------
    UnknownName
        No such rule.
    """
    code = f"MB{code}" if str(code).isdigit() else str(code)
    if rule := named_rule(code):
        return rule
    if found := rules_about(code):
        names = ", ".join(f"{rule.code} {rule.name}" for rule in found[:3])
        raise UnknownName(f"no rule is called {code!r}", expected=f"one of its kind: {names}")
    codes = [rule.code for rule in rules()]
    if begun := [known for known in codes if known.startswith(code.upper())]:
        raise UnknownName(
            f"no rule is called {code!r}", expected=f"one that it begins: {phrases.listed(begun, 12)}"
        )
    if re.fullmatch(r"(?i)MB\d{3}", code):
        # a number that is near another one is no misspelling of it
        raise UnknownName(f"no rule is called {code!r}", remedy="'mbplugin rule' lists all rules")
    if code.lower().endswith(ENDINGS):
        raise UnknownName(
            f"no rule is called {code!r}",
            expected="a code or a name of a rule",
            remedy=f"write mbplugin lint {code} -v for all about a file",
        )
    raise UnknownName(f"no rule is called {code!r}", remedy=suggestion(code.upper(), codes))


# Rules of other distributions, announced in the entry-point group ``mbplugin.rules``.


@dataclass(frozen=True)
class BrokenPlugin:
    """An entry point that provides no rule: its name, its distribution, and the reason."""

    name: str
    distribution: str
    reason: str


def plugin_rules(taken: Collection[str]) -> tuple[tuple[Rule, ...], tuple[BrokenPlugin, ...]]:
    """Return the announced rules, and the entry points that provide no rule.

    Parameters
    ----------
    taken : collection of str
        Codes that a plugin's rule cannot use.
    """
    if not rules_are_announced():
        return (), ()
    from importlib.metadata import entry_points

    codes, found, broken = set(taken), [], []
    for entry in sorted(entry_points(group=RULE_GROUP), key=lambda entry: entry.name):
        try:
            with running(f"the rule {entry.name!r} of {_distribution(entry)}"):
                rule = _rule(entry)
                _check_contract(rule, codes)
        except KeyboardInterrupt:
            raise
        # an import may fail in any way, even with sys.exit, and one broken plugin must not stop the lint
        except BaseException as error:
            broken.append(BrokenPlugin(visible(entry.name), _distribution(entry), _failure(error)))
            continue
        codes.add(rule.code)
        found.append(rule)
    return tuple(found), tuple(broken)


def text_of(error: BaseException) -> str:
    """Return the message of a foreign error in one line, with unprintable characters escaped."""
    try:
        text = " ".join(str(error).split())
    # __str__ is foreign code, too
    except Exception:
        text = ""
    return visible(text)


def _distribution(entry: EntryPoint) -> str:
    return visible(entry.dist.name) if entry.dist else "an unknown distribution"


def _failure(error: BaseException) -> str:
    return f"{visible(type(error).__name__)}: {text_of(error) or 'no reason given'}"


def _rule(entry: EntryPoint) -> Rule:
    loaded = entry.load()
    rule = loaded() if isinstance(loaded, type) else loaded
    if not isinstance(rule, Rule):
        raise TypeError(f"{entry.value} is not a mbplugin.linter.rule.Rule")
    return rule


def _check_contract(rule: Rule, taken: Collection[str]) -> None:
    if not _CODE.fullmatch(rule.code) or rule.code.startswith("MB"):
        raise ValueError(f"the code {rule.code!r} is not capital letters other than MB and three digits")
    if rule.code in taken:
        raise ValueError(f"the code {rule.code} is taken by another rule")
    if rule.severity not in SEVERITIES:
        raise ValueError(f"the severity {rule.severity!r} is none of {', '.join(SEVERITIES)}")
    if not rule.name or not rule.summary:
        raise ValueError("the rule has no name or no docstring")


# Selection of rules: all that are on by default, or those that the user selects.


@dataclass(frozen=True)
class Selection:
    """Codes, or prefixes of codes such as ``MB2``, that select rules.

    Parameters
    ----------
    select : tuple of str
        Only these rules; if empty, all rules that are on by default.
    ignore : tuple of str
        Rules that do not run, even if selected.
    extend_select : tuple of str
        Additional rules; switches on rules that are off by default.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()

    def includes(self, rule: Rule) -> bool:
        """Return True if a rule runs."""
        by_default = not self.select and not rule.opt_in
        chosen = by_default or _begins(rule.code, (*self.select, *self.extend_select))
        return chosen and not _begins(rule.code, self.ignore)


def _begins(code: str, prefixes: Iterable[str]) -> bool:
    return any(code.startswith(prefix.upper()) for prefix in prefixes)
