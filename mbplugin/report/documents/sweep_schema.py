"""The JSON schema of ``mbplugin sweep``."""

from __future__ import annotations

from mbplugin.report.documents import schema as s
from mbplugin.report.documents.estop_schema import _OUTCOME, _TRUE, _brake, _vector


def sweep_schema() -> s.Schema:
    """Return the schema of a sweep without its header."""
    values = {"type": "object", "additionalProperties": s._NUMBER}
    outcome = s._object(outcome=_OUTCOME, stops=s._COUNT, first=s._described(s._COUNT, "number of a stop"))
    quantity = s._object(
        name=s._described(s._TEXT, "a column of the part files"),
        unit={"enum": ["s", "rad", "m"]},
        quantiles=s._list(s._object(share=s._SIZE, value=s._SIZE)),
        worst=s._object(stop=s._COUNT, value=s._SIZE),
    )
    payload = s._object(
        body=s._TEXT,
        mass=s._described(s._SIZE, "kg"),
        com=s._described(_vector(3), "link frame, m"),
        inertia=s._described(s._list(_vector(3)), "kg·m²"),
    )
    case = s._object(
        stop=s._COUNT,
        q=s._described(values, "at the signal, rad, m"),
        qd=s._described(values, "rad/s, m/s"),
        brakes=s._list(_brake()),
        payloads=s._list(payload),
    )
    return s._object(
        schema_version=s._VERSION,
        source=s._described(s._TEXT, "the FILE as it was given"),
        model=s._object(name=s._TEXT, files=s._list(s._TEXT)),
        computed_not_measured=_TRUE,
        category={"const": 0},
        folder=s._described(s._TEXT, "of the part files"),
        seed=s._COUNT,
        stops=s._COUNT,
        outcomes=s._list(outcome),
        quantities=s._described(s._list(quantity), "of the stops that come to rest"),
        cases=s._described(s._list(case), "what the worst stops, and the first that do not rest, start from"),
        assumed=s._list(s._TEXT),
        notes=s._list(s._TEXT),
        replaced=s._described(
            s._list(s._object(file=s._TEXT, reason=s._TEXT)),
            "files of the folder that were not what they should be, and were made anew",
        ),
    )
