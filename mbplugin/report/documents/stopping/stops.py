"""What the JSON documents of one stop, of a table and of a sweep share."""

from __future__ import annotations

from dataclasses import Field, fields
from math import inf
from typing import TYPE_CHECKING, Any

from pydantic import create_model

from mbplugin.model.brake_law import BrakeLaw
from mbplugin.report.documents.part import Matrix, Part, Size, Three, key
from mbplugin.simulation.events.event import EventKind

#: Parts that brakes have in all documents, those of earlier releases too.
_ALWAYS = ("torque", "static", "viscous")


def _law_key(part: Field[float]) -> tuple[Any, Any]:
    """Return the type and the description of a part of a law; one that may be infinite may be null."""
    optional = part.metadata["key"] not in _ALWAYS
    kind = Size | None if part.default == inf else Size
    return kind, key(part.metadata["text"] or None, optional=optional)


if TYPE_CHECKING:
    _Law = Part
else:
    _Law = create_model(
        "_Law",
        __base__=Part,
        joint=(str, ...),
        freedom=(str, ...),
        **{part.metadata["key"]: _law_key(part) for part in fields(BrakeLaw)},
    )


class JointBrake(_Law):
    """The brake of a joint, with all parts of its law."""

    delay: Size = key("s")
    engagement: Size = key("s")
    assumed: list[str]
    origin: str = key("where the numbers come from; empty where that is not stated", optional=True)

    @classmethod
    def of(cls, value: Any = None, **stated: Any) -> dict[str, Any]:
        """Return the object of a brake."""
        law = value.law.document()
        found = super().of(value, **law)
        # a part that may be infinite is null, not left out, though earlier releases did not have it
        found.update({name: None for name in law if name not in found})
        return found


class EffortLimits(Part):
    """Joints whose effort limit stands for what is not stated, and those whose brake grips at once."""

    brakes: list[str]
    ramps: list[str] = key("decelerations")
    delays: list[str] = key("brakes of which no time is stated: they grip with the signal", optional=True)


class ToolChoice(Part):
    """The point of which speed and way are computed."""

    body: str
    point: Three = key("link frame, m")
    reason: str = key("why the body is the tool; empty where it is named")
    still_on: list[str] = key(
        "joints whose axis the point, which is not stated, lies on: it does not move with them"
    )


class Payload(Part):
    """What a body carries."""

    body: str
    mass: Size = key("kg")
    com: Three = key("link frame, m")
    inertia: Matrix = key("kg·m²")


class ImpulseComponent(Part):
    """A component of an impulse."""

    constraint: str
    component: str
    value: float


class StopEvent(Part):
    """A brake that engages, or a joint that sticks, slips, locks or meets its limit."""

    time: Size
    kind: EventKind
    joint: str
    impulse: list[ImpulseComponent]
    text: str

    @classmethod
    def of(cls, value: Any = None, **stated: Any) -> dict[str, Any]:
        """Return the object of an event."""
        return super().of(value, impulse=[(*label, size) for label, size in value.impulse.items()])
