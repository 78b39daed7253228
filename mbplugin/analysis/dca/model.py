"""The model of the divide-and-conquer algorithm at a pose: joints, handles, assembly tree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from mbplugin.analysis.dca.connection import GroundConnection
from mbplugin.analysis.dca.ground import only_ties, welds
from mbplugin.analysis.dca.handles import Joint, handles_of_bodies, joint_handles
from mbplugin.analysis.dca.inertia import Floating, floating_body, inverse_inertia, join, to_handles
from mbplugin.analysis.dca.preconditions import require_ground_loops
from mbplugin.analysis.dca.roots import FloatingRoot, ScaledRoot, force_subspaces, join_roots, scaled_root
from mbplugin.analysis.dca.subassembly import Supports, ground_supports
from mbplugin.analysis.dca.tree import AssemblyTree, Part, accumulate, assembly_tree
from mbplugin.constraints import rank as ranks
from mbplugin.constraints.reduction.scaling import characteristic_length
from mbplugin.constraints.rows.build import all_rows
from mbplugin.constraints.rows.planar import planar_rows
from mbplugin.constraints.rows.row import Rows
from mbplugin.model.mechanism.kinematics import BodyPoses, forward
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import Array


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
        Of the pairs, in this view.
    welded : mapping of str to int
        The fixed pairs that make a body part of the ground, from the world outwards, and these bodies.
    joints_scaled, welds_scaled : tuple of Joint
        With all lengths divided by ``length``: the joints without welds, and the welds.
    only_ties : frozenset of str
        Pairs that alone tie a group of bodies to the world.
    handles : tuple of tuples of str
        The nonempty handles of every body, those at welds included.
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

    @cached_property
    def _in_SI(self) -> tuple[tuple[Joint, ...], tuple[Joint, ...]]:
        at = self.mechanism, self.poses, self.rows, self.columns
        return _split(joint_handles(*at, 1.0, self.welded), self.welded)

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
        """Each joint and weld by name, without units."""
        return {joint.name: joint for joint in (*self.joints_scaled, *self.welds_scaled)}

    @cached_property
    def floating(self) -> tuple[int, ...]:
        """The bodies that are not ground."""
        return _floating(self.mechanism, self.welded)

    def connections(self, tolerance: float) -> tuple[GroundConnection, ...]:
        """Return the multi-joint connections to the ground, ranks decided at a tolerance.

        Raises
        ------
        DcaNotApplicable
            A joint that cannot be eliminated.
        """
        several = [root for root in self.tree.roots if len(root[2]) > 1]
        if several:
            for root in self.tree.roots:
                # whether a joint can be eliminated does not depend on what the ground holds
                self._assembly(root, self._inner)
        return tuple(self._connection(root, tolerance) for root in several)

    def scaled(self) -> dict[tuple[str, ...], ScaledRoot]:
        """Return the root of G of every multi-joint connection, by its ground joints."""
        return {root[2]: self._scaled_root(root) for root in self.tree.roots if len(root[2]) > 1}

    def _connection(self, root: Part, tolerance: float) -> GroundConnection:
        label, _, ground = root
        supports, scaled = None, None
        if self._is_large(root):
            supports, size = self._supports(root, tolerance)
            rank, relative = supports.rank, supports.sizes
        else:
            scaled = self._scaled_root(root)
            rank, size, relative = scaled.rank(tolerance), scaled.size, scaled.relative
        return GroundConnection(
            label,
            ground,
            tuple((name, c) for name in ground for c in self.joint[name].components),
            np.concatenate([self.joint_scaled[name].unit for name in ground]) * size,
            relative,
            rank,
            supports,
            partial(self._at_ground, root),
            partial(self._root, root, scaled),
        )

    def _is_large(self, root: Part) -> bool:
        """Return whether the root of G of an assembly has more entries than its singular values may take."""
        _, bodies, ground = root
        rows = sum(len(self.joint[name].components) for name in ground)
        held = sum(len(self.joint[node.joint].components) for node in self.tree.nodes_of(root))
        return rows * (len(bodies) * len(self.columns) - held) > ranks.LARGEST_DENSE

    def _supports(self, root: Part, tolerance: float) -> tuple[Supports, Array]:
        _, bodies, ground = root
        return ground_supports(
            [self.joint_scaled[name] for name in ground],
            bodies,
            [self.joint_scaled[node.joint] for node in self.tree.nodes_of(root)],
            self.poses.p_WC / self.length,
            self.columns,
            tolerance,
        )

    def _scaled_root(self, root: Part) -> ScaledRoot:
        """Return the root of G of an assembly, without units, of unit inertias."""
        _, own_bodies, ground = root
        bodies = {}
        for k in own_bodies:
            p_WC, own = self.poses.p_WC[k] / self.length, self.handles[k]
            arms = [self.joint_scaled[name].point_W - p_WC for name in own]
            bodies[k] = FloatingRoot(own, to_handles(arms, self.columns))
        assembly = accumulate(self.tree.nodes_of(root), bodies, self.joint_scaled, join_roots)
        return scaled_root([self.joint_scaled[name] for name in ground], assembly)

    def _root(self, root: Part, scaled: ScaledRoot | None) -> Array:
        """Return the root A (m, c) of a connection's G."""
        return (scaled or self._scaled_root(root)).A

    @cached_property
    def _inner(self) -> tuple[tuple[str, ...], ...]:
        """The handles of every body that are not at the ground."""
        grounded = {joint.name for joint in self.joint_scaled.values() if joint.grounded}
        return tuple(tuple(name for name in own if name not in grounded) for own in self.handles)

    def _assembly(self, root: Part, handles: Sequence[tuple[str, ...]]) -> Floating:
        """Return a complete assembly, SI, with the mechanism's masses, between some handles of its bodies."""
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
        T = force_subspaces([self.joint[name] for name in ground])
        return assembly.Phi[np.ix_(handles, handles)], T


def dca_model(mech: Mechanism, q: Array, columns: tuple[int, ...]) -> DcaModel:
    """Return the model of a mechanism of pairs at a closed pose q (nq,).

    Raises
    ------
    DcaNotApplicable
        A loop that does not pass through the ground.
    """
    poses = forward(mech, q)
    names = frozenset(pair.name for pair in mech.pairs)
    rows = tuple(planar_rows(r, columns) for r in all_rows(mech, poses, q, names=names))
    length = characteristic_length(rows, poses.p_WC, mech)
    welded = welds(mech, rows)
    joints, own_welds = _split(joint_handles(mech, poses, rows, columns, length, welded), welded)
    require_ground_loops(mech, joints)
    in_file = {r.constraint: k for k, r in enumerate(rows)}
    every = sorted((*joints, *own_welds), key=lambda joint: in_file[joint.name])
    handles = handles_of_bodies(len(mech.bodies), every)
    floating = _floating(mech, welded)
    tree = assembly_tree([body.name for body in mech.bodies], handles, joints, floating)
    ties = only_ties(mech, rows)
    return DcaModel(mech, poses, columns, length, rows, welded, joints, own_welds, ties, handles, tree)


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
