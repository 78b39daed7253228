"""Elimination variants: which p rows can be dropped, and what each choice makes of λ (wojtyra2013 §4.4).

Every choice gives the same motion and another λ. The components that differ between the choices are exactly
those that the rigid model does not determine.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from mbplugin.dynamics.absolute import absolute_equations
from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.formulations import solve
from mbplugin.dynamics.redundancy.eliminate import ADMISSIBLE, Row
from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.joint_reactions.state import Model, closed_state
from mbplugin.joint_reactions.system import System, build_system
from mbplugin.model.applied_forces import AppliedForces
from mbplugin.model.loads import LoadLike, read_loads
from mbplugin.model.mechanism.identity import RowLabel
from mbplugin.model.mechanism.kinematics import JointValues
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import AnyArray, Array, make_read_only

#: A multiplier has changed when it differs by more than this fraction of the largest one.
_CHANGED = 1e-7


@dataclass(frozen=True, eq=False)
class Variant:
    """The motion and the multipliers with some redundant rows dropped.

    Parameters
    ----------
    dropped : tuple of int
        Row numbers, from 1, in the order of ``mbplugin matrix``.
    accelerations : (N, 6) array
        v̇ of all bodies, world axes at the centres of mass; zero out of the plane.
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
        Of the rows.
    non_unique : tuple of str
        Constraints whose reaction the rigid model leaves open.
    scale : (m,) array
        Multipliers over it are all in N·m, whether their rows are of travels or of turns.
    length : float
        Characteristic length, m: angular accelerations times it compare with those of points.
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

        Angular accelerations count with the characteristic length, so that no unit matters.
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
    sets: Iterable[Sequence[Row]] | None = None,
    q: JointValues = None,
    qd: JointValues = None,
    *,
    loads: Iterable[LoadLike] = (),
    count: int = 100,
    seed: int = 0,
    tolerance: float | None = None,
    planar: str | None = None,
) -> Variants:
    """Return the forward dynamics of a mechanism with different sets of redundant rows dropped.

    Parameters
    ----------
    model : Scene or Mechanism
    sets : iterable of sequences of rows, optional
        Each p rows, numbered from 1 as ``mbplugin matrix`` lists them or as (constraint, component).
        Default: all admissible sets where they are at most ``count``, else a sample.
    q, qd : mapping or vector, optional
        The state; made to agree with the constraints.
    loads : iterable of Load or mapping
    count, seed : int
        Of the sample.
    tolerance, planar
        As for :func:`mbplugin.joint_reactions.run.reactions`.

    Raises
    ------
    BadUsage
        No set, something that is no set of rows, or a set without which the rest is still redundant, or no longer holds
        what the whole holds.
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
    """Return sets of p rows (from 0) without which the others are independent and lose no rank.

    Parameters
    ----------
    Z : (m, p) array
        Self-stresses. A set is admissible iff its rows of Z form a regular matrix.
    count, seed : int
        All sets are tried where there are few; else up to ``count`` different ones are drawn.
    """
    p = Z.shape[1]
    carrying = np.flatnonzero(np.linalg.norm(Z, axis=1) > ADMISSIBLE)
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
    """Return whether some rows of Z (m, p) are a regular matrix."""
    return not rows or float(np.linalg.svd(Z[list(rows)], compute_uv=False)[-1]) > ADMISSIBLE


def _greedy(Z: Array, order: AnyArray) -> tuple[int, ...]:
    """Return the first rows of Z (m, p), in an order (k,), that are independent of those before them."""
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
    """Return the rows (m,) of a system in the order of the constraint matrix: holonomic ones first."""
    holonomic = np.concatenate([r.holonomic for r in system.rows]) if system.rows else np.zeros(0, bool)
    return np.argsort(~holonomic, kind="stable")


def _read(system: System, order: AnyArray, sets: Iterable[Sequence[Row]]) -> list[tuple[int, ...]]:
    """Return stated sets as places in an order (m,) of rows."""
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


def _row_index(labels: list[RowLabel], row: Row) -> int:
    if isinstance(row, int | np.integer) and not isinstance(row, bool):
        if not 1 <= row <= len(labels):
            raise BadUsage(f"there is no row {row}", expected=f"1 to {len(labels)}")
        return int(row) - 1
    if not isinstance(row, tuple | list) or len(row) != 2:
        raise BadUsage(f"{row!r} is no row", expected="its number from 1, or (constraint, component)")
    label = (str(row[0]), str(row[1]))
    if label not in labels:
        raise UnknownName(
            f"there is no row {row}", remedy=suggestion(".".join(label), [known.dotted for known in labels])
        )
    return labels.index(label)


def _variant(system: System, equations: Equations, order: AnyArray, rows: tuple[int, ...]) -> Variant:
    """Return the motion with some rows dropped (wojtyra2013 (11)); order (m,) as of :func:`matrix_order`."""
    solution = solve(equations, "kkt", "eliminate", dropped=order[list(rows)].tolist() if rows else ())
    accelerations = np.zeros((len(system.mech.bodies), 6))
    accelerations[:, list(system.columns)] = solution.v_dot.reshape(-1, len(system.columns))
    multipliers = solution.multipliers[order]
    make_read_only(accelerations, multipliers)
    return Variant(tuple(k + 1 for k in rows), accelerations, multipliers)
