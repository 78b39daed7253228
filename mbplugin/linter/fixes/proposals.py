"""From a finding to the edits that mend it: which rules have a fix, and whether it is safe.

A fix is safe if the robot stays as it was read, if a rounded number gets the digits that are proved to be meant, or if
a misspelt word has one near match. It is unsafe if it changes the meaning of the file. A rule that is not listed has no
fix: its remedy is a choice, or needs what the file does not state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mbplugin.linter.fixes import of_text, of_unreadable, of_xml
from mbplugin.linter.fixes.edits import Fix
from mbplugin.linter.fixes.of_xml import Propose
from mbplugin.linter.fixes.sources import Sources
from mbplugin.linter.rule import Applicability, Finding
from mbplugin.model import Scene


@dataclass(frozen=True)
class Remedy:
    """What ``--fix`` does for the findings of a rule.

    Parameters
    ----------
    applicability : "safe" or "unsafe"
    summary : str
        The change in one phrase, for the page of the rule.
    formats : str
        The formats in which it is made.
    proposals : tuple of callable
        Each yields the fixes of a finding that it knows; of an element only the first that has one counts.
    """

    applicability: Applicability
    summary: str
    formats: str
    proposals: tuple[Propose, ...]


_XML = "URDF, xacro literals"
_TEXT = "scene files"
#: What mends the findings of a rule, by code.
REMEDIES: dict[str, Remedy] = {
    "MB104": Remedy(
        "unsafe", "writes the inertia of the shape with the stated mass", _XML, (of_xml.inertias_of_shapes,)
    ),
    "MB105": Remedy(
        "unsafe", "writes the inertia of the shape with the stated mass", _XML, (of_xml.inertias_of_shapes,)
    ),
    "MB108": Remedy(
        "safe",
        "removes a mimic of the joint itself; corrects the name of a leader with one near match",
        f"{_XML}, SDF",
        (of_xml.removed_mimics,),
    ),
    "MB111": Remedy(
        "unsafe", 'writes type="continuous" for a revolute joint', _XML, (of_xml.continuous_joints,)
    ),
    "MB112": Remedy(
        "unsafe",
        "adds the closure, as a hinge, to the scene or as <loop_joint> to the URDF",
        f"URDF, {_TEXT}",
        (of_text.added_closures, of_xml.added_loop_joint),
    ),
    "MB113": Remedy(
        "safe",
        "corrects a tag or an attribute with one near match; removes repeated elements of which only the first counts",
        f"{_XML}, SDF, USD text",
        (of_xml.spelling, of_text.corrected_property),
    ),
    "MB114": Remedy("safe", "writes the number as it is read", _XML, (of_xml.repaired_numbers,)),
    "MB116": Remedy("safe", "writes the computed side of the closure", _TEXT, (of_text.written_side,)),
    "MB117": Remedy("safe", 'adds <link name="world"/>', "URDF", (of_xml.declared_world,)),
    "MB120": Remedy("unsafe", "exchanges the limits", f"{_XML}, MJCF", (of_xml.exchanged_limits,)),
    "MB122": Remedy("unsafe", "converts the limits to radians", f"{_XML}, MJCF", (of_xml.limits_in_radians,)),
    "MB124": Remedy("unsafe", "removes the sign", f"{_XML}, MJCF", (of_xml.positive_damping,)),
    "MB125": Remedy("safe", "divides the axis by its length", _XML, (of_xml.normalized_axes,)),
    "MB126": Remedy(
        "unsafe",
        "converts the angles to radians, if all are whole numbers",
        _XML,
        (of_xml.angles_in_radians,),
    ),
    "MB129": Remedy(
        "unsafe", "excludes the joint from the articulation", "USD text", (of_text.excluded_joint,)
    ),
    "MB136": Remedy(
        "safe",
        "divides the quaternion by its norm; not xformOp:orient of USD, of which OpenUSD reads another rotation",
        f"{_XML}, SDF, MJCF, USD text",
        (of_xml.normalized_quaternions, of_text.normalized_joint_frames),
    ),
    "MB147": Remedy("safe", "states the axes of the prim", "USD text", (of_text.principal_axes,)),
    "MB150": Remedy("safe", "corrects a name with one near match", _XML, (of_xml.corrected_references,)),
    "MB151": Remedy("safe", "corrects a name with one near match", _XML, (of_xml.corrected_materials,)),
    "MB152": Remedy("safe", "corrects a name with one near match", "SRDF", (of_xml.corrected_semantics,)),
    "MB155": Remedy("unsafe", "adds the closure to the scene", _TEXT, (of_text.added_closures,)),
    "MB156": Remedy("unsafe", "adds the closure to the scene", _TEXT, (of_text.added_closures,)),
    "MB202": Remedy(
        "unsafe",
        "gives the closure the weaker type that is proved to be enough",
        f"{_TEXT}, <loop_joint> of URDF",
        (of_text.weaker_closure, of_xml.weaker_loop_joint),
    ),
    "MB205": Remedy(
        "unsafe",
        "removes the duplicate closure",
        f"URDF, SDF, MJCF, {_TEXT}",
        (of_text.removed_table, of_xml.removed_closure),
    ),
    "MB501": Remedy(
        "safe",
        "writes the angle with all digits wherever it occurs",
        f"{_XML}, SDF, MJCF, {_TEXT}",
        (of_xml.full_digits,),
    ),
    "MB904": Remedy(
        "safe",
        "corrects a tag, an attribute, a type or a name with one near match; removes an equality of a joint with "
        "itself and exchanges an inverted range (unsafe), both in MJCF",
        f"{_XML}, SDF, MJCF",
        (
            of_unreadable.corrected_reading,
            of_unreadable.corrected_words,
            of_unreadable.corrected_names,
            of_unreadable.removed_equalities,
            of_unreadable.exchanged_range,
        ),
    ),
    "MB905": Remedy(
        "safe",
        "corrects an attribute with one near match",
        f"{_XML}, SDF",
        (of_unreadable.corrected_reading,),
    ),
    "MB907": Remedy(
        "safe",
        "corrects the name of a link with one near match",
        f"{_XML}, SDF",
        (of_unreadable.corrected_reading,),
    ),
    "MB908": Remedy("safe", "corrects keys and tables with one near match", _TEXT, (of_text.corrected_keys,)),
    "MB913": Remedy("safe", "removes the waiver", "configurations", (of_text.removed_waiver,)),
}


def fix_of(code: str) -> str:
    """Return the fix of a rule in one phrase: "safe: …", "unsafe: …" or "none"."""
    remedy = REMEDIES.get(code)
    return f"{remedy.applicability}: {remedy.summary} ({remedy.formats})" if remedy else "none"


def applicability_of(fix: Fix) -> Applicability:
    """Return the applicability of a fix: that of its rule, unless the fix itself is unsafe."""
    return "unsafe" if fix.unsafe else REMEDIES[fix.code].applicability


def proposed(finding: Finding, sources: Sources, scene: Scene | None) -> Iterator[Fix]:
    """Yield the fixes of a finding; several if it is about several elements."""
    remedy, elements = REMEDIES.get(finding.code), set[str]()
    for propose in remedy.proposals if remedy else ():
        # a closure can be mended in the scene or in its model, and need not be twice
        fixes = [fix for fix in propose(finding, sources, scene) if fix.element not in elements]
        elements.update(fix.element for fix in fixes)
        yield from fixes
