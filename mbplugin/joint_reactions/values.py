"""The result of ``reactions``: the wrench of every joint, and the source of each component."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, get_args

import numpy as np

from mbplugin.analysis.directions import Directions
from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.joint_reactions.actuator_forces import ActuatorForces
from mbplugin.joint_reactions.family import Family, NullDirection
from mbplugin.joint_reactions.misfit.response import MisfitResponse
from mbplugin.joint_reactions.misfit.tolerances import MisfitBudget
from mbplugin.joint_reactions.stiffness.coverage import NOTHING_MISSING, MissingStiffness
from mbplugin.joint_reactions.stiffness.estimate import Estimate
from mbplugin.model.enumerations import Axes, ConstraintKind, ReactionSource, ReactionUnit, Uniqueness
from mbplugin.model.mechanism.identity import RowLabel
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import Array
from mbplugin.phrases import counted, one_line, one_line_repr
from mbplugin.rendering import Result

Mode = Literal["statics", "inverse dynamics"]
AXES: tuple[Axes, ...] = get_args(Axes)


def require_axes(axes: str) -> None:
    """Refuse axes that are not known.

    Raises
    ------
    BadUsage
        The axes are none of ``AXES``.
    """
    if axes not in AXES:
        raise BadUsage(f"the axes are {axes!r}", expected=f"one of {', '.join(AXES)}")


@dataclass(frozen=True)
class ComponentReaction:
    """One component of a reaction.

    Parameters
    ----------
    name : str
        tx ty tz rx ry rz in the predecessor's joint frame, or the label of the row.
    unit : "N" or "N·m"
    unique : bool
        Whether the rigid model determines it.
    value : float or None
        None where nothing determines it.
    source : "rigid", "stated", "estimated" or None
        What determines the value: the rigid model, the stated stiffness, or an estimated one.
    sigma : float or None
        Its standard deviation for the stated tolerances, N or N·m; None where none is stated, or where
        nothing determines it.
    """

    name: str
    unit: ReactionUnit
    unique: bool
    value: float | None
    source: ReactionSource | None
    sigma: float | None = None


@one_line_repr
@dataclass(frozen=True, eq=False)
class WorldWrench:
    """A reaction in world axes.

    Parameters
    ----------
    body : str
        On which it acts: the successor (a wheel's own body). The predecessor gets the opposite.
    point : (3,) array
        In the world, m: the origin of S, or where a wheel touches.
    wrench : (6,) array
        [f; m] at that point, N and N·m; NaN where not determined. A direction may be determined
        although no component in the joint's axes is, and the other way round.
    sources : tuple of "rigid", "stated", "estimated" or None
        What determines each of the six.
    """

    body: str
    point: Array
    wrench: Array
    sources: tuple[ReactionSource | None, ...]


@one_line_repr
@dataclass(frozen=True, eq=False)
class ConstraintReaction:
    """The reaction of one constraint, acting on its successor body.

    Parameters
    ----------
    name, kind, type, body_a, body_b : str
        As in the analysis; a joint that is held for the balance has kind ``hold``.
    reaction : "unique" or "non-unique"
    indeterminate_dim : int
        Dimension of the family of possible reactions in a rigid model.
    point : (3,) array or None
        Where the wrench acts: the origin of S in the world, m; None for what is no pair.
    wrench : (6,) array or None
        [f; m] on the successor at the origin of S, axes of P, N and N·m; NaN where not determined.
        Forces of drives and locks are constraints of their own. What the joint leaves free is 0.
    directions : tuple of NullDirection
        Along which the rigid model leaves the reaction open.
    shared_with : tuple of str
        The constraints that change with it.
    R_WJ : (3, 3) array or None
        Axes of P in the world, by column, in which the components are; of a drive or lock those of
        its joint; None for couplings and wheels.
    world : WorldWrench or None
        The reaction in world axes; None for a coupling, which acts at several places.
    open_force, open_moment : tuple of (x, y, z) or None
        Orthonormal directions, world axes, in which the rigid model leaves the force, and the moment at
        ``point``, open; the same however the joint frame is turned about a free axis. None for what is
        no pair.
    """

    name: str
    kind: Literal[ConstraintKind, "hold"]
    type: str
    body_a: str
    body_b: str
    reaction: Uniqueness
    indeterminate_dim: int
    point: Array | None
    wrench: Array | None
    components: tuple[ComponentReaction, ...]
    directions: tuple[NullDirection, ...]
    shared_with: tuple[str, ...]
    R_WJ: Array | None = None
    world: WorldWrench | None = None
    open_force: Directions | None = None
    open_moment: Directions | None = None

    @property
    def unique(self) -> bool:
        """Whether the rigid model determines the whole reaction."""
        return self.reaction == "unique"

    @property
    def determined(self) -> bool:
        """Whether every component has a value, by whatever source."""
        return all(component.value is not None for component in self.components)

    def wrench_in(self, axes: str) -> Array | None:
        """Return the wrench (6,) on the successor at ``point`` in the axes of P ("joint") or "world".

        Raises
        ------
        BadUsage
            Other axes.
        """
        require_axes(axes)
        if axes == "joint":
            return self.wrench
        return None if self.world is None else self.world.wrench

    def __getitem__(self, component: str) -> ComponentReaction:
        for candidate in self.components:
            if candidate.name == component:
                return candidate
        names = [c.name for c in self.components]
        raise UnknownName(
            f"{self.name!r} has no component {component!r}", remedy=suggestion(component, names)
        )


@dataclass(frozen=True, eq=False)
class Reactions(Result):
    """Joint wrenches of a mechanism at a state.

    Parameters
    ----------
    q, qd, qdd : (nq,), (nv,), (nv,) array
        The closed pose, and the motion that agrees with the constraints.
    mode : "statics" or "inverse dynamics"
    tolerance : float
        Relative rank tolerance.
    degree_of_redundancy : int
        With the held joints.
    held : tuple of str
        Joints held for the balance, besides drivers and locks.
    families : tuple of Family
        The possible values of what the rigid model leaves open.
    unresolved : tuple of (constraint, component)
        What neither the rigid model nor the compliance determines.
    stated, estimated : tuple
        Names of pairs and bodies whose stiffness was used, and the estimates that were.
    missing : MissingStiffness
        Bodies (and pairs) that need a stiffness before the unresolved components have values.
    misfit_sigma, limits : mapping
        The stated standard deviations (m, rad) and limits (N, N·m).
    budget : tuple of MisfitBudget
        The largest misfit of each component within the limits, the smallest first.
    response : MisfitResponse or None
        What a misfit of each component costs.
    actuation : ActuatorForces or None
        The forces of the actuators for this motion, where they were asked for.
    """

    mechanism: Mechanism
    q: Array
    qd: Array
    qdd: Array
    mode: Mode
    planar: str | None
    tolerance: float
    degree_of_redundancy: int
    held: tuple[str, ...]
    constraints: tuple[ConstraintReaction, ...]
    families: tuple[Family, ...] = ()
    unresolved: tuple[RowLabel, ...] = ()
    stated: tuple[str, ...] = ()
    estimated: tuple[Estimate, ...] = ()
    missing: MissingStiffness = NOTHING_MISSING
    notes: tuple[str, ...] = ()
    misfit_sigma: Mapping[str, float] = field(default_factory=dict)
    limits: Mapping[str, float] = field(default_factory=dict)
    budget: tuple[MisfitBudget, ...] = ()
    response: MisfitResponse | None = None
    actuation: ActuatorForces | None = None

    def __repr__(self) -> str:
        redundant = counted(self.degree_of_redundancy, "redundant constraint")
        facts = (self.mode, counted(len(self.constraints), "constraint"), redundant)
        return one_line(self, self.mechanism.name, (*facts, f"tolerance {self.tolerance:g}"))

    def __getitem__(self, name: str) -> ConstraintReaction:
        for constraint in self.constraints:
            if constraint.name == name:
                return constraint
        names = [c.name for c in self.constraints]
        raise UnknownName(f"there is no constraint {name!r}", remedy=suggestion(name, names))

    def sigma(self, name: str, component: str) -> float:
        """Return a standard deviation in N or N·m, NaN where no tolerance is stated or nothing determines it."""
        value = self[name][component].sigma
        return float(np.nan if value is None else value)

    def value(self, name: str, component: str) -> float:
        """Return one value in N or N·m, NaN where nothing determines it."""
        value = self[name][component].value
        return float(np.nan if value is None else value)
