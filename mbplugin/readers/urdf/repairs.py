"""Malformed numbers that PyBullet accepts: they are read as in PyBullet, and reported."""

from __future__ import annotations

import re

from mbplugin.model.scene import Defect
from mbplugin.readers.common.xml import Element, local_name, origin

#: A number with a full stop or a C suffix behind it, as in ``-1.57.``
_TRAILING = re.compile(r"([+-]?(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?)[.f]|([+-]?\d+)f")
_VECTORS = ("xyz", "rpy", "scale", "size")
_SCALARS = (
    *("lower", "upper", "effort", "velocity", "acceleration", "deceleration", "jerk"),
    *("damping", "friction", "value", "radius", "length"),
)


def repair_numbers(robot: Element) -> list[Defect]:
    """Correct such literals of links and joints in place, and return what was done."""
    defects = []
    for owner in robot:
        if not isinstance(owner.tag, str) or local_name(owner) not in ("link", "joint", "drake:joint"):
            continue
        for element in owner.iter():
            for name in (*_VECTORS, *_SCALARS):
                text = element.get(name)
                if text is None or (taken := _taken(name, str(text))) == text:
                    continue
                message = (
                    f"{name}={str(text)!r} of <{local_name(element)}> is malformed; {taken!r} is taken, "
                    "as PyBullet does"
                )
                evidence = {"literal": str(text), "taken": taken}
                place = origin(element, str(text))
                defects.append(Defect("MB114", str(owner.get("name", "")), message, place, evidence))
                element.set(name, taken)
    return defects


def _taken(name: str, text: str) -> str:
    words = text.split()
    repaired = [_without_trailing(word) for word in words]
    if name in _VECTORS and len(words) > 3:
        repaired = repaired[:3]
    return text if repaired == words else " ".join(repaired)


def _without_trailing(word: str) -> str:
    match = _TRAILING.fullmatch(word)
    return (match.group(1) or match.group(2)) if match else word
