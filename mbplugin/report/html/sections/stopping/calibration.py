"""A calibration: every joint with its parameters, its rows beside the computed stops, and the TOML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mbplugin.model.units import Units
from mbplugin.report.html.chapter import Chapter
from mbplugin.report.html.markup import Html, element, joined, section, table
from mbplugin.report.text.stopping.calibrate import (
    PARAMETER_HEADS,
    ROW_HEADS,
    calibration_facts,
    joint_notes,
    joint_title,
    parameter_cells,
    row_cells,
    row_name,
)

if TYPE_CHECKING:
    from mbplugin.stopping.calibration.values import CalibratedRow, Calibration, FittedJoint


def calibration_section(chapter: Chapter) -> Html | None:
    """Return what is assumed, the joints, and the tables of a scene."""
    made = chapter.calibration
    if made is None:
        return None
    return section(
        "Brakes and ramps from measured stops",
        element("ul", [element("li", sentence) for sentence in calibration_facts(made)]),
        [_joint(joint, made, chapter.units) for joint in made.joints],
        element("h3", "Tables of a scene, in rad and m"),
        element("pre", made.toml),
        lead=f"Calibrated on {made.date}. Rows that the law does not explain are marked.",
    )


def _joint(joint: FittedJoint, made: Calibration, units: Units) -> Html:
    parameters = [(name, *parameter_cells(one, units)) for name, one in joint.parameters.items()]
    return joined(
        [
            element("h3", joint_title(joint)),
            table(("parameter", *PARAMETER_HEADS), parameters),
            table(("line", *ROW_HEADS), [_row(row, units) for row in made.rows_of(joint)], numbers=range(8)),
            element("ul", [element("li", note) for note in joint_notes(joint, made, units)]),
        ]
    )


def _row(row: CalibratedRow, units: Units) -> Html:
    cells = (row_name(row), *row_cells(row, units))
    return element(
        "tr", [element("td", cell, class_="n") for cell in cells], class_="warn" if row.unexplained else None
    )
