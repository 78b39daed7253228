"""The arm of a robot: what tables, searches and calibrations of stops move, and the rest, which is rigid there.

These are of arms whose joints have one freedom and a brake each. A real robot carries more: a gripper whose fingers
follow each other or close loops, a joint without a drive. What lies beside the chain from the ground to the tool is
taken as rigid in its pose and said so; what lies in it stays, so that the search says why it is no such arm.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from mbplugin.constraints.assembly.assemble import assemble
from mbplugin.model.brakes import BrakeLike, JointBrake, read_brakes, robot_brakes
from mbplugin.model.mechanism.identity import DisjointSets
from mbplugin.model.mechanism.kinematics import BodyPoses, fixed_at, forward, relative_pose
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Scene, as_scene, in_coordinates_of
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
    rigid = _beside(scene, tool, brakes)
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
    names = listed([pair.name for pair in mech.pairs if pair.name in rigid and pair.kind.free])
    return scene, (f"{names}: taken as rigid in their pose, as they lie beside the arm.",)


def _beside(scene: Scene, tool: str, brakes: Iterable[BrakeLike] | None) -> set[str]:
    """Return the joints beside the arm that couplings or loops tie to each other, or that have no brake.

    What is tied to a joint of the arm, or to one whose brake is given, stays as it is.
    """
    mech, given = scene.mechanism, tuple(brakes or ())
    moving = {brake.joint for brake in read_brakes(mech, given)}
    own = [brake for brake in scene.brakes if brake.joint not in moving]
    moving |= {joint.pair.name for joint in mech.tree.way_in(tool) if joint.pair is not None}
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
    """Return the mechanism with joints as fixed pairs at a pose, without what couples, drives or closes them alone."""
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


# What is no arm's: joints that couplings or loops tie to each other, and joints without a brake.


def _coupled(mech: Mechanism) -> Iterator[list[str]]:
    """Yield the joints of every coupling."""
    yield from ([term.joint for term in coupling.terms] for coupling in mech.couplings)


def _loops(mech: Mechanism) -> Iterator[list[str]]:
    """Yield the joints of every loop, and the pair that closes it."""
    for cut in mech.tree.cut:
        ways = [{j.pair.name for j in mech.tree.way_in(body) if j.pair is not None} for body in cut.bodies]
        yield [cut.name, *sorted(ways[0] ^ ways[1])]


def _without_brake(mech: Mechanism, brakes: Iterable[JointBrake]) -> Iterator[list[str]]:
    """Yield the moving joints of the tree that have no brake, one by one."""
    braked = {brake.joint for brake in brakes}
    for joint in mech.tree.joints:
        if joint.pair is not None and joint.pair.kind.free and joint.pair.name not in braked:
            yield [joint.pair.name]
