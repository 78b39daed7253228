"""Accelerations and reactions by the divide-and-conquer algorithm, with its cost (pekal2024 §2); impulse shares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mbplugin.analysis.dca.assembly import (
    Floating,
    Node,
    Part,
    accumulate,
    assembled,
    force_subspaces,
    interaction,
    rest_and_joint,
    to_handles,
)
from mbplugin.analysis.dca.model import DcaModel, GroundConnection, dca_model
from mbplugin.analysis.dca.propagation import Joint, require_pairs_only
from mbplugin.analysis.uniqueness import joint_place
from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.constraints.reduction import body_twists
from mbplugin.constraints.rows import all_rows, planar_rows, plane_columns
from mbplugin.dynamics import NewtonEuler, newton_euler
from mbplugin.dynamics.absolute import applied_wrenches, rate_rows
from mbplugin.errors import BadUsage, BrokenModel, UnknownName, suggestion
from mbplugin.joint_reactions import closed_state
from mbplugin.joint_reactions.flexible import StiffnessLike, read_stiffness, resolve
from mbplugin.joint_reactions.statics import balance, build_system
from mbplugin.joint_reactions.stiffness import Applied, coverage, stated_elements
from mbplugin.model import AnyArray, Array, JointValues, Mechanism, RowLabel, make_read_only
from mbplugin.model.brakes import AppliedForces, rate_values, scene_actions
from mbplugin.model.scene import LoadLike, Payload, Scene, read_loads
from mbplugin.readers import ModelSource, model_of

#: Wrenches (d,) on a body at its handles, world axes, by joint.
Wrenches = dict[str, Array]


@dataclass(frozen=True)
class Work:
    """Cost of the main pass.

    Parameters
    ----------
    eliminations : int
        Number of eliminated joints between bodies.
    depth : int
        Levels of the binary tree; eliminations of one level can run in parallel.
    multiplications : int
        Number of multiplications of all eliminations.
    critical : int
        Sum over the levels of the multiplications of the most expensive elimination: the critical path with as many
        processors as there are pairs of bodies.
    """

    eliminations: int
    depth: int
    multiplications: int
    critical: int


@dataclass(frozen=True, eq=False)
class DcaMotion:
    """Results of the divide-and-conquer algorithm at a state.

    Parameters
    ----------
    accelerations : (N, 6) array
        v̇ of all bodies, world axes at the centres of mass, m/s² and rad/s²; zero for components out of the plane.
    reactions : dict of str to (6,) array
        [f; m] on the successor at the origin of S, axes of P, N and N·m: the load of a pair's rows. If it
        is not unique, it is that for the smallest multipliers at the ground.
    degree_of_redundancy : int
        Columns of G minus its rank.
    """

    accelerations: Array
    reactions: dict[str, Array]
    degree_of_redundancy: int
    work: Work


def divide_and_conquer(
    model: ModelSource,
    q: JointValues = None,
    qd: JointValues = None,
    *,
    loads: Iterable[LoadLike] = (),
    torques: Mapping[str, float] | None = None,
    tolerance: float | None = None,
    planar: str | None = None,
) -> DcaMotion:
    """Compute accelerations and reactions of a moving mechanism by assembly and back-substitution.

    The main pass eliminates the joints one by one, from the leaves of a binary tree, until one body remains
    that is connected only to the ground; its reactions are substituted back to the leaves. For chains and trees of
    bodies with few joints each, the cost grows linearly with the number of bodies, the depth logarithmically.

    Parameters
    ----------
    model : path, PyBullet client, Scene or Mechanism
        With pairs as the only constraints, and loops that close through the ground.
    q, qd : mapping or vector, optional
        The state, which is made consistent with the constraints, rad and m.
    loads : iterable of Load or mapping
    torques : mapping, optional
        Constant forces by joint rate, N·m or N.
    tolerance : float, optional
        Relative rank tolerance at the ground.
    planar : "xy", "yz" or "zx", optional

    Raises
    ------
    DcaNotApplicable
        A precondition of the method is not satisfied.
    BrokenModel
        A body without mass or inertia.
    BadUsage
        Drives with inertia, which belongs to two bodies.
    CannotClose
        The loops cannot be closed.
    """
    given = model_of(model)
    state = closed_state(given, q, qd, None, tolerance, planar)
    require_pairs_only(state.mech)
    own = scene_actions(given) if isinstance(given, Scene) else AppliedForces()
    acting = replace(
        own, loads=(*own.loads, *read_loads(state.mech, loads)), torques={**own.torques, **(torques or {})}
    )
    if any(acting.armature.values()):
        raise BadUsage(
            "a drive has inertia, which belongs to two bodies",
            remedy="state no armature, or use mbplugin.simulate",
        )
    columns = plane_columns(state.planar)
    made = newton_euler(state.mech, state.q, state.qd, loads=acting.loads, payloads=acting.payloads)
    F = applied_wrenches(state.mech, made, acting, 0.0)
    return _Passes(dca_model(state.mech, state.q, columns), made, F).run(state.tolerance)


class _Passes:
    """The passes over one mechanism at one state."""

    def __init__(self, model: DcaModel, made: NewtonEuler, F: Array) -> None:
        """Store the joints, the tree, and the applied wrenches F (N, 6), N and N·m."""
        self._model, self._made, self._F = model, made, F
        self._inside = list(model.columns)
        rows = all_rows(model.mechanism, made.poses, made.q, made.twists)
        self._Gamma = {r.constraint: planar_rows(r, model.columns).Gamma for r in rows}
        self._X: dict[int, Array] = {}
        self._inverse: dict[int, Array] = {}

    def run(self, tolerance: float) -> DcaMotion:
        """Assemble, solve at the ground, and substitute back."""
        model = self._model
        connections = {c.joints: c for c in model.connections(tolerance)}
        accelerations = np.zeros((len(model.mechanism.bodies), 6))
        on_successor: Wrenches = {}
        steps: list[Elimination] = []
        for root in model.tree.roots:
            own: list[Elimination] = []
            complete = self._assemble(root, own)
            at_ground = self._at_ground(root, complete, connections.get(root[2]))
            found = back_substitute(own, {complete.part.label: at_ground})
            for k in root[1]:
                on = found[model.mechanism.bodies[k].name]
                felt = self._X[k].T @ np.concatenate([on[n] for n in model.handles[k]] or [np.zeros(0)])
                accelerations[k, self._inside] = self._inverse[k] @ (self._F[k, self._inside] + felt)
                for name, wrench in on.items():
                    on_successor[name] = model.joint[name].sign(k) * wrench
            steps += own
        self._add_welds(on_successor)
        make_read_only(accelerations)
        return DcaMotion(
            accelerations,
            {pair.name: self._reaction(pair.name, on_successor) for pair in model.mechanism.pairs},
            sum(c.redundancy for c in connections.values()),
            self._work(steps),
        )

    def _assemble(self, root: Part, steps: list[Elimination]) -> Biased:
        """Return the complete assembly below a root (main pass); append its eliminations to ``steps``."""
        model = self._model

        def join(label: str, i: Biased, j: Biased, joint: object) -> Biased:
            name = next(n for n in i.part.handles if n in j.part.handles)
            made, step = eliminate_joint(label, i, j, model.joint[name], self._Gamma[name])
            steps.append(step)
            return made

        bodies = {k: self._body(k) for k in root[1]}
        return accumulate(model.tree.nodes_of(root), bodies, model.joint, join)

    def _body(self, k: int) -> Biased:
        """Return a body with Φ and bias accelerations at its handles."""
        model, body = self._model, self._model.mechanism.bodies[k]
        M = self._made.M[k][np.ix_(self._inside, self._inside)]
        if not (body.mass > 0 and np.linalg.eigvalsh(M)[0] > 0):
            raise BrokenModel(
                f"body {body.name!r} has no mass or no inertia",
                remedy="state both, or fix it to another body",
            )
        arms = [model.joint[name].point_W - self._made.poses.p_WC[k] for name in model.handles[k]]
        self._X[k], self._inverse[k] = to_handles(arms, model.columns), np.linalg.inv(M)
        Phi, b = at_handles(self._X[k], self._inverse[k], self._F[k, self._inside])
        return Biased(Floating(body.name, model.handles[k], Phi), b)

    def _at_ground(self, root: Part, complete: Biased, connection: GroundConnection | None) -> Wrenches:
        """Return the wrenches on a complete assembly at its ground joints (pekal2024 (8), (22))."""
        ground = [self._model.joint[name] for name in root[2]]
        if not ground:
            return {}
        d = len(self._inside)
        at = complete.part.at(root[2], d)
        T = force_subspaces(ground)
        G = T.T @ complete.part.Phi[np.ix_(at, at)] @ T
        h = np.concatenate([self._Gamma[joint.name] for joint in ground]) - T.T @ complete.b[at]
        if connection is None:
            multipliers = ground_multipliers(G, h, 1.0 / np.sqrt(np.diag(G)), np.zeros((len(G), 0)))
        else:
            multipliers = ground_multipliers(G, h, connection.unit, connection.N_scaled)
        wrenches = (T @ multipliers).reshape(len(ground), d)
        return {joint.name: wrench for joint, wrench in zip(ground, wrenches, strict=True)}

    def _add_welds(self, on_successor: Wrenches) -> None:
        """Add the wrenches of welds to the ground, from the outermost inwards, each from the balance of its body."""
        model = self._model
        for weld in reversed(model.welds):
            k = model.welded[weld.name]
            total = self._F[k, self._inside].copy()
            for name in model.handles[k]:
                if name in on_successor:
                    joint = model.joint[name]
                    arm = joint.point_W - self._made.poses.p_WC[k]
                    side = (
                        1.0
                        if model.mechanism.pair_by_name[name].body_b == model.mechanism.bodies[k].name
                        else -1.0
                    )
                    total += side * to_handles([arm], model.columns).T @ on_successor[name]
            arm = model.joint[weld.name].point_W - self._made.poses.p_WC[k]
            at_weld = np.linalg.solve(to_handles([arm], model.columns).T, -total)
            successor = model.mechanism.pair_by_name[weld.name].body_b == model.mechanism.bodies[k].name
            on_successor[weld.name] = at_weld if successor else -at_weld

    def _reaction(self, name: str, on_successor: Wrenches) -> Array:
        """Return the wrench (6,) of a pair on its successor, axes of P."""
        world = np.zeros(6)
        if name in on_successor:
            world[self._inside] = on_successor[name]
        _, R_WP = joint_place(
            self._model.mechanism, self._made.poses, self._model.mechanism.pair_by_name[name]
        )
        out = np.concatenate((R_WP.T @ world[:3], R_WP.T @ world[3:]))
        make_read_only(out)
        return out

    def _work(self, steps: list[Elimination]) -> Work:
        level = levels(self._model.tree.nodes)
        dearest: dict[int, int] = {}
        for step in steps:
            at = level[step.label]
            dearest[at] = max(dearest.get(at, 0), step.multiplications)
        return Work(
            len(steps),
            max(level.values(), default=0),
            sum(step.multiplications for step in steps),
            sum(dearest.values()),
        )


# The main pass and the back-substitution of the divide-and-conquer algorithm (pekal2024 §2.1, (1)–(7)).
#
# Accelerations at a handle are the part linear in those of its body, a = X v̇, with X the shift from the centre of
# mass; velocity terms are in Γ of the joints' rows. External forces, including those along freedoms, are in the bias
# accelerations b.


@dataclass(frozen=True, eq=False)
class Biased:
    """A body or subassembly with its bias accelerations,  a = Φ f + b  (pekal2024 (1)).

    Parameters
    ----------
    b : (d·h,) array
        Rows as those of Φ, m/s² and rad/s².
    """

    part: Floating
    b: Array


@dataclass(frozen=True, eq=False)
class Elimination:
    """Data of an eliminated joint, from which its reaction follows for given wrenches on the other handles.

    Parameters
    ----------
    i, j : Biased
        Parts with the predecessor and with the successor.
    W : (d, d) array
        Maps the relative acceleration at the joint to its reaction.
    gamma : (d,) array
        The reaction on the successor for zero wrenches on the other handles, N and N·m.
    multiplications : int
        Cost of the elimination.
    """

    label: str
    i: Biased
    j: Biased
    joint: Joint
    W: Array
    gamma: Array
    multiplications: int


def eliminate_joint(
    label: str, i: Biased, j: Biased, joint: Joint, Gamma: Array
) -> tuple[Biased, Elimination]:
    """Return the subassembly of two parts connected by a joint, and the data of the elimination (pekal2024 (7)).

    Parameters
    ----------
    Gamma : (k,) array
        Γ of the joint's rows, Tᵀ(a_j − a_i) = Γ.
    """
    W = interaction(i.part, j.part, joint)
    part = assembled(label, i.part, j.part, joint, W)
    _, i1, i2 = rest_and_joint(i.part, joint)
    _, j2, j1 = rest_and_joint(j.part, joint)
    # Tᵀ c = Γ: the part of Ṡ q̇ along the joint's rows; W ignores all other parts
    c = joint.T @ np.linalg.solve(joint.T.T @ joint.T, Gamma) if Gamma.size else np.zeros(len(joint.T))
    gamma = W @ (i.b[i2] - j.b[j1] + c)
    b = np.concatenate(
        (
            i.b[i1] - i.part.Phi[np.ix_(i1, i2)] @ gamma,
            j.b[j2] + j.part.Phi[np.ix_(j2, j1)] @ gamma,
        )
    )
    spent = _multiplications(len(joint.T), len(joint.T) - joint.T.shape[1], len(i1), len(j2))
    return Biased(part, b), Elimination(label, i, j, joint, W, gamma, spent)


def _multiplications(d: int, free: int, n: int, m: int) -> int:
    """Return the number of multiplications of an elimination: products as written, and d²(d + k) for a solution."""
    interaction = 2 * d**3 + 2 * d * d * free + free**2 * (free + d) + d * free * d
    Phi = (n + m) * d * d + d * (n * n + m * m + n * m)
    return interaction + Phi + d * d + d * (n + m)


def back_substitute(
    eliminations: Sequence[Elimination], wrenches: dict[str, Wrenches]
) -> dict[str, Wrenches]:
    """Compute the wrenches on every body from those at the handles of complete assemblies, from the root down.

    Parameters
    ----------
    eliminations : sequence of Elimination
        Leaves first.
    wrenches : dict of label to Wrenches
        Wrenches on the complete assemblies.

    Returns
    -------
    dict of label to Wrenches
        Wrenches on single bodies and on all subassemblies.
    """
    found = dict(wrenches)
    for e in reversed(eliminations):
        on = found[e.label]
        d = len(e.joint.T)
        rest_i, i1, i2 = rest_and_joint(e.i.part, e.joint)
        rest_j, j2, j1 = rest_and_joint(e.j.part, e.joint)
        f_i, f_j = _stacked(on, rest_i, d), _stacked(on, rest_j, d)
        felt = e.i.part.Phi[np.ix_(i2, i1)] @ f_i - e.j.part.Phi[np.ix_(j1, j2)] @ f_j
        reaction = e.W @ felt + e.gamma
        found[e.i.part.label] = {**{name: on[name] for name in rest_i}, e.joint.name: -reaction}
        found[e.j.part.label] = {**{name: on[name] for name in rest_j}, e.joint.name: reaction}
    return found


def _stacked(on: Wrenches, names: Sequence[str], d: int) -> Array:
    """Return the wrenches at some handles, stacked (d·k,)."""
    return np.concatenate([on[name] for name in names] or [np.zeros(0)]).reshape(d * len(names))


def levels(nodes: Sequence[Node]) -> dict[str, int]:
    """Return the level of every subassembly in the binary tree, 1 for a pair of bodies; bodies are not included."""
    found: dict[str, int] = {}
    for node in nodes:
        found[node.label] = 1 + max(found.get(node.left, 0), found.get(node.right, 0))
    return found


def ground_multipliers(G: Array, h: Array, unit: Array, N: Array) -> Array:
    """Return the multipliers (m,) with G λ = h (pekal2024 (22)), those of minimum norm if G is singular.

    Parameters
    ----------
    G : (m, m) array
    h : (m,) array
    unit : (m,) array
        Scale of each multiplier, N and N·m.
    N : (m, p) array
        Orthonormal null space of the scaled G.
    """
    scaled = unit[:, None] * G * unit
    size = float(np.trace(scaled)) / max(len(G), 1)
    return np.asarray(unit * np.linalg.solve(scaled + size * N @ N.T, unit * h))


def at_handles(X: Array, inverse: Array, F: Array) -> tuple[Array, Array]:
    """Return Φ (d·h, d·h) and b (d·h,) of a body with shifts X (d·h, d), inverse (d, d) M⁻¹, and wrench F (d,)."""
    return X @ inverse @ X.T, X @ (inverse @ F)


# Distribution of impulses over all pairs and brakes in a transition, by compliance.


@dataclass(frozen=True, eq=False)
class Shares:
    """The impulses of all constraints of a mechanism, including tree pairs.

    Parameters
    ----------
    labels : tuple of (constraint, component)
        Components of pairs are those of their rows, in the predecessor's joint frame.
    impulses : (m,) array
        Impulses on the successor, N·s and N·m·s; NaN if neither model nor stiffness determines them.
    unique : (m,) array of bool
        Whether the rigid model determines each impulse.
    determined : (m,) array of bool
        Whether the rigid model or the stated stiffness determines it.
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
            Not a constraint of the mechanism.
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
    """Return the impulses of all constraints of a mechanism for a jump of its rates.

    The impulses balance the change of momentum of every body, CᵀΛ = M Δv − U. If the rigid model does not
    determine them, the stated stiffness does, as for reactions: the shock is assumed to be short compared with
    the motion and long compared with the elastic waves in the parts, so that the elastic energy is minimal.

    Parameters
    ----------
    mech : Mechanism
        With the constraints in force after the instant, closed brakes being among its locks.
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
