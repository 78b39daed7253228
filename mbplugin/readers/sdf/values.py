"""Values as SDF writes them: element text, poses with their formats, bounds that may be infinite."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, isinf

import numpy as np

from mbplugin.errors import BadNumber, BrokenModel
from mbplugin.model.bounds import decimal
from mbplugin.model.scene import Origin
from mbplugin.model.spatial import Array, Pose, rotation_from_quaternion
from mbplugin.readers.common.numbers import angles, limit, number, numbers
from mbplugin.readers.common.xml import Element, child, local_name, origin, where

#: (major, minor) of the ``<sdf version>`` an element was written under.
Version = tuple[int, int]
#: From this version on, values are the texts of elements.
OLDEST: Version = (1, 2)


@dataclass(frozen=True, eq=False)
class WrittenPose:
    """A ``<pose>`` as written.

    Parameters
    ----------
    X : Pose
        In the frame that ``relative_to`` names.
    relative_to : str
        Empty where the file names none; the default depends on the element.
    rpy : Origin or None
        The three angle words and their line; None for quaternions, degrees and where there is no pose.
    where : str
        File and line.
    """

    X: Pose
    relative_to: str
    rpy: Origin | None
    where: str

    @classmethod
    def none(cls, owner: Element) -> WrittenPose:
        """Return the pose of an element that states none."""
        return cls(Pose.identity(), "", None, where(owner))


def text_of(element: Element, tag: str, default: str = "") -> str:
    """Return the stripped text of a child element (``tag`` or ``drake:tag``)."""
    found = part(element, tag)
    return (found.text or "").strip() if found is not None else default


def part(element: Element, tag: str) -> Element | None:
    """Return the first child of a tag, with Drake's prefix or without."""
    found = child(element, tag)
    return child(element, f"drake:{tag}") if found is None else found


def vector_of(element: Element, tag: str, count: int, default: str) -> Array:
    """Return the numbers in a child element's text, (count,)."""
    found = part(element, tag)
    place = element if found is None else found
    text = default if found is None else (found.text or "")
    return numbers(text, count, where(place), f"<{tag}> of <{local_name(element)}>")


def number_of(element: Element, tag: str, default: float) -> float:
    """Return the number in a child element's text."""
    return float(vector_of(element, tag, 1, repr(default))[0])


def flag_of(element: Element, tag: str, default: bool = False) -> bool:
    """Return a truth value written as true/false or 1/0."""
    text = text_of(element, tag).lower()
    return default if not text else text in ("1", "true")


def bound_of(element: Element | None, tag: str, default: float) -> float:
    """Return a limit; words and magnitudes that stand for infinity give ±inf."""
    found = None if element is None else child(element, tag)
    if found is None or not (found.text or "").strip():
        return default
    text = (found.text or "").strip()
    try:
        value = decimal(text)
    except ValueError:
        value = 0.0
    if isinf(limit(value)):
        return limit(value)
    return number(text, where(found), f"<{tag}>")


def cap_of(element: Element | None, tag: str) -> float:
    """Return an effort or velocity limit; a negative one is not enforced."""
    value = bound_of(element, tag, inf)
    return inf if value < 0 else value


def version_of(root: Element) -> Version:
    """Return the version of an ``<sdf>`` element; none is read by the newest rules.

    Raises
    ------
    BadNumber
        The text is no version.
    """
    text = str(root.get("version", "1.11")).strip()
    major, _, minor = text.partition(".")
    if not (major.isdigit() and (minor or "0").isdigit()):
        raise BadNumber(f"the SDF version is {text!r}", where=where(root), expected="1.2 to 1.11")
    return int(major), int(minor or "0")


def require_known_version(root: Element) -> None:
    """Refuse a document of a version that states poses, masses and axes in attributes.

    Raises
    ------
    BrokenModel
        A version before 1.2, or a ``<gazebo>`` without a version, which no version of SDF is.
    """
    if local_name(root) == "gazebo" and root.get("version") is None:
        raise BrokenModel(
            "the root element is <gazebo> without a version",
            where=where(root),
            expected="a URDF (<robot>) around it, or SDF (<sdf version=...>)",
        )
    if version_of(root) < OLDEST:
        raise BrokenModel(
            f"SDF {root.get('version')} is not read: it states poses, masses and axes in attributes",
            where=where(root),
            expected="SDF 1.2 or later",
            remedy="convert the file with gzsdf convert of Gazebo 1.x to 6.x",
        )


def pose_of(owner: Element, *, snap: bool) -> WrittenPose:
    """Return the ``<pose>`` of an element; none means identity in the default frame.

    Raises
    ------
    BadNumber
        Another count of numbers, one that is not finite, or a zero quaternion.
    """
    element = child(owner, "pose")
    if element is None:
        return WrittenPose.none(owner)
    relative_to, place = str(element.get("relative_to", "")), where(element)
    words = (element.text or "").replace(",", " ").split()
    what = f"<pose> of <{local_name(owner)}>"
    if not words:
        return WrittenPose(Pose.identity(), relative_to, None, place)
    if element.get("rotation_format", "euler_rpy") == "quat_xyzw":
        values = numbers(" ".join(words), 7, place, what)
        if not values[3:].any():
            raise BadNumber(f"{what} has a zero quaternion", where=place, expected="a unit quaternion")
        X = Pose(rotation_from_quaternion(values[3:]), values[:3])
        return WrittenPose(X, relative_to, None, place)
    values = numbers(" ".join(words), 6, place, what)
    if str(element.get("degrees", "false")).lower() in ("1", "true"):
        X = Pose.from_xyz_rpy(values[:3], np.deg2rad(values[3:]))
        return WrittenPose(X, relative_to, None, place)
    literal = " ".join(words[3:])
    X = Pose.from_xyz_rpy(values[:3], angles(literal, place, what, snap=snap))
    return WrittenPose(X, relative_to, origin(element, literal), place)
