"""Rules applied to a scene: one that raises becomes a finding, and the others run."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from mbplugin.errors import MissingDependency
from mbplugin.linter.finding import SEVERITIES, Finding
from mbplugin.linter.plugins import text_of
from mbplugin.linter.registry import broken_plugins, find_rule, is_built_in, rules
from mbplugin.linter.rule import Rule
from mbplugin.linter.selection import Selection
from mbplugin.model.scene import Scene
from mbplugin.processes.supervised import RULE_MEMORY, RuleTookTooLong, rule_seconds, running
from mbplugin.visible import visible

if TYPE_CHECKING:
    from mbplugin.analysis import Analysis

FAILED_RULE = "MB911"
#: Rules that were stopped, and what is said of them: many files would wait for them many times.
_STOPPED: dict[str, str] = {}


def apply_rules(scene: Scene, analysis: Analysis | None, selection: Selection) -> Iterator[Finding]:
    """Yield the findings of the selected rules, and MB911 for what is no working rule."""
    for rule in rules():
        if selection.includes(rule):
            yield from _applied(rule, scene, analysis)
    for plugin in broken_plugins():
        yield find_rule(FAILED_RULE).finding(
            f"the rule {plugin.name!r} of {plugin.distribution} cannot be loaded: {plugin.reason}",
            element=plugin.name,
            evidence={"distribution": plugin.distribution},
        )


def _applied(rule: Rule, scene: Scene, analysis: Analysis | None) -> list[Finding]:
    if is_built_in(rule):
        return _found(rule, scene, analysis)
    if rule.code in _STOPPED:
        return [_failure(rule, _STOPPED[rule.code])]
    try:
        with running(f"the rule {rule.code} {rule.name}"):
            return [_cleaned(finding) for finding in _found(rule, scene, analysis)]
    # its alarm may ring at any line of it, also of the last one
    except RuleTookTooLong as error:
        _STOPPED[rule.code] = f"{error} for an earlier file, and not run again"
        return [_failure(rule, str(error), traceback.format_exc())]


def _found(rule: Rule, scene: Scene, analysis: Analysis | None) -> list[Finding]:
    try:
        return [_checked(rule, finding) for finding in rule.check(scene, analysis)]
    except (KeyboardInterrupt, RuleTookTooLong):
        raise
    except MissingDependency as error:
        return [find_rule(error.code).finding(str(error), element=rule.name)]
    # rules are other people's code too, and may end by sys.exit
    except BaseException as error:
        if isinstance(error, MemoryError) and rule_seconds() is not None:
            return [_failure(rule, f"it needs more than {RULE_MEMORY >> 30} GiB of memory")]
        reason = f"{text_of(error) or 'no reason given'} ({type(error).__name__})"
        return [_failure(rule, reason, traceback.format_exc())]


def _failure(rule: Rule, reason: str, trace: str = "") -> Finding:
    return find_rule(FAILED_RULE).finding(
        f"rule {rule.code} {rule.name} failed: {reason}",
        element=rule.name,
        evidence={"rule": rule.code, "traceback": trace},
    )


def _cleaned(finding: Finding) -> Finding:
    """Return a finding of somebody else's rule with texts of one line each, like names of a file."""
    return replace(
        finding,
        message=visible(finding.message),
        element=visible(finding.element),
        help=visible(" ".join(finding.help.splitlines())),
    )


def _checked(rule: Rule, finding: object) -> Finding:
    """Return the finding; a contract that is broken later breaks the whole report."""
    if not isinstance(finding, Finding):
        raise TypeError(f"it yielded {type(finding).__name__}, not a Finding")
    texts = {name: getattr(finding, name) for name in ("message", "element", "file", "help")}
    if wrong := [name for name, text in texts.items() if not isinstance(text, str)]:
        raise TypeError(f"the {wrong[0]} of its finding is {type(texts[wrong[0]]).__name__}, not str")
    if finding.code != rule.code or finding.severity not in SEVERITIES:
        raise ValueError(f"it yielded a finding {finding.code!r} of severity {finding.severity!r}")
    return finding
