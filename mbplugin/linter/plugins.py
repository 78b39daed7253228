"""Rules of other distributions, announced in the entry-point group ``mbplugin.rules``."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from mbplugin.linter.finding import SEVERITIES
from mbplugin.linter.rule import Rule
from mbplugin.processes.announced import RULE_GROUP, rules_are_announced
from mbplugin.processes.supervised import running
from mbplugin.visible import visible

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

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
        # an import may fail in any way, also by sys.exit, and one broken plugin must not stop a team's lint
        except BaseException as error:
            broken.append(BrokenPlugin(visible(entry.name), _distribution(entry), _failure(error)))
            continue
        codes.add(rule.code)
        found.append(rule)
    return tuple(found), tuple(broken)


def text_of(error: BaseException) -> str:
    """Return what an error of somebody else's code says, in one line that shows what does not print."""
    try:
        text = " ".join(str(error).split())
    # its __str__ is somebody else's too
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
        raise TypeError(f"{entry.value} is no mbplugin.linter.rule.Rule")
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
