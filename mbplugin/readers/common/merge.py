"""Placing model scenes in the world and joining several into one, as ``model/name``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from mbplugin.model.mechanism import WORLD, Mechanism
from mbplugin.model.mechanism.kinematics import BodyPoses, coordinates_of, free_pose, home
from mbplugin.model.scene import OriginKey, Scene, State
from mbplugin.model.spatial import Pose, rotation_from_quaternion
from mbplugin.model.spring import JointSpring


def placed(scene: Scene, X_WM: Pose) -> Scene:
    """Return a scene whose model stands at a pose: its connections to the world, and its free roots."""
    mech = scene.mechanism
    pairs = tuple(
        replace(pair, X_AP=X_WM @ pair.X_AP)
        if pair.body_a == WORLD
        else replace(pair, X_BS=X_WM @ pair.X_BS)
        if pair.body_b == WORLD
        else pair
        for pair in mech.pairs
    )
    moved = replace(mech, pairs=pairs)
    q, qd = np.array(scene.state.q), np.array(scene.state.qd)
    for joint in moved.tree.joints:
        if joint.pair is None:
            p_LC = moved.bodies[moved.body_index[joint.outer]].p_LC
            R_WL = rotation_from_quaternion(q[joint.q][3:])
            X_WL = X_WM @ Pose(R_WL, q[joint.q][:3] - R_WL @ p_LC)
            q[joint.q] = free_pose(moved, joint.outer, X_WL)
            qd[joint.qd] = (X_WM.R @ qd[joint.qd].reshape(2, 3).T).T.ravel()
    return replace(scene, mechanism=moved, state=replace(scene.state, q=q, qd=qd))


def joined(parts: Sequence[tuple[str, Scene]], name: str) -> Scene:
    """Return one scene of several models, every name of theirs prefixed with ``model/``.

    Parameters
    ----------
    parts : sequence of (str, Scene)
        Unique model names and their scenes; gravity and options are those of the first.
    name : str
        The name of the whole.
    """
    scenes = [prefixed(scene, f"{model}/") for model, scene in parts]
    first = scenes[0]
    mechs = [scene.mechanism for scene in scenes]
    mech = Mechanism(
        name,
        tuple(chain.from_iterable(m.bodies for m in mechs)),
        tuple(chain.from_iterable(m.pairs for m in mechs)),
        tuple(chain.from_iterable(m.couplings for m in mechs)),
        tuple(chain.from_iterable(m.drivers for m in mechs)),
        tuple(chain.from_iterable(m.locks for m in mechs)),
        tuple(chain.from_iterable(m.pfaffians for m in mechs)),
        gravity=first.mechanism.gravity,
    )
    q: dict[str, float] = {}
    qd: dict[str, float] = {}
    for scene in scenes:
        q.update(zip(scene.mechanism.q_names, scene.state.q, strict=True))
        qd.update(zip(scene.mechanism.qd_names, scene.state.qd, strict=True))
    state = replace(
        carried(mech, q, qd),
        given=frozenset(chain.from_iterable(scene.state.given for scene in scenes)),
        given_rates=frozenset(chain.from_iterable(scene.state.given_rates for scene in scenes)),
    )
    return Scene(
        mech,
        state,
        origin={key: value for scene in scenes for key, value in scene.origin.items()},
        files=tuple(dict.fromkeys(chain.from_iterable(scene.files for scene in scenes))),
        defects=tuple(chain.from_iterable(scene.defects for scene in scenes)),
        shapes={key: value for scene in scenes for key, value in scene.shapes.items()},
        loads=tuple(chain.from_iterable(scene.loads for scene in scenes)),
        stiffness=tuple(chain.from_iterable(scene.stiffness for scene in scenes)),
        brakes=tuple(chain.from_iterable(scene.brakes for scene in scenes)),
        payloads=tuple(chain.from_iterable(scene.payloads for scene in scenes)),
        actuators=tuple(chain.from_iterable(scene.actuators for scene in scenes)),
        ramps=tuple(chain.from_iterable(scene.ramps for scene in scenes)),
        locks=tuple(chain.from_iterable(scene.locks for scene in scenes)),
        holds=tuple(chain.from_iterable(scene.holds for scene in scenes)),
        springs=tuple(chain.from_iterable(scene.springs for scene in scenes)),
        options=first.options,
        actuated=tuple(chain.from_iterable(scene.actuated for scene in scenes)),
        documents=tuple(chain.from_iterable(scene.documents for scene in scenes)),
    )


def carried(
    mech: Mechanism,
    q: Mapping[str, float],
    qd: Mapping[str, float],
    *,
    poses: BodyPoses | None = None,
) -> State:
    """Return the state of a mechanism from named values.

    A joint whose coordinates are not all named takes them from the poses, or stays at zero.
    """
    values = home(mech) if poses is None else coordinates_of(mech, poses)
    rates = np.zeros(len(mech.qd_names))
    for joint in mech.tree.joints:
        names, rate_names = mech.q_names[joint.q], mech.qd_names[joint.qd]
        if all(name in q for name in names):
            values[joint.q] = [q[name] for name in names]
        if all(name in qd for name in rate_names):
            rates[joint.qd] = [qd[name] for name in rate_names]
    return State(values, rates)


def prefixed(scene: Scene, prefix: str) -> Scene:
    """Return a scene with a prefix on every name but the ground's."""

    def body(name: str) -> str:
        return name if name in ("", WORLD) else prefix + name

    def named(name: str) -> str:
        return prefix + name if name else name

    def key(old: OriginKey) -> OriginKey:
        kind, name, part = old
        return (kind, prefix.rstrip("/"), part) if kind == "model" else (kind, body(name), part)

    return replace(
        scene,
        mechanism=_prefixed_mechanism(scene.mechanism, prefix),
        state=replace(
            scene.state,
            given=frozenset(named(name) for name in scene.state.given),
            given_rates=frozenset(named(name) for name in scene.state.given_rates),
        ),
        origin={key(old): origin for old, origin in scene.origin.items()},
        defects=tuple(replace(defect, element=body(defect.element)) for defect in scene.defects),
        shapes={body(name): shapes for name, shapes in scene.shapes.items()},
        loads=tuple(replace(load, body=body(load.body)) for load in scene.loads),
        stiffness=tuple(replace(s, pair=named(s.pair), body=body(s.body)) for s in scene.stiffness),
        brakes=tuple(replace(brake, joint=named(brake.joint)) for brake in scene.brakes),
        payloads=tuple(replace(payload, body=body(payload.body)) for payload in scene.payloads),
        actuators=tuple(replace(actuator, joint=named(actuator.joint)) for actuator in scene.actuators),
        ramps=tuple(replace(ramp, joint=named(ramp.joint)) for ramp in scene.ramps),
        locks=tuple(replace(lock, joint=named(lock.joint)) for lock in scene.locks),
        holds=tuple(replace(hold, constraint=named(hold.constraint)) for hold in scene.holds),
        springs=tuple(
            replace(s, joint=named(s.joint))
            if isinstance(s, JointSpring)
            else replace(s, body_a=body(s.body_a), body_b=body(s.body_b))
            for s in scene.springs
        ),
        actuated=tuple(named(joint) for joint in scene.actuated),
        documents=tuple(replace(document, prefix=prefix + document.prefix) for document in scene.documents),
    )


def _prefixed_mechanism(mech: Mechanism, prefix: str) -> Mechanism:
    def body(name: str) -> str:
        return name if name == WORLD else prefix + name

    return replace(
        mech,
        bodies=tuple(replace(b, name=body(b.name)) for b in mech.bodies),
        pairs=tuple(
            replace(p, name=prefix + p.name, body_a=body(p.body_a), body_b=body(p.body_b)) for p in mech.pairs
        ),
        couplings=tuple(
            replace(c, name=prefix + c.name, terms=tuple(replace(t, joint=prefix + t.joint) for t in c.terms))
            for c in mech.couplings
        ),
        drivers=tuple(replace(d, name=prefix + d.name, joint=prefix + d.joint) for d in mech.drivers),
        locks=tuple(replace(lock, joint=prefix + lock.joint) for lock in mech.locks),
        pfaffians=tuple(replace(p, name=prefix + p.name, body=body(p.body)) for p in mech.pfaffians),
    )
