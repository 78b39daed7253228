"""The labelled constraint matrix in absolute coordinates (wojtyra2013 (4), (5), (8))."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.constraints.reduction import ReducedBlock, body_twists, find_blocks, reduce_blocks
from mbplugin.constraints.rows import Rows, all_rows, planar_rows, plane_columns
from mbplugin.constraints.tolerance import DEFAULT_TOLERANCE
from mbplugin.csv_tables import write_csv
from mbplugin.model.mechanism.identity import RowLabel
from mbplugin.model.mechanism.kinematics import JointValues, forward, joint_vector, rate_vector
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import Array
from mbplugin.phrases import one_line
from mbplugin.rendering import Result

if TYPE_CHECKING:
    import scipy.sparse

#: A smaller gap is floating-point rounding, not rounded angles of the file, m and rad.
_NOTHING = 1e-12
_COLUMN_NAMES = ("vx", "vy", "vz", "wx", "wy", "wz")


# Rank of a reduced block at a tolerance, and the left null space of the whole matrix.


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Singular values of a block's scaled closure Jacobian, relative to its largest.

    Parameters
    ----------
    rows : int
        Rows of J; missing singular values are zero.
    relative : (min(k, f),) array
        Decreasing. If even the largest is below one (a row of J is a unit wrench times unit twists), they are
        relative to one, so that a block of small entries is redundant as a whole.
    """

    rows: int
    relative: Array

    def rank(self, tolerance: float) -> int:
        """Return the number of singular values above a relative tolerance."""
        return int((self.relative > tolerance).sum())

    def redundancy(self, tolerance: float) -> int:
        """Return rows minus rank at a tolerance."""
        return self.rows - self.rank(tolerance)


def spectrum(J: Array) -> Spectrum:
    """Return the singular values of a scaled closure Jacobian J (k, f)."""
    if 0 in J.shape:
        return Spectrum(len(J), np.zeros(0))
    sigma = np.linalg.svd(J, compute_uv=False)
    return Spectrum(len(J), np.asarray(sigma / max(float(sigma[0]), 1.0), dtype=float))


def block_null_space(reduced: ReducedBlock, redundancy: int) -> Array:
    """Return an orthonormal basis (m, p) of the scaled self-stresses of a block, for a given p."""
    if redundancy == 0:
        return np.zeros((len(reduced.labels), 0))
    U = np.linalg.svd(reduced.J)[0]
    return np.asarray(np.linalg.qr(reduced.self_stresses(U[:, len(U) - redundancy :]))[0])


def left_null_space(matrix: ConstraintMatrix, tolerance: float) -> Array:
    """Return Z (m, p) of a constraint matrix: unit self-stresses, block by block."""
    poses = forward(matrix.mechanism, matrix.q)
    columns = plane_columns(matrix.planar)
    position = {label: k for k, label in enumerate(matrix.rows)}
    parts = []
    for reduced in reduce_blocks(matrix.mechanism, poses, find_blocks(matrix.mechanism), columns, matrix.q):
        Z_scaled = block_null_space(reduced, spectrum(reduced.J).redundancy(tolerance))
        Z = np.zeros((len(matrix.rows), Z_scaled.shape[1]))
        Z[[position[label] for label in reduced.labels]] = Z_scaled * reduced.scale[:, None]
        parts.append(Z / np.linalg.norm(Z, axis=0))
    return np.hstack(parts) if parts else np.zeros((len(matrix.rows), 0))


# Gaps in the loops of a file due to its rounded angles.


def gaps_of_rounding(
    written: Mechanism, meant: Mechanism, q: Array, planar: str | None = None
) -> dict[RowLabel, float]:
    """Return the gaps of constraints, m and rad, with the angles as written, where the intended angles close the loops.

    They offset the successor, as a misfit does. Gaps of the intended mechanism itself are subtracted.

    Parameters
    ----------
    written, meant : Mechanism
        Mechanisms of the same file, with angles as written and as intended.
    q : (nq,) array
        The closed pose of ``meant``, rad and m.
    planar : str, optional
    """
    gaps, own = (_gaps(mech, q, planar) for mech in (written, meant))
    found = {label: gap - own.get(label, 0.0) for label, gap in gaps.items()}
    return {label: gap for label, gap in found.items() if abs(gap) > _NOTHING}


def _gaps(mech: Mechanism, q: Array, planar: str | None) -> dict[RowLabel, float]:
    """Return the position residual of every row at q (nq,), m and rad."""
    rows = constraint_rows(mech, q, np.zeros(len(mech.qd_names)), planar)
    return {label: gap for r in rows for label, gap in zip(r.labels, r.Phi.tolist(), strict=True)}


@dataclass(frozen=True, eq=False)
class ConstraintMatrix(Result):
    """Velocity constraints  C v + b = 0  and acceleration constraints  C v̇ = Γ, with labelled rows.

    Parameters
    ----------
    C : (m, n) sparse array
        n = 6N (3N when planar); twists [v; ω] in world axes at the centres of mass.
    b, Gamma : (m,) array
    Phi : (m,) array
        Position residual of the holonomic rows, m and rad; zero in Pfaffian rows.
    rows : tuple of (constraint, component)
        Holonomic rows first.
    columns : tuple of (body, component)
    holonomic_rows : int
        Number of holonomic rows.
    """

    C: scipy.sparse.csr_array
    b: Array
    Gamma: Array
    Phi: Array
    rows: tuple[RowLabel, ...]
    columns: tuple[tuple[str, str], ...]
    holonomic_rows: int
    mechanism: Mechanism
    q: Array
    planar: str | None = None

    def __repr__(self) -> str:
        rows, columns = self.C.shape
        facts = (f"{rows} × {columns}", f"{self.holonomic_rows} holonomic rows")
        return one_line(self, self.mechanism.name, facts)

    def left_null_space(self, tolerance: float = DEFAULT_TOLERANCE) -> Array:
        """Return Z (m, p), unit columns of self-stress with Cᵀ Z = 0, at a rank tolerance."""

        return left_null_space(self, tolerance)

    def _writers(self) -> Mapping[str, Callable[[Path], object]]:
        return {".npz": self._write_arrays, ".csv": self._write_table}

    def _write_arrays(self, path: Path) -> None:
        # NumPy would append .npz to a path, but not to an open file
        with path.open("wb") as file:
            np.savez_compressed(
                file,
                C=self.C.toarray(),
                b=self.b,
                Gamma=self.Gamma,
                Phi=self.Phi,
                rows=np.array(self.rows, dtype=str).reshape(-1, 2),
                columns=np.array(self.columns, dtype=str).reshape(-1, 2),
            )

    def _write_table(self, path: Path) -> None:
        """Write the dense matrix with labels."""
        labels = [f"{body} {component}" for body, component in self.columns]
        header = ["constraint", "component", *labels, "b", "Gamma", "Phi"]
        numbers = np.column_stack([self.C.toarray(), self.b, self.Gamma, self.Phi]).tolist()
        rows = ([*label, *row] for label, row in zip(self.rows, numbers, strict=True))
        write_csv(path, header, rows)


def constraint_matrix(
    mech: Mechanism, q: JointValues = None, qd: JointValues = None, *, planar: str | None = None
) -> ConstraintMatrix:
    """Return the labelled constraint matrix at joint coordinates q and rates qd.

    Parameters
    ----------
    mech : Mechanism
    q, qd : mapping or vector, optional
        Joint coordinates and rates; the pose is used as given, loops are not closed first.
    planar : "xy", "yz" or "zx", optional
        Project to three coordinates per body and drop the rows that vanish there.
    """
    q_vector = joint_vector(mech, q)
    blocks = constraint_rows(mech, q_vector, rate_vector(mech, qd), planar)
    return _assemble(mech, blocks, plane_columns(planar), q_vector, planar)


def constraint_rows(mech: Mechanism, q: Array, qd: Array, planar: str | None = None) -> list[Rows]:
    """Return the rows of the constraint matrix at coordinates q (nq,) and rates qd (nv,), by constraint."""
    poses = forward(mech, q)
    columns = plane_columns(planar)
    return [planar_rows(r, columns) for r in all_rows(mech, poses, q, body_twists(mech, poses, qd))]


def _assemble(
    mech: Mechanism, blocks: Sequence[Rows], columns: tuple[int, ...], q: Array, planar: str | None
) -> ConstraintMatrix:
    """Return the matrix of rows at q (nq,), holonomic ones first."""
    width = len(columns)
    labels = [label for r in blocks for label in r.labels]
    holonomic = np.concatenate([r.holonomic for r in blocks]) if blocks else np.zeros(0, bool)
    # holonomic rows over Pfaffian rows, each in the order of the constraints
    order = np.argsort(~holonomic, kind="stable")
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    data: list[Array] = []
    i: list[Array] = []
    j: list[Array] = []
    start = 0
    for r in blocks:
        k = len(r.components)
        for body, entry in r.entries:
            data.append(entry[:, columns].ravel())
            i.append(np.repeat(position[start : start + k], width))
            j.append(np.tile(width * body + np.arange(width), k))
        start += k
    shape = (len(labels), width * len(mech.bodies))
    triplets = tuple(np.concatenate(part) if part else np.zeros(0) for part in (data, i, j))
    # imported here because SciPy is slow to import and linting builds no matrix
    import scipy.sparse

    C = scipy.sparse.coo_array((triplets[0], (triplets[1].astype(int), triplets[2].astype(int))), shape)

    def stacked(name: str) -> Array:
        parts = [getattr(r, name) for r in blocks]
        out = np.asarray((np.concatenate(parts) if parts else np.zeros(0))[order], dtype=float)
        out.setflags(write=False)
        return out

    C = C.tocsr()
    C.eliminate_zeros()
    return ConstraintMatrix(
        C,
        stacked("b"),
        stacked("Gamma"),
        stacked("Phi"),
        tuple(labels[k] for k in order),
        tuple((body.name, _COLUMN_NAMES[c]) for body in mech.bodies for c in columns),
        int(holonomic.sum()),
        mech,
        q,
        planar,
    )
