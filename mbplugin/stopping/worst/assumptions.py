"""What a search for the worst stops stands on, in sentences."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from mbplugin.model.enumerations import Moving
from mbplugin.stopping.scenario.decelerations import assumed_deceleration, inertias_at
from mbplugin.stopping.scenario.effort_limits import assumed_brakes
from mbplugin.stopping.worst.space import StopSpace, coordinate_range


def worst_stop_assumptions(space: StopSpace, moving: Moving) -> Iterator[str]:
    """Yield what a search stands on, one sentence each."""
    scenario, rated = space.scenario, space.rated
    yield "computed, not measured; a search finds a lower bound of the worst, not a proof"
    yield (
        "one axis moves at full speed, the others stand"
        if moving == "one"
        else "all axes move at once, each at up to full speed"
    )
    low, high = space.payload_range
    carried = f"{low:g} to {high:g} times {rated.mass:g} kg at {rated.body}"
    yield f"payload: {carried if rated.mass else 'none (no rated payload is stated)'}"
    yield "full speed (rad/s, m/s): " + ", ".join(f"{axis} {v:.4g}" for axis, v in space.speeds.items())
    pairs = [joint.pair for joint in scenario.mech.tree.joints if joint.pair is not None]
    fixed = [p.name for p in pairs if p.kind.free and coordinate_range(p)[0] >= coordinate_range(p)[1]]
    if fixed:
        yield f"without limits, and so in their places: {', '.join(fixed)}"
    yield "poses within the joint limits; the arm may meet itself or its surroundings"
    for what, tolerance in (("torques", space.torque_tolerance), ("delays", space.delay_tolerance)):
        if tolerance:
            yield f"{what} of the brakes within {100 * tolerance:g} % either way, each by itself"
    yield from scenario.stated
    if scenario.category < 2:
        yield from assumed_brakes(scenario.brakes)
    if scenario.category > 0:
        yield from _assumed_ramps(space)
    # at the pose of the file, which is none of those searched
    yield from (note for note in scenario.notes if note != scenario.tool_choice.heading)


def _assumed_ramps(space: StopSpace) -> Iterator[str]:
    """Yield a sentence for each axis whose ramp nobody stated."""
    scenario = space.scenario
    source = scenario.ramp_source
    inertias = partial(inertias_at, scenario.mech, scenario.q, scenario.actions)
    stated = {ramp.joint for ramp in source.stated} | {a.joint for a in source.actuators if a.deceleration}
    for axis in space.speeds:
        if axis in source.given:
            yield f"{axis}: given deceleration {source.given[axis]:g}"
        elif axis not in stated:
            found = assumed_deceleration(scenario.mech, axis, inertias)
            yield f"{axis}: category {scenario.category} decelerates with {found.source}"
