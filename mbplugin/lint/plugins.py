"""Rules of other distributions, announced in the entry-point group ``mbplugin.rules``."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points

from mbplugin.lint.finding import SEVERITIES
from mbplugin.lint.rule import Rule

GROUP = "mbplugin.rules"
_CODE = re.compile(r"[A-Z]+[0-9]{3,}")


@dataclass(frozen=True)
class BrokenPlugin:
    """An entry point that gives no rule: its name, its distribution, and why."""

    name: str
    distribution: str
    reason: str


def plugin_rules(taken: Collection[str]) -> tuple[tuple[Rule, ...], tuple[BrokenPlugin, ...]]:
    """Return the announced rules, and the announcements that hold no rule.

    Parameters
    ----------
    taken : collection of str
        The codes that a rule of a plugin cannot have.
    """
    codes, found, broken = set(taken), [], []
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            rule = _rule(entry)
            _check_contract(rule, codes)
        # an import may fail in any way, and one broken plugin must not stop a team's lint
        except Exception as error:
            distribution = entry.dist.name if entry.dist else "an unknown distribution"
            broken.append(BrokenPlugin(entry.name, distribution, f"{type(error).__name__}: {error}"))
            continue
        codes.add(rule.code)
        found.append(rule)
    return tuple(found), tuple(broken)


def _rule(entry: EntryPoint) -> Rule:
    loaded = entry.load()
    rule = loaded() if isinstance(loaded, type) else loaded
    if not isinstance(rule, Rule):
        raise TypeError(f"{entry.value} is no mbplugin.lint.rule.Rule")
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
