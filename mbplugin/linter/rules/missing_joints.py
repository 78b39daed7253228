"""Rules about joints that are missing: closed linkages written as trees."""

from __future__ import annotations

from collections.abc import Iterable

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.listing import Instance, joined_finding
from mbplugin.linter.checks.loops import coinciding_frames, imitated_loops
from mbplugin.linter.checks.rods import loose_rods
from mbplugin.linter.rule import Finding, Rule, Severity, body_place, constraint_place
from mbplugin.model.scene import Scene


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
        toml = "\n\n".join(joint.toml for joint in missing)
        yield from joined_finding(
            self,
            self.severity,
            found,
            "frames of bodies that move against each other coincide",
            so="a joint may be missing there",
            help="if a joint joins them in the robot, state it in a scene file:\n" + toml,
            evidence={"toml": toml},
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
        toml = "\n\n".join(joint.toml for joint in missing)
        yield from joined_finding(
            self,
            self.severity,
            found,
            "rods of parallelograms end on links that they are not joined to",
            so="a loop may have been cut there",
            help="if hinges join them in the robot, state them in a scene file:\n" + toml,
            evidence={"toml": toml},
        )
