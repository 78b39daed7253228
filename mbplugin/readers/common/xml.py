"""XML with line numbers, tolerant of exactly what PyBullet's parser tolerates.

That is: text before the declaration, ``--`` inside comments, and undeclared prefixes. Entities stay
off, and every other defect is an error with its line.
"""

from __future__ import annotations

import re
from copy import copy
from math import inf

from lxml import etree

from mbplugin.errors import BadNumber, BrokenModel, BrokenXml, UnreadableFile
from mbplugin.model.bounds import LARGEST
from mbplugin.model.scene import Origin
from mbplugin.model.spatial import Array, Pose, rotation_from_quaternion
from mbplugin.readers.common.numbers import angles, infinity, limit, numbers, usual_numbers

_PREFIX = re.compile(r"[<\s/]([A-Za-z_][\w.-]*):[A-Za-z_][\w.-]*")
_DECLARED = re.compile(r"\sxmlns:([\w.-]+)\s*=")
_START_TAG = re.compile(r"<[A-Za-z_](?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*>")
_NAME = re.compile(r"[A-Za-z_][\w.:-]{,60}")
_SUBSET = re.compile(r"<!DOCTYPE[^<>\[]*\[")

Element = etree._Element

#: Characters of what the parser says.
_LONGEST_REASON = 200
#: From here on reading attributes one by one takes time that grows with the square of their number.
_MANY_ATTRIBUTES = 200


def parse_xml(text: str, file: str) -> Element:
    """Return the root element; ``element.base`` is the file, ``element.sourceline`` the line.

    Raises
    ------
    UnreadableFile
        Nothing but blanks.
    BrokenXml
        Anything an XML parser refuses, except what is named above.
    """
    text = text.lstrip("\ufeff")
    if not text.strip():
        raise UnreadableFile("the file is empty", where=file, expected="a model")
    refuse_entities(text, file)
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
        # the parser names elements and attributes, which may be of any length
        reason = (error.msg or "not well-formed").split(", line")[0][:_LONGEST_REASON]
        raise BrokenXml(
            f"the XML is broken: {reason[:1].lower() + reason[1:]}",
            where=f"{file}:{line}",
            remedy="complete or correct the file there",
        ) from None
    return root


def refuse_entities(text: str, file: str) -> None:
    """Refuse a text that declares entities: they can read other files, and grow without end.

    Raises
    ------
    BrokenXml
        With the line of the first one.
    """
    if "<!ENTITY" in text:
        raise BrokenXml(
            "the file declares XML entities",
            where=f"{file}:{text[: text.index('<!ENTITY')].count(chr(10)) + 1}",
            expected="plain XML",
            remedy="write the text out",
        )


def _tolerated(text: str) -> str:
    """Blank out what PyBullet's parser reads past, keeping every line where it is."""
    text = without_comments(text)
    start = _declaration_end(text)
    text = _blanked(text[:start]) + text[start:]
    return _START_TAG.sub(_on_one_line, _declare_prefixes(text))


def without_comments(text: str) -> str:
    """Return a document with blanks for its comments, every line where it is."""
    return _without(text, "<!--", "-->")


def _without(text: str, opening: str, closing: str) -> str:
    # a search per part, not a pattern: that would search on from every one that is never closed
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
    """Return where ``<?xml …?>`` ends, or 0; only words and other instructions may stand before it."""
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
    """Move the line ends in a tag behind it: the parser counts to its end, a reader to its start."""
    tag = match.group()
    return tag.replace("\n", " ") + "\n" * tag.count("\n")


def _declare_prefixes(text: str) -> str:
    """Declare on the root element every prefix that the text uses and nothing declares."""
    markup = _without(text, "<![CDATA[", "]]>")
    tags = " ".join(re.sub(r"=\s*(\"[^\"]*\"|'[^']*')", "", tag) for tag in re.findall(r"<[^<>]*>", markup))
    used = set(_PREFIX.findall(tags)) - {"xml", "xmlns"}
    missing = sorted(used - set(_DECLARED.findall(markup)))
    root = re.search(r"<[A-Za-z_][\w.:-]*", text)
    if not missing or root is None:
        return text
    declared = "".join(f' xmlns:{p}="urn:undeclared:{p}"' for p in missing)
    return text[: root.end()] + declared + text[root.end() :]


def root_name(text: str) -> str:
    """Return the name of the first element of a text, empty where there is none."""
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
    """Return the tag without its namespace, keeping ``prefix:`` so that ``drake:joint`` is itself."""
    tag = element.tag
    # most names have no namespace, and a large file has ten thousands
    if isinstance(tag, str) and not tag.startswith("{"):
        return tag
    name = etree.QName(element).localname
    return f"{element.prefix}:{name}" if element.prefix else name


def children(element: Element, tag: str) -> list[Element]:
    """Return the child elements of a tag (with its prefix, if any)."""
    local = tag.rpartition(":")[2]
    return [child for child in element.iterchildren(f"{{*}}{local}") if local_name(child) == tag]


def child(element: Element, tag: str) -> Element | None:
    """Return the first child element of a tag."""
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
    """Return a joint limit; infinity, and magnitudes that stand for it, give ±inf."""
    unlimited = -inf if name == "lower" else inf
    if infinity(str(element.get(name, default))) == unlimited:
        return unlimited
    return limit(float(attribute_numbers(element, name, 1, default, inf)[0]))


def pose_of_origin(element: Element | None, *, snap: bool) -> Pose:
    """Return the pose of an element with ``xyz`` and ``rpy`` or ``quat_xyzw``; none means identity.

    Raises
    ------
    BrokenModel
        Both ``rpy`` and ``quat_xyzw``: urdfdom refuses that too.
    BadNumber
        A quaternion of length zero.
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
    """Return the rotation (3, 3) of ``quat_xyzw`` (URDF 1.1), normalised as urdfdom does."""
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

    The parser's library looks each one up from the first on: many are taken off a copy, in their order.
    """
    if len(element.attrib) < _MANY_ATTRIBUTES:
        return {str(name): str(value) for name, value in element.attrib.items()}
    twin = copy(element)
    return {str(name): str(twin.attrib.pop(name)) for name in twin.attrib.keys()}  # noqa: SIM118
