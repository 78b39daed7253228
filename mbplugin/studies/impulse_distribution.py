"""Distribution of impulses: the impulses of all pairs and brakes of a transition, by compliance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mbplugin.constraints.reduction.velocity import body_twists
from mbplugin.constraints.rows.planar import plane_columns
from mbplugin.constraints.tolerance import DEFAULT_TOLERANCE
from mbplugin.dynamics.absolute import rate_rows
from mbplugin.dynamics.newton_euler import newton_euler
from mbplugin.errors import UnknownName, suggestion
from mbplugin.joint_reactions.statics import balance
from mbplugin.joint_reactions.stiffness.compliance import resolve
from mbplugin.joint_reactions.stiffness.coverage import coverage
from mbplugin.joint_reactions.stiffness.elements import Applied, stated_elements
from mbplugin.joint_reactions.stiffness.pair_stiffness import StiffnessLike, read_stiffness
from mbplugin.joint_reactions.system import build_system
from mbplugin.model.applied_forces import rate_values
from mbplugin.model.mechanism.identity import RowLabel
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Payload
from mbplugin.model.spatial import AnyArray, Array, make_read_only


@dataclass(frozen=True, eq=False)
class Shares:
    """The impulses of all constraints of a mechanism, tree pairs included.

    Parameters
    ----------
    labels : tuple of (constraint, component)
        Components of pairs are those of their rows, in the predecessor's joint frame.
    impulses : (m,) array
        Given to the successor, N·s and N·m·s; NaN where nothing determines them.
    unique : (m,) array of bool
        Whether the rigid model determines each.
    determined : (m,) array of bool
        Whether the rigid model or the stated stiffness does.
    """

    labels: tuple[RowLabel, ...]
    impulses: Array
    unique: AnyArray
    determined: AnyArray

    def of(self, constraint: str) -> dict[str, float]:
        """Return the impulses of a constraint by component.

        Raises
        ------
        UnknownName
            No constraint of the mechanism.
        """
        found = {
            component: float(value)
            for (name, component), value in zip(self.labels, self.impulses, strict=True)
            if name == constraint
        }
        if not found:
            known = list(dict.fromkeys(name for name, _ in self.labels))
            raise UnknownName(f"there is no constraint {constraint!r}", remedy=suggestion(constraint, known))
        return found


def impulse_shares(
    mech: Mechanism,
    q: Array,
    jump: Array,
    *,
    impulse: Array | None = None,
    stiffness: StiffnessLike = (),
    payloads: Sequence[Payload] = (),
    armature: Mapping[str, float] | None = None,
    planar: str | None = None,
    tolerance: float = DEFAULT_TOLERANCE,
) -> Shares:
    """Return the impulses that all constraints of a mechanism take while its rates jump.

    The impulses balance the change of momentum of every body, CᵀΛ = M Δv − U. Where the rigid model
    leaves them open, the stated stiffness decides as for reactions: the shock is taken as short beside
    the motion and as long beside the waves in the parts, so that the elastic energy is least.

    Parameters
    ----------
    mech : Mechanism
        With what holds after the instant: the closed brakes among its locks.
    q, jump : (nq,), (nv,) array
        The pose, and Δq̇ of the transition, rad/s and m/s.
    impulse : (nv,) array, optional
        Impulsive input U on the joint rates, N·s and N·m·s.
    stiffness : iterable of Stiffness or mapping
        As for ``reactions``.
    armature : mapping
        Inertia of drives by joint rate, kg·m² or kg.
    planar : "xy", "yz" or "zx", optional
    tolerance : float
        Relative rank tolerance.
    """
    columns = plane_columns(planar)
    made = newton_euler(replace(mech, gravity=np.zeros(3)), q, payloads=payloads)
    change = body_twists(mech, made.poses, jump)
    missing = made.missing(change)
    push = rate_values(mech, armature or {}, "armature") * jump - (0.0 if impulse is None else impulse)
    for at, rows in rate_rows(mech, made):
        for body, entry in rows.entries:
            missing[body] += entry.T @ push[at]
    for joint in mech.tree.joints:
        if joint.pair is None:
            missing[mech.body_index[joint.outer]] += push[joint.qd]
    system = build_system(mech, q, made.poses, columns, tolerance)
    found = balance(system, missing)
    pairs, sections = read_stiffness(mech, stiffness)
    elements = stated_elements(system, pairs, sections, Applied(made, change, (), tuple(payloads)))
    uncovered = coverage(system, elements).uncovered
    resolution = resolve(system, found.multipliers, elements, np.zeros(len(system.scale)), uncovered)
    values = np.where(resolution.determined, system.scale * resolution.multipliers, np.nan)
    make_read_only(values, resolution.determined)
    return Shares(system.labels, values, system.unique, resolution.determined)
