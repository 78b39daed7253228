"""The main pass and the back-substitution of the divide-and-conquer algorithm (pekal2024 §2.1, (1)–(7)).

Accelerations at a handle are the linear part of its body's, a = X v̇ with X the shift from the centre of mass:
what the velocities add stands in Γ of the joints' rows. External forces, those along freedoms among them, are
in the bias accelerations b.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mbplugin.analysis.dca.handles import Joint
from mbplugin.analysis.dca.inertia import Floating, assembled, interaction, rest_and_joint
from mbplugin.analysis.dca.tree import Node
from mbplugin.model.spatial import Array

#: Wrenches (d,) on a body at its handles, world axes, by joint.
Wrenches = dict[str, Array]


@dataclass(frozen=True, eq=False)
class Biased:
    """A body or subassembly with its bias accelerations,  a = Φ f + b  (pekal2024 (1)).

    Parameters
    ----------
    b : (d·h,) array
        Rows as those of Φ, m/s² and rad/s².
    """

    part: Floating
    b: Array


@dataclass(frozen=True, eq=False)
class Elimination:
    """What one joint left behind: enough to find its reaction from the wrenches on the other handles.

    Parameters
    ----------
    i, j : Biased
        Of the predecessor and of the successor.
    W : (d, d) array
    gamma : (d,) array
        The reaction on the successor while nothing acts on the other handles, N and N·m.
    multiplications : int
        Spent here.
    """

    label: str
    i: Biased
    j: Biased
    joint: Joint
    W: Array
    gamma: Array
    multiplications: int


def eliminate_joint(
    label: str, i: Biased, j: Biased, joint: Joint, Gamma: Array
) -> tuple[Biased, Elimination]:
    """Return the subassembly that a joint makes of two parts, and what it eliminated (pekal2024 (7)).

    Parameters
    ----------
    Gamma : (k,) array
        Of the joint's rows: Tᵀ(a_j − a_i) = Γ.
    """
    W = interaction(i.part, j.part, joint)
    part = assembled(label, i.part, j.part, joint, W)
    _, i1, i2 = rest_and_joint(i.part, joint)
    _, j2, j1 = rest_and_joint(j.part, joint)
    # T c = Γ: the part of Ṡ q̇ that the joint's rows see; W sees no other
    c = joint.T @ np.linalg.solve(joint.T.T @ joint.T, Gamma) if Gamma.size else np.zeros(len(joint.T))
    gamma = W @ (i.b[i2] - j.b[j1] + c)
    b = np.concatenate(
        (
            i.b[i1] - i.part.Phi[np.ix_(i1, i2)] @ gamma,
            j.b[j2] + j.part.Phi[np.ix_(j2, j1)] @ gamma,
        )
    )
    spent = _multiplications(len(joint.T), len(joint.T) - joint.T.shape[1], len(i1), len(j2))
    return Biased(part, b), Elimination(label, i, j, joint, W, gamma, spent)


def _multiplications(d: int, free: int, n: int, m: int) -> int:
    """Return how many multiplications an elimination takes: products as they stand, a solution d²(d + k)."""
    interaction = 2 * d**3 + 2 * d * d * free + free**2 * (free + d) + d * free * d
    Phi = (n + m) * d * d + d * (n * n + m * m + n * m)
    return interaction + Phi + d * d + d * (n + m)


def back_substitute(
    eliminations: Sequence[Elimination], wrenches: dict[str, Wrenches]
) -> dict[str, Wrenches]:
    """Carry the wrenches at the handles of complete assemblies back to every body, from the root on.

    Parameters
    ----------
    eliminations : sequence of Elimination
        Leaves first.
    wrenches : dict of label to Wrenches
        Of the complete assemblies.

    Returns
    -------
    dict of label to Wrenches
        Of single bodies and all subassemblies.
    """
    found = dict(wrenches)
    for e in reversed(eliminations):
        on = found[e.label]
        d = len(e.joint.T)
        rest_i, i1, i2 = rest_and_joint(e.i.part, e.joint)
        rest_j, j2, j1 = rest_and_joint(e.j.part, e.joint)
        f_i, f_j = _stacked(on, rest_i, d), _stacked(on, rest_j, d)
        felt = e.i.part.Phi[np.ix_(i2, i1)] @ f_i - e.j.part.Phi[np.ix_(j1, j2)] @ f_j
        reaction = e.W @ felt + e.gamma
        found[e.i.part.label] = {**{name: on[name] for name in rest_i}, e.joint.name: -reaction}
        found[e.j.part.label] = {**{name: on[name] for name in rest_j}, e.joint.name: reaction}
    return found


def _stacked(on: Wrenches, names: Sequence[str], d: int) -> Array:
    """Return the wrenches at some handles one behind the other, (d·k,)."""
    return np.concatenate([on[name] for name in names] or [np.zeros(0)]).reshape(d * len(names))


def levels(nodes: Sequence[Node]) -> dict[str, int]:
    """Return how many eliminations lie one above the other below every subassembly; bodies have none."""
    found: dict[str, int] = {}
    for node in nodes:
        found[node.label] = 1 + max(found.get(node.left, 0), found.get(node.right, 0))
    return found


def ground_multipliers(G: Array, h: Array, unit: Array, N: Array) -> Array:
    """Return the multipliers (m,) with G λ = h (pekal2024 (22)), the smallest where G is singular.

    Parameters
    ----------
    G : (m, m) array
    h : (m,) array
    unit : (m,) array
        Size of each multiplier, N and N·m.
    N : (m, p) array
        Orthonormal null space of the scaled G.
    """
    scaled = unit[:, None] * G * unit
    size = float(np.trace(scaled)) / max(len(G), 1)
    return np.asarray(unit * np.linalg.solve(scaled + size * N @ N.T, unit * h))


def at_handles(X: Array, inverse: Array, F: Array) -> tuple[Array, Array]:
    """Return Φ (d·h, d·h) and b (d·h,) of a body: X (d·h, d) shifts, inverse (d, d) is M⁻¹, F (d,) acts on it."""
    return X @ inverse @ X.T, X @ (inverse @ F)
