"""Which rules run: all that are on by default, or those that the user selects."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mbplugin.linter.rule import Rule


@dataclass(frozen=True)
class Selection:
    """Codes, or prefixes of codes such as ``MB2``, that select rules.

    Parameters
    ----------
    select : tuple of str
        Only these; where it is empty, all rules that are on by default.
    ignore : tuple of str
        Not these, whatever selects them.
    extend_select : tuple of str
        These too: the way to switch on a rule that is off by default.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()

    def includes(self, rule: Rule) -> bool:
        """Return whether a rule runs."""
        by_default = not self.select and not rule.opt_in
        chosen = by_default or _begins(rule.code, (*self.select, *self.extend_select))
        return chosen and not _begins(rule.code, self.ignore)


def _begins(code: str, prefixes: Iterable[str]) -> bool:
    return any(code.startswith(prefix.upper()) for prefix in prefixes)
