"""Options of stops: rates, brakes, decelerations and payloads."""

from __future__ import annotations

from typing import Annotated

import typer

from mbplugin.cli.shared.options import choices, kilograms, number, seconds
from mbplugin.errors import BadUsage
from mbplugin.model.brake_law import stated_keys
from mbplugin.model.enumerations import StopLimits

BrakeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--brake",
        metavar="JOINT:KEY=VALUE,…",
        help=f"{stated_keys()}; in place of the brake that the scene states; repeatable.",
    ),
]
RequireBrakesOption = Annotated[
    bool,
    typer.Option("--require-brakes", help="Exit with 2 where a brake or a deceleration is not stated."),
]
CategoryOption = Annotated[
    int, typer.Option(help="0: power-off; 1: controlled stop, then power-off; 2: controlled stop.")
]
DecelerationOption = Annotated[
    list[str] | None,
    typer.Option("--deceleration", metavar="NAME=VALUE,…", help="Decelerations of category 1 and 2."),
]
LockOption = Annotated[
    list[str] | None,
    typer.Option(
        "--lock",
        metavar="JOINT[@S[:UNTIL]]",
        help="A joint, the time of its locking, and the time of its release; repeatable.",
    ),
]
HoldOption = Annotated[
    list[str] | None,
    typer.Option(
        "--hold",
        metavar="NAME[@S[:UNTIL]]",
        help="A closure, coupling, driver or wheel that is active only then; repeatable.",
    ),
]
StopLimitsOption = Annotated[str, typer.Option("--limits", help=f"At a joint limit: {choices(StopLimits)}.")]
StopDurationOption = Annotated[
    float,
    typer.Option("--duration", metavar="S", parser=seconds("--duration"), help="Longest time to rest, s."),
]
StopPayloadOption = Annotated[
    list[str] | None,
    typer.Option(
        "--payload",
        metavar="MASS|BODY:MASS[@X,Y,Z]",
        help="kg, at the tool or a point, beside the scene's; repeatable.",
    ),
]
RatedPayloadOption = Annotated[
    float | None,
    typer.Option(
        "--payload",
        metavar="KG",
        parser=kilograms("--payload"),
        help="Rated mass at the tool; default: the scene's payload.",
    ),
]
FullSpeedOption = Annotated[
    list[str] | None,
    typer.Option(
        "--speed", metavar="NAME=VALUE,…", help="Full speed, such as 180deg/s; default: the velocity limits."
    ),
]
TorqueToleranceOption = Annotated[
    float,
    typer.Option("--torque-tolerance", metavar="T", help="Relative tolerance of brake torques, per joint."),
]
DelayToleranceOption = Annotated[
    float,
    typer.Option("--delay-tolerance", metavar="T", help="Relative tolerance of brake delays, per joint."),
]
ToolOption = Annotated[
    str | None, typer.Option(metavar="BODY", help="The tool; default: the outermost body, without a gripper.")
]
ToolPointOption = Annotated[
    str | None,
    typer.Option(metavar="X,Y,Z", help="The point of the tool whose path is computed, in its link frame, m."),
]


_PROBABILITIES = "SHARE or SHARE,CONFIDENCE, such as 0.95,0.9: numbers between 0 and 1"
BoundOption = Annotated[
    str | None,
    typer.Option(
        "--bound",
        metavar="SHARE[,CONFIDENCE]",
        help="Print upper bounds of at least this share of all stops; default of the confidence: 0.95.",
    ),
]


def parse_bound(text: str) -> tuple[float, float]:
    """Return the share and the confidence of ``--bound SHARE[,CONFIDENCE]``.

    Raises
    ------
    BadUsage
        Not one or two numbers between 0 and 1.
    """
    from mbplugin.stopping.order_statistics import CONFIDENCE

    share, comma, confidence = text.partition(",")
    return _probability(share, text), _probability(confidence, text) if comma else CONFIDENCE


def _probability(part: str, text: str) -> float:
    value = number(part, "--bound has", _PROBABILITIES, text)
    if not 0 < value < 1:
        raise BadUsage(f"--bound has {text!r}", expected=_PROBABILITIES)
    return value


def parse_range(option: str, text: str) -> tuple[float, float]:
    """Return the two numbers of an option ``LOW,HIGH``."""
    low, _, high = text.partition(",")
    return (
        number(low, f"{option} has", "LOW,HIGH", text),
        number(high, f"{option} has", "LOW,HIGH", text),
    )
