"""Finite mobility: the infinitesimal freedoms of a mechanism that are freedoms of finite motion.

Columns minus rank is the dimension of the tangent space of the constraint equations, not of the set of poses. If the
rows of a block are independent, both are equal. If some are redundant, the set of poses is examined block by block:

1. *All freedoms at once.* Take a finite step along a random direction of ker J, and close the loops with corrections
   across ker J only. If that succeeds, the nearby poses fill ker J, with probability one: if they had fewer dimensions,
   a random direction would miss them. This is the usual case; it takes a few Newton steps for all blocks together.
2. *Second order.* Motion along v ∈ ker J is possible only if zᵀ H(v, v) = 0 for every self-stress z. If a combination
   of these forms is definite, or if no direction satisfies them, the pose is isolated.
3. *Geometry.* After steps along directions that satisfy the forms, the loops are closed with corrections in all
   directions. A closed pose that has not fallen back to the start is on a branch. The dimension of the branch is
   decided there as in 1; if that fails, because a freedom is infinitesimal everywhere on the branch, by the rank of
   chords between its poses.

Which gaps count as closed: files round numbers, so rows that are redundant by design contradict one another. Such a
gap grows at most in proportion to the step and to σ, the largest singular value that the rank decision treats as zero.
The gap of a freedom that is only infinitesimal grows with the square of the step or a higher power, for any σ.
After a step h, a gap up to ``_GAPS`` · (gap at the start + σ h) + ``_EXACT`` counts as closed. In a rounded model,
if h is large, ``_GAPS`` · tolerance · h² is added for the second-order effect of rounding. A strut whose middle pin
is 10⁻⁵ off its line has σ = 10⁻⁵: after h = 0.1 a gap of 3·10⁻⁶ could be rounding, but the gap is 10⁻², so the strut
is rigid. A loop whose axes are 5·10⁻⁵ rad from parallel opens by 5·10⁻⁶ there, so it moves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from mbplugin.analysis.loop_equations import AlikeBlocks, LoopEquations
from mbplugin.constraints.descent import Jacobians, shortest_step
from mbplugin.constraints.rank import RankedBlock, View
from mbplugin.constraints.reduction import tree_motion
from mbplugin.constraints.rows import rows_of
from mbplugin.model import Array, Mechanism, pivot_order, pivots
from mbplugin.phrases import dataclass, one_line_repr

#: Gap that counts as closed after a step: a multiple of the expected rounding gap, plus an absolute gap.
_GAPS, _EXACT = 3.0, 1e-10
#: Above this gap or zero singular value, the numbers of a model count as rounded.
_ROUNDED = 1e-10
#: Sizes of the steps along all freedoms at once (largest entry, rad and lengths ℓ); a smaller step gets no allowance
#: for second-order rounding.
_STEPS = (0.1, 0.03)
#: Random directions that all have to succeed.
_DIRECTIONS = 2
#: Maximum number of Newton steps, and the step size at which they have converged.
_ITERATIONS, _CONVERGED = 15, 1e-11
#: Maximum number of steps of a projection in all directions, which converges only linearly if all poses of a branch
#: are singular; and the gap that ends it.
_PROJECTIONS, _CLOSED = 60, 1e-12
#: Longest Newton step, rad and lengths.
_LONGEST = 0.5
#: Step of the central differences of the second derivatives.
_DIFFERENCE = 1e-3
#: Second-order forms smaller than this, absolutely or relative to the largest, are ignored.
_CURVED = 1e-3
#: Random starts of the search for directions that satisfy the forms, and the residual at which the iteration stops.
_STARTS, _SATISFIED = 24, 1e-7
#: Step sizes along such directions, tried in turn.
_BRANCH_STEPS = (0.06, 0.02)
#: Two lengths of chords.
_CHORDS = (0.05, 0.0125)
#: Additional gap allowed in a rounded model, near a branch on which every pose is singular.
_ON_BRANCH = 1e-7
#: Relative cutoff of singular values when an exact model is projected: there small ones also lead to the branch.
_COUNTED = 1e-8
#: Largest number of columns of a block for which branches are searched: the work grows with its cube.
_SEARCHED = 400


@one_line_repr
@dataclass(frozen=True)
class Branch:
    """One of the branches of closed poses that meet at a pose.

    Parameters
    ----------
    mobility : int
        Dimension of the branch: the mobility of the block on it. ``dof`` is another name of it.
    rates : tuple of str
        Joint rates that are nonzero along it.
    """

    mobility: int
    rates: tuple[str, ...]

    @property
    def dof(self) -> int:
        """The mobility, by its other name."""
        return self.mobility


@one_line_repr
@dataclass(frozen=True)
class BlockMobility:
    """The freedoms of one block with redundant rows at a pose.

    Parameters
    ----------
    constraints : tuple of str
        Names of the constraints in the block.
    infinitesimal : int
        Freedoms to first order.
    finite : int or None
        Freedoms of motion: the largest dimension of a branch; None if the block is too large to decide.
    branches : tuple of Branch
        Empty if the pose is isolated or the block is undecided.
    shaky : int
        Number of freedoms that are only infinitesimal: no branch has them.
    shaky_rates : tuple of str
        Joint rates that are free to first order only.
    held_rates : tuple of str
        A smallest set of these rates that removes the shaky freedoms when fixed; empty if no rate is free only
        to first order.
    """

    constraints: tuple[str, ...]
    infinitesimal: int
    finite: int | None
    branches: tuple[Branch, ...] = ()
    shaky: int = 0
    shaky_rates: tuple[str, ...] = ()
    held_rates: tuple[str, ...] = ()

    def shaky_joints(self, mech: Mechanism) -> tuple[str, ...]:
        """Return the joints whose rates are free to first order only."""
        joints = {name: j.pair.name for j in mech.tree.joints if j.pair for name in mech.qd_names[j.qd]}
        return tuple(dict.fromkeys(joints[rate] for rate in self.shaky_rates if rate in joints))


@one_line_repr
@dataclass(frozen=True)
class Mobility:
    """Infinitesimal and finite mobility of a mechanism at a pose.

    Parameters
    ----------
    infinitesimal : int
        Columns minus rank.
    finite : int or None
        Freedoms of motion; None if a large block is undecided.
    blocks : tuple of BlockMobility
        The blocks in which the two differ, or that are undecided.
    """

    infinitesimal: int
    finite: int | None
    blocks: tuple[BlockMobility, ...] = ()

    @property
    def mobility(self) -> int:
        """The infinitesimal mobility, by its key in JSON."""
        return self.infinitesimal

    @property
    def dof(self) -> int:
        """The infinitesimal mobility, by its other name."""
        return self.infinitesimal

    @property
    def words(self) -> str:
        """Both numbers in words, or one if they are equal."""
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
    """Return the mobility at a closed pose: the infinitesimal freedoms, and those that are freedoms of motion.

    Parameters
    ----------
    view : View
        The mechanism at a closed pose.
    infinitesimal : int
        Columns minus rank at the pose.
    seed : int
        Random seed for the directions.
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
    """Return for each block True if the nearby poses fill ker J, that is, random steps along it succeed."""
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
        Residuals at the pose.

    Attributes
    ----------
    k : int
        Number of freedoms.
    freedoms, across : (n, k, f) and (n, f − k, f) array
        Orthonormal bases, one vector per row.
    """

    def __init__(self, own: AlikeBlocks, J: Array, Phi: Array, tolerance: float) -> None:
        self.own, self.J, self.Phi = own, J, Phi
        _, sigma, Vt = np.linalg.svd(J, full_matrices=J.shape[1] < J.shape[2])
        first = np.maximum(sigma[:, :1].max(axis=1, initial=0.0), 1.0)
        rank = int((sigma[0] > tolerance * first[0]).sum()) if own.rank is None else own.rank
        self.across, self.freedoms = Vt[:, :rank], Vt[:, rank:]
        self.k = J.shape[2] - rank
        # the largest singular value that the rank decision treats as zero
        self._zero = sigma[:, rank:].max(axis=1, initial=0.0)
        self._open = np.abs(Phi).max(axis=1, initial=0.0)
        self._tolerance = tolerance

    @property
    def rounded(self) -> bool:
        """True if the numbers of a block are rounded, so that its rows contradict one another."""
        return bool((np.maximum(self._zero, self._open) > _ROUNDED).any())

    def allowed(self, size: float) -> Array:
        """Return the largest gap (n,) after a step of a given size that rounding can explain."""
        rounded = np.maximum(self._zero, self._open) > _ROUNDED
        # with a small step, this allowance would also hide a true gap
        second = _GAPS * self._tolerance * size**2 if size >= _STEPS[0] else 0.0
        return np.asarray(_GAPS * (self._open + self._zero * size) + _EXACT + np.where(rounded, second, 0.0))

    def random_steps(self, rng: np.random.Generator, size: float) -> Array:
        """Return random steps (D, n, f) along all freedoms, of largest entry ``size``."""
        v = np.einsum("dnk,nkf->dnf", rng.normal(size=(_DIRECTIONS, len(self.J), self.k)), self.freedoms)
        return np.asarray(size * v / np.abs(v).max(axis=2, keepdims=True))


def _closed_across(loops: LoopEquations, charts: Sequence[_Chart], starts: Sequence[Array]) -> list[Array]:
    """Return the gaps (D, n) after steps (D, n, f) along the freedoms and Newton corrections across them."""
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
    """Return True if the nearby poses fill ker J of one large block.

    The corrections use the Jacobian at the start throughout.
    """
    if not loops.alike:
        return True
    (own,) = loops.alike
    pattern = loops.residuals.pattern
    movable = np.zeros(pattern.shape[1], dtype=bool)
    (directions,) = own.directions
    movable[own.columns[0][directions.rates[directions.values != 0]]] = True
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
    """Return the mobility of a block whose freedoms are not all freedoms of motion, from the branches at its pose."""
    names = ranked.block.constraints
    loops = LoopEquations(view, [ranked])
    (own,) = loops.alike
    local = _Local(loops, own)
    chart = local.chart(loops.q)
    lost_of = _infinitesimal_in(view, ranked, loops, own)
    infinitesimal = lost_of(chart.freedoms[0])
    if own.directions[0].count > _SEARCHED:
        return BlockMobility(names, infinitesimal, None)
    spaces = _branches(local, chart, rng)
    K = chart.freedoms[0]
    # tangents of the branches, in coordinates of ker J
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


def _moving(T: Array, names: Sequence[str]) -> tuple[str, ...]:
    """Return the rates that are nonzero along tangents T (d, f)."""
    size = np.linalg.norm(T, axis=0)
    return tuple(dict.fromkeys(names[int(k)] for k in np.flatnonzero(size > 0.1 * size.max(initial=0.0))))


class _Local:
    """The equations of one block, with steps in its free rates."""

    def __init__(self, loops: LoopEquations, own: AlikeBlocks) -> None:
        self.loops, self.own = loops, own
        names = [loops.mech.qd_names[rate] for rate in loops.residuals.tree.rates[own.columns[0]]]
        strongest = np.abs(own.basis[0]).argmax(axis=0)
        self.rate_names = [names[k] for k in strongest]

    def chart(self, q: Array, rank: int | None = -1) -> _Chart:
        """Return the freedoms at a pose q (nq,).

        The rank is the one decided before (-1), a given one, or counted from the singular values (None).
        """
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
        """Step by v (f,) from q (nq,) and close the loops; return the pose (nq,), the total step (f,) and the gap."""
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
    """Return orthonormal tangents (d, f) of each branch through the pose; none if it is isolated."""
    found: list[Array] = []
    forms = _second_order(local, chart)
    for v in _directions(forms, chart.k, rng):
        along = v @ chart.freedoms[0]
        for sign in (1.0, -1.0):
            # a direction tangent to a known branch leads to that branch
            if any(_within(along[None], T) for T in found):
                break
            for size in _BRANCH_STEPS:
                start = sign * size * along
                q, way, gap = local.projected(local.loops.q, start, chart.rounded)
                allowed = float(chart.allowed(size)[0]) + _ON_BRANCH * chart.rounded
                if gap <= allowed and np.linalg.norm(way) >= 0.5 * size:
                    T = _tangent(local, q, rng)
                    known = any(len(T) == len(other) and _within(T, other) for other in found)
                    if len(T) and not known:
                        found.append(T)
                    break
    # drop tangent spaces contained in that of a larger branch
    return [T for T in found if not any(len(other) > len(T) and _within(T, other) for other in found)]


def _second_order(local: _Local, chart: _Chart) -> Array:
    """Return the independent forms zᵀ H(v, v) as matrices (s, k, k) on the freedoms, z the self-stresses."""
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
    """Return unit directions (k,) along which all forms (s, k, k) vanish; none if a combination is definite."""
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
    """Return True if a combination of forms (s, k, k) is definite: that self-stress stiffens the pose."""
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
    """Return tangents (d, f) of a branch at its pose q (nq,) from chords, for a branch that is singular throughout."""
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
    # along a freedom the chord scales with the step, while curvature scales with its square
    return np.asarray(Vt[: int(((fine > 0.5 * coarse) & (fine > 0.1)).sum())])


def _within(T: Array, other: Array) -> bool:
    """Return True if tangents T (d, f) are in the span of ``other`` (e, f), with a margin for curved branches."""
    return bool(np.linalg.norm(T - (T @ other.T) @ other, axis=1).max(initial=0.0) < 0.2)


def _infinitesimal_in(
    view: View, ranked: RankedBlock, loops: LoopEquations, own: AlikeBlocks
) -> Callable[[Array], int]:
    """Return a function that counts the freedoms in the span of directions (d, f) that no nonholonomic row forbids."""
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


def _only_first_order(
    K: Array, along: Array, only: Array, names: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the rates free in K (k, f) but zero ``along`` (d, f) all branches, and those of them to fix.

    Fixing the second set removes the directions ``only`` (k - d, f), which no branch has. If no rate is zero along
    all branches, the first set is the pivot rates of ``only``, and the second is empty.
    """
    free, moving = np.linalg.norm(K, axis=0), np.linalg.norm(along, axis=0)
    fixed = np.flatnonzero((free > 0.05 * free.max()) & (moving < 0.15 * free))
    if not fixed.size:
        return tuple(names[int(k)] for k in np.sort(pivot_order(only)[: len(only)])), ()
    sizes, order = pivots(only[:, fixed])
    held = fixed[order[: int((sizes > 0.05).sum())]]
    return tuple(dict.fromkeys(names[int(k)] for k in fixed)), tuple(names[int(k)] for k in np.sort(held))
