"""The rated payload of a robot, and shares of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mbplugin.errors import BadNumber, BadUsage
from mbplugin.model.bounds import LARGEST
from mbplugin.model.scene import Payload
from mbplugin.stopping.scenario.scenario import Scenario


def rated_payload(scenario: Scenario, payload: float | None) -> Payload:
    """Return the rated payload: a mass (kg) at the tool, or the one of the scene.

    Raises
    ------
    BadUsage
        The scene has several.
    BadNumber
        A mass that no payload has.
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
    """Return the payload with a share of mass and inertia, none where it has no mass."""
    scaled = replace(rated, mass=share * rated.mass, inertia=share * rated.inertia)
    return (scaled,) if rated.mass else ()
