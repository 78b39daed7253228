"""What two descriptions of one mechanism have in common, whatever their coordinates and names are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import mbplugin as mb
from mbplugin.constraints.reduction import velocity_transformation
from mbplugin.joint_reactions import JointMotion
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.scene import LintOptions, Scene
from mbplugin.model.spatial import Array

_IN_SPACE = tuple(range(6))


def redundancy_and_mobility(scene: Scene) -> tuple[int, int]:
    """p and the degrees of freedom at the pose of the scene, in space and without samples."""
    found = mb.analyze(replace(scene, options=LintOptions()), samples=0)
    return found.degree_of_redundancy, found.dof


def twists(scene: Scene, *, tree: bool) -> Array:
    """Twists of all bodies per joint rate of the tree, or per motion that all constraints allow, (6N, k)."""
    mech, q = scene.mechanism, scene.state.q
    poses = forward(mech, q)
    S = velocity_transformation(mech, poses)
    if tree:
        return S
    motion = JointMotion(mech, q, poses, _IN_SPACE)
    return S @ (motion.units[:, None] * motion.free_motions(redundancy_and_mobility(scene)[0]))


def masses(scene: Scene) -> Array:
    """Block-diagonal mass matrix of all bodies, world axes at the centres of mass, (6N, 6N)."""
    mech = scene.mechanism
    poses = forward(mech, scene.state.q)
    M = np.zeros((6 * len(mech.bodies), 6 * len(mech.bodies)))
    for k, body in enumerate(mech.bodies):
        at = 6 * k
        M[at : at + 3, at : at + 3] = body.mass * np.eye(3)
        M[at + 3 : at + 6, at + 3 : at + 6] = poses.R_WL[k] @ body.I_C @ poses.R_WL[k].T
    return M


def assert_same_mass_matrix(ours: Scene, theirs: Scene, *, tree: bool, precision: float = 1e-9) -> None:
    """Compare the mass matrices in the joint rates of ours: those of theirs are found by the bodies' twists."""
    for deviation in deviations(ours, theirs, tree=tree):
        assert deviation <= precision


def deviations(ours: Scene, theirs: Scene, *, tree: bool) -> tuple[float, float]:
    """Return the largest deviations of twists and of mass matrices, relative to the largest entry and at least 1."""
    T, U = twists(ours, tree=tree), twists(theirs, tree=tree)
    assert T.shape[1] == U.shape[1]
    places = [s.mechanism.body_index for s in (ours, theirs)]
    common = [(places[0][b.name], places[1][b.name]) for b in ours.mechanism.bodies if b.name in places[1]]
    # where a format cannot write any of the names, their order is the same
    common = common or [(k, k) for k in range(len(ours.mechanism.bodies))]
    rows = [np.concatenate([6 * pair[side] + np.arange(6) for pair in common]) for side in (0, 1)]
    X = np.linalg.lstsq(U[rows[1]], T[rows[0]], rcond=1e-12)[0]
    expected = T.T @ masses(ours) @ T
    found = X.T @ U.T @ masses(theirs) @ U @ X
    return _relative(U[rows[1]] @ X, T[rows[0]], T), _relative(found, expected, expected)


def _relative(found: Array, expected: Array, sized: Array) -> float:
    """Return the largest difference of two arrays (m, n), relative to the largest entry of ``sized`` and at least 1."""
    return float(np.abs(found - expected).max(initial=0.0)) / max(1.0, float(np.abs(sized).max(initial=0.0)))
