"""Rank and null space of a large multi-joint connection to the ground, subassembly by subassembly.

The rows of the ground joints are passed up the binary tree with the motions of the bodies. At motions hidden
from the neighbours, the rows are rotated so that a few of them resist these motions (these are independent) and
the others do not; the others are passed on. Rows that resist no motion any more are redundant. So no subassembly
passes on more rows than it has shown motions, the work on each is bounded, and the rank is decided locally. The
null space is computed down the same tree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.linalg

from mbplugin.analysis.dca.assembly import to_handles
from mbplugin.analysis.dca.propagation import Joint
from mbplugin.model.spatial import AnyArray, Array

#: For each body, its twist (d, c) per shown motion, and the number of its open joints.
_Open = dict[int, tuple[Array, int]]
#: Indices (k,) of rows, and their values (k, c) in some motions.
_Rows = tuple[AnyArray, Array]


# The ground joints of one complete assembly as rows in the twists of its bodies.


def ground_supports(
    ground: Sequence[Joint],
    bodies: Sequence[int],
    inner: Sequence[Joint],
    centers_W: Array,
    columns: tuple[int, ...],
    tolerance: float,
) -> tuple[Supports, Array]:
    """Return the eliminated ground joints of an assembly, and the factors (m,) that give their rows unit length.

    Parameters
    ----------
    ground, inner : sequences of Joint
        Dimensionless joints: those to the ground in the order of their rows, those between bodies in the
        order of their elimination.
    bodies : sequence of int
        Bodies of the assembly.
    centers_W : (n, 3) array
        Centres of mass of all bodies, dimensionless, world axes.
    columns : tuple of int
        Twist columns of the view.
    tolerance : float
        Singular values above it count, relative to a row of unit length.
    """
    to_joint = {
        (body, joint.name): to_handles([joint.point_W - centers_W[body]], columns)
        for joint in (*ground, *inner)
        for body in joint.moving
    }
    motions = motions_of(bodies, inner, to_joint, len(columns))
    rows = [_row(joint, to_joint[joint.moving[0], joint.name]) for joint in ground]
    size = _inverse_lengths(motions, ground, rows)
    return eliminate_supports(motions, _by_body(ground, rows, size), len(size), tolerance), size


def _row(joint: Joint, to_joint: Array) -> Array:
    """Return the rows (k, d) of a ground joint in the twist of its body; ``to_joint`` (d, d)."""
    # multipliers act with the opposite sign if the body is the predecessor
    return np.asarray(joint.sign(joint.moving[0]) * joint.T.T @ to_joint)


def _inverse_lengths(motions: Motions, ground: Sequence[Joint], rows: Sequence[Array]) -> Array:
    """Return the inverse length (m,) of each of the rows (k, d) in the motions of the complete assembly."""
    spread = motions.spreads()
    squares = [
        np.einsum("ij,jk,ik->i", row, spread[joint.moving[0]], row)
        for joint, row in zip(ground, rows, strict=True)
    ]
    return np.asarray(1.0 / np.sqrt(np.concatenate(squares)))


def _by_body(
    ground: Sequence[Joint], rows: Sequence[Array], size: Array
) -> dict[int, tuple[AnyArray, Array]]:
    """Return the row indices (k,) and the unit rows (k, d) of each body with ground joints; ``size`` (m,)."""
    found: dict[int, list[tuple[AnyArray, Array]]] = {}
    start = 0
    for joint, row in zip(ground, rows, strict=True):
        numbers = np.arange(start, start + len(row))
        found.setdefault(joint.moving[0], []).append((numbers, row * size[numbers, None]))
        start += len(row)
    return {
        body: (np.concatenate([n for n, _ in own]), np.vstack([row for _, row in own]))
        for body, own in found.items()
    }


# Motions of the subassemblies of a binary tree: those visible at the open joints (shown), and those hidden.
#
# The motions of a subassembly with unit inertias have an orthonormal basis. At most as many of them as the open
# joints have directions move the neighbours. The others are hidden: no later joint changes them. So the data
# passed to the next subassembly do not grow with the number of bodies inside.


@dataclass(frozen=True, eq=False)
class Step:
    """One body, or the subassembly of two parts connected by one joint.

    Parameters
    ----------
    parts : tuple of int
        Indices of the two steps that it joins; empty for a body.
    body : int
        The body of a step without parts; else −1.
    M : (c', c) array
        Its c orthonormal motions in terms of the c' shown motions of its parts, or of the twist of the body.
    shown : int
        Number of shown motions, which come first: those visible at the open joints.
    """

    parts: tuple[int, ...]
    body: int
    M: Array
    shown: int


@dataclass(frozen=True, eq=False)
class Motions:
    """The steps of one complete assembly; parts come before the subassemblies that contain them."""

    steps: tuple[Step, ...]

    def inside(self, number: int) -> Iterator[tuple[int, slice]]:
        """Yield the parts of a step, each with its rows of M."""
        start = 0
        for part in self.steps[number].parts:
            stop = start + self.steps[part].shown
            yield part, slice(start, stop)
            start = stop

    def spreads(self) -> dict[int, Array]:
        """Return Φ (d, d) of the complete assembly at the centre of mass of every body, computed from the root."""
        shown = {len(self.steps) - 1: np.zeros((0, 0))}
        found = {}
        for number in reversed(range(len(self.steps))):
            step = self.steps[number]
            spread = np.eye(step.M.shape[1])
            spread[: step.shown, : step.shown] = shown.pop(number)
            spread = step.M @ spread @ step.M.T
            if not step.parts:
                found[step.body] = spread
            for part, rows in self.inside(number):
                shown[part] = spread[rows, rows]
        return found


def motions_of(
    bodies: Sequence[int], order: Sequence[Joint], to_joint: Mapping[tuple[int, str], Array], d: int
) -> Motions:
    """Return the motions of a complete assembly.

    Parameters
    ----------
    bodies : sequence of int
    order : sequence of Joint
        The joints between them in the order of their elimination, without units.
    to_joint : mapping of (body, joint) to (d, d) array
        Transforms of the twist at the centre of mass to the joint.
    d : int
        Components of a twist.
    """
    count = dict.fromkeys(bodies, 0)
    for joint in order:
        for body in joint.moving:
            count[body] += 1
    steps = [Step((), body, np.eye(d), d if count[body] else 0) for body in bodies]
    at = {body: k for k, body in enumerate(bodies)}
    outside = {k: {body: (np.eye(d), count[body])} for k, body in enumerate(bodies) if count[body]}
    merged = list(range(len(bodies)))
    for joint in order:
        i, j = (_last(merged, at[body]) for body in (joint.body_a, joint.body_b))
        step, open_ = _joined(
            (i, j), joint, (outside.pop(i), outside.pop(j)), (steps[i].shown, steps[j].shown), to_joint
        )
        outside[len(steps)] = open_
        merged[i] = merged[j] = len(steps)
        merged.append(len(steps))
        steps.append(step)
    return Motions(tuple(steps))


def _last(merged: list[int], number: int) -> int:
    """Return the latest subassembly that contains a step (union-find with path compression)."""
    while merged[number] != number:
        merged[number] = merged[merged[number]]
        number = merged[number]
    return number


def _joined(
    parts: tuple[int, int],
    joint: Joint,
    outside: tuple[_Open, _Open],
    shown: tuple[int, int],
    to_joint: Mapping[tuple[int, str], Array],
) -> tuple[Step, _Open]:
    """Return the subassembly of two parts, and the motions of its bodies with open joints."""
    (at_i, _), (at_j, _) = outside[0][joint.body_a], outside[1][joint.body_b]
    forbidden = np.hstack(
        (
            -joint.T.T @ to_joint[joint.body_a, joint.name] @ at_i,
            joint.T.T @ to_joint[joint.body_b, joint.name] @ at_j,
        )
    )
    free = _null_basis(forbidden)
    rest = _rest(joint.body_a, outside[0], free[: shown[0]]) | _rest(
        joint.body_b, outside[1], free[shown[0] :]
    )
    seen = [twist for twist, _ in rest.values()]
    size = min(sum(map(len, seen)), free.shape[1])
    if 0 < size < free.shape[1]:
        Q = scipy.linalg.qr(np.vstack(seen).T, check_finite=False)[0]
        free = free @ Q
        rest = {body: (twist @ Q[:, :size], number) for body, (twist, number) in rest.items()}
    return Step(parts, -1, free, size), rest


def _null_basis(B: Array) -> Array:
    """Return an orthonormal basis (n, n − k) of the null space of B (k, n) of full rank."""
    return np.asarray(scipy.linalg.qr(B.T, check_finite=False)[0][:, len(B) :])


def _rest(body: int, outside: _Open, free: Array) -> _Open:
    """Return the bodies with open joints after one joint of ``body`` is closed; ``free`` (c', c)."""
    left = {k: (twist @ free, number - (k == body)) for k, (twist, number) in outside.items()}
    return {k: (twist, number) for k, (twist, number) in left.items() if number}


@dataclass(frozen=True, eq=False)
class _Rotation:
    """Rows (k,) of one step, rotated by U (k, k) into, in order: absorbed, passed on (live), and redundant rows."""

    slots: AnyArray
    U: Array
    absorbed: int
    live: int


@dataclass(frozen=True, eq=False)
class Supports:
    """The eliminated ground joints of a complete assembly.

    Parameters
    ----------
    rows : int
        Number of rows of the ground joints.
    kept, rejected : arrays
        Singular values that count and that were treated as zero, relative to a row of unit length; decreasing.
    """

    rows: int
    kept: Array
    rejected: Array
    motions: Motions
    _rotations: Mapping[int, _Rotation]

    @property
    def rank(self) -> int:
        """Rank of the rows."""
        return len(self.kept)

    @property
    def sizes(self) -> Array:
        """Singular values that count, followed by the largest of the rejected ones, (rows,)."""
        out = np.zeros(self.rows)
        found = np.concatenate((self.kept, self.rejected))[: self.rows]
        out[: len(found)] = found
        return out

    def null_space(self) -> Array:
        """Return an orthonormal left null space (rows, rows − rank)."""
        redundant = [r.slots[r.absorbed + r.live :] for r in self._rotations.values()]
        N = np.zeros((self.rows, self.rows - self.rank))
        N[np.concatenate(redundant), np.arange(N.shape[1])] = 1.0
        for number in sorted(self._rotations, reverse=True):
            rotation = self._rotations[number]
            N[rotation.slots] = rotation.U @ N[rotation.slots]
        return N

    def null_space_by_body(self) -> list[_Rows]:
        """Return the rows (k,) on each body, with a factor L (k, c) of the null space: N Nᵀ = L Lᵀ in these rows.

        The columns of L are c ≤ k combinations of all null vectors, so this is as cheap as the rank.
        """
        above: dict[int, Array] = {}
        found = []
        for number in sorted(self._rotations, reverse=True):
            rotation = self._rotations[number]
            live = above.pop(number, np.zeros((0, 0)))
            own = np.eye(len(rotation.slots) - rotation.absorbed - rotation.live)
            inside = rotation.U[:, rotation.absorbed :] @ scipy.linalg.block_diag(live, own)
            start = 0
            for part, _ in self.motions.inside(number):
                if below := self._rotations.get(part):
                    above[part] = _compressed(inside[start : start + below.live])
                    start += below.live
            if not self.motions.steps[number].parts:
                found.append((rotation.slots, inside))
        return found


def eliminate_supports(
    motions: Motions, supports: Mapping[int, _Rows], rows: int, tolerance: float
) -> Supports:
    """Eliminate the ground joints of a complete assembly.

    Parameters
    ----------
    supports : mapping of body to arrays (k,) and (k, d)
        Row indices of its ground joints, and the rows on its twist; of unit length in the motions
        of the complete assembly.
    rows : int
        Number of rows on all bodies.
    tolerance : float
        Singular values above it count.
    """
    live: dict[int, _Rows] = {}
    rotations: dict[int, _Rotation] = {}
    kept, rejected = [np.zeros(0)], [np.zeros(0)]
    for number, step in enumerate(motions.steps):
        if (arriving := _arriving(motions, number, supports, live)) is None:
            continue
        slots, values = arriving
        U, hidden, nothing = _independent(values[:, step.shown :], tolerance)
        kept.append(hidden)
        rejected.append(nothing)
        absorbed, values = len(hidden), (U.T @ values)[len(hidden) :, : step.shown]
        if len(values) > step.shown:
            V, handed_on, nothing = _independent(values, tolerance)
            rejected.append(nothing)
            U, values = U @ scipy.linalg.block_diag(np.eye(absorbed), V), (V.T @ values)[: len(handed_on)]
        rotations[number] = _Rotation(slots, U, absorbed, len(values))
        live[number] = slots[absorbed : absorbed + len(values)], values
    return Supports(rows, _decreasing(kept), _decreasing(rejected), motions, rotations)


def _arriving(
    motions: Motions, number: int, supports: Mapping[int, _Rows], live: dict[int, _Rows]
) -> _Rows | None:
    """Return the rows of a body, or the rows passed on by the parts of a subassembly, in its motions."""
    step = motions.steps[number]
    if not step.parts:
        return supports.get(step.body)
    below = [(live.pop(part), shown) for part, shown in motions.inside(number) if part in live]
    if not below:
        return None
    slots = np.concatenate([own for (own, _), _ in below])
    return slots, np.vstack([values @ step.M[shown] for (_, values), shown in below])


def _independent(values: Array, tolerance: float) -> tuple[Array, Array, Array]:
    """Return U (k, k), whose transpose rotates values (k, c) so that few rows are nonzero.

    Also return the singular values above the tolerance, and those below.
    """
    U, sigma, _ = np.linalg.svd(values)
    return U, sigma[sigma > tolerance], sigma[sigma <= tolerance]


def _compressed(L: Array) -> Array:
    """Return a matrix (k, c), c ≤ k, with the same L Lᵀ as L (k, n)."""
    return L if L.shape[1] <= len(L) else np.asarray(np.linalg.qr(L.T, mode="r")).T


def _decreasing(parts: Sequence[Array]) -> Array:
    """Return all values (n,) in decreasing order."""
    return np.sort(np.concatenate(parts))[::-1]
