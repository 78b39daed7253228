"""The JSON documents of motions and stops follow their published schemas."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import lru_cache
from typing import Any

import jsonschema

from mbplugin.report.documents.motions import simulate_document
from mbplugin.report.documents.part import dumps, schema_of
from mbplugin.report.documents.stopping import estop_document
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.outcome import StopReport

#: Outcomes and kinds of events that have been found valid together.
_valid: set[tuple[str | None, ...]] = set()


def document_of_motion_is_valid(motion: Trajectory) -> None:
    """The JSON document of a motion, with all its events and its outcome, follows its published schema."""
    few = min(len(motion.time), 2)
    arrays = ("time", "q", "qd", "qdd", "kinetic", "potential", "dissipated", "applied", "driven", "segment")
    short = replace(motion, **{name: getattr(motion, name)[:few] for name in arrays})
    kinds: dict[str, Any] = {}
    for event in motion.events:
        kinds.setdefault(event.kind, event)
    short = replace(short, events=tuple(kinds.values()))
    shape = (motion.outcome, motion.planar, motion.redundancy, *sorted(kinds))
    if shape in _valid:
        return
    request = {
        "duration": 1.0,
        "integrator": "dop853",
        "step": None,
        "rtol": 1e-8,
        "atol": 1e-10,
        "formulation": "projected",
        "redundancy": motion.redundancy,
        "coordinates": "joint",
        "transition": "consistent",
        "samples": None,
        "limits": "record",
        "damping": True,
        "friction": True,
        "max_seconds": 600.0,
    }
    _require_valid("simulate", simulate_document(short, request, (), "file", ()))
    _valid.add(shape)


def document_of_stop_is_valid(report: StopReport, *, peaks: bool = False) -> None:
    """The JSON document of a stop is valid by the published schema, with its peaks or without them."""
    if not peaks and "peaks" not in report.__dict__:
        report = replace(report)
        report.__dict__["peaks"] = ()
    _require_valid("estop", estop_document(report, "file", ()))


@lru_cache
def _validator(document: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema_of(document))


def _require_valid(kind: str, document: Any) -> None:
    error = next(_validator(kind).iter_errors(json.loads(dumps(document))), None)
    assert error is None, (
        f"the JSON of {kind} does not follow its schema at {'/'.join(map(str, error.absolute_path))}: "  # type: ignore[union-attr]
        f"{error.message[:200]}"  # type: ignore[union-attr]
    )
