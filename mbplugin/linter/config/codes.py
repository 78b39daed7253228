"""Codes as people write them, none of which may be a misspelling."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from mbplugin.errors import BadUsage, UnknownName


def known_codes(texts: Iterable[str], said_by: str, where: str = "") -> tuple[str, ...]:
    """Return codes or beginnings of codes in capitals; names of rules become their codes.

    Parameters
    ----------
    texts : iterable of str
    said_by : str
        The option or key, for the message.
    where : str, optional

    Raises
    ------
    BadUsage
        No rule has a code that begins so, or this name.
    """
    stated = [text.strip() for text in texts]
    if not stated:
        return ()
    from mbplugin.linter.registry import rules

    codes = {rule.name: rule.code for rule in rules()}
    chosen = tuple(codes.get(text.lower(), text.upper()) for text in stated)
    for text, code in zip(stated, chosen, strict=True):
        if not any(known.startswith(code) for known in codes.values()):
            close = get_close_matches(text.lower(), codes, n=1) or get_close_matches(
                code, codes.values(), n=1
            )
            remedy = f"did you mean {close[0]!r}?" if close else "mbplugin rule lists the rules"
            raise BadUsage(f"{said_by} names {text!r}, which no rule has", where=where, remedy=remedy)
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
