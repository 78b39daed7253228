"""All existing rules: those of ``linter/rules``, and those of plugins.

A rule is a class with a code in a module there: see :class:`mbplugin.linter.rule.Rule`. It needs no registration.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from mbplugin.arguments import checked
from mbplugin.errors import UnknownName, suggestion
from mbplugin.linter import rules as rule_package
from mbplugin.linter.rule import SEVERITIES, Rule
from mbplugin.phrases import listed, visible
from mbplugin.processes.foreign import RULE_GROUP, rules_are_announced
from mbplugin.processes.supervised import running

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_CODE = re.compile(r"[A-Z]+[0-9]{3,}")


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


def rules_about(words: str) -> tuple[Rule, ...]:
    """Return the rules whose name or documentation contains all given words, matches in names first."""
    wanted = words.lower().split()
    named = [rule for rule in rules() if all(word in rule.name for word in wanted)]
    other = [rule for rule in rules() if all(word in rule.documentation.lower() for word in wanted)]
    return (*named, *(rule for rule in other if rule not in named)) if wanted else ()


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
        raise UnknownName(f"no rule is called {code!r}", expected=f"one that it begins: {listed(begun, 12)}")
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
