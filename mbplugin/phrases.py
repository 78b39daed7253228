"""Numbers with their nouns, and names in one phrase."""

from __future__ import annotations

from collections.abc import Sequence


def listed(names: Sequence[str], most: int = 8) -> str:
    """Return names joined by commas, shortened where there are many."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return ``1 link`` or ``2 links``, with a plural of its own where one is given."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
