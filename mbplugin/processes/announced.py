"""Whether other distributions announce rules, mostly without the library that reads their metadata."""

from __future__ import annotations

import sys
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

#: The entry points of rules of other distributions.
RULE_GROUP = "mbplugin.rules"


@cache
def rules_are_announced() -> bool:
    """Return whether an entry point of some distribution is a rule.

    To import the library takes longer than to see that no distribution mentions the group.
    """
    if not _has_other_finders() and not any(map(_may_announce, sys.path)):
        return False
    from importlib.metadata import entry_points

    return bool(entry_points(group=RULE_GROUP))


def _has_other_finders() -> bool:
    """Return whether distributions may be elsewhere than in the folders of the search path."""
    return any(hasattr(one, "find_distributions") and one is not PathFinder for one in sys.meta_path)


def _may_announce(entry: str) -> bool:
    """Return whether a distribution in an entry of the search path mentions the group; an archive may."""
    folder = Path(entry)
    try:
        return any(_mentions(one) for one in folder.iterdir() if one.name.lower().endswith("-info"))
    except OSError:
        return folder.is_file()


def _mentions(metadata: Path) -> bool:
    try:
        return RULE_GROUP.encode() in (metadata / "entry_points.txt").read_bytes()
    except OSError:
        return False
