"""Codes as people write them, none of which may be a misspelling."""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.errors import BadUsage, UnknownName, suggestion


def known_codes(texts: Iterable[str], said_by: str, where: str = "") -> tuple[str, ...]:
    """Return codes or beginnings of codes in capitals.

    Parameters
    ----------
    texts : iterable of str
    said_by : str
        The option or key, for the message.
    where : str, optional

    Raises
    ------
    BadUsage
        No rule has a code that begins so.
    """
    chosen = tuple(text.strip().upper() for text in texts)
    if chosen:
        from mbplugin.linter.registry import rules

        known = [rule.code for rule in rules()]
        for code in chosen:
            if not code.startswith("MB9") and not any(k.startswith(code) for k in known):
                raise BadUsage(
                    f"{said_by} names {code!r}, which no rule has",
                    where=where,
                    remedy=suggestion(code, known),
                )
    return chosen


def rule_code(text: str, said_by: str, where: str) -> str:
    """Return the code of a rule that is named by its code or its name.

    Raises
    ------
    BadUsage
        There is no such rule.
    """
    from mbplugin.linter.registry import find_rule

    try:
        return find_rule(text.strip()).code
    except UnknownName as error:
        raise BadUsage(
            f"{said_by} names {text!r}, which no rule is called", where=where, remedy=error.remedy
        ) from None
