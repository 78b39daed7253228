"""Inverse inertias of bodies at their handles, and their assembly by joints (pekal2024 (2), (7))."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.analysis.dca.handles import Joint
from mbplugin.analysis.dca.preconditions import singular_U
from mbplugin.model.mechanism.body import Body
from mbplugin.model.spatial import AnyArray, Array, skew

#: U counts as singular above this condition number.
_SINGULAR = 1e14


@dataclass(frozen=True, eq=False)
class Floating:
    """A body, or several made one, that floats and can be touched at its handles:  a = Φ f + b.

    Parameters
    ----------
    label : str
        A body's name, or the number of a subassembly.
    handles : tuple of str
        The joint at each nonempty handle.
    Phi : (d·h, d·h) array
        Inverse inertia, d rows per handle in that order, world axes (pekal2024 (2)).
    """

    label: str
    handles: tuple[str, ...]
    Phi: Array

    def at(self, handles: Sequence[str], d: int) -> AnyArray:
        """Return the indices (d·k,) of k handles in Φ."""
        return handle_indices(self.handles, handles, d)


def handle_indices(handles: Sequence[str], chosen: Sequence[str], d: int) -> AnyArray:
    """Return the indices (d·k,) of k chosen handles among rows of d per handle."""
    starts = [d * handles.index(name) for name in chosen]
    return np.concatenate([np.arange(s, s + d) for s in starts] or [np.zeros(0, dtype=int)])


def unit_inertia(length: float) -> Array:
    """Return the inverse inertia at the centre of mass of 1 kg with a radius of gyration, (6, 6)."""
    return np.diag([1.0] * 3 + [1.0 / length**2] * 3)


def inverse_inertia(body: Body, R_WL: Array, length: float) -> Array:
    """Return the inverse inertia of a body at its centre of mass, world axes, (6, 6); R_WL (3, 3).

    Massless bodies, and inertias that no body has, are replaced by 1 kg with the characteristic
    length for a radius of gyration: Φ must exist, but the verdict does not depend on it. With V the
    motions that the tree leaves free, G = (TᵀV)(VᵀMV)⁻¹(TᵀV)ᵀ, whose null space is that of (TᵀV)ᵀ
    for every positive definite M.
    """
    I_C_W = R_WL @ body.I_C @ R_WL.T
    if not (body.mass > 0 and np.linalg.eigvalsh(I_C_W)[0] > 0):
        return unit_inertia(length)
    out = np.zeros((6, 6))
    out[:3, :3] = np.eye(3) / body.mass
    out[3:, 3:] = np.linalg.inv(I_C_W)
    return out


def floating_body(
    name: str, handles: Sequence[str], arms_W: Sequence[Array], inverse: Array, columns: tuple[int, ...]
) -> Floating:
    """Return a body with its inverse inertia between all its handles.

    Parameters
    ----------
    arms_W : sequence of (3,) arrays
        From the centre of mass to each handle, world axes.
    inverse : (6, 6) array
        Inverse inertia at the centre of mass, world axes.
    columns : tuple of int
        Twist columns that the body can move in.
    """
    inside = list(columns)
    # what leaves the plane neither moves nor loads: the plane's own block is the inertia there
    restricted = np.linalg.inv(np.linalg.inv(inverse)[np.ix_(inside, inside)])
    X = to_handles(arms_W, columns)
    return Floating(name, tuple(handles), X @ restricted @ X.T)


def to_handles(arms_W: Sequence[Array], columns: tuple[int, ...]) -> Array:
    """Return what takes a twist at the centre of mass to all handles, (d·h, d)."""
    inside = list(columns)
    out = np.zeros((len(inside) * len(arms_W), len(inside)))
    for k, arm in enumerate(arms_W):
        X = np.eye(6)
        X[:3, 3:] = -skew(arm)
        out[k * len(inside) : (k + 1) * len(inside)] = X[np.ix_(inside, inside)]
    return out


def join(label: str, i: Floating, j: Floating, joint: Joint) -> Floating:
    """Return the subassembly that a joint makes of two floating parts (pekal2024 (7)).

    The handles of i other than the joint's are the paper's handle 1 of i, those of j its handle 2.

    Raises
    ------
    DcaNotApplicable
        U cannot be inverted.
    """
    return assembled(label, i, j, joint, interaction(i, j, joint))


def assembled(label: str, i: Floating, j: Floating, joint: Joint, W: Array) -> Floating:
    """Return the subassembly that a joint makes of two floating parts, with the W (d, d) between them."""
    rest_i, i1, i2 = rest_and_joint(i, joint)
    rest_j, j2, j1 = rest_and_joint(j, joint)
    n = len(i1)
    Phi = np.empty((n + len(j2), n + len(j2)))
    Phi[:n, :n] = i.Phi[np.ix_(i1, i1)] - i.Phi[np.ix_(i1, i2)] @ W @ i.Phi[np.ix_(i2, i1)]
    Phi[n:, n:] = j.Phi[np.ix_(j2, j2)] - j.Phi[np.ix_(j2, j1)] @ W @ j.Phi[np.ix_(j1, j2)]
    Phi[n:, :n] = j.Phi[np.ix_(j2, j1)] @ W @ i.Phi[np.ix_(i2, i1)]
    Phi[:n, n:] = Phi[n:, :n].T
    return Floating(label, rest_i + rest_j, Phi)


def rest_and_joint(part: Floating, joint: Joint) -> tuple[tuple[str, ...], AnyArray, AnyArray]:
    """Return the other handles of a part, and the indices in Φ of these and of the joint's own."""
    d = len(joint.T)
    rest = tuple(name for name in part.handles if name != joint.name)
    return rest, part.at(rest, d), part.at((joint.name,), d)


def interaction(i: Floating, j: Floating, joint: Joint) -> Array:
    """Return W (d, d) between two parts, which gives the joint's reaction from the accelerations that it must
    prevent.

    Raises
    ------
    DcaNotApplicable
        U cannot be inverted.
    """
    at_i, at_j = rest_and_joint(i, joint)[2], rest_and_joint(j, joint)[2]
    U = j.Phi[np.ix_(at_j, at_j)] + i.Phi[np.ix_(at_i, at_i)]
    size = np.sqrt(np.abs(np.diag(U)))
    if not size.all() or np.linalg.cond(U / np.outer(size, size)) > _SINGULAR:
        raise singular_U(joint.name)
    V = np.linalg.inv(U)
    VS = V @ joint.S
    W = V - VS @ np.linalg.solve(joint.S.T @ VS, VS.T)
    return np.asarray(0.5 * (W + W.T))
