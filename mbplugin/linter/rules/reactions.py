"""Rules about reactions that a rigid model cannot determine, and about the bodies that carry them."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite

from mbplugin.analysis import Analysis
from mbplugin.errors import MbPluginError
from mbplugin.linter.checks.simulators import format_of
from mbplugin.linter.checks.snapping import block_place, non_unique, redundant_blocks
from mbplugin.linter.rule import Finding, Rule, Severity, body_place, constraint_place, listed, make_finding
from mbplugin.model.scene import Scene
from mbplugin.phrases import counted
from mbplugin.simulation import ContactsOpen, MotionRange


class NonUniqueReaction(Rule):
    """Joint reactions are not determined by the rigid model.

    What it does
    ------------
    Lists, for every redundant block, the constraints whose reaction can change without a change of the
    motion. It is a note, because the redundancy that causes it is the warning MB201.

    Why it matters
    --------------
    A simulator still prints numbers for them: four engines give four answers for one four-bar, without a
    warning. They are not a basis for the dimensions of a bearing, brake or bolt. In MuJoCo the softness of its
    constraints (``solref``, ``solimp``) determines them, not the stiffness of the real parts.

    Example
    -------
    In a planar four-bar of four hinges ``tz``, ``rx`` and ``ry`` are undetermined in every hinge, ``tx`` and
    ``ty`` are determined.

    Remedy
    ------
    Remove the redundancy, or make the bodies between these constraints flexible and use the components
    that are determined.

    References
    ----------
    wojtyra2013 (21) to (27); pekal2024 (54).
    """

    code, name = "MB301", "non-unique-reaction"
    severity: Severity = "note"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per redundant block."""
        if analysis is None:
            return
        for ranked in redundant_blocks(analysis):
            verdicts = non_unique(analysis, ranked)
            if not verdicts:
                continue
            components = {v.name: [c.name for c in v.components if not c.unique] for v in verdicts}
            element, origin = block_place(scene, list(components))
            one = len(verdicts) == 1
            what = f"{len(verdicts)} {'reaction is' if one else 'reactions are'} not unique in a rigid model"
            if format_of(scene) == "mjcf":
                why = (
                    f"and MuJoCo's solref and solimp determine {'it' if one else 'them'}, not the real parts"
                )
            else:
                why = f"so a simulator's numbers for {'it' if one else 'them'} are arbitrary"
            yield make_finding(
                self,
                self.severity,
                f"{what}, {why}: {listed(list(components), 12, 120)}",
                element=element,
                origin=origin,
                evidence={
                    "components": components,
                    "indeterminate_dim": {v.name: v.indeterminate_dim for v in verdicts},
                },
                help=f"remove {counted(ranked.redundancy, 'redundant constraint')}, or state compliances",
            )


class FrictionOnNonUnique(Rule):
    """A joint or sliding contact with friction has a reaction that is not unique.

    What it does
    ------------
    Lists the pairs with stated friction whose reaction the rigid model does not determine, and the contacts that slip
    at the rates of the scene and leave its accelerations open. Where friction that grows with the load slides, the
    range of every open acceleration is given. Contacts that cannot stay closed while others slip are reported too: no
    motion with them exists.

    Why it matters
    --------------
    Friction in a real joint increases with its reaction, and with ``friction_coefficient`` that of the model does.
    If the reaction is arbitrary, so are the friction and the *motion* that a simulator computes, not only the forces.

    Example
    -------
    ``<dynamics friction="0.5"/>`` in the hinges of a planar four-bar.

    Remedy
    ------
    Remove the redundancy, or make the bodies around these joints flexible.

    References
    ----------
    wojtyra2013, section 1: with Coulomb friction in joints the simulated motion might be non-unique.
    pekal2024, section 1: friction that depends on load makes the motion non-unique.
    """

    code, name = "MB302", "friction-on-non-unique"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield at most one finding of joints, and one of contacts."""
        if analysis is None:
            return
        found = _open_accelerations(scene)
        if isinstance(found, ContactsOpen):
            yield self._of_opening(scene, found)
            found = None
        yield from self._of_contacts(scene, found)
        pairs = scene.mechanism.pair_by_name
        friction = {
            verdict.name: max(
                max(freedom.friction, freedom.load_friction) for freedom in pairs[verdict.name].freedoms
            )
            for verdict in analysis.constraints
            if not verdict.unique and verdict.name in pairs and pairs[verdict.name].freedoms
        }
        friction = {name: value for name, value in friction.items() if value > 0}
        if not friction:
            return
        names = list(friction)
        has = "has a reaction that is" if len(names) == 1 else "have reactions that are"
        by_joint = found is not None and set(found.sliding) & set(names)
        yield make_finding(
            self,
            self.severity,
            f"{counted(len(names), 'joint')} with friction {has} not unique, so friction that grows with the "
            f"load makes the motion arbitrary: {listed(names)}"
            + (f"; {found.words}" if found is not None and by_joint else ""),
            element=names[0],
            origin=constraint_place(scene, names[0]),
            evidence={
                "friction_N_m_or_N": friction,
                **(_ranges(found) if found is not None and by_joint else {}),
            },
            help="remove the redundancy, or make the bodies around these joints flexible",
        )

    def _of_opening(self, scene: Scene, error: ContactsOpen) -> Finding:
        """Return the finding that the contacts cannot stay closed while the body slides."""
        return make_finding(
            self,
            self.severity,
            f"the contacts cannot stay as they are at the rates of the scene, the body tips, lifts off or slips: "
            f"{error.what}",
            element=scene.contacts[0].name,
            help="state the contacts that stay closed in this motion, or change the load",
        )

    def _of_contacts(self, scene: Scene, found: MotionRange | None) -> Iterable[Finding]:
        """Yield the finding of contacts that slip, if their normal forces leave accelerations open."""
        contacts = {contact.name for contact in scene.contacts}
        names = [name for name in found.sliding if name in contacts] if found is not None else []
        if found is None or not names:
            return
        yield make_finding(
            self,
            self.severity,
            f"the motion is not unique, since the friction of {counted(len(names), 'contact')} that "
            f"{'slips' if len(names) == 1 else 'slip'} depends on normal forces that the rigid model does not "
            f"determine: {found.words}",
            element=names[0],
            evidence=_ranges(found),
            help="let the body rest on three points, or give all contacts one coefficient of friction",
        )


def _open_accelerations(scene: Scene) -> MotionRange | ContactsOpen | None:
    """Return the range of the accelerations at the scene's state, or the error that contacts open.

    None if all accelerations are unique, or there is no motion.
    """
    if not scene.state.qd.any():
        return None
    # this module is slow to import, and few scenes need it
    from mbplugin.simulation.motion_range import acceleration_range

    try:
        return acceleration_range(scene)
    except ContactsOpen as error:
        return error
    except MbPluginError:
        # no range without a motion; a loop that does not close has a finding of its own
        return None


def _ranges(found: MotionRange) -> dict[str, object]:
    """Return the evidence of a range; an infinite end is null."""
    return {
        "accelerations": {
            one.name: {
                "lower": one.lower if isfinite(one.lower) else None,
                "upper": one.upper if isfinite(one.upper) else None,
                "unit": one.unit,
                "exact": one.exact,
            }
            for one in found.accelerations
        }
    }


class FlexibleBodies(Rule):
    """Some bodies must be modelled as flexible to obtain correct reactions.

    What it does
    ------------
    Lists the bodies on which some reaction is not unique. All others may stay rigid in a hybrid model. It is a
    note, because the redundancy that causes it is the warning MB201.

    Why it matters
    --------------
    The compliance of these bodies determines how the load divides among redundant constraints; a
    model with one of them rigid gives arbitrary reactions of that body.

    Example
    -------
    In a spatial parallelogram with a fourth rod, the four rods and the platform, but not a load attached to it.

    Remedy
    ------
    Make them flexible, or remove the redundancy.

    References
    ----------
    pekal2024, section 4.
    """

    code, name = "MB401", "flexible-bodies"
    severity: Severity = "note"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield at most one finding."""
        if analysis is None:
            return
        flexible = [body.name for body in analysis.bodies if not body.may_stay_rigid]
        if not flexible:
            return
        yield make_finding(
            self,
            self.severity,
            f"model {len(flexible)} of the {len(analysis.bodies)} bodies as flexible if you need joint forces: "
            f"{listed(flexible, 12)}",
            element=flexible[0],
            origin=body_place(scene, flexible[0]),
            evidence={"bodies": flexible},
            help="state their stiffness, or remove the redundancy; the other bodies may stay rigid",
        )
