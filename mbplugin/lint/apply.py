"""Rules applied to a scene: one that raises becomes a finding, and the others run."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from mbplugin.lint.finding import SEVERITIES, Finding
from mbplugin.lint.registry import broken_plugins, find_rule, rules
from mbplugin.lint.rule import Rule
from mbplugin.sources.scene import Scene

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis

FAILED_RULE = "MB911"


def apply_rules(
    scene: Scene, analysis: Analysis | None, selected: Callable[[str], bool]
) -> Iterator[Finding]:
    """Yield the findings of the rules whose codes are selected, and MB911 for what is no working rule."""
    for rule in rules():
        if selected(rule.code):
            yield from _applied(rule, scene, analysis)
    for plugin in broken_plugins():
        yield find_rule(FAILED_RULE).finding(
            f"the rule {plugin.name!r} of {plugin.distribution} cannot be loaded: {plugin.reason}",
            element=plugin.name,
            evidence={"distribution": plugin.distribution},
        )


def _applied(rule: Rule, scene: Scene, analysis: Analysis | None) -> list[Finding]:
    try:
        return [_checked(rule, finding) for finding in rule.check(scene, analysis)]
    # rules are other people's code too
    except Exception as error:
        return [
            find_rule(FAILED_RULE).finding(
                f"rule {rule.code} {rule.name} failed: {' '.join(str(error).split()) or 'no reason given'}"
                f" ({type(error).__name__})",
                element=rule.name,
                evidence={"rule": rule.code, "traceback": traceback.format_exc()},
            )
        ]


def _checked(rule: Rule, finding: object) -> Finding:
    """Return the finding; a contract that is broken later breaks the whole report."""
    if not isinstance(finding, Finding):
        raise TypeError(f"it yielded {type(finding).__name__}, not a Finding")
    if finding.code != rule.code or finding.severity not in SEVERITIES:
        raise ValueError(f"it yielded a finding {finding.code!r} of severity {finding.severity!r}")
    return finding
