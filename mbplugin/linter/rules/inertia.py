"""Rules about mass and inertia that no rigid body can have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from mbplugin.analysis import Analysis
from mbplugin.linter.checks import links_finding, shapes
from mbplugin.linter.checks.loops import Carriage, Carriages, is_made, states_inertial
from mbplugin.linter.rule import Finding, Rule, Severity, body_place, listed, make_finding
from mbplugin.model import Body, Scene
from mbplugin.phrases import counted

_HELP = "write the mass in kg, or leave <inertial> out of a link that only carries a frame"


#: Severity and consequence of a zero mass, by the support of the link.
_MEANING: dict[Carriage, tuple[Severity, str]] = {
    "moving": ("warning", " and {moves}, so a motion cannot be computed"),
    "root": ("note", "; PyBullet holds such a root fixed, here it is free unless the base is"),
    "borne": ("note", ", which is harmless where the link is fixed to its neighbour"),
    "grounded": ("note", ", which is harmless where the link is fixed to its neighbour"),
}


class NonpositiveMass(Rule):
    """A link states a mass that is zero or negative.

    What it does
    ------------
    Reports negative masses, and zero masses of links that have an ``<inertial>``. A zero mass is a warning if the
    link moves, and a note if a fixed joint connects it to a mass or to the ground, or if it is the root and
    nothing states a free base.

    Why it matters
    --------------
    A body of negative mass gains energy. A body without mass that can move has no equation of motion: the mass
    matrix is singular, and engines replace the mass or return infinite accelerations.

    Example
    -------
    ``<inertial><mass value="-1"/>…``.

    Remedy
    ------
    Write the mass in kg; leave ``<inertial>`` out of links that only carry a frame.

    References
    ----------
    URDF: ``<inertial>``; PyBullet reads a root link of zero mass as fixed to the ground.
    """

    code, name = "MB101", "nonpositive-mass"
    severity: Severity = "error"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per negative mass, and one for all zero masses of each kind."""
        stated = [b for b in scene.mechanism.bodies if b.mass <= 0 and states_inertial(scene, b)]
        yield from (_negative(self, scene, body) for body in stated if body.mass < 0)
        zero = [body for body in stated if body.mass == 0 and not is_made(scene, body.name)]
        if zero:
            yield from _zero(self, scene, zero)


def _negative(rule: Rule, scene: Scene, body: Body) -> Finding:
    return make_finding(
        rule,
        rule.severity,
        f"link {body.name!r} states a mass of {body.mass:g} kg",
        element=body.name,
        origin=body_place(scene, body.name, "mass", "inertial"),
        evidence={"mass_kg": body.mass},
        help=_HELP,
    )


def _zero(rule: Rule, scene: Scene, bodies: Sequence[Body]) -> Iterator[Finding]:
    carriages = Carriages(scene)
    kinds: dict[tuple[Severity, str], list[str]] = {}
    for body in bodies:
        kinds.setdefault(_MEANING[carriages.of(body.name)], []).append(body.name)
    for (severity, meaning), links in kinds.items():
        one = len(links) == 1
        what = f"link {links[0]!r} states" if one else f"{counted(len(links), 'link')} state"
        names = "" if one else f": {listed(links)}"
        message = f"{what} a mass of 0 kg{meaning.format(moves='moves' if one else 'move')}{names}"
        yield links_finding(
            rule,
            severity,
            scene,
            links,
            message,
            "mass",
            "inertial",
            help=_HELP,
            evidence={"mass_kg": 0.0},
        )


_HELP_OF_MB102 = "export the inertia about the centre of mass anew, and check the signs of its products"


class InertiaNotPositiveDefinite(Rule):
    """The inertia of a link is not positive definite.

    What it does
    ------------
    Reports links whose inertia has a negative principal moment; they are warnings if a fixed joint connects the
    link to a heavier body or to the ground. A zero moment of a link with mass is a warning if the link moves, and a
    note if it is fixed to another mass or to the ground. Warnings and notes are one finding each, with all links.

    Why it matters
    --------------
    The kinetic energy of a real body is positive in every motion. With a negative moment the mass matrix
    is indefinite and a simulation diverges; Bullet sets the whole inertia to zero instead. A zero moment
    is a point or a line of mass, and MuJoCo reports an error.

    Example
    -------
    ``<inertia ixx="0.1" ixy="0.5" ixz="0" iyy="0.1" iyz="0" izz="0.1"/>``: the principal moments are
    −0.4, 0.1 and 0.6 kg·m².

    Remedy
    ------
    Take the inertia from the CAD system about the centre of mass, and check the sign convention of its
    products of inertia.

    References
    ----------
    URDF: ``<inertia>`` is about the centre of mass, in axes of ``<inertial><origin>``.
    """

    code, name = "MB102", "inertia-not-positive-definite"
    severity: Severity = "error"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per link that moves with a negative moment, and one for each milder kind."""
        suspects = [
            b for b in scene.mechanism.bodies if shapes.negative(b) or (b.mass > 0 and shapes.vanishing(b))
        ]
        if not suspects:
            return
        carriages = Carriages(scene)
        held: list[Body] = []
        moving: list[Body] = []
        borne: list[Body] = []
        for body in suspects:
            if shapes.negative(body) and not carriages.heavier(body):
                message = (
                    f"link {body.name!r} has a negative principal moment of inertia: {_shown(body)} kg·m²"
                )
                yield _finding(self, scene, self.severity, [body], message)
            elif shapes.negative(body):
                held.append(body)
            else:
                (borne if carriages.of(body.name) in ("grounded", "borne") else moving).append(body)
        if held:
            what = "a negative principal moment of inertia, and a heavier body or the ground fixed to it"
            yield _listed(self, scene, "warning", held, what)
        if moving:
            yield _listed(self, scene, "warning", moving, "mass, but a principal moment of inertia of zero")
        if borne:
            what = (
                "a principal moment of inertia of zero, which is harmless where the link is fixed to a mass"
            )
            yield _listed(self, scene, "note", borne, what)


def _shown(body: Body) -> str:
    return ", ".join(f"{moment:.4g}" for moment in shapes.principal_moments(body))


def _listed(rule: Rule, scene: Scene, severity: Severity, bodies: Sequence[Body], what: str) -> Finding:
    names = [f"{body.name} ({_shown(body)} kg·m²)" for body in bodies]
    has = "has" if len(bodies) == 1 else "have"
    return _finding(
        rule, scene, severity, bodies, f"{counted(len(bodies), 'link')} {has} {what}: {listed(names)}"
    )


def _finding(rule: Rule, scene: Scene, severity: Severity, bodies: Sequence[Body], message: str) -> Finding:
    moments = {body.name: shapes.principal_moments(body).tolist() for body in bodies}
    evidence = {
        "principal_moments_kg_m2": moments[bodies[0].name],
        "mass_kg": bodies[0].mass,
        "links": moments,
    }
    return links_finding(
        rule,
        severity,
        scene,
        list(moments),
        message,
        "inertia",
        "inertial",
        help=_HELP_OF_MB102,
        evidence=evidence,
    )


_HELP_OF_MB103 = "export the inertia about the centre of mass anew; Bullet sets this one to zero"


class TriangleInequality(Rule):
    """The principal moments of a link violate the triangle inequality.

    What it does
    ------------
    Reports links whose largest principal moment of inertia exceeds the sum of the other two by more than 1e-6 of
    itself. Links that are fixed to a heavier body or to the ground are one warning, a note if each has less than 1 % of
    the mass that it is fixed to.

    Why it matters
    --------------
    No distribution of mass has such an inertia. Bullet sets the inertia of the link to zero ("Bad inertia
    tensor properties"), and its mass matrix then has an error of several percent.

    Example
    -------
    ``<inertia ixx="0.01" iyy="0.01" izz="0.05" …/>``: 0.05 > 0.01 + 0.01.

    Remedy
    ------
    Take the inertia from the CAD system about the centre of mass; if only the last digit is wrong, write
    more digits.

    References
    ----------
    Bullet, ``BulletURDFImporter::getMassAndInertia``, which compares without a tolerance: it also zeroes a lamina
    whose moments are rounded in the last digit.
    """

    code, name = "MB103", "triangle-inequality"
    severity: Severity = "error"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per link, and one for all links that are fixed to a heavier body."""
        suspects = [body for body in scene.mechanism.bodies if shapes.triangle_excess(body)]
        if not suspects:
            return
        carriages = Carriages(scene)
        held = [body for body in suspects if carriages.heavier(body)]
        for body in suspects:
            if body not in held:
                yield _finding_of_mb103(
                    self,
                    scene,
                    self.severity,
                    [body],
                    f"no body has the inertia of link {_shown_of_mb103(body)}",
                )
        if held:
            links = f"{counted(len(held), 'link')} that {'is' if len(held) == 1 else 'are'}"
            message = (
                f"no body has the inertia of {links} fixed to a heavier body or to the ground: "
                + listed([_shown_of_mb103(body) for body in held], 3)
            )
            light = all(carriages.is_negligible(body.name) for body in held)
            yield _finding_of_mb103(self, scene, "note" if light else "warning", held, message)


def _shown_of_mb103(body: Body) -> str:
    a, b, c = (float(moment) for moment in shapes.principal_moments(body))
    return f"{body.name!r}: {c:.4g} exceeds {a:.4g} + {b:.4g} kg·m² by {shapes.triangle_excess(body):.2g}"


def _finding_of_mb103(
    rule: Rule, scene: Scene, severity: Severity, bodies: Sequence[Body], message: str
) -> Finding:
    excess = {body.name: shapes.triangle_excess(body) for body in bodies}
    evidence = {
        "principal_moments_kg_m2": shapes.principal_moments(bodies[0]).tolist(),
        "excess_kg_m2": excess[bodies[0].name],
        "links": excess,
    }
    return links_finding(
        rule,
        severity,
        scene,
        list(excess),
        message,
        "inertia",
        "inertial",
        help=_HELP_OF_MB103,
        evidence=evidence,
    )


class PlaceholderInertia(Rule):
    """The inertia of a link is a placeholder: all moments are 1 kg·m².

    What it does
    ------------
    Reports links whose moments of inertia are 1, 1, 1 kg·m², with products that are all zero or all one;
    one finding lists them all. Links that are fixed to the ground, such as those of a ``<static>`` model, do not count.

    Why it matters
    --------------
    A unit inertia belongs to a body of some tens of kilograms and a metre in size. On a small link it
    dominates the mass matrix, and every acceleration and reaction is wrong; PyBullet's default hides the error,
    because it computes inertias from the collision shapes.

    Example
    -------
    ``<inertia ixx="1.0" ixy="0" ixz="0" iyy="1.0" iyz="0" izz="1.0"/>`` in PyBullet's minitaur.urdf.

    Remedy
    ------
    Write the inertia that follows from the mass and the shape.

    References
    ----------
    PyBullet gives the same 1, 1, 1 kg·m² to links without ``<inertial>``.
    """

    code, name = "MB104", "placeholder-inertia"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per model."""
        held = Carriages(scene)
        links = [
            body.name
            for body in scene.mechanism.bodies
            if shapes.placeholder(body) and held.of(body.name) != "grounded"
        ]
        if not links:
            return
        has = "has" if len(links) == 1 else "have"
        yield links_finding(
            self,
            self.severity,
            scene,
            links,
            f"{counted(len(links), 'link')} {has} the placeholder inertia 1, 1, 1 kg·m²: {listed(links)}",
            "inertia",
            "inertial",
            help="write the inertia that follows from mass and shape",
            evidence={"links": links},
        )


_HELP_OF_MB105 = "compare the units and the reference point with the system it was exported from"


class InertiaFarFromMesh(Rule):
    """The inertia of a link is far from that of its shape.

    What it does
    ------------
    Assumes that the link's collision shapes (else the visual ones) are solid, with uniform density and the stated
    mass. Reports a principal moment that differs by more than a factor of 10, a moment about an axis of the link
    that no body within the box around its shapes can have (by a factor of 1.5; of 1.2 where it would fit if it were
    about the origin of the link), and a centre of mass that
    lies outside the shape's bounding box by more than the size of the box. Meshes that cannot be read, and
    inertias that another rule reports, are skipped. All links of a file are one finding for each of the two.

    Why it matters
    --------------
    Frequent causes are millimetres read as metres, an inertia about the joint instead of the centre of mass, or a
    missing digit.

    Example
    -------
    A box of 0.1 m and 1 kg with ``ixx="1.67"`` instead of ``0.00167``.

    Remedy
    ------
    Compare units and reference point with the CAD system; the inertia of a hollow link differs as well, but by less.

    References
    ----------
    Moments of inertia of box, ball, cylinder and capsule in closed form; of meshes as sums over their triangles.
    Largest moment of a body in a box of edges a, b, c about an axis through its centre: m (b² + c²)/4.
    """

    code, name = "MB105", "inertia-far-from-mesh"
    severity: Severity = "note"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding for the moments of all links, and one for their centres of mass."""
        found = shapes.compared_with_shapes(scene)
        far = [comparison for comparison in found if comparison.far]
        outside = [comparison for comparison in found if comparison.outside]
        if far:
            words = [c.far for c in far]
            yield _finding_of_mb105(
                self, scene, far, words, "an inertia far from that of a solid of {its} shape", "inertia"
            )
        if outside:
            words = [c.outside for c in outside]
            yield _finding_of_mb105(
                self, scene, outside, words, "a centre of mass far outside {its} shape", "inertial"
            )


def _finding_of_mb105(
    rule: Rule, scene: Scene, found: Sequence[shapes.Comparison], words: Sequence[str], what: str, part: str
) -> Finding:
    links = [f"{c.body.name} ({text})" for c, text in zip(found, words, strict=True)]
    has, its = ("has", "its") if len(found) == 1 else ("have", "their")
    compared = {c.body.name: c.evidence for c in found}
    return links_finding(
        rule,
        rule.severity,
        scene,
        list(compared),
        f"{counted(len(found), 'link')} {has} {what.format(its=its)}: {listed(links)}",
        part,
        "inertial",
        help=_HELP_OF_MB105,
        evidence={**found[0].evidence, "links": compared},
    )


class MasslessLink(Rule):
    """Links that move have no mass.

    What it does
    ------------
    Lists the links without ``<inertial>`` that can move and have no body with mass fixed to them. It is a note for
    the root of a robot whose base nothing frees. Frames that are fixed to a mass are not listed.

    Why it matters
    --------------
    A massless body that moves by itself has no equation of motion, and its motion cannot be simulated.
    PyBullet gives each such link 1 kg and 1 kg·m² without a warning.

    Example
    -------
    ``<link name="finger"/>`` behind a prismatic joint.

    Remedy
    ------
    Write an ``<inertial>``; hold the base of a robot that is bolted down with ``--base fixed``.

    References
    ----------
    URDF: a link without ``<inertial>`` has zero mass; PyBullet's importer gives it mass.
    """

    code, name = "MB109", "massless-link"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding for the links that move, and one for the roots."""
        stated = {body.name: states_inertial(scene, body) for body in scene.mechanism.bodies}
        without = [name for name, written in stated.items() if not written and not is_made(scene, name)]
        if not without:
            return
        carriages = Carriages(scene)
        # a stated zero mass is reported by MB101, also for frames fixed to that link
        own = [name for name in without if not any(stated[other] for other in carriages.together(name))]
        moving = [name for name in own if carriages.of(name) == "moving"]
        roots = [name for name in own if carriages.of(name) == "root"]
        if moving:
            yield _finding_of_mb109(
                self,
                scene,
                self.severity,
                moving,
                f"{counted(len(moving), 'link')} without mass {'moves' if len(moving) == 1 else 'move'}, and "
                f"PyBullet gives each 1 kg: {listed(moving)}",
                "write an <inertial>, or fix the link to a body with mass",
            )
        if roots:
            yield _finding_of_mb109(
                self,
                scene,
                "note",
                roots,
                f"{counted(len(roots), 'root link')} without mass {'is' if len(roots) == 1 else 'are'} free to "
                f"move, and PyBullet gives each 1 kg: {listed(roots)}",
                "hold the base with --base fixed, or write an <inertial>",
            )


def _finding_of_mb109(
    rule: Rule, scene: Scene, severity: Severity, links: list[str], message: str, help: str
) -> Finding:
    evidence = {"links": links, "without_any_mass": links}
    return links_finding(rule, severity, scene, links, message, help=help, evidence=evidence)
