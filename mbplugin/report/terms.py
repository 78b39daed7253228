"""The terms used in outputs, each defined once; pages and the documentation link to these definitions."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Term:
    """A term: its name, its meaning, and other forms of it in outputs."""

    name: str
    meaning: str
    forms: tuple[str, ...] = ()

    @property
    def anchor(self) -> str:
        """The name as a URL fragment."""
        return re.sub(r"[^a-z0-9]+", "-", self.name.lower()).strip("-")

    @property
    def words(self) -> tuple[str, ...]:
        """The name, then all other forms."""
        return (self.name, *self.forms)


def _term(name: str, meaning: str, *forms: str) -> Term:
    return Term(name, meaning, forms)


#: Sorted by subject: verdicts, reactions, mechanisms, motions, stops, comparisons.
TERMS: tuple[Term, ...] = (
    _term(
        "redundant constraint",
        "A constraint row that restrains only what other rows already restrain. It changes no motion, but it makes"
        " joint reactions undetermined in a rigid model.",
        "redundant constraints",
        "overconstrained",
        "overconstraint",
    ),
    _term(
        "degree of redundancy",
        "The number p of redundant constraints: rows less rank.",
        "degrees of redundancy",
    ),
    _term(
        "mobility",
        "The number of independent motions at a pose. To first order it is columns less rank; in fact it may be less.",
        "degrees of freedom",
    ),
    _term(
        "Grübler",
        "Columns less rows: the mobility if all rows were independent. It is less than the mobility by the degree of"
        " redundancy.",
        "Grübler's number",
        "Grübler's formula",
    ),
    _term(
        "rank tolerance",
        "Relative to the largest singular value of the constraint matrix: rows whose singular value is smaller count"
        " as dependent.",
        "tolerance",
        "relative tolerance",
    ),
    _term(
        "plateau",
        "A range of tolerances in which the degree of redundancy does not change. One wide plateau: the result"
        " does not depend on the tolerance.",
        "plateaus",
    ),
    _term(
        "singular configuration",
        "A pose at which the rank is lower than at poses nearby: some motions exist only there.",
        "singular pose",
        "singular configurations",
    ),
    _term(
        "structural redundancy",
        "The degree of redundancy at the largest rank that was found over sampled poses.",
    ),
    _term(
        "unique reaction",
        "A joint force or moment that the equations of rigid bodies determine; every accurate simulator gives it.",
        "reaction unique",
        "unique reactions",
        "unique",
    ),
    _term(
        "non-unique reaction",
        "A joint force or moment that the equations of rigid bodies do not determine; what a simulator prints for it"
        " is arbitrary.",
        "reactions not unique",
        "non-unique reactions",
        "reaction not unique",
        "non-unique",
        "non-unique components",
        "not unique",
    ),
    _term(
        "self-stress",
        "Forces in the joints that are in equilibrium without any load. There is one for each redundant constraint.",
        "self-stresses",
    ),
    _term(
        "norm of B_X",
        "How much of the reaction of a joint X the self-stresses can change: zero where all of it is unique. The size"
        " of the joint's part of an orthonormal basis of them, lengths in characteristic lengths.",
        "norms of B_X",
    ),
    _term(
        "must be flexible",
        "Said of a body whose stiffness decides reactions that rigid bodies leave undetermined; the other bodies may"
        " stay rigid.",
        "bodies that must be flexible",
        "may stay rigid",
        "flexible bodies",
    ),
    _term(
        "misfit",
        "What a closing joint is off its place by manufacture or rounding, in m or rad. In a redundant loop it causes"
        " loads.",
        "misfits",
    ),
    _term(
        "remedy",
        "A change of joint types that removes redundant constraints and keeps the mobility, proved by an analysis.",
        "remedies",
    ),
    _term("group", "Constraints whose reactions are judged together, for example two hinges.", "groups"),
    _term(
        "wrench",
        "Force and moment of a joint on its successor, at the origin of its joint frame.",
        "joint reactions",
        "wrenches",
    ),
    _term(
        "component",
        "One direction of a joint: tx ty tz are forces (translations), rx ry rz moments (rotations), in axes of the"
        " predecessor's joint frame, z along the joint axis.",
        "components",
    ),
    _term("predecessor", "The body in whose joint frame a joint's components are written; body_a."),
    _term("successor", "The body on which a joint's reaction acts; body_b."),
    _term("pair", "A joint between two bodies: revolute, prismatic, spherical and so on.", "pairs"),
    _term("closure", "A pair that closes a loop of the tree of joints.", "closures"),
    _term("coupling", "A linear relation of joint rates, such as a gear or a mimic joint.", "couplings"),
    _term(
        "Pfaffian",
        "A constraint on velocities that is none on positions: a rolling wheel, a knife edge. The others are"
        " holonomic.",
        "nonholonomic",
        "holonomic",
    ),
    _term(
        "pose",
        "The places of all bodies, given by the joint coordinates q.",
        "poses",
    ),
    _term(
        "closure residual",
        "How far a loop is open, m or rad, in the pose of the file and in the one that is analyzed.",
        "closure residuals",
    ),
    _term(
        "constraint manifold",
        "All poses at which every loop is closed; a mechanism moves along it.",
    ),
    _term("lock", "A constraint that begins at an instant and holds a joint.", "locks"),
    _term(
        "event",
        "An instant at which a motion changes its equations: a lock, a brake, a limit, slip or stick.",
        "events",
    ),
    _term("impulse", "A force integrated over an impact, N·s or N·m·s.", "impulses"),
    _term(
        "stop category",
        "IEC 60204-1: 0 removes power at once and brakes; 1 stops by the drives and then removes power; 2 stops by"
        " the drives and keeps power.",
        "category",
        "stop categories",
    ),
    _term(
        "reaction time",
        "From the signal until braking starts, s; the reaction travel is covered in it.",
        "reaction travel",
    ),
    _term(
        "braking",
        "From the end of the reaction time until the joint is at rest.",
        "braking time",
        "braking travel",
    ),
    _term(
        "instant stop",
        "The usual simplification, naive, that sets the rate of a joint to zero at the instant its brake engages.",
        "tool error of an instant stop",
        "an instant stop would predict",
        "naive",
    ),
    _term(
        "swept corridor",
        "The box in world axes that the moving bodies sweep during a stop.",
        "swept volume",
    ),
    _term(
        "tool",
        "The point whose path a stop reports; if none is given, that of the outermost link, or of a base on wheels.",
        "tool path",
    ),
    _term("payload", "A mass that the tool carries, kg.", "payloads"),
    _term(
        "assumed brake",
        "A brake that the file does not state; its torque is then the effort limit. Real brakes are often weaker.",
        "assumed brakes",
        "assumed",
    ),
    _term(
        "order of convergence",
        "How the deviation from PyBullet falls with its step: order 1 halves it with half the step.",
        "orders",
        "observed orders of convergence",
    ),
    _term(
        "characteristic length",
        "The length by which distances are divided so that translations and rotations can be compared, m.",
    ),
)


def term_of(words: str) -> Term | None:
    """Return the term with these words, whatever their case; None if there is none."""
    return _BY_WORDS.get(words.lower())


_BY_WORDS = {form.lower(): term for term in reversed(TERMS) for form in term.words}
