"""Rules about mass and inertia that are possible and implausible."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from math import cos, radians

import numpy as np

from mbplugin.analysis import Analysis
from mbplugin.linter.checks import Instance, in_degrees, joined_finding, shapes, twins
from mbplugin.linter.checks.loops import extents, per_scene
from mbplugin.linter.checks.meshes import solid_of
from mbplugin.linter.checks.snapping import number, urdf_documents, written_joints
from mbplugin.linter.rule import Finding, Rule, Severity, body_place, constraint_place, make_finding
from mbplugin.model import Array, Body, Mechanism, Origin, Pair, Scene, forward, home, joint_axes
from mbplugin.phrases import listed


class ImplausibleDensity(Rule):
    """The mass of a link and the volume of its shape give an impossible density.

    What it does
    ------------
    Divides the mass of a link by the volume of its collision shape, else of its visual one, and lists links
    below 5 or above 25 000 kg/m³. Where a link has both kinds of shapes, both must say so. Shapes below 2
    cm³, which mark a place, spheres that do not touch each other, which are the contact points of a foot, and
    links with less than 1 % of the mass that they are fixed to are omitted.
    Meshes that are not closed count as their convex hull.

    Why it matters
    --------------
    Expanded polystyrene has 15 kg/m³ and platinum 21 450 kg/m³. Frequent causes are grams written as
    kilograms, a default mass of 1 kg, and a mesh in another unit. All forces and stopping distances scale
    with the mass.

    Example
    -------
    ``<mass value="350"/>`` for a finger of 0.35 kg.

    Remedy
    ------
    Correct the mass, in kg, or the size of the shape, in metres.

    References
    ----------
    Densities: platinum 21 450 kg/m³, expanded polystyrene 15 kg/m³.
    """

    code, name = "MB140", "implausible-density"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        densities, bodies = shapes.impossible_densities(scene), scene.mechanism.body_index
        yield from joined_finding(
            self,
            self.severity,
            [
                Instance(
                    name,
                    body_place(scene, name, "mass", "inertial"),
                    f"{name!r} {scene.mechanism.bodies[bodies[name]].mass:.4g} kg, {density:.3g} kg/m³",
                )
                for name, density in densities.items()
            ],
            "mass and volume of links do not fit together",
            help="correct the mass, in kg, or the size of the shape, in metres",
            evidence={"densities_kg_m3": dict(densities)},
        )


class ImplausibleGyrationRadius(Rule):
    """The radius of gyration of a link does not fit the size of the robot.

    What it does
    ------------
    Computes the radius of gyration √(I/m) from the mass and the largest principal moment of links without a
    readable shape. Lists those above twice the size of the mechanism, those below 1/50 of the distance between
    the joints of the link, and those below a third of that of a ball of the same mass with 25 000 kg/m³, more
    than any metal has. MB105 compares links that have a shape with it.

    Why it matters
    --------------
    Frequent causes are an inertia in kg·mm², g·mm² or t·m², or a mass in grams. One such link dominates the mass
    matrix, or makes it singular.

    Example
    -------
    ``<inertia ixx="2300" …/>`` for 0.0023 kg·m².

    Remedy
    ------
    Convert the inertia to kg·m²: 1 kg·mm² is 1e-6 kg·m². The finding gives the factor of a unit with which it fits.

    References
    ----------
    A uniform rod has a radius of gyration of 0.29 of its length, a uniform ball one of √0.4 of its radius; of all
    bodies with a mass and a largest density, the ball has the smallest moments.
    """

    code, name = "MB141", "implausible-gyration-radius"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        radii = shapes.implausible_radii(scene)
        factors = shapes.fitting_factors(scene, radii)
        times = [f"{name!r} fits with {factor:g} times its inertia" for name, factor in factors.items()]
        fits = f": {listed(times)}" if times else ""
        yield from joined_finding(
            self,
            self.severity,
            [
                Instance(name, body_place(scene, name, "inertia", "inertial"), f"{name!r} {radius}")
                for name, radius in radii.items()
            ],
            "radii of gyration that do not fit the robot",
            help=f"check the units of inertia (kg·m²) and mass (kg){fits}",
            evidence={"factors": dict(factors)},
        )


class RepeatedInertia(Rule):
    """Several links of different mass have the same inertia.

    What it does
    ------------
    Lists groups of three or more links with exactly the same inertia, whose masses differ by a factor of 1.5
    or more. Links without mass or with less than a thousandth of the robot's, and the placeholder 1, 1, 1 of
    MB104, are omitted.

    Why it matters
    --------------
    Such an inertia is a placeholder that was copied. It is wrong for all links but one, by the ratio of
    their masses and the square of their sizes.

    Example
    -------
    ``ixx="0.01" iyy="0.01" izz="0.01"`` on links of 0.2, 1 and 5 kg.

    Remedy
    ------
    Write the inertia that follows from mass and shape of each link.

    References
    ----------
    The inertia of similar bodies is proportional to mass times the square of the size.
    """

    code, name = "MB142", "repeated-inertia"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        yield from joined_finding(
            self,
            self.severity,
            [
                Instance(
                    body.name,
                    body_place(scene, body.name, "inertia", "inertial"),
                    f"{body.name!r} ({body.mass:.3g} kg)",
                )
                for body in shapes.repeated_inertias(scene)
            ],
            "links of different mass have the same inertia",
            help="write the inertia that follows from mass and shape of each link",
        )


_FAR = 3.0


class FarCenterOfMass(Rule):
    """The centre of mass of a link is far from the robot.

    What it does
    ------------
    For links without a readable shape, lists those whose centre of mass is farther from all joints of the
    link than three times the size of the mechanism. MB105 compares links that have a shape with it.

    Why it matters
    --------------
    Frequent causes are millimetres, and a centre of mass in the axes of the assembly instead of the link.
    Gravity then acts on a lever that the robot does not have.

    Example
    -------
    ``<inertial><origin xyz="0 0 153.2"/>…``.

    Remedy
    ------
    Write the centre of mass in metres in the link frame.

    References
    ----------
    URDF: ``<inertial><origin>`` is the centre of mass in the link frame, in metres.
    """

    code, name = "MB143", "far-center-of-mass"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        around = extents(scene)
        found = []
        for body in scene.mechanism.bodies:
            if around.whole == 0 or body.mass <= 0 or body.name not in around.joints:
                continue
            distance = float(np.linalg.norm(around.joints[body.name] - body.p_LC, axis=1).min())
            if distance <= _FAR * around.whole:
                continue
            if solid_of(scene.shapes.get(body.name, ()), scene.request) is None:
                place = body_place(scene, body.name, "inertial")
                found.append(Instance(body.name, place, f"{body.name!r} ({distance:.3g} m from its joints)"))
        yield from joined_finding(
            self,
            self.severity,
            found,
            f"centres of mass far from the robot, which is {around.whole:.3g} m in size",
            help="write the centre of mass in metres in the link frame",
        )


class InertiaOnRoot(Rule):
    """The root link has an inertia, which KDL ignores.

    What it does
    ------------
    Names the root link of a URDF if it has mass. Off by default: ``--extend-select MB144``.

    Why it matters
    --------------
    KDL has no inertia on the root of a tree: programs that use it (kdl_parser, robot_state_publisher, many
    controllers) ignore the mass of that link, and each prints a warning. Everything else reads it.

    Example
    -------
    ``<link name="base_link"><inertial>…`` as the link that is the child of no joint.

    Remedy
    ------
    Add a link without ``<inertial>`` as the new root, and a fixed joint from it to the old one.

    References
    ----------
    kdl_parser: "KDL does not support a root link with an inertia".
    """

    code, name = "MB144", "inertia-on-root"
    severity: Severity = "note"
    opt_in = True

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per root link with mass."""
        for document in urdf_documents(scene):
            ends = (joint.child("child") for joint in document.root.children("joint", "drake:joint"))
            children = {end.get("link") for end in ends if end}
            for link in document.root.children("link"):
                inertial = link.child("inertial")
                mass = number(inertial and inertial.child("mass"), "value")
                if inertial and mass and link.get("name") not in children:
                    yield make_finding(
                        self,
                        self.severity,
                        f"root link {link.name!r} has a mass of {mass:g} kg, which KDL ignores",
                        element=link.name,
                        origin=inertial.origin,
                        evidence={"mass_kg": mass},
                        help="add a root link without <inertial>, and a fixed joint from it to this link",
                    )


#: Allowed relative differences of masses, moments, limits and positions; and the least cosine between axes.
_MASS, _MOMENTS, _LIMITS, _PLACE, _PARALLEL = 0.05, 0.10, 0.01, 0.02, cos(radians(5))
#: Relative differences up to these are slight: twins of real robots carry other motors, cables and calibrations.
_SLIGHT_MASS, _SLIGHT_MOMENT, _SLIGHT_LIMIT, _SLIGHT_PLACE = 0.2, 0.3, 0.1, 0.2


#: Differences of positions below this are rounding, m.
_ROUNDING = 5e-4


class TwinsDiffer(Rule):
    """The left and the right part of a robot differ.

    What it does
    ------------
    Pairs links and joints whose names differ by a side only (left and right, FL and FR, l_ and r_), and
    compares them: mass and principal moments of links by 5 and 10 %, limits of joints (as they are or
    mirrored), their origins (mirrored, or at the same distance from the parent frame), and their axes at the
    zero pose (parallel, or mirrored at a plane, by 5°; the sense does not count). Only joints that move are
    compared. One finding lists all differences, the large ones first. It is a note if all are slight: masses by less
    than 20 % that no lost or swapped digit explains, moments by 30 %, limits by 10 % of their range, and distances by
    20 %.

    Why it matters
    --------------
    Most robots are symmetrical. A difference is often a correction that was made on one side, a copied block
    with a forgotten sign, or a digit lost in an export; the robot then walks or drives to one side.

    Example
    -------
    ``<mass value="1.013"/>`` of FL_thigh and ``<mass value="1.13"/>`` of FR_thigh.

    Remedy
    ------
    Correct the side that is wrong; ignore this for pairs that differ on purpose.

    References
    ----------
    Mirroring a body at a plane keeps its mass and its principal moments.
    """

    code, name = "MB145", "twins-differ"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        differences = [*_links(scene), *_joints(scene)]
        large = [instance for instance, slight in differences if not slight]
        yield from joined_finding(
            self,
            self.severity if large else "note",
            [*large, *(instance for instance, slight in differences if slight)],
            "left and right differ",
            help="correct the side that is wrong, or ignore this where they differ on purpose",
        )


def _links(scene: Scene) -> Iterator[tuple[Instance, bool]]:
    """Yield the differences of links, and whether each is slight."""
    # a problem of one twin that another rule reports is not reported again as a difference
    heavy = set(shapes.impossible_densities(scene))
    far = {comparison.body.name for comparison in shapes.compared_with_shapes(scene) if comparison.far}
    odd = (
        heavy
        | {body.name for body in shapes.repeated_inertias(scene)}
        | set(shapes.implausible_radii(scene))
        | far
    )
    bodies = {body.name: body for body in scene.mechanism.bodies if shapes.possible(body)}
    parents = _parents(scene.mechanism)
    for left, right in twins(bodies):
        if _in_line(parents, left, right):
            continue
        a, b = bodies[left], bodies[right]
        if _apart(a.mass, b.mass, _MASS):
            if not _one_of(heavy, left, right):
                words = f"mass ({a.mass:.4g}, {b.mass:.4g} kg)"
                slight = not _apart(a.mass, b.mass, _SLIGHT_MASS) and not _digit_apart(a.mass, b.mass)
                place = body_place(scene, right, "mass", "inertial")
                yield Instance(right, place, _shown(left, right, words)), slight
        elif (found := _moments(a, b)) and not _one_of(odd, left, right) and far.isdisjoint((left, right)):
            place = body_place(scene, right, "inertia", "inertial")
            yield Instance(right, place, _shown(left, right, found[0])), found[1]


def _one_of(names: Collection[str], left: str, right: str) -> bool:
    return (left in names) != (right in names)


def _shown(left: str, right: str, words: str) -> str:
    return f"{left!r} and {right!r} in {words}"


def _digit_apart(a: float, b: float) -> bool:
    """Return True if one number is the other without one of its digits, or with two neighbouring ones swapped."""
    short, long = sorted((f"{a:.6g}", f"{b:.6g}"), key=len)
    if len(long) == len(short) + 1:
        return any(long[:k] + long[k + 1 :] == short for k in range(len(long)))
    swapped = (long[:k] + long[k + 1] + long[k] + long[k + 2 :] for k in range(len(long) - 1))
    return short in swapped


#: A difference in words and whether it is slight; None if there is none.
_Difference = tuple[str, bool] | None


def _moments(left: Body, right: Body) -> _Difference:
    """Return the difference of the principal moments; None if they agree, or if one is a placeholder."""
    if shapes.placeholder(left) or shapes.placeholder(right):
        return None
    a, b = shapes.principal_moments(left), shapes.principal_moments(right)
    worst = int(np.argmax(np.abs(a - b)))
    share = float(np.abs(a - b).max() / max(a[-1], b[-1]))
    if share <= _MOMENTS:
        return None
    return f"a principal moment ({a[worst]:.4g}, {b[worst]:.4g} kg·m²)", share < _SLIGHT_MOMENT


def _joints(scene: Scene) -> Iterator[tuple[Instance, bool]]:
    """Yield the differences of joints, and whether each is slight."""
    pairs = {pair.name: pair for pair in scene.mechanism.pairs if len(pair.freedoms) == 1}
    elements = {joint.name: joint for joint in written_joints(scene)}
    parents = _parents(scene.mechanism)
    axes = _placed_axes(scene)
    for left, right in twins(pairs):
        a, b = pairs[left], pairs[right]
        if a.type != b.type or a.closure or b.closure:
            continue
        if _in_line(parents, a.body_b, b.body_b):
            continue
        turned = _turned(axes.get(left), axes.get(right))
        for tag, what in (("limit", _limits(a, b)), ("origin", _places(a, b)), ("axis", turned)):
            if what is not None:
                element = elements[right].child(tag) if right in elements else None
                place: Origin | None = element.origin if element else constraint_place(scene, right)
                yield Instance(right, place, _shown(left, right, what[0])), what[1]


def _parents(mech: Mechanism) -> dict[str, str]:
    return {pair.body_b: pair.body_a for pair in mech.pairs if not pair.closure}


def _in_line(parents: dict[str, str], a: str, b: str) -> bool:
    """Return True if one body carries the other: some manufacturers name the axes of an arm S, L, E, U, R, B, T."""
    return b in _carriers(parents, a) or a in _carriers(parents, b)


def _carriers(parents: dict[str, str], body: str) -> set[str]:
    found: set[str] = set()
    while (body := parents.get(body, body)) not in found:
        found.add(body)
    return found


def _limits(left: Pair, right: Pair) -> _Difference:
    """Return the difference of the limits; None if they agree, directly or mirrored."""
    (a,), (b,) = left.freedoms, right.freedoms
    one, other = np.array([a.lower, a.upper]), np.array([b.lower, b.upper])
    if not all(
        np.isfinite(pair).all() and pair[0] < pair[1] and not in_degrees(pair) for pair in (one, other)
    ):
        # there are no limits, or another rule reports them
        return None
    span = max(float(np.ptp(one)), float(np.ptp(other)))
    apart = float(min(np.abs(one - other).max(), np.abs(one + other[::-1]).max()))
    if apart <= _LIMITS * span:
        return None
    words = f"limits ({a.lower:.4g} … {a.upper:.4g}, {b.lower:.4g} … {b.upper:.4g})"
    return words, apart < _SLIGHT_LIMIT * span


def _places(left: Pair, right: Pair) -> _Difference:
    """Return the difference of the positions on the parents; None if they agree, directly or mirrored."""
    a, b = left.X_AP.p, right.X_AP.p
    distances = [float(np.linalg.norm(place)) for place in (a, b)]
    allowed, slight = max(_ROUNDING, _PLACE * max(distances)), _SLIGHT_PLACE * max(distances)
    if left.body_a != right.body_a:
        # the parents are different links (probably twins), so only distances can be compared
        apart = abs(distances[0] - distances[1])
        if apart <= allowed:
            return None
        return f"distance from the parent ({distances[0]:.4g}, {distances[1]:.4g} m)", apart < slight
    # mirrored positions differ in one coordinate only; the plane of symmetry may be away from the parent's origin
    apart = float(min(np.sort(np.abs(a - b))[1], np.abs(np.abs(a) - np.abs(b)).max()))
    if apart <= allowed:
        return None
    shown = ["(" + ", ".join(f"{v:.4g}" for v in place) + ")" for place in (a, b)]
    return f"place ({shown[0]}, {shown[1]} m)", apart < slight


@per_scene
def _placed_axes(scene: Scene) -> dict[str, tuple[Array, Array]]:
    """Return a point (3,), m, and the direction (3,) of each axis of a tree joint at the zero pose, world axes."""
    mech = scene.mechanism
    poses = forward(mech, home(mech))
    found = {}
    for joint in mech.tree.joints:
        if joint.pair is not None and joint.pair.kind.free in (("rz",), ("tz",)):
            S, point = joint_axes(mech, joint, poses)
            sense = -1.0 if joint.reversed else 1.0
            found[joint.pair.name] = point, sense * (S[3:, 0] if S[3:].any() else S[:3, 0])
    return found


def _turned(left: tuple[Array, Array] | None, right: tuple[Array, Array] | None) -> _Difference:
    """Return the difference of two axes, which is never slight; None if they agree, directly or mirrored."""
    if left is None or right is None:
        return None
    (p, a), (other, b) = left, right
    # candidate planes of symmetry: the one midway between both points, and the coordinate planes
    normals = [*np.eye(3), *([(other - p) / np.linalg.norm(other - p)] if (other != p).any() else [])]
    images = (a, *(a - 2 * (n @ a) * n for n in normals))
    if max(abs(float(image @ b)) for image in images) >= _PARALLEL:
        return None
    return f"axis at the zero pose ({_direction(a)}, {_direction(b)})", False


def _direction(axis: Array) -> str:
    """Return an axis (3,) as text with three digits."""
    return "(" + ", ".join(f"{value:.3g}" for value in np.round(axis, 3) + 0.0) + ")"


def _apart(a: float, b: float, relative: float) -> bool:
    return abs(a - b) > relative * max(abs(a), abs(b))


class WheelsOppose(Rule):
    """The axes of a left and a right wheel point in opposite directions.

    What it does
    ------------
    Pairs the joints without limits whose names say ``wheel`` and differ by a side only, and compares their axes at
    the zero pose. Lists the pairs whose axes are parallel and of opposite sense. Wheels whose axes are not parallel
    are MB145.

    Why it matters
    --------------
    A positive rate rolls one of them forwards and the other backwards. A controller of a differential drive that
    sends both the same rate turns the robot on the spot.

    Example
    -------
    ``<axis xyz="0 1 0"/>`` on the left wheel, and ``<axis xyz="0 -1 0"/>`` on the right one.

    Remedy
    ------
    Turn one axis round, or keep it and let the controller invert one side.

    References
    ----------
    ros2_controllers, diff_drive_controller: both wheels roll forwards at a positive rate.
    """

    code, name = "MB146", "wheels-oppose"
    severity: Severity = "note"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        axes = _placed_axes(scene)
        turning = [
            p.name for p in scene.mechanism.pairs if p.type == "continuous" and "wheel" in p.name.lower()
        ]
        elements = {joint.name: joint for joint in written_joints(scene)}
        found = []
        for left, right in twins(turning):
            if left in axes and right in axes and float(axes[left][1] @ axes[right][1]) <= -_PARALLEL:
                axis = elements[right].child("axis") if right in elements else None
                place = axis.origin if axis else constraint_place(scene, right)
                shown = f"{left!r} {_direction(axes[left][1])} and {right!r} {_direction(axes[right][1])}"
                found.append(Instance(right, place, shown))
        yield from joined_finding(
            self,
            self.severity,
            found,
            "axes of a left and a right wheel point in opposite directions",
            so="the same rate rolls one forwards and the other backwards",
            help="turn one axis round, or let the controller invert one side",
        )
