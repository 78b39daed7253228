"""Results of ``reactions``, ``reaction_mask`` and ``inverse_dynamics``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from mbplugin.analysis.uniqueness import Directions, joint_place, unit_wrenches
from mbplugin.arguments import checked
from mbplugin.choices import Axes, ConstraintKind, ReactionSource, ReactionUnit, Uniqueness
from mbplugin.constraints.rows import planar_rows, rows_of
from mbplugin.constraints.sparse_qr import Strip, added
from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.joint_reactions import closed_state, held_joints, with_held
from mbplugin.joint_reactions.contact_bounds import ContactState
from mbplugin.joint_reactions.margins import Standing
from mbplugin.joint_reactions.misfit_response import MisfitBudget, MisfitResponse
from mbplugin.joint_reactions.sizing import Envelope
from mbplugin.joint_reactions.statics import Family, NullDirection, System, build_system, rows_at_joint
from mbplugin.joint_reactions.stiffness import NOTHING_MISSING, MissingStiffness
from mbplugin.joint_reactions.stiffness_estimate import Estimate
from mbplugin.model import COMPONENTS, AnyArray, Array, JointValues, Pair, RowLabel
from mbplugin.model.mechanism import Coupling, Driver, Lock, Mechanism
from mbplugin.phrases import counted, one_line, one_line_repr
from mbplugin.readers import ModelSource
from mbplugin.readers.standing import Stance, standing
from mbplugin.rendering import Result

#: Factor on the zero threshold of one self-stress, for sums of several.
_SUMS = 10.0
#: Component of a row along an axis below which it is zero.
_ACTS = 1e-12
Mode = Literal["statics", "inverse dynamics"]
AXES: tuple[Axes, ...] = get_args(Axes)


# ``reaction_mask``: a boolean array of the joint force components that a rigid model determines.


@dataclass(frozen=True, eq=False)
class ReactionMask(Result):
    """Mask of the joint force components that the rigid model determines; ``np.asarray(mask)`` is the array.

    Parameters
    ----------
    name : str
        Name of the mechanism.
    mask : (k, 6) array of bool
        True where the rigid model determines the component.
    joints : tuple of str
        Rows: the pairs, including closures, in file order.
    components : tuple of str
        Columns: tx ty tz (forces) rx ry rz (moments).
    axes : "joint" or "world"
        Axes of the components; ``joint`` is the predecessor's joint frame. Moments are about the origin of
        the successor's joint frame.
    degree_of_redundancy : int
    tolerance : float
        Relative rank tolerance.
    """

    name: str
    mask: AnyArray
    joints: tuple[str, ...]
    components: tuple[str, ...]
    axes: str
    degree_of_redundancy: int
    tolerance: float

    def __repr__(self) -> str:
        facts = (
            counted(len(self.joints), "joint"),
            f"{int(self.mask.sum())} of {self.mask.size} components unique",
            f"{self.axes} axes",
            f"tolerance {self.tolerance:g}",
        )
        return one_line(self, self.name, facts)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        """Return the mask (k, 6) for NumPy."""
        return np.array(self.mask, dtype=dtype) if copy or dtype else self.mask

    def __getitem__(self, joint: str) -> AnyArray:
        """Return the row (6,) of a joint."""
        if joint not in self.joints:
            raise UnknownName(f"there is no joint {joint!r}", remedy=suggestion(joint, self.joints))
        return np.asarray(self.mask[self.joints.index(joint)])

    @property
    def labels(self) -> tuple[RowLabel, ...]:
        """(joint, component) of each entry, row by row."""
        return tuple(RowLabel(joint, component) for joint in self.joints for component in self.components)


@checked
def reaction_mask(
    model: ModelSource,
    q: JointValues = None,
    *,
    axes: str = "joint",
    hold: Iterable[str] | None = (),
    tolerance: float | None = None,
    planar: str | None = None,
) -> ReactionMask:
    """Return a mask of the joint force and moment components that the rigid model determines.

    The values of the others in a rigid-body simulator depend on its solver: do not train on them, log them or
    size a part with them. Each row covers the total wrench through a joint: the pair with its drives, locks and
    couplings. Loops are closed first.

    Parameters
    ----------
    model : path, PyBullet client, Scene or Mechanism
    q : mapping or vector, optional
        Joint coordinates, rad and m; unnamed ones keep the scene's value.
    axes : "joint" or "world"
        Axes of the components: the predecessor's joint frame, or the world.
    hold : iterable of str, optional
        Joints (or ``joint.freedom``) held fixed in addition to drivers and locks; None selects those that
        ``reactions`` holds. By default none, since the torque of a motor is known.
    tolerance : float, optional
        Relative rank tolerance; the scene's, else ``constraints.DEFAULT_TOLERANCE``.
    planar : "xy", "yz" or "zx", optional
        Compute the forces in a plane; components outside it are not computed and False.

    Returns
    -------
    ReactionMask

    Raises
    ------
    BadUsage
        The axes are unknown, or a joint cannot be held.
    UnknownName
        A joint does not exist.
    CannotClose
        A loop cannot be closed.
    """
    require_axes(axes)
    model = standing(model, q)
    state = closed_state(model, q, None, None, tolerance, planar)
    actuated = tuple(a.joint for a in getattr(model, "actuators", ()))
    held = held_joints(state.motion, hold, actuated, state.tolerance)
    mech = with_held(state.mech, held)
    system = build_system(mech, state.q, state.motion.poses, state.motion.columns, state.tolerance)
    rows = [joint_mask(system, pair, axes) for pair in mech.pairs]
    mask = np.array(rows, dtype=bool).reshape(-1, 6)
    mask.setflags(write=False)
    names = tuple(pair.name for pair in mech.pairs)
    return ReactionMask(
        mech.name, mask, names, COMPONENTS, axes, system.degree_of_redundancy, state.tolerance
    )


def joint_mask(system: System, pair: Pair, axes: str = "joint") -> AnyArray:
    """Return a mask (6,) of the components of a joint's total wrench that the rigid model determines, in the view."""
    _, R_WP = joint_place(system.mech, system.poses, pair)
    unique = unique_axes(system, pair, np.eye(3) if axes == "joint" else R_WP)
    seen = np.zeros((2, 3))
    seen.flat[list(system.columns)] = 1.0
    if axes == "joint":
        # an axis of P counts where it lies in the plane
        inside = seen[:, None, :] * R_WP.T[None] ** 2
        return np.asarray(unique & (inside.sum(axis=2).ravel() > 0.5))
    return np.asarray(unique & (seen.ravel() > 0))


# Total wrench through a joint: the pair with its drives, locks and couplings, as a sensor between the two bodies
# measures it, or a simulator reports it.


def acting_rows(system: System, pair: Pair) -> Iterator[tuple[slice, Array]]:
    """Yield the slices of the multipliers that act through a joint, and their rows (k, 6).

    The rows are on the relative twist at the origin of S, axes of P: their transpose maps the multipliers to the
    wrench on the successor.
    """
    for rows in system.rows:
        constraint = system.constraint_by_name[rows.constraint]
        at = system.slices[rows.constraint]
        if isinstance(constraint, Coupling):
            for term in constraint.terms:
                if term.joint == pair.name:
                    yield at, term.coefficient * _freedom_row(system, pair, term.freedom)
        elif rows.components and (
            constraint is pair or (isinstance(constraint, Driver | Lock) and constraint.joint == pair.name)
        ):
            yield at, rows_at_joint(system.mech, system.poses, pair, rows)


def unique_axes(system: System, pair: Pair, R_AP: Array) -> AnyArray:
    """Return a mask (6,) of the components of a joint's total wrench that the rigid model determines.

    Parameters
    ----------
    R_AP : (3, 3) array
        Axes of P relative to the axes of the components.
    """
    parts, zero = [Strip(np.zeros(0, dtype=int), np.zeros((6, 0)))], 1e-8
    for at, L in acting_rows(system, pair):
        own = system.stress(at)
        wrenches = unit_wrenches(L, system.scale[at], system.length) @ own.values
        parts.append(Strip(own.columns, wrenches))
        zero = max(zero, float(system.zero[at].max(initial=0.0)))
    turned = np.kron(np.eye(2), R_AP) @ added(parts).values
    return np.asarray(np.linalg.norm(turned, axis=1) <= _SUMS * zero)


def _freedom_row(system: System, pair: Pair, freedom: str) -> Array:
    """Return the row (1, 6) of one freedom of a pair at its joint, axes of P."""
    (rows,) = rows_of(system.mech, (Driver("", pair.name, (freedom,)),), system.poses)
    return rows_at_joint(system.mech, system.poses, pair, planar_rows(rows, system.columns))


def coupled_wrench(system: System, result: Reactions, pair: Pair) -> Array:
    """Return the wrench (6,) of a pair and its couplings, axes of P at the origin of S, N and N·m.

    Undetermined components are NaN; ``result`` is for the mechanism of the system, without drives and locks.
    """
    wrench = result[pair.name].wrench
    out = np.zeros(6) if wrench is None else np.array(wrench)
    for coupling in system.mech.couplings:
        for term in coupling.terms:
            if term.joint == pair.name:
                row = term.coefficient * _freedom_row(system, pair, term.freedom)[0]
                acts = np.abs(row) > _ACTS
                out[acts] += row[acts] * result.value(coupling.name, "c")
    return out


# Actuator forces for one motion, and the shares that the motion leaves open.


@dataclass(frozen=True)
class ActuatorForce:
    """The force of one actuator, on the rate of its joint.

    Parameters
    ----------
    joint : str
        The pair, or ``pair.freedom`` if it has several freedoms.
    value : float
        Value of the least-norm solution, N·m or N.
    unique : bool
        Whether the motion determines it.
    """

    joint: str
    value: float
    unit: ReactionUnit
    unique: bool


@dataclass(frozen=True, eq=False)
class ActuatorForces(Result):
    """Actuator forces for one motion: ``values + shares @ y`` produces it for every y.

    Parameters
    ----------
    q, qd, qdd : (nq,), (nv,), (nv,) array
        The closed pose, and the motion that satisfies the constraints.
    forces : tuple of ActuatorForce
        In the order in which the actuators were named.
    shares : (a, s) array
        Basis of the forces that do not change the motion; it is the identity at the actuators ``free``.
    free : tuple of str
        s actuators whose force may be chosen freely.
    mobility : int
        Degrees of freedom without the drivers.
    tolerance : float
        Relative rank tolerance.
    """

    mechanism: Mechanism
    q: Array
    qd: Array
    qdd: Array
    forces: tuple[ActuatorForce, ...]
    shares: Array
    free: tuple[str, ...]
    mobility: int
    tolerance: float
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        facts = (
            counted(len(self.forces), "actuator"),
            f"mobility {self.mobility}",
            counted(len(self.free), "open share"),
            f"tolerance {self.tolerance:g}",
        )
        return one_line(self, self.mechanism.name, facts)

    @property
    def values(self) -> Array:
        """Least-norm forces (a,), N·m and N."""
        return np.array([force.value for force in self.forces])

    @property
    def joints(self) -> tuple[str, ...]:
        """The actuated joints, in the order of the values."""
        return tuple(force.joint for force in self.forces)

    def __getitem__(self, joint: str) -> ActuatorForce:
        for force in self.forces:
            if force.joint == joint:
                return force
        raise UnknownName(f"no actuated joint is called {joint!r}", remedy=suggestion(joint, self.joints))


def require_axes(axes: str) -> None:
    """Raise if the axes are unknown.

    Raises
    ------
    BadUsage
        The axes are not one of ``AXES``.
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
        None if undetermined.
    source : "rigid", "stated", "estimated", "inequalities" or None
        Source of the value: the rigid model, the stated stiffness, an estimated one, or the inequalities of
        contacts and limits, whose bounds agree.
    sigma : float or None
        Standard deviation for the stated tolerances, N or N·m; None if no tolerances are stated or the value is
        undetermined.
    lower, upper : float or None
        Smallest and largest value that contacts, friction and limits of drives allow, if the rigid model does not
        determine it, N or N·m; None where nothing bounds it.
    bounded_by : tuple of str or None
        Inequalities that decide them: ``contact.cn``, ``contact.friction``, ``joint.effort``; None where none does.
    """

    name: str
    unit: ReactionUnit
    unique: bool
    value: float | None
    source: ReactionSource | None
    sigma: float | None = None
    lower: float | None = None
    upper: float | None = None
    bounded_by: tuple[str, ...] | None = None


@one_line_repr
@dataclass(frozen=True, eq=False)
class WorldWrench:
    """A reaction in world axes.

    Parameters
    ----------
    body : str
        Body on which it acts: the successor (for a wheel, its body). The predecessor gets the opposite.
    point : (3,) array
        In the world, m: the origin of S, the centre of a wheel, or the point of a knife edge.
    wrench : (6,) array
        [f; m] at that point, N and N·m; NaN where undetermined. A world component may be determined
        although no component in the joint's axes is, and vice versa.
    sources : tuple of "rigid", "stated", "estimated", "inequalities" or None
        Source of each of the six values.
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
        Point of action: the origin of S in the world, m; None unless the constraint is a pair.
    wrench : (6,) array or None
        [f; m] on the successor at the origin of S, axes of P, N and N·m; NaN where undetermined.
        Forces of drives and locks are separate constraints. Free components of the joint are 0.
    directions : tuple of NullDirection
        Directions in which the rigid model leaves the reaction undetermined.
    shared_with : tuple of str
        Constraints whose reactions change together with this one.
    R_WJ : (3, 3) array or None
        Axes of P in the world, by column, in which the components are given; for a drive or lock those of
        its joint; None for couplings and wheels.
    world : WorldWrench or None
        The reaction in world axes; None for a coupling, which acts at several points.
    open_force, open_moment : tuple of (x, y, z) or None
        Orthonormal directions, world axes, in which the rigid model leaves the force, and the moment at
        ``point``, undetermined; independent of the joint frame's angle about a free axis. None unless the
        constraint is a pair.
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
        """Whether every component has a value, from any source."""
        return all(component.value is not None for component in self.components)

    def wrench_in(self, axes: str) -> Array | None:
        """Return the wrench (6,) on the successor at ``point`` in the axes of P ("joint") or "world".

        Raises
        ------
        BadUsage
            The axes are unknown.
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
        The closed pose, and the motion that satisfies the constraints.
    mode : "statics" or "inverse dynamics"
    tolerance : float
        Relative rank tolerance.
    degree_of_redundancy : int
        Including the held joints.
    held : tuple of str
        Joints held for the balance, in addition to drivers and locks.
    assumed_held : tuple of str
        Those of them without a drive in the file that are assumed to be held to balance the loads.
    families : tuple of Family
        The possible values of reactions that the rigid model leaves undetermined.
    unresolved : tuple of (constraint, component)
        Components that neither the rigid model nor compliance determines.
    stated, estimated : tuple
        Names of pairs and bodies with stated stiffness, and the estimates used.
    missing : MissingStiffness
        Bodies (and pairs) that need a stiffness before the unresolved components have values.
    misfit_sigma, limits : mapping
        The stated standard deviations (m, rad) and limits (N, N·m).
    budget : tuple of MisfitBudget
        The largest misfit of each component within the limits, the smallest first.
    response : MisfitResponse or None
        Loads due to a misfit of each component.
    actuation : ActuatorForces or None
        Actuator forces for this motion, if requested.
    contacts : tuple of ContactState
        The contacts, and which of them hold.
    standing : Standing or None
        Margins of the contacts; None without contacts.
    stance : Stance or None
        The links on which the robot stands, and which of these are assumed.
    envelope : Envelope or None
        The largest loads along a motion of which this is the first instant.
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
    assumed_held: tuple[str, ...] = ()
    contacts: tuple[ContactState, ...] = ()
    standing: Standing | None = None
    stance: Stance | None = None
    envelope: Envelope | None = None

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
        """Return a standard deviation in N or N·m, NaN if no tolerance is stated or it is undetermined."""
        value = self[name][component].sigma
        return float(np.nan if value is None else value)

    def value(self, name: str, component: str) -> float:
        """Return one value in N or N·m, NaN if undetermined."""
        value = self[name][component].value
        return float(np.nan if value is None else value)
