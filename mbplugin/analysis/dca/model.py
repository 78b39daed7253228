"""A mechanism at a pose as the divide-and-conquer algorithm takes it: joints, handles, assembly tree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from mbplugin.analysis.dca.connection import GroundConnection, ScaledRoot, ground_connection, scaled_root
from mbplugin.analysis.dca.handles import Joint, handles_of_bodies, joint_handles
from mbplugin.analysis.dca.inertia import Floating, floating_bodies, inverse_inertia, join
from mbplugin.analysis.dca.preconditions import require_ground_loops
from mbplugin.analysis.dca.roots import FloatingRoot, join_roots, unit_roots
from mbplugin.analysis.dca.tree import AssemblyTree, accumulate, assembly_tree
from mbplugin.constraints.build import all_rows
from mbplugin.constraints.planar import planar_rows
from mbplugin.constraints.scaling import characteristic_length
from mbplugin.mechanism.kinematics import BodyPoses, forward
from mbplugin.mechanism.mechanism import Mechanism
from mbplugin.spatial import Array


@dataclass(frozen=True, eq=False)
class DcaModel:
    """Joints with their handles at one pose, and the binary assembly tree.

    Parameters
    ----------
    mechanism : Mechanism
    poses : BodyPoses
    columns : tuple of int
        Twist columns of the view, space or plane.
    length : float
        Characteristic length, m.
    joints, joints_scaled : tuple of Joint
        SI, and with all lengths divided by ``length``.
    handles : tuple of tuples of str
        The nonempty handles of every body.
    tree : AssemblyTree
    """

    mechanism: Mechanism
    poses: BodyPoses
    columns: tuple[int, ...]
    length: float
    joints: tuple[Joint, ...]
    joints_scaled: tuple[Joint, ...]
    handles: tuple[tuple[str, ...], ...]
    tree: AssemblyTree

    @cached_property
    def joint(self) -> dict[str, Joint]:
        """Each joint by name, SI."""
        return {joint.name: joint for joint in self.joints}

    @cached_property
    def joint_scaled(self) -> dict[str, Joint]:
        """Each joint by name, without units."""
        return {joint.name: joint for joint in self.joints_scaled}

    def assemblies(self) -> tuple[Floating, ...]:
        """Return the complete assemblies, SI, with the mechanism's masses."""
        names = [body.name for body in self.mechanism.bodies]
        inverses = [
            inverse_inertia(body, R, self.length)
            for body, R in zip(self.mechanism.bodies, self.poses.R_WL, strict=True)
        ]
        bodies = floating_bodies(names, self.handles, self.joint, self.poses.p_WC, inverses, self.columns)
        return accumulate(self.tree, bodies, self.joint, join)

    def roots(self) -> tuple[FloatingRoot, ...]:
        """Return the complete assemblies, without units, of unit inertias, as square roots."""
        joints = self.joint_scaled
        bodies = unit_roots(self.handles, joints, self.poses.p_WC / self.length, self.columns)
        return accumulate(self.tree, bodies, joints, join_roots)

    def scaled(self) -> dict[tuple[str, ...], ScaledRoot]:
        """Return the root of G of every multi-joint connection, by its ground joints."""
        if not any(len(ground) > 1 for _, _, ground in self.tree.roots):
            return {}
        roots = zip(self.tree.roots, self.roots(), strict=True)
        return {
            ground: scaled_root([self.joint_scaled[name] for name in ground], part)
            for (_, _, ground), part in roots
            if len(ground) > 1
        }

    def connections(self, tolerance: float) -> tuple[GroundConnection, ...]:
        """Return the multi-joint connections to the ground, ranks decided at a tolerance."""
        scaled = self.scaled()
        if not scaled:
            return ()
        return tuple(
            ground_connection(
                [self.joint[name] for name in ground],
                part,
                [self.joint_scaled[name] for name in ground],
                scaled[ground],
                scaled[ground].rank(tolerance),
            )
            for (_, _, ground), part in zip(self.tree.roots, self.assemblies(), strict=True)
            if ground in scaled
        )


def dca_model(mech: Mechanism, q: Array, columns: tuple[int, ...]) -> DcaModel:
    """Return the model of a mechanism of pairs at a closed pose.

    Raises
    ------
    DcaNotApplicable
        A loop that does not pass through the ground.
    """
    poses = forward(mech, q)
    names = frozenset(pair.name for pair in mech.pairs)
    rows = [planar_rows(r, columns) for r in all_rows(mech, poses, q, names=names)]
    length = characteristic_length(rows, poses.p_WC)
    joints = joint_handles(mech, poses, rows, columns, 1.0)
    joints_scaled = joint_handles(mech, poses, rows, columns, length)
    require_ground_loops(mech, joints)
    handles = handles_of_bodies(len(mech.bodies), joints)
    tree = assembly_tree([body.name for body in mech.bodies], handles, joints)
    return DcaModel(mech, poses, columns, length, joints, joints_scaled, handles, tree)
