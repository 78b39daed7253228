"""Rules about contacts: forces that the rigid model leaves open, and contacts that cannot hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from mbplugin import phrases
from mbplugin.analysis import Analysis
from mbplugin.errors import BadUsage, MbPluginError
from mbplugin.linter import rule
from mbplugin.model import Scene
from mbplugin.phrases import counted, shortened

if TYPE_CHECKING:
    from mbplugin.joint_reactions.values import ConstraintReaction, Reactions

#: Contacts with their intervals in a message; the evidence has all.
_NAMED = 3
#: Longest name in a message, characters.
_LONGEST = 30
#: Bounds below this fraction of the largest one are zero in a message.
_ZERO = 1e-5
_NORMAL = "cn"


class NonUniqueContactForce(rule.Rule):
    """Forces of contacts are not determined by the rigid model.

    What it does
    ------------
    Computes the forces of all contacts at rest, at the pose and under the loads of the scene, and lists those that can
    change without a change of the motion, each with the smallest and the largest value that pushing, friction and
    the effort limits of drives allow. The contacts are those of ``[[contact]]`` tables, of ``--stance`` (``stance=``),
    or of a live client (``contacts=True``). Joints whose reactions are open only because of the contacts are counted.

    Why it matters
    --------------
    A simulator prints one of infinitely many distributions of the load over four feet or wheels; another one, or
    another time step, prints another. The numbers are no basis for a gait, a grasp, or the dimensions of a leg.

    Example
    -------
    A table of weight W on four legs, its center of mass in the middle: each leg carries something from 0 to W/2.

    Remedy
    ------
    Use the bounds that ``mbplugin reactions`` prints, or a compliance of the legs; three feet without friction
    have one solution.

    References
    ----------
    wojtyra2013 (21) to (27), with contacts that hold as constraints beside the joints.
    """

    code, name = "MB303", "non-unique-contact-force"
    severity: rule.Severity = "note"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[rule.Finding]:
        """Yield at most one finding."""
        if analysis is None or not scene.contacts:
            return
        forces = _at_rest(scene).forces
        if forces is None:
            return
        open_in = {c.name: names for c in forces.constraints if (names := _open(c))}
        contacts = {c.name for c in scene.contacts}
        own = [forces[name] for name in open_in if name in contacts]
        if not own:
            return
        pressing = [c for c in own if _NORMAL in open_in[c.name]]
        shown = pressing or own
        alone = {verdict.name for verdict in analysis.constraints if not verdict.unique}
        also = [name for name in open_in if forces[name].kind == "pair" and name not in alone]
        with_them = f"; so are the reactions of {counted(len(also), 'joint')} because of them" if also else ""
        names = [c.name for c in own]
        ends = [end for c in shown for end in (c[open_in[c.name][0]].lower, c[open_in[c.name][0]].upper)]
        zero = _ZERO * max((abs(end) for end in ends if end is not None), default=0.0)
        yield rule.make_finding(
            self,
            self.severity,
            f"the {'normal' if pressing else 'friction'} forces of {counted(len(shown), 'contact')} are not unique in "
            "a rigid model, so a simulator's numbers are arbitrary within bounds: "
            f"{phrases.listed([_interval(c, open_in[c.name][0], zero) for c in shown], _NAMED)}{with_them}",
            element=names[0],
            origin=rule.constraint_place(scene, names[0]),
            evidence={
                rule.ELEMENTS: names,
                "redundant": forces.degree_of_redundancy,
                "bounds_N": {
                    c.name: {k: [c[k].lower, c[k].upper] for k in open_in[c.name] if c[k].unit == "N"}
                    for c in own
                },
                "joints": also,
            },
            help="use the bounds of mbplugin reactions, or model the compliance of the legs",
        )


class ContactsCannotHold(rule.Rule):
    """Contacts cannot hold what stands on them.

    What it does
    ------------
    Looks for forces that balance the loads of the scene at rest, push at every contact and stay within friction.
    Where there are none, it says about which line the body tips, or which contacts slip and how much friction they
    need. Scenes whose contacts slip or separate at the stated rates are left to MB302.

    Why it matters
    --------------
    An analysis with these contacts assumes a state in which the robot cannot be: in a simulation it falls or slips.

    Example
    -------
    A table whose load stands outside of its legs tips about the line through the nearest two.

    Remedy
    ------
    State the contacts that remain closed, move the load between them, or state the friction that is there.

    References
    ----------
    Forces on the contacts exist only if the linear program of their inequalities is feasible.
    """

    code, name = "MB304", "contacts-cannot-hold"
    severity: rule.Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[rule.Finding]:
        """Yield at most one finding."""
        if analysis is None or not scene.contacts:
            return
        error = _at_rest(scene).error
        if error is None:
            return
        names = [contact.name for contact in scene.contacts]
        yield rule.make_finding(
            self,
            self.severity,
            error.what
            if error.what.startswith("the contacts")
            else f"the contacts do not hold: {error.what}",
            element=names[0],
            origin=rule.constraint_place(scene, names[0]),
            evidence={rule.ELEMENTS: names, "expected": error.expected},
            help=error.remedy or f"expected: {error.expected}",
        )


@dataclass(frozen=True, eq=False)
class _Standing:
    """The forces at rest, or the error that there are none; neither where the contacts move or the pose is unusable."""

    forces: Reactions | None = None
    error: BadUsage | None = None


@lru_cache(maxsize=1)
def _at_rest(scene: Scene) -> _Standing:
    """Return the forces of a scene with contacts at rest; two rules ask for those of one scene in turn."""
    # a lint without contacts does not need the linear programs
    from mbplugin.joint_reactions import closed_state
    from mbplugin.joint_reactions.contact_bounds import contact_states
    from mbplugin.joint_reactions.run import reactions
    from mbplugin.readers.contact_points import compare_points

    try:
        state = closed_state(scene, None, None, None, None, None)
        if any(one.state != "holds" for one in contact_states(state, scene.contacts)[1]):
            return _Standing()
        stated = [c for c in scene.contacts if rule.constraint_place(scene, c.name) is not None]
        compare_points(scene, state.mech, state.motion.poses, stated)
        still = replace(scene, state=replace(scene.state, qd=np.zeros_like(scene.state.qd)))
        return _Standing(forces=reactions(still, contacts=True, estimate=False))
    except BadUsage as error:
        return _Standing(error=error)
    except MbPluginError:
        # a loop that does not close has a finding of its own
        return _Standing()


def _open(reaction: ConstraintReaction) -> list[str]:
    """Return the components of a reaction that have no single value."""
    return [c.name for c in reaction.components if c.value is None]


def _interval(reaction: ConstraintReaction, name: str, zero: float) -> str:
    """Format the bounds of a component of a contact; smaller ones than ``zero`` are rounding."""
    component = reaction[name]
    ends = [
        "unlimited" if end is None else f"{0.0 if abs(end) < zero else end:.4g}"
        for end in (component.lower, component.upper)
    ]
    which = "" if name == _NORMAL else f" {name}"
    who = shortened(reaction.name.removeprefix("contact "), _LONGEST)
    return f"{who}{which} {ends[0]} … {ends[1]} {component.unit}"
