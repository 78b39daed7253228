"""Which rules exist: those of ``linter/rules``, and those of plugins.

A rule with a check of its own is a module there, ``mbNNN_snake_name``; rules that share one are classes, listed
in ``RULES`` of a module. A rule module has ``SEVERITY``, a docstring (its documentation, its first sentence the
summary) and

    check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]

One with ``OPT_IN = True`` is off by default.

``analysis`` is None where the model could be read but not analyzed.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from mbplugin.arguments import checked
from mbplugin.errors import UnknownName, suggestion
from mbplugin.linter import rules as rule_package
from mbplugin.linter.finding import Finding, Severity, identity
from mbplugin.linter.plugins import BrokenPlugin, plugin_rules
from mbplugin.linter.rule import Rule
from mbplugin.model.scene import Origin, Scene
from mbplugin.phrases import listed

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis


@dataclass(frozen=True, repr=False)
class ModuleRule(Rule):
    """A rule that is a module of ``linter/rules``."""

    code: str
    name: str
    severity: Severity
    text: str
    function: Callable[[Scene, Analysis | None], Iterable[Finding]]
    opt_in: bool = False

    @property
    def documentation(self) -> str:
        """The docstring of the module."""
        return inspect.cleandoc(self.text)

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield what the module's ``check`` finds."""
        return self.function(scene, analysis)


@cache
def built_in_rules() -> tuple[Rule, ...]:
    """Return the rules of ``linter/rules``, by code."""
    alone = map(_rule_of, _modules())
    return tuple(sorted((*alone, *_rules_of_a_kind()), key=lambda rule: rule.code))


@cache
def _modules() -> tuple[str, ...]:
    """Return the names of the modules that are rules."""
    names = (module.name for module in pkgutil.iter_modules(rule_package.__path__))
    return tuple(f"{rule_package.__name__}.{name}" for name in names if name.startswith("mb"))


@cache
def _rules_of_a_kind() -> tuple[Rule, ...]:
    """Return the rules that share a check with others."""
    from mbplugin.linter.rules import noted_by_reader, refused_input

    return (*noted_by_reader.RULES, *refused_input.RULES)


@cache
def _rule_of(module_name: str) -> Rule:
    module = importlib.import_module(module_name)
    opt_in = getattr(module, "OPT_IN", False)
    return ModuleRule(*identity(module_name), module.SEVERITY, module.__doc__ or "", module.check, opt_in)


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
    """Return a rule by code or name, or None; of those that come with mbplugin no other one is imported."""
    for module_name in _modules():
        if code.upper() in identity(module_name) or code.lower() in identity(module_name):
            return _rule_of(module_name)
    of_a_kind = (
        rule for rule in _rules_of_a_kind() if code.upper() == rule.code or code.lower() == rule.name
    )
    if rule := next(of_a_kind, None):
        return rule
    plugins = (rule for rule in _plugins()[0] if code.upper() == rule.code or code.lower() == rule.name)
    return next(plugins, None)


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


def make_finding(
    module_name: str,
    severity: Severity,
    message: str,
    *,
    element: str = "",
    origin: Origin | None = None,
    evidence: dict[str, Any] | None = None,
    help: str = "",
) -> Finding:
    """Return a finding of the rule whose module (``__name__``) asks for it."""
    code, name = identity(module_name)
    file, line = (origin.file, origin.line) if origin else ("", 0)
    return Finding(code, name, severity, message, element, file, line, evidence or {}, help)
