"""The largest size of a model; a larger one would take minutes, and is an error."""

from __future__ import annotations

import re

from mbplugin.errors import BrokenModel

#: Links of a model, and of all models of a scene together.
MOST_LINKS = 20_000
_LINK = re.compile(r"<(?:link|body)[\s/>]")
_JOINT = re.compile(r"<(?:joint|loop_joint)[\s/>]")


def require_ordinary_size(text: str, file: str) -> None:
    """Refuse the text of a model that states more links or joints than are read.

    Raises
    ------
    BrokenModel
        With how many there are, and how many may be.
    """
    for what, pattern in (("links", _LINK), ("joints", _JOINT)):
        # counted only where there may be too many: most texts are shorter than that
        if len(text) > 6 * MOST_LINKS and (count := len(pattern.findall(text))) > 2 * MOST_LINKS:
            raise _too_large(count, what, file)


def require_few_links(count: int, file: str) -> None:
    """Refuse a mechanism of more bodies than ``MOST_LINKS``.

    Raises
    ------
    BrokenModel
        With how many there are, and how many may be.
    """
    if count > MOST_LINKS:
        raise _too_large(count, "links", file)


def _too_large(count: int, what: str, file: str) -> BrokenModel:
    return BrokenModel(
        f"the model has {count} {what}",
        where=file,
        expected=f"at most {MOST_LINKS} links",
        remedy="leave out what does not move, or analyze it in parts",
    )
