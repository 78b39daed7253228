"""The JSON schema of ``mbplugin simulate``."""

from __future__ import annotations

from mbplugin.report.documents import schema as s
from mbplugin.simulation.events.event import EVENT_KINDS
from mbplugin.simulation.outcome import OUTCOMES


def simulate_schema() -> s.Schema:
    """Return the schema without its header."""
    series = s._list(s._NUMBER)
    by_name = {"type": "object", "additionalProperties": series}
    return s._object(
        schema_version=s._VERSION,
        source=s._described(s._TEXT, "the FILE as it was given"),
        model=s._object(name=s._TEXT, files=s._list(s._TEXT), planar=s._PLANAR),
        request=_request(),
        outcome={"enum": list(OUTCOMES)},
        degree_of_redundancy=s._COUNT,
        tolerance=s._described(s._SIZE, "relative rank tolerance"),
        time=s._described(series, "s; an event has two samples, before and after it"),
        q=s._described(by_name, "rad, m and components of quaternions xyzw, by coordinate"),
        qd=s._described(by_name, "rad/s and m/s, by joint rate"),
        qdd=s._described(by_name, "rad/s² and m/s², by joint rate"),
        energy=s._object(
            kinetic=s._described(series, "J"),
            potential=s._described(series, "J; gravity has none at the origin of the world"),
            dissipated=s._described(series, "work lost in dampers and friction since the start, J"),
            applied=s._described(series, "work done by loads, torques and controllers, J"),
            driven=s._described(series, "work done by drivers, J"),
        ),
        active=s._described(s._list(s._list(s._TEXT)), "what held besides the constraints, by segment"),
        segment=s._described(s._list(s._COUNT), "which entry of active held at each sample"),
        residuals=s._described(
            {"type": "object", "additionalProperties": s._SIZE},
            "largest position residual of every closing constraint, m or rad",
        ),
        events=s._list(_event()),
        reactions=s._described(
            {"type": "object", "additionalProperties": _reaction()}, "of the requested pairs"
        ),
        statistics={"type": "object", "additionalProperties": s._NUMBER},
        notes=s._list(s._TEXT),
    )


def _request() -> s.Schema:
    return s._object(
        duration=s._described(s._SIZE, "s"),
        integrator=s._TEXT,
        step=s._described(s._or_null(s._SIZE), "s"),
        rtol=s._SIZE,
        atol=s._SIZE,
        formulation=s._TEXT,
        redundancy=s._TEXT,
        coordinates={"enum": ["joint", "absolute"]},
        samples=s._or_null(s._COUNT),
        limits={"enum": ["record", "stop", "ignore"]},
        damping=s._FLAG,
        friction=s._FLAG,
        max_seconds=s._described(s._SIZE, "of computing, s; a longer motion ends as budget_spent"),
    )


def _event() -> s.Schema:
    impulse = s._object(
        constraint=s._TEXT,
        component=s._TEXT,
        value=s._NUMBER,
        unique=s._described(s._FLAG, "whether the rigid model determines it"),
    )
    rates = s._list(s._NUMBER)
    return s._object(
        time=s._described(s._SIZE, "s"),
        kind={"enum": list(EVENT_KINDS)},
        joint=s._TEXT,
        velocity_before=s._described(rates, "rad/s and m/s, as the keys of qd"),
        velocity_after=rates,
        impulse=s._described(s._list(impulse), "N·s and N·m·s, on the successor"),
        text=s._TEXT,
    )


def _reaction() -> s.Schema:
    six = {"type": "array", "minItems": 6, "maxItems": 6}
    return s._object(
        wrench=s._described(
            s._list({**six, "items": s._NUMBER}),
            "force (N) and moment (N·m) on the successor at the origin of S, axes of P",
        ),
        unique=s._described(
            s._list({**six, "items": s._FLAG}), "whether the rigid model determines each component"
        ),
    )
