"""The model of the divide-and-conquer algorithm at a pose: joints, handles, assembly tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from mbplugin.analysis.dca.assembly import (
    AssemblyTree,
    Floating,
    FloatingRoot,
    Part,
    ScaledRoot,
    Supports,
    accumulate,
    assembly_tree,
    floating_body,
    force_subspaces,
    ground_supports,
    inverse_inertia,
    join,
    join_roots,
    scaled_root,
    to_handles,
)
from mbplugin.analysis.dca.propagation import (
    Joint,
    Load,
    halves,
    handles_of_bodies,
    inner_closures,
    joint_handles,
)
from mbplugin.constraints import rank as ranks
from mbplugin.constraints.rank import LOADED
from mbplugin.constraints.reduction import characteristic_length
from mbplugin.constraints.rows import Rows, all_rows, planar_rows
from mbplugin.model import AnyArray, Array, DisjointSets, Mechanism
from mbplugin.model.mechanism.kinematics import BodyPoses, forward, ground_welds

# The ground consists of the world and the bodies welded to it.
#
# A base fixed to the world by one pair does not move, so a loop through it is a loop through the ground.
# Its weld is not part of G: its reaction is the sum of the reactions of the joints on the base.


def welds(mech: Mechanism, rows: Sequence[Rows]) -> dict[str, int]:
    """Return the fixed pairs that make a body part of the ground, with that body, from the world outwards.

    A body that has another connection to the ground remains a body: then its weld is one of several
    joints that share the load.

    Parameters
    ----------
    rows : sequence of Rows
        Rows of the pairs; pairs without rows connect nothing.
    """
    return ground_welds(mech, {r.constraint for r in rows if r.components})


def only_ties(mech: Mechanism, rows: Sequence[Rows]) -> frozenset[str]:
    """Return the pairs that are the only connection of a group of bodies to the world.

    Their reactions are unique, whatever loops the group contains (pekal2024 §2.2).
    """
    groups: DisjointSets[int] = DisjointSets()
    ties: list[tuple[str, int]] = []
    for r in rows:
        pair = mech.pair_by_name[r.constraint]
        a, b = mech.body_index[pair.body_a], mech.body_index[pair.body_b]
        if not r.components:
            continue
        if a >= 0 and b >= 0:
            groups.join(a, b)
        else:
            ties.append((pair.name, max(a, b)))
    roots = [groups.find(body) for _, body in ties]
    count = Counter(roots)
    return frozenset(name for (name, _), root in zip(ties, roots, strict=True) if count[root] == 1)


@dataclass(frozen=True, eq=False)
class DcaModel:
    """Joints with their handles at one pose, and the binary assembly tree.

    Parameters
    ----------
    columns : tuple of int
        Twist columns of the view, space or plane.
    length : float
        Characteristic length, m.
    rows : tuple of Rows
        Rows of the pairs, in this view.
    welded : mapping of str to int
        The fixed pairs that make a body part of the ground, from the world outwards, with these bodies.
    joints_scaled, welds_scaled : tuple of Joint
        The joints without welds, and the welds, with all lengths divided by ``length``.
    only_ties : frozenset of str
        Pairs that are the only connection of a group of bodies to the world.
    handles : tuple of tuples of str
        The nonempty handles of every body, including those at welds.
    cut : mapping of str to (str, str)
        Joints that close loops without the ground, in the extension, and the names of their two sides.
    """

    mechanism: Mechanism
    poses: BodyPoses
    columns: tuple[int, ...]
    length: float
    rows: tuple[Rows, ...]
    welded: Mapping[str, int]
    joints_scaled: tuple[Joint, ...]
    welds_scaled: tuple[Joint, ...]
    only_ties: frozenset[str]
    handles: tuple[tuple[str, ...], ...]
    tree: AssemblyTree
    cut: Mapping[str, tuple[str, str]]

    @cached_property
    def _in_SI(self) -> tuple[tuple[Joint, ...], tuple[Joint, ...]]:
        at = self.mechanism, self.poses, self.rows, self.columns
        joints, own_welds = _split(joint_handles(*at, 1.0, self.welded), self.welded)
        return _cut(self.mechanism, joints, self.cut), own_welds

    @cached_property
    def pair_of(self) -> dict[str, str]:
        """The pair of each side of a cut joint."""
        return {side: name for name, sides in self.cut.items() for side in sides}

    @property
    def joints(self) -> tuple[Joint, ...]:
        """All joints, SI, without welds."""
        return self._in_SI[0]

    @property
    def welds(self) -> tuple[Joint, ...]:
        """The welds, SI, from the world outwards."""
        return self._in_SI[1]

    @cached_property
    def joint(self) -> dict[str, Joint]:
        """Each joint and weld by name, SI."""
        return {joint.name: joint for joint in (*self.joints, *self.welds)}

    @cached_property
    def joint_scaled(self) -> dict[str, Joint]:
        """Each joint and weld by name, dimensionless."""
        return {joint.name: joint for joint in (*self.joints_scaled, *self.welds_scaled)}

    def connections(self, tolerance: float) -> tuple[GroundConnection, ...]:
        """Return the multi-joint connections to the ground, with their ranks at a relative tolerance.

        Raises
        ------
        DcaNotApplicable
            A joint cannot be eliminated.
        """
        several = [root for root in self.tree.roots if len(root[2]) > 1]
        if several:
            for root in self.tree.roots:
                # assemble without ground handles to check that every joint can be eliminated
                self._assembly(root, self._inner)
        return tuple(self._connection(root, tolerance) for root in several)

    def scaled(self) -> dict[tuple[str, ...], ScaledRoot]:
        """Return the root of G of every multi-joint connection, by its ground joints."""
        return {root[2]: self._scaled_root(root) for root in self.tree.roots if len(root[2]) > 1}

    def _connection(self, root: Part, tolerance: float) -> GroundConnection:
        label, _, ground = root
        supports, scaled = None, None
        if self._is_large(root):
            _, bodies, pairs = root
            supports, size = ground_supports(
                [self.joint_scaled[name] for name in pairs],
                bodies,
                [self.joint_scaled[node.joint] for node in self.tree.nodes_of(root)],
                self.poses.p_WC / self.length,
                self.columns,
                tolerance,
            )
            rank, relative = supports.rank, supports.sizes
        else:
            scaled = self._scaled_root(root)
            rank, size, relative = scaled.rank(tolerance), scaled.size, scaled.relative
        of = self._sides_of(ground)
        return GroundConnection(
            label,
            ground,
            of,
            tuple((name, c) for name, sides in of.items() for c in self.joint[sides[0]].components),
            np.concatenate([self.joint_scaled[sides[0]].unit for sides in of.values()]) * size,
            relative,
            rank,
            supports,
            partial(self._at_ground, root),
            partial(self._root, root, scaled),
        )

    def _sides_of(self, ground: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Return the joints of the columns of a connection, each with itself or with its two sides."""
        sides: dict[str, tuple[str, ...]] = {}
        for name in ground:
            pair = self.pair_of.get(name, name)
            sides[pair] = (*sides.get(pair, ()), name)
        return sides

    def _sides(self, ground: Sequence[str]) -> Array:
        """Return the incidence matrix (n, m) of the rows of some ground joints and the columns of their connection."""
        of = self._sides_of(ground)
        widths = {pair: len(self.joint_scaled[names[0]].components) for pair, names in of.items()}
        starts = dict(zip(widths, np.cumsum([0, *widths.values()]), strict=False))
        out = np.zeros((sum(widths[p] * len(names) for p, names in of.items()), sum(widths.values())))
        row = 0
        for name in ground:
            pair = self.pair_of.get(name, name)
            for k in range(widths[pair]):
                out[row + k, starts[pair] + k] = 1.0
            row += widths[pair]
        return out

    def _is_large(self, root: Part) -> bool:
        """Return True if the root of G of an assembly is too large for a dense singular value decomposition.

        The rows of cut joints touch two bodies, which the elimination of large assemblies does not take.
        """
        _, bodies, ground = root
        if not self.pair_of.keys().isdisjoint(ground):
            return False
        rows = sum(len(self.joint[name].components) for name in ground)
        held = sum(len(self.joint[node.joint].components) for node in self.tree.nodes_of(root))
        return rows * (len(bodies) * len(self.columns) - held) > ranks.LARGEST_DENSE

    def _scaled_root(self, root: Part) -> ScaledRoot:
        """Return the dimensionless root of G of an assembly, with unit inertias."""
        _, own_bodies, ground = root
        bodies = {}
        for k in own_bodies:
            p_WC, own = self.poses.p_WC[k] / self.length, self.handles[k]
            arms = [self.joint_scaled[name].point_W - p_WC for name in own]
            bodies[k] = FloatingRoot(own, to_handles(arms, self.columns))
        assembly = accumulate(self.tree.nodes_of(root), bodies, self.joint_scaled, join_roots)
        return scaled_root([self.joint_scaled[name] for name in ground], assembly, self._sides(ground))

    def _root(self, root: Part, scaled: ScaledRoot | None) -> Array:
        """Return the root A (m, c) of a connection's G."""
        return (scaled or self._scaled_root(root)).A

    @cached_property
    def _inner(self) -> tuple[tuple[str, ...], ...]:
        """The handles of every body that are not at the ground."""
        grounded = {joint.name for joint in self.joint_scaled.values() if joint.grounded}
        return tuple(tuple(name for name in own if name not in grounded) for own in self.handles)

    def _assembly(self, root: Part, handles: Sequence[tuple[str, ...]]) -> Floating:
        """Return a complete assembly, SI, with the mechanism's masses, for some handles of its bodies."""
        bodies = {}
        for k in root[1]:
            body, p_WC, own = self.mechanism.bodies[k], self.poses.p_WC[k], handles[k]
            arms = [self.joint[name].point_W - p_WC for name in own]
            inverse = inverse_inertia(body, self.poses.R_WL[k], self.length)
            bodies[k] = floating_body(body.name, own, arms, inverse, self.columns)
        return accumulate(self.tree.nodes_of(root), bodies, self.joint, join)

    def _at_ground(self, root: Part) -> tuple[Array, Array]:
        """Return Φ₁₁ (d·l, d·l) and T (d·l, m) of a connection."""
        assembly, ground = self._assembly(root, self.handles), root[2]
        handles = assembly.at(ground, len(self.columns))
        T = force_subspaces([self.joint[name] for name in ground]) @ self._sides(ground)
        return assembly.Phi[np.ix_(handles, handles)], T


def dca_model(mech: Mechanism, q: Array, columns: tuple[int, ...], *, cut_loops: bool = False) -> DcaModel:
    """Return the model of a mechanism of pairs at a closed pose q (nq,).

    Parameters
    ----------
    columns : tuple of int
        Twist columns of the view.
    cut_loops : bool
        Cut joints that close loops without the ground. Both sides of such a joint then count as ground joints with
        common multipliers, which is beyond the paper.

    Raises
    ------
    DcaNotApplicable
        A loop does not pass through the ground, and is not to be cut.
    """
    poses = forward(mech, q)
    names = frozenset(pair.name for pair in mech.pairs)
    rows = tuple(planar_rows(r, columns) for r in all_rows(mech, poses, q, names=names))
    length = characteristic_length(rows, poses.p_WC, mech)
    welded = welds(mech, rows)
    joints, own_welds = _split(joint_handles(mech, poses, rows, columns, length, welded), welded)
    closures = set(inner_closures(mech, joints, refuse=not cut_loops))
    cut = {}
    for joint in joints:
        if joint.name in closures:
            one, other = halves(joint, mech)
            cut[joint.name] = one.name, other.name
    joints = _cut(mech, joints, cut)
    in_file = {r.constraint: k for k, r in enumerate(rows)}
    in_file |= {side: in_file[name] for name, sides in cut.items() for side in sides}
    every = sorted((*joints, *own_welds), key=lambda joint: in_file[joint.name])
    handles = handles_of_bodies(len(mech.bodies), every)
    floating = _floating(mech, welded)
    tree = assembly_tree([body.name for body in mech.bodies], handles, joints, floating)
    ties = only_ties(mech, rows)
    return DcaModel(mech, poses, columns, length, rows, welded, joints, own_welds, ties, handles, tree, cut)


def _cut(mech: Mechanism, joints: Sequence[Joint], cut: Mapping[str, object]) -> tuple[Joint, ...]:
    """Return the joints, those of ``cut`` replaced by their two sides."""
    return tuple(
        side for joint in joints for side in (halves(joint, mech) if joint.name in cut else (joint,))
    )


def _floating(mech: Mechanism, welded: Mapping[str, int]) -> tuple[int, ...]:
    ground = frozenset(welded.values())
    return tuple(k for k in range(len(mech.bodies)) if k not in ground)


def _split(
    joints: tuple[Joint, ...], welded: Mapping[str, int]
) -> tuple[tuple[Joint, ...], tuple[Joint, ...]]:
    """Return the joints, and the welds from the world outwards."""
    by_name = {joint.name: joint for joint in joints}
    rest = tuple(joint for joint in joints if joint.name not in welded)
    return rest, tuple(by_name[name] for name in welded)


# The multi-joint connection of a complete assembly to the ground: G, its rank and its null space.


@dataclass(frozen=True, eq=False)
class GroundConnection:
    """Several joints between one complete assembly and the ground.

    Parameters
    ----------
    assembly : str
        Label of the assembly.
    joints : tuple of str
        The ground joints in file order, and the sides of cut joints.
    sides : mapping of str to tuple of str
        The joints of the columns: a ground joint with itself, a cut joint with its two sides.
    labels : tuple of (str, str)
        (joint, component) of every column of G.
    unit : (m,) array
        A multiplier in N or N·m is ``unit`` times its value in A, up to a common factor.
    relative : (m,) array
        Singular values of A divided by the first. For a large connection, the singular values found in its
        subassemblies, relative to a row of A.
    supports : Supports or None
        Eliminated ground joints of a large connection, whose rank is decided in its subassemblies.
    at_ground : callable
        Returns Φ₁₁ and T; not needed for verdicts.
    root : callable
        Returns A; not needed for the verdict on a large connection.
    """

    assembly: str
    joints: tuple[str, ...]
    sides: Mapping[str, tuple[str, ...]]
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
        """Inverse inertia of the assembly at its l ground handles, SI, with the mechanism's masses, (d·l, d·l)."""
        return self._at_ground[0]

    @property
    def T(self) -> Array:
        """Block diagonal force subspaces of the joints (pekal2024 (52)), world axes, SI, (d·l, m)."""
        return self._at_ground[1]

    @cached_property
    def A(self) -> Array:
        """A dimensionless root of G with unit inertias and rows of unit length, (m, c).

        It determines the rank and the null space. No row has zero length before scaling, since every wrench
        accelerates a floating assembly.
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
        """Degree of redundancy of the ground joints of the assembly."""
        return len(self.labels) - self.rank

    @cached_property
    def G_scaled(self) -> Array:
        """Dimensionless G = A Aᵀ for the numerical tools, (m, m)."""
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
        """Size below which an entry of ``N_scaled`` counts as zero."""
        beyond = float(self.relative[self.rank]) if self.redundancy else 0.0
        return min(LOADED, max(1e-9, 10.0 * beyond / min(1.0, self._sigma_r)))

    @cached_property
    def _null_rows(self) -> dict[str, Array]:
        """Rows (k, c) of the null space at each joint, up to a rotation of its columns."""
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
        """True for the rows of the null space that are zero, (m,)."""
        norms = [np.linalg.norm(self._null_rows[joint], axis=1) for joint in self.columns]
        return np.asarray(np.concatenate(norms) <= self.zero)

    def dimension(self, joint: str) -> int:
        """Return the dimension of the family of possible reactions of a joint."""
        rows = self._null_rows[joint]
        return int((np.linalg.svd(rows, compute_uv=False) > self.zero).sum()) if self.redundancy else 0

    @property
    def zero_in_G(self) -> float:
        """``zero`` for a null space computed from G, whose singular values, and so rounding errors, are squared."""
        rounding = float(np.finfo(float).eps) * len(self.labels)
        return max(self.zero, 10.0 * rounding / self._sigma_r**2)

    @property
    def _sigma_r(self) -> float:
        return float(self.relative[self.rank - 1]) if self.rank else 1.0


def null_loads(connection: GroundConnection, joints_scaled: Mapping[str, Joint]) -> list[Load]:
    """Return the dimensionless wrenches (d, p) of the null space on the assembly."""
    own = np.concatenate([joints_scaled[sides[0]].unit for sides in connection.sides.values()])
    multipliers = connection.N_scaled * (connection.unit / own)[:, None]
    loads: list[Load] = []
    for name, columns in connection.columns.items():
        for side in connection.sides[name]:
            joint = joints_scaled[side]
            (body,) = joint.moving
            loads.append((body, joint, joint.sign(body) * joint.T @ multipliers[columns]))
    return loads


def _read_only(array: Array) -> Array:
    """Make an array (...,) of any shape read-only, and return it."""
    array.setflags(write=False)
    return array
