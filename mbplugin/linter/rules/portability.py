"""Rules about the treatment of a model by other programs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import combinations
from math import isfinite

from mbplugin.analysis import Analysis
from mbplugin.linter.checks import Instance, joined_finding
from mbplugin.linter.checks.snapping import (
    CLOSURES,
    ITERATIVE,
    LABELS,
    TWO_POINTS,
    UNSUPPORTED,
    format_of,
    stated_constraints,
    written_joints,
    written_links,
)
from mbplugin.linter.rule import Finding, Rule, Severity, constraint_place
from mbplugin.model import Pair, Scene, Simulator
from mbplugin.phrases import counted

#: Properties that a simulator does not support for joints outside an articulation.
_LOST_ON_CLOSURES: dict[Simulator, tuple[str, ...]] = {
    "newton": ("limits", "the drive", "friction", "rotor inertia"),
    "isaac": ("friction", "rotor inertia"),
}
_PORTABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class UnportableName(Rule):
    """A name of a link or joint has characters that ROS or USD cannot carry.

    What it does
    ------------
    Lists the links and joints of a URDF whose names are not letters, digits and underscores, or begin with a
    digit. Off by default: ``--extend-select MB160``.

    Why it matters
    --------------
    Such a name cannot be a token of a ROS name (topic, parameter, node), and it is not a name of a USD prim: the
    importer of Isaac Sim replaces what does not fit by underscores, so programs do not find the joint under the
    name of the file, and two names may become one.

    Example
    -------
    ``<joint name="wheel-left">``, ``<link name="2nd_arm">``.

    Remedy
    ------
    Rename it with letters, digits and underscores only, beginning with a letter.

    References
    ----------
    ROS 2: topic and service names; OpenUSD: names of prims; Isaac Sim: URDF importer, conventions.
    """

    code, name = "MB160", "unportable-name"
    severity: Severity = "note"
    opt_in = True

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        yield from joined_finding(
            self,
            self.severity,
            [
                Instance(element.name, element.origin, f"{element.tag} {element.get('name')!r}")
                for element in (*written_links(scene), *written_joints(scene))
                if element.name and not _PORTABLE.fullmatch(element.get("name"))
            ],
            "names that ROS or USD cannot carry",
            help="use letters, digits and underscores only, beginning with a letter",
        )


_REMEDIES: dict[Simulator, str] = {
    "mujoco": "convert the file to MJCF, and state them in <equality>: mbplugin close FILE --to mjcf",
    "newton": "convert the file to MJCF, and state them in <equality>: mbplugin close FILE --to mjcf",
    "isaac": "state loops as <loop_joint>",
    "gazebo": "state them in SDF",
    "drake": "state loops as <drake:ball_constraint>, mimics as <mimic> in URDF or <drake:mimic> in SDF",
    "pybullet": "call createConstraint after loading: JOINT_GEAR for a mimic, JOINT_POINT2POINT for a loop",
}


#: Default if no simulator is named, since this is a plug-in for PyBullet.
_DEFAULT_TARGETS: tuple[Simulator, ...] = ("pybullet",)


class IgnoredBySimulator(Rule):
    """A simulator ignores a mimic or a loop closure of the file.

    What it does
    ------------
    For each simulator that is named with ``--target``, else for PyBullet, lists the mimics and loop closures of the
    file that are ignored or an error there.

    Why it matters
    --------------
    The simulated robot has freedoms that the real one does not have: the follower of a mimic swings freely, and
    the links of a loop separate. Most simulators print no message.

    Example
    -------
    ``<mimic joint="finger_left"/>`` in a file that PyBullet shall load.

    Remedy
    ------
    State the constraint in a way that the simulator reads, or add it by its interface after loading.

    References
    ----------
    Drake: parsing of URDF, SDFormat and MJCF; Isaac Sim: URDF importer; MuJoCo: URDF extensions; SDFormat:
    ``<mimic>``; PyBullet: createConstraint; Newton: ``add_urdf`` and ``add_mjcf``.
    """

    code, name = "MB161", "ignored-by-simulator"
    severity: Severity = "note"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per simulator."""
        stated = tuple(stated_constraints(scene))
        for simulator in scene.options.targets or _DEFAULT_TARGETS:
            treatments = [
                (UNSUPPORTED.get((kind, one.written), {}).get(simulator), one) for kind, one in stated
            ]
            yield from joined_finding(
                self,
                self.severity,
                [
                    Instance(one.element, one.origin, f"{one.written} {one.element!r} ({treatment})")
                    for treatment, one in treatments
                    if treatment is not None
                ],
                f"{LABELS[simulator]} does not apply what the file states",
                help=_REMEDIES[simulator],
                evidence={"target": simulator},
            )


_HINGES = ("revolute", "continuous")


class DoubledClosure(Rule):
    """A hinge that closes a loop has six rows in the simulator.

    What it does
    ------------
    For each simulator that is named with ``--target``, lists the hinges that close a loop and that it holds by
    two points of their axis, and the pairs of ``<connect>`` between the same two bodies of an MJCF file.
    Without ``--target`` it reports nothing.

    Why it matters
    --------------
    Two points of two bodies have six rows, and a hinge restrains five motions. One row is redundant for sure, whatever
    the mechanism is: the distance of the two points is restrained in both bodies already. Rounding of the points loads
    the loop.

    Example
    -------
    A revolute ``excludeFromArticulation`` joint, which Newton's MuJoCo solver writes as two ``connect``.

    Remedy
    ------
    ``mbplugin close FILE --to FORMAT`` finds a weaker closure, or a cut at another joint.

    References
    ----------
    Newton: SolverMuJoCo, loop joints; PyBullet: createConstraint; wojtyra2013 §2.3: redundant constraints.
    """

    code, name = "MB162", "doubled-closure"
    severity: Severity = "note"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per simulator."""
        for simulator in scene.options.targets:
            hinges = [pair.name for pair in scene.mechanism.tree.cut if pair.type in _HINGES]
            found = [
                Instance(name, constraint_place(scene, name), repr(name))
                for name in (hinges if simulator in TWO_POINTS else ())
            ]
            if simulator in ("mujoco", "newton") and format_of(scene) == "mjcf":
                found += _connects(scene)
            yield from joined_finding(
                self,
                self.severity,
                found,
                f"{LABELS[simulator]} holds a hinge by two points, 6 rows for 5 freedoms",
                so="one row of each is redundant",
                help="find a weaker closure with mbplugin close, or cut the loop at another joint",
                evidence={"target": simulator},
            )


def _connects(scene: Scene) -> Iterator[Instance]:
    balls = [pair for pair in scene.mechanism.pairs if pair.closure and pair.type == "spherical"]
    for first, second in combinations(balls, 2):
        if set(first.bodies) == set(second.bodies):
            shown = f"{first.name!r} with {second.name!r}"
            yield Instance(second.name, constraint_place(scene, second.name), shown)


class ClosureWithoutConstraint(Rule):
    """A simulator has no constraint for a closure of the model.

    What it does
    ------------
    For each simulator that is named with ``--target``, lists the closures of a type for which it has no constraint.
    Without ``--target`` it reports nothing.

    Why it matters
    --------------
    However the closure is written, nothing closes the loop there, or a constraint does that restrains other
    motions: the mobility and the forces are those of another mechanism.

    Example
    -------
    A universal joint that closes a loop: MuJoCo has ``connect`` (3 rows) and ``weld`` (6 rows) only.

    Remedy
    ------
    ``mbplugin close FILE --to FORMAT`` cuts the loop elsewhere, or holds the closure by a part of a body.

    References
    ----------
    MuJoCo: equality constraints; Newton: SolverMuJoCo, loop joints; Drake: MultibodyPlant, ``AddBallConstraint``,
    ``AddWeldConstraint``, ``AddDistanceConstraint``; SDFormat: ``<joint>``; PyBullet: createConstraint.
    """

    code, name = "MB163", "closure-without-constraint"
    severity: Severity = "note"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per simulator."""
        for simulator in scene.options.targets:
            known = CLOSURES[simulator]
            yield from joined_finding(
                self,
                self.severity,
                [
                    Instance(pair.name, constraint_place(scene, pair.name), f"{pair.name!r} ({pair.type})")
                    for pair in scene.mechanism.tree.cut
                    if pair.type not in known
                ],
                f"{LABELS[simulator]} has no constraint for the closure",
                help=f"cut the loop at a joint of another type ({', '.join(sorted(known))}), or run mbplugin close",
                evidence={"target": simulator},
            )


class RedundancyAsNoise(Rule):
    """A simulator turns redundant closures into loads that depend on its iterations.

    What it does
    ------------
    For each simulator that is named with ``--target`` and that solves constraints row by row, lists the closures whose
    reaction is not unique. Without ``--target`` it reports nothing.

    Why it matters
    --------------
    The solver shares the loads of redundant rows by their order and its number of iterations, and a gap from rounded
    numbers becomes a load: in the closures of PyBullet's own Minitaur 9 kN, where the weakest closures carry 0.25 N.

    Example
    -------
    A leg whose two rods meet in a ball: the third row of the ball is redundant in a planar loop.

    Remedy
    ------
    ``mbplugin close FILE --to FORMAT`` finds the weakest closures with the same mobility, and measures the noise.

    References
    ----------
    wojtyra2013 §2.3: redundant constraints; Bullet and PhysX: projected Gauss-Seidel and its variants.
    """

    code, name = "MB164", "redundancy-as-noise"
    severity: Severity = "note"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per simulator."""
        if analysis is None or not analysis.structural_redundancy:
            return
        cut = {pair.name for pair in scene.mechanism.tree.cut}
        closures = [v.name for v in analysis.constraints if v.name in cut and v.reaction == "non-unique"]
        for simulator in scene.options.targets:
            if simulator not in ITERATIVE:
                continue
            yield from joined_finding(
                self,
                self.severity,
                [Instance(name, constraint_place(scene, name), repr(name)) for name in closures],
                f"{LABELS[simulator]} shares the loads of {counted(analysis.degree_of_redundancy, 'redundant row')}"
                " by its iterations, with closures",
                help="find the weakest closures with mbplugin close",
                evidence={"target": simulator, "degree_of_redundancy": analysis.degree_of_redundancy},
            )


class LostOnClosure(Rule):
    """A simulator ignores numbers stated for a joint that closes a loop.

    What it does
    ------------
    For Newton and Isaac, where ``--target`` names them, lists the joints that close a loop and state something that
    the simulator has in articulations only: for Newton limits, drives, friction and rotor inertia, for Isaac friction
    and rotor inertia. Without ``--target`` it reports nothing.

    Why it matters
    --------------
    A joint outside of the articulation becomes a constraint between two bodies. The joint moves on beyond its limit,
    its drive does nothing, and no message says so.

    Example
    -------
    A driven hinge with ``physics:excludeFromArticulation``.

    Remedy
    ------
    Cut the loop at a joint that states nothing: ``mbplugin close FILE --to usd`` chooses one.

    References
    ----------
    Newton: SolverMuJoCo, loop joints; PhysX: friction and armature are parameters of joints of articulations.
    """

    code, name = "MB165", "lost-on-closure"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per simulator."""
        for simulator in scene.options.targets:
            lost = _LOST_ON_CLOSURES.get(simulator, ())
            told = [
                (pair.name, [word for word in _stated(scene, pair) if word in lost])
                for pair in scene.mechanism.tree.cut
            ]
            yield from joined_finding(
                self,
                self.severity,
                [
                    Instance(name, constraint_place(scene, name), f"{' and '.join(words)} of {name!r}")
                    for name, words in told
                    if words
                ],
                f"{LABELS[simulator]} drops what joints that close loops state",
                help="cut the loop at a joint that states nothing: mbplugin close FILE --to usd chooses one",
                evidence={"target": simulator},
            )


def _stated(scene: Scene, pair: Pair) -> Iterator[str]:
    """Yield the stated properties of a joint that a simulator may drop."""
    if any(isfinite(f.lower) or isfinite(f.upper) for f in pair.freedoms):
        yield "limits"
    if pair.name in scene.actuated:
        yield "the drive"
    if any(f.friction for f in pair.freedoms):
        yield "friction"
    if any(actuator.joint == pair.name and actuator.armature for actuator in scene.actuators):
        yield "rotor inertia"
