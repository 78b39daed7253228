"""Options of loads and payloads."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mbplugin.cli.shared.options import number
from mbplugin.errors import BadUsage

LoadOption = Annotated[
    list[str] | None,
    typer.Option(
        "--load",
        metavar="BODY:FX,FY,FZ[,MX,MY,MZ][@X,Y,Z]",
        help="Force (N) and torque (N·m), world axes, at a point of the link frame (m); repeatable.",
    ),
]
PayloadOption = Annotated[
    list[str] | None,
    typer.Option(
        "--payload", metavar="BODY:MASS[@X,Y,Z]", help="A mass (kg) at a point of the link frame; repeatable."
    ),
]

TorqueOption = Annotated[
    list[str] | None,
    typer.Option("--torque", metavar="NAME=VALUE,…", help="Constant forces on joint rates (N·m, N)."),
]
DampingOption = Annotated[bool, typer.Option("--damping/--no-damping", help="The file's joint damping.")]
FrictionOption = Annotated[bool, typer.Option("--friction/--no-friction", help="The file's dry friction.")]


def parse_load(text: str) -> dict[str, Any]:
    """Return the load that ``--load`` describes.

    Raises
    ------
    BadUsage
        Another form, or another count of numbers.
    """
    body, numbers, point = _parts("--load", text, "BODY:FX,FY,FZ[,MX,MY,MZ][@X,Y,Z]")
    if len(numbers) not in (3, 6):
        raise BadUsage(f"--load {text!r} has {len(numbers)} numbers", expected="three of a force, or six")
    return {"body": body, "force": numbers[:3], "torque": numbers[3:] or [0.0] * 3, "point": point}


def parse_payload(text: str) -> dict[str, Any]:
    """Return the payload that ``--payload`` describes.

    Raises
    ------
    BadUsage
        Another form, or another count of numbers.
    """
    body, numbers, point = _parts("--payload", text, "BODY:MASS[@X,Y,Z]")
    if len(numbers) != 1:
        raise BadUsage(f"--payload {text!r} has {len(numbers)} numbers", expected="one mass")
    return {"body": body, "mass": numbers[0], "com": point}


def _parts(option: str, text: str, expected: str) -> tuple[str, list[float], list[float]]:
    """Return body, numbers and point (default the link's origin) of ``BODY:…[@…]``."""
    body, colon, rest = text.rpartition(":")
    values, at, place = rest.partition("@")
    if not colon or not body.strip():
        raise BadUsage(f"{option} has {text!r}", expected=expected)
    point = _numbers(option, text, place) if at else [0.0] * 3
    if len(point) != 3:
        raise BadUsage(f"{option} {text!r} has a point of {len(point)} numbers", expected="three")
    return body.strip(), _numbers(option, text, values), point


def _numbers(option: str, text: str, values: str) -> list[float]:
    return [number(part, f"{option} {text!r} has") for part in values.split(",")]
