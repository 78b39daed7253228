"""The multi-joint connection of a complete assembly to the ground: G, its rank and its null space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from mbplugin.analysis.dca.extension import Load
from mbplugin.analysis.dca.handles import Joint
from mbplugin.analysis.dca.inertia import Floating, handle_indices
from mbplugin.analysis.dca.roots import FloatingRoot
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
    Phi_11 : (d·l, d·l) array
        Inverse inertia of the assembly at its l ground handles, SI, the mechanism's own masses.
    T : (d·l, m) array
        Block diagonal: the force subspaces of the joints (pekal2024 (52)), world axes, SI.
    A : (m, c) array
        A root of G without units, of unit inertias, with rows of unit length: here rank is decided and
        the null space found. No row is short by nature, since an assembly that floats yields to
        every wrench.
    unit : (m,) array
        A multiplier in N or N·m is ``unit`` times its value in A, up to a common factor.
    relative : (m,) array
        Singular values of A over the first.
    """

    assembly: str
    joints: tuple[str, ...]
    labels: tuple[tuple[str, str], ...]
    Phi_11: Array
    T: Array
    A: Array
    unit: Array
    relative: Array
    rank: int

    @cached_property
    def G(self) -> Array:
        """G = TᵀΦ₁₁T, SI (pekal2024 (22), (54)), (m, m)."""
        G = self.T.T @ self.Phi_11 @ self.T
        return _read_only(0.5 * (G + G.T))

    @cached_property
    def columns(self) -> dict[str, slice]:
        """Columns of each joint in G."""
        names = [joint for joint, _ in self.labels]
        return {j: slice(names.index(j), names.index(j) + names.count(j)) for j in self.joints}

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
        return min(LOADED, max(1e-9, 10.0 * beyond / self._sigma_r))

    @cached_property
    def zero_rows(self) -> AnyArray:
        """Which rows of the null space are zero, (m,)."""
        return np.asarray(np.linalg.norm(self.N_scaled, axis=1) <= self.zero)

    @property
    def zero_in_G(self) -> float:
        """The same for a null space that is computed from G, whose rounding weighs as its square."""
        rounding = float(np.finfo(float).eps) * len(self.labels)
        return max(self.zero, 10.0 * rounding / self._sigma_r**2)

    @property
    def _sigma_r(self) -> float:
        return float(self.relative[self.rank - 1]) if self.rank else 1.0


@dataclass(frozen=True, eq=False)
class ScaledRoot:
    """A root A of G without units, with rows of unit length, and its spectrum.

    Parameters
    ----------
    A : (m, c) array
    size : (m,) array
        What multiplies a multiplier here to give the joint's own, without units.
    relative : (m,) array
        Decreasing singular values, the first one being 1.
    """

    A: Array
    size: Array
    relative: Array

    def rank(self, tolerance: float) -> int:
        """Return how many singular values exceed a relative tolerance."""
        return int((self.relative > tolerance).sum())


def scaled_root(joints_scaled: Sequence[Joint], assembly: FloatingRoot) -> ScaledRoot:
    """Return the matrix on which rank is decided.

    Parameters
    ----------
    joints_scaled : sequence of Joint
        The ground joints in the order of the columns, without units.
    assembly : FloatingRoot
        Without units, of unit inertias: the best conditioned of all that lead to one null space.
    """
    handles = handle_indices(assembly.handles, [j.name for j in joints_scaled], len(joints_scaled[0].T))
    A = _force_subspaces(joints_scaled).T @ assembly.F[handles]
    size = 1.0 / np.linalg.norm(A, axis=1)
    A = A * size[:, None]
    relative = np.zeros(len(A))
    sigma = np.linalg.svd(A, compute_uv=False)
    relative[: len(sigma)] = sigma / sigma[0]
    return ScaledRoot(A, size, relative)


def ground_connection(
    joints: Sequence[Joint], assembly: Floating, joints_scaled: Sequence[Joint], scaled: ScaledRoot, rank: int
) -> GroundConnection:
    """Return the multi-joint connection of an assembly whose rank is decided.

    Parameters
    ----------
    joints, joints_scaled : sequence of Joint
        Its ground joints in the order of the columns; SI and without units.
    assembly : Floating
        SI, with the mechanism's masses.
    """
    handles = assembly.at([joint.name for joint in joints], len(joints[0].T))
    return GroundConnection(
        assembly.label,
        tuple(joint.name for joint in joints),
        tuple((joint.name, c) for joint in joints for c in joint.components),
        _read_only(assembly.Phi[np.ix_(handles, handles)]),
        _read_only(_force_subspaces(joints)),
        _read_only(scaled.A),
        _read_only(np.concatenate([joint.unit for joint in joints_scaled]) * scaled.size),
        _read_only(scaled.relative),
        rank,
    )


def _force_subspaces(joints: Sequence[Joint]) -> Array:
    """Return T (6 k, m) of k joints, block diagonal (pekal2024 (52)): wrenches on the assembly per multiplier."""
    # where the assembly's body is the predecessor it takes the multipliers with the opposite sign
    blocks = [joint.sign(joint.moving[0]) * joint.T for joint in joints]
    return np.asarray(scipy.linalg.block_diag(*blocks))


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
