"""The arm of a robot: what tables, searches and calibrations of stops move, and the rest, which is rigid there.

These are of arms whose joints have one freedom and a brake each. A real robot carries more: a gripper whose fingers
follow each other or close loops, a joint without a drive. What lies beside the chain from the ground to the tool is
taken as rigid in its pose and said so; what lies in it stays, so that the search says why it is no such arm.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

import numpy as np

from mbplugin.constraints.assembly.assemble import assemble
from mbplugin.model.brakes import BrakeLike, JointBrake, read_brakes, robot_brakes
from mbplugin.model.mechanism.kinematics import BodyPoses, forward, relative_pose
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import Scene, as_scene
from mbplugin.model.spatial import Pose
from mbplugin.phrases import listed


def with_rigid_rest(
    model: Scene | Mechanism, tool: str, brakes: Iterable[BrakeLike] | None = None
) -> tuple[Scene | Mechanism, tuple[str, ...]]:
    """Return a robot whose joints beside the arm are rigid where they are no arm's, and a sentence that names them.

    Parameters
    ----------
    tool : str
        The body to which the arm leads.
    brakes : iterable of Brake or mapping, optional
        Those of a call; their joints move. None: it is no matter which joints have a brake.
    """
    scene = as_scene(model)
    mech = scene.mechanism
    given = tuple(brakes or ())
    moving = {brake.joint for brake in read_brakes(mech, given)}
    rigid: set[str] = set()
    own = [brake for brake in scene.brakes if brake.joint not in moving]
    passive = () if brakes is None else _without_brake(mech, robot_brakes(mech, (*given, *own)))
    moving |= {joint.pair.name for joint in mech.tree.way_in(tool) if joint.pair is not None}
    for group in (*_coupled(mech), *_loops(mech), *passive):
        if not moving & set(group):
            rigid |= set(group)
    if not rigid:
        return model, ()
    q = assemble(mech, scene.state.q, scene.state.given, scene.state.named).q
    fixed = welded(mech, forward(mech, q), rigid)
    value = dict(zip(mech.q_names, q, strict=True))
    rate = dict(zip(mech.qd_names, scene.state.qd, strict=True))
    state = replace(
        scene.state,
        q=np.array([value[name] for name in fixed.q_names]),
        qd=np.array([rate[name] for name in fixed.qd_names]),
        given=scene.state.given & set(fixed.q_names),
        named=scene.state.named & set(fixed.q_names),
        given_rates=scene.state.given_rates & set(fixed.qd_names),
        named_rates=scene.state.named_rates & set(fixed.qd_names),
    )
    scene = replace(
        scene,
        mechanism=fixed,
        state=state,
        brakes=tuple(brake for brake in scene.brakes if brake.joint not in rigid),
        ramps=tuple(ramp for ramp in scene.ramps if ramp.joint not in rigid),
        actuators=tuple(motor for motor in scene.actuators if motor.joint not in rigid),
        locks=tuple(lock for lock in scene.locks if lock.joint not in rigid),
        springs=tuple(spring for spring in scene.springs if getattr(spring, "joint", "") not in rigid),
    )
    names = listed([pair.name for pair in mech.pairs if pair.name in rigid])
    return scene, (f"{names}: taken as rigid in their pose, as they lie beside the arm.",)


def welded(mech: Mechanism, poses: BodyPoses, names: Collection[str]) -> Mechanism:
    """Return the mechanism with joints as fixed pairs at a pose, without what couples, drives or closes them alone."""
    pairs = []
    for pair in mech.pairs:
        if pair.name not in names:
            pairs.append(pair)
        elif pair not in mech.tree.cut:
            pairs.append(_fixed(pair, relative_pose(mech, pair, poses)))
    return replace(
        mech,
        pairs=tuple(pairs),
        couplings=tuple(c for c in mech.couplings if not {term.joint for term in c.terms} & set(names)),
        drivers=tuple(driver for driver in mech.drivers if driver.joint not in names),
        locks=tuple(lock for lock in mech.locks if lock.joint not in names),
    )


def _fixed(pair: Pair, X_PS: Pose) -> Pair:
    return replace(pair, type="fixed", freedoms=(), X_AP=pair.X_AP @ X_PS, lead=0.0)


# What is no arm's: joints that couplings or loops tie to each other, and joints without a brake.


def _coupled(mech: Mechanism) -> Iterator[tuple[str, ...]]:
    """Yield the joints that couplings tie to each other, each group once."""
    groups: list[set[str]] = []
    for coupling in mech.couplings:
        own = {term.joint for term in coupling.terms}
        apart = [group for group in groups if not group & own]
        groups = [*apart, own.union(*(group for group in groups if group & own))]
    yield from (tuple(group) for group in groups)


def _loops(mech: Mechanism) -> Iterator[tuple[str, ...]]:
    """Yield the joints of every loop, and the pair that closes it."""
    for cut in mech.tree.cut:
        ways = [{j.pair.name for j in mech.tree.way_in(body) if j.pair is not None} for body in cut.bodies]
        yield (cut.name, *(ways[0] ^ ways[1]))


def _without_brake(mech: Mechanism, brakes: Iterable[JointBrake]) -> Iterator[tuple[str, ...]]:
    """Yield the moving joints of the tree that have no brake, one by one."""
    braked = {brake.joint for brake in brakes}
    for joint in mech.tree.joints:
        if joint.pair is not None and joint.pair.kind.free and joint.pair.name not in braked:
            yield (joint.pair.name,)
