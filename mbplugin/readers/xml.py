"""XML with line numbers, tolerating exactly what PyBullet's parser tolerates.

That is: text before the declaration, ``--`` inside comments, undeclared prefixes, and tags with two colons. Entities
stay disabled, and every other defect is an error with its line.
"""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from math import hypot, inf, isfinite, isnan
from typing import Literal

import numpy as np
from lxml import etree

from mbplugin.errors import BadNumber, BrokenModel, BrokenXml, UnreadableFile
from mbplugin.model import LARGEST, Array, Pose, decimal, rotation_from_quaternion
from mbplugin.model.scene import Defect, Document, Origin, Written

_PREFIX = re.compile(r"[<\s/]([A-Za-z_][\w.-]*):[A-Za-z_][\w.-]*")
_DECLARED = re.compile(r"\sxmlns:([\w.-]+)\s*=")
#: The first colon of a tag such as ``<gz::system_priority>``, and the letter that stands for it in the parser.
_COLON = "\N{MODIFIER LETTER TRIANGULAR COLON}"
_DOUBLE_COLON = re.compile(r"(?<=<)(/?[A-Za-z_][\w.-]{,60}):(?=:[A-Za-z_])")
_START_TAG = re.compile(r"<[A-Za-z_](?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*>")
_NAME = re.compile(r"[A-Za-z_][\w.:-]{,60}")
_SUBSET = re.compile(r"<!DOCTYPE[^<>\[]*\[")
Element = etree._Element
#: Attributes of MJCF that turn an element by angles, with the number of their words that are no angles.
TURNING = {"euler": 0, "axisangle": 3}
#: Maximum length of a quoted parser message, characters.
_LONGEST_REASON = 200
#: From this number on, reading attributes one by one is avoided: it takes quadratic time.
_MANY_ATTRIBUTES = 200
#: From this magnitude on, a limit means "no limit"; 1e16 was SDF's own default for long.
_UNLIMITED = 1e15
#: Largest finite number.
_LARGEST_FLOAT = sys.float_info.max
_DECIMAL = re.compile(r"^[+-]?(\d*)\.?(\d*)$", re.ASCII)
#: Maximum number of elements of one file.
_MOST_ELEMENTS = 1_000_000
#: Prefixes of ROS variables; a model may copy their values into its texts, and so into reports.
ROS_PREFIXES = ("ROS_", "AMENT_", "COLCON_", "RMW_", "GAZEBO_", "GZ_", "IGN_")


# A parsed document as a table of its elements, which outlives the parser and can be sent to another process.


def document_of(root: Element, format: str) -> Document:
    """Return the elements of a document in file order."""
    position: dict[Element, int] = {}
    elements: list[Written] = []
    file = str(root.base)
    for element in root.iter(etree.Element):
        parent = element.getparent()
        position[element] = len(elements)
        attributes = attributes_of(element)
        text = " ".join((element.text or "").split())
        above = -1 if parent is None or element is root else position[parent]
        place = Origin(file, int(element.sourceline or 0))
        elements.append(Written(local_name(element), attributes, text, place, above))
    return Document(format, tuple(elements))


def parse_xml(text: str, file: str) -> Element:
    """Return the root element; ``element.base`` is the file, ``element.sourceline`` the line.

    Raises
    ------
    UnreadableFile
        The text is blank.
    BrokenXml
        The XML is malformed beyond the tolerated defects above, declares entities, or has too many elements.
    """
    text = text.lstrip("\ufeff")
    if not text.strip():
        raise UnreadableFile("the file is empty", where=file, expected="a model")
    refuse_entities(text, file)
    # a robot has some thousands; each takes about a hundred times its bytes in memory
    if text.count("<") - text.count("</") > _MOST_ELEMENTS:
        raise BrokenXml(
            f"the file has more than {_MOST_ELEMENTS:,} elements".replace(",", " "),
            where=file,
            expected="a model of a mechanism",
            remedy="split it",
        )
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=True,
        remove_pis=True,
        remove_comments=True,
    )
    try:
        root = etree.fromstring(_tolerated(text).encode(), parser, base_url=file)
    except etree.XMLSyntaxError as error:
        line = error.lineno or 1
        # the parser quotes elements and attributes, which may be of any length
        reason = (error.msg or "not well-formed").split(", line")[0][:_LONGEST_REASON]
        raise BrokenXml(
            f"the XML is broken: {reason[:1].lower() + reason[1:]}",
            where=f"{file}:{line}",
            remedy="complete or correct the file there",
        ) from None
    return root


def refuse_entities(text: str, file: str) -> None:
    """Refuse a text that declares entities: they can read other files, and expand without bound.

    Raises
    ------
    BrokenXml
        With the line of the first declaration.
    """
    if "<!ENTITY" in text:
        raise BrokenXml(
            "the file declares XML entities",
            where=f"{file}:{text[: text.index('<!ENTITY')].count(chr(10)) + 1}",
            expected="plain XML",
            remedy="write the text out",
        )


def _tolerated(text: str) -> str:
    """Blank out or repair what PyBullet's parser tolerates, preserving line numbers."""
    text = without_comments(text)
    start = _declaration_end(text)
    text = _DOUBLE_COLON.sub(rf"\1{_COLON}", _blanked(text[:start]) + text[start:])
    return _START_TAG.sub(_on_one_line, _declare_prefixes(text))


def without_comments(text: str) -> str:
    """Replace the comments of a document by blanks, preserving line numbers."""
    return _without(text, "<!--", "-->")


def _without(text: str, opening: str, closing: str) -> str:
    # a search per part instead of a pattern, which would rescan the rest for every unclosed opening
    parts, position = [], 0
    while (start := text.find(opening, position)) >= 0:
        end = text.find(closing, start + len(opening))
        if end < 0:
            break
        end += len(closing)
        parts += [text[position:start], _blanked(text[start:end])]
        position = end
    return "".join((*parts, text[position:]))


def _declaration_end(text: str) -> int:
    """Return the index after ``<?xml …?>``, or 0; only text and other instructions may precede it."""
    start = text.find("<")
    while start >= 0 and text.startswith("<?", start):
        end = text.find("?>", start)
        if end < 0:
            return 0
        if text.startswith("<?xml", start) and text[start + 5].isspace():
            return end + 2
        start = text.find("<", end)
    return 0


def _blanked(text: str) -> str:
    return "".join(c if c == "\n" else " " for c in text)


def _on_one_line(match: re.Match[str]) -> str:
    """Move line breaks within a tag behind it: the parser reports a tag's last line, readers expect its first."""
    tag = match.group()
    return tag.replace("\n", " ") + "\n" * tag.count("\n")


def _declare_prefixes(text: str) -> str:
    """Declare every undeclared prefix on the root element."""
    markup = _without(text, "<![CDATA[", "]]>")
    tags = " ".join(re.sub(r"=\s*(\"[^\"]*\"|'[^']*')", "", tag) for tag in re.findall(r"<[^<>]*>", markup))
    used = set(_PREFIX.findall(tags)) - {"xml", "xmlns"}
    missing = sorted(used - set(_DECLARED.findall(markup)))
    root = re.search(r"<[A-Za-z_][\w.:-]*", text)
    if not missing or root is None:
        return text
    declared = "".join(f' xmlns:{p}="urn:undeclared:{p.replace(_COLON, "..")}"' for p in missing)
    return text[: root.end()] + declared + text[root.end() :]


def root_name(text: str) -> str:
    """Return the name of the first element of a text, empty if there is none."""
    position = text.find("<")
    while position >= 0:
        if match := _NAME.match(text, position + 1):
            return match.group()
        if text.startswith("<!--", position):
            end = text.find("-->", position + 4)
        elif text.startswith("<!DOCTYPE", position) and _SUBSET.match(text, position):
            end = text.find("]", position)
        else:
            end = text.find(">", position)
        position = text.find("<", end) if end >= 0 else -1
    return ""


def local_name(element: Element) -> str:
    """Return the tag without its namespace but with its ``prefix:``, as in ``drake:joint``."""
    tag = element.tag
    # fast path: most names have no namespace, and a large file has ten thousand elements
    if isinstance(tag, str) and not tag.startswith("{"):
        return tag
    name = etree.QName(element).localname
    return f"{element.prefix.replace(_COLON, ':')}:{name}" if element.prefix else name


def children(element: Element, tag: str) -> list[Element]:
    """Return the child elements with a tag (including its prefix, if any)."""
    local = tag.rpartition(":")[2]
    return [child for child in element.iterchildren(f"{{*}}{local}") if local_name(child) == tag]


def child(element: Element, tag: str) -> Element | None:
    """Return the first child element with a tag."""
    found = children(element, tag)
    return found[0] if found else None


def where(element: Element) -> str:
    """Return ``file:line`` of an element."""
    return f"{element.base}:{element.sourceline}"


def origin(element: Element, text: str = "") -> Origin:
    """Return the origin of an element, or of one of its literals."""
    return Origin(str(element.base), int(element.sourceline or 0), text)


def attribute_numbers(
    element: Element, name: str, count: int, default: str, largest: float = LARGEST
) -> Array:
    """Return the numbers of an attribute, (count,)."""
    text = str(element.get(name, default))
    usual = usual_numbers(text, count, largest)
    if usual is not None:
        return usual
    return numbers(text, count, where(element), f"{name} of <{local_name(element)}>", largest)


def attribute_limit(element: Element, name: str, default: str) -> float:
    """Return a joint limit; ±inf if the text states infinity or a magnitude that means it."""
    unlimited = -inf if name == "lower" else inf
    if infinity(str(element.get(name, default))) == unlimited:
        return unlimited
    return limit(float(attribute_numbers(element, name, 1, default, inf)[0]))


def colour_of(text: str) -> tuple[float, ...]:
    """Return colour and opacity, 0 to 1, from three or four numbers; empty if the text is invalid, without an error."""
    try:
        values = [min(max(decimal(word), 0.0), 1.0) for word in text.split()]
    except ValueError:
        return ()
    return (*values, 1.0)[:4] if len(values) in (3, 4) and not any(map(isnan, values)) else ()


def pose_of_origin(element: Element | None, *, snap: bool) -> Pose:
    """Return the pose of an element with ``xyz`` and ``rpy`` or ``quat_xyzw``; identity without an element.

    Raises
    ------
    BrokenModel
        The element has both ``rpy`` and ``quat_xyzw``, which urdfdom refuses too.
    BadNumber
        A number is invalid, or the quaternion has length zero.
    """
    if element is None:
        return Pose.identity()
    xyz = attribute_numbers(element, "xyz", 3, "0 0 0")
    if element.get("quat_xyzw") is not None:
        return Pose(_quaternion_rotation(element), xyz)
    text = str(element.get("rpy", "0 0 0"))
    rpy = None if snap else usual_numbers(text, 3)
    if rpy is None:
        rpy = angles(text, where(element), f"rpy of <{local_name(element)}>", snap=snap)
    return Pose.from_xyz_rpy(xyz, rpy)


def _quaternion_rotation(element: Element) -> Array:
    """Return the rotation (3, 3) of ``quat_xyzw`` (URDF 1.1), normalised as in urdfdom."""
    tag = f"<{local_name(element)}>"
    if element.get("rpy") is not None:
        raise BrokenModel(
            f"{tag} has both rpy and quat_xyzw",
            where=where(element),
            expected="one of them; urdfdom refuses both",
            remedy="remove one",
        )
    quaternion = attribute_numbers(element, "quat_xyzw", 4, "")
    if not quaternion.any():
        raise BadNumber(
            f"quat_xyzw of {tag} is zero", where=where(element), expected="a unit quaternion x y z w"
        )
    return rotation_from_quaternion(quaternion)


def attributes_of(element: Element) -> dict[str, str]:
    """Return the attributes of an element in file order.

    lxml searches each one from the first: many attributes are popped off a copy in their order.
    """
    if len(element.attrib) < _MANY_ATTRIBUTES:
        return {str(name): str(value) for name, value in element.attrib.items()}
    twin = copy(element)
    return {str(name): str(twin.attrib.pop(name)) for name in twin.attrib.keys()}  # noqa: SIM118


# Numbers as text: finite, counted, and rounded angles.


def numbers(text: str, count: int, where: str, what: str, largest: float = LARGEST) -> Array:
    """Return ``count`` finite numbers separated by blanks or commas, (count,).

    Raises
    ------
    BadNumber
        Wrong count, a word, NaN or infinity, or a magnitude above ``largest``; ``where`` and ``what`` give the
        location and name for the message.
    """
    usual = usual_numbers(text, count, largest)
    if usual is not None:
        return usual
    words = text.replace(",", " ").split()
    try:
        values = np.array([decimal(word) for word in words])
    except ValueError:
        raise BadNumber(
            f"{what} is {_short_text(text)}",
            where=where,
            expected=f"{count} numbers",
            remedy="correct the text",
        ) from None
    if values.size != count:
        raise BadNumber(
            f"{what} has {values.size} numbers", where=where, expected=f"{count}", remedy="correct the text"
        )
    if not np.isfinite(values).all():
        raise BadNumber(
            f"{what} is {_short_text(text)}",
            where=where,
            expected="finite numbers",
            remedy="replace NaN and infinity",
        )
    raise BadNumber(
        f"{what} is {_short_text(text)}",
        where=where,
        expected=f"magnitudes up to {largest:g}",
        remedy="correct the number or its unit",
    )


def usual_numbers(text: str, count: int, largest: float = LARGEST) -> Array | None:
    """Return ``count`` finite numbers up to ``largest`` in magnitude, (count,); None for any other text.

    Fast path: a large model has ten thousand numbers, too many to check as arrays or to locate individually.
    """
    # equivalent to decimal(), for all words at once
    if "_" in text or not text.isascii():
        return None
    try:
        values = [float(word) for word in text.replace(",", " ").split()]
    except ValueError:
        return None
    bound = min(largest, _LARGEST_FLOAT)
    # comparisons with NaN are false
    if len(values) != count or not all(-bound <= value <= bound for value in values):
        return None
    return np.array(values)


def number(text: str, where: str, what: str) -> float:
    """Return one finite number."""
    return float(numbers(text, 1, where, what)[0])


def limit(value: float) -> float:
    """Return a joint limit, ±inf if its magnitude is one that no joint reaches."""
    return math.copysign(math.inf, value) if abs(value) >= _UNLIMITED else value


def infinity(text: str) -> float | None:
    """Return ±inf if a text states it (``inf``, ``-Infinity``, ``1e999``), else None."""
    try:
        value = decimal(text)
    except ValueError:
        return None
    return value if math.isinf(value) else None


def angles(text: str, where: str, what: str, *, snap: bool) -> Array:
    """Return three angles (3,) in rad; with ``snap``, rounded literals give the angles they stand for."""
    values = numbers(text, 3, where, what)
    if snap:
        for i, word in enumerate(text.replace(",", " ").split()):
            if rounded := rounded_angle(word):
                values[i] = rounded.meant
    return values


@dataclass(frozen=True)
class RoundedAngle:
    """A literal that is a rounded multiple of a common fraction of π.

    Parameters
    ----------
    literal : str
    meant : float
        rad.
    name : str
        ``π/2``, ``-π``, ``5π/36`` …
    error : float
        literal − meant, rad.
    """

    literal: str
    meant: float
    name: str
    error: float


def rounded_angle(literal: str) -> RoundedAngle | None:
    """Return the angle that a literal stands for; None if it is exact or stands for itself.

    A literal qualifies within five units of its last decimal (at most 1e-3 rad) of a multiple of
    π/4 or π/6, and within one unit of a multiple of π/36 (5°) when it has four significant digits.
    """
    match = _DECIMAL.match(literal.strip())
    if match is None or not match.group(2):
        return None
    value, unit = float(literal), 10.0 ** -len(match.group(2))
    digits = len((match.group(1) + match.group(2)).lstrip("0"))
    for fraction, units, least_digits in ((4, 5, 3), (6, 5, 3), (36, 1, 4)):
        k = round(value * fraction / math.pi)
        meant = k * math.pi / fraction
        error = value - meant
        if k and digits >= least_digits and 4e-16 * abs(k) < abs(error) <= min(units * unit, 1e-3):
            return RoundedAngle(literal.strip(), meant, _fraction_name(k, fraction), error)
    return None


def _fraction_name(k: int, fraction: int) -> str:
    divisor = math.gcd(k, fraction)
    k, fraction = k // divisor, fraction // divisor
    sign, factor = ("-" if k < 0 else ""), ("" if abs(k) == 1 else str(abs(k)))
    return f"{sign}{factor}π" + (f"/{fraction}" if fraction > 1 else "")


def _short_text(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= 40 else text[:37] + "...")


# Environment variables that a model may read: only those of ROS.


def is_ros_variable(name: str) -> bool:
    """Return True if a variable belongs to ROS."""
    return name.startswith(ROS_PREFIXES)


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
