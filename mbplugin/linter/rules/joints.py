"""Rules about the axes, the limits and the drives of joints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import hypot, isfinite, pi, radians

from mbplugin.analysis import Analysis
from mbplugin.linter.checks import Instance, in_degrees, joined_finding, snapping
from mbplugin.linter.rule import Finding, Rule, Severity, constraint_place
from mbplugin.model import Document, Node, Origin, Pair, Scene


class InvertedLimits(Rule):
    """The lower limit of a joint is above its upper limit.

    What it does
    ------------
    Lists the revolute and prismatic joints of a URDF whose ``lower`` exceeds ``upper``, and the joints of MJCF whose
    ``range`` is in the wrong order. MuJoCo refuses such a range where ``limited="true"`` is stated: that is MB904.

    Why it matters
    --------------
    PyBullet reads such limits as no limits, and so does MuJoCo in MJCF; MuJoCo does not compile the URDF, and planners
    find no state of the joint that is valid. Often a sign is missing.

    Example
    -------
    ``<limit lower="1.2" upper="-0.8" effort="10" velocity="1"/>``.

    Remedy
    ------
    Exchange the values, or correct the sign. Write ``type="continuous"`` where no limits are intended.

    References
    ----------
    URDF: ``<limit>``, ``lower`` and ``upper``; PyBullet quickstart guide: a lower limit above the upper one
    means no limits.
    """

    code, name = "MB120", "inverted-limits"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        found = []
        for joint in snapping.written_joints(scene, *snapping.BOUNDED):
            limit = joint.child("limit")
            lower, upper = snapping.number(limit, "lower"), snapping.number(limit, "upper")
            if limit and lower is not None and upper is not None and lower > upper:
                found.append(Instance(joint.name, limit.origin, f"{joint.name!r} ({lower:g} > {upper:g})"))
        ranges = (
            (pair.name, scene.origin.get(("constraint", pair.name, "range")))
            for pair in scene.mechanism.pairs
        )
        found += [
            Instance(name, place, f"{name!r} ({' > '.join(place.text.split())})")
            for name, place in ranges
            if place is not None
        ]
        yield from joined_finding(
            self,
            self.severity,
            found,
            "lower limits above the upper ones",
            so=f"{'MuJoCo' if snapping.format_of(scene) == 'mjcf' else 'PyBullet'} then moves the joint without limits",
            help="exchange the two limits, or correct the sign",
        )


class EqualLimits(Rule):
    """A joint that moves has equal limits.

    What it does
    ------------
    Lists the revolute and prismatic joints of a URDF with ``lower`` equal to ``upper``, and those whose
    ``<limit>`` states neither: the specification reads that as 0 and 0.

    Why it matters
    --------------
    Planners, controllers and engines that enforce limits hold the joint; others let it move freely. The
    mobility of the model depends on the program.

    Example
    -------
    ``<limit lower="0" upper="0" effort="10" velocity="1"/>`` of a revolute joint.

    Remedy
    ------
    Write the limits. A joint that does not move is ``type="fixed"``, one without limits
    ``type="continuous"``.

    References
    ----------
    URDF: ``lower`` and ``upper`` are 0 by default.
    """

    code, name = "MB121", "equal-limits"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        found = [
            Instance(joint.name, limit.origin, f"{joint.name!r} ({stated})")
            for joint in snapping.written_joints(scene, *snapping.BOUNDED)
            if (limit := joint.child("limit")) and (stated := _equal(limit))
        ]
        yield from joined_finding(
            self,
            self.severity,
            found,
            "joints that move have equal limits",
            so="programs that enforce limits hold them",
            help='write the limits, or make the joint "fixed" or "continuous"',
        )


def _equal(limit: Node) -> str:
    """Return the limits in words if they are equal; else empty."""
    if not limit.has("lower") and not limit.has("upper"):
        return "0 and 0 by default"
    lower, upper = snapping.number(limit, "lower"), snapping.number(limit, "upper")
    both = [0.0 if not limit.has(side) else value for side, value in (("lower", lower), ("upper", upper))]
    return f"both {both[0]:g}" if both[0] is not None and both[0] == both[1] else ""


class LimitsInDegrees(Rule):
    """The limits of a revolute joint seem to be in degrees.

    What it does
    ------------
    Lists the revolute joints of a URDF, and the hinges of an MJCF file with ``angle="radian"``, with a limit that is
    a whole number beyond two turns (4π rad), at most 720, while no limit is a fraction below that. Powers of ten
    such as 100 stand for "no limit" and are omitted.

    Why it matters
    --------------
    URDF limits are in radians: a joint with the limit 170 makes 27 turns. Plans wind up cables, and stops
    are computed for travel that the joint does not have.

    Example
    -------
    ``<limit lower="-170" upper="170" effort="10" velocity="1"/>``.

    Remedy
    ------
    Convert the limits to radians: 170° are 2.967 rad.

    References
    ----------
    URDF: limits of revolute joints are in radians. MJCF: ``angle`` of ``<compiler>``.
    """

    code, name = "MB122", "limits-in-degrees"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        found = []
        for name, place, values in _limits(scene):
            if in_degrees(values):
                shown = " … ".join(f"{value:g} ({radians(value):.3g} rad)" for value in values)
                found.append(Instance(name, place, f"{name!r} {shown}"))
        yield from joined_finding(
            self,
            self.severity,
            found,
            "limits that seem to be in degrees",
            help="write them in radians",
        )


def _limits(scene: Scene) -> Iterator[tuple[str, Origin | None, list[float]]]:
    """Yield the joints that turn, with the place and the limits, rad, of a URDF or an MJCF file in radians."""
    for joint in snapping.written_joints(scene, "revolute"):
        limit = joint.child("limit")
        if limit:
            values = (snapping.number(limit, side) for side in ("lower", "upper"))
            yield joint.name, limit.origin, [value for value in values if value is not None]
    if snapping.format_of(scene) == "mjcf":
        for pair in scene.mechanism.pairs:
            for freedom in pair.freedoms if pair.type == "revolute" else ():
                stated = [value for value in (freedom.lower, freedom.upper) if isfinite(value)]
                yield pair.name, constraint_place(scene, pair.name), stated


_NAMES = ("effort", "velocity")


class UnusableEffortOrVelocity(Rule):
    """The effort or velocity limit of a joint is missing, negative or zero.

    What it does
    ------------
    Lists the joints of a URDF whose ``<limit>`` has no ``effort`` or ``velocity``, or one that is negative,
    or a ``velocity`` of 0. An ``effort`` of 0 is listed where all joints have it; MB604 reports a single
    one. Joints with a ``<mimic>`` are omitted. The finding is a note if all that is wrong are zeros.

    Why it matters
    --------------
    urdfdom, and with it ROS, does not load a joint whose ``<limit>`` has no effort or velocity. Controllers
    that respect a limit of 0 never move the joint; a negative limit inverts it or is an error.

    Example
    -------
    ``<limit lower="-1" upper="1" effort="-10"/>``.

    Remedy
    ------
    Write the limits of the drive: N·m and rad/s, or N and m/s.

    References
    ----------
    URDF: ``effort`` and ``velocity`` are required in ``<limit>``; urdfdom, ``parseJointLimits``.
    """

    code, name = "MB123", "unusable-effort-or-velocity"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        driven = [
            joint
            for joint in snapping.written_joints(scene, *snapping.SINGLE)
            if joint.child("mimic") is None
        ]
        limits = [(joint, limit) for joint in driven if (limit := joint.child("limit"))]
        weak = all(snapping.number(limit, "effort") == 0 for _, limit in limits)
        wrong = [
            (wrongs, joint, limit) for joint, limit in limits if (wrongs := list(_wrongs(limit, weak=weak)))
        ]
        only_zeros = all(text.endswith("of 0") for wrongs, _, _ in wrong for text in wrongs)
        # limits that no program accepts come first
        wrong.sort(key=lambda item: all(text.endswith("of 0") for text in item[0]))
        yield from joined_finding(
            self,
            "note" if only_zeros else self.severity,
            [
                Instance(joint.name, limit.origin, f"{joint.name!r} has {' and '.join(wrongs)}")
                for wrongs, joint, limit in wrong
            ],
            "unusable limits of drives",
            help="write effort and velocity of the drive, both above zero",
        )


def _wrongs(limit: Node, *, weak: bool) -> Iterator[str]:
    """Yield the problems with the limits of a joint; with ``weak``, an effort of 0 counts as one."""
    for name in _NAMES:
        value = snapping.number(limit, name)
        if not limit.has(name):
            yield f"no {name}"
        elif value is not None and value < 0:
            yield f"a negative {name} ({value:g})"
        elif value == 0 and (weak or name == "velocity"):
            yield f"{'an' if name == 'effort' else 'a'} {name} of 0"


class NegativeDamping(Rule):
    """The damping or friction of a joint is negative.

    What it does
    ------------
    Lists the joints with a negative ``damping`` or ``friction``.

    Why it matters
    --------------
    A negative damping drives the joint: every simulation gains energy and diverges. A negative friction has
    no meaning.

    Example
    -------
    ``<dynamics damping="-0.5"/>``.

    Remedy
    ------
    Remove the sign.

    References
    ----------
    URDF: ``<dynamics>``, damping in N·m·s/rad, friction in N·m.
    """

    code, name = "MB124", "negative-damping"
    severity: Severity = "error"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        written = _places(scene)
        found = [
            Instance(pair.name, written.get(pair.name) or constraint_place(scene, pair.name), shown)
            for pair in scene.mechanism.pairs
            if (shown := ", ".join(_negative(pair)))
        ]
        yield from joined_finding(
            self,
            self.severity,
            found,
            "negative damping or friction of joints",
            so="a simulation gains energy from it",
            help="write a value that is not negative",
        )


def _negative(pair: Pair) -> Iterator[str]:
    if any(freedom.damping < 0 for freedom in pair.freedoms):
        yield f"{pair.name!r} damping {min(freedom.damping for freedom in pair.freedoms):g}"
    if any(freedom.friction < 0 for freedom in pair.freedoms):
        yield f"{pair.name!r} friction {min(freedom.friction for freedom in pair.freedoms):g}"


def _places(scene: Scene) -> dict[str, Origin]:
    """Return the locations of the ``<dynamics>`` of joints in URDFs, by joint name."""
    elements = ((joint.name, joint.child("dynamics")) for joint in snapping.written_joints(scene))
    return {name: element.origin for name, element in elements if element}


_TOLERANCE = 1e-3


class AxisNotNormalized(Rule):
    """A joint axis does not have length 1.

    What it does
    ------------
    Lists the joints of a URDF whose axis has a length that differs from 1 by more than 0.1 %. Axes of length
    zero are MB106.

    Why it matters
    --------------
    Most programs normalise the axis. Those that do not, multiply the motion of the joint by the length: a
    prismatic joint with the axis 0 0 2 moves twice as far.

    Example
    -------
    ``<axis xyz="0 1 1"/>``, whose length is 1.414.

    Remedy
    ------
    Divide the axis by its length.

    References
    ----------
    URDF: the axis should be normalised.
    """

    code, name = "MB125", "axis-not-normalized"
    severity: Severity = "note"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        found = []
        for joint in snapping.written_joints(scene, *snapping.SINGLE, "planar"):
            axis = joint.child("axis")
            length = hypot(*snapping.numbers(axis, "xyz"))
            if axis and length > 1e-12 and abs(length - 1) > _TOLERANCE:
                found.append(Instance(joint.name, axis.origin, f"{joint.name!r} ({length:.4g})"))
        yield from joined_finding(
            self,
            self.severity,
            found,
            "joint axes whose length is not 1",
            help="divide the axis by its length",
        )


#: A full turn with a margin for rounding, rad.
_TURN = 2 * pi + 0.01


class AngleInDegrees(Rule):
    """An angle of a frame is beyond a full turn, so it is probably in degrees.

    What it does
    ------------
    Lists the ``rpy`` of a URDF with an angle beyond 2π rad.

    Why it matters
    --------------
    Angles in URDF are in radians. 90 rad are 14 turns and 116.6°: the frame points in another direction, and
    no message says so.

    Example
    -------
    ``<origin xyz="0 0 0.3" rpy="0 0 90"/>``.

    Remedy
    ------
    Write the angle in radians: 90° are 1.5707963267948966.

    References
    ----------
    URDF: ``<origin rpy>`` is in radians.
    """

    code, name = "MB126", "angle-in-degrees"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        found = []
        for document in snapping.urdf_documents(scene):
            for element in document.root.descendants("origin", "link1", "link2"):
                if any(abs(angle) > _TURN for angle in snapping.numbers(element, "rpy")):
                    owner = _owner(element, document)
                    shown = f"{owner!r} (rpy {element.get('rpy')!r})"
                    found.append(Instance(owner, element.origin, shown))
        yield from joined_finding(
            self,
            self.severity,
            found,
            "angles beyond a full turn, probably in degrees",
            help="write the angles in radians",
        )


def _owner(element: Node, document: Document) -> str:
    """Return the name of the link or joint that contains an element."""
    node = element
    while node.position > 0:
        node = Node(document, node.written.parent)
        if node.tag in ("link", "joint", "drake:joint", "loop_joint"):
            return node.name
    return ""


class ZeroOutsideLimits(Rule):
    """The zero pose is outside the limits of a joint.

    What it does
    ------------
    Lists the revolute and prismatic joints whose limits do not contain zero.

    Why it matters
    --------------
    Most programs start with all joints at zero. Planners report an invalid start state, and engines push the joint
    back to its limit with a large force in the first step.

    Example
    -------
    ``<limit lower="-3.07" upper="-0.07" …/>`` of the fourth joint of a Franka arm.

    Remedy
    ------
    None, if every program that uses the file sets an initial pose; otherwise move the origin of the joint.

    References
    ----------
    URDF: the zero position is where the joint frames coincide.
    """

    code, name = "MB127", "zero-outside-limits"
    severity: Severity = "note"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        elements = ((joint.name, joint.child("limit")) for joint in snapping.written_joints(scene))
        written = {name: element.origin for name, element in elements if element}
        found = []
        for pair in scene.mechanism.pairs:
            if pair.closure or len(pair.freedoms) != 1:
                continue
            (freedom,) = pair.freedoms
            # equal limits are reported by MB121
            if (freedom.lower > 0 or freedom.upper < 0) and freedom.lower < freedom.upper:
                place = written.get(pair.name) or constraint_place(scene, pair.name)
                shown = f"{pair.name!r} ({freedom.lower:g} … {freedom.upper:g})"
                found.append(Instance(pair.name, place, shown))
        yield from joined_finding(
            self,
            self.severity,
            found,
            "zero is outside the limits of joints",
            help="set an initial pose in every program that uses the file, or move the joint's origin",
        )
