"""The JSON document of ``mbplugin estop`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from mbplugin.report.documents.json import SCHEMA_VERSION

if TYPE_CHECKING:
    from mbplugin.simulation.events.event import Event
    from mbplugin.stopping.outcome.values import JointStop, StopReport


def estop_document(report: StopReport, source: str, files: Sequence[str]) -> dict[str, Any]:
    """Return the document of one stop."""
    motion, mech = report.trajectory, report.scenario.mech
    return {
        "schema_version": SCHEMA_VERSION,
        "source": source,
        "model": {"name": mech.name, "files": list(files)},
        "computed_not_measured": True,
        "category": report.scenario.category,
        "tolerance": report.scenario.tolerance,
        "outcome": report.outcome,
        "time": report.time,
        "reaction_time": report.reaction_time,
        "braking_time": report.braking_time,
        "q_end": dict(zip(mech.q_names, motion.q[-1], strict=True)),
        "joints": [_joint(joint) for joint in report.joints],
        "tool": {
            "body": report.tool.body,
            "speed": report.tool.speed,
            "distance": report.tool.distance,
            "displacement": report.tool.displacement,
            "reaction_distance": report.tool.reaction_distance,
            "braking_distance": report.tool.braking_distance,
            "path": report.tool.path,
        },
        "corridor": {
            "lower": report.corridor.lower,
            "upper": report.corridor.upper,
            "bodies": {
                name: {"lower": box[0], "upper": box[1]} for name, box in report.corridor.bodies.items()
            },
            "without_shape": list(report.corridor.left_out),
        },
        "energies": asdict(report.energies),
        "naive": {
            "q": dict(zip(mech.q_names, report.naive.q, strict=True)),
            "time": report.naive.time,
            "tool_distance": report.naive.distance,
            "tool_displacement": report.naive.displacement,
            "tool_error": report.naive.tool_error,
            "energy_ignored": report.naive.energy_ignored,
        },
        "impact": asdict(report.impact) if report.impact else None,
        "peaks": [{**asdict(peak), "components": list(peak.components)} for peak in report.peaks],
        "events": [_event(event) for event in report.events],
        "brakes": [brake.document() for brake in report.scenario.brakes],
        "decelerations": dict(report.scenario.decelerations),
        "assumed": list(report.assumed),
        "notes": list(report.notes),
    }


def _joint(joint: JointStop) -> dict[str, Any]:
    return {**asdict(joint), "time": joint.time, "travel": joint.travel}


def _event(event: Event) -> dict[str, Any]:
    return {
        "time": event.time,
        "kind": event.kind,
        "joint": event.joint,
        "impulse": [
            {"constraint": constraint, "component": component, "value": value}
            for (constraint, component), value in event.impulse.items()
        ],
        "text": event.text,
    }
