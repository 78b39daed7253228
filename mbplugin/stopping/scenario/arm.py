"""The arm of a robot, which tables, searches and calibrations of stops move; its other joints become rigid.

These computations need arms whose joints each have one freedom and a brake. Real robots have more: a gripper whose
fingers follow each other or close loops, a joint without a drive, a wrist whose joints are coupled by a belt. Such
joints beside the chain from the ground to the tool, and joints of the chain that are coupled to each other but to
none of the stopped axes, become rigid in their pose, with a note. Other obstacles stay, and the computation reports
them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from mbplugin.constraints.assembly import assemble
from mbplugin.model.brakes import BrakeLike, JointBrake, read_brakes, robot_brakes
from mbplugin.model.mechanism.identity import DisjointSets
from mbplugin.model.mechanism.kinematics import BodyPoses, fixed_at, forward, relative_pose
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Scene, as_scene, in_coordinates_of
from mbplugin.phrases import listed


def with_rigid_rest(
    model: Scene | Mechanism,
    tool: str,
    brakes: Iterable[BrakeLike] | None = None,
    axes: Collection[str] = (),
) -> tuple[Scene | Mechanism, tuple[str, ...]]:
    """Return a robot whose joints that cannot belong to such an arm are rigid, and sentences that name them.

    Parameters
    ----------
    tool : str
        The body at the end of the arm.
    brakes : iterable of Brake or mapping, optional
        Brakes given by the caller; their joints keep moving. None: joints need no brake to keep moving.
    axes : collection of str
        Joints of the arm that are stopped; joints coupled to one of them keep moving.
    """
    scene = as_scene(model)
    mech = scene.mechanism
    within = _coupled_within(mech, tool, axes)
    rigid = _beside(scene, tool, brakes, within)
    if not rigid:
        return model, ()
    stated = scene.state
    closed = replace(stated, q=assemble(mech, stated.q, stated.given, stated.named).q)
    fixed = welded(mech, forward(mech, closed.q), rigid)
    scene = replace(
        scene,
        mechanism=fixed,
        state=in_coordinates_of(fixed, mech, closed),
        brakes=tuple(brake for brake in scene.brakes if brake.joint not in rigid),
        ramps=tuple(ramp for ramp in scene.ramps if ramp.joint not in rigid),
        actuators=tuple(motor for motor in scene.actuators if motor.joint not in rigid),
        locks=tuple(lock for lock in scene.locks if lock.joint not in rigid),
        springs=tuple(spring for spring in scene.springs if getattr(spring, "joint", "") not in rigid),
    )
    said = []
    for reason, own in (("they lie beside the arm", rigid - within), ("couplings tie them", rigid & within)):
        names = [pair.name for pair in mech.pairs if pair.name in own and pair.kind.free]
        if names:
            said.append(f"{listed(names)}: taken as rigid in their pose, as {reason}.")
    return scene, tuple(said)


def _coupled_within(mech: Mechanism, tool: str, axes: Collection[str]) -> set[str]:
    """Return the joints of the arm that are coupled to each other but to none of ``axes``."""
    tied, names = DisjointSets[str](), set()
    for first, *others in _coupled(mech):
        names |= {first, *others}
        for other in others:
            tied.join(first, other)
    chain = {joint.pair.name for joint in mech.tree.way_in(tool) if joint.pair is not None}
    stays = {tied.find(name) for name in axes if name in names}
    return {name for name in names & chain if tied.find(name) not in stays}


def _beside(scene: Scene, tool: str, brakes: Iterable[BrakeLike] | None, within: Collection[str]) -> set[str]:
    """Return the joints to make rigid: those in couplings or loops, or without a brake.

    Groups that contain a joint of the arm, or one whose brake is given, are left out; joints ``within`` the arm, which
    are only coupled to each other, do not count as joints of the arm here.
    """
    mech, given = scene.mechanism, tuple(brakes or ())
    moving = {brake.joint for brake in read_brakes(mech, given)}
    own = [brake for brake in scene.brakes if brake.joint not in moving]
    chain = {joint.pair.name for joint in mech.tree.way_in(tool) if joint.pair is not None}
    moving |= chain - set(within)
    groups = [*_coupled(mech), *_loops(mech)]
    if brakes is not None:
        groups += _without_brake(mech, robot_brakes(mech, (*given, *own)))
    tied = DisjointSets[str]()
    for first, *others in groups:
        for other in others:
            tied.join(first, other)
    stays = {tied.find(name) for name in moving}
    return {name for group in groups for name in group if tied.find(name) not in stays}


def welded(mech: Mechanism, poses: BodyPoses, names: Collection[str]) -> Mechanism:
    """Return the mechanism with joints fixed at a pose, without their couplings, drivers, locks and loop closures."""
    cut = {pair.name for pair in mech.tree.cut}
    return replace(
        mech,
        pairs=tuple(
            fixed_at(pair, relative_pose(mech, pair, poses)) if pair.name in names else pair
            for pair in mech.pairs
            if pair.name not in cut or pair.name not in names
        ),
        couplings=tuple(c for c in mech.couplings if not {term.joint for term in c.terms} & set(names)),
        drivers=tuple(driver for driver in mech.drivers if driver.joint not in names),
        locks=tuple(lock for lock in mech.locks if lock.joint not in names),
    )


# Joints that do not fit such an arm: those in couplings or loops, and those without a brake.


def _coupled(mech: Mechanism) -> Iterator[list[str]]:
    """Yield the joints of every coupling."""
    yield from ([term.joint for term in coupling.terms] for coupling in mech.couplings)


def _loops(mech: Mechanism) -> Iterator[list[str]]:
    """Yield the joints of every loop, with the pair that closes it in front."""
    for cut in mech.tree.cut:
        ways = [{j.pair.name for j in mech.tree.way_in(body) if j.pair is not None} for body in cut.bodies]
        yield [cut.name, *sorted(ways[0] ^ ways[1])]


def _without_brake(mech: Mechanism, brakes: Iterable[JointBrake]) -> Iterator[list[str]]:
    """Yield each moving joint of the tree that has no brake, as a group of one."""
    braked = {brake.joint for brake in brakes}
    for joint in mech.tree.joints:
        if joint.pair is not None and joint.pair.kind.free and joint.pair.name not in braked:
            yield [joint.pair.name]
