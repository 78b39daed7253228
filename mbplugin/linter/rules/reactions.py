"""Rules about brakes, and about reactions that a rigid model cannot determine and the bodies that carry them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import isfinite

import numpy as np

from mbplugin.analysis import Analysis
from mbplugin.constraints.rank import rank_blocks
from mbplugin.constraints.reduction import velocity_transformation
from mbplugin.constraints.rows import plane_columns
from mbplugin.errors import MbPluginError
from mbplugin.joint_reactions import spring_loads
from mbplugin.linter.checks.loops import gravity_pull
from mbplugin.linter.checks.snapping import block_place, format_of, non_unique, redundant_blocks
from mbplugin.linter.rule import (
    ELEMENTS,
    Finding,
    Rule,
    Severity,
    body_place,
    constraint_place,
    listed,
    make_finding,
)
from mbplugin.model import Array, Brake, Lock, Mechanism, Scene, units_of
from mbplugin.model.mechanism.kinematics import forward, unbraked_joints
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


#: Number of random poses added if there are springs, whose loads the search does not maximize.
_SAMPLES = 64


class BrakeWeakerThanGravity(Rule):
    """A brake cannot hold its joint against gravity in a pose that the joint limits allow.

    What it does
    ------------
    Compares the static torque of every brake of a scene (wear included) with the torque of gravity on its
    joint, payloads and springs included, in the pose within the limits in which it is largest ("up to"): many poses
    climb to it, the same ones in every run. Where springs pull too, 64 more poses are tried; then, and where joints
    are coupled, unlimited or of several freedoms, and stay where they are, it is "at least" that torque. Joints of
    loops are omitted, because they share their loads.

    Why it matters
    --------------
    If gravity is stronger, an arm sinks after power-off, or slips back after a stop that seemed complete.

    Example
    -------
    A shoulder brake of 20 N·m under a forearm and payload with a gravity torque of 31 N·m when stretched out.

    Remedy
    ------
    State the real static torque, or keep the arm out of these poses; ``mbplugin estop`` computes how far it
    slips.

    References
    ----------
    mueller2026, section 1: brakes as locks assume that they hold.
    """

    code, name = "MB601", "brake-weaker-than-gravity"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per weak brake."""
        mech = scene.mechanism
        brakes = [(brake, holds) for brake in scene.brakes if (holds := _static(scene, brake)) is not None]
        if analysis is None or not brakes or mech.tree.cut:
            return
        poses, certain = _poses(scene, analysis.q, [brake.joint for brake, _ in brakes])
        loads = np.abs([_gravity(scene, q) for q in poses])
        for brake, holds in brakes:
            rate = mech.tree.joint_of_pair[brake.joint].qd.start
            worst = int(loads[:, rate].argmax())
            if loads[worst, rate] <= holds * (1 + 1e-9):
                continue
            unit = units_of(mech.pair_by_name[brake.joint].kind.free[0]).force
            yield make_finding(
                self,
                self.severity,
                f"the brake of {brake.joint!r} holds {holds:.4g} {unit}, gravity pulls with"
                f" {'up to' if certain else 'at least'} {loads[worst, rate]:.4g} {unit} at a pose within the limits",
                element=brake.joint,
                origin=constraint_place(scene, brake.joint),
                evidence={
                    "static": holds,
                    "gravity": float(loads[worst, rate]),
                    "q": dict(zip(mech.q_names, poses[worst].tolist(), strict=True)),
                },
                help="state its real static torque, or keep the arm out of these poses",
            )


def _static(scene: Scene, brake: Brake) -> float | None:
    """Return the holding torque or force of a brake, N·m or N; None if unknown."""
    pair = scene.mechanism.pair_by_name[brake.joint]
    if len(pair.kind.free) != 1:
        return None
    stated = brake.torque if brake.static_torque is None else brake.static_torque
    value = pair.freedoms[0].effort if stated is None else stated
    return brake.wear * value if np.isfinite(value) else None


def _poses(scene: Scene, q: Array, joints: Sequence[str]) -> tuple[list[Array], bool]:
    """Return poses, from q (nq,), with the largest gravity loads on joints, and True if they are the maxima."""
    mech = scene.mechanism
    pull, names, whole = gravity_pull(mech, scene.payloads, q)
    moved = pull.hardest([names.index(name) for name in joints])
    if scene.springs:
        moved = np.vstack((moved, pull.starts(_SAMPLES)))
    poses = np.tile(q, (len(moved), 1))
    poses[:, [mech.tree.joint_of_pair[name].q.start for name in names]] += moved
    return list(poses), whole and not scene.springs


def _gravity(scene: Scene, q: Array) -> Array:
    """Return the forces (nv,) of gravity and springs on the joint rates at q (nq,), N·m and N."""
    mech = scene.mechanism
    poses = forward(mech, q)
    S = velocity_transformation(mech, poses).reshape(len(mech.bodies), 6, -1)
    total = np.zeros(S.shape[2])
    for i, body in enumerate(mech.bodies):
        total += body.mass * mech.gravity @ S[i, :3]
    for payload in scene.payloads:
        i = mech.body_index[payload.body]
        arm = poses.p_WL[i] + poses.R_WL[i] @ payload.com - poses.p_WC[i]
        weight = payload.mass * mech.gravity
        total += weight @ S[i, :3] + np.cross(arm, weight) @ S[i, 3:]
    for load in spring_loads(mech, scene.springs, q, np.zeros(len(mech.qd_names))):
        i = mech.body_index[load.body]
        arm = poses.of(i).apply(load.point) - poses.p_WC[i]
        total += load.force @ S[i, :3] + (load.torque + np.cross(arm, load.force)) @ S[i, 3:]
    return np.asarray(total)


class RedundantBrakes(Rule):
    """The brakes of a scene are redundant constraints: their impulses and holding torques are non-unique.

    What it does
    ------------
    Locks all braked joints at once and compares the degree of redundancy with that of the mechanism with
    released brakes.

    Why it matters
    --------------
    With all brakes engaged, the remaining motion is unique, but the impulses and holding torques are not:
    the shares of the brakes depend on stiffness and on the order in which they engage. A rigid model is then
    no basis for the dimensions of a single brake.

    Example
    -------
    Brakes on both cranks of a four-bar; two arms that hold one part, with brakes on all their joints.

    Remedy
    ------
    Brake as many joints as the mechanism has degrees of freedom, or state the stiffness of its parts.

    References
    ----------
    mueller2026, sections 3 and 8: redundant activation is not treated there; wojtyra2013, section 3.
    """

    code, name = "MB602", "redundant-brakes"
    severity: Severity = "note"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield at most one finding."""
        mech = scene.mechanism
        locked = {lock.joint for lock in mech.locks}
        pairs = mech.pair_by_name
        braked = [b.joint for b in scene.brakes if len(pairs[b.joint].kind.free) == 1]
        # remove duplicates, since several brakes may act on one joint
        joints = [joint for joint in dict.fromkeys(braked) if joint not in locked]
        if analysis is None or not joints or not mech.tree.cut:
            return
        closed = replace(mech, locks=(*mech.locks, *(Lock(joint) for joint in joints)))
        more = _redundancy(closed, analysis) - _redundancy(mech, analysis)
        if more <= 0:
            return
        yield make_finding(
            self,
            self.severity,
            f"with all brakes closed {counted(more, 'constraint')} too many hold, so the shares of the brakes"
            f" are not determined: {listed(joints)}",
            element=joints[0],
            origin=constraint_place(scene, joints[0]),
            evidence={"redundant": more, "brakes": joints},
            help="brake as many joints as there are degrees of freedom, or state the stiffness of the parts",
        )


def _redundancy(mech: Mechanism, analysis: Analysis) -> int:
    blocks = rank_blocks(mech, forward(mech, analysis.q), plane_columns(None), analysis.tolerance, analysis.q)
    return sum(block.redundancy for block in blocks)


class AssumedBrake(Rule):
    """A brake states no torque: stops are computed with the effort limit instead.

    What it does
    ------------
    Lists the brakes of a scene without ``torque``.

    Why it matters
    --------------
    The effort limit belongs to the drive, not to its brake. The stops that the maker of two arms publishes take up
    to seven times as long as stops with the effort limits of their URDF.

    Example
    -------
    ``[[brake]]`` with ``joint`` and ``delay`` only.

    Remedy
    ------
    State ``torque`` from the data sheet, and ``static_torque`` if it is different.

    References
    ----------
    IEC 60204-1: stop categories; the brake data come from the manufacturer.
    """

    code, name = "MB603", "assumed-brake"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield at most one finding, with all brakes."""
        pairs = scene.mechanism.pair_by_name
        efforts = {b.joint: pairs[b.joint].freedoms[0].effort for b in scene.brakes if b.torque is None}
        if not efforts:
            return
        names, one = list(efforts), len(efforts) == 1
        shown = listed([f"{name} ({effort:g})" for name, effort in efforts.items()])
        yield make_finding(
            self,
            self.severity,
            f"{counted(len(names), 'brake')} {'states' if one else 'state'} no torque, and "
            f"{'its' if one else 'their'} stops are computed with the effort limit: {shown}",
            element=names[0],
            origin=constraint_place(scene, names[0]),
            evidence={"effort": efforts[names[0]], ELEMENTS: names, "efforts": efforts},
            help="state torque, from the data sheet of the brake",
        )


class NoBrake(Rule):
    """A joint has an effort limit of 0 and no brake: stops are computed without a brake on it.

    What it does
    ------------
    In a robot whose other joints have brakes or effort limits, lists the joints that can move, have an effort
    limit of 0 and no ``[[brake]]``. Joints that are locked, or moved by a mimic or gear, are omitted.

    Why it matters
    --------------
    Without a stated brake, a stop assumes one that slides with the effort limit. With 0 there is none: the
    joint continues to swing after the stop. Many files state 0 only because the format requires a number.

    Example
    -------
    ``<limit lower="-2" upper="2" effort="0" velocity="1"/>`` on the elbow of an arm.

    Remedy
    ------
    State the effort limit, or a ``[[brake]]`` with its torque in a scene; if the joint is passive, ignore
    this rule.

    References
    ----------
    IEC 60204-1: stop categories; URDF specification: ``effort`` is required in ``<limit>``.
    """

    code, name = "MB604", "no-brake"
    severity: Severity = "note"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield at most one finding, with all joints."""
        mech = scene.mechanism
        if not scene.brakes and not _has_drives(mech):
            return
        joints = list(unbraked_joints(mech, {brake.joint for brake in scene.brakes})[0])
        if not joints:
            return
        one = len(joints) == 1
        yield make_finding(
            self,
            self.severity,
            f"{counted(len(joints), 'joint')} {'has' if one else 'have'} no brake in a stop, because "
            f"{'its' if one else 'their'} effort limit is 0 and no [[brake]] is stated: {listed(joints)}",
            element=joints[0],
            origin=constraint_place(scene, joints[0]),
            evidence={"effort": 0.0, ELEMENTS: joints},
            help="state its effort limit or a [[brake]]; ignore this where the joint is passive",
        )


def _has_drives(mech: Mechanism) -> bool:
    """Return True if any joint has a finite effort limit above 0."""
    efforts = (freedom.effort for pair in mech.pairs for freedom in pair.freedoms)
    return any(0.0 < effort < float("inf") for effort in efforts)
