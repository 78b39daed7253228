"""Brakes and speeds of a robot whose file states neither: assumed from its own masses and lengths, and said.

Files of grippers, toys and mobile robots often state no effort limit, so that there is no number to put in place of
a brake. A drive is usually dimensioned to hold twice what it carries, and to stop its joint quickly: the larger of the
two is the assumed brake. It depends on the robot alone, not on pose or payload, so that all stops of a robot have the
same brakes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from math import isfinite

import numpy as np

from mbplugin.model.brakes import BrakeLike
from mbplugin.model.mechanism.kinematics import BodyPoses, follows, forward, home, joint_axes
from mbplugin.model.mechanism.mechanism import Mechanism, TreeJoint
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import Array, is_turn, units_of
from mbplugin.phrases import Assumption, listed

#: What a brake holds, relative to the largest load of its links.
_MARGIN = 2.0
#: Time in which a brake stops the largest inertia of its links from full speed, s.
_STOP_TIME = 0.5
#: Full speed of a joint without a velocity limit: rad/s, and m/s (the reduced speed of ISO 10218-1).
_TURNING, _SLIDING = 1.0, 0.25
#: Most joints that a sentence names, and characters for them: the sentences belong into the first lines of a report.
_NAMED, _ROOM = 6, 36
#: Start of the sentence on assumed brakes, and the rule that gives their numbers.
NO_DRIVE = "No brake and no effort limit is stated"
RULE = (
    f"An assumed brake holds {_MARGIN:g} times what holds its links stretched out level, or stops them from full speed"
    f" within {_STOP_TIME:g} s, if that is more; brakes that are stated leave other joints without one."
)


def with_assumed_drives(
    model: Scene | Mechanism, brakes: Iterable[BrakeLike] | None = None
) -> Scene | Mechanism:
    """Return the model with effort limits for its joints if no joint has a brake or an effort limit above 0.

    The effort limit of a joint is twice the load that holds its links stretched out level, or what stops their
    inertia, stretched out, from full speed within 0.5 s, if that is more. The mechanism names the joints in
    ``assumed_drives``. Joints of several freedoms, and those that move no mass or follow others, get none.

    Parameters
    ----------
    brakes : iterable of Brake or mapping, optional
        Brakes given by the caller.
    """
    mech = model.mechanism if isinstance(model, Scene) else model
    stated = tuple(brakes or ()) or (isinstance(model, Scene) and model.brakes)
    if stated or any(_known(freedom.effort) for pair in mech.pairs for freedom in pair.freedoms):
        return model
    poses = forward(mech, home(mech))
    efforts = {
        joint.pair.name: effort
        for joint in mech.tree.joints
        if joint.pair is not None and len(joint.pair.kind.free) == 1 and not follows(mech, joint.pair)
        if _known(effort := _effort(mech, joint, poses))
    }
    if not efforts:
        return model
    pairs = tuple(
        replace(pair, freedoms=(replace(pair.freedoms[0], effort=efforts[pair.name]),))
        if pair.name in efforts
        else pair
        for pair in mech.pairs
    )
    driven = replace(mech, pairs=pairs, assumed_drives=tuple(efforts))
    return replace(model, mechanism=driven) if isinstance(model, Scene) else driven


def drives_sentence(mech: Mechanism) -> tuple[str, ...]:
    """Return a sentence with the numbers of the assumed brakes and the option; empty if there are none."""
    pairs = [pair for pair in mech.pairs if pair.name in mech.assumed_drives and pair.kind.free]
    if not pairs:
        return ()
    shown = [f"{p.name} {p.freedoms[0].effort:.3g} {units_of(p.kind.free[0]).force}" for p in pairs]
    said = listed(shown, _NAMED, _ROOM)
    sentence = f"{NO_DRIVE}: assumed are {said} (--brake, brakes=)."
    return (Assumption(sentence, f"brakes {said}, as none and no effort limit is stated (--brake)"),)


def assumed_speeds(
    mech: Mechanism, axes: Iterable[str], given: Mapping[str, float] | None
) -> dict[str, float]:
    """Return full speeds to assume, rad/s and m/s, if none of the axes has a velocity limit or a given speed."""
    pairs = [mech.pair_by_name[name] for name in axes]
    if given or any(_known(pair.freedoms[0].velocity) for pair in pairs):
        return {}
    return {pair.name: _default_speed(is_turn(pair.kind.free[0])) for pair in pairs}


def speeds_said(mech: Mechanism, speeds: Mapping[str, float]) -> tuple[str, ...]:
    """Return a sentence on assumed full speeds, rad/s and m/s; empty if there are none."""
    if not speeds:
        return ()
    units = {name: units_of(mech.pair_by_name[name].kind.free[0]).rate for name in speeds}
    shown = listed([f"{name} {speed:g} {units[name]}" for name, speed in speeds.items()], _NAMED, _ROOM)
    sentence = f"No axis states a velocity limit: assumed are {shown} (--speed, speeds=)."
    return (Assumption(sentence, f"full speeds {shown} (--speed)"),)


def _effort(mech: Mechanism, joint: TreeJoint, poses: BodyPoses) -> float:
    """Return the assumed effort limit of a joint, N·m or N; 0 if it moves no mass."""
    pair = joint.pair
    assert pair is not None
    turns, velocity = is_turn(pair.kind.free[0]), pair.freedoms[0].velocity
    S, on_axis = joint_axes(mech, joint, poses)
    reach = _reaches(mech, joint, poses, on_axis, S[3:, 0] if turns else None)
    pull, load, inertia = float(np.linalg.norm(mech.gravity)), 0.0, 0.0
    for name, lever in reach.items():
        body = mech.bodies[mech.body_index[name]]
        mass = max(body.mass, 0.0)
        load += mass * pull * (lever if turns else 1.0)
        inertia += mass * lever**2 + max(float(np.linalg.eigvalsh(body.I_C)[-1]), 0.0) if turns else mass
    speed = velocity if _known(velocity) else _default_speed(turns)
    return max(_MARGIN * load, inertia * speed / _STOP_TIME)


def _reaches(
    mech: Mechanism, joint: TreeJoint, poses: BodyPoses, on_axis: Array, axis: Array | None
) -> dict[str, float]:
    """Return the largest distances of the centres of mass of the carried bodies from a joint, over all poses, m.

    Parameters
    ----------
    on_axis : (3,) array
    axis : (3,) array or None
        Of a joint that turns: distances are those from the axis, and a wheel has none.
    """
    begins, places = {joint.outer: 0.0}, {joint.outer: on_axis}

    def distance(body: str, point: Array) -> float:
        way = point - places[body]
        if axis is not None and body == joint.outer:
            way = way - (way @ axis) * axis
        return begins[body] + float(np.linalg.norm(way))

    carried = mech.tree.carried(joint.outer)
    for other in mech.tree.joints:
        if other.outer == joint.outer or other.outer not in carried or other.inner not in places:
            continue
        _, point = joint_axes(mech, other, poses)
        pair = other.pair
        rigid = pair is None or not pair.kind.free
        # a body that is fixed to another keeps its place on it, and distances are measured from where that begins
        begins[other.outer] = begins[other.inner] if rigid else distance(other.inner, point)
        places[other.outer] = places[other.inner] if rigid else point
        if pair is not None and pair.kind.free and not is_turn(pair.kind.free[0]):
            ends = [abs(end) for end in (pair.freedoms[0].lower, pair.freedoms[0].upper) if isfinite(end)]
            begins[other.outer] += max(ends, default=0.0)
    return {name: distance(name, poses.p_WC[mech.body_index[name]]) for name in places}


def _default_speed(turns: bool) -> float:
    return _TURNING if turns else _SLIDING


def _known(value: float) -> bool:
    return isfinite(value) and value > 0.0
