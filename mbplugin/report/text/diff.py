"""Whether two models are the same robot, as text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mbplugin.phrases import counted, listed
from mbplugin.report.text.blocks import MOST, more_lines, sentences_under
from mbplugin.report.text.layout import PLAIN_WIDTH, TITLE, Line, wrapped

if TYPE_CHECKING:
    from mbplugin.comparison.models.values import Difference, ModelDiff, Normalised, Quantities

#: What each kind of difference is about.
DIFFERENCE_NAMES = {
    "mass": "mass",
    "center": "centre of mass",
    "inertia": "inertia",
    "frame": "frame",
    "body": "body",
    "axis": "joint axis",
    "origin": "joint position",
    "limit": "limit",
    "zero": "zero position",
    "effort": "effort limit",
    "velocity": "velocity limit",
    "damping": "damping",
    "friction": "dry friction",
    "acceleration": "acceleration limit",
    "deceleration": "deceleration limit",
    "jerk": "jerk limit",
    "load_friction": "friction per load",
    "armature": "rotor inertia",
    "spring": "spring",
    "lead": "lead",
    "length": "length",
    "type": "joint type",
    "ends": "bodies of the joint",
    "joint": "joint",
    "loop": "loop",
    "coupling": "coupling",
    "gravity": "gravity",
    "base": "base",
    "redundancy": "redundancy",
    "mobility": "mobility",
    "dynamics": "dynamics",
    "reactions": "joint forces",
}
#: What is printed of one kind of normalisation.
_NAMES = 6
#: Elements that differ in the same way are one paragraph from so many on.
_MANY = 3


def diff_lines(found: ModelDiff, files: tuple[str, str], width: int = PLAIN_WIDTH) -> Iterator[Line]:
    """Yield the verdict, each difference with its places, and what was normalised."""
    style = "bold green" if found.same else "bold red"
    for text in wrapped(f"{found.a.name} and {found.b.name}: {found.verdict}", width, "", "  "):
        yield Line(text, style)
    for name, file, numbers in (("A", files[0], found.a), ("B", files[1], found.b)):
        yield from (
            Line(t) for t in wrapped(f"{file}: {quantities_text(numbers)}", width, f"  {name} ", "    ")
        )
    groups = _by_cause(found.differences)
    for group in groups[:MOST]:
        yield Line()
        yield from _difference(group, width)
    yield from more_lines(len(groups), MOST)
    if found.normalised:
        yield Line()
        yield Line("Normalised before the comparison", TITLE)
    for text in normalised_texts(found.normalised):
        yield from (Line(t) for t in wrapped(text, width, "  ", "    "))
    yield from sentences_under("Not compared", [one.text for one in found.not_compared], width)
    yield Line()
    yield Line("How this was decided", TITLE)
    for text in decided_texts(found):
        yield from (Line(t) for t in wrapped(text, width, "  ", "    "))


def quantities_text(numbers: Quantities) -> str:
    """Return the numbers of a model in one phrase."""
    parts = [
        counted(numbers.bodies, "body", "bodies"),
        counted(numbers.joints, "joint"),
        counted(numbers.loops, "loop"),
        f"{numbers.mass:.6g} kg in all",
    ]
    if numbers.dof is not None and numbers.degree_of_redundancy is not None:
        redundant = counted(numbers.degree_of_redundancy, "redundant constraint")
        parts += [f"mobility {numbers.dof}", redundant]
    return ", ".join(parts)


def _by_cause(differences: Sequence[Difference]) -> list[list[Difference]]:
    """Return the differences of one kind and cause together, where many elements have them."""
    alike: dict[tuple[str, str], list[Difference]] = {}
    for one in differences:
        alike.setdefault((one.kind, one.cause), []).append(one)
    groups: list[list[Difference]] = []
    for those in alike.values():
        groups += [those] if len(those) >= _MANY and those[0].cause else [[one] for one in those]
    return groups


def _difference(group: Sequence[Difference], width: int) -> Iterator[Line]:
    """Yield what differs, and the values of the first element where a group has several."""
    found = group[0]
    title = f"{DIFFERENCE_NAMES[found.kind]} of {element_text(found)}"
    if len(group) > 1:
        title += f" and {len(group) - 1} more ({listed([one.element for one in group[1:]], _NAMES)})"
    cause = f": {found.cause}" if found.cause else ""
    for text in wrapped(title + cause, width, "", "  "):
        yield Line(text, "bold red", len(title))
    for name, value, place in (
        ("A", found.value_a, found.place_a),
        ("B", found.value_b, found.place_b),
    ):
        where = f"  {place}" if place is not None and place.file else ""
        yield from (Line(t) for t in wrapped((value or "none") + where, width, f"  {name} ", "    "))


def element_text(found: Difference) -> str:
    """Return the name of what differs, in both models where it has two."""
    if found.element_a and found.element_b and found.element_a != found.element_b:
        return f"{found.element_a!r} ({found.element_b!r} in B)"
    return repr(found.element)


def normalised_texts(found: tuple[Normalised, ...]) -> Iterator[str]:
    """Yield a sentence per normalisation, those of many elements as one."""
    by_kind: dict[str, list[Normalised]] = {}
    for one in found:
        by_kind.setdefault(one.kind, []).append(one)
    for kind, those in by_kind.items():
        if len(those) <= 3:
            yield from (f"{kind} of {one.element!r}: {one.text}" for one in those)
        else:
            yield f"{kind} of {len(those)} elements: {listed([one.element for one in those], _NAMES)}"


def decided_texts(found: ModelDiff) -> Iterator[str]:
    """Yield how names were matched and what of the dynamics was compared."""
    renamed = [f"{a} = {b}" for a, b in {**found.bodies, **found.joints}.items() if a != b]
    matched = (
        f"{counted(len(found.bodies), 'body', 'bodies')} and {counted(len(found.joints), 'joint')} matched"
    )
    yield matched + (f"; renamed: {listed(renamed, _NAMES)}" if renamed else "")
    numbers = [
        f"{name} {value:.2g}"
        for name, value in (
            ("mass matrix", found.mass_matrix),
            ("gravity forces", found.gravity_forces),
            ("determined joint forces", found.wrenches),
        )
        if value is not None
    ]
    if found.poses:
        yield f"largest relative differences at {counted(found.poses, 'random pose')}: {', '.join(numbers)}"
    else:
        yield "the dynamics are not compared, because the joints do not correspond"
    yield f"tolerance {found.tolerance:g}"
