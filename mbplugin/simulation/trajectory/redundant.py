"""Non-unique reactions of a motion: by stated stiffness, at each sample those of least elastic energy (pekal2024 §4).

Accelerations are those of the rigid model, λ = λ₀ + S y. Forces along the freedoms of joints (drives, brakes,
friction, springs) load the flexible bodies at the joints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mbplugin.analysis.uniqueness import joint_place
from mbplugin.constraints.rank import rank_blocks
from mbplugin.constraints.reduction import body_twists
from mbplugin.constraints.rows import Rows, all_rows, planar_rows, plane_columns
from mbplugin.dynamics import body_accelerations, newton_euler
from mbplugin.dynamics.absolute import absolute_equations
from mbplugin.joint_reactions import spring_loads
from mbplugin.joint_reactions.flexible import StiffnessLike, read_stiffness, resolve
from mbplugin.joint_reactions.statics import System, build_system, joint_rows, rows_at_joint
from mbplugin.joint_reactions.stiffness import Applied, coverage, stated_elements
from mbplugin.model import COMPONENTS, AnyArray, Array, Coupling, Driver, Load, Lock, Mechanism, Pair, forward
from mbplugin.simulation.friction import Handling
from mbplugin.simulation.trajectory import Held, Samples, StatedStiffness

#: A row does not contribute to a component of a wrench if its coefficient is below this.
_NO_PART = 1e-12
#: Number of poses whose smallest redundancy is taken; a larger one at single poses is due to a singularity.
_POSES = 3


def stated_stiffness(
    mech: Mechanism, of_scene: StiffnessLike, given: StiffnessLike
) -> StatedStiffness | None:
    """Return the stiffness of a scene, overridden by that given in a call; None if there is none.

    Raises
    ------
    UnknownName, BadUsage
        As for :func:`mbplugin.joint_reactions.flexible.read_stiffness`.
    """
    own, more = read_stiffness(mech, of_scene), read_stiffness(mech, given)
    found = StatedStiffness({**own[0], **more[0]}, {**own[1], **more[1]})
    return found if found else None


@dataclass(frozen=True, eq=False)
class Carried:
    """Reactions of a motion, changed in place sample by sample.

    Parameters
    ----------
    of_pair, transmitted : dict of str to (T, 6) array
        [f; m] on the successor at the origin of S, axes of P, N and N·m.
    of_rest : dict of str to (T, k) array
        Multipliers of the other constraints, N and N·m.
    rest : mapping of constraint name to its components
        The columns of ``of_rest``.
    determined : dict of str to (T, 6) array of bool
        Components that the rigid model or the stated stiffness determines.
    """

    of_pair: dict[str, Array]
    transmitted: dict[str, Array]
    of_rest: dict[str, Array]
    rest: Mapping[str, Sequence[str]]
    determined: dict[str, AnyArray]


def resolve_along(trajectory: Samples, held: Held, stated: StatedStiffness, carried: Carried) -> None:
    """Resolve non-unique reactions by the stated stiffness at the samples of one set of constraints, in place."""
    columns = plane_columns(trajectory.planar)
    for k in held.samples.tolist():
        q = trajectory.q[k]
        system = build_system(held.mech, q, forward(held.mech, q), columns, trajectory.tolerance)
        if system.degree_of_redundancy:
            _resolve_at(trajectory, system, stated, carried, k)


def _resolve_at(
    trajectory: Samples, system: System, stated: StatedStiffness, carried: Carried, k: int
) -> None:
    known = np.concatenate([_multipliers(system, r, carried, k) for r in system.rows])
    elements = stated_elements(
        system, stated.pairs, stated.sections, _applied(trajectory, system, carried, k)
    )
    uncovered = coverage(system, elements).uncovered
    found = resolve(system, known / system.scale, elements, np.zeros(len(known)), uncovered)
    values = system.scale * found.multipliers
    for r in system.rows:
        at = system.slices[r.constraint]
        pair = system.mech.pair_by_name.get(r.constraint)
        if pair is not None and r.components:
            L = joint_rows(system, pair, r)
            change = (values[at] - known[at]) @ L
            carried.of_pair[pair.name][k] += change
            carried.transmitted[pair.name][k] += change
            part = np.abs(L) > _NO_PART
            carried.determined[pair.name][k] = ~part[~found.determined[at]].any(axis=0)
        elif pair is None and r.constraint in carried.rest:
            places = [list(carried.rest[r.constraint]).index(c) for c in r.components]
            carried.of_rest[r.constraint][k, places] = values[at]


def _multipliers(system: System, rows: Rows, carried: Carried, k: int) -> Array:
    """Return possible multipliers (n,) of a constraint at a sample, N and N·m."""
    pair = system.mech.pair_by_name.get(rows.constraint)
    if pair is not None:
        L = joint_rows(system, pair, rows) if rows.components else np.zeros((0, 6))
        return np.asarray(np.linalg.lstsq(L.T, carried.of_pair[pair.name][k], rcond=None)[0])
    names = list(carried.rest.get(rows.constraint, ()))
    if not names:
        return np.zeros(len(rows.components))
    return carried.of_rest[rows.constraint][k, [names.index(c) for c in rows.components]]


def _applied(trajectory: Samples, system: System, carried: Carried, k: int) -> Applied:
    """Return the forces on the bodies at a sample, without those of the rows."""
    mech, actions = system.mech, trajectory.actions
    q, qd, qdd = trajectory.q[k], trajectory.qd[k], trajectory.qdd[k]
    loads = (
        *actions.loads,
        *spring_loads(mech, actions.springs, q, qd),
        *(load for pair in mech.pairs for load in _along_freedoms(system, pair, carried, k)),
    )
    made = newton_euler(mech, q, qd, loads=loads, payloads=actions.payloads)
    accelerations = body_accelerations(mech, made.poses, body_twists(mech, made.poses, qd), qdd)
    return Applied(made, accelerations, loads, actions.payloads)


def _along_freedoms(system: System, pair: Pair, carried: Carried, k: int) -> list[Load]:
    """Return the forces along the freedoms of a pair that no row exerts, as loads on both of its bodies."""
    if not pair.kind.free:
        return []
    wrench = carried.transmitted[pair.name][k] - carried.of_pair[pair.name][k]
    for r in system.rows:
        constraint = system.constraint_by_name[r.constraint]
        values = _multipliers(system, r, carried, k) if not isinstance(constraint, Pair) else np.zeros(0)
        if isinstance(constraint, Driver | Lock) and constraint.joint == pair.name and r.components:
            wrench = wrench - values @ joint_rows(system, pair, r)
        elif isinstance(constraint, Coupling):
            for term in constraint.terms:
                if term.joint == pair.name:
                    free = COMPONENTS.index(pair.kind.free[0])
                    wrench = wrench - values.sum() * term.coefficient * np.eye(6)[free]
    if not wrench.any():
        return []
    point, R_WP = joint_place(system.mech, system.poses, pair)
    force, torque = R_WP @ wrench[:3], R_WP @ wrench[3:]
    found = []
    for name, sign in ((pair.body_b, 1.0), (pair.body_a, -1.0)):
        if name in system.mech.body_index and system.mech.body_index[name] >= 0:
            at = system.poses.of(system.mech.body_index[name]).inverse().apply(point)
            found.append(Load(name, sign * force, sign * torque, at))
    return found


# Reactions of a motion distributed over the rows of all pairs, as in absolute coordinates.
#
# In joint coordinates only closing rows can be redundant, in absolute coordinates those of every pair. This decides
# which of the possible reactions is the smallest, or has zero multipliers in some rows. All possible reactions
# differ by self-stresses (wojtyra2013 (6)), so one of them and the rows suffice to compute another.


def spread_over_all_rows(
    trajectory: Samples,
    held: Held,
    rest: Mapping[str, Sequence[str]],
    of_pair: dict[str, Array],
    of_rest: dict[str, Array],
) -> None:
    """Replace the reactions at some samples by those that the motion's handling of redundancy selects, in place.

    Parameters
    ----------
    held : Held
        The constraints in force, and the samples.
    rest : mapping of constraint name to its components
        The columns of ``of_rest``.
    of_pair : dict of str to (T, 6) array
        [f; m] on the successor at the origin of S, axes of P, N and N·m.
    of_rest : dict of str to (T, k) array
        Multipliers of the other constraints, N and N·m.
    """
    handling = Handling(trajectory.redundancy, trajectory.dropped)
    p, columns = _redundancy(trajectory, held), plane_columns(trajectory.planar)
    if not p:
        return
    # forces do not change the rows, so the controller need not be called again
    actions = replace(trajectory.actions, controller=None)
    for k in held.samples.tolist():
        q, qd = trajectory.q[k], trajectory.qd[k]
        equations = absolute_equations(
            held.mech, q, qd, actions, planar=trajectory.planar, degree_of_redundancy=p
        )
        poses, start = forward(held.mech, q), 0
        rows = [planar_rows(r, columns) for r in all_rows(held.mech, poses, q)]
        pairs = {
            r.constraint: rows_at_joint(held.mech, poses, held.mech.pair_by_name[r.constraint], r)
            for r in rows
            if r.constraint in of_pair and r.components
        }
        known = [
            np.linalg.lstsq(pairs[r.constraint].T, of_pair[r.constraint][k], rcond=None)[0]
            if r.constraint in pairs
            else _at(rest.get(r.constraint, ()), r.components, of_rest.get(r.constraint), k)
            for r in rows
        ]
        multipliers = handling.carrying(equations, equations.C.T @ np.concatenate(known))
        for r in rows:
            own = multipliers[start : start + len(r.components)]
            start += len(r.components)
            if r.constraint in pairs:
                of_pair[r.constraint][k] = own @ pairs[r.constraint]
            elif r.constraint in rest:
                places = [list(rest[r.constraint]).index(c) for c in r.components]
                of_rest[r.constraint][k, places] = own


def _at(names: Sequence[str], components: Sequence[str], values: Array | None, k: int) -> Array:
    """Return the multipliers (k,) of some components of a constraint at a sample; ``values`` (T, n) of all samples."""
    if values is None:
        return np.zeros(len(components))
    return values[k, [list(names).index(c) for c in components]]


def _redundancy(trajectory: Samples, held: Held) -> int:
    """Return p of the rows of all pairs, in the planar view of the motion if it has one."""
    columns = plane_columns(trajectory.planar)
    poses = [trajectory.q[k] for k in held.spread(_POSES)]
    blocks = (rank_blocks(held.mech, forward(held.mech, q), columns, trajectory.tolerance, q) for q in poses)
    return min(sum(block.redundancy for block in own) for own in blocks)
