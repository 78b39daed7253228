"""Quaternions in files whose norm differs from 1 by more than the rounding of their digits.

The readers normalise them, or leave that to MuJoCo; other programs may not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from math import hypot, isfinite
from typing import Literal

from mbplugin.model.scene import Defect, Origin
from mbplugin.readers.xml import Element, local_name, origin

#: Attributes of XML that end with a quaternion, with the number of numbers before it.
QUATERNIONS = {"quat": 0, "refquat": 0, "relpose": 3, "quat_xyzw": 0}
#: A norm is 1 to this error in all files: numbers of single precision, and those cut off after five digits.
_EXACT = 1e-5
#: The programs that read a format, and what they do with such a quaternion.
_TAKEN = {
    "MJCF": "MuJoCo normalises them",
    "URDF": "urdf::Rotation normalises them",
    "SDF": "libsdformat takes them as they are, so that the rotation depends on the program",
}


def wrong_norm(words: Sequence[str]) -> float | None:
    """Return the norm of a quaternion that no rounding of its digits explains; None for any other, and for zero.

    Parameters
    ----------
    words : sequence of str
        The four numbers as they are written, in any order.
    """
    try:
        values = [float(word) for word in words]
        digits = [Decimal(word).as_tuple() for word in words]
    except (ValueError, InvalidOperation):
        return None
    norm = hypot(*values)
    if len(values) != 4 or not isfinite(norm) or norm == 0.0:
        return None
    fractions = [one for one, value in zip(digits, values, strict=True) if value != round(value)]
    # a whole number may be a fraction rounded to as many digits as the longest one has
    most = max((len(one.digits) for one in fractions), default=0)
    whole = 0.5 * 10.0**-most if fractions else 0.0
    errors = [
        whole if value == round(value) else 0.5 * 10.0 ** int(one.exponent)
        for one, value in zip(digits, values, strict=True)
    ]
    rounding = sum(abs(value) * error for value, error in zip(values, errors, strict=True)) / norm
    return norm if abs(norm - 1.0) > max(rounding, _EXACT) else None


def quaternion_defects(root: Element, format: str) -> Iterator[Defect]:
    """Yield a defect for each quaternion of a document whose norm is not 1.

    Parameters
    ----------
    root : Element
    format : "URDF", "SDF" or "MJCF"
    """
    severity: Literal["note", "warning"] = "warning" if format == "SDF" else "note"
    for element in root.iter("{*}*"):
        for what, words in _quaternions(element, format):
            norm = wrong_norm(words)
            if norm is not None:
                yield quaternion_defect(_name(element), what, norm, origin(element), _TAKEN[format], severity)


def quaternion_defect(
    element: str, what: str, norm: float, place: Origin, taken: str, severity: Literal["note", "warning"]
) -> Defect:
    """Return the defect of a quaternion.

    Parameters
    ----------
    element : str
        The named element that it belongs to.
    what : str
        The statement that holds it.
    norm : float
    place : Origin
    taken : str
        What readers do with it, with "them" for quaternions of this kind.
    severity : "note" or "warning"
    """
    message = f"{what} of {element!r} (norm {norm:.6g}, line {place.line})"
    return Defect("MB136", element, message, place, {"norm": norm, "taken": taken}, severity)


def _quaternions(element: Element, format: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the quaternions of an element: the statement, and its four numbers as they are written."""
    tag = f"<{local_name(element)}>"
    if format == "SDF":
        if tag == "<pose>" and element.get("rotation_format") == "quat_xyzw":
            yield tag, _words(element.text)[3:]
        return
    for name, before in QUATERNIONS.items():
        stated = element.get(name)
        if stated is not None:
            yield f"{name} of {tag}", _words(stated)[before:]


def _words(text: object) -> list[str]:
    return str(text or "").replace(",", " ").split()


def _name(element: Element) -> str:
    """Return the name of an element, or of the nearest one around it; else its tag."""
    around = (element, *element.iterancestors())
    return next((str(one.get("name")) for one in around if one.get("name")), local_name(element))
