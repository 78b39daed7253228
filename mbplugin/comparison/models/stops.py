"""Emergency stops of two models: what a change of the robot does to the time and the travel of each joint."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite

from mbplugin.errors import MbPluginError
from mbplugin.model.mechanism import Mechanism, Pair
from mbplugin.model.mechanism.kinematics import follows
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import units_of

#: Most joints that are stopped, and the time limit of each stop, s.
MOST_JOINTS, _SECONDS = 40, 30.0


@dataclass(frozen=True)
class StopFigure:
    """The emergency stop (category 0) of one joint from its velocity limit, the others at rest.

    Parameters
    ----------
    joint : str
    unit : "rad" or "m"
    speed : float
        rad/s or m/s.
    outcome : str
        As of :func:`mbplugin.estop`; ``failed`` where it cannot be computed.
    time, travel : float or None
        From the signal to rest, s, and rad or m; None unless it stops.
    tool_travel : float or None
        Length of the path of the tool, m.
    reason : str
        Why it cannot be computed.
    """

    joint: str
    unit: str
    speed: float
    outcome: str
    time: float | None = None
    travel: float | None = None
    tool_travel: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class StopChange:
    """The stops of one joint in both models; None where a model has no such stop."""

    joint: str
    a: StopFigure | None
    b: StopFigure | None


def stop_changes(
    a: Scene, b: Scene, joints: Mapping[str, str], progress: Callable[[int, int], None] | None = None
) -> tuple[tuple[StopChange, ...], tuple[str, ...]]:
    """Return the stops of the joints of two models, and notes on joints that are left out.

    Each joint with one freedom and a velocity limit starts at that limit, at the pose of its file.

    Parameters
    ----------
    joints : mapping of str to str
        Names of the first model, and the names of the same joints in the second.
    progress : callable, optional
        Called with the number of joints that were stopped, and the number of all.
    """
    ours, theirs = _stoppable(a.mechanism), _stoppable(b.mechanism)
    known = {there: here for here, there in joints.items()}
    names: list[tuple[str | None, str | None]] = [(name, joints.get(name)) for name in ours]
    names += [(known.get(name), name) for name in theirs if known.get(name) not in ours]
    changes = []
    for here, there in names[:MOST_JOINTS]:
        first = _stop(a, here) if here in ours else None
        second = _stop(b, there) if there in theirs else None
        changes.append(StopChange(here or there or "", first, second))
        if progress is not None:
            progress(len(changes), len(names[:MOST_JOINTS]))
    left = [here or there or "" for here, there in names[MOST_JOINTS:]]
    return tuple(changes), (f"the stops of {len(left)} more joints are not computed",) if left else ()


def _stoppable(mech: Mechanism) -> list[str]:
    """Return the joints with one freedom and a velocity limit that follow no other."""
    locked = {lock.joint for lock in mech.locks}
    return [
        pair.name
        for pair in mech.pairs
        if len(pair.freedoms) == 1
        and isfinite(_speed(pair))
        and _speed(pair) > 0
        and pair.name not in locked
        and not follows(mech, pair)
    ]


def _speed(pair: Pair) -> float:
    return float(pair.freedoms[0].velocity)


def _stop(scene: Scene, name: str | None) -> StopFigure:
    # a comparison without stops imports none of their modules
    from mbplugin.stopping.run import estop

    assert name is not None
    pair = scene.mechanism.pair_by_name[name]
    unit, speed = units_of(pair.kind.free[0]).coordinate, _speed(pair)
    try:
        report = estop(scene, qd={name: speed}, max_seconds=_SECONDS)
    except MbPluginError as error:
        return StopFigure(name, unit, speed, "failed", reason=error.what)
    joint = next((one for one in report.joints if one.name == name), None)
    if report.outcome not in ("stopped", "limit_hit") or joint is None:
        reason = "" if joint is not None else "the joint has no brake"
        return StopFigure(name, unit, speed, report.outcome, reason=reason)
    return StopFigure(name, unit, speed, report.outcome, joint.time, abs(joint.travel), report.tool.distance)
