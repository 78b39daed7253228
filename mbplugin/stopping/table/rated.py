"""What a stopping table and a search for worst stops have as full payload and full speed."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite

import numpy as np

from mbplugin.errors import BadNumber, BadUsage, UnknownName, suggestion
from mbplugin.model.bounds import LARGEST
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Payload
from mbplugin.stopping.scenario.scenario import Scenario


def rated_payload(scenario: Scenario, payload: float | None) -> Payload:
    """Return the rated payload: a mass (kg) at the tool, or the one of the scene.

    Raises
    ------
    BadUsage
        The scene has several payloads.
    BadNumber
        A mass that is negative or too large.
    """
    own = scenario.actions.payloads
    if payload is None and len(own) == 1:
        return own[0]
    if payload is None and len(own) > 1:
        raise BadUsage("the scene has several payloads", remedy="state one with payload")
    mass = 0.0 if payload is None else float(payload)
    if not 0 <= mass <= LARGEST:
        raise BadNumber(f"the payload is {mass:g}", expected=f"kg, not negative, up to {LARGEST:g}")
    return Payload(scenario.tool, mass, scenario.tool_point, np.zeros((3, 3)))


def payload_share(rated: Payload, share: float) -> tuple[Payload, ...]:
    """Return a share of the rated payload, mass and inertia alike; nothing where there is none."""
    return (rated.scaled(share),) if rated.mass else ()


def payload_options(rated: Payload, share: float, of_scene: bool) -> tuple[str, ...]:
    """Return the options of ``mbplugin estop`` for a share of the rated payload."""
    if not rated.mass or (of_scene and share == 1):
        return ()
    if of_scene:
        return "--payload-share", repr(float(share))
    return "--payload", f"{rated.body}:{share * rated.mass!r}"


def require_joints(mech: Mechanism, speeds: Mapping[str, float]) -> None:
    """Refuse full speeds of what is no joint.

    Raises
    ------
    UnknownName
    """
    for name in speeds:
        if name not in mech.pair_by_name:
            raise UnknownName(
                f"a full speed is given for {name!r}, which is no joint",
                remedy=suggestion(name, [pair.name for pair in mech.pairs if pair.kind.free]),
            )


def full_speeds(
    mech: Mechanism, axes: tuple[str, ...], given: Mapping[str, float] | None
) -> dict[str, float]:
    """Return the full speed of axes, rad/s or m/s: given ones, else the velocity limits.

    Raises
    ------
    UnknownName
        A speed is given for no joint.
    BadUsage
        An axis without either, or a speed for a joint that is no axis.
    """
    require_joints(mech, given or {})
    for name in given or {}:
        if name not in axes:
            raise BadUsage(
                f"a full speed is given for {name!r}, which is no axis here",
                expected=f"one of {', '.join(axes)}",
                remedy="name it among the axes",
            )
    out = {}
    for axis in axes:
        value = (given or {}).get(axis, mech.pair_by_name[axis].freedoms[0].velocity)
        if not (isfinite(value) and value > 0):
            raise BadUsage(
                f"the full speed of joint {axis!r} is {value:g}",
                expected="a velocity limit in the file, or a speed that is given",
            )
        out[axis] = float(value)
    return out
