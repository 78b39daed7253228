"""``analyze`` at many poses: loops closed, ranks and unique components decided pose by pose, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from mbplugin.analysis.uniqueness import StressedBlock, from_self_stresses, stress
from mbplugin.constraints.many_poses import ReducedAtPoses, alike_at_poses, closed_poses
from mbplugin.constraints.rank import LOADED, View
from mbplugin.constraints.rows import plane_columns
from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.model import AnyArray, Array, Mechanism, RowLabel, make_read_only
from mbplugin.phrases import one_line_repr

_SPACE = (0, 1, 2, 3, 4, 5)


@one_line_repr
@dataclass(frozen=True, eq=False)
class PoseAnalyses:
    """Rank and uniqueness at n poses, each as in the :class:`Analysis` of that pose alone.

    What samples, searches and proofs find (structural redundancy, finite mobility, remedies) belongs to
    :func:`mbplugin.analyze` at one pose.

    Parameters
    ----------
    q : (n, nq) array
        The closed poses, rad and m.
    closure_residual_file : (n,) array
        Largest position residual of the constraints at the given pose, m (rotations times the characteristic length).
    rows, columns : int
        Shape of the constraint matrix.
    degree_of_redundancy : (n,) int array
    sigma_r, sigma_r_plus_1 : (n,) array
        Smallest relative singular value above the tolerance, and largest below it; NaN where there is none.
    unique : (n, m) bool array
        Whether the rigid model determines each component, in the order of ``labels``.
    indeterminate_dim : (n, c) int array
        Dimension of the family of possible reactions of each constraint, in the order of ``constraints``.
    labels : tuple of (constraint, component)
    constraints : tuple of str
    tolerance : float
        Relative rank tolerance.
    """

    mechanism: Mechanism
    q: Array
    closure_residual_file: Array
    planar: str | None
    tolerance: float
    rows: int
    columns: int
    degree_of_redundancy: AnyArray
    sigma_r: Array
    sigma_r_plus_1: Array
    unique: AnyArray
    indeterminate_dim: AnyArray
    labels: tuple[RowLabel, ...]
    constraints: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.q)

    @property
    def rank(self) -> AnyArray:
        """Rank of the constraint matrix, (n,)."""
        return np.asarray(self.rows - self.degree_of_redundancy)

    @property
    def mobility(self) -> AnyArray:
        """Mobility to first order, (n,): columns minus rank; the same as ``dof``."""
        return np.asarray(self.columns - self.rank)

    @property
    def dof(self) -> AnyArray:
        """Mobility to first order, (n,): columns minus rank."""
        return self.mobility

    @property
    def gruebler(self) -> int:
        """Grübler's mobility, for independent constraints: columns minus rows."""
        return self.columns - self.rows

    @cached_property
    def _components(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {name: [] for name in self.constraints}
        for k, label in enumerate(self.labels):
            found[label.constraint].append(k)
        return found

    def unique_reaction(self, constraint: str) -> AnyArray:
        """Return a mask (n,) of the poses at which the rigid model determines the whole reaction of a constraint.

        Raises
        ------
        UnknownName
            There is no such constraint.
        """
        if constraint not in self._components:
            remedy = suggestion(constraint, self.constraints)
            raise UnknownName(f"there is no constraint {constraint!r}", remedy=remedy)
        return np.asarray(self.unique[:, self._components[constraint]].all(axis=1))

    def save(self, path: str | Path) -> None:
        """Write arrays and labels to an ``.npz`` file.

        Raises
        ------
        BadUsage
            The ending is another one.
        """
        if Path(path).suffix != ".npz":
            raise BadUsage(f"cannot write analyses to {str(path)!r}", expected="a name that ends in .npz")
        arrays = {
            name: getattr(self, name)
            for name in ("q", "degree_of_redundancy", "mobility", "sigma_r", "sigma_r_plus_1", "unique")
        }
        np.savez_compressed(path, **arrays, labels=[".".join(label) for label in self.labels])


def analyze_poses(mech: Mechanism, Q: Array, tolerance: float, planar: str | None) -> PoseAnalyses:
    """Close the poses Q (n, nq) and analyze the mechanism at each.

    Raises
    ------
    CannotClose
        A loop cannot be closed; the message has the number of the pose.
    """
    columns = plane_columns(planar)
    Q, gaps = closed_poses(mech, Q)
    first = View(mech, Q[0], columns, tolerance)
    labels = first.row_labels
    names = tuple(c.name for c in mech.constraints())
    order = tuple(RowLabel(name, component) for name in names for component in labels[name])
    found = _Found.empty(len(Q), names, order)
    alike, rest = alike_at_poses(first, Q)
    for reduced in alike:
        found.add(reduced, tolerance)
    if rest:
        for k, q in enumerate(Q):
            view = View(mech, q, columns, tolerance)
            found.add_one(k, view, stress(view.ranked(rest)), labels)
    make_read_only(Q, gaps)
    return PoseAnalyses(
        mech,
        Q,
        gaps,
        planar,
        tolerance,
        len(order),
        len(columns) * len(mech.bodies),
        found.p,
        np.where(np.isfinite(found.sigma_r), found.sigma_r, np.nan),
        np.where(found.sigma_next >= 0, found.sigma_next, np.nan),
        found.unique,
        found.dims,
        order,
        names,
    )


@dataclass(frozen=True, eq=False)
class _Found:
    """Sums and extremes over the blocks at n poses; ``unique`` (n, m), ``dims`` (n, c), the others (n,)."""

    p: AnyArray
    sigma_r: Array
    sigma_next: Array
    unique: AnyArray
    dims: AnyArray
    row: dict[RowLabel, int]
    column: dict[str, int]

    @classmethod
    def empty(cls, n: int, names: tuple[str, ...], labels: tuple[RowLabel, ...]) -> _Found:
        return cls(
            np.zeros(n, dtype=int),
            np.full(n, np.inf),
            np.full(n, -1.0),
            np.ones((n, len(labels)), dtype=bool),
            np.zeros((n, len(names)), dtype=int),
            {label: k for k, label in enumerate(labels)},
            {name: k for k, name in enumerate(names)},
        )

    def add(self, reduced: ReducedAtPoses, tolerance: float) -> None:
        """Add a block at all poses."""
        n, k, f = reduced.J.shape
        U, sigma = np.zeros((n, k, k)), np.zeros((n, 0))
        if k and f:
            U, sigma, _ = np.linalg.svd(reduced.J)
        relative = sigma / np.maximum(sigma[:, :1], 1.0) if f and k else sigma
        rank = (relative > tolerance).sum(axis=1)
        p = k - rank
        self.p[:] += p
        padded = np.concatenate((np.full((n, 1), np.inf), relative, np.zeros((n, 1))), axis=1)
        sigma_r, sigma_next = padded[np.arange(n), rank], padded[np.arange(n), rank + 1]
        np.minimum(self.sigma_r, np.where(rank > 0, sigma_r, np.inf), out=self.sigma_r)
        np.maximum(self.sigma_next, np.where(p > 0, sigma_next, -1.0), out=self.sigma_next)
        unknown = np.maximum(sigma_next, np.minimum(reduced.misfit, tolerance))
        zero = np.clip(10.0 * unknown / np.minimum(sigma_r, 1.0), 1e-9, LOADED)
        for count in np.unique(p[p > 0]):
            poses = np.flatnonzero(p == count)
            mu = U[poses][:, :, k - count :] if f else np.broadcast_to(np.eye(k), (len(poses), k, k))
            Z = np.linalg.qr(reduced.self_stresses(mu, poses))[0]
            self._judge(reduced, poses, np.asarray(Z), zero[poses])

    def _judge(self, reduced: ReducedAtPoses, poses: AnyArray, Z: Array, zero: Array) -> None:
        """Enter the verdicts at ``poses`` (n,) from orthonormal self-stresses Z (n, m, p), thresholds ``zero`` (n,)."""
        template = reduced.template
        is_open = np.linalg.norm(Z, axis=2) > zero[:, None]
        at = np.array([self.row[label] for label in template.labels])
        self.unique[np.ix_(poses, at)] = ~is_open
        start = 0
        for r in template.rows:
            own = slice(start, start + len(r.components))
            start = own.stop
            some = is_open[:, own].any(axis=1)
            if some.any():
                ranks = (np.linalg.svd(Z[some, own], compute_uv=False) > zero[some, None]).sum(axis=1)
                self.dims[poses[some], self.column[r.constraint]] = np.maximum(1, ranks)

    def add_one(
        self, pose: int, view: View, stressed: Sequence[StressedBlock], labels: dict[str, tuple[str, ...]]
    ) -> None:
        """Add blocks at one pose, as :func:`mbplugin.analysis.analyze_mechanism` judges them.

        Raises
        ------
        BadUsage
            The rows in the plane are not those of the first pose.
        """
        if view.row_labels != labels:
            raise BadUsage(
                f"the rows in the plane at pose {pose} are not those at pose 0",
                remedy="pass these poses one by one",
            )
        for s in stressed:
            ranked = s.ranked
            self.p[pose] += ranked.redundancy
            if ranked.rank:
                self.sigma_r[pose] = min(self.sigma_r[pose], ranked.sigma_r)
            if ranked.redundancy:
                self.sigma_next[pose] = max(self.sigma_next[pose], ranked.sigma_next)
                verdict = from_self_stresses(ranked.reduced, s.Z, ranked.zero)
                self.unique[pose, [self.row[label] for label in ranked.reduced.labels]] = verdict.unique
                for name, dim in verdict.indeterminate_dim.items():
                    self.dims[pose, self.column[name]] = dim
