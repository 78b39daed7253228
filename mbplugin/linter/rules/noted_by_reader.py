"""Rules about parts of a file noted and skipped by its reader: the reader gives the facts, the rule the severity."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from mbplugin.analysis import Analysis
from mbplugin.errors import MbPluginError
from mbplugin.linter.checks import Instance, joined_finding, shortened
from mbplugin.linter.rule import ELEMENTS, Finding, Rule, Severity, constraint_place, defects_noted
from mbplugin.model import Scene
from mbplugin.phrases import counted


class NotedByReader(Rule):
    """Base of these rules.

    Attributes
    ----------
    help : str
        Advice on what to do; a TOML text in the evidence of the defect is appended.
    """

    help: str

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield a finding for each defect that the reader noted."""
        return defects_noted(self, scene, self.help)


class ZeroAxis(NotedByReader):
    """A joint axis is zero.

    What it does
    ------------
    Reports ``<axis>`` elements of length zero; the default axis of the format is used instead.

    Why it matters
    --------------
    The direction of motion is unknown: Bullet normalises the axis to NaN or uses another one.

    Example
    -------
    ``<axis xyz="0 0 0"/>`` of a revolute joint.

    Remedy
    ------
    Write the direction, or make the joint fixed.

    References
    ----------
    URDF: the axis of a joint should be normalised; SDF: ``<axis><xyz>``.
    """

    code, name = "MB106", "zero-axis"
    severity: Severity = "error"
    help = "write the direction the joint moves in, or make it fixed"


class DuplicateNames(NotedByReader):
    """Two elements have the same name.

    What it does
    ------------
    Reports joints and constraints to which the file gives a name that is already in use; the later one gets a
    number after its name. Two models of one name in an SDF world are a warning: nothing in one can refer to the
    other.

    Why it matters
    --------------
    A reference by name finds only one of them: motors, mimics, results. Other readers report an error, or keep
    only one of the two.

    Example
    -------
    Two ``<joint name="hinge">`` in one file.

    Remedy
    ------
    Rename one of them.

    References
    ----------
    URDF: names of links and of joints are unique.
    """

    code, name = "MB107", "duplicate-names"
    severity: Severity = "error"
    help = "rename one of them"


class DanglingMimic(NotedByReader):
    """A mimic refers to a joint that it cannot follow.

    What it does
    ------------
    Reports ``<mimic>`` elements whose leader does not exist, is the joint itself, or does not have exactly one
    freedom; the mimic is omitted.

    Why it matters
    --------------
    The mechanism has one coupling less and one degree of freedom more than intended.

    Example
    -------
    ``<mimic joint="finger_lft"/>`` where the joint is called ``finger_left``.

    Remedy
    ------
    Correct the name, or remove the mimic.

    References
    ----------
    URDF: ``<mimic joint multiplier offset>``.
    """

    code, name = "MB108", "dangling-mimic"
    severity: Severity = "error"
    help = "correct the name of the joint to follow, or remove the mimic"


class SeveralRoots(NotedByReader):
    """The model consists of several trees.

    What it does
    ------------
    Reports links other than the first root that are the child of no joint.

    Why it matters
    --------------
    PyBullet ends the process on such a file, and parts that should be connected are not.

    Example
    -------
    A gripper whose ``<joint>`` to the arm is missing.

    Remedy
    ------
    Connect the other root with a joint, or put the parts into separate models of a scene.

    References
    ----------
    URDF: the links of a robot form one tree.
    """

    code, name = "MB110", "several-roots"
    severity: Severity = "warning"
    help = "join the roots, or make models of their own in a scene file"


class RevoluteWithoutLimit(NotedByReader):
    """A revolute or prismatic joint has no limits.

    What it does
    ------------
    Reports such joints without ``<limit>``; they are read as unlimited.

    Why it matters
    --------------
    The specification requires limits there, and readers that follow it report an error: urdfdom (ROS) and PyBullet.

    Example
    -------
    ``<joint type="revolute">`` without ``<limit>``.

    Remedy
    ------
    Add ``<limit>``, or write ``type="continuous"``.

    References
    ----------
    URDF: ``<limit>`` is required for revolute and prismatic joints.
    """

    code, name = "MB111", "revolute-without-limit"
    severity: Severity = "error"
    help = 'add <limit lower upper effort velocity>, or write type="continuous"'


class UndeclaredClosure(NotedByReader):
    """A file marks the place of a closure but not its type.

    What it does
    ------------
    Reports pairs of links ``closing_NAME_1`` and ``closing_NAME_2``, as onshape-to-robot writes them, that
    no joint connects.

    Why it matters
    --------------
    Without the closure the mechanism has too many degrees of freedom; its type decides the redundancy.

    Example
    -------
    ``closing_knee_1`` on the shin and ``closing_knee_2`` on the rod.

    Remedy
    ------
    Declare the closure in a scene file; the finding contains the lines to paste.

    References
    ----------
    onshape-to-robot: kinematic loops.
    """

    code, name = "MB112", "undeclared-closure"
    severity: Severity = "warning"
    help = "declare it in a scene file with the type it has in reality"


class MalformedNumber(NotedByReader):
    """A malformed number is read as PyBullet reads it, or ignored if the mechanics do not need it.

    What it does
    ------------
    Reports literals with a full stop or a letter after the number, vectors with too many numbers, and visual
    and collision geometry, effort and velocity limits that are no numbers.

    Why it matters
    --------------
    Other readers reject the file, or read another value.

    Example
    -------
    ``rpy="0 0 -1.57."``.

    Remedy
    ------
    Correct the literal.

    References
    ----------
    Such literals are in models that come with PyBullet.
    """

    code, name = "MB114", "malformed-number"
    severity: Severity = "warning"
    help = "correct the literal"


class InferredClosure(NotedByReader):
    """A joint closes a loop in a format without loops; its second frame is computed at the zero pose.

    What it does
    ------------
    Reports joints of a URDF that give a link a second parent, and rings of links without a root: they are
    read as closures, with the frame on the second parent computed with all other joints at zero.

    Why it matters
    --------------
    The format defines a tree, so the file does not say where the loop is closed. PyBullet ends the process
    on such a file, other readers ignore the joint.

    Example
    -------
    Two ``<joint>`` elements with one ``<child>``.

    Remedy
    ------
    Declare the loop in a scene file (``[[closure]]`` with both joint frames) and remove the joint from the
    URDF.

    References
    ----------
    The URDF specification: every link but the root has exactly one parent joint.
    """

    code, name = "MB115", "inferred-closure"
    severity: Severity = "warning"
    help = "declare the loop as a [[closure]] in a scene file"


class ImplicitGround(NotedByReader):
    """A joint names the link ``world``, but no link has that name.

    What it does
    ------------
    Reports the first joint with the parent ``world`` in a URDF without such a link. The mechanism is tied to the
    ground there.

    Why it matters
    --------------
    Drake and Isaac read the file in this way; other readers of URDF do not accept a name that no link declares.

    Example
    -------
    ``<parent link="world"/>`` without ``<link name="world"/>``.

    Remedy
    ------
    Add ``<link name="world"/>``.

    References
    ----------
    Drake: parsing of URDF, the link ``world``.
    """

    code, name = "MB117", "implicit-ground"
    severity: Severity = "note"
    help = 'add <link name="world"/>'


class UnresolvedPath(NotedByReader):
    """A file that the model names cannot be found.

    What it does
    ------------
    Searches the folder of the model, the given package folders, ROS_PACKAGE_PATH and AMENT_PREFIX_PATH,
    GZ_SIM_RESOURCE_PATH, GAZEBO_MODEL_PATH, ``~/.gz`` and pybullet_data. It is a warning for models that an SDF file
    includes and for visual files of MJCF: the rest is analyzed without them. All of one severity are one finding.

    Why it matters
    --------------
    Parts of the mechanism would be missing.

    Example
    -------
    ``file = "package://my_robot/arm.urdf"`` in a scene, with the package in another folder.

    Remedy
    ------
    Pass ``--package-dir DIR`` with the folder that contains the package, or correct the name.

    References
    ----------
    The ROS convention for ``package://``.
    """

    code, name = "MB906", "unresolved-path"
    severity: Severity = "error"
    help = "pass --package-dir DIR with the folder that holds it"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per severity, since a clone without its large files would have hundreds."""
        by_severity: dict[str, list[Finding]] = {}
        for finding in super().check(scene, analysis):
            by_severity.setdefault(finding.severity, []).append(finding)
        for first, *others in by_severity.values():
            if not others:
                yield first
                continue
            names = list(dict.fromkeys(finding.element for finding in (first, *others)))
            places = list(dict.fromkeys(f"{finding.file}:{finding.line}" for finding in (first, *others)))
            yield replace(
                first,
                message=f"{first.message}; {counted(len(others), 'more file')} cannot be found either, in "
                f"{shortened([repr(finding.element) for finding in others])}",
                evidence={**first.evidence, ELEMENTS: names, "places": places},
            )


class LoopInArticulation(NotedByReader):
    """A joint closes a loop inside an articulation of a USD stage.

    What it does
    ------------
    Reports loops of joints inside an articulation of which none states ``physics:excludeFromArticulation``. The finding
    names the joint to exclude: a passive one without limits, drive, damping and friction where there is one, then the
    one that leaves the least redundancy.

    Why it matters
    --------------
    An articulation is a tree. PhysX simulates none that has a loop; other programs cut the loop at a
    joint of their own choice.

    Example
    -------
    The fourth hinge of a four-bar below a prim with ``PhysicsArticulationRootAPI``.

    Remedy
    ------
    State ``uniform bool physics:excludeFromArticulation = true`` in the joint that is named, or write the stage with
    ``mbplugin close FILE --to usd``, which also makes the closure as weak as it can be.

    References
    ----------
    OpenUSD: UsdPhysics, articulations; PhysX: articulations are trees; SimReady: DJ.011.
    """

    code, name = "MB129", "loop-in-articulation"
    severity: Severity = "error"
    help = "add uniform bool physics:excludeFromArticulation = true to the joint"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per loop, at the joint to exclude."""
        noted = list(defects_noted(self, scene, self.help))
        if not noted:
            return
        from mbplugin.closing.choice import excluded_joints

        closures = [pair.name for pair in scene.mechanism.tree.cut]
        try:
            chosen = excluded_joints(scene)
        except MbPluginError:
            yield from noted
            return
        better = dict(zip(closures, zip(chosen.joints, chosen.types, strict=True), strict=True))
        for finding in noted:
            joint, type = better.get(finding.element, (finding.element, ""))
            was = scene.mechanism.pair_by_name[joint].type
            weaker = (
                f"; as {type} instead of {was} it leaves p = 0"
                if type not in ("", was) and chosen.suffices
                else ""
            )
            place = constraint_place(scene, joint)
            yield replace(
                finding,
                element=joint,
                message="a loop inside an articulation has no joint that is excluded from it, and PhysX simulates none "
                f"that has a loop; the joint to exclude is {joint!r}{weaker}",
                file=place.file if place else finding.file,
                line=place.line if place else finding.line,
                evidence={**finding.evidence, "exclude": joint, "type": type or was},
            )


class QuaternionNorm(NotedByReader):
    """A quaternion does not have the norm 1.

    What it does
    ------------
    Lists the quaternions of a file whose norm differs from 1 by more than the rounding of their digits: ``quat``,
    ``refquat`` and ``relpose`` of MJCF, ``<pose rotation_format="quat_xyzw">`` of SDF, ``quat_xyzw`` of URDF, and
    ``physics:localRot0``, ``physics:localRot1`` and ``xformOp:orient`` of USD. It is a note where the usual reader
    normalises: MuJoCo 4.0, ``urdf::Rotation`` of urdfdom_headers, and UsdPhysics of OpenUSD 26.11 for the frames of
    joints. They are normalised here too, but OpenUSD evaluates ``xformOp:orient`` as it stands, and libsdformat
    keeps the four numbers of a ``<pose>``.

    Why it matters
    --------------
    A program that does not normalise turns the frame by another angle, or scales what is in it: OpenUSD reads
    ``xformOp:orient = (2, 0, 0, 2)`` as no rotation.

    Example
    -------
    ``<geom type="box" size="1 1 1" quat="1 0 0 1"/>``, whose norm is 1.414.

    Remedy
    ------
    Divide the quaternion by its norm.

    References
    ----------
    SDF: ``<pose>``; MJCF: frame orientations; OpenUSD: UsdGeomXformOp, UsdPhysicsJoint.
    """

    code, name = "MB136", "quaternion-not-normalized"
    severity: Severity = "warning"
    help = "divide the quaternion by its norm"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding for what is read alike."""
        groups: dict[tuple[str, Severity], list[Instance]] = {}
        for defect in scene.defects:
            if defect.code == self.code:
                key = str(defect.evidence["taken"]), defect.severity or self.severity
                groups.setdefault(key, []).append(Instance(defect.element, defect.origin, defect.message))
        for (taken, severity), found in groups.items():
            what = "quaternions whose norm is not 1"
            yield from joined_finding(self, severity, found, what, so=taken, help=self.help)


class InertiaWithoutAxes(NotedByReader):
    """A body of a USD stage states moments of inertia and not their axes.

    What it does
    ------------
    Reports ``physics:diagonalInertia`` without ``physics:principalAxes``, where the three moments are not the same.

    Why it matters
    --------------
    The moments are taken along the axes of the prim here, and PhysX may take the axes of the colliders: the body turns
    as another one.

    Example
    -------
    ``float3 physics:diagonalInertia = (0.1, 0.2, 0.25)`` alone.

    Remedy
    ------
    State ``quatf physics:principalAxes``; (1, 0, 0, 0) is the frame of the prim.

    References
    ----------
    OpenUSD: UsdPhysics, MassAPI; SimReady: RB.007.
    """

    code, name = "MB147", "inertia-without-axes"
    severity: Severity = "warning"
    help = "add quatf physics:principalAxes, (1, 0, 0, 0) for the axes of the prim"
