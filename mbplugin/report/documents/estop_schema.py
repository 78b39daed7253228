"""The JSON schemas of ``mbplugin estop`` and ``mbplugin stop-table``."""

from __future__ import annotations

from dataclasses import fields
from math import inf

from mbplugin.model.brake_law import BrakeLaw
from mbplugin.report.documents import schema as s
from mbplugin.simulation.events.event import EVENT_KINDS
from mbplugin.stopping.outcome.outcome import OUTCOMES

_OUTCOME = {"enum": list(OUTCOMES)}
_TRUE = {"const": True}


def estop_schema() -> s.Schema:
    """Return the schema of a stop without its header."""
    values = {"type": "object", "additionalProperties": s._NUMBER}
    return s._object(
        schema_version=s._VERSION,
        source=s._described(s._TEXT, "the FILE as it was given"),
        model=s._object(name=s._TEXT, files=s._list(s._TEXT)),
        computed_not_measured=_TRUE,
        category={"enum": [0, 1, 2]},
        tolerance=s._described(s._SIZE, "relative rank tolerance"),
        outcome=_OUTCOME,
        time=s._described(s._SIZE, "from the signal to rest, s"),
        reaction_time=s._described(s._SIZE, "until the first brake grips or drive leads, s"),
        braking_time=s._described(s._NUMBER, "s"),
        q_end=s._described(values, "rad, m"),
        joints=s._list(_joint()),
        tool=_tool(),
        corridor=s._object(
            lower=_vector(3),
            upper=_vector(3),
            bodies={"type": "object", "additionalProperties": s._object(lower=_vector(3), upper=_vector(3))},
            without_shape=s._list(s._TEXT),
        ),
        energies=s._described(
            s._object(
                kinetic=s._NUMBER,
                potential=s._NUMBER,
                driven=s._NUMBER,
                applied=s._NUMBER,
                brakes=s._NUMBER,
                losses=s._NUMBER,
                residual=s._NUMBER,
            ),
            "J; kinetic + potential + driven + applied = brakes + losses + residual",
        ),
        naive=s._object(
            q=values,
            time=s._described(s._SIZE, "s"),
            tool_distance=s._described(s._SIZE, "along the path, m"),
            tool_displacement=s._described(s._SIZE, "straight, m"),
            tool_error=s._described(s._SIZE, "m"),
            energy_ignored=s._described(s._NUMBER, "J"),
        ),
        impact=s._or_null(
            s._object(
                joint=s._TEXT, rate=s._NUMBER, impulse=s._described(s._SIZE, "N·m·s, N·s"), energy=s._NUMBER
            )
        ),
        peaks=s._list(_peak()),
        events=s._list(_event()),
        brakes=s._list(_brake()),
        decelerations=s._described(values, "rad/s², m/s²"),
        assumed=s._list(s._TEXT),
        notes=s._list(s._TEXT),
    )


def stop_table_schema() -> s.Schema:
    """Return the schema of a stopping table without its header."""
    slip = s._object(
        joint=s._TEXT,
        unit={"enum": ["rad", "m"]},
        travel=s._described(s._NUMBER, "unit"),
        time=s._described(s._SIZE, "from the signal to rest, s"),
    )
    row = s._object(
        category={"enum": [0, 1]},
        axis=s._COUNT,
        joint=s._TEXT,
        unit={"enum": ["rad", "m"]},
        speed_percent=s._COUNT,
        extension_percent=s._COUNT,
        payload_percent=s._COUNT,
        speed=s._described(s._SIZE, "unit/s"),
        sense=s._described({"enum": [-1, 1]}, "in which the axis moves"),
        extension=s._described(s._SIZE, "distance of the tool from the axis, m"),
        payload=s._described(s._SIZE, "kg"),
        deceleration=s._described(s._or_null(s._SIZE), "unit/s²"),
        time=s._described(s._SIZE, "from the signal until the axis rests, s"),
        distance=s._described(s._SIZE, "unit"),
        reaction_time=s._described(s._SIZE, "s"),
        reaction_distance=s._described(s._SIZE, "unit"),
        rest_time=s._described(s._SIZE, "until all joints rest, s"),
        tool_distance=s._described(s._SIZE, "along the path, m"),
        tool_displacement=s._described(s._SIZE, "straight, m"),
        outcome=_OUTCOME,
        slips=s._described(s._list(slip), "other joints that move"),
        q=s._described({"type": "object", "additionalProperties": s._NUMBER}, "at the signal, rad, m"),
        command=s._described(s._or_null(s._TEXT), "computes the row again; null without a file"),
    )
    return s._object(
        schema_version=s._VERSION,
        model=s._object(name=s._TEXT),
        computed_not_measured=_TRUE,
        tool=s._TEXT,
        axes=s._list(s._TEXT),
        assumptions=s._list(s._TEXT),
        rows=s._list(row),
    )


def _vector(length: int) -> s.Schema:
    return {"type": "array", "items": s._NUMBER, "minItems": length, "maxItems": length}


def _impact() -> s.Schema:
    impulse = s._described(s._SIZE, "N·m·s, N·s")
    return s._object(joint=s._TEXT, rate=s._NUMBER, impulse=impulse, energy=s._described(s._NUMBER, "J"))


def _joint() -> s.Schema:
    return s._object(
        name=s._TEXT,
        unit={"enum": ["rad", "m"]},
        start=s._NUMBER,
        end=s._NUMBER,
        rate=s._NUMBER,
        time=s._described(s._SIZE, "s"),
        reaction_time=s._SIZE,
        braking_time=s._NUMBER,
        travel=s._NUMBER,
        reaction_travel=s._NUMBER,
        braking_travel=s._NUMBER,
        back=s._described(s._NUMBER, "how far it has come back"),
        brake_energy=s._described(s._NUMBER, "J"),
        stopped=s._FLAG,
    )


def _tool() -> s.Schema:
    return s._object(
        body=s._TEXT,
        speed=s._described(s._SIZE, "at the signal, m/s"),
        distance=s._described(s._SIZE, "along the path, m"),
        displacement=s._described(s._SIZE, "straight, m"),
        reaction_distance=s._SIZE,
        braking_distance=s._SIZE,
        path=s._described(s._list(_vector(3)), "world, m"),
    )


def _peak() -> s.Schema:
    return s._object(
        pair=s._TEXT,
        role={"enum": ["base", "joint", "flange"]},
        force=s._described(s._SIZE, "N; all that passes through the pair: bearing, drive, brake, friction"),
        moment=s._described(s._SIZE, "N·m; all that passes through the pair"),
        force_time=s._NUMBER,
        moment_time=s._NUMBER,
        components=s._described(_vector(6), "largest sizes of tx ty tz rx ry rz, N and N·m"),
        structural_force=s._described(s._SIZE, "N; what the bearing carries, nothing along the freedoms"),
        structural_moment=s._described(s._SIZE, "N·m; what the bearing carries"),
        structural_force_time=s._NUMBER,
        structural_moment_time=s._NUMBER,
        axis=s._described(
            s._or_null(
                s._object(
                    freedom={"enum": ["rz", "tz"]},
                    unit={"enum": ["N·m", "N"]},
                    total=_load(),
                    drive=_load(),
                    brake=_load(),
                    friction=_load(),
                )
            ),
            "about or along the axis of a pair with one freedom",
        ),
        unique=s._FLAG,
    )


def _load() -> s.Schema:
    return s._object(value=s._described(s._SIZE, "N·m, N"), time=s._described(s._NUMBER, "s"))


def _event() -> s.Schema:
    impulse = s._object(constraint=s._TEXT, component=s._TEXT, value=s._NUMBER)
    kind = {"enum": list(EVENT_KINDS)}
    return s._object(time=s._SIZE, kind=kind, joint=s._TEXT, impulse=s._list(impulse), text=s._TEXT)


def _brake() -> s.Schema:
    law = {}
    for part in fields(BrakeLaw):
        size = s._or_null(s._SIZE) if part.default == inf else s._SIZE
        text = part.metadata["text"]
        law[part.metadata["key"]] = s._described(size, text) if text else size
    return s._object(
        joint=s._TEXT,
        freedom=s._TEXT,
        **law,
        delay=s._described(s._SIZE, "s"),
        engagement=s._described(s._SIZE, "s"),
        assumed=s._list(s._TEXT),
    )
