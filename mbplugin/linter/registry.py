"""Which rules exist: those of ``linter/rules``, and those of plugins.

A rule is a class with a code in a module there: see :class:`mbplugin.linter.rule.Rule`. Nothing registers it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache

from mbplugin.arguments import checked
from mbplugin.errors import UnknownName, suggestion
from mbplugin.linter import rules as rule_package
from mbplugin.linter.plugins import BrokenPlugin, plugin_rules
from mbplugin.linter.rule import Rule
from mbplugin.phrases import listed


@cache
def built_in_rules() -> tuple[Rule, ...]:
    """Return the rules of ``linter/rules``, by code."""
    return tuple(sorted((made() for made in _classes()), key=lambda rule: rule.code))


def _classes() -> Iterator[type[Rule]]:
    """Yield the classes in ``linter/rules`` that have a code; those without are bases of others."""
    for module in pkgutil.iter_modules(rule_package.__path__):
        found = importlib.import_module(f"{rule_package.__name__}.{module.name}")
        for made in vars(found).values():
            if isinstance(made, type) and issubclass(made, Rule) and hasattr(made, "code"):
                yield made


@cache
def _plugins() -> tuple[tuple[Rule, ...], tuple[BrokenPlugin, ...]]:
    return plugin_rules([rule.code for rule in built_in_rules()])


@checked
def rules() -> tuple[Rule, ...]:
    """Return every rule by code, first those that come with mbplugin."""
    return (*built_in_rules(), *sorted(_plugins()[0], key=lambda rule: rule.code))


def is_built_in(rule: Rule) -> bool:
    """Return whether a rule comes with mbplugin."""
    return type(rule).__module__.startswith("mbplugin.")


def broken_plugins() -> tuple[BrokenPlugin, ...]:
    """Return what is announced as a rule and is none."""
    return _plugins()[1]


def rules_about(words: str) -> tuple[Rule, ...]:
    """Return the rules whose name or documentation has all of some words, those with it in their names first."""
    wanted = words.lower().split()
    named = [rule for rule in rules() if all(word in rule.name for word in wanted)]
    other = [rule for rule in rules() if all(word in rule.documentation.lower() for word in wanted)]
    return (*named, *(rule for rule in other if rule not in named)) if wanted else ()


def named_rule(code: str) -> Rule | None:
    """Return a rule by code or name, or None; plug-ins are looked at last."""
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
