"""Flexible elements of a mechanism (pairs and bodies) as flexibility of the rows, and a mechanism under its loads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.analysis.uniqueness import ConstraintVerdict
from mbplugin.dynamics import NewtonEuler, load_wrench, newton_euler, payload_terms
from mbplugin.joint_reactions import (
    ClosedState,
    Model,
    held_besides,
    held_joints,
    one_for_each,
    spring_loads,
    statics,
    with_held,
)
from mbplugin.joint_reactions.stiffness_estimate import (
    Layout,
    Section,
    carry_twist,
    deflections,
    in_one_place,
    lay_out,
    move_wrench,
)
from mbplugin.model import COMPONENTS, AnyArray, Array, Contact, Pair, RowKind, shift_rows, welded_bodies
from mbplugin.model.mechanism import WORLD, Constraint, Coupling, Driver, Lock, Mechanism, Rolling
from mbplugin.model.scene import Load, LoadLike, Payload, PayloadLike, Scene, read_loads, read_payloads

# Coverage: reactions for which the stated stiffness is complete, so that it may determine them.
#
# A rigid part is not an infinitely stiff one: its compliance may be omitted only if no result depends on
# it. In a hybrid model only bodies that no non-unique reaction loads may stay rigid (pekal2024 §1).
# A non-unique reaction is therefore *covered* if every body on which it acts has a stiffness, or if its
# joint has one, compared with which the bodies count as rigid. The ground is not a body.


@dataclass(frozen=True)
class MissingStiffness:
    """Parts that need a stiffness before the open reactions have values.

    Parameters
    ----------
    bodies : tuple of str
        In the order of the mechanism; never the ground or bodies welded to it.
    pairs : tuple of str
        Joints whose bodies cannot bend, i.e. the ground and bodies attached at one point only.
    """

    bodies: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.bodies or self.pairs)


NOTHING_MISSING = MissingStiffness()


@dataclass(frozen=True, eq=False)
class Coverage:
    """Non-unique reactions that act on parts without stiffness.

    Parameters
    ----------
    uncovered : (m,) bool array
        Rows of constraints with a non-unique reaction whose bodies and joint lack stiffness.
    lacking : dict of constraint to tuple of str
        For each constraint with a non-unique reaction, its bodies that can bend but have no stiffness.
    """

    uncovered: AnyArray
    lacking: dict[str, tuple[str, ...]]

    def groups(self, system: statics.System) -> set[int]:
        """Return the groups of rows that share self-stresses, of which some act on parts without stiffness."""
        return {*system.stress_groups[self.uncovered].tolist()}


def coverage(system: statics.System, elements: Sequence[Element]) -> Coverage:
    """Return the non-unique reactions that do not act on flexible bodies or in flexible joints only.

    Parameters
    ----------
    elements : sequence of Element
        Flexible pairs and bodies, stated or estimated.
    """
    giving = {e.name for e in elements if e.kind == "pair"}
    flexible = {e.name for e in elements if e.kind == "body"}
    exempt = _exempt(system)
    uncovered = np.zeros(len(system.scale), dtype=bool)
    lacking: dict[str, tuple[str, ...]] = {}
    for constraint, verdict in zip(system.mech.constraints(), system.verdicts, strict=True):
        if verdict.unique:
            continue
        joints = joints_of(system.mech, constraint)
        bare = [pair for pair in joints if pair.name not in giving]
        rigid = _ends(joints, verdict) - flexible - exempt
        lacking[constraint.name] = tuple(sorted(rigid, key=system.mech.body_index.__getitem__))
        if joints and not bare:
            continue
        ends = _ends(bare, verdict)
        uncovered[system.slices[constraint.name]] = not ends & flexible or bool(ends - flexible - exempt)
    return Coverage(uncovered, lacking)


def missing_stiffness(system: statics.System, covered: Coverage, determined: AnyArray) -> MissingStiffness:
    """Return the missing stiffness for the reactions that are not ``determined`` (m,).

    If all reactions of a self-stress are covered but it still deforms no element, all parts that it loads are named.
    """
    bodies: set[str] = set()
    pairs: list[str] = []
    for constraint in np.unique(system.constraint_of_row[~determined]).tolist():
        name = system.rows[constraint].constraint
        if (lacking := covered.lacking.get(name)) is None:
            continue
        rows = system.slices[name]
        groups = {*system.stress_groups[rows].tolist()}
        if not covered.uncovered[rows].any() and groups & covered.groups(system):
            continue
        bodies.update(lacking)
        if not lacking and name in system.mech.pair_by_name:
            pairs.append(name)
    return MissingStiffness(tuple(b.name for b in system.mech.bodies if b.name in bodies), tuple(pairs))


def joints_of(mech: Mechanism, constraint: Constraint) -> tuple[Pair, ...]:
    """Return the pairs in which a constraint acts: itself, or those of a drive, lock or coupling."""
    match constraint:
        case Pair():
            return (constraint,)
        case Driver():
            return (mech.pair_by_name[constraint.joint],)
        case Lock():
            return (mech.pair_by_name[constraint.joint],)
        case Coupling():
            return tuple(mech.pair_by_name[term.joint] for term in constraint.terms)
        case _:
            return ()


def _ends(joints: Sequence[Pair], verdict: ConstraintVerdict) -> set[str]:
    """Return the bodies at some joints; without joints, as for a wheel, the one body of the constraint."""
    return {body for pair in joints for body in pair.bodies} or {verdict.body_b}


def _exempt(system: statics.System) -> set[str]:
    """Return the bodies that cannot bend: the ground, bodies welded to it, and those attached at one point only."""
    pairs = system.mech.pair_by_name
    tying = {r.constraint for r in system.rows if r.components and r.constraint in pairs}
    found = {WORLD, *welded_bodies(system.mech, tying)}
    for k, body in enumerate(system.mech.bodies):
        places = [
            acting_point(system, system.constraint_by_name[r.constraint], k)
            for r in system.rows_on_body.get(k, ())
            if r.components
        ]
        if in_one_place(np.array(places).reshape(-1, 3)):
            found.add(body.name)
    return found


@dataclass(frozen=True, eq=False)
class Element:
    """One flexible pair or body.

    Parameters
    ----------
    rows : (k,) int array
        Rows of the system that it makes flexible.
    A : (k, k) array
        Flexibility: gap opened per multiplier, scaled.
    d : (k,) array
        Gap opened by loads on the element itself, scaled.
    source : "stated" or "estimated"
    kind : "pair" or "body"
    """

    name: str
    rows: AnyArray
    A: Array
    d: Array
    source: str
    kind: str


@dataclass(frozen=True, eq=False)
class Applied:
    """Loads on the bodies, split into the parts that bend a flexible body.

    Parameters
    ----------
    accelerations : (N, 6) array
        v̇, zero in statics.
    loads, payloads : tuple
        Loads include the forces of springs.
    stated : tuple of Load
        The loads without springs.
    """

    equations: NewtonEuler
    accelerations: Array
    loads: tuple[Load, ...]
    payloads: tuple[Payload, ...]
    stated: tuple[Load, ...] = ()

    def line_force(self, body: int) -> Array:
        """Return the weight and inertia force (3,) of the body's mass, distributed along its beams, N, world axes."""
        mech = self.equations.mechanism
        return np.asarray(mech.bodies[body].mass * (mech.gravity - self.accelerations[body, :3]))

    def point_wrenches(self, body: int) -> list[tuple[Array, Array]]:
        """Return (world point, wrench at the body's centre of mass) of loads and payloads."""
        mech, poses = self.equations.mechanism, self.equations.poses
        found = []
        for load in self.loads:
            if mech.body_index[load.body] == body:
                found.append((poses.of(body).apply(load.point), load_wrench(load, poses, body)))
        for payload in self.payloads:
            if mech.body_index[payload.body] == body:
                M, F = payload_terms(mech, payload, poses, self.equations.twists)
                found.append((poses.of(body).apply(payload.com), F - M @ self.accelerations[body]))
        return found


def pair_element(system: statics.System, pair: Pair, flexibility: Array) -> Element | None:
    """Return the element of a pair with a ``flexibility`` (6, 6), F below; None if it is rigid.

    The rows open by L F Lᵀ λ, with the rows L in axes of P at the origin of S.
    """
    at = system.slices[pair.name]
    rows = system.rows_by_name[pair.name]
    if not flexibility.any() or not rows.components:
        return None
    L = statics.joint_rows(system, pair, rows)
    for k, component in enumerate(rows.components):
        if pair.kind.row_kind(component) is RowKind.CROSSED:
            # stiffness is stated for the row itself
            L[k] = np.eye(6)[COMPONENTS.index(component)]
    scale = system.scale[at]
    A = scale[:, None] * (L @ flexibility @ L.T) * scale
    return Element(pair.name, np.arange(at.start, at.stop), A, np.zeros(len(A)), "stated", "pair")


@dataclass(frozen=True, eq=False)
class Attachments:
    """Points and rows by which constraints act on a body.

    Parameters
    ----------
    rows : (k,) int array
        Rows of the system that act on the body.
    W : (k, 6) array
        Their coefficients on the displacement of the body at their point.
    points : (k, 3) array
        Point of each row in the world, m.
    """

    rows: AnyArray
    W: Array
    points: Array


def attachments(system: statics.System, body: int) -> Attachments:
    """Return the attachments of a body's constraints."""
    rows: list[int] = []
    W: list[Array] = [np.zeros((0, 6))]
    points: list[Array] = []
    for r in system.rows_on_body.get(body, ()):
        if not r.components:
            continue
        entry = dict(r.entries)[body]
        point = acting_point(system, system.constraint_by_name[r.constraint], body)
        at = system.slices[r.constraint]
        rows.extend(range(at.start, at.stop))
        W.append(shift_rows(entry, system.poses.p_WC[body] - point))
        points.extend([point] * len(r.components))
    return Attachments(np.array(rows, dtype=int), np.vstack(W), np.array(points).reshape(-1, 3))


def acting_point(system: statics.System, constraint: Constraint, body: int) -> Array:
    """Return the point (3,) in the world, m, at which a constraint acts; drives, locks and couplings act at a pair."""
    pairs = system.mech.pair_by_name
    name = system.mech.bodies[body].name
    match constraint:
        case Pair():
            return statics.joint_point(system, constraint)
        case Driver():
            return statics.joint_point(system, pairs[constraint.joint])
        case Lock():
            return statics.joint_point(system, pairs[constraint.joint])
        case Coupling():
            touching = (pairs[term.joint] for term in constraint.terms)
            return statics.joint_point(system, next(p for p in touching if name in (p.body_a, p.body_b)))
        case Rolling():
            return system.poses.of(body).apply(constraint.center)
        case Contact():
            return system.poses.of(system.mech.body_index[constraint.body]).apply(constraint.point)
        case _:
            return system.poses.of(body).apply(constraint.point)


def frame_of(system: statics.System, body: int, at: Attachments) -> tuple[Layout, list[int]] | None:
    """Return the frame of a body and the node of each of its rows; None if it cannot bend."""
    if not len(at.points):
        return None
    massive = system.mech.bodies[body].mass > 0
    return lay_out(
        at.points, system.poses.p_WC[body] if massive else np.unique(at.points, axis=0).mean(axis=0)
    )


def body_element(
    system: statics.System, body: int, sections: Sequence[Section] | Section, applied: Applied, source: str
) -> Element | None:
    """Return the element of a body that bends; None if it has fewer than two attachment points."""
    at = attachments(system, body)
    found = frame_of(system, body, at)
    if found is None:
        return None
    layout, node_of = found
    several = [sections] * len(layout.beams) if isinstance(sections, Section) else list(sections)
    line_load = applied.line_force(body) / layout.lengths().sum()
    layout, wrenches = _loaded(system, body, layout, line_load, applied)
    flexibility, displaced = deflections(layout, several, system.poses.R_WL[body], line_load, wrenches)
    E = np.zeros((len(at.rows), len(flexibility)))
    for k, node in enumerate(node_of):
        E[k, 6 * node : 6 * node + 6] = at.W[k] @ carry_twist(layout.nodes[node], at.points[k])
    scale = system.scale[at.rows]
    A = scale[:, None] * (E @ flexibility @ E.T) * scale
    name = system.mech.bodies[body].name
    return Element(name, at.rows, A, scale * (E @ displaced), source, "body")


def _loaded(
    system: statics.System, body: int, layout: Layout, line_load: Array, applied: Applied
) -> tuple[Layout, list[tuple[int, Array]]]:
    """Return the frame with a node at every load, and the wrenches at these nodes.

    The part of gravity and inertia not covered by the uniform ``line_load`` (3,), N/m (moments, a centre of mass off
    the beams), acts at the point of the frame nearest to the centre of mass.
    """
    center = system.poses.p_WC[body]
    rest = applied.equations.F[body] - applied.equations.M[body] @ applied.accelerations[body]
    for (i, j, _), length in zip(layout.beams, layout.lengths(), strict=True):
        force = np.concatenate((length * line_load, np.zeros(3)))
        rest = rest - move_wrench(force, 0.5 * (layout.nodes[i] + layout.nodes[j]), center)
    pieces = applied.point_wrenches(body)
    rest = rest - sum((w for _, w in pieces), np.zeros(6))
    wrenches = []
    for point, wrench in (*pieces, (center, rest)):
        layout, node = layout.nearest(point)
        wrenches.append((node, move_wrench(wrench, center, layout.nodes[node])))
    return layout, wrenches


def stated_elements(
    system: statics.System, pairs: Mapping[str, Array], sections: Mapping[str, Section], applied: Applied
) -> list[Element]:
    """Return the elements of the stated stiffness."""
    found = [pair_element(system, system.mech.pair_by_name[n], F) for n, F in pairs.items()]
    index = system.mech.body_index
    found += [body_element(system, index[n], s, applied, "stated") for n, s in sections.items()]
    return [e for e in found if e is not None]


#: Multipliers below this fraction of the largest are 0; 1.570796327 rad in a file leaves up to 1e-11.
_ROUNDING = 1e-11


def applied_to(
    state: ClosedState, model: Model, loads: Iterable[LoadLike], payloads: Iterable[PayloadLike] | None
) -> Applied:
    """Return loads, springs and payloads of the scene and the call, with the equations they enter."""
    own: tuple[Sequence[Load], Sequence[Payload]] = ((), ())
    if isinstance(model, Scene):
        own = model.loads, model.payloads
    springs = spring_loads(state.mech, model.springs if isinstance(model, Scene) else (), state.q, state.qd)
    all_loads = (*own[0], *springs, *read_loads(state.mech, loads))
    all_payloads = tuple(own[1]) if payloads is None else read_payloads(state.mech, payloads)
    made = newton_euler(state.mech, state.q, state.qd, loads=all_loads, payloads=all_payloads)
    return Applied(
        made, state.accelerations, all_loads, all_payloads, (*own[0], *read_loads(state.mech, loads))
    )


def held_under(
    state: ClosedState, model: Model, applied: Applied, hold: Iterable[str] | None
) -> tuple[tuple[Lock, ...], tuple[Lock, ...], statics.System, statics.Balance]:
    """Return the held joints, those assumed to be held, the system with both, and the balance of the loads.

    If the caller does not specify held joints, joints without a drive that the loads move are assumed to be held,
    since files omit the effort of wheels and fingers. Nothing is assumed if that does not balance the loads.
    """
    missing = applied.equations.missing(applied.accelerations)

    def with_locks(locks: Sequence[Lock]) -> tuple[statics.System, statics.Balance]:
        mech = with_held(state.mech, locks)
        system = statics.build_system(
            mech, state.q, state.motion.poses, state.motion.columns, state.tolerance
        )
        return system, statics.balance(system, missing)

    held = held_joints(
        state.motion,
        hold,
        tuple(a.joint for a in model.actuators) if isinstance(model, Scene) else (),
        state.tolerance,
    )
    system, found = with_locks(held)
    assumed: tuple[Lock, ...] = ()
    trial = system, found
    while hold is None and trial[1].share > state.tolerance:
        moving = {name for name, _, _ in statics.joint_motion(trial[0].mech, trial[0], trial[1].rest)}
        yielding = statics.yielding_rates(trial[0])
        # a loop that is free to first order only has no finite reactions, even if further joints are held
        moved = set() if yielding and yielding >= moving & {*state.mech.qd_names} else moving - yielding
        more = held_besides(state.motion, (*held, *assumed), moved, state.tolerance)
        if not more:
            return held, (), system, found
        assumed = one_for_each((*assumed, *more))
        trial = with_locks((*held, *assumed))
    return held, assumed, *trial


def lock_label(lock: Lock) -> str:
    """Return the name of a held joint, with its freedoms if it holds only some."""
    return lock.joint if not lock.freedoms else f"{lock.joint}.{'.'.join(lock.freedoms)}"


def without_rounding(values: Array) -> Array:
    """Return values (n,) with those of rounding size set to zero, including the rounding of ten-digit angles."""
    return np.where(np.abs(values) < _ROUNDING * np.abs(values).max(initial=0.0), 0.0, values)
