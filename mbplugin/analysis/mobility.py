"""Finite mobility: which of the infinitesimal freedoms of a mechanism are freedoms of motion.

Columns less rank is the dimension of the tangent space of the constraint equations, not of the set of poses. Where
the rows of a block are independent, both are equal. Where some are redundant, the set of poses decides, block by block:

1. *All freedoms at once.* Move along a random direction of ker J by a finite step, and close the loops by directions
   across ker J only. If that succeeds, the poses near fill ker J, with probability one: if they had fewer dimensions, a
   random direction would meet none. This is the usual case, and takes a few Newton steps for all blocks together.
2. *Second order.* Along v ∈ ker J the loops can only go on if zᵀ H(v, v) = 0 for every self-stress z. If a combination
   of these forms is definite, or if no direction satisfies them, the pose is isolated.
3. *Geometry.* From steps along directions that satisfy the forms, the loops are closed again, by all directions. A
   closed pose that has not fallen back is on a branch. The dimension of the branch is decided there, as in 1; where
   that fails, because a freedom is infinitesimal all along the branch, by the rank of chords between its poses.

Which gap is none: files round, so rows that are redundant by intent contradict one another. Such a gap grows at most
in proportion to the step and to σ, the largest singular value that the rank decision takes for zero. The gap of a
freedom that is only infinitesimal grows with the square of the step, or a higher power, whatever was taken for zero.
After a step h, ``_GAPS`` times (what the start leaves open + σ h) counts as closed, and ``_EXACT``; and in a rounded
model, where h is large, tolerance · h² for what rounding does to second order. A strut whose middle pin is 10⁻⁵ off its
line has σ = 10⁻⁵: after h = 0.1 a gap of 3·10⁻⁶ would be one of rounding, it is 10⁻², and the strut is rigid. A loop
whose axes are 5·10⁻⁵ rad from parallel opens by 5·10⁻⁶ there, and moves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mbplugin.analysis.loop_equations import AlikeBlocks, LoopEquations
from mbplugin.constraints.assembly.descent import Jacobians, shortest_step
from mbplugin.constraints.rank import RankedBlock, View
from mbplugin.constraints.reduction.scaling import tree_motion
from mbplugin.constraints.rows import rows_of
from mbplugin.lapack import pivot_order, pivots
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import Array
from mbplugin.phrases import one_line_repr

#: What counts as closed after a step: multiples of what the start leaves open, and an absolute size.
_GAPS, _EXACT = 3.0, 1e-10
#: Of a model whose numbers are exact, gaps and singular values are below this.
_ROUNDED = 1e-10
#: Steps along all freedoms at once, the largest entry, rad and lengths ℓ: smaller ones only where numbers are exact.
_STEPS = (0.1, 0.03)
#: Random directions that all have to succeed.
_DIRECTIONS = 2
#: Newton steps, and a step that ends them.
_ITERATIONS, _CONVERGED = 15, 1e-11
#: Steps of a projection by all directions, which converges only linearly where the pose is singular on all of a branch,
#: and a gap that ends it.
_PROJECTIONS, _CLOSED = 60, 1e-12
#: No Newton step is longer: rad and lengths.
_LONGEST = 0.5
#: Step of the central differences of the second derivatives.
_DIFFERENCE = 1e-3
#: A form that is smaller than this says nothing.
_CURVED = 1e-3
#: Starts of the search for directions that satisfy the forms, and the residual at which one does.
_STARTS, _SATISFIED = 24, 1e-7
#: Steps along such directions; where one does not arrive, the next may.
_BRANCH_STEPS = (0.06, 0.02)
#: The two steps of the chords.
_CHORDS = (0.05, 0.0125)
#: What a pose may leave open near a branch that is singular throughout, where numbers are rounded.
_ON_BRANCH = 1e-7
#: Singular values of an exact model that count in a projection: there also small ones lead to the branch.
_COUNTED = 1e-8
#: Columns of a block up to which its branches are searched: beyond, the work grows with the cube.
_SEARCHED = 400


@one_line_repr
@dataclass(frozen=True)
class Branch:
    """One of the sets of poses that meet at a pose.

    Parameters
    ----------
    dof : int
        Its dimension: the mobility of the block on it.
    rates : tuple of str
        Joint rates that move along it.
    """

    dof: int
    rates: tuple[str, ...]


@one_line_repr
@dataclass(frozen=True)
class BlockMobility:
    """The freedoms of one block with redundant rows at a pose.

    Parameters
    ----------
    constraints : tuple of str
        Of the block.
    infinitesimal : int
        Freedoms to first order.
    finite : int or None
        Freedoms of motion: the largest dimension of a branch; None where the block is too large to decide.
    branches : tuple of Branch
        None where all freedoms are of motion, and where the pose is isolated.
    shaky : int
        Freedoms that are infinitesimal only: no branch has them.
    shaky_rates : tuple of str
        Joint rates that are free to first order only.
    held_rates : tuple of str
        As few of them as take these freedoms when they are held; none where others move with them.
    """

    constraints: tuple[str, ...]
    infinitesimal: int
    finite: int | None
    branches: tuple[Branch, ...] = ()
    shaky: int = 0
    shaky_rates: tuple[str, ...] = ()
    held_rates: tuple[str, ...] = ()

    def shaky_joints(self, mech: Mechanism) -> tuple[str, ...]:
        """Return the joints of the rates that are free to first order only."""
        joints = {name: j.pair.name for j in mech.tree.joints if j.pair for name in mech.qd_names[j.qd]}
        return tuple(dict.fromkeys(joints[rate] for rate in self.shaky_rates if rate in joints))


@one_line_repr
@dataclass(frozen=True)
class Mobility:
    """Infinitesimal and finite mobility of a mechanism at a pose.

    Parameters
    ----------
    infinitesimal : int
        Columns less rank.
    finite : int or None
        Freedoms of motion; None where a large block is not decided.
    blocks : tuple of BlockMobility
        Those in which both differ, or that are not decided.
    """

    infinitesimal: int
    finite: int | None
    blocks: tuple[BlockMobility, ...] = ()

    @property
    def words(self) -> str:
        """Both numbers where they differ."""
        if self.finite is None:
            return f"mobility {self.infinitesimal} to first order"
        if self.finite == self.infinitesimal:
            return f"mobility {self.infinitesimal}"
        meeting = [len(block.branches) for block in self.blocks if len(block.branches) > 1]
        branches = f" on each of {math.prod(meeting)} branches that meet here" if meeting else ""
        return f"mobility {self.infinitesimal} to first order, {self.finite} in fact{branches}"

    @property
    def shaky(self) -> tuple[BlockMobility, ...]:
        """The blocks with freedoms that are infinitesimal only."""
        return tuple(block for block in self.blocks if block.shaky)

    @property
    def shaky_rates(self) -> tuple[str, ...]:
        """The joint rates that are free to first order only."""
        return tuple(rate for block in self.blocks for rate in block.shaky_rates)


def finite_mobility(view: View, infinitesimal: int, *, seed: int = 0) -> Mobility:
    """Return which of the infinitesimal freedoms of a closed pose are freedoms of motion.

    Parameters
    ----------
    view : View
        The mechanism at a closed pose.
    infinitesimal : int
        Columns less rank there.
    seed : int
        Of the directions.
    """
    candidates = [b for b in view.blocks if b.redundancy and b.reduced.shape[1] > b.rank]
    small = [b for b in candidates if b.elimination is None]
    rng = np.random.default_rng(seed)
    left = []
    if small:
        free = _all_free(LoopEquations(view, small), rng)
        left += [b for b, all_free in zip(small, free, strict=True) if not all_free]
    left += [
        b
        for b in candidates
        if b.elimination is not None and not _large_is_free(LoopEquations(view, [b]), rng)
    ]
    found = [_searched(view, ranked, rng) for ranked in left]
    found = [block for block in found if block.finite != block.infinitesimal]
    finite = None
    if all(block.finite is not None for block in found):
        finite = infinitesimal - sum(block.infinitesimal - (block.finite or 0) for block in found)
    return Mobility(infinitesimal, finite, tuple(found))


def _all_free(loops: LoopEquations, rng: np.random.Generator) -> list[bool]:
    """Return of each block whether the poses near fill ker J: random steps along it succeed."""
    free = np.ones(loops.count, dtype=bool)
    if not loops.alike:
        return [True] * loops.count
    values, Phi = loops.at(loops.q[None])
    charts = [_Chart(own, own.dense(values)[0], Phi[0][own.rows], loops.tolerance) for own in loops.alike]
    charts = [chart for chart in charts if chart.k]
    for chart in charts:
        free[chart.own.numbers] = False
    for size in _STEPS:
        tried = [chart for chart in charts if not free[chart.own.numbers].all()]
        if not tried:
            break
        starts = [chart.random_steps(rng, size) for chart in tried]
        gaps = _closed_across(loops, tried, starts)
        for chart, gap in zip(tried, gaps, strict=True):
            free[chart.own.numbers] |= (gap <= chart.allowed(size)).all(axis=0)
    return [bool(one) for one in free]


class _Chart:
    """Blocks of one shape at a pose: the freedoms of each, and the directions across them.

    Parameters
    ----------
    J : (n, r, f) array
        Their Jacobians.
    Phi : (n, r) array
        What is open at the pose.

    Attributes
    ----------
    k : int
        Number of freedoms.
    freedoms, across : (n, k, f) and (n, f − k, f) array
        Orthonormal rows.
    """

    def __init__(self, own: AlikeBlocks, J: Array, Phi: Array, tolerance: float) -> None:
        self.own, self.J, self.Phi = own, J, Phi
        _, sigma, Vt = np.linalg.svd(J, full_matrices=J.shape[1] < J.shape[2])
        first = np.maximum(sigma[:, :1].max(axis=1, initial=0.0), 1.0)
        rank = int((sigma[0] > tolerance * first[0]).sum()) if own.rank is None else own.rank
        self.across, self.freedoms = Vt[:, :rank], Vt[:, rank:]
        self.k = J.shape[2] - rank
        # what the rank decision takes for zero
        self._zero = sigma[:, rank:].max(axis=1, initial=0.0)
        self._open = np.abs(Phi).max(axis=1, initial=0.0)
        self._tolerance = tolerance

    @property
    def rounded(self) -> bool:
        """Whether the numbers of a block contradict one another."""
        return bool((np.maximum(self._zero, self._open) > _ROUNDED).any())

    def allowed(self, size: float) -> Array:
        """Return the gap (n,) after a step of a size that is none of the mechanism but of its numbers."""
        rounded = np.maximum(self._zero, self._open) > _ROUNDED
        # a small step tells what rounding does to second order from nothing else
        second = _GAPS * self._tolerance * size**2 if size >= _STEPS[0] else 0.0
        return np.asarray(_GAPS * (self._open + self._zero * size) + _EXACT + np.where(rounded, second, 0.0))

    def random_steps(self, rng: np.random.Generator, size: float) -> Array:
        """Return random steps (D, n, f) along all freedoms, of largest entry ``size``."""
        v = np.einsum("dnk,nkf->dnf", rng.normal(size=(_DIRECTIONS, len(self.J), self.k)), self.freedoms)
        return np.asarray(size * v / np.abs(v).max(axis=2, keepdims=True))


def _closed_across(loops: LoopEquations, charts: Sequence[_Chart], starts: Sequence[Array]) -> list[Array]:
    """Return the gaps (D, n) that directions across the freedoms leave after steps (D, n, f) along them."""
    D, blocks = len(starts[0]), [chart.own for chart in charts]
    Q = loops.advanced(np.repeat(loops.q[None], D, axis=0), blocks, starts)
    least = [np.full((D, len(chart.J)), np.inf) for chart in charts]
    for _ in range(_ITERATIONS):
        values, Phi = loops.at(Q)
        steps, largest = [], 0.0
        before = [best.copy() for best in least]
        for chart, best in zip(charts, least, strict=True):
            open_ = Phi[:, chart.own.rows]
            np.minimum(best, np.abs(open_).max(axis=2, initial=0.0), out=best)
            J = chart.own.dense(values) @ np.swapaxes(chart.across, 1, 2)
            y = -(np.linalg.pinv(J, rcond=1e-9) @ open_[..., None])[..., 0]
            y *= np.minimum(
                1.0, _LONGEST / np.maximum(np.abs(y).max(axis=2, keepdims=True, initial=0.0), 1e-300)
            )
            steps.append(np.einsum("dnp,npf->dnf", y, chart.across))
            largest = max(largest, float(np.abs(y).max(initial=0.0)))
        at_rest = all((new > 0.9 * old)[new > _EXACT].all() for new, old in zip(least, before, strict=True))
        if largest < _CONVERGED or at_rest:
            break
        Q = loops.advanced(Q, blocks, steps)
    return least


def _large_is_free(loops: LoopEquations, rng: np.random.Generator) -> bool:
    """Return whether the poses near fill ker J of one large block; the steps across it are those of the start."""
    if not loops.alike:
        return True
    (own,) = loops.alike
    pattern = loops.residuals.pattern
    movable = np.zeros(pattern.shape[1], dtype=bool)
    movable[own.columns[0]] = own.basis[0].any(axis=1)
    values, Phi0 = loops.at(loops.q[None])
    J = Jacobians(pattern, values).moving(movable)
    open_ = float(np.abs(Phi0).max(initial=0.0))
    for size in _STEPS:
        x = np.where(movable, rng.normal(size=len(movable)), 0.0)
        zero = np.zeros(pattern.shape[0])
        np.add.at(zero, pattern.rows, J.values[0] * x[pattern.columns])
        x -= shortest_step(J, zero)
        x *= size / np.abs(x).max(initial=1e-300)
        left = np.zeros(pattern.shape[0])
        np.add.at(left, pattern.rows, J.values[0] * x[pattern.columns])
        allowed = _GAPS * (open_ + float(np.abs(left).max(initial=0.0))) + _EXACT
        q, before = loops.stepped(loops.q, x), np.inf
        for _ in range(_PROJECTIONS):
            Phi = loops.at(q[None])[1][0]
            gap = float(np.abs(Phi).max(initial=0.0))
            if gap <= allowed:
                return True
            if gap > 0.8 * before:
                break
            before = gap
            q = loops.stepped(q, shortest_step(J, -Phi))
    return False


def _searched(view: View, ranked: RankedBlock, rng: np.random.Generator) -> BlockMobility:
    """Return the branches that meet at the pose of a block whose freedoms are not all of motion."""
    names = ranked.block.constraints
    loops = LoopEquations(view, [ranked])
    (own,) = loops.alike
    local = _Local(loops, own)
    chart = local.chart(loops.q)
    lost_of = _infinitesimal_in(view, ranked, loops, own)
    infinitesimal = lost_of(chart.freedoms[0])
    if own.basis.shape[2] > _SEARCHED:
        return BlockMobility(names, infinitesimal, None)
    spaces = _branches(local, chart, rng)
    K = chart.freedoms[0]
    # along branches, as seen in ker J
    spanned = np.vstack([T @ K.T for T in spaces]) if spaces else np.zeros((0, chart.k))
    _, sigma, Vt = np.linalg.svd(spanned)
    count = int((sigma > 0.3).sum())
    along, only = Vt[:count] @ K, Vt[count:] @ K
    rates = local.rate_names
    shaky = infinitesimal - lost_of(along)
    return BlockMobility(
        names,
        infinitesimal,
        max((lost_of(T) for T in spaces), default=0),
        tuple(Branch(lost_of(T), _moving(T, rates)) for T in spaces),
        shaky,
        *(_only_first_order(K, along, only, rates) if shaky else ()),
    )


class _Local:
    """The equations of one block, with steps in its free rates."""

    def __init__(self, loops: LoopEquations, own: AlikeBlocks) -> None:
        self.loops, self.own = loops, own
        names = [loops.mech.qd_names[rate] for rate in loops.residuals.tree.rates[own.columns[0]]]
        strongest = np.abs(own.basis[0]).argmax(axis=0)
        self.rate_names = [names[k] for k in strongest]

    def chart(self, q: Array, rank: int | None = -1) -> _Chart:
        """Return the freedoms at a pose q (nq,), at the rank decided before unless another one is given."""
        values, Phi = self.loops.at(q[None])
        own = self.own if rank == -1 else replace(self.own, rank=rank)
        return _Chart(own, own.dense(values)[0], Phi[0][own.rows], self.loops.tolerance)

    def stepped(self, q: Array, y: Array) -> Array:
        """Return the pose (nq,) after a step y (f,) from a pose q (nq,)."""
        step = np.zeros(len(self.loops.residuals.tree.rates))
        step[self.own.columns[0]] = self.own.basis[0] @ y
        return self.loops.stepped(q, step)

    def residuals(self, Q: Array) -> Array:
        """Return the residuals (K, r) at poses Q (K, nq)."""
        return np.asarray(self.loops.at(Q)[1][:, self.own.rows[0]])

    def projected(self, q: Array, v: Array, rounded: bool) -> tuple[Array, Array, float]:
        """Return the closed pose (nq,) after a step v (f,) from q (nq,), the way there (f,), and what is left open."""
        at, way, best = self.stepped(q, v), np.array(v), np.inf
        found = at, way
        for _ in range(_PROJECTIONS):
            values, Phi = self.loops.at(at[None])
            J, open_ = self.own.dense(values)[0, 0], Phi[0][self.own.rows[0]]
            gap = float(np.abs(open_).max(initial=0.0))
            if gap < best:
                found = at, way
            if gap > 0.9 * best or gap < _CLOSED:
                best = min(best, gap)
                break
            best = gap
            y = -np.linalg.pinv(J, rcond=self.loops.tolerance if rounded else _COUNTED) @ open_
            y *= min(1.0, _LONGEST / max(float(np.abs(y).max(initial=0.0)), 1e-300))
            if float(np.abs(y).max(initial=0.0)) < _CONVERGED:
                break
            at, way = self.stepped(at, y), way + y
        return *found, best


def _branches(local: _Local, chart: _Chart, rng: np.random.Generator) -> list[Array]:
    """Return orthonormal tangents (d, f) of each branch that leaves the pose; none where it is isolated."""
    found: list[Array] = []
    forms = _second_order(local, chart)
    for v in _directions(forms, chart.k, rng):
        along = v @ chart.freedoms[0]
        for sign in (1.0, -1.0):
            # what leaves along a branch that is known is on it
            if any(_within(along[None], T) for T in found):
                break
            for size in _BRANCH_STEPS:
                start = sign * size * along
                q, way, gap = local.projected(local.loops.q, start, chart.rounded)
                allowed = float(chart.allowed(size)[0]) + _ON_BRANCH * chart.rounded
                if gap <= allowed and np.linalg.norm(way) >= 0.5 * size:
                    T = _tangent(local, q, rng)
                    if len(T) and not any(_same(T, other) for other in found):
                        found.append(T)
                    break
    # what lies in a larger branch is none of its own
    return [T for T in found if not any(len(other) > len(T) and _within(T, other) for other in found)]


def _second_order(local: _Local, chart: _Chart) -> Array:
    """Return independent forms (s, k, k) zᵀ H(v, v) on the freedoms, for the self-stresses z of the loops."""
    k, e = chart.k, _DIFFERENCE
    U, _, _ = np.linalg.svd(chart.J[0])
    Z = U[:, chart.J.shape[2] - k :]
    if not Z.shape[1]:
        return np.zeros((0, k, k))
    i, j = np.triu_indices(k)
    directions = np.eye(k)[i] + np.where(i == j, 0.0, 1.0)[:, None] * np.eye(k)[j]
    q = local.loops.q
    ends = [
        [local.stepped(q, sign * e * (v @ chart.freedoms[0])) for v in directions] for sign in (1.0, -1.0)
    ]
    ahead, behind = (local.residuals(np.array(Q)) for Q in ends)
    along = (ahead + behind - 2.0 * chart.Phi[0]) @ Z / e**2
    forms = np.zeros((Z.shape[1], k, k))
    pure = {int(a): along[n] for n, (a, b) in enumerate(zip(i, j, strict=True)) if a == b}
    for n, (a, b) in enumerate(zip(i, j, strict=True)):
        value = along[n] if a == b else 0.5 * (along[n] - pure[int(a)] - pure[int(b)])
        forms[:, a, b] = forms[:, b, a] = value
    _, sizes, Vt = np.linalg.svd(forms.reshape(len(forms), -1), full_matrices=False)
    kept = sizes > max(_CURVED * float(sizes.max(initial=0.0)), _CURVED)
    return np.asarray(Vt[kept].reshape(-1, k, k))


def _directions(forms: Array, k: int, rng: np.random.Generator) -> list[Array]:
    """Return unit directions (k,) along which all forms (s, k, k) vanish; none where a combination is definite."""
    if not len(forms):
        return [v / np.linalg.norm(v) for v in rng.normal(size=(_STARTS if k > 1 else 1, k))]
    if k == 1 or _definite(forms):
        return []
    found: list[Array] = []
    for start in rng.normal(size=(_STARTS, k)):
        v = start / np.linalg.norm(start)
        for _ in range(_PROJECTIONS):
            at = forms @ v
            values = at @ v
            if np.abs(values).max() < _SATISFIED:
                break
            v = v - np.linalg.pinv(2.0 * at, rcond=1e-6) @ values
            v /= max(float(np.linalg.norm(v)), 1e-300)
        if np.abs(forms @ v @ v).max() < 1e-4 and all(abs(v @ other) < 1.0 - 1e-6 for other in found):
            found.append(v)
    return found


def _definite(forms: Array) -> bool:
    """Return whether a combination of forms (s, k, k) is definite: that self-stress stiffens the pose."""
    for sign in (1.0, -1.0):
        weights = sign * np.trace(forms, axis1=1, axis2=2)
        for _ in range(200):
            values, vectors = np.linalg.eigh(np.tensordot(weights, forms, axes=1))
            if values[0] > 1e-6 * max(float(np.linalg.norm(weights)), 1e-300):
                return True
            v = vectors[:, 0]
            weights = weights + forms @ v @ v
    return False


def _tangent(local: _Local, q: Array, rng: np.random.Generator) -> Array:
    """Return an orthonormal tangent basis (d, f) of the branch at one of its poses q (nq,)."""
    chart = local.chart(q, rank=None)
    if not chart.k:
        return np.zeros((0, chart.J.shape[2]))
    base = local.loops.q
    local.loops.q = q
    try:
        for size in _STEPS:
            gaps = _closed_across(local.loops, [chart], [chart.random_steps(rng, size)])[0]
            if (gaps <= chart.allowed(size) + _EXACT).all():
                return np.asarray(chart.freedoms[0])
    finally:
        local.loops.q = base
    return _chords(local, chart, q, rng)


def _chords(local: _Local, chart: _Chart, q: Array, rng: np.random.Generator) -> Array:
    """Return the directions (d, f) of chords of a branch from its pose q (nq,), where it is singular throughout."""
    spreads = []
    directions = rng.normal(size=(2 * chart.k + 2, chart.k)) @ chart.freedoms[0]
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    for size in _CHORDS:
        ends = [local.projected(q, size * v, chart.rounded) for v in directions]
        limit = float(chart.allowed(size)[0]) + _ON_BRANCH * chart.rounded
        ways = np.array([way for _, way, gap in ends if gap <= limit]).reshape(-1, directions.shape[1])
        _, sigma, Vt = np.linalg.svd(ways / size)
        spreads.append((np.pad(sigma, (0, directions.shape[1] - len(sigma))), Vt))
    (coarse, _), (fine, Vt) = spreads
    # the chord of a freedom is as long as the step, curvature adds its square
    return np.asarray(Vt[: int(((fine > 0.5 * coarse) & (fine > 0.1)).sum())])


def _same(T: Array, other: Array) -> bool:
    """Return whether tangents T (d, f) and ``other`` (e, f) span the same space."""
    return len(T) == len(other) and _within(T, other)


def _within(T: Array, other: Array) -> bool:
    """Return whether tangents T (d, f) are in the span of ``other`` (e, f), as far as curved branches show it."""
    return bool(np.linalg.norm(T - (T @ other.T) @ other, axis=1).max(initial=0.0) < 0.2)


def _infinitesimal_in(
    view: View, ranked: RankedBlock, loops: LoopEquations, own: AlikeBlocks
) -> Callable[[Array], int]:
    """Return a function that counts the freedoms in directions (d, f) that no wheel or edge forbids."""
    names = set(ranked.block.constraints)
    rolling = [p for p in view.mech.pfaffians if p.name in names and p.nonholonomic]
    if not rolling:
        return len
    rows = rows_of(view.mech, rolling, view.poses, view.q)
    J = tree_motion(view.mech, view.poses).reduce(rows)[:, loops.residuals.tree.rates]
    J = J[~np.concatenate([r.holonomic for r in rows])]
    scaled = (J * loops.units)[:, own.columns[0]] @ own.basis[0]

    def count(directions: Array) -> int:
        if not len(directions):
            return 0
        sigma = np.linalg.svd(scaled @ directions.T, compute_uv=False)
        return len(directions) - int((sigma > loops.tolerance * max(1.0, float(sigma[0]))).sum())

    return count


def _moving(T: Array, names: Sequence[str]) -> tuple[str, ...]:
    """Return the rates that move along tangents T (d, f)."""
    size = np.linalg.norm(T, axis=0)
    return tuple(dict.fromkeys(names[int(k)] for k in np.flatnonzero(size > 0.1 * size.max(initial=0.0))))


def _only_first_order(
    K: Array, along: Array, only: Array, names: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the rates of freedoms K (k, f) that stay ``along`` (d, f) all branches, and those that hold them.

    Where none stays, the first are as many as tell the directions ``only`` (k - d, f), which no branch has.
    """
    free, moving = np.linalg.norm(K, axis=0), np.linalg.norm(along, axis=0)
    fixed = np.flatnonzero((free > 0.05 * free.max()) & (moving < 0.15 * free))
    if not fixed.size:
        return tuple(names[int(k)] for k in np.sort(pivot_order(only)[: len(only)])), ()
    sizes, order = pivots(only[:, fixed])
    held = fixed[order[: int((sizes > 0.05).sum())]]
    return tuple(dict.fromkeys(names[int(k)] for k in fixed)), tuple(names[int(k)] for k in np.sort(held))
