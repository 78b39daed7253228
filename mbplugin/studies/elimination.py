"""Elimination variants: the sets of p rows that can be dropped, and λ for each choice (wojtyra2013 §4.4).

Every choice gives the same motion and a different λ. The components that differ between the choices are exactly
those that the rigid model does not determine. Also pair forces, the projective criterion and closing conditions.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import comb
from typing import Literal, get_args

import numpy as np

from mbplugin.dynamics import formulations
from mbplugin.dynamics.absolute import absolute_equations
from mbplugin.dynamics.explicit_closure import Closing, closing_conditions as conditions_of
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.joint_reactions import Model, closed_state
from mbplugin.joint_reactions.statics import System, build_system
from mbplugin.model import AppliedForces, Coordinates, JointValues, LoadLike, RowLabel, Scene, read_loads
from mbplugin.model.spatial import AnyArray, Array, make_read_only
from mbplugin.phrases import listed
from mbplugin.readers import ModelSource, model_of

#: A multiplier has changed if it differs by more than this fraction of the largest one.
_CHANGED = 1e-7
Scheme = Literal["35", "37", "38"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)
#: A dimensionless row of a planar view with a norm below this acts across the plane and is left out.
_ACROSS = 1e-9


@dataclass(frozen=True, eq=False)
class Variant:
    """The motion and the multipliers with some redundant rows dropped.

    Parameters
    ----------
    dropped : tuple of int
        Row numbers from 1, in the order of ``mbplugin matrix``.
    accelerations : (N, 6) array
        v̇ of all bodies, world axes at the centres of mass; zero for components out of the plane.
    multipliers : (m,) array
        λ in N and N·m, zero in the dropped rows.
    """

    dropped: tuple[int, ...]
    accelerations: Array
    multipliers: Array


@dataclass(frozen=True, eq=False)
class Variants:
    """Several eliminations of one mechanism at one state.

    Parameters
    ----------
    labels : tuple of (constraint, component)
        Labels of the rows.
    non_unique : tuple of str
        Constraints whose reaction the rigid model does not determine.
    scale : (m,) array
        Multipliers divided by it are all in N·m, for translational and rotational rows.
    length : float
        Characteristic length, m, which makes angular accelerations comparable with linear ones.
    """

    labels: tuple[RowLabel, ...]
    degree_of_redundancy: int
    non_unique: tuple[str, ...]
    variants: tuple[Variant, ...]
    scale: Array
    length: float

    @property
    def motion_difference(self) -> float:
        """Largest difference of an acceleration between variants, relative to the largest one.

        Angular accelerations are multiplied by the characteristic length, so that the result has no unit.
        """
        a = np.array([v.accelerations for v in self.variants]) * np.repeat((1.0, self.length), 3)
        return float(np.ptp(a, axis=0).max() / max(float(np.abs(a).max()), 1e-300))

    @property
    def changed(self) -> tuple[str, ...]:
        """The constraints whose multipliers differ between the variants, in the order of the rows."""
        values = np.array([v.multipliers for v in self.variants]) / self.scale
        differs = np.ptp(values, axis=0) > _CHANGED * np.abs(values).max(initial=0.0)
        return tuple(dict.fromkeys(n for (n, _), d in zip(self.labels, differs, strict=True) if d))


def elimination_variants(
    model: Model,
    sets: Iterable[Sequence[formulations.Row]] | None = None,
    q: JointValues = None,
    qd: JointValues = None,
    *,
    loads: Iterable[LoadLike] = (),
    count: int = 100,
    seed: int = 0,
    tolerance: float | None = None,
    planar: str | None = None,
) -> Variants:
    """Compute the forward dynamics of a mechanism with different sets of redundant rows dropped.

    Parameters
    ----------
    model : Scene or Mechanism
    sets : iterable of sequences of rows, optional
        Sets of p rows each, numbered from 1 as listed by ``mbplugin matrix`` or given as (constraint, component).
        Default: all admissible sets if there are few candidates, else a random sample.
    q, qd : mapping or vector, optional
        The state, which is made consistent with the constraints.
    loads : iterable of Load or mapping
    count, seed : int
        Size of the sample, and seed of the random numbers.
    tolerance, planar
        As for :func:`mbplugin.joint_reactions.run.reactions`.

    Raises
    ------
    BadUsage
        No set, something that is not a set of rows, or a set whose removal leaves the other rows redundant or
        lowers their rank.
    MbPluginError
        A massless body that can move.
    """
    if sets is None and count < 1:
        raise BadUsage(f"the count of sets is {count}", expected="at least 1")
    state = closed_state(model, q, qd, None, tolerance, planar)
    system = build_system(state.mech, state.q, state.motion.poses, state.motion.columns, state.tolerance)
    order = matrix_order(system)
    chosen = (
        admissible_sets(system.Z.toarray()[order], count, seed)
        if sets is None
        else _read(system, order, sets)
    )
    own = model.loads if isinstance(model, Scene) else ()
    payloads = model.payloads if isinstance(model, Scene) else ()
    acting = AppliedForces((*own, *read_loads(state.mech, loads)), payloads, damping=False, friction=False)
    equations = absolute_equations(
        state.mech,
        state.q,
        state.qd,
        acting,
        planar=state.planar,
        degree_of_redundancy=system.degree_of_redundancy,
    )
    non_unique = tuple(v.name for v in system.verdicts if not v.unique)
    labels = tuple(system.labels[k] for k in order)
    variants = tuple(_variant(system, equations, order, rows) for rows in chosen)
    scale = system.scale[order]
    make_read_only(scale)
    return Variants(labels, system.degree_of_redundancy, non_unique, variants, scale, system.length)


def admissible_sets(Z: Array, count: int = 100, seed: int = 0) -> tuple[tuple[int, ...], ...]:
    """Return sets of p rows (from 0) whose removal leaves the others independent and keeps the rank.

    Parameters
    ----------
    Z : (m, p) array
        Self-stresses. A set is admissible iff its rows of Z form a regular matrix.
    count, seed : int
        All sets are tried if there are at most ``count``; else up to ``count`` different ones are drawn.
    """
    p = Z.shape[1]
    carrying = np.flatnonzero(np.linalg.norm(Z, axis=1) > formulations.ADMISSIBLE)
    if comb(len(carrying), p) <= count:
        return tuple(s for s in itertools.combinations(carrying.tolist(), p) if _regular(Z, s))
    rng = np.random.default_rng(seed)
    found: dict[tuple[int, ...], None] = {}
    for _ in range(10 * count):
        if len(found) == count:
            break
        drawn = _greedy(Z, rng.permutation(carrying))
        if _regular(Z, drawn):
            found[drawn] = None
    return tuple(found)


def _regular(Z: Array, rows: Sequence[int]) -> bool:
    """Return True if some rows of Z (m, p) form a regular matrix."""
    return not rows or float(np.linalg.svd(Z[list(rows)], compute_uv=False)[-1]) > formulations.ADMISSIBLE


def _greedy(Z: Array, order: AnyArray) -> tuple[int, ...]:
    """Return up to p rows of Z (m, p), taken in an order (k,), each independent of those taken before."""
    basis, chosen = np.zeros((0, Z.shape[1])), []
    for k in order.tolist():
        left = Z[k] - basis.T @ (basis @ Z[k])
        size = float(np.linalg.norm(left))
        if size > 1e-3 * float(np.linalg.norm(Z[k])):
            basis = np.vstack((basis, left / size))
            chosen.append(k)
        if len(chosen) == Z.shape[1]:
            break
    return tuple(sorted(chosen))


def matrix_order(system: System) -> AnyArray:
    """Return the row indices (m,) of a system in the order of the constraint matrix: holonomic rows first."""
    holonomic = np.concatenate([r.holonomic for r in system.rows]) if system.rows else np.zeros(0, bool)
    return np.argsort(~holonomic, kind="stable")


def _read(
    system: System, order: AnyArray, sets: Iterable[Sequence[formulations.Row]]
) -> list[tuple[int, ...]]:
    """Return stated sets as positions in an order (m,) of rows."""
    labels = [system.labels[k] for k in order]
    p = system.degree_of_redundancy
    chosen = []
    for given in sets:
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise BadUsage(
                f"the set of rows {given!r} is none", expected=f"{p} rows in a tuple or a list each"
            )
        rows = tuple(sorted(_row_index(labels, row) for row in given))
        if len(set(rows)) != p or not _regular(system.Z.toarray()[order], rows):
            names = ", ".join(str(labels[k]) for k in rows)
            raise BadUsage(
                f"rows {{{names}}} cannot be dropped together: the other rows are then redundant or too few",
                expected=f"{p} rows, one for each self-stress",
            )
        chosen.append(rows)
    if not chosen:
        raise BadUsage(
            "there is no set of rows to drop",
            expected=f"at least one of {p} rows each" if p else "the empty set alone: nothing is redundant",
            remedy="leave sets away for all that are admissible",
        )
    return chosen


def _row_index(labels: list[RowLabel], row: formulations.Row) -> int:
    if isinstance(row, int | np.integer) and not isinstance(row, bool):
        if not 1 <= row <= len(labels):
            raise BadUsage(f"there is no row {row}", expected=f"1 to {len(labels)}")
        return int(row) - 1
    if not isinstance(row, tuple | list) or len(row) != 2:
        raise BadUsage(f"{row!r} is not a row", expected="its number from 1, or (constraint, component)")
    label = (str(row[0]), str(row[1]))
    if label not in labels:
        raise UnknownName(
            f"there is no row {row}", remedy=suggestion(".".join(label), [known.dotted for known in labels])
        )
    return labels.index(label)


def _variant(
    system: System, equations: formulations.Equations, order: AnyArray, rows: tuple[int, ...]
) -> Variant:
    """Return the motion with some rows dropped (wojtyra2013 (11)); order (m,) as of :func:`matrix_order`."""
    solution = formulations.solve(
        equations, "kkt", "eliminate", dropped=order[list(rows)].tolist() if rows else ()
    )
    accelerations = np.zeros((len(system.mech.bodies), 6))
    accelerations[:, list(system.columns)] = solution.v_dot.reshape(-1, len(system.columns))
    multipliers = solution.multipliers[order]
    make_read_only(accelerations, multipliers)
    return Variant(tuple(k + 1 for k in rows), accelerations, multipliers)


# Forces of pairs along physical directions, without redundant rows.
#
# A multiplier depends on how its row is written, and the same constraints can be written in many ways; closing
# conditions, for example, give each dependent joint as a function of the independent ones. Forces f along unit
# directions act on the coordinates through the distribution matrix B of virtual work, Cᵀλ = Bᵀf (blajer1994 (32)).
# Column i of B contains the velocities of the points of application along the forces for a unit rate of coordinate i;
# the rows of pairs in ``Equations`` are such directions already.


def pair_forces(
    model: ModelSource,
    q: JointValues = None,
    qd: JointValues = None,
    *,
    loads: Iterable[LoadLike] = (),
    scheme: Scheme = "37",
    coordinates: Coordinates = "joint",
    planar: str | None = None,
) -> dict[RowLabel, float]:
    """Return the constraint forces of a moving model, N and N·m, by row.

    Parameters
    ----------
    model : path, PyBullet client, Scene or Mechanism
        Without redundancy; give ``planar`` for a planar mechanism.
    q, qd : mapping or vector, optional
        The state, which is made consistent with the constraints, rad and m.
    loads : iterable of Load or mapping
    scheme : "35", "37" or "38"
        As for :func:`forces_of`.
    coordinates : "joint" or "absolute"
        Joint coordinates, with constraints of the cut pairs only, or coordinates of all bodies.
    planar : "xy", "yz" or "zx", optional

    Raises
    ------
    BadUsage
        Redundant rows, so that the forces are not unique; friction that depends on the load.
    CannotClose
        The loops cannot be closed.
    """
    given = model_of(model)
    state = closed_state(given, q, qd, None, None, planar)
    if by_load := [p.name for p in state.mech.pairs if any(f.load_friction for f in p.freedoms)]:
        raise BadUsage(
            f"the friction of {listed(by_load)} grows with the forces that are looked for",
            remedy="use mbplugin.simulate, which finds both together",
        )
    own, payloads = (given.loads, given.payloads) if isinstance(given, Scene) else ((), ())
    acting = AppliedForces((*own, *read_loads(state.mech, loads)), payloads)
    build = joint_equations if coordinates == "joint" else absolute_equations
    equations = build(state.mech, state.q, state.qd, acting, planar=state.planar, tolerance=state.tolerance)
    equations = in_plane(equations) if state.planar else equations
    forces = forces_of(equations, scheme=scheme)
    return dict(zip(equations.labels, forces.tolist(), strict=True))


def in_plane(equations: formulations.Equations) -> formulations.Equations:
    """Return the equations of a planar view without the rows across the plane, on which motion in it has no effect."""
    kept = np.flatnonzero(np.linalg.norm(equations.scaled_C, axis=1) > _ACROSS)
    dropped = len(equations.C) - len(kept)
    return replace(
        equations,
        labels=tuple(equations.labels[k] for k in kept),
        C=equations.C[kept],
        b=equations.b[kept],
        Gamma=equations.Gamma[kept],
        row_scale=equations.row_scale[kept],
        degree_of_redundancy=max(equations.degree_of_redundancy - dropped, 0),
    )


def forces_of(equations: formulations.Equations, B: Array | None = None, scheme: Scheme = "37") -> Array:
    """Return the forces f (m,) with Bᵀf = M v̇ − F, N and N·m.

    Parameters
    ----------
    equations : Equations
        Without redundant rows.
    B : (m, n) array, optional
        Distribution matrix, C by default; its rows span the same space as those of C.
    scheme : "35", "37" or "38"
        One of the three equivalent solutions of blajer1994. (35) needs M⁻¹ but no accelerations,
        (37) solves n equations, (38) the m equations of the dependent coordinates.

    Raises
    ------
    BadUsage
        Redundant rows, so that f is not unique.
    UnknownName
        An unknown scheme.
    """
    if scheme not in SCHEMES:
        raise UnknownName(f"there is no scheme {scheme!r}", remedy=suggestion(scheme, SCHEMES))
    if equations.degree_of_redundancy:
        raise BadUsage(
            f"pair forces are not unique: {equations.degree_of_redundancy} of the constraints are redundant",
            remedy="use mbplugin.reactions, which says what is unique and what compliance makes of the rest",
        )
    B = equations.C if B is None else B
    constraints = formulations.as_they_are(equations)
    parts = formulations.partition(constraints, formulations.pivoted_coordinates(equations, constraints))
    if scheme == "35":
        return from_masses(equations, B, parts)
    needed = equations.M @ formulations.motion_in(equations, constraints, parts).v_dot - equations.F
    return from_projection(equations, B, parts, needed) if scheme == "37" else from_balance(B, parts, needed)


def from_masses(equations: formulations.Equations, B: Array, parts: formulations.Partition) -> Array:
    """Return f (m,) with B (m, n) as f = (B M⁻¹Bᵀ)⁻¹ B([0; ξ] − M⁻¹F) (blajer1994 (35))."""
    solved = equations.solve_M(np.column_stack((equations.F, B.T)))
    return np.asarray(np.linalg.solve(B @ solved[:, 1:], B @ (parts.xi - solved[:, 0])))


def from_projection(
    equations: formulations.Equations, B: Array, parts: formulations.Partition, needed: Array
) -> Array:
    """Return f (m,), the upper part of [f; 0] = (T M)⁻ᵀ(M v̇ − F) with T M = [B; D M] (blajer1994 (37)).

    B (m, n) is the distribution matrix, ``needed`` (n,) is M v̇ − F.
    """
    TM = np.vstack((B, parts.H.T @ equations.M))
    return np.asarray(np.linalg.solve(TM.T, needed)[: len(B)])


def from_balance(B: Array, parts: formulations.Partition, needed: Array) -> Array:
    """Return f (m,) from the equations Bᵀf = M v̇ − F of the dependent coordinates (blajer1994 (38)).

    B (m, n) is the distribution matrix, ``needed`` (n,) is M v̇ − F.
    """
    return np.asarray(np.linalg.solve(B[:, parts.dependent].T, needed[parts.dependent]))


# The projective criterion of all joint rates, in both forms (blajer1994 (23)).


def projective_criterion(model: ModelSource, q: JointValues = None) -> dict[str, float]:
    """Return cos²αᵢ of every joint rate of a model at a pose: its suitability as an independent rate.

    It is 1 for a rate along the admissible motions, and 0 for a rate that cannot be independent, in the mass metric.

    Parameters
    ----------
    model : path, PyBullet client, Scene or Mechanism
    q : mapping or vector, optional
        Joint coordinates, rad and m; the loops are closed first.

    Raises
    ------
    CannotClose
        The loops cannot be closed.
    """
    state = closed_state(model_of(model), q, None, None, None, None)
    equations = joint_equations(
        state.mech, state.q, np.zeros(len(state.mech.qd_names)), tolerance=state.tolerance
    )
    values = cos_squared(equations, formulations.eliminate(equations))
    return dict(zip(state.mech.qd_names, values.tolist(), strict=True))


def cos_squared(equations: formulations.Equations, constraints: formulations.Independent) -> Array:
    """Return cos²αᵢ = kᵢᵀ M_d⁻¹ kᵢ / (M⁻¹)ᵢᵢ of all coordinates, (n,) (blajer1994 (23a)).

    kᵢ is column i of D = Hᵀ, and M_d = D M Dᵀ; the result does not depend on the choice of H.
    """
    return np.asarray((formulations.tangents(equations, constraints) ** 2).sum(axis=0))


def complementary_cos_squared(
    equations: formulations.Equations, constraints: formulations.Independent
) -> Array:
    """Return cos²βᵢ = kᵢᵀ M_c⁻¹ kᵢ / (M⁻¹)ᵢᵢ of all coordinates, (n,) (blajer1994 (23b)).

    kᵢ is column i of C M⁻¹, and M_c = C M⁻¹Cᵀ. It equals 1 − (23a), but is computed differently.
    """
    effect = equations.solve_M(constraints.C.T)
    along = np.linalg.solve(constraints.C @ effect, effect.T)
    return np.asarray(np.einsum("ir,ri->i", effect, along) / formulations.inverse_diagonal(equations))


# Explicit closing conditions of a model: inverse kinematics of its loops (blajer1993 (5)–(7)).


def closing_conditions(
    model: ModelSource, q: JointValues = None, independent: Sequence[str] | None = None
) -> Closing:
    """Return the closing conditions q_D = g(q_I, t), with A, η and ξ, of all loops and couplings of a model.

    Loops are solved in closed form if possible, others by Newton's method; ``steps`` lists the method for each.

    Parameters
    ----------
    model : path, PyBullet client, Scene or Mechanism
    q : mapping or vector, optional
        Joint coordinates, rad and m; the loops are closed first, and the pose selects the branches. Coordinates
        named in a mapping are kept; a vector is the initial guess for the closed pose.
    independent : sequence of str, optional
        Joint rates inside loops that are to be independent; by default those that move most.

    Returns
    -------
    Closing
        With ``g(q_I)``, ``A(q)``, ``xi(q, qd)``, ``eta(q, time)``, ``margin(q)``, ``residuals(q)``.

    Raises
    ------
    CannotClose
        The loops cannot be closed.
    ContradictedState
        Named coordinates contradict each other.
    UnknownName, BadUsage
        An independent rate that does not exist; too few or too many of them.
    """
    state = closed_state(model_of(model), q, None, None, None, None, closing=True)
    return conditions_of(state.mech, state.q, independent)
