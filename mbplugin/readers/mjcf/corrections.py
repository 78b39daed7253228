"""What mends a word of an MJCF file for which MuJoCo refuses the model: one near match, and where it stands.

MuJoCo names one misspelt tag, attribute or name, and its line, but not the file of the line. All elements with the same
word are wrong in the same way.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mbplugin.phrases import only_near
from mbplugin.readers.xml import Element, local_name, origin

#: MuJoCo prints tags in the first columns, three more for each level, followed by their attributes.
_COLUMN, _INDENT = 30, 3
_ELEMENT = re.compile(r"Element '([^']+)'")
_ATTRIBUTE = re.compile(r"unrecognized attribute: '([^']*)'")
_QUOTED = re.compile(r"'([^']+)'")
_LINE = re.compile(r"\bline (?:number=)?(\d+)", re.I)
_INVERTED = "range[0] should be smaller than range[1] in joint"
_NAME = re.compile(r"Element name '([^']*)'")
_REPEATED = re.compile(r"element '([^']*)' is repeated in equality constraint")
#: What the attributes of MJCF name.
_NAMED = {
    **dict.fromkeys(("body", "body1", "body2"), "body"),
    **dict.fromkeys(("joint", "joint1", "joint2", "jointinparent"), "joint"),
    **dict.fromkeys(("site", "site1", "site2", "cranksite", "slidersite", "refsite", "sidesite"), "site"),
    **dict.fromkeys(("geom", "geom1", "geom2"), "geom"),
    **dict.fromkeys(("tendon", "tendon1", "tendon2"), "tendon"),
    **{kind: kind for kind in ("mesh", "material", "texture", "hfield", "actuator")},
    **dict.fromkeys(("class", "childclass"), "default"),
}
#: Attributes that name what another one says, and elements like a body that MuJoCo does not print.
_TYPED = {"objname": "objtype", "refname": "reftype"}
_LIKE_BODIES = ("worldbody", "frame", "replicate")
_IN_BODIES = frozenset({"body", "frame", "replicate", "composite", "attach", "include"})
#: Elements that make names which the file does not state.
_MAKING_NAMES = ("attach", "replicate", "composite", "flexcomp")
#: The coefficients of a joint that is coupled with itself and so not bound.
_UNBOUND = ("", "0 1", "0 1 0", "0 1 0 0", "0 1 0 0 0")
#: The parent of what an included file begins with.
_UNKNOWN = "\0"


@dataclass(eq=False)
class Schema:
    """The tags and attributes that MuJoCo knows: attributes and children of each tag, in a parent and anywhere.

    ``main`` is the root of the model; what is around an included part is not known.
    """

    main: Element
    attributes: dict[tuple[str, str], set[str]] = field(default_factory=lambda: defaultdict(set))
    children: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    @classmethod
    def of(cls, mujoco: Any, main: Element) -> Schema:
        """Return the schema that a version of MuJoCo prints."""
        schema, above = cls(main), list[str]()
        for line in mujoco.mj_printSchema(False, False).splitlines():
            head = line[:_COLUMN]
            if words := head.split():
                depth = (len(head) - len(head.lstrip())) // _INDENT
                above[depth:] = ["body" if words[0] == "(world)body" else words[0]]
            if not above:
                continue
            parent, tag = above[-2] if len(above) > 1 else "", above[-1]
            schema.children[parent].add(tag)
            for key in ((parent, tag), ("", tag)):
                schema.attributes[key].update(line[_COLUMN:].split())
        schema.children["body"] |= _IN_BODIES
        schema.children["mujoco"] = schema.children["mujoco"] - {"body"} | {"worldbody", "include"}
        return schema

    def tags(self, element: Element) -> set[str]:
        """Return the tags that are allowed in the place of an element."""
        return self.children.get(self._parent(element)) or set().union(*self.children.values())

    def names(self, element: Element) -> set[str]:
        """Return the attributes that an element may have."""
        tag = _tag(element)
        return self.attributes.get((self._parent(element), tag)) or self.attributes.get(("", tag), set())

    def _parent(self, element: Element) -> str:
        outer = element.getparent()
        known = outer is not None and (outer is self.main or outer.getparent() is not None)
        return _tag(outer) if known and outer is not None else _UNKNOWN


def correction_of(schema: Schema, message: str, roots: Sequence[Element]) -> dict[str, Any]:
    """Return the correction of the word that a message of MuJoCo is about; empty if it is not certain.

    Parameters
    ----------
    schema : Schema
    message : str
        The message, with the names of the files.
    roots : sequence of Element
        The documents of the model.

    Returns
    -------
    dict
        ``places``, and ``meant``, the word for the misspelt one, with the ``tag`` of the elements, or the ``kind`` of
        what they name; or ``itself``, the joint that they couple with itself; or ``exchange``, the attribute of the
        joint whose two numbers are in the wrong order.
    """
    elements = [element for root in roots for element in root.iter("{*}*")]
    stated = _LINE.search(message)
    line = int(stated.group(1)) if stated else 0
    if repeated := _REPEATED.search(message):
        found = _of_itself(elements, repeated.group(1))
        return _said({"itself": repeated.group(1)}, found, line)
    if _INVERTED in message:
        return _said({"exchange": "range"}, _inverted(elements, message, line), line)
    if "Schema violation: unrecognized" not in message:
        return _name(message, elements, line)
    tag = next(iter(_ELEMENT.findall(message)), "")
    if attribute := _ATTRIBUTE.search(message):
        return _attribute(schema, elements, tag, attribute.group(1), line)
    wrong = [one for one in elements if local_name(one) == tag and tag not in schema.tags(one)]
    meant = {only_near(tag, schema.tags(one)) for one in wrong}
    return _said({"tag": tag, "meant": {tag: meant.pop()}}, wrong, line) if len(meant) == 1 else {}


def _attribute(schema: Schema, elements: Sequence[Element], tag: str, name: str, line: int) -> dict[str, Any]:
    wrong = [
        one
        for one in elements
        if local_name(one) == tag and one.get(name) is not None and name not in schema.names(one)
    ]
    meant = {only_near(name, schema.names(one) - set(map(str, one.attrib))) for one in wrong}
    return _said({"tag": tag, "meant": {name: meant.pop()}}, wrong, line) if len(meant) == 1 else {}


def _name(message: str, elements: Sequence[Element], line: int) -> dict[str, Any]:
    """Return the correction of a name that no element has, wherever elements of its kind are named."""
    if any(local_name(one) in _MAKING_NAMES for one in elements):
        return {}
    names = _names(elements)
    for wrong in _QUOTED.findall(message):
        # MuJoCo reports line 0 for what an included file states
        here = {kind for one in elements if line in (0, one.sourceline) for kind in _kinds(one, wrong)}
        if len(here) != 1:
            continue
        (kind,) = here
        meant = "" if wrong in names[kind] else only_near(wrong, sorted(names[kind]))
        if meant:
            found = [one for one in elements if kind in _kinds(one, wrong)]
            return _said({"meant": {wrong: meant}, "kind": kind}, found, line)
    return {}


def references(tag: str, attributes: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Yield the attributes with which an element names others, with the kind of what they name, and the name.

    Parameters
    ----------
    tag : str
    attributes : mapping of str to str
    """
    for attribute, value in attributes.items():
        kind = _NAMED.get(attribute, "")
        if attribute in _TYPED:
            kind = attributes.get(_TYPED[attribute], "").replace("xbody", "body")
        if kind and (tag, attribute) != ("default", "class"):
            yield attribute, kind, value.strip()


def _kinds(element: Element, name: str) -> set[str]:
    """Return the kinds of things that an element names so."""
    attributes = {str(key): str(value) for key, value in element.attrib.items()}
    return {kind for _, kind, value in references(local_name(element), attributes) if value == name}


def _names(elements: Sequence[Element]) -> Mapping[str, set[str]]:
    """Return the names that elements have, by their kind."""
    found: dict[str, set[str]] = defaultdict(set)
    found["body"].add("world")
    found["default"].add("main")
    for element in elements:
        tag, parent, name = local_name(element), _around(element), str(element.get("name", ""))
        if tag == "default":
            found["default"].add(str(element.get("class", "")))
        elif tag in ("mesh", "texture", "hfield") and not name:
            found[tag].add(Path(str(element.get("file", ""))).stem)
        elif parent in ("tendon", "actuator"):
            found[parent].add(name)
        elif parent not in ("equality", "default", "sensor"):
            found["joint" if tag == "freejoint" else tag].add(name)
    return defaultdict(set, {kind: names - {""} for kind, names in found.items()})


def _of_itself(elements: Sequence[Element], name: str) -> list[Element]:
    """Return the equalities that couple a joint with itself and bind nothing."""
    return [
        one
        for one in elements
        if local_name(one) == "joint"
        and one.get("joint1") == one.get("joint2") == name
        and " ".join(str(one.get("polycoef", "")).split()) in _UNBOUND
    ]


def _inverted(elements: Sequence[Element], message: str, line: int) -> list[Element]:
    """Return the joint that a message names, or that stands in its line, if it states both ends of its range."""
    name = next(iter(_NAME.findall(message)), "")
    return [
        one
        for one in elements
        if local_name(one) == "joint"
        and (one.get("name") == name if name else one.sourceline == line)
        and one.get("range")
    ]


def _said(correction: dict[str, Any], found: Sequence[Element], line: int) -> dict[str, Any]:
    """Return a correction with its places, that in MuJoCo's line first; empty without a place or a word."""
    if not found or not all(correction.get("meant", {"": "-"}).values()):
        return {}
    places = sorted((str(origin(one)) for one in found), key=lambda place: not place.endswith(f":{line}"))
    return {**correction, "places": places}


def _tag(element: Element) -> str:
    tag = local_name(element)
    return "body" if tag in _LIKE_BODIES else tag


def _around(element: Element) -> str:
    outer = element.getparent()
    return "" if outer is None else local_name(outer)
