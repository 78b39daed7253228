"""The binary assembly tree: the order in which joints connect parts (pekal2024 §2.1), and its largest connection.

The rank and the null space of a large multi-joint connection to the ground are found subassembly by subassembly.
The rows of the ground joints are passed up the binary tree with the motions of the bodies. At motions hidden
from the neighbours, the rows are rotated so that a few of them resist these motions (these are independent) and
the others do not; the others are passed on. Rows that resist no motion any more are redundant. So no subassembly
passes on more rows than it has shown motions, the work on each is bounded, and the rank is decided locally. The
null space is computed down the same tree.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
import scipy.linalg

from mbplugin.analysis.dca.propagation import Joint, singular_U
from mbplugin.model import AnyArray, Array, Body, skew

#: Label, bodies, and the joints at the remaining handles.
Part = tuple[str, tuple[int, ...], tuple[str, ...]]
_Floats = TypeVar("_Floats")
#: U counts as singular above this condition number.
_SINGULAR = 1e14


# Square roots of inverse inertias, Φ = F Fᵀ: the same assembly without cancellation.
#
# The inverse inertia of n bodies falls as n⁻³, while each elimination (7) subtracts numbers of the size of a
# single body's inverse inertia, so a long chain loses the digits on which the rank of G depends. With the root
# no subtraction: a joint removes the directions in the columns of F that it forbids.


@dataclass(frozen=True, eq=False)
class FloatingRoot:
    """A floating body or subassembly, with a root of its inverse inertia.

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
    """Return the subassembly of two parts connected by a joint.

    With B the motions that the joint forbids, (7) is Φ = F (1 − B⁺B) Fᵀ: multiply F by a basis of B's null space.
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
        # F may be multiplied by an orthogonal matrix from the right: F Fᵀ stays the same
        F = scipy.linalg.qr(F.T, mode="r")[0][: len(F)].T if len(F) else np.zeros((0, 0))
    return FloatingRoot(rest_i + rest_j, F)


@dataclass(frozen=True, eq=False)
class ScaledRoot:
    """A dimensionless root A of G with rows of unit length, and its spectrum.

    Parameters
    ----------
    A : (m, c) array
    size : (m,) array
        Factors from multipliers of A to the joint's own dimensionless multipliers.
    relative : (m,) array
        Decreasing singular values, the first one being 1.
    """

    A: Array
    size: Array
    relative: Array

    def rank(self, tolerance: float) -> int:
        """Return the number of singular values above a relative tolerance."""
        return int((self.relative > tolerance).sum())


def scaled_root(joints_scaled: Sequence[Joint], assembly: FloatingRoot, sides: Array) -> ScaledRoot:
    """Return the matrix on which the rank is decided.

    Parameters
    ----------
    joints_scaled : sequence of Joint
        The ground joints in the order of the columns, dimensionless.
    assembly : FloatingRoot
        Dimensionless, with unit inertias: all inertias give the same null space, these the best conditioning.
    sides : (n, m) array
        The column of each row of the joints: 1 once in a column, or twice for the two sides of a joint that is cut.
    """
    handles = handle_indices(assembly.handles, [j.name for j in joints_scaled], len(joints_scaled[0].T))
    rows = force_subspaces(joints_scaled).T @ assembly.F[handles]
    # the sum of the two sides of a cut joint may vanish, but neither side does
    size = 1.0 / np.sqrt(sides.T @ (rows**2).sum(axis=1))
    A = (sides.T @ rows) * size[:, None]
    relative = np.zeros(len(A))
    sigma = np.linalg.svd(A, compute_uv=False)
    relative[: len(sigma)] = sigma / (sigma[0] or 1.0)
    return ScaledRoot(A, size, relative)


def force_subspaces(joints: Sequence[Joint]) -> Array:
    """Return T (6 k, m) of k joints, block diagonal (pekal2024 (52)): wrenches on the assembly per multiplier."""
    # multipliers act with the opposite sign if the assembly's body is the predecessor
    blocks = [joint.sign(joint.moving[0]) * joint.T for joint in joints]
    return np.asarray(scipy.linalg.block_diag(*blocks))


@dataclass(frozen=True)
class Node:
    """A subassembly of the binary tree.

    Parameters
    ----------
    label : str
        Its number in parentheses (circled in the paper); numbering starts after the bodies.
    left, right : str
        Labels of its parts: names of bodies, numbers of subassemblies.
    joint : str
        The joint between them, eliminated here.
    handles : tuple of str
        The joints at the remaining nonempty handles.
    """

    label: str
    left: str
    right: str
    joint: str
    handles: tuple[str, ...]
    bodies: tuple[int, ...]


@dataclass(frozen=True)
class AssemblyTree:
    """Assembly of the bodies into one complete assembly for each group that is connected without the ground.

    Parameters
    ----------
    nodes : tuple of Node
        Leaves first; parts come before the subassemblies that contain them.
    roots : tuple of (str, tuple of int, tuple of str)
        Label, bodies and ground joints of every complete assembly, in the order of its first body.
    """

    nodes: tuple[Node, ...]
    roots: tuple[Part, ...]

    @cached_property
    def _nodes_of(self) -> dict[int, tuple[Node, ...]]:
        """The nodes of every complete assembly by its first body."""
        first = {body: bodies[0] for _, bodies, _ in self.roots for body in bodies}
        found: dict[int, list[Node]] = {}
        for node in self.nodes:
            found.setdefault(first[node.bodies[0]], []).append(node)
        return {body: tuple(nodes) for body, nodes in found.items()}

    def nodes_of(self, root: Part) -> tuple[Node, ...]:
        """Return the subassemblies of a complete assembly, parts before the subassemblies that contain them."""
        return self._nodes_of.get(root[1][0], ())


def assembly_tree(
    names: Sequence[str], handles: Sequence[tuple[str, ...]], joints: Sequence[Joint], floating: Sequence[int]
) -> AssemblyTree:
    """Return a shallow binary tree: in every round, each part is joined to one neighbour at most.

    A part with three or more neighbours is only joined to neighbours that have no others. So at most two bodies
    of any part touch its neighbours, and the size of its inverse inertia does not grow with the part.

    Parameters
    ----------
    names, handles : sequences
        Names and handles of all bodies.
    joints : sequence of Joint
        Without welds.
    floating : sequence of int
        Indices of the bodies that are not ground.
    """
    parts: dict[int, Part] = {k: (names[k], (k,), handles[k]) for k in floating}
    owner = list(range(len(names)))
    left = [joint for joint in joints if not joint.grounded]
    neighbours = Counter(body for joint in left for body in joint.moving)
    nodes: list[Node] = []
    while left:
        busy: set[int] = set()
        later = []
        for joint in left:
            i, j = owner[joint.body_a], owner[joint.body_b]
            fewest, most = sorted((neighbours[i], neighbours[j]))
            if i in busy or j in busy or (fewest > 1 and most > 2):
                later.append(joint)
                continue
            busy |= {i, j}
            one, other = parts[i], parts.pop(j)
            label = f"({len(names) + len(nodes) + 1})"
            remaining = tuple(name for name in (*one[2], *other[2]) if name != joint.name)
            node = Node(label, one[0], other[0], joint.name, remaining, (*one[1], *other[1]))
            nodes.append(node)
            parts[i] = (node.label, node.bodies, node.handles)
            neighbours[i] += neighbours.pop(j) - 2
            for body in node.bodies:
                owner[body] = i
        left = later
    roots = sorted(parts.values(), key=lambda part: min(part[1]))
    in_file = {joint.name: k for k, joint in enumerate(joints)}
    return AssemblyTree(
        tuple(nodes),
        tuple((label, bodies, tuple(sorted(own, key=in_file.__getitem__))) for label, bodies, own in roots),
    )


def accumulate(
    nodes: Sequence[Node],
    bodies: Mapping[int, _Floats],
    joints: Mapping[str, Joint],
    join: Callable[[str, _Floats, _Floats, Joint], _Floats],
) -> _Floats:
    """Return a complete assembly: the main pass, from the leaves to the root.

    Parameters
    ----------
    nodes : sequence of Node
        Nodes of this assembly, parts before the subassemblies that contain them.
    bodies : mapping of body to its part
        All bodies of the assembly.
    join : callable
        Joins two parts: (label, part of the predecessor, part of the successor, joint).
    """
    at = dict(bodies)
    owner = {body: body for body in bodies}
    for node in nodes:
        joint = joints[node.joint]
        i, j = owner[joint.body_a], owner[joint.body_b]
        at[i] = join(node.label, at[i], at.pop(j), joint)
        for body in node.bodies:
            owner[body] = i
    (complete,) = at.values()
    return complete


# Inverse inertias of bodies at their handles, and their assembly by joints (pekal2024 (2), (7)).


@dataclass(frozen=True, eq=False)
class Floating:
    """A floating body or subassembly with the equations of its handles:  a = Φ f + b.

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

    Massless bodies, and inertias that are not positive definite, are replaced by 1 kg with the characteristic
    length as radius of gyration: Φ must exist, but the verdict does not depend on it. With V the
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
    """Return a body with its inverse inertia at all its handles.

    Parameters
    ----------
    arms_W : sequence of (3,) arrays
        From the centre of mass to each handle, world axes.
    inverse : (6, 6) array
        Inverse inertia at the centre of mass, world axes.
    columns : tuple of int
        Twist columns in which the body can move.
    """
    inside = list(columns)
    # out-of-plane motion is prevented, so restrict the inertia to the plane before inverting it
    restricted = np.linalg.inv(np.linalg.inv(inverse)[np.ix_(inside, inside)])
    X = to_handles(arms_W, columns)
    return Floating(name, tuple(handles), X @ restricted @ X.T)


def to_handles(arms_W: Sequence[Array], columns: tuple[int, ...]) -> Array:
    """Return the matrix (d·h, d) from a twist at the centre of mass to the twists at all handles."""
    inside = list(columns)
    out = np.zeros((len(inside) * len(arms_W), len(inside)))
    for k, arm in enumerate(arms_W):
        X = np.eye(6)
        X[:3, 3:] = -skew(arm)
        out[k * len(inside) : (k + 1) * len(inside)] = X[np.ix_(inside, inside)]
    return out


def join(label: str, i: Floating, j: Floating, joint: Joint) -> Floating:
    """Return the subassembly of two floating parts connected by a joint (pekal2024 (7)).

    The handles of i other than the joint's are the paper's handle 1 of i, those of j its handle 2.

    Raises
    ------
    DcaNotApplicable
        U cannot be inverted.
    """
    return assembled(label, i, j, joint, interaction(i, j, joint))


def assembled(label: str, i: Floating, j: Floating, joint: Joint, W: Array) -> Floating:
    """Return the subassembly of two floating parts connected by a joint, given the matrix W (d, d) of the joint."""
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
    """Return the other handles of a part, and the indices in Φ of these and of the joint's handle."""
    d = len(joint.T)
    rest = tuple(name for name in part.handles if name != joint.name)
    return rest, part.at(rest, d), part.at((joint.name,), d)


def interaction(i: Floating, j: Floating, joint: Joint) -> Array:
    """Return W (d, d) of a joint between two parts: it maps the accelerations to prevent to the joint's reaction.

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
    # in the twist of its body; multipliers act with the opposite sign if the body is the predecessor
    rows = [
        np.asarray(joint.sign(joint.moving[0]) * joint.T.T @ to_joint[joint.moving[0], joint.name])
        for joint in ground
    ]
    size = _inverse_lengths(motions, ground, rows)
    return eliminate_supports(motions, _by_body(ground, rows, size), len(size), tolerance), size


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
    # an orthonormal basis of the null space of rows of full rank
    free = np.asarray(scipy.linalg.qr(forbidden.T, check_finite=False)[0][:, len(forbidden) :])
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
                    L = inside[start : start + below.live]
                    # a matrix with the same L Lᵀ, and no more columns than rows
                    above[part] = L if L.shape[1] <= len(L) else np.asarray(np.linalg.qr(L.T, mode="r")).T
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


def _decreasing(parts: Sequence[Array]) -> Array:
    """Return all values (n,) in decreasing order."""
    return np.sort(np.concatenate(parts))[::-1]
