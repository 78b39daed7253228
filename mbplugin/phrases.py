"""Numbers with their nouns, and names in one phrase."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mbplugin.visible import visible

#: Characters of one name where a phrase is to be short.
_LONGEST_NAME = 90
#: Characters of a result on one line.
_LONGEST_LINE = 200


def listed(names: Sequence[str], most: int = 8, room: int | None = None) -> str:
    """Return names joined by commas, and how many more there are: at most ``most``.

    With ``room``, no more than fit into so many characters, long ones shortened.
    """
    shown: list[str] = []
    for name in names[:most]:
        short = name if room is None else shortened(name, _LONGEST_NAME)
        if room is not None and shown and len(", ".join((*shown, short))) > room:
            break
        shown.append(short)
    more = len(names) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return ``1 link`` or ``2 links``, with a plural of its own where one is given."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def shortened(text: str, most: int) -> str:
    """Return a text of at most ``most`` characters: its beginning and its end, where it is longer."""
    if len(text) <= most:
        return text
    end = most // 3
    return f"{text[: most - end - 3]} … {text[-end:]}"


def cut_short(text: str, most: int) -> str:
    """Return a text on one line of at most ``most`` characters: its beginning, where it is longer."""
    text = visible(text)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def one_line(value: object, name: object, facts: Iterable[object]) -> str:
    """Return the ``repr`` of a result: its type, what it is about, and what one wants to know first."""
    about = repr(shortened(str(name), _LONGEST_NAME))
    listed_facts = " ".join(", ".join(map(str, facts)).split())
    return shortened(f"<{type(value).__name__} {about}: {listed_facts}>", _LONGEST_LINE)
