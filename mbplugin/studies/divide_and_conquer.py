"""Accelerations and reactions by the divide-and-conquer algorithm, with the work that it takes (pekal2024 §2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from mbplugin.analysis.dca.connection import GroundConnection
from mbplugin.analysis.dca.inertia import Floating, to_handles
from mbplugin.analysis.dca.model import DcaModel, dca_model
from mbplugin.analysis.dca.preconditions import require_pairs_only
from mbplugin.analysis.dca.roots import force_subspaces
from mbplugin.analysis.dca.tree import Part, accumulate
from mbplugin.analysis.directions import joint_place
from mbplugin.constraints.rows.build import all_rows
from mbplugin.constraints.rows.planar import planar_rows, plane_columns
from mbplugin.dynamics.absolute import applied_wrenches
from mbplugin.dynamics.newton_euler import NewtonEuler, newton_euler
from mbplugin.errors import BadUsage, BrokenModel
from mbplugin.joint_reactions.state import closed_state
from mbplugin.model.applied_forces import AppliedForces, scene_actions
from mbplugin.model.loads import LoadLike, read_loads
from mbplugin.model.mechanism.kinematics import JointValues
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import Array, make_read_only
from mbplugin.readers.source import ModelSource, model_of
from mbplugin.studies.dca_passes import (
    Biased,
    Elimination,
    Wrenches,
    at_handles,
    back_substitute,
    eliminate_joint,
    ground_multipliers,
    levels,
)


@dataclass(frozen=True)
class Work:
    """What the main pass takes.

    Parameters
    ----------
    eliminations : int
        Joints between bodies.
    depth : int
        Levels of the binary tree: eliminations of one level can run side by side.
    multiplications : int
        Of all eliminations, one after the other.
    critical : int
        Of the dearest elimination of every level, one after the other: what is left with as many processors as
        there are pairs of bodies.
    """

    eliminations: int
    depth: int
    multiplications: int
    critical: int


@dataclass(frozen=True, eq=False)
class DcaMotion:
    """What the divide-and-conquer algorithm finds at a state.

    Parameters
    ----------
    accelerations : (N, 6) array
        v̇ of all bodies, world axes at the centres of mass, m/s² and rad/s²; zero out of the plane.
    reactions : dict of str to (6,) array
        [f; m] on the successor at the origin of S, axes of P, N and N·m: what a pair's rows carry. Where it
        is not unique, the smallest multipliers at the ground decide.
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
    """Return accelerations and reactions of a mechanism in motion by assembly and back-substitution.

    The main pass eliminates one joint after the other, from the leaves of a binary tree, until one body is left
    that only the ground holds; its reactions go back to the leaves. The work grows with the number of bodies,
    and the depth of the tree with its logarithm, for chains and trees of bodies with few joints each.

    Parameters
    ----------
    model : path, PyBullet client, Scene or Mechanism
        Pairs only, whose loops close through the ground.
    q, qd : mapping or vector, optional
        The state, made to agree with the constraints, rad and m.
    loads : iterable of Load or mapping
    torques : mapping, optional
        Constant force of a joint rate by its name, N·m or N.
    tolerance : float, optional
        Relative rank tolerance at the ground.
    planar : "xy", "yz" or "zx", optional

    Raises
    ------
    DcaNotApplicable
        A precondition of the method does not hold.
    BrokenModel
        A body without mass.
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
        """Keep the joints and the tree, and what acts, F (N, 6), N and N·m."""
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
        """Return a complete assembly: the main pass."""
        model = self._model

        def join(label: str, i: Biased, j: Biased, joint: object) -> Biased:
            name = next(n for n in i.part.handles if n in j.part.handles)
            made, step = eliminate_joint(label, i, j, model.joint[name], self._Gamma[name])
            steps.append(step)
            return made

        bodies = {k: self._body(k) for k in root[1]}
        return accumulate(model.tree.nodes_of(root), bodies, model.joint, join)

    def _body(self, k: int) -> Biased:
        """Return a body between its handles."""
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
        """Add what holds bodies to the ground, from the outermost inwards: all that acts on such a body."""
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
