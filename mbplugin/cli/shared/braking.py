"""Options of stops: rates, brakes, decelerations and payloads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mbplugin.cli.shared.acting import parse_payload
from mbplugin.cli.shared.options import choices, number
from mbplugin.errors import BadUsage
from mbplugin.model.brake_law import stated_keys
from mbplugin.model.enumerations import StopLimits

if TYPE_CHECKING:
    from mbplugin.model.mechanism.coupling import Lock

BrakeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--brake",
        metavar="JOINT:KEY=VALUE,…",
        help=f"{stated_keys()}; repeatable.",
    ),
]
RequireBrakesOption = Annotated[
    bool,
    typer.Option("--require-brakes", help="Exit with 2 where a brake or a deceleration is not stated."),
]
DecelerationOption = Annotated[
    list[str] | None,
    typer.Option(
        "--deceleration", metavar="NAME=VALUE,…", help="Decelerations of category 1 and 2 (rad/s², m/s²)."
    ),
]
LockOption = Annotated[
    list[str] | None,
    typer.Option(
        "--lock",
        metavar="JOINT[@S[:UNTIL]]",
        help="A joint, the time of its locking, and the time of its release; repeatable.",
    ),
]
StopLimitsOption = Annotated[str, typer.Option("--limits", help=f"At a joint limit: {choices(StopLimits)}.")]
StopDurationOption = Annotated[
    float, typer.Option("--duration", metavar="S", help="Longest time to rest, s.")
]
StopPayloadOption = Annotated[
    list[str] | None,
    typer.Option(
        "--payload", metavar="MASS|BODY:MASS[@X,Y,Z]", help="kg, at the tool or a point (m); repeatable."
    ),
]
ToolOption = Annotated[
    str | None, typer.Option(metavar="BODY", help="The tool; default: the outermost body, without a gripper.")
]


def parse_lock(text: str) -> Lock:
    """Return the lock that ``--lock`` describes."""
    from mbplugin.model.mechanism.coupling import Lock

    joint, at, times = text.rpartition("@")
    if not at:
        return Lock(text)
    begin, *end = (number(t, "--lock has", "JOINT[@S[:UNTIL]]", text) for t in times.split(":", 1))
    return Lock(joint, begin, until=end[0] if end else None)


def parse_brake(text: str) -> dict[str, Any]:
    """Return the brake that ``--brake`` describes.

    Raises
    ------
    BadUsage
        No joint, or values of another form.
    """
    from mbplugin.cli.shared.options import parse_q

    joint, colon, values = text.rpartition(":")
    if not colon or not joint.strip():
        raise BadUsage(f"--brake has {text!r}", expected="JOINT:KEY=VALUE,…")
    return {"joint": joint.strip(), **parse_q([values], "--brake")}


def parse_payloads(texts: list[str] | None) -> float | list[dict[str, Any]] | None:
    """Return payloads: a mass alone is at the tool."""
    if not texts:
        return None
    if len(texts) == 1 and ":" not in texts[0]:
        return number(texts[0], "--payload has", "MASS or BODY:MASS[@X,Y,Z]")
    return [parse_payload(text) for text in texts]


def parse_range(option: str, text: str) -> tuple[float, float]:
    """Return the two numbers of an option ``LOW,HIGH``."""
    low, _, high = text.partition(",")
    return (
        number(low, f"{option} has", "LOW,HIGH", text),
        number(high, f"{option} has", "LOW,HIGH", text),
    )
