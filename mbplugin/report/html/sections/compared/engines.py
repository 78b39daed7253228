"""The joint forces of several engines side by side: what is determined, and what differs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.markup import Html, choice, element, section, table, unshown
from mbplugin.report.text.engines import COMPONENT_NAMES, absent_words, wrench_cell

if TYPE_CHECKING:
    from mbplugin.comparison.side_by_side.values import JointWrench

#: Joints that somebody reads; all are in the JSON.
_MOST = 100


def engines_section(chapter: Chapter) -> Html | None:
    """Return a row for each component of each joint, those that the rigid model leaves open marked."""
    found = chapter.side_by_side
    if found is None:
        return None
    names = [answer.engine for answer in found.answers]
    absent = [absent_words(one.engine, one.reason) for one in found.engines if one.reason]
    rows = [row for joint in found.joints[:_MOST] for row in _rows(joint, names)]
    return section(
        "Joint forces of several engines",
        element("ul", [element("li", sentence) for sentence in (*absent, *found.notes)]),
        table(("joint", "component", *names, "verdict"), rows, numbers=range(2, 2 + len(names))),
        unshown(len(found.joints), _MOST),
        lead="On the successor, at the origin of its joint frame, in N and N·m.",
    )


def _rows(joint: JointWrench, names: list[str]) -> Iterator[Html]:
    for k, component in enumerate(COMPONENT_NAMES):
        unique, agrees = bool(joint.unique[k]), bool(joint.agrees[k])
        badge = "unique" if unique else "non-unique"
        said = badge if unique == agrees else f"{badge}, {'equal' if agrees else 'differs'}"
        yield element(
            "tr",
            element("td", choice(joint.name, "joint") if k == 0 else None),
            element("td", component),
            [
                element("td", wrench_cell(joint.wrenches[name][k], joint.size[k]), class_="n")
                for name in names
            ],
            element("td", element("span", said, class_=f"badge {badge if agrees or not unique else 'bad'}")),
            class_="bad" if unique and not agrees else None,
        )
