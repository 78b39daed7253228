"""The multi-joint connection of a complete assembly to the ground: G, its rank and its null space."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mbplugin.analysis.dca.extension import Load
from mbplugin.analysis.dca.handles import Joint
from mbplugin.analysis.dca.subassembly import Supports
from mbplugin.constraints.rank import LOADED
from mbplugin.model.spatial import AnyArray, Array


@dataclass(frozen=True, eq=False)
class GroundConnection:
    """Several joints between one complete assembly and the ground.

    Parameters
    ----------
    assembly : str
        Label of the assembly.
    joints : tuple of str
        In file order.
    labels : tuple of (str, str)
        (joint, component) of every column of G.
    unit : (m,) array
        A multiplier in N or N·m is ``unit`` times its value in A, up to a common factor.
    relative : (m,) array
        Singular values of A over the first. Of a large connection what its subassemblies found, against
        a row of A.
    supports : Supports or None
        Of a large connection, whose rank its subassemblies decided.
    at_ground : callable
        Returns Φ₁₁ and T, which no verdict needs.
    root : callable
        Returns A, which the verdict on a large connection does without.
    """

    assembly: str
    joints: tuple[str, ...]
    labels: tuple[tuple[str, str], ...]
    unit: Array
    relative: Array
    rank: int
    supports: Supports | None
    at_ground: Callable[[], tuple[Array, Array]]
    root: Callable[[], Array]

    @cached_property
    def _at_ground(self) -> tuple[Array, ...]:
        return tuple(_read_only(array) for array in self.at_ground())

    @property
    def Phi_11(self) -> Array:
        """Inverse inertia of the assembly at its l ground handles, SI, the mechanism's own masses, (d·l, d·l)."""
        return self._at_ground[0]

    @property
    def T(self) -> Array:
        """Block diagonal force subspaces of the joints (pekal2024 (52)), world axes, SI, (d·l, m)."""
        return self._at_ground[1]

    @cached_property
    def A(self) -> Array:
        """A root of G without units, of unit inertias, with rows of unit length, (m, c).

        Here rank is decided and the null space found. No row is short by nature, since an assembly that
        floats yields to every wrench.
        """
        return _read_only(self.root())

    @cached_property
    def G(self) -> Array:
        """G = TᵀΦ₁₁T, SI (pekal2024 (22), (54)), (m, m)."""
        G = self.T.T @ self.Phi_11 @ self.T
        return _read_only(0.5 * (G + G.T))

    @cached_property
    def columns(self) -> dict[str, slice]:
        """Columns of each joint in G."""
        out: dict[str, slice] = {}
        for k, (joint, _) in enumerate(self.labels):
            out[joint] = slice(out[joint].start if joint in out else k, k + 1)
        return out

    @property
    def redundancy(self) -> int:
        """Degree of redundancy of the assembly on its ground joints."""
        return len(self.labels) - self.rank

    @cached_property
    def G_scaled(self) -> Array:
        """G without units, A Aᵀ, for the numerical tools, (m, m)."""
        return _read_only(self.A @ self.A.T)

    @cached_property
    def N_scaled(self) -> Array:
        """Orthonormal null space of ``G_scaled``, (m, m − rank)."""
        if self.supports is not None:
            return _read_only(self.supports.null_space())
        return _read_only(np.linalg.svd(self.A)[0][:, self.rank :])

    @cached_property
    def N(self) -> Array:
        """Null space of G, columns of unit length, entries in N and N·m, (m, m − rank)."""
        N = self.N_scaled * self.unit[:, None]
        return _read_only(N / np.linalg.norm(N, axis=0))

    @property
    def zero(self) -> float:
        """Size below which an entry of ``N_scaled`` is zero."""
        beyond = float(self.relative[self.rank]) if self.redundancy else 0.0
        return min(LOADED, max(1e-9, 10.0 * beyond / min(1.0, self._sigma_r)))

    @cached_property
    def _null_rows(self) -> dict[str, Array]:
        """What the null space has at each joint, (k, c): its rows up to a rotation of its columns."""
        if self.supports is None:
            return {joint: self.N_scaled[columns] for joint, columns in self.columns.items()}
        by_row = {
            int(row): values
            for slots, L in self.supports.null_space_by_body()
            for row, values in zip(slots, L, strict=True)
        }
        return {
            joint: np.array([by_row[k] for k in range(columns.start, columns.stop)])
            for joint, columns in self.columns.items()
        }

    @cached_property
    def zero_rows(self) -> AnyArray:
        """Which rows of the null space are zero, (m,)."""
        norms = [np.linalg.norm(self._null_rows[joint], axis=1) for joint in self.joints]
        return np.asarray(np.concatenate(norms) <= self.zero)

    def dimension(self, joint: str) -> int:
        """Return the dimension of the family of possible reactions of a joint."""
        rows = self._null_rows[joint]
        return int((np.linalg.svd(rows, compute_uv=False) > self.zero).sum()) if self.redundancy else 0

    @property
    def zero_in_G(self) -> float:
        """The same for a null space that is computed from G, whose rounding weighs as its square."""
        rounding = float(np.finfo(float).eps) * len(self.labels)
        return max(self.zero, 10.0 * rounding / self._sigma_r**2)

    @property
    def _sigma_r(self) -> float:
        return float(self.relative[self.rank - 1]) if self.rank else 1.0


def null_loads(connection: GroundConnection, joints_scaled: Mapping[str, Joint]) -> list[Load]:
    """Return the wrenches (d, p) that the null space puts on the assembly, without units."""
    units = connection.unit / np.concatenate([joints_scaled[name].unit for name in connection.joints])
    multipliers = connection.N_scaled * units[:, None]
    loads: list[Load] = []
    for name, columns in connection.columns.items():
        joint = joints_scaled[name]
        (body,) = joint.moving
        loads.append((body, joint, joint.sign(body) * joint.T @ multipliers[columns]))
    return loads


def _read_only(array: Array) -> Array:
    """Return array (...,), of any shape, which can no longer be written to."""
    array.setflags(write=False)
    return array
