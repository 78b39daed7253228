"""Fixes in XML files: URDF, xacro (where a value is a literal), SDF, MJCF and SRDF."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from math import hypot, radians

import numpy as np

from mbplugin.linter.checks import twins
from mbplugin.linter.checks.meshes import solid_of
from mbplugin.linter.fixes.edits import Edit, Fix
from mbplugin.linter.fixes.sources import Sources, elements_at, name_of, places_of
from mbplugin.linter.fixes.xml_spans import Attribute, XmlElement, XmlSpans
from mbplugin.linter.rule import Finding
from mbplugin.model import Array, Scene, decimal, rotation_from_rpy
from mbplugin.phrases import only_near
from mbplugin.readers.xml import QUATERNIONS, TURNING, rounded_angle, wrong_norm

Fixes = Iterator[Fix]
_OWNERS = ("link", "joint", "drake:joint", "loop_joint", "model", "body")
#: Elements that close a loop, in URDF and MJCF.
_CLOSURES = ("loop_joint", "drake:ball_constraint", "connect", "weld")
_INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def normalized_axes(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fixes that divide axes by their length."""
    for element, spans, axis in elements_at(finding, sources, "axis"):
        words = _words(spans, axis.attribute("xyz"))
        values = _numbers(words)
        if len(values) != 3 or abs(hypot(*values) - 1) <= 1e-9:
            continue
        unit = [_text(value / hypot(*values)) for value in values]
        title = f"axis {' '.join(word for _, _, word in words)} → {' '.join(unit)}"
        yield Fix(finding.code, element, title, _replaced(spans, words, unit))


def normalized_quaternions(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fixes that divide quaternions by their norm, one for all quaternions of a named element."""
    titles: dict[str, list[str]] = {}
    edits: dict[str, list[Edit]] = {}
    for element, spans, owner in elements_at(finding, sources):
        stated = [
            spans.words(one)[QUATERNIONS[one.name] :] for one in owner.attributes if one.name in QUATERNIONS
        ]
        if owner.tag == "pose" and owner.get("rotation_format") == "quat_xyzw":
            stated.append(spans.text_words(owner)[3:])
        for words in stated:
            if wrong_norm([word for _, _, word in words]) is None:
                continue
            values = _numbers(words)
            unit = [_text(value / hypot(*values)) for value in values]
            title = f"quaternion {' '.join(word for _, _, word in words)} → {' '.join(unit)}"
            titles.setdefault(element, []).append(title)
            edits.setdefault(element, []).extend(_replaced(spans, words, unit))
    for element, found in edits.items():
        yield Fix(finding.code, element, "; ".join(dict.fromkeys(titles[element])), tuple(found))


def full_digits(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fix that writes a rounded angle with all its digits, at all its places."""
    edits: list[Edit] = []
    wanted, joints = str(finding.evidence.get("literal", "")).lstrip("+-"), []
    for place in finding.evidence.get("places", ()):
        if not isinstance(place, Mapping):
            return
        found = list(_angle_words(sources, str(place["file"]), int(place["line"]), str(place["text"])))
        same = [(start, end, word) for start, end, word in found if word.lstrip("+-") == wanted]
        meant = {word: rounded_angle(word) for _, _, word in same}
        if not same or not all(meant.values()):
            # a value of xacro, or one that cannot be distinguished from others of its line
            return
        joints.append(str(place["joint"]))
        edits += [
            Edit(str(place["file"]), start, end, repr(angle.meant))
            for start, end, word in same
            if (angle := meant[word]) is not None
        ]
    if edits:
        literal, meant_rad = finding.evidence["literal"], finding.evidence["meant_rad"]
        number = len(set(edits))
        where = f" at {number} places" if number > 1 else ""
        title = f"{literal} → {meant_rad!r} ({finding.evidence['stands_for']}){where}"
        touches = frozenset(joints)
        yield Fix(
            finding.code,
            finding.element,
            title,
            tuple(dict.fromkeys(edits)),
            touches,
            rounding=True,
            redundancy=True,
            mobility=True,
        )


def _angle_words(sources: Sources, file: str, line: int, text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the words of the angles in a line that a finding quotes as ``text``, with their offsets."""
    wanted = text.replace(",", " ").split()
    toml = sources.toml(file)
    if toml is not None:
        for key in toml.keys_at(line):
            words = [(start, end, toml.source.decoded(start, end)) for start, end in key.entries]
            if [word for _, _, word in words] == wanted:
                yield from words
        return
    spans = sources.xml(file)
    if spans is None:
        return
    for element in spans.at(line):
        for name, before in {"rpy": 0, **TURNING}.items():
            stated = element.attribute(name)
            words = spans.words(stated) if stated else []
            if [word for _, _, word in words] == wanted:
                yield from words[before:]
        words = spans.text_words(element)[3:]
        if words and [word for _, _, word in words] == wanted:
            yield from words


def removed_mimics(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fix of a mimic: one of itself is removed, a leader with one near name is corrected."""
    wanted = str(finding.evidence.get("joint", ""))
    for element, spans, mimic in elements_at(finding, sources, "mimic"):
        attribute = mimic.attribute("joint")
        owner = next((one for one in _around(mimic) if one is not mimic and one.tag in _OWNERS), None)
        if attribute is None or attribute.value.strip() != wanted or "$" in attribute.value:
            continue
        if owner is not None and owner.get("name") == wanted:
            edits = (spans.removed(mimic),)
            yield Fix(finding.code, element, f"<mimic> of {wanted!r} itself removed", edits)
            continue
        names = {joint.get("name") for joint in spans.elements if _is_joint(joint)} - {element}
        if near := near_name(wanted, names):
            title = f"mimic of {wanted!r} → {near!r}"
            edits = (spans.with_value(attribute, near),)
            yield Fix(
                finding.code,
                element,
                title,
                edits,
                frozenset({element, near}),
                mobility=True,
                redundancy=True,
            )


def corrected_references(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fixes of references to links and joints that have one near name."""
    for element, spans, owner in elements_at(finding, sources, "gazebo", "joint"):
        joints = {joint.get("name") for joint in spans.elements if _is_joint(joint)}
        links = {link.get("name") for link in spans.elements if link.tag == "link"}
        attribute = owner.attribute("reference" if owner.tag == "gazebo" else "name")
        known = joints | links if owner.tag == "gazebo" else joints
        if owner.tag == "joint" and _is_joint(owner):
            continue
        yield from _corrected(finding, element, spans, attribute, known, f"<{owner.tag}>")


def corrected_materials(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fixes of materials that have one near name; one fix corrects all places of a name."""
    for element, spans, _ in elements_at(finding, sources, "material"):
        materials = [one for one in spans.elements if one.tag == "material"]
        known = {
            one.get("name") for one in materials if any(c.tag in ("color", "texture") for c in one.children)
        }
        used = [one.attribute("name") for one in materials if one.get("name") == element and not one.children]
        near = near_name(element, known)
        if near and used:
            edits = tuple(spans.with_value(one, near) for one in used if one is not None)
            yield Fix(finding.code, element, f"material {element!r} → {near!r}", edits)


def corrected_semantics(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fixes of names in an SRDF that have one near name."""
    if scene is None or not scene.files:
        return
    robot = next((sources.xml(file) for file in scene.files if file.endswith(".urdf")), None)
    if robot is None:
        return
    links = {one.get("name") for one in robot.elements if one.tag == "link"}
    joints = {one.get("name") for one in robot.elements if _is_joint(one)}
    for element, spans, owner in elements_at(finding, sources):
        groups = {one.get("name") for one in spans.root.children if one.tag == "group"}
        known = {"link": links, "joint": joints, "group": groups}
        for attribute in owner.attributes:
            if attribute.value.strip() == element and (kind := _KINDS.get((owner.tag, attribute.name))):
                yield from _corrected(finding, element, spans, attribute, known[kind], f"<{owner.tag}>")


#: Attributes of an SRDF that name a link, a joint or a group.
_KINDS = {
    ("link", "name"): "link",
    ("joint", "name"): "joint",
    ("passive_joint", "name"): "joint",
    ("virtual_joint", "child_link"): "link",
    ("chain", "base_link"): "link",
    ("chain", "tip_link"): "link",
    ("disable_collisions", "link1"): "link",
    ("disable_collisions", "link2"): "link",
    ("end_effector", "parent_link"): "link",
    ("end_effector", "group"): "group",
    ("group_state", "group"): "group",
}


def _corrected(
    finding: Finding,
    element: str,
    spans: XmlSpans,
    attribute: Attribute | None,
    known: Collection[str],
    what: str,
) -> Fixes:
    if attribute is None or "$" in attribute.value:
        return
    wrong = attribute.value.strip()
    # the element of a finding may have the prefix of its model
    if element.endswith(wrong) and (near := near_name(wrong, known)):
        yield Fix(finding.code, element, f"{what} {wrong!r} → {near!r}", (spans.with_value(attribute, near),))


def spelling(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fix of a misspelt word, or of an element of which the first one counts, at all its places."""
    meant = finding.evidence.get("meant")
    tag = str(finding.evidence.get("tag", ""))
    edits: list[Edit] = []
    touched: set[str] = set()
    places = list(places_of(finding))
    for file, line in dict.fromkeys(places):
        spans = sources.xml(file)
        found = list(_misspelt(spans, line, tag, meant)) if spans else []
        # one element of a macro is reported for each call
        if not 0 < len(found) <= places.count((file, line)):
            return
        for element, changes in found:
            edits += changes
            # names of the robot: a new name of an element is not one of them
            touched |= {name for one in _around(element) if (name := one.get("name"))}
    if not edits:
        return
    touched |= {*finding.elements, *map(str, finding.evidence.get("owners", ()))}
    if meant:
        words = ", ".join(f"{wrong} → {right}" for wrong, right in meant.items())
        what = f"<{tag}>" if tag in meant else f"attribute of <{tag}>"
        yield Fix(
            finding.code,
            name_of(finding),
            f"{what}: {words}",
            tuple(edits),
            frozenset(touched),
            redundancy=True,
            mobility=True,
        )
    else:
        yield Fix(
            finding.code, name_of(finding), f"second <{tag}> removed, the first one counts", tuple(edits)
        )


def _misspelt(
    spans: XmlSpans, line: int, tag: str, meant: Mapping[str, str] | None
) -> Iterator[tuple[XmlElement, tuple[Edit, ...]]]:
    """Yield the elements of a line with what is misspelt or repeated, and the edits that mend them."""
    for element in spans.at(line, tag):
        if meant is None:
            earlier = element.parent.child(tag) if element.parent else None
            if earlier is not None and earlier is not element:
                yield element, (spans.removed(element),)
        elif tag in meant:
            yield element, spans.renamed(element, meant[tag])
        else:
            wrong = [one for name in meant if (one := element.attribute(name)) is not None]
            if len(wrong) == len(meant):
                edits = tuple(spans.replaced(one.start, one.name_end, meant[one.name]) for one in wrong)
                yield element, edits


def repaired_numbers(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fix that writes a malformed number as it is read."""
    literal, taken = finding.evidence.get("literal"), finding.evidence.get("taken")
    if not isinstance(literal, str) or not isinstance(taken, str):
        return
    for element, spans, owner in elements_at(finding, sources):
        for attribute in owner.attributes:
            if attribute.value == literal and "$" not in literal and "&" not in literal:
                edits = (spans.with_value(attribute, taken),)
                yield Fix(finding.code, element, f"{attribute.name} {literal!r} → {taken!r}", edits)


def declared_world(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fix that declares the link ``world`` in a URDF."""
    spans = sources.xml(finding.file)
    if spans is None or spans.root.tag != "robot" or any(e.tag == "xacro:include" for e in spans.elements):
        return
    edit = spans.with_first_child(spans.root, '<link name="world"/>')
    if edit is not None:
        yield Fix(finding.code, finding.element, '<link name="world"/> added', (edit,))


# Unsafe ones.


def exchanged_limits(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fixes that exchange the lower and the upper limit of joints; in MJCF they are one attribute."""
    for element, spans, limit in elements_at(finding, sources, "limit", "joint"):
        if limit.tag == "joint":
            both = _words(spans, limit.attribute("range"))
            lower, upper = both[:1], both[1:]
        else:
            lower, upper = (_words(spans, limit.attribute(side)) for side in ("lower", "upper"))
        values = [*_numbers(lower), *_numbers(upper)]
        if len(values) == 2 and values[0] > values[1]:
            edits = (*_replaced(spans, lower, [upper[0][2]]), *_replaced(spans, upper, [lower[0][2]]))
            title = f"limits {lower[0][2]} … {upper[0][2]} exchanged"
            yield Fix(finding.code, element, title, edits, _touched(finding, element, spans))


def limits_in_radians(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fixes that convert limits from degrees to radians; in MJCF they are an attribute of the joint."""
    for element, spans, limit in elements_at(finding, sources, "limit", "joint"):
        sides = ("lower", "upper") if limit.tag == "limit" else ("range",)
        words = [word for side in sides for word in _words(spans, limit.attribute(side))]
        stated = 2 if limit.attribute("range") else sum(limit.attribute(side) is not None for side in sides)
        values = _numbers(words)
        if values and len(values) == stated:
            converted = [_text(radians(value)) for value in values]
            shown = " … ".join(
                f"{word}° → {text}" for (_, _, word), text in zip(words, converted, strict=True)
            )
            edits = _replaced(spans, words, converted)
            yield Fix(finding.code, element, f"limits {shown} rad", edits, _touched(finding, element, spans))


def angles_in_radians(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fixes that convert the angles of a frame from degrees to radians; all are whole numbers there."""
    for element, spans, frame in elements_at(finding, sources, "origin", "link1", "link2"):
        words = _words(spans, frame.attribute("rpy"))
        values = _numbers(words)
        if len(values) == 3 and max(map(abs, values)) > 2 * np.pi and all(v == round(v) for v in values):
            converted = [_text(radians(value)) for value in values]
            title = f"rpy {' '.join(w for _, _, w in words)} in degrees → radians"
            edits = _replaced(spans, words, converted)
            yield Fix(
                finding.code,
                element,
                title,
                edits,
                _touched(finding, element, spans),
                redundancy=True,
                mobility=True,
            )


def positive_damping(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fixes that remove the sign of a damping or friction; in MJCF they are attributes of the joint."""
    for element, spans, dynamics in elements_at(finding, sources, "dynamics", "joint"):
        edits: list[Edit] = []
        names: list[str] = []
        for name in ("damping", "friction") if dynamics.tag == "dynamics" else ("damping", "frictionloss"):
            words = _words(spans, dynamics.attribute(name))
            if len(words) == 1 and any(value < 0 for value in _numbers(words)):
                edits += _replaced(spans, words, [words[0][2].lstrip("-")])
                names.append(f"{name} {words[0][2]} → {words[0][2].lstrip('-')}")
        if edits:
            yield Fix(
                finding.code, element, ", ".join(names), tuple(edits), _touched(finding, element, spans)
            )


def continuous_joints(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fix that makes a revolute joint without limits continuous, as it is read."""
    for element, spans, joint in elements_at(finding, sources, "joint", "drake:joint"):
        type = joint.attribute("type")
        if type is not None and type.value == "revolute" and joint.child("limit") is None:
            edits = (spans.with_value(type, "continuous"),)
            yield Fix(
                finding.code, element, "type revolute → continuous", edits, _touched(finding, element, spans)
            )


def inertias_of_shapes(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fixes that write the inertia of a solid of a link's shape, with the mass that is stated."""
    if scene is None:
        return
    masses = {body.name: body.mass for body in scene.mechanism.bodies}
    for element, spans, inertia in elements_at(finding, sources, "inertia"):
        shapes = scene.shapes.get(element, ())
        solid = solid_of(shapes, scene.request) if shapes and masses.get(element, 0.0) > 0 else None
        turn = _turn(spans, inertia)
        stated = [inertia.attribute(name) for name in _INERTIA]
        if solid is None or turn is None or any(one is None or "$" in one.value for one in stated):
            continue
        moments = turn.T @ solid.inertia @ turn * masses[element] / solid.volume
        size = float(np.abs(moments).max())
        values = [
            moments[i, j] if abs(moments[i, j]) > 1e-12 * size else 0.0
            for i, j in zip(*np.triu_indices(3), strict=True)
        ]
        edits = tuple(
            spans.with_value(one, _text(float(f"{value:.9g}")))
            for one, value in zip(stated, values, strict=True)
            if one is not None
        )
        title = f"inertia of its shape with {masses[element]:g} kg"
        yield Fix(finding.code, element, title, edits, _touched(finding, element, spans))


def _turn(spans: XmlSpans, inertia: XmlElement) -> Array | None:
    """Return the rotation (3, 3) of the axes of an inertia in its link; None if it is not a literal."""
    frame = inertia.parent.child("origin") if inertia.parent else None
    attribute = frame.attribute("rpy") if frame else None
    if frame is None or (attribute is None and frame.attribute("quat_xyzw") is None):
        return np.eye(3)
    values = _numbers(_words(spans, attribute))
    return rotation_from_rpy(np.array(values)) if len(values) == 3 else None


def added_loop_joint(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fix that closes a loop between two dummy links of a URDF, as a hinge about their z axes."""
    spans = sources.xml(finding.file)
    name = finding.element
    if spans is None or spans.root.tag != "robot":
        return
    ends = [f"closing_{name}_{side}" for side in (1, 2)]
    if not {*ends} <= {link.get("name") for link in spans.root.children if link.tag == "link"}:
        return
    sides = "".join(f'<link{k} link="{end}" xyz="0 0 0" rpy="0 0 0"/>' for k, end in enumerate(ends, start=1))
    text = f'<loop_joint name="{name}" type="revolute">{sides}<axis xyz="0 0 1"/></loop_joint>'
    edit = spans.with_last_child(spans.root, text)
    if edit is not None:
        touches = frozenset({name, *ends})
        title = f"<loop_joint> {name!r} added, a hinge between {ends[0]!r} and {ends[1]!r}"
        yield Fix(finding.code, name, title, (edit,), touches, redundancy=True, mobility=True)


def weaker_loop_joint(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fix that gives a ``<loop_joint>`` the weaker type that the analysis proved to be enough."""
    old, new = (str(finding.evidence.get(key, "")) for key in ("type", "weaker_type"))
    for element, spans, joint in elements_at(finding, sources, "loop_joint"):
        type = joint.attribute("type")
        if type is not None and type.value.strip() == old and joint.get("name") == element:
            title = f"type of closure {old} → {new}"
            edits = (spans.with_value(type, new),)
            yield Fix(finding.code, element, title, edits, frozenset({element}), redundancy=True)


def removed_closure(finding: Finding, sources: Sources, scene: Scene | None) -> Fixes:
    """Yield the fix that removes a closure that repeats another joint."""
    for element, spans, joint in elements_at(finding, sources, *_CLOSURES, "joint"):
        of_gazebo = joint.parent if joint.parent is not None and joint.parent.tag == "gazebo" else None
        is_closure = joint.tag != "joint" or of_gazebo or spans.root.tag == "sdf"
        if not is_closure or joint.get("name") != element.rpartition("/")[2]:
            continue
        whole = of_gazebo if of_gazebo and len(of_gazebo.children) == 1 else joint
        title = f"closure {element!r} removed, the same as {finding.evidence.get('same_as')!r}"
        touches = _touched(finding, element, spans)
        yield Fix(finding.code, element, title, (spans.removed(whole),), touches, redundancy=True)


# Words, numbers and names.


def _touched(finding: Finding, element: str, spans: XmlSpans) -> frozenset[str]:
    """Return the elements that an edit may change: all of the finding in a macro, which several calls expand."""
    return frozenset(finding.elements if "<xacro:macro" in spans.source.text else {element})


def _words(spans: XmlSpans, attribute: Attribute | None) -> list[tuple[int, int, str]]:
    return spans.words(attribute) if attribute else []


def _numbers(words: Sequence[tuple[int, int, str]]) -> list[float]:
    """Return the numbers of some words; empty if one is not a finite number."""
    try:
        values = [decimal(word) for _, _, word in words]
    except ValueError:
        return []
    return values if np.isfinite(values).all() else []


def _replaced(
    spans: XmlSpans, words: Sequence[tuple[int, int, str]], texts: Sequence[str]
) -> tuple[Edit, ...]:
    """Return the edits that replace words by texts, without those that change nothing."""
    both = zip(words, texts, strict=True)
    return tuple(spans.replaced(start, end, text) for (start, end, word), text in both if word != text)


def _text(value: float) -> str:
    """Return a number as it is written: shortest text of the same value, whole numbers without a point."""
    return str(int(value)) if value == round(value) and abs(value) < 1e15 else repr(float(value))


def _is_joint(element: XmlElement) -> bool:
    """Return True for an element that defines a joint; those in transmissions and mimics only name one."""
    return element.tag in ("joint", "drake:joint") and (
        element.attribute("type") is not None or element.child("child") is not None
    )


def _around(element: XmlElement) -> Iterator[XmlElement]:
    """Yield an element and those around it."""
    inner: XmlElement | None = element
    while inner is not None:
        yield inner
        inner = inner.parent


def near_name(wrong: str, known: Collection[str]) -> str:
    """Return the only known name near a wrong one; the name of the other side of the robot is not a misspelling."""
    near = only_near(wrong, sorted(known - {""} if isinstance(known, set) else known))
    return "" if near and any(twins((wrong, near))) else near


Propose = Callable[[Finding, Sources, "Scene | None"], Fixes]
