"""Rules about redundant constraints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.analysis import Analysis
from mbplugin.linter.checks.loops import stated_poses
from mbplugin.linter.checks.snapping import (
    block_place,
    closures_of,
    format_of,
    locked_loops,
    non_unique,
    obstacles_to,
    proposed_changes,
    redundancy_sentence,
    remedy_sentence,
    undeclared_blocks,
)
from mbplugin.linter.rule import Finding, Rule, Severity, constraint_place, listed, make_finding, model_place
from mbplugin.model import Array, Pair, Pose, Scene
from mbplugin.phrases import counted

if TYPE_CHECKING:
    from mbplugin.joint_reactions.misfit import LoopMisfits
    from mbplugin.joint_reactions.misfit_response import MisfitEffect, MisfitLoad


class RedundantConstraints(Rule):
    """A loop restrains the same motion more than once.

    What it does
    ------------
    Reports every block of the constraint graph whose constraint rows are linearly dependent at the rank
    tolerance: its degree of redundancy p, and each independent self-stress. A scene that declares
    exactly this value is not reported.

    Why it matters
    --------------
    A rigid model does not determine how the load divides among redundant constraints: reactions are
    arbitrary, some solvers jam the mechanism, and a real mechanism of this design needs exact tolerances or
    flexibility.

    Example
    -------
    A planar four-bar whose four hinges are all revolute: 20 rows of rank 17, so p = 3.

    Remedy
    ------
    Replace passive pairs by weaker ones as the finding proposes (a joint that is driven, braked, limited or
    locked is not changed; if such joints prevent a remedy, the finding names them; in MJCF by a slide joint or a
    connect), declare the value in the scene file if it is intended (``[lint] degree_of_redundancy``), or model the
    listed bodies as flexible.

    References
    ----------
    wojtyra2013 (6), (7).
    """

    code, name = "MB201", "redundant-constraints"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per redundant block."""
        repeated = {later.name for later, _ in repeated_closures(scene)}
        for ranked in undeclared_blocks(scene, analysis):
            assert analysis is not None
            members = ranked.block.constraints
            twice = [name for name in members if name in repeated]
            own = frozenset(members)
            stresses = [s for s in analysis.self_stresses if s.constraints[0] in own]
            loaded = {name for s in stresses for name in s.constraints}
            changes, obstacles = proposed_changes(analysis, ranked), obstacles_to(analysis, ranked)
            locked = any(block is ranked for block, _ in locked_loops(analysis, format_of(scene) == "mjcf"))
            shaky = any(block.constraints == members for block in analysis.mobility.shaky)
            element, origin = block_place(scene, [name for name in members if name in loaded])
            yield make_finding(
                self,
                self.severity,
                redundancy_sentence(ranked.redundancy, stresses),
                element=element,
                origin=origin,
                evidence={
                    "degree_of_redundancy": ranked.redundancy,
                    "constraints": list(members),
                    "sigma_r": ranked.sigma_r if ranked.rank else None,
                    "sigma_r_plus_1": ranked.sigma_next,
                    "self_stresses": [s.text for s in stresses],
                    "toml": "\n\n".join(change.toml() for change in changes),
                    "obstacles": {obstacle.constraint: list(obstacle.duties) for obstacle in obstacles},
                },
                help=f"{', '.join(_removal(scene, name) for name in twice)}: see MB205"
                if twice
                else "its closure takes away all motion of this loop: see MB507"
                if locked
                else remedy_sentence(changes, obstacles, closures_of(scene), mjcf=format_of(scene) == "mjcf")
                if changes or not shaky
                else "weaker pairs would make a mechanism of this rigid loop: see MB506",
            )


class ClosureTooStrong(Rule):
    """A closure has a more restrictive type than its loop needs.

    What it does
    ------------
    Reports every redundant block whose first verified remedy is another type of one stated closure: this change
    alone removes the redundancy of the block and keeps the mobility. The finding contains the type and the lines to
    paste. It is a note, because the redundancy itself is the warning MB201.

    Why it matters
    --------------
    The type of a closure is often a guess, because few formats can state it, and the result depends on it: the
    degree of redundancy of one planar robot is 0, 1 or 3 if its closure is a point on a line, a ball joint or a
    hinge. A less restrictive closure does not change the tree of the robot.

    Example
    -------
    The fourth hinge of a planar four-bar, closed as ``revolute`` (p = 3) instead of ``point-on-line``
    (p = 0).

    Remedy
    ------
    Give the closure the less restrictive type, if the real joint has these freedoms; or keep it and declare the
    redundancy.

    References
    ----------
    wojtyra2013 (21) to (27): rows of the left null space that form a regular block can be released.
    """

    code, name = "MB202", "closure-too-strong"
    severity: Severity = "note"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per block whose remedy is one closure."""
        if analysis is None or analysis.singular_pose:
            # a closure that is too strong at a singular pose may be right at nearby poses
            return
        for ranked in undeclared_blocks(scene, analysis):
            changes = proposed_changes(analysis, ranked)
            if len(changes) != 1 or not analysis.mechanism.pair_by_name[changes[0].constraint].closure:
                continue
            (change,) = changes
            restored = analysis.remedies[0].restores
            mobility = f"{' and '.join(restored)} can move" if restored else "mobility stays"
            article = "an" if change.new[0] in "aeio" else "a"
            yield make_finding(
                self,
                self.severity,
                f"{article} {change.new} joint is enough for {change.constraint!r}, which is {change.old}: redundancy "
                f"drops from {ranked.redundancy} to 0, {mobility}",
                element=change.constraint,
                origin=constraint_place(scene, change.constraint),
                evidence={
                    "type": change.old,
                    "weaker_type": change.new,
                    "degree_of_redundancy": ranked.redundancy,
                    "toml": change.toml(),
                },
                help=remedy_sentence([change], (), closures_of(scene), mjcf=True)
                if format_of(scene) == "mjcf"
                else f"add to the scene:\n{change.toml()}",
            )


class RollingOverconstrains(Rule):
    """Ideally rolling wheels restrain a vehicle more than once.

    What it does
    ------------
    Reports redundant blocks whose self-stress loads rolling wheels or knife edges, and the number of their rows
    that depend on the others. It is a note, because the redundancy itself is the warning MB201.

    Why it matters
    --------------
    Four wheels on rigid axles cannot all satisfy the no-slip condition: the side forces at the wheels are
    arbitrary in a rigid model, and real tyres slip.

    Example
    -------
    A vehicle on four fixed wheels: 12 rows of rank 9, so p = 3.

    Remedy
    ------
    Steer or castor a wheel, drop the side row of all but one wheel per axle, give the suspension a
    freedom, or model the tyres as compliant.

    References
    ----------
    wojtyra2013 (30), section 4: the four-wheel robot.
    """

    code, name = "MB203", "rolling-overconstrains"
    severity: Severity = "note"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per redundant block with loaded wheels."""
        wheels = {pfaffian.name for pfaffian in scene.mechanism.pfaffians}
        if not wheels:
            return
        for ranked in undeclared_blocks(scene, analysis):
            assert analysis is not None
            loaded = [verdict.name for verdict in non_unique(analysis, ranked) if verdict.name in wheels]
            if not loaded:
                continue
            rows = sum(name in wheels for name, _ in ranked.reduced.labels)
            yield make_finding(
                self,
                self.severity,
                f"rolling over-constrains: {ranked.redundancy} of the constraints around the {rows} wheel rows "
                f"{'is' if ranked.redundancy == 1 else 'are'} redundant, and the forces at "
                f"{counted(len(loaded), 'wheel')} are arbitrary: {listed(loaded)}",
                element=loaded[0],
                origin=constraint_place(scene, loaded[0]),
                evidence={
                    "degree_of_redundancy": ranked.redundancy,
                    "wheel_rows": rows,
                    "wheels": loaded,
                },
                help="steer or castor a wheel, release side slip on all but one wheel per axle, or model tyres",
            )


class DeclaredRedundancyNotMet(Rule):
    """The degree of redundancy is not the one that the scene declares.

    What it does
    ------------
    Compares ``[lint] degree_of_redundancy`` with the value found at the pose.

    Why it matters
    --------------
    The declaration states the intended redundancy. Another value means that a joint, a closure or a dimension
    was changed, and reactions that were determined before are not any more, or a freedom is lost.

    Example
    -------
    ``[lint] degree_of_redundancy = 3`` for a planar four-bar with one spherical joint (p = 1).

    Remedy
    ------
    Find the change, or correct the declaration.

    References
    ----------
    wojtyra2013 (6): p = rows − rank.
    """

    code, name = "MB204", "declared-redundancy-not-met"
    severity: Severity = "error"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield at most one finding."""
        declared = scene.options.degree_of_redundancy
        if analysis is None or declared is None or declared == analysis.degree_of_redundancy:
            return
        found = analysis.degree_of_redundancy
        yield make_finding(
            self,
            self.severity,
            f"the scene declares a degree of redundancy of {declared}, but it is {found} "
            f"(rank {analysis.rank} of {analysis.rows} rows at a tolerance of {analysis.tolerance:g})",
            element=scene.mechanism.name,
            origin=model_place(scene, "degree_of_redundancy"),
            evidence={"declared": declared, "degree_of_redundancy": found, "rows": analysis.rows},
            help=f"find what changed, or declare degree_of_redundancy = {found}",
        )


#: Tolerance for equal pairs, relative to the mechanism's length, and in rad.
_SAME = 1e-3


#: Pairs whose constraints do not depend on the orientation of their frames; below, those with one axis, z.
_ROUND = ("spherical", "distance")


_AXIAL = (
    *("revolute", "prismatic", "screw", "cylindrical", "planar"),
    *("point-on-line", "point-on-plane"),
)


class DuplicateClosure(Rule):
    """A closure is stated twice.

    What it does
    ------------
    Compares every closure with the other joints between its two bodies: type, position and axis, within 1e-3 of
    the mechanism's length and 1e-3 rad. Beside a fixed joint between the same bodies any closure is one too many.

    Why it matters
    --------------
    The second one restrains no further motion, but its rows are redundant: the degree of redundancy is too high by
    their number, and the reactions of both are non-unique.

    Example
    -------
    A loop that is closed by the YAML file beside a URDF, and again by a ``[[closure]]`` of the scene.

    Remedy
    ------
    Remove one of them.

    References
    ----------
    wojtyra2013 §2.3: redundant constraints.
    """

    code, name = "MB205", "duplicate-closure"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per closure that repeats an earlier joint."""
        for later, earlier in repeated_closures(scene):
            yield _finding(self, scene, later, earlier)


def repeated_closures(scene: Scene) -> Iterator[tuple[Pair, Pair]]:
    """Yield the closures that repeat another joint between the same bodies, with that joint."""
    groups: dict[frozenset[str], list[Pair]] = {}
    for pair in scene.mechanism.pairs:
        groups.setdefault(frozenset(pair.bodies), []).append(pair)
    repeated: set[str] = set()
    tolerance = _SAME * _length(scene) if any(len(group) > 1 for group in groups.values()) else 0.0
    for first, second in (two for group in groups.values() for two in combinations(group, 2)):
        later, earlier = (second, first) if second.closure else (first, second)
        if later.type == "fixed" and earlier.type != "fixed" and earlier.closure:
            later, earlier = earlier, later
        same = earlier.type == "fixed" != later.type or _same(first, second, tolerance)
        if later.closure and later.kind.constrained and later.name not in repeated and same:
            repeated.add(later.name)
            yield later, earlier


def _removal(scene: Scene, name: str) -> str:
    """Return the advice to remove a closure; for a live client, as a call."""
    number = name.removeprefix("constraint ")
    live = scene.request is None and number != name and number.isdecimal()
    return f"removeConstraint({number})" if live else f"remove {name!r}"


def _finding(rule: Rule, scene: Scene, later: Pair, earlier: Pair) -> Finding:
    if later.type != earlier.type:
        return make_finding(
            rule,
            rule.severity,
            f"closure {later.name!r} adds nothing: {earlier.name!r} fixes {later.body_a!r} and {later.body_b!r} to each"
            f" other; its {len(later.kind.constrained)} rows are redundant",
            element=later.name,
            origin=constraint_place(scene, later.name),
            evidence={"same_as": earlier.name, "also_at": "", "rows": len(later.kind.constrained)},
            help=_removal(scene, later.name),
        )
    place, other = constraint_place(scene, later.name), constraint_place(scene, earlier.name)
    return make_finding(
        rule,
        rule.severity,
        f"closure {later.name!r} ({place or 'no file'}) is the same {later.type} joint between "
        f"{later.body_a!r} and {later.body_b!r} as {earlier.name!r} ({other or 'no file'}); its "
        f"{len(later.kind.constrained)} rows are redundant",
        element=later.name,
        origin=place,
        evidence={"same_as": earlier.name, "also_at": str(other or ""), "rows": len(later.kind.constrained)},
        help=f"remove {later.name!r} or {earlier.name!r}" if scene.request else _removal(scene, later.name),
    )


def _length(scene: Scene) -> float:
    """Return the size of the mechanism: the diagonal of the box around its joints, m."""
    mech = scene.mechanism
    poses = stated_poses(scene)
    points = [poses.of(mech.body_index[p.body_a]).apply(p.X_AP.p) for p in mech.pairs]
    points += [poses.of(mech.body_index[p.body_b]).apply(p.X_BS.p) for p in mech.pairs]
    return float(np.linalg.norm(np.ptp(np.array(points), axis=0))) if points else 0.0


def _same(first: Pair, second: Pair, tolerance: float) -> bool:
    """Return True if two pairs between the same bodies restrain the same motion."""
    if _kind(first) != _kind(second):
        return False
    ends = [(first.X_AP, first.X_BS), (second.X_AP, second.X_BS)]
    if first.body_a != second.body_a:
        ends[1] = ends[1][::-1]
    if first.type == "fixed":
        # the constraints of a weld do not depend on the location of its frame
        X, Y = (a @ b.inverse() for a, b in ends)
        return _near(X, Y, tolerance) and _parallel(X.R, Y.R, signed=True)
    leads = abs(first.lead - second.lead) <= _SAME * max(abs(first.lead), abs(second.lead))
    alike = leads and abs(first.length - second.length) <= tolerance
    return alike and all(_same_side(first, X, Y, tolerance) for X, Y in zip(*ends, strict=True))


def _kind(pair: Pair) -> str:
    return "revolute" if pair.type == "continuous" else pair.type


def _same_side(pair: Pair, X: Pose, Y: Pose, tolerance: float) -> bool:
    if not _near(X, Y, tolerance):
        return False
    if pair.type in _ROUND:
        return True
    axial = _kind(pair) in _AXIAL
    return _parallel(X.R[:, 2:], Y.R[:, 2:]) if axial else _parallel(X.R, Y.R)


def _near(X: Pose, Y: Pose, tolerance: float) -> bool:
    return bool(np.linalg.norm(X.p - Y.p) <= tolerance)


def _parallel(A: Array, B: Array, *, signed: bool = False) -> bool:
    """Return True if the columns of A and B (3, n) are parallel; with ``signed``, also of the same sense."""
    cosines = np.einsum("ik,ik->k", A, B)
    sines = np.linalg.norm(np.cross(A, B, axis=0), axis=0)
    return bool((sines <= _SAME).all() and (not signed or (cosines > 0).all()))


class CostlyMisfit(Rule):
    """A small misfit causes a larger load in a loop than is allowed.

    What it does
    ------------
    Compares ``[lint] misfit_limit`` of a scene, else ``misfit-limit`` of the configuration or ``--misfit-limit``, in N,
    with the largest joint force that a misfit of 0.1 mm at a closing constraint causes in each loop, by stated or
    estimated stiffness. Without this limit the rule is silent.

    Why it matters
    --------------
    Parts are made and assembled to tolerances. Where a constraint is redundant, a tenth of a millimetre may
    load bearings with forces of the size of the payload, or far above it.

    Example
    -------
    ``[lint] misfit_limit = 50`` for a door on three hinges of 1e6 N/m: 0.1 mm at the middle hinge presses 66.7
    N into it.

    Remedy
    ------
    Use a weaker joint, as the remedies of ``mbplugin lint`` propose, or tighter tolerances, or a stiffness that
    is softer.

    References
    ----------
    docs/theory.md: B = S (Sᵀ F S)⁻¹ Sᵀ.
    """

    code, name = "MB206", "costly-misfit"
    severity: Severity = "warning"

    def check(self, scene: Scene, analysis: Analysis | None) -> Iterable[Finding]:
        """Yield one finding per loop that costs more than the stated limit."""
        limit = scene.options.misfit_limit
        if analysis is None or limit is None:
            return
        from mbplugin.joint_reactions.misfit import loop_misfits

        for loop in loop_misfits(scene, analysis):
            forces = [
                (abs(load.value), effect, load)
                for effect in loop.effects
                if effect.step.unit == "m"
                for load in effect.loads
                if load.unit == "N"
            ]
            if forces and max(force for force, *_ in forces) > limit:
                # round the forces, so that equal ones stay in the order of the effects
                _, effect, load = max(forces, key=lambda one: float(f"{one[0]:.9g}"))
                yield _finding_of_mb206(self, scene, loop, effect, load, limit)


def _finding_of_mb206(
    rule: Rule, scene: Scene, loop: LoopMisfits, effect: MisfitEffect, load: MisfitLoad, limit: float
) -> Finding:
    misfit = f"{effect.step} at {effect.constraint} {effect.component}"
    lacking = (*effect.missing.bodies, *effect.missing.pairs)
    if effect.infinite:
        message = f"no compliance limits the load of {load.constraint} by {misfit}"
        help = f"state a stiffness of {listed(lacking)}"
    else:
        message = f"{misfit} loads {load.constraint} {load.component} with {abs(load.value):.4g} N"
        message += f" ({load.source} stiffness)"
        help = "use a weaker joint, a tighter tolerance or a softer part, or state a higher misfit_limit"
    return make_finding(
        rule,
        rule.severity,
        f"{message}, where {limit:g} N are allowed in the loop of {listed(loop.constraints)}",
        element=effect.constraint,
        origin=model_place(scene, "misfit_limit"),
        evidence={
            "constraint": effect.constraint,
            "component": effect.component,
            "misfit_m": effect.step.size,
            "loaded": load.constraint,
            "force_N": None if effect.infinite else abs(load.value),
            "limit_N": limit,
            "source": load.source,
            "missing": list(lacking),
        },
        help=help,
    )
