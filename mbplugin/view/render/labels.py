"""Which joints are named in a picture, and how long their names are there."""

from __future__ import annotations

from mbplugin.report.picture import JointGlyph, Picture
from mbplugin.visible import visible

#: With more joints than this only closures are labelled; of a name so many characters.
_MANY, _LONGEST = 14, 28


def labelled(seen: Picture) -> list[JointGlyph]:
    """Return the joints to be named, closures first."""
    joints = [joint for joint in seen.joints if joint.type != "fixed"]
    closures = [joint for joint in joints if joint.kind == "closure"]
    if len(joints) > _MANY:
        return closures
    return [*closures, *(joint for joint in joints if joint.kind != "closure")]


def shortened(name: str) -> str:
    """Return a name in one line that is not too long."""
    text = visible(name)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
