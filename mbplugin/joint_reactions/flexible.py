"""Stiffness of a mechanism, stated or estimated, and the reactions that follow from it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse.linalg
from scipy.sparse import csr_array, diags_array, sparray, vstack
from scipy.sparse.csgraph import connected_components

from mbplugin.constraints.sparse_qr import Strip, banded_factor, strip_of
from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.joint_reactions import Model
from mbplugin.joint_reactions.statics import System, placed, side_by_side
from mbplugin.joint_reactions.stiffness import (
    Applied,
    Coverage,
    Element,
    attachments,
    body_element,
    coverage,
    frame_of,
    stated_elements,
)
from mbplugin.joint_reactions.stiffness_estimate import (
    MATERIALS,
    WIDEST,
    Estimate,
    Section,
    estimated_sections,
    left_out,
)
from mbplugin.model import Mechanism, Pair, ReactionSource, Scene, Stiffness
from mbplugin.model.spatial import COMPONENTS, AnyArray, Array

#: Relative size below which a flexibility is rounding.
_ROUNDING = 1e-11
#: A self-stress is determined only if elements take up at least this fraction of its norm.
_SEEN = 1e-9
#: Largest number of self-stresses of one part for which dense algebra is faster.
LARGEST_DENSE = 200
#: Relative size below which an asymmetry or a negative eigenvalue is rounding.
_PAIR_STIFFNESS_ROUNDING = 1e-9
#: Stiffness objects, tables with the keys of a scene, or a mapping by the name of the pair or body.
StiffnessLike = Iterable[Stiffness | Mapping[str, Any]] | Mapping[str, Any]
_KEYS = ("pair", "k", "body", "section")
_TABLE = "pair and k, or body and section"


# Flexible bodies from estimated stiffness.


def estimated_elements(
    system: System,
    scene: Scene,
    stated_bodies: Collection[str],
    elements: Sequence[Element],
    resolution: Resolution,
    applied: Applied,
    material: str,
    everywhere: bool,
) -> tuple[list[Element], tuple[Estimate, ...], tuple[str, ...]]:
    """Return flexible bodies for the reactions that are not yet determined, the estimates, and notes on omissions.

    Parameters
    ----------
    everywhere : bool
        Also estimate in loops with stated stiffness; otherwise the rest of such loops is meant to be rigid.
    """
    group = system.stress_groups
    wanted = set(group[~resolution.determined].tolist())
    if not everywhere:
        wanted -= {int(g) for e in elements for g in group[e.rows]}
    wanted.discard(-1)
    added: list[Element] = []
    used: list[Estimate] = []
    notes: list[str] = []
    for body, model_body in enumerate(system.mech.bodies):
        at = attachments(system, body)
        found = frame_of(system, body, at)
        if found is None or model_body.name in stated_bodies or not wanted & set(group[at.rows].tolist()):
            continue
        shapes = scene.shapes.get(model_body.name, ())
        made = estimated_sections(
            model_body.name, shapes, scene.request, found[0], system.poses.of(body), material
        )
        if note := left_out(model_body.name, shapes, scene.request):
            notes.append(note)
        if made is None:
            continue
        if any((WIDEST * one.length) ** 2 < one.section.A for one in made):
            notes.append(
                f"no beam section of {model_body.name!r} is estimated: its shapes are more than {WIDEST:g} times"
                " as wide as the beam is long"
            )
            continue
        element = body_element(system, body, [e.section for e in made], applied, "estimated")
        if element is not None:
            added.append(element)
            used.extend(made)
    return added, tuple(used), tuple(notes)


def estimated_rows(system: System, added: Sequence[Element]) -> AnyArray:
    """Return a mask (m,) of the rows whose values depend on an estimate."""
    group = system.stress_groups
    touched = {int(g) for e in added for g in group[e.rows]} - {-1}
    return np.isin(group, list(touched)) if touched else np.zeros(len(group), dtype=bool)


# The physical reactions among the possible ones: those of least elastic energy.
#
# The physical λ minimises ½ λᵀAλ + dᵀλ over all λ = λ₀ + Z y of the same motion, so that y = −(ZᵀAZ)⁻¹ Zᵀ(A λ₀ +
# d). A component is determined only if a self-stress that changes it deforms an element.


@dataclass(frozen=True, eq=False)
class Resolution:
    """Multipliers determined by compliance.

    Parameters
    ----------
    multipliers : (m,) array
        Scaled; for undetermined ones only the relations to others are meaningful.
    determined : (m,) bool array
        Whether compliance or the rigid model determines each.
    open : (m, k) sparse array
        Orthonormal scaled changes of the multipliers that neither of them determines.
    response : (m, k) sparse array
        W with B = W Wᵀ: stated gaps δ change the multipliers by −B δ, scaled; B = Z (ZᵀAZ)⁻¹ Zᵀ on the
        self-stresses that compliance determines. On ``open`` changes B has no finite value.
    """

    multipliers: Array
    determined: AnyArray
    open: csr_array
    response: csr_array


def resolve(
    system: System, multipliers: Array, elements: Sequence[Element], misfit: Array, uncovered: AnyArray
) -> Resolution:
    """Return the reactions of least elastic energy.

    A self-stress that loads an uncovered row stays open even if it deforms elements, because its value would
    depend on stiffness that is not stated. Self-stresses that deform the same elements depend on it.

    Parameters
    ----------
    multipliers : (m,) array
        One balancing λ₀, scaled.
    elements : sequence of Element
        All flexible elements; everything else is rigid.
    misfit : (m,) array
        Gaps open before assembly, scaled (with the rows).
    uncovered : (m,) bool array
        Rows of reactions on bodies without stiffness (pekal2024 §1).
    """
    m, gaps = len(multipliers), misfit.copy()
    for e in elements:
        gaps[e.rows] += e.d
    limit = np.maximum(system.zero, 1e-8)
    if not elements:
        # nothing gives way, and all self-stresses stay open
        determined = system.unique | (np.sqrt(system.Z.power(2).sum(axis=1)) <= limit)
        return Resolution(multipliers.copy(), determined, system.Z, csr_array((m, 0)))
    F = _flexibility_factor(elements, m)
    problem = LeastEnergy(
        F, F @ multipliers, gaps, uncovered & ~system.unique, float(limit.max(initial=1e-8))
    )
    parts = solved_parts(problem, system.Z, system.local)
    found = multipliers.copy()
    for part in parts:
        found[part.rows] -= part.change
    free = side_by_side([(part.rows, part.free) for part in parts], m)
    determined = system.unique | (np.sqrt(free.power(2).sum(axis=1)) <= limit)
    # rows that the rigid model determines contain only rounding
    open_rows = diags_array(np.where(system.unique, 0.0, 1.0))
    response = open_rows @ side_by_side([(part.rows, part.responding) for part in parts], m)
    return Resolution(found, determined, free, response.tocsr())


def _flexibility_factor(elements: Sequence[Element], m: int) -> csr_array:
    """Return F (k, m) with FᵀF the flexibility of all elements."""
    pieces, start = [], 0
    for e in elements:
        B = _factor(e.A)
        pieces.append((np.arange(start, start + len(B)), e.rows, B))
        start += len(B)
    return placed(pieces, (start, m))


def _factor(A: Array) -> Array:
    """Return B (r, k) with A = BᵀB, r the rank of a flexibility A (k, k)."""
    size = np.sqrt(np.maximum(np.diag(A), 0.0))
    giving = np.flatnonzero(size > 0)
    if not giving.size:
        return np.zeros((0, len(A)))
    s = size[giving]
    # scaled to a unit diagonal, so that soft directions do not hide stiff ones
    values, vectors = np.linalg.eigh(A[np.ix_(giving, giving)] / np.outer(s, s))
    kept = values > _ROUNDING * values[-1]
    B = np.zeros((int(kept.sum()), len(A)))
    B[:, giving] = np.sqrt(values[kept])[:, None] * vectors[:, kept].T * s
    return B


# Self-stresses of least elastic energy, part by part: by dense algebra, or banded for long chains.


@dataclass(frozen=True, eq=False)
class LeastEnergy:
    """The least-energy problem for the self-stresses.

    Parameters
    ----------
    F : (k, m) sparse array
        FᵀF is the flexibility of all elements.
    loaded : (k,) array
        F λ₀.
    gaps : (m,) array
    uncovered : (m,) bool array
        Rows that self-stresses may load but whose values stiffness does not determine.
    limit : float
        Zero threshold for entries of a self-stress.
    """

    F: csr_array
    loaded: Array
    gaps: Array
    uncovered: AnyArray
    limit: float


@dataclass(frozen=True, eq=False)
class SolvedPart:
    """Contribution of self-stresses that share rows or elements.

    Parameters
    ----------
    rows : (n,) int array
        Rows that they load.
    change : (n,) array
        To be subtracted from the multipliers.
    free : (n, k) array
        Orthonormal changes that remain open.
    responding : (n, r) array
        Factor of the response to gaps.
    """

    rows: AnyArray
    change: Array
    free: Array | sparray
    responding: Array | sparray


def solved_parts(problem: LeastEnergy, Z: csr_array, local: csr_array) -> list[SolvedPart]:
    """Return the contribution of each part of the orthonormal self-stresses Z (m, p).

    ``local`` (m, p) spans the same space in each part.
    """
    group = _groups(problem.F, local)
    order = np.argsort(group, kind="stable")
    stresses, by_entries = Z.T.tocsr()[order], local.T.tocsr()[order]
    bent = (problem.F @ Z).T.tocsr()[order]
    norms = np.sqrt(problem.F.power(2).sum(axis=1))
    found, bounds = [], np.flatnonzero(np.diff(group[order], prepend=-1, append=-1))
    for start, stop in zip(bounds[:-1].tolist(), bounds[1:].tolist(), strict=True):
        at = slice(start, stop)
        part = None
        if stop - start > LARGEST_DENSE:
            part = _of_large(problem, stresses[at].T, by_entries[at].T, norms)
        found.append(part or _of_small(problem, strip_of(stresses, at), strip_of(bent, at), norms))
    return found


def _groups(F: csr_array, local: csr_array) -> AnyArray:
    """Return the part number (p,) of each of the self-stresses ``local`` (m, p)."""
    touched = abs(vstack([local, F @ local])).tocsr()
    return np.asarray(connected_components(touched.T @ touched, directed=False)[1])


def _of_small(problem: LeastEnergy, stresses: Strip, bending: Strip, norms: Array) -> SolvedPart:
    """Return the contribution of orthonormal self-stresses, by dense algebra.

    ``stresses.values`` are Zᵀ (p, n), ``bending.values`` (F Z)ᵀ (p, j); ``norms`` (k,) of the rows of F.
    """
    rows, Z, FZ = stresses.columns, stresses.values.T, bending.values.T
    avoiding, loading = _split(Z[problem.uncovered[rows]], problem.limit)
    # which self-stresses are determined must not depend on the magnitude of the compliance
    unseen, basis = _split((FZ / norms[bending.columns, None]) @ avoiding, _SEEN)
    unseen, basis = avoiding @ unseen, avoiding @ basis
    if not basis.shape[1]:
        return SolvedPart(rows, np.zeros(len(rows)), Z @ np.hstack((unseen, loading)), Z @ basis)
    bent, loaded = FZ @ basis, problem.loaded[bending.columns]
    y = basis @ _least_energy(bent, loaded, basis.T @ (Z.T @ problem.gaps[rows]))
    nothing = np.zeros(bent.shape[1])
    followed = [basis @ _least_energy(bent, FZ @ c, nothing) for c in loading.T]
    following = loading - np.array(followed).reshape(-1, len(y)).T
    free = np.linalg.qr(np.hstack((unseen, following)))[0]
    return SolvedPart(rows, Z @ y, Z @ free, Z @ basis @ _inverse_factor(bent))


def _of_large(problem: LeastEnergy, Z: sparray, local: sparray, norms: Array) -> SolvedPart | None:
    """Return the contribution of self-stresses if stiffness determines all or none of them, else None.

    ``Z`` and ``local`` (m, p) span the same space; ``norms`` (k,) of the rows of F.
    """
    rows = np.unique(local.tocoo().row)
    bending = (problem.F @ local).tocsr()
    at = np.flatnonzero(np.diff(bending.indptr))
    if not at.size:
        return SolvedPart(rows, np.zeros(len(rows)), Z.tocsr()[rows], csr_array((len(rows), 0)))
    if problem.uncovered[rows].any() or not _all_seen(diags_array(1.0 / norms[at]) @ bending[at], local):
        return None
    factor = banded_factor(bending[at], problem.loaded[at])
    own = local.tocsr()[rows]
    y = factor.solution(own.T @ problem.gaps[rows])
    return SolvedPart(rows, own @ y, csr_array((len(rows), 0)), own @ factor.inverse())


def _all_seen(seen: csr_array, local: sparray) -> bool:
    """Return True if every combination of the self-stresses ``local`` (m, p) deforms elements, rows ``seen`` (k, p)."""
    # bound of the square of the largest singular value
    sizes = abs(local)
    largest = sizes.sum(axis=0).max() * sizes.sum(axis=1).max()
    try:
        smallest = banded_factor(seen, np.zeros(seen.shape[0])).smallest()
    except np.linalg.LinAlgError:
        return False
    return bool(smallest > _SEEN * np.sqrt(largest))


def _split(rows: Array, limit: float) -> tuple[Array, Array]:
    """Return orthonormal bases of the null space of rows (k, p), (p, p − r), and of its complement, (p, r)."""
    _, sigma, Vt = np.linalg.svd(np.linalg.qr(rows, mode="r"))
    rank = int((sigma > limit).sum())
    return np.asarray(Vt[rank:].T), np.asarray(Vt[:rank].T)


def _least_energy(bent: Array, loaded: Array, gaps: Array) -> Array:
    """Return y (p,) that minimises ½ |loaded − bent y|² − gapsᵀ y; bent (k, p), loaded (k,) and gaps (p,).

    A pivoted QR with the largest rows first is accurate for rows of very different size (a soft and a stiff
    pair); normal equations would lose the stiff ones.
    """
    order = np.argsort(-np.linalg.norm(bent, axis=1), kind="stable")
    Q, R, pivots = scipy.linalg.qr(bent[order], mode="economic", pivoting=True)
    u = Q.T @ loaded[order] + scipy.linalg.solve_triangular(R, gaps[pivots], trans="T")
    y = np.zeros(len(pivots))
    y[pivots] = scipy.linalg.solve_triangular(R, u)
    return y


def _inverse_factor(bent: Array) -> Array:
    """Return G (p, p) with G Gᵀ = (bentᵀ bent)⁻¹, for bent (k, p), by the same QR as ``_least_energy``."""
    order = np.argsort(-np.linalg.norm(bent, axis=1), kind="stable")
    R, pivots = scipy.linalg.qr(bent[order], mode="r", pivoting=True)
    size = len(pivots)
    G = np.zeros((size, size))
    G[pivots] = scipy.linalg.solve_triangular(R[:size], np.eye(size))
    return G


# Stated stiffness of pairs: checks, and conversion to flexibility.


def read_stiffness(mech: Mechanism, stated: StiffnessLike) -> tuple[dict[str, Array], dict[str, Section]]:
    """Return the checked flexibility (6, 6) of pairs and beam sections of bodies, by name.

    Parameters
    ----------
    stated : iterable of Stiffness or mapping, or mapping
        Mappings in an iterable have the keys of a scene's ``[[stiffness]]``: pair and k, or body and
        section. A single mapping gives, by name, six numbers or a 6 × 6 matrix for a pair (N/m and
        N·m/rad in the axes of P at the origin of S; ``inf`` is rigid) or a table E, A, Iy, Iz, J, nu
        for a body.

    Raises
    ------
    UnknownName
        A name of no pair or body.
    BadUsage
        A stiffness is not symmetric positive semidefinite, or zero in a constrained direction.
    """
    pairs: dict[str, Array] = {}
    sections: dict[str, Section] = {}
    for item in _items(stated):
        if item.pair:
            pair = mech.pair_by_name.get(item.pair)
            if pair is None:
                raise UnknownName(
                    f"a stiffness names an unknown pair {item.pair!r}",
                    remedy=suggestion(item.pair, list(mech.pair_by_name)),
                )
            pairs[pair.name] = pair_flexibility(pair, _matrix(pair, item.matrix))
        else:
            if item.body not in [body.name for body in mech.bodies]:
                raise UnknownName(
                    f"a stiffness names an unknown body {item.body!r}",
                    remedy=suggestion(item.body, [body.name for body in mech.bodies]),
                )
            sections[item.body] = Section.checked(item.body, item.section)
    return pairs, sections


def _items(stated: StiffnessLike) -> Iterable[Stiffness]:
    if not isinstance(stated, Mapping):
        return [item if isinstance(item, Stiffness) else _from_table(item) for item in stated]
    return [
        Stiffness(body=name, section=value) if isinstance(value, Mapping) else Stiffness(name, value)
        for name, value in stated.items()
    ]


def _from_table(table: Any) -> Stiffness:
    """Return a stiffness from a mapping with the keys of a scene's table."""
    if not isinstance(table, Mapping):
        raise BadUsage(f"a stiffness is {table!r}", expected=_TABLE)
    for key in table:
        if key not in _KEYS:
            raise UnknownName(f"a stiffness has an unknown key {key!r}", remedy=suggestion(str(key), _KEYS))
    if set(table) == {"pair", "k"}:
        return Stiffness(pair=str(table["pair"]), matrix=table["k"])
    if set(table) == {"body", "section"}:
        if not isinstance(table["section"], Mapping):
            raise BadUsage(
                f"the section of body {table['body']!r} is {table['section']!r}",
                expected="a table of E, A, Iy, Iz, J and optionally nu",
            )
        return Stiffness(body=str(table["body"]), section=table["section"])
    raise BadUsage(f"a stiffness has the keys {', '.join(map(str, table)) or 'none'}", expected=_TABLE)


def _matrix(pair: Pair, value: Any) -> Array:
    """Return the checked stiffness (6, 6) of a pair, N/m and N·m/rad; rigid directions are inf on its diagonal."""
    try:
        K = np.array(value, dtype=float)
    except (TypeError, ValueError):
        K = np.zeros(0)
    K = _diagonal(K) if K.shape == (6,) else K
    if K.shape != (6, 6) or np.isnan(K).any():
        raise _bad(pair, "is not six numbers and no 6 × 6 matrix")
    rigid = np.isinf(np.diag(K))
    off = K - _diagonal(np.diag(K)) if not rigid.any() else np.where(np.eye(6) > 0, 0.0, K)
    if not np.isfinite(off).all() or off[rigid].any() or off[:, rigid].any():
        raise _bad(pair, "couples a rigid (inf) component to another")
    finite = K[np.ix_(~rigid, ~rigid)]
    if np.abs(finite - finite.T).max(initial=0.0) > _PAIR_STIFFNESS_ROUNDING * np.abs(finite).max(
        initial=0.0
    ):
        raise _bad(pair, "is not symmetric")
    if (np.diag(K) < 0).any() or _lowest(finite) < -_PAIR_STIFFNESS_ROUNDING:
        raise _bad(pair, "is not positive semidefinite")
    return K


def _diagonal(k: Array) -> Array:
    """Return the diagonal matrix (6, 6) of k (6,), without the NaN of inf · 0."""
    K = np.zeros((6, 6))
    np.fill_diagonal(K, k)
    return K


def _lowest(K: Array) -> float:
    """Return the lowest eigenvalue of K (n, n) with its diagonal scaled to one."""
    if not K.size:
        return 0.0
    size = np.sqrt(np.diag(K))
    if np.abs(K[size == 0]).max(initial=0.0) > 0:
        return -1.0
    size[size == 0] = 1.0
    return float(np.linalg.eigvalsh(K / np.outer(size, size))[0])


def _bad(pair: Pair, what: str) -> BadUsage:
    return BadUsage(
        f"the stiffness of pair {pair.name!r} {what}",
        expected="a symmetric positive semidefinite 6 × 6 matrix, or its diagonal (N/m, N·m/rad)",
    )


def pair_flexibility(pair: Pair, K: Array) -> Array:
    """Return the flexibility (6, 6) of a pair's constrained components, m/N and rad/(N·m).

    K (6, 6) is the stiffness in the joint frame, N/m and N·m/rad. Free components carry no force and deform
    (Schur complement); rigid components have no flexibility.

    Raises
    ------
    BadUsage
        The stiffness is zero where the pair constrains.
    """
    names = _constrained(pair)
    constrained = [COMPONENTS.index(c) for c in names if np.isfinite(K[COMPONENTS.index(c)].max())]
    free = [k for k, c in enumerate(COMPONENTS) if c not in names and np.isfinite(K[k].max())]
    K_cf, K_ff = K[np.ix_(constrained, free)], K[np.ix_(free, free)]
    stiff = K[np.ix_(constrained, constrained)] - K_cf @ np.linalg.pinv(K_ff) @ K_cf.T
    if constrained and (_lowest(stiff) <= _PAIR_STIFFNESS_ROUNDING or (np.diag(stiff) <= 0).any()):
        soft = [COMPONENTS[c] for c, k in zip(constrained, np.diag(stiff), strict=True) if k <= 0]
        raise BadUsage(
            f"the stiffness of pair {pair.name!r} is zero in"
            f" {' '.join(soft) or 'a combination of components'}, which the pair constrains",
            expected="a positive number, or inf where the pair is rigid",
        )
    flexibility = np.zeros((6, 6))
    flexibility[np.ix_(constrained, constrained)] = np.linalg.inv(stiff)
    return flexibility


def _constrained(pair: Pair) -> Sequence[str]:
    """Return the components in which a pair can deform under its own reaction."""
    rows = pair.kind.constrained
    # a row that is no component acts along a line whose direction changes with the pose
    along_line = COMPONENTS[:3] if any(row not in COMPONENTS for row in rows) else ()
    return [c for c in COMPONENTS if c in rows or c in along_line]


@dataclass(frozen=True, eq=False)
class Flexible:
    """Flexible elements of a mechanism, and the reactions that follow.

    Parameters
    ----------
    stated, added : tuple of Element
        Elements with stated and with estimated stiffness.
    """

    resolution: Resolution
    covered: Coverage
    stated: tuple[Element, ...]
    added: tuple[Element, ...] = ()
    estimates: tuple[Estimate, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class StiffnessRequest:
    """The stiffness stated by a call, in addition to that of the scene.

    Parameters
    ----------
    estimate : bool or None
        Whether to estimate beam sections; None: only in loops for which no stiffness is stated.

    Raises
    ------
    BadUsage
        The material is unknown.
    """

    stiffness: StiffnessLike = ()
    estimate: bool | None = None
    material: str = "steel"

    def __post_init__(self) -> None:
        if self.material not in MATERIALS:
            raise BadUsage(f"the material is {self.material!r}", expected=f"one of {', '.join(MATERIALS)}")


def flexible_model(
    system: System,
    model: Model,
    multipliers: Array,
    applied: Applied,
    gaps: Array,
    request: StiffnessRequest,
) -> Flexible:
    """Return the stiffness of a model, and the reactions of least elastic energy.

    Parameters
    ----------
    multipliers, gaps : (m,) array
        One balancing λ₀ and the gaps before assembly, scaled.
    """
    pairs, sections = _stated(model, request.stiffness)
    elements = stated_elements(system, pairs, sections, applied)
    covered = coverage(system, elements)
    resolution = resolve(system, multipliers, elements, gaps, covered.uncovered)
    estimates: tuple[Estimate, ...] = ()
    notes: tuple[str, ...] = ()
    added: Sequence[Element] = ()
    if isinstance(model, Scene) and request.estimate is not False and not resolution.determined.all():
        everywhere = bool(request.estimate)
        added, estimates, notes = estimated_elements(
            system, model, sections, elements, resolution, applied, request.material, everywhere
        )
        if added:
            covered = coverage(system, [*elements, *added])
            resolution = resolve(system, multipliers, [*elements, *added], gaps, covered.uncovered)
    return Flexible(resolution, covered, tuple(elements), tuple(added), estimates, notes)


def _stated(model: Model, stiffness: StiffnessLike) -> tuple[dict[str, Array], dict[str, Section]]:
    """Return flexibility by pair and sections by body; values of the call replace those of the scene."""
    mech = model.mechanism if isinstance(model, Scene) else model
    own = read_stiffness(mech, model.stiffness if isinstance(model, Scene) else ())
    given = read_stiffness(mech, stiffness)
    return {**own[0], **given[0]}, {**own[1], **given[1]}


def row_sources(system: System, flexible: Flexible) -> tuple[ReactionSource | None, ...]:
    """Return the source of each row's value: the rigid model, a stated or an estimated stiffness, or none."""
    guessed = estimated_rows(system, flexible.added)
    return tuple(
        "rigid" if unique else None if not known else "estimated" if estimate else "stated"
        for unique, known, estimate in zip(
            system.unique, flexible.resolution.determined, guessed, strict=True
        )
    )
