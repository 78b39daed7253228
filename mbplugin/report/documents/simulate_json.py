"""The JSON document of ``mbplugin simulate`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from mbplugin.report.documents.json import SCHEMA_VERSION

if TYPE_CHECKING:
    from mbplugin.simulation.events.event import Event
    from mbplugin.simulation.trajectory.trajectory import Trajectory


def simulate_document(
    motion: Trajectory, request: Mapping[str, Any], pairs: Sequence[str], source: str, files: Sequence[str]
) -> dict[str, Any]:
    """Return the document of one motion, with the reactions of some pairs."""
    mech = motion.mechanism
    energies = ("kinetic", "potential", "dissipated", "applied", "driven")
    return {
        "schema_version": SCHEMA_VERSION,
        "source": source,
        "model": {"name": mech.name, "files": list(files), "planar": motion.planar or False},
        "request": dict(request),
        "outcome": motion.outcome,
        "degree_of_redundancy": motion.degree_of_redundancy,
        "tolerance": motion.tolerance,
        "time": motion.time,
        "q": dict(zip(mech.q_names, motion.q.T, strict=True)),
        "qd": dict(zip(mech.qd_names, motion.qd.T, strict=True)),
        "qdd": dict(zip(mech.qd_names, motion.qdd.T, strict=True)),
        "energy": {name: getattr(motion, name) for name in energies},
        "active": [list(names) for names in motion.active],
        "segment": motion.segment,
        "residuals": motion.residuals,
        "events": [_event(event) for event in motion.events],
        "reactions": {
            pair: {"wrench": motion.reactions(pair), "unique": motion.uniqueness(pair)} for pair in pairs
        },
        "statistics": motion.statistics,
        "notes": list(motion.notes),
    }


def _event(event: Event) -> dict[str, Any]:
    return {
        "time": event.time,
        "kind": event.kind,
        "joint": event.joint,
        "velocity_before": event.velocity_before,
        "velocity_after": event.velocity_after,
        "impulse": [
            {
                "constraint": label[0],
                "component": label[1],
                "value": value,
                "unique": label not in event.open_impulses,
            }
            for label, value in event.impulse.items()
        ],
        "text": event.text,
    }
