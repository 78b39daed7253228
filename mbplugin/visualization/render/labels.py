"""Which joints are named in a picture, and how long their names are there."""

from __future__ import annotations

from mbplugin.report.picture import JointGlyph, Picture

#: With more joints than this only closures are labelled.
_MANY = 14
#: Characters of a name.
LONGEST = 28


def labelled(seen: Picture) -> list[JointGlyph]:
    """Return the joints to be named, closures first."""
    joints = [joint for joint in seen.joints if joint.type != "fixed"]
    closures = [joint for joint in joints if joint.kind == "closure"]
    if len(joints) > _MANY:
        return closures
    return [*closures, *(joint for joint in joints if joint.kind != "closure")]
