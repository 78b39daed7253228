"""The labelled constraint matrix in absolute coordinates (wojtyra2013 (4), (5), (8))."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from mbplugin.constraints.reduction.velocity import body_twists
from mbplugin.constraints.rows.build import all_rows
from mbplugin.constraints.rows.planar import planar_rows, plane_columns
from mbplugin.constraints.rows.row import Rows
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

_COLUMN_NAMES = ("vx", "vy", "vz", "wx", "wy", "wz")


@dataclass(frozen=True, eq=False)
class ConstraintMatrix(Result):
    """Velocity constraints  C v + b = 0  and acceleration constraints  C v̇ = Γ, row by row labelled.

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
        from mbplugin.constraints.reduction.null_space import left_null_space

        return left_null_space(self, tolerance)

    def _writers(self) -> Mapping[str, Callable[[Path], object]]:
        return {".npz": self._write_arrays, ".csv": self._write_table}

    def _write_arrays(self, path: Path) -> None:
        # a file that is open keeps its name, whatever its ending
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
        Joint coordinates and rates; the pose is taken as it is, loops are not closed first.
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
    # here, because linting builds no matrix, and scipy takes long to import
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
