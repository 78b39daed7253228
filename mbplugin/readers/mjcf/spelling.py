"""What a misspelt word of MJCF may mean, from the list of words that MuJoCo prints."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

from mbplugin.errors import suggestion

_ATTRIBUTE = re.compile(r"unrecognized attribute: '([^']*)'")
_ELEMENT = re.compile(r"[Ee]lement '([^']*)'")
#: MuJoCo prints tags in the first 30 columns and their attributes behind.
_COLUMN = 30


def meant(mujoco: Any, message: str) -> str:
    """Return "did you mean …" for a compiler message about an unknown word; empty for any other."""
    element = _ELEMENT.search(message)
    if "unrecognized" not in message or element is None:
        return ""
    words = _words(mujoco)
    if attribute := _ATTRIBUTE.search(message):
        return suggestion(attribute.group(1), sorted(words.get(element.group(1), ())))
    return suggestion(element.group(1), sorted(words))


def _words(mujoco: Any) -> dict[str, set[str]]:
    """Return the attributes of every element, wherever it stands."""
    found: dict[str, set[str]] = defaultdict(set)
    tag = ""
    for line in mujoco.mj_printSchema(False, False).splitlines():
        head = line[:_COLUMN].split()
        if head:
            tag = "body" if head[0] == "(world)body" else head[0]
        found[tag].update(line[_COLUMN:].split())
    return {**found, "worldbody": found["body"]}
