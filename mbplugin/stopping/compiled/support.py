"""Which stops the compiled loop can do: those of arms whose joints move by themselves, each with a brake."""

from __future__ import annotations

from collections.abc import Iterator

from mbplugin.errors import BadUsage
from mbplugin.phrases import listed
from mbplugin.stopping.scenario.scenario import Scenario


def supports_compiled_stop(scenario: Scenario) -> bool:
    """Return whether the compiled loop can do a stop: a tree of single freedoms, all of them led."""
    return not next(_obstacles(scenario), "")


def _obstacles(scenario: Scenario) -> Iterator[str]:
    """Yield what keeps the compiled loop from a stop, in words."""
    mech = scenario.mech
    pairs = [joint.pair for joint in mech.tree.joints if joint.pair is not None]
    controlled = {brake.joint for brake in scenario.brakes}
    if len(pairs) < len(mech.tree.joints):
        yield "its base is free"
    yield from (f"{p.name!r} closes a loop" for p in mech.tree.cut)
    yield from (
        f"{c.name!r} couples the joints {listed([term.joint for term in c.terms])}" for c in mech.couplings
    )
    yield from (f"{lock.joint!r} is locked" for lock in mech.locks)
    yield from (f"{driver.joint!r} is driven" for driver in mech.drivers)
    yield from (f"{row.name!r} ties {row.body!r} to the ground" for row in mech.pfaffians)
    yield from (f"{p.name!r} has {len(p.kind.free)} freedoms" for p in pairs if len(p.kind.free) > 1)
    yield from (f"{p.name!r} has no brake" for p in pairs if p.kind.free and p.name not in controlled)
    if any(f.load_friction for pair in mech.pairs for f in pair.freedoms):
        yield "its friction depends on the load"
    if scenario.actions.controller is not None or scenario.qdd.any():
        yield "it is controlled or accelerates at the signal"


def require_compiled_stop(
    scenario: Scenario, instead: str = "use estop for single stops, sweep for many"
) -> None:
    """Refuse a scenario that is no arm whose joints all have brakes.

    Raises
    ------
    BadUsage
        With the remedy: a base that nothing holds, or single stops.
    """
    obstacle = next(_obstacles(scenario), "")
    if not obstacle:
        return
    free = any(joint.pair is None for joint in scenario.mech.tree.joints)
    raise BadUsage(
        f"{scenario.mech.name!r} is no arm of joints with one freedom, each with a brake: {obstacle}",
        remedy="fix its base with --base fixed, in Python with mb.load(FILE, base='fixed')"
        if free
        else instead,
    )
