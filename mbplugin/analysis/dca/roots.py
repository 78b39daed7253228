"""Square roots of inverse inertias, Φ = F Fᵀ: the same assembly without cancellation.

The inverse inertia of n bodies falls as n⁻³ while each elimination (7) subtracts numbers of the size of
a single body's, so a long chain loses the digits on which the rank of G depends. In its root nothing is
subtracted: a joint removes the columns of F that would move what it holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from mbplugin.analysis.dca.handles import Joint
from mbplugin.analysis.dca.inertia import handle_indices
from mbplugin.model.spatial import Array


@dataclass(frozen=True, eq=False)
class FloatingRoot:
    """A body or subassembly that floats, with a root of its inverse inertia.

    Parameters
    ----------
    handles : tuple of str
        The joint at each nonempty handle.
    F : (d·h, c) array
        Φ = F Fᵀ, rows as in Φ.
    """

    handles: tuple[str, ...]
    F: Array


def join_roots(label: str, i: FloatingRoot, j: FloatingRoot, joint: Joint) -> FloatingRoot:
    """Return the subassembly that a joint makes of two parts.

    With B the rows that the joint forbids, (7) is Φ = F (1 − B⁺B) Fᵀ: F times a basis of B's null space.
    """
    d = len(joint.T)
    rest_i = tuple(name for name in i.handles if name != joint.name)
    rest_j = tuple(name for name in j.handles if name != joint.name)
    at_i = i.F[handle_indices(i.handles, (joint.name,), d)]
    at_j = j.F[handle_indices(j.handles, (joint.name,), d)]
    B = np.hstack((-joint.T.T @ at_i, joint.T.T @ at_j))
    Z = scipy.linalg.qr(B.T)[0][:, len(B) :]
    n = i.F.shape[1]
    F = np.vstack(
        (
            i.F[handle_indices(i.handles, rest_i, d)] @ Z[:n],
            j.F[handle_indices(j.handles, rest_j, d)] @ Z[n:],
        )
    )
    if F.shape[1] > len(F):
        # an orthogonal factor on the right changes nothing
        F = scipy.linalg.qr(F.T, mode="r")[0][: len(F)].T if len(F) else np.zeros((0, 0))
    return FloatingRoot(rest_i + rest_j, F)


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
    A = force_subspaces(joints_scaled).T @ assembly.F[handles]
    size = 1.0 / np.linalg.norm(A, axis=1)
    A = A * size[:, None]
    relative = np.zeros(len(A))
    sigma = np.linalg.svd(A, compute_uv=False)
    relative[: len(sigma)] = sigma / sigma[0]
    return ScaledRoot(A, size, relative)


def force_subspaces(joints: Sequence[Joint]) -> Array:
    """Return T (6 k, m) of k joints, block diagonal (pekal2024 (52)): wrenches on the assembly per multiplier."""
    # where the assembly's body is the predecessor it takes the multipliers with the opposite sign
    blocks = [joint.sign(joint.moving[0]) * joint.T for joint in joints]
    return np.asarray(scipy.linalg.block_diag(*blocks))
