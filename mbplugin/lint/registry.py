"""Which rules exist: one module per rule in ``lint/rules``, called mbNNN_snake_name.

A rule module has a docstring (its documentation, its first sentence the summary), ``SEVERITY`` and

    check(scene: Scene, analysis: Analysis | None) -> Iterable[Finding]

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

from mbplugin.errors import UnknownName, suggestion
from mbplugin.lint import rules as rule_package
from mbplugin.lint.finding import Finding, Severity
from mbplugin.sources.scene import Origin, Scene

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis


@dataclass(frozen=True)
class Rule:
    """One rule.

    Parameters
    ----------
    code, name : str
        ``MB201`` and ``redundant-constraints``.
    severity : "error", "warning" or "note"
        Of its findings, unless a finding says otherwise.
    documentation : str
    check : callable
    """

    code: str
    name: str
    severity: Severity
    documentation: str
    check: Callable[[Scene, Analysis | None], Iterable[Finding]]

    @property
    def summary(self) -> str:
        """The first sentence of the documentation."""
        return " ".join(self.documentation.split("\n\n")[0].split())

    @property
    def remedy(self) -> str:
        """The section ``Remedy`` of the documentation, in one line."""
        _, _, after = self.documentation.partition("Remedy\n------\n")
        return " ".join(after.split("\n\n")[0].split())


@cache
def rules() -> tuple[Rule, ...]:
    """Return every rule, by code."""
    found = []
    for module_info in pkgutil.iter_modules(rule_package.__path__):
        module = importlib.import_module(f"{rule_package.__name__}.{module_info.name}")
        code, name = identity(module_info.name)
        found.append(Rule(code, name, module.SEVERITY, inspect.getdoc(module) or "", module.check))
    return tuple(sorted(found, key=lambda rule: rule.code))


def identity(module_name: str) -> tuple[str, str]:
    """Return code and public name of a rule's module name."""
    code, _, name = module_name.rpartition(".")[2].partition("_")
    return code.upper(), name.replace("_", "-")


def find_rule(code: str) -> Rule:
    """Return a rule by code or name.

    Raises
    ------
    UnknownName
        No such rule.
    """
    for rule in rules():
        if code.upper() == rule.code or code.lower() == rule.name:
            return rule
    raise UnknownName(
        f"no rule is called {code!r}", remedy=suggestion(code.upper(), [rule.code for rule in rules()])
    )


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
