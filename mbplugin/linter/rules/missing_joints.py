"""Rules about joints that are missing: closed linkages written as trees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from mbplugin.analysis import Analysis
from mbplugin.linter.checks import Instance, joined_finding
from mbplugin.linter.checks.loops import MissingJoint, coinciding_frames, imitated_loops, stated_poses
from mbplugin.linter.checks.meshes import Solid, solid_of
from mbplugin.linter.rule import Finding, Rule, Severity, body_place, constraint_place
from mbplugin.model import Array, Pose, Scene, TreeJoint, cross, joint_axes, rigid_groups

#: Axes of a planar loop are parallel within this angle, rad.
_PARALLEL = 1e-6
#: Largest ratio of the smallest to the next principal moment of inertia of a rod's shape: five times as long as wide.
_SLENDER = 0.1
#: Of the length of a rod: largest distances of its end from the fourth corner of the parallelogram, and of that corner
#: from the shape of the other link.
_CORNER, _TOUCHES = 0.1, 0.05
#: Largest number of hinged links with a shape among which rods are sought, since each is compared with each.
MOST_LINKS = 100
#: Number of hinges of a loop without the missing one.
_HINGES = 3


@dataclass(frozen=True, eq=False)
class _Placed:
    """A link with its hinge and its shape at the pose of the file.

    Parameters
    ----------
    ways : tuple of TreeJoint
        The joints that move, from the link to the ground.
    axis, pivot : (3,) arrays
        Direction and a point of its hinge, m, world.
    """

    name: str
    ways: tuple[TreeJoint, ...]
    axis: Array
    pivot: Array
    solid: Solid
    X_WL: Pose

    def along(self, axis: Array) -> tuple[float, float]:
        """Return the interval of the bounding box along an axis (3,) through the origin of the world, m."""
        corners = [np.where(upper, self.solid.upper, self.solid.lower) for upper in product((0, 1), repeat=3)]
        places = [float(axis @ self.X_WL.apply(corner)) for corner in corners]
        return min(places), max(places)

    def distance(self, point: Array) -> float:
        """Return the distance of a point (3,), m, world, from the bounding box, m."""
        own = self.X_WL.inverse().apply(point)
        return float(np.linalg.norm(own - np.clip(own, self.solid.lower, self.solid.upper)))


def loose_rods(scene: Scene) -> Iterator[MissingJoint]:
    """Yield the missing hinge of each rod that ends at the fourth corner of a parallelogram, on another link.

    A rod is a slender link that turns about a hinge near one end and carries nothing. Its far end mirrors its hinge
    at the middle of its shape. A corner is known from the hinges alone: shape and hinges must agree.
    """
    mech = scene.mechanism
    carriers = {pair.body_a for pair in mech.pairs} | {b for p in mech.pairs if p.closure for b in p.bodies}
    coupled = {term.joint for coupling in mech.couplings for term in coupling.terms}
    placed = {one.name: one for one in _links(scene)}
    poses, group = stated_poses(scene), rigid_groups(mech)
    axes = {
        joint: (S[3:, 0], point)
        for joint in {joint for one in placed.values() for joint in one.ways}
        if joint.pair is not None and joint.pair.kind.free == ("rz",)
        for S, point in (joint_axes(mech, joint, poses),)
    }
    joined = {frozenset((group[pair.body_a], group[pair.body_b])) for pair in mech.pairs}
    for rod in placed.values():
        hinge = rod.ways[0].pair
        if rod.name in carriers or hinge is None or hinge.name in coupled or not _is_slender(rod.solid):
            continue
        ends = [
            (*distances, other.name, corner)
            for other in placed.values()
            if frozenset((group[rod.name], group[other.name])) not in joined
            for distances, corner in _corners(rod, other, axes)
        ]
        if ends:
            _, _, name, corner = min(ends, key=lambda end: end[:3])
            X_WP, other = Pose.from_xyz_axis(corner, rod.axis), placed[name]
            frames = (rod.X_WL.inverse() @ X_WP, other.X_WL.inverse() @ X_WP)
            yield MissingJoint(rod.name, other.name, corner, "point-on-line", *frames)


def _links(scene: Scene) -> Iterator[_Placed]:
    """Yield the links with a shape that turn about a hinge of their own; none of a robot with very many."""
    mech = scene.mechanism
    hinged = []
    for body in mech.bodies:
        joint = mech.tree.joint_of_body[body.name]
        if scene.shapes.get(body.name) and joint.pair is not None and joint.pair.kind.free == ("rz",):
            hinged.append((body, joint))
    if len(hinged) > MOST_LINKS:
        return
    poses = stated_poses(scene)
    for body, joint in hinged:
        if (solid := solid_of(scene.shapes[body.name], scene.request)) is not None:
            ways = tuple(j for j in mech.tree.way_in(body.name) if j.pair is not None and j.pair.kind.free)
            S, pivot = joint_axes(mech, joint, poses)
            yield _Placed(body.name, ways, S[3:, 0], pivot, solid, poses.of(mech.body_index[body.name]))


def _is_slender(solid: Solid) -> bool:
    moments = np.linalg.eigvalsh(solid.inertia)
    return bool(moments[0] <= _SLENDER * moments[1])


def _corners(
    rod: _Placed, other: _Placed, axes: Mapping[TreeJoint, tuple[Array, Array]]
) -> Iterator[tuple[tuple[float, float], Array]]:
    """Yield the corners (3,), m, world, at which a rod ends on another link.

    Each comes with the gap between both shapes along the hinge, and its distance from the end of the rod, m. ``axes``
    are the directions and points (3,) of all hinges.
    """
    if not _parallel(rod.axis, other.axis):
        return
    loop = [j for own, way in ((rod.ways, other.ways), (other.ways, rod.ways)) for j in own if j not in way]
    apart = rod.ways[0] not in other.ways and other.ways[0] not in rod.ways
    if (
        not apart
        or len(loop) < _HINGES
        or not all(j in axes and _parallel(rod.axis, axes[j][0]) for j in loop)
    ):
        return
    across = np.eye(3) - np.outer(rod.axis, rod.axis)
    middle = rod.X_WL.apply(0.5 * (rod.solid.lower + rod.solid.upper))
    end = across @ (2 * middle - rod.pivot)
    (low_a, high_a), (low_b, high_b) = rod.along(rod.axis), other.along(rod.axis)
    gap = max(low_a, low_b) - min(high_a, high_b)
    for joint in loop:
        side = across @ (other.pivot - axes[joint][1])
        length = float(np.linalg.norm(side))
        corner = across @ rod.pivot + side
        off = float(np.linalg.norm(corner - end))
        if joint in (rod.ways[0], other.ways[0]) or off > _CORNER * length or length == 0:
            continue
        corner = corner + rod.axis * 0.5 * (max(low_a, low_b) + min(high_a, high_b))
        if max(rod.distance(corner), other.distance(corner)) <= _TOUCHES * length:
            yield (max(0.0, gap), off), corner


def _parallel(a: Array, b: Array) -> bool:
    """Return True if two directions a (3,) and b (3,) are parallel."""
    return float(np.linalg.norm(cross(a, b))) <= _PARALLEL


class MimicImitatesLoop(Rule):
    """Mimic joints imitate a loop that the model does not have.

    What it does
    ------------
    Moves each linkage that is coupled by ``<mimic>`` and looks for two links of different branches that turn
    against each other about a point fixed in both, where no joint is. Where a four-bar is imitated in straight lines,
    with ratios that are no whole numbers, the points only stay near each other: the finding states how far they come
    apart over the range of the leader, if that is less than a tenth of the size, and the points lie on the links. One
    finding lists them, with the joint that is missing in the frames of both links.

    Why it matters
    --------------
    The motion is that of a loop, the forces are not: the load of one branch does not reach the other, the
    reactions of the missing joint are not computed, and PyBullet, which does not read ``<mimic>``, lets the
    branches come apart. The degree of redundancy of the real mechanism is not analyzed.

    Example
    -------
    A parallelogram gripper whose second crank and whose finger mimic the first crank with 1 and −1.

    Remedy
    ------
    Paste the ``[[closure]]`` of the finding into a scene file, one per loop, and remove the mimics that it
    replaces. In a planar loop its type is ``point-on-line``, with the line along the axis, which adds no
    redundant constraint.

    References
    ----------
    URDF has no loops: authors replace them by ``<mimic>``.
    """

    code, name = "MB128", "mimic-imitates-loop"
    severity: Severity = "note"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        loops, found = list(imitated_loops(scene)), []
        for loop in loops:
            # remove rounding from rotations computed here
            shown = ", ".join(f"{round(value, 9) + 0.0:.6g}" for value in loop.point)
            text = (
                f"{loop.body_a!r} and {loop.body_b!r} stay together at ({shown}) m, driven by {loop.leader!r}"
            )
            text += f", with an error up to {1e3 * loop.error:.3g} mm over its range" if loop.error else ""
            found.append(Instance(loop.leader, constraint_place(scene, loop.leader), text))
        toml = "\n\n".join(loop.toml for loop in loops)
        yield from joined_finding(
            self,
            self.severity,
            found,
            "mimic joints imitate a loop",
            help="state the missing joints in a scene file and remove the mimics that they replace:\n" + toml,
            evidence={"toml": toml, "mimics": [list(loop.mimics) for loop in loops]},
        )


class CoincidingFrames(Rule):
    """Two frames on bodies that move relative to each other coincide: a closed linkage may have been cut there.

    What it does
    ------------
    Looks for links without mass and shape that are fixed to two bodies of different branches, carry nothing, and are
    at one place at the pose of the file, up to a thousandth of the size of the mechanism. Links that a joint or a
    closure joins are passed over.

    Why it matters
    --------------
    URDF has no loops: an exporter cuts them, and marks both ends. Without the joint the mechanism has freedoms that
    the robot does not have, and no load goes through it.

    Example
    -------
    ``coupler_end`` on the coupler and ``rocker_end`` on the rocker of a four-bar.

    Remedy
    ------
    Paste the ``[[closure]]`` of the finding into a scene file. In a planar loop its type is ``point-on-line``, with
    the line along the axis, which adds no redundant constraint; write ``revolute`` for a hinge.

    References
    ----------
    URDF has no loops: authors leave the joint out.
    """

    code, name = "MB155", "coinciding-frames"
    severity: Severity = "note"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        missing = list(coinciding_frames(scene))
        found = [
            Instance(joint.body_a, body_place(scene, joint.body_a), f"{joint.body_a!r} and {joint.body_b!r}")
            for joint in missing
        ]
        yield from _with_toml(
            self,
            missing,
            found,
            "frames of bodies that move against each other coincide",
            so="a joint may be missing there",
            help="if a joint joins them in the robot, state it in a scene file",
        )


class LooseRod(Rule):
    """A rod spans a parallelogram and ends on a link that it is not joined to: a closed linkage was written as a tree.

    What it does
    ------------
    Looks for slender links that carry nothing and turn about a hinge near one end. Of a planar linkage, the hinges
    alone give the fourth corner of each parallelogram. The rod is reported if the shapes agree: its far end is at that
    corner, up to a tenth of its length, and the corner is on a link of another branch. Not sought in robots with more
    than 100 hinged links that have a shape.

    Why it matters
    --------------
    URDF has no loops: palletizing arms are exported as trees, and a program sets the passive joints. Without the
    hinge every rod swings freely, no load goes through it, and the mobility is too large.

    Example
    -------
    The rod beside the upper arm that keeps the gripper level, without a joint at its upper end.

    Remedy
    ------
    Paste the ``[[closure]]`` of the finding into a scene file. Its type is ``point-on-line``, with the line along the
    hinge, which adds no redundant constraint in a planar loop.

    References
    ----------
    URDF has no loops: authors leave the joint out.
    """

    code, name = "MB156", "loose-rod"
    severity: Severity = "note"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        missing = list(loose_rods(scene))
        found = [
            Instance(
                joint.body_a,
                body_place(scene, joint.body_a),
                f"{joint.body_a!r} on {joint.body_b!r} at ({', '.join(f'{value:.4g}' for value in joint.point)}) m",
            )
            for joint in missing
        ]
        yield from _with_toml(
            self,
            missing,
            found,
            "rods of parallelograms end on links that they are not joined to",
            so="a loop may have been cut there",
            help="if hinges join them in the robot, state them in a scene file",
        )


def _with_toml(
    rule: Rule, missing: Sequence[MissingJoint], found: list[Instance], message: str, so: str, help: str
) -> Iterator[Finding]:
    toml = "\n\n".join(joint.toml for joint in missing)
    yield from joined_finding(
        rule, rule.severity, found, message, so=so, help=f"{help}:\n{toml}", evidence={"toml": toml}
    )
