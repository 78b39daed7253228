"""Options of loads and payloads."""

from __future__ import annotations

from typing import Annotated

import typer

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
