"""The model of the divide-and-conquer algorithm at a pose: joints, handles, assembly tree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from mbplugin.analysis.dca.connection import GroundConnection, ScaledRoot, ground_connection, scaled_root
from mbplugin.analysis.dca.ground import only_ties, welds
from mbplugin.analysis.dca.handles import Joint, handles_of_bodies, joint_handles
from mbplugin.analysis.dca.inertia import Floating, floating_body, inverse_inertia, join, to_handles
from mbplugin.analysis.dca.preconditions import require_ground_loops
from mbplugin.analysis.dca.roots import FloatingRoot, join_roots
from mbplugin.analysis.dca.tree import AssemblyTree, accumulate, assembly_tree
from mbplugin.constraints.reduction.scaling import characteristic_length
from mbplugin.constraints.rows.build import all_rows
from mbplugin.constraints.rows.planar import planar_rows
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
    joints, joints_scaled : tuple of Joint
        SI, and with all lengths divided by ``length``; welds left out.
    welds, welds_scaled : tuple of Joint
        The fixed pairs that make a body part of the ground, from the world outwards.
    only_ties : frozenset of str
        Pairs that alone tie a group of bodies to the world.
    handles : tuple of tuples of str
        The nonempty handles of every body, those at welds included.
    """

    mechanism: Mechanism
    poses: BodyPoses
    columns: tuple[int, ...]
    length: float
    joints: tuple[Joint, ...]
    joints_scaled: tuple[Joint, ...]
    welds: tuple[Joint, ...]
    welds_scaled: tuple[Joint, ...]
    only_ties: frozenset[str]
    handles: tuple[tuple[str, ...], ...]
    tree: AssemblyTree

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

    @cached_property
    def welded(self) -> dict[str, int]:
        """The welds and the bodies that they make ground."""
        bodies: dict[str, int] = {}
        for weld in self.welds:
            bodies[weld.name] = next(b for b in weld.moving if b not in bodies.values())
        return bodies

    def assemblies(self) -> tuple[Floating, ...]:
        """Return the complete assemblies, SI, with the mechanism's masses."""
        bodies = {}
        for k in self.floating:
            body, p_WC, own = self.mechanism.bodies[k], self.poses.p_WC[k], self.handles[k]
            arms = [self.joint[name].point_W - p_WC for name in own]
            inverse = inverse_inertia(body, self.poses.R_WL[k], self.length)
            bodies[k] = floating_body(body.name, own, arms, inverse, self.columns)
        return accumulate(self.tree, bodies, self.joint, join)

    def roots(self) -> tuple[FloatingRoot, ...]:
        """Return the complete assemblies, without units, of unit inertias, as square roots."""
        bodies = {}
        for k in self.floating:
            p_WC, own = self.poses.p_WC[k] / self.length, self.handles[k]
            arms = [self.joint_scaled[name].point_W - p_WC for name in own]
            bodies[k] = FloatingRoot(own, to_handles(arms, self.columns))
        return accumulate(self.tree, bodies, self.joint_scaled, join_roots)

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
    """Return the model of a mechanism of pairs at a closed pose q (nq,).

    Raises
    ------
    DcaNotApplicable
        A loop that does not pass through the ground.
    """
    poses = forward(mech, q)
    names = frozenset(pair.name for pair in mech.pairs)
    rows = [planar_rows(r, columns) for r in all_rows(mech, poses, q, names=names)]
    length = characteristic_length(rows, poses.p_WC, mech)
    welded = welds(mech, rows)
    joints, own_welds = _split(joint_handles(mech, poses, rows, columns, 1.0, welded), welded)
    scaled, scaled_welds = _split(joint_handles(mech, poses, rows, columns, length, welded), welded)
    require_ground_loops(mech, joints)
    in_file = {r.constraint: k for k, r in enumerate(rows)}
    every = sorted((*joints, *own_welds), key=lambda joint: in_file[joint.name])
    handles = handles_of_bodies(len(mech.bodies), every)
    floating = _floating(mech, welded)
    tree = assembly_tree([body.name for body in mech.bodies], handles, joints, floating)
    ties = only_ties(mech, rows)
    return DcaModel(
        mech, poses, columns, length, joints, scaled, own_welds, scaled_welds, ties, handles, tree
    )


def _floating(mech: Mechanism, welded: dict[str, int]) -> tuple[int, ...]:
    ground = frozenset(welded.values())
    return tuple(k for k in range(len(mech.bodies)) if k not in ground)


def _split(joints: tuple[Joint, ...], welded: dict[str, int]) -> tuple[tuple[Joint, ...], tuple[Joint, ...]]:
    """Return the joints, and the welds from the world outwards."""
    by_name = {joint.name: joint for joint in joints}
    rest = tuple(joint for joint in joints if joint.name not in welded)
    return rest, tuple(by_name[name] for name in welded)
