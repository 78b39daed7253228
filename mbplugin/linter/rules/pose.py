"""Rules about the pose in which loops are judged."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from mbplugin.analysis import Analysis
from mbplugin.constraints.closure import Assembly, Paths, constraints_to_close, coupling_metres
from mbplugin.constraints.rank import RankedBlock, Spectrum
from mbplugin.linter.checks import snapping
from mbplugin.linter.rule import (
    ELEMENTS,
    Finding,
    Rule,
    Severity,
    constraint_place,
    listed,
    make_finding,
    model_place,
)
from mbplugin.model import Coupling, RowLabel, Scene, units_of
from mbplugin.phrases import counted

#: Literals with errors below this fraction of the largest error are only warnings.
_MINOR = 0.1


class RoundedAngle(Rule):
    """A rounded angle decides whether a loop is redundant.

    What it does
    ------------
    For loops with singular values near the tolerance, reads the file again with rounded angles replaced by
    the nearest simple fractions of π. If this reduces such a singular value to a tenth or less, the rule reports
    the literals: one finding per value, with all its places in the file. A value whose error is below a tenth of
    the worst one in its loops is a warning, because it matters only after the others are corrected. The message
    has the gap that all rounded angles make where the loops stand as meant; ``lint -v`` has the loads that it causes.

    Why it matters
    --------------
    ``1.57075`` is 4.6e-5 rad less than π/2. Axes that should be parallel are then not parallel: the
    constraint is redundant by intent and inconsistent by rounding, and a solver that includes it locks the
    loop or loads it with large forces.

    Example
    -------
    ``<origin rpy="1.57075 0 3.141592" …/>`` in PyBullet's minitaur.urdf.

    Remedy
    ------
    Write the angle with 16 digits, ``1.5707963267948966``; meanwhile analyze with ``--snap-angles``.

    References
    ----------
    wojtyra2013 (6): with rounded data the rank is a statement at a tolerance.
    """

    code, name = "MB501", "rounded-angle"
    severity: Severity = "error"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per distinct rounded value."""
        if analysis is None:
            return
        caused = snapping.made_by_rounding(scene, analysis)
        literals = [literal for ranked, _ in caused for literal in snapping.rounded_literals(scene, ranked)]
        worst = max((abs(literal.angle.error) for literal in literals), default=0.0)
        by_value: dict[str, list[snapping.RoundedLiteral]] = {}
        for literal in literals:
            by_value.setdefault(literal.angle.literal.lstrip("+-"), []).append(literal)
        gap = snapping.largest_gap(scene, analysis) if literals else None
        for same in by_value.values():
            minor = abs(same[0].angle.error) < _MINOR * worst
            yield _finding(
                self,
                same,
                caused,
                analysis.tolerance,
                "warning" if minor else self.severity,
                None if minor else gap,
            )


def _finding(
    rule: Rule,
    same: Sequence[snapping.RoundedLiteral],
    caused: Sequence[tuple[RankedBlock, Spectrum]],
    tolerance: float,
    severity: Severity,
    gap: tuple[RowLabel, float] | None,
) -> Finding:
    first = same[0]
    angle, names = first.angle, list(dict.fromkeys(literal.name for literal in same))
    values = [value for ranked, _ in caused for _, value in snapping.suspect_values(ranked, tolerance)]
    written = sum(ranked.spectrum.redundancy(snapping.ZERO) for ranked, _ in caused)
    meant = sum(spectrum.redundancy(tolerance) for _, spectrum in caused)
    return make_finding(
        rule,
        severity,
        f'{first.part}="{first.origin.text}" of {first.name} stands for {angle.name}: {angle.literal} is '
        f"{abs(angle.error):.2g} rad off, in {counted(len(names), 'joint')} of "
        f"{counted(len(caused), 'loop')} with a degree of redundancy of {meant} as meant, and {written} as written"
        f" at tolerances below {min(values):.2g}{_words(gap)}",
        element=first.name,
        origin=first.origin,
        evidence={
            "literal": angle.literal,
            "stands_for": angle.name,
            "meant_rad": angle.meant,
            "error_rad": angle.error,
            "joints": names,
            "places": [
                {
                    "file": literal.origin.file,
                    "line": literal.origin.line,
                    "joint": literal.name,
                    "text": literal.origin.text,
                }
                for literal in same
            ],
            "degree_of_redundancy_meant": meant,
            "degree_of_redundancy_written": written,
            "gap": None if gap is None else [*gap[0], abs(gap[1])],
        },
        help=f"write {angle.meant!r}, or analyze as meant with --snap-angles",
    )


def _words(gap: tuple[RowLabel, float] | None) -> str:
    """Return the largest gap due to all rounded angles together, in words; empty if there is none."""
    if gap is None:
        return ""
    (constraint, component), size = gap
    unit = "m" if component.startswith("t") else "rad"
    return f"; together they are a gap of {1e6 * abs(size):.2g} µ{unit} at {constraint} {component}"


#: A tolerance this many times the largest singular value leaves no doubt about the rank.
_FAR = 100.0


class NearRedundancy(Rule):
    """The degree of redundancy depends on the rank tolerance.

    What it does
    ------------
    Reports singular values of the scaled closure Jacobian between 1e-10 and ten times the tolerance, with the
    plateaus of p over the tolerance and the tolerances at which it jumps. It is a note if rounded angles cause
    all of them, which MB501 reports, or if the tolerance is more than a hundred times the largest: then they are
    the rounding of frames in single precision or in a few digits.

    Why it matters
    --------------
    Such a mechanism is redundant by intent but not in its numbers, or nearly redundant at this pose. A
    solver that includes the constraint computes large forces from a misfit of micrometres; one that does not
    obtains another number of freedoms.

    Example
    -------
    PyBullet's Minitaur with closed feet: p = 0 at a tolerance of 1e-7 and p = 4 at 1e-4.

    Remedy
    ------
    Correct rounded angles (rule MB501 names them), or give another ``--tolerance`` and state the reason.

    References
    ----------
    wojtyra2013 (6): the rank is a statement at a tolerance.
    """

    code, name = "MB502", "near-redundancy"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield at most one finding, for all blocks together."""
        if analysis is None:
            return
        suspects = {b: snapping.suspect_values(b, analysis.tolerance) for b in analysis.blocks}
        blocks = [b for b in analysis.blocks if suspects[b]]
        if not blocks:
            return
        values = sorted(value for found in suspects.values() for _, value in found)
        strict = sum(b.spectrum.redundancy(snapping.ZERO) for b in analysis.blocks)
        loose = sum(b.spectrum.redundancy(values[-1] * 1.001) for b in analysis.blocks)
        element, origin = snapping.block_place(scene, blocks[0].block.constraints)
        spread = (
            f"{values[0]:.2g}" if values[-1] < 1.05 * values[0] else f"{values[0]:.2g} … {values[-1]:.2g}"
        )
        rounded = {id(ranked) for ranked, _ in snapping.made_by_rounding(scene, analysis)}
        clear = all(id(ranked) in rounded for ranked in blocks) or values[-1] * _FAR < analysis.tolerance
        yield make_finding(
            self,
            "note" if clear else self.severity,
            f"the degree of redundancy depends on the tolerance: it is {strict} below and {loose} above "
            f"{spread}, where {counted(len(values), 'singular value')} of {counted(len(blocks), 'loop')} "
            f"{'lies' if len(values) == 1 else 'lie'}; the tolerance is {analysis.tolerance:g}",
            element=element,
            origin=origin,
            evidence={
                "relative_singular_values": values,
                "tolerance": analysis.tolerance,
                "degree_of_redundancy_below": strict,
                "degree_of_redundancy_above": loose,
                "blocks": [list(b.block.constraints) for b in blocks],
            },
            help="correct rounded angles in these loops (MB501), or choose --tolerance on the side you mean",
        )


class SingularPose(Rule):
    """The pose is singular: constraints are dependent here that are independent nearby.

    What it does
    ------------
    Compares the rank at the pose with that at sampled poses around it.

    Why it matters
    --------------
    At a singular pose the mechanism gains an instantaneous freedom and may change its branch, and forces are
    unbounded near it. Results on redundancy and reactions are valid at this pose only.

    Example
    -------
    A parallelogram four-bar folded flat; a car whose front wheels point straight ahead.

    Remedy
    ------
    Analyze at another pose with ``--q NAME=VALUE``, or keep the mechanism away from this one.

    References
    ----------
    mueller2026, definition 1; blajer1993, section 4.
    """

    code, name = "MB503", "singular-pose"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield at most one finding."""
        if analysis is None or not analysis.singular_pose:
            return
        here, generic = analysis.degree_of_redundancy, analysis.structural_redundancy
        yield make_finding(
            self,
            self.severity,
            f"the pose is singular: the degree of redundancy is {here} here and {generic} at poses around it, "
            f"so {here - generic} of the {analysis.dof} degrees of freedom "
            f"{'is' if here - generic == 1 else 'are'} instantaneous",
            element=scene.mechanism.name,
            origin=model_place(scene),
            evidence={
                "degree_of_redundancy": here,
                "structural_redundancy": generic,
                "mobility": analysis.dof,
                "dof": analysis.dof,
            },
            help="analyze at another pose with --q NAME=VALUE; verdicts on reactions hold at this pose only",
        )


#: Thresholds for gaps, relative to the characteristic length.
_ERROR, _WARNING = 1e-3, 1e-6


#: If closing leaves more than this fraction of a gap, it is a misfit due to rounding, which no pose would close.
_IMPROVED = 0.5


class UnassembledPose(Rule):
    """The pose of the file does not close its loops.

    What it does
    ------------
    Compares the gaps of all closures and couplings at the pose of the file with those at the computed closed pose.
    A gap above 1e-3 of the mechanism's characteristic length is an error, one above 1e-6 a warning. It is a note
    for URDF and xacro, which state no joint positions, and for a mimic with an offset in SDF; and if coordinates
    were given and kept, and only others moved: this is the usual way to set a pose.

    Why it matters
    --------------
    An engine that starts there closes the loop with an impact, and the rank at a pose that is not
    assembled is not valid.

    Example
    -------
    A scene with a delta robot whose joints are all at zero, with its feet 0.2 m apart.

    Remedy
    ------
    Store the closed pose in ``[state]`` of a scene, which ``mbplugin lint FILE --write-scene SCENE`` writes, or pass
    it with ``--q``.

    References
    ----------
    wojtyra2013 (1): the constraint equations hold at an assembled pose.
    """

    code, name = "MB504", "unassembled-pose"
    severity: Severity = "error"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield at most one finding, at the widest gap."""
        if analysis is None or not analysis.assembly.residual_file:
            return
        assembly = analysis.assembly
        name = max(assembly.residual_file, key=lambda n: assembly.residual_file[n])
        gap, left = assembly.residual_file[name], assembly.residual[name]
        if gap <= _WARNING * assembly.length or left > _IMPROVED * gap:
            return
        coupling = next((c for c in scene.mechanism.couplings if c.name == name), None)
        format_ = snapping.format_of(scene)
        poseless = format_ in snapping.WITHOUT_POSE or (format_ == "sdf" and coupling is not None)
        severity: Severity = "error" if gap > _ERROR * assembly.length else "warning"
        if poseless or _asked_for(scene, analysis):
            severity = "note"
        pose = "the zero pose" if poseless and not scene.state.given else "the pose of the file"
        yield make_finding(
            self,
            severity,
            f"{pose} leaves {name!r} open by {_opening(coupling, name, assembly)} when "
            f"{_largest_move(scene, analysis, name)}",
            element=name,
            origin=constraint_place(scene, name),
            evidence={
                "gap_file_m": gap,
                "gap_closed_m": left,
                "characteristic_length_m": assembly.length,
                "moved_rad_or_m": float(np.abs(analysis.q - scene.state.q).max(initial=0.0)),
                "q": dict(zip(scene.mechanism.q_names, analysis.q.tolist(), strict=True)),
            },
            help=_help(format_),
        )


def _help(format_: str) -> str:
    if format_ in ("scene", ""):
        return "store the closed pose (evidence q) in [state] of the scene"
    return "write a scene with the closed pose: mbplugin lint FILE --write-scene FILE.scene.toml"


def _opening(coupling: Coupling | None, name: str, assembly: Assembly) -> str:
    """Return the gap of a constraint in words: rad for a rotation, else m; for a coupling, that of the follower.

    Residuals are in m; those of rotations are multiplied by ``length``.
    """
    gap, left, length = assembly.residual_file[name], assembly.residual[name], assembly.length
    if coupling is None:
        if name in assembly.turned_file:
            return f"{gap / length:.3g} rad, and closes to {left / length:.1g} rad"
        return f"{gap:.3g} m, and closes to {left:.1g} m"
    follower = coupling.terms[0]
    value = gap / (coupling_metres(coupling, length) * abs(follower.coefficient))
    return f"{value:.3g} {units_of(follower.freedom).coordinate}, and closes"


def _asked_for(scene: Scene, analysis: Analysis) -> bool:
    """Return True if some coordinates were stated, and none of them changed."""
    names = scene.mechanism.q_names
    given = [k for k, name in enumerate(names) if name in scene.state.given]
    return bool(given) and bool(np.allclose(analysis.q[given], scene.state.q[given], atol=1e-12))


def _largest_move(scene: Scene, analysis: Analysis, name: str) -> str:
    """Return the largest move of a coordinate that affects a constraint, in words, with the unit if there is one."""
    mech = scene.mechanism
    move = np.abs(analysis.q - scene.state.q)
    constraint = next(c for c in constraints_to_close(mech) if c.name == name)
    own = [mech.tree.joints[k].q for k in sorted(Paths(mech).of(constraint))]
    k = max((k for q in own for k in range(q.start, q.stop)), key=lambda k: move[k])
    joint = next(j for j in mech.tree.joints if j.q.start <= k < j.q.stop)
    single = joint.pair is not None and len(joint.pair.kind.free) == 1
    unit = "" if not single or joint.pair is None else f" {units_of(joint.pair.kind.free[0]).coordinate}"
    return f"{mech.q_names[k]} moves by {move[k]:.3g}{unit}"


class LimitsViolated(Rule):
    """A loop closes only with a joint beyond its limits.

    What it does
    ------------
    Lists the joints that lie outside their limits at the closed pose although they were inside before.

    Why it matters
    --------------
    The limits or the dimensions are wrong, or the loop was closed on the other branch. An engine that
    enforces the limits cannot close the loop.

    Example
    -------
    A knee limited to 0 … 1.5 rad whose loop closes at −0.4 rad.

    Remedy
    ------
    Give an initial pose on the intended branch, or correct limits and frames.

    References
    ----------
    blajer1993 (5) to (7): closing conditions have branches.
    """

    code, name = "MB505", "limits-violated"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield at most one finding, with all joints."""
        if analysis is None or not analysis.assembly.beyond_limits:
            return
        names = list(analysis.assembly.beyond_limits)
        joints = {name: _position(scene, analysis, name) for name in names}
        shown = [f"{name} at {text}" for name, (text, _) in joints.items()]
        yield make_finding(
            self,
            self.severity,
            f"the loop closes only with {counted(len(names), 'joint')} outside "
            f"{'its' if len(names) == 1 else 'their'} limits: {listed(shown)}",
            element=names[0],
            origin=constraint_place(scene, names[0]),
            evidence={
                **joints[names[0]][1],
                ELEMENTS: names,
                "joints": {name: values for name, (_, values) in joints.items()},
            },
            help="give a starting pose on the branch that is meant, or correct limits and frames",
        )


def _position(scene: Scene, analysis: Analysis, name: str) -> tuple[str, dict[str, Any]]:
    """Return the coordinate and the limits of a joint, in words and as evidence."""
    mech = scene.mechanism
    pair = mech.pair_by_name[name]
    (freedom,) = pair.freedoms
    value = float(analysis.q[mech.tree.joint_of_pair[name].q][0])
    unit = units_of(pair.kind.free[0]).coordinate
    text = f"{value:.4g} {unit} (limits {freedom.lower:.4g} … {freedom.upper:.4g} {unit})"
    return text, {f"value_{unit}": value, f"limits_{unit}": [freedom.lower, freedom.upper]}


class ShakyLoop(Rule):
    """A loop has a freedom to first order only: it looks mobile and is rigid.

    What it does
    ------------
    Reports every loop with freedoms that are infinitesimal but no freedoms of motion: columns less rank counts
    them, but no pose can be reached along them. Names the joints that cannot move.

    Why it matters
    --------------
    Two links in one line between fixed pins have a mobility of 1 to first order and are a rigid strut. A
    program that integrates velocities turns it into a mechanism whose loop opens, and a driven joint of such a
    loop cannot be driven. At the stated dimensions such a loop is soft and ill-conditioned: with any other
    dimensions it is stiff, or it does not assemble.

    Example
    -------
    Three cranks on one coupler, one of them shorter than the others; an ankle whose rods end in hinges.

    Remedy
    ------
    If the loop is meant as a structure, model it as one body. If it is meant to move, correct the dimensions
    that have to be equal, or use the weaker closures that the finding names where a joint with a drive, a brake
    or limits is locked.

    References
    ----------
    wojtyra2013 (6); docs/theory.md, mobility to first order and in fact.
    """

    code, name = "MB506", "shaky-loop"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per loop."""
        if analysis is None:
            return
        restored = {joint for remedy in analysis.remedies[:1] for joint in remedy.restores}
        for block in analysis.mobility.shaky:
            joints = block.shaky_joints(analysis.mechanism)
            element, origin = snapping.block_place(scene, block.constraints)
            who = f": {listed(block.shaky_rates, 6)} cannot move" if block.shaky_rates else ""
            yield make_finding(
                self,
                self.severity,
                f"{counted(block.infinitesimal, 'freedom')} of this loop to first order, {block.finite} in fact{who}",
                element=element,
                origin=origin,
                evidence={
                    "constraints": list(block.constraints),
                    "infinitesimal": block.infinitesimal,
                    "finite": block.finite,
                    "rates": list(block.shaky_rates),
                },
                help="use the weaker types of MB201, which let "
                f"{listed([j for j in joints if j in restored], 4)} move"
                if restored.intersection(joints)
                else "model it as one rigid body if it is a structure; else correct the dimensions that stop it",
            )


class LockedLoop(Rule):
    """A closure removes all mobility of its loop.

    What it does
    ------------
    Reports every loop without any mobility whose closure, made weaker, lets it move: a weld that should be a hinge or
    a ball joint, a hinge that should be a universal or a ball joint. The strongest closure that gives motion is
    found by trial, and proved by the mobility in fact of the changed mechanism.

    Why it matters
    --------------
    A loop of three hinges that a weld closes is a rigid body with three joints drawn on it. No drive moves it, and a
    motor in it causes meaningless forces in a simulator. Most often the file's format had no other word: a fixed
    joint, or ``<weld>`` in the place of ``<connect>``.

    Example
    -------
    A four-bar of three hinges, closed by ``<weld>``.

    Remedy
    ------
    Give the closure the weaker type that the finding names. If the loop is meant as a structure, model it as one body.

    References
    ----------
    wojtyra2013 (6); docs/theory.md, mobility to first order and in fact.
    """

    code, name = "MB507", "locked-loop"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per loop."""
        if analysis is None:
            return
        pairs, mjcf = analysis.mechanism.pair_by_name, snapping.format_of(scene) == "mjcf"
        for ranked, freeing in snapping.locked_loops(analysis, mjcf):
            members, change = ranked.block.constraints, freeing.change
            joints = [
                name
                for name in members
                if name in pairs and pairs[name].kind.free and not pairs[name].closure
            ]
            element, origin = snapping.block_place(scene, [change.constraint])
            axis = ", ".join(f"{a:g}" for a in change.axis or ())
            way = f"{change.new} about ({axis}) in its joint frame" if axis else change.new
            way += ", <connect> in place of <weld>" * mjcf
            yield make_finding(
                self,
                self.severity,
                f"this loop cannot move: its closure {change.constraint!r} is {change.old}, which locks"
                f" {listed(joints, 6)}",
                element=element,
                origin=origin,
                evidence={
                    "constraints": list(members),
                    "joints": joints,
                    "toml": change.toml(),
                    "mobility": freeing.mobility,
                },
                help=f"make it {way}: then the mobility is {freeing.mobility}; if the loop is a"
                " structure, model it as one body",
            )
