"""Square roots of inverse inertias, Φ = F Fᵀ: the same assembly without cancellation.

The inverse inertia of n bodies falls as n⁻³ while each elimination (7) subtracts numbers of the size of
a single body's, so a long chain loses the digits on which the rank of G depends. In its root nothing is
subtracted: a joint removes the columns of F that would move what it holds.
"""

from __future__ import annotations

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
