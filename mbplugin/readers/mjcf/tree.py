"""The tree of a compiled MuJoCo model: bodies, and one pair per joint."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any

import numpy as np

from mbplugin.model.mechanism import Body, Freedom, Pair
from mbplugin.model.scene import MADE, Actuator, Origin, OriginKey
from mbplugin.model.spatial import Array, Pose, align_z, rotation_from_quaternion, rotation_from_vector
from mbplugin.readers.common.numbers import limit
from mbplugin.readers.common.xml import origin
from mbplugin.readers.mjcf.names import Names

_XYZW = [1, 2, 3, 0]


@dataclass(eq=False)
class Tree:
    """Bodies and pairs of a model.

    Parameters
    ----------
    poses : mapping of body name to Pose
        X_WL at ``qpos0``.
    joint_pairs : mapping of joint index to Pair
        The pair of each hinge, slide and ball.
    start : mapping of pair name to float
        ``qpos0`` of each hinge and slide.
    """

    bodies: list[Body] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)
    poses: dict[str, Pose] = field(default_factory=dict)
    joint_pairs: dict[int, Pair] = field(default_factory=dict)
    start: dict[str, float] = field(default_factory=dict)
    actuators: list[Actuator] = field(default_factory=list)
    origin: dict[OriginKey, Origin] = field(default_factory=dict)


def pose_wxyz(p: Array, wxyz: Array) -> Pose:
    """Return the pose of a position p (3,), m, and a quaternion ``wxyz`` (4,), scalar first as MuJoCo writes it."""
    return Pose(rotation_from_quaternion(np.asarray(wxyz)[_XYZW]), np.array(p, dtype=float))


def read_tree(mujoco: Any, model: Any, names: Names) -> Tree:
    """Return the bodies and pairs; a body with several joints hangs on a chain of massless ones."""
    tree = Tree()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    for i in range(1, model.nbody):
        name = names.body(i)
        X_WL = Pose(data.xmat[i].reshape(3, 3).copy(), data.xpos[i].copy())
        first = int(model.body_jntadr[i])
        joints = list(range(first, first + int(model.body_jntnum[i])))
        _add_pairs(mujoco, model, names, i, joints, X_WL, tree)
        tree.bodies.append(_body(model, i, name))
        tree.poses[name] = X_WL
        tree.origin["body", name, ""] = names.origin("body", name)
    return tree


def _body(model: Any, i: int, name: str) -> Body:
    X_LI = pose_wxyz(model.body_ipos[i], model.body_iquat[i])
    I_C = X_LI.R @ np.diag(model.body_inertia[i]) @ X_LI.R.T
    return Body(name, float(model.body_mass[i]), X_LI.p, I_C)


def _add_pairs(
    mujoco: Any, model: Any, names: Names, i: int, joints: list[int], X_WL: Pose, tree: Tree
) -> None:
    """Add the pairs between a body and its parent, in the order in which MuJoCo applies them."""
    name, parent = names.body(i), names.body(int(model.body_parentid[i]))
    X_PL = pose_wxyz(model.body_pos[i], model.body_quat[i])
    free = int(mujoco.mjtJoint.mjJNT_FREE)
    if any(int(model.jnt_type[j]) == free for j in joints):
        return
    if not joints:
        fixed = names.unique("constraint", f"{parent}→{name}")
        tree.pairs.append(Pair(fixed, "fixed", parent, name, X_PL, Pose.identity()))
        tree.origin["constraint", fixed, ""] = names.origin("body", name)
        return
    inner = parent
    for k, j in enumerate(joints, start=1):
        outer = name if k == len(joints) else names.unique("body", f"{name}#{k}")
        if outer != name:
            tree.bodies.append(Body(outer))
            tree.poses[outer] = X_WL
            tree.origin["body", outer, ""] = names.origin("body", name)
            tree.origin["body", outer, MADE] = names.origin("body", name)
        pair = _joint_pair(mujoco, model, names, j, (inner, outer), X_PL)
        tree.pairs.append(pair)
        tree.joint_pairs[j] = pair
        _add_extras(model, names, j, pair, tree)
        # the links between two joints of one body share its frame where all joints are at qpos0
        inner, X_PL = outer, Pose.identity()


def _joint_pair(mujoco: Any, model: Any, names: Names, j: int, ends: tuple[str, str], X_PL: Pose) -> Pair:
    """Return the pair of a joint; its coordinate is MuJoCo's, so it is ``qpos0`` at the file's pose."""
    kind = mujoco.mjtJoint(int(model.jnt_type[j]))
    point = np.array(model.jnt_pos[j], dtype=float)
    name = names.unique("constraint", names.joint(j))
    if kind == mujoco.mjtJoint.mjJNT_BALL:
        X = Pose(np.eye(3), point)
        freedom = _freedom(model, j, limited=False)
        return Pair(name, "spherical", *ends, X_PL @ X, X, freedoms=(freedom,) * 3)
    X = Pose(align_z(model.jnt_axis[j]), point)
    back = float(model.qpos0[model.jnt_qposadr[j]])
    if kind == mujoco.mjtJoint.mjJNT_HINGE:
        type, offset = "revolute", Pose(rotation_from_vector(np.array([0.0, 0.0, back])), np.zeros(3))
    else:
        type, offset = "prismatic", Pose(np.eye(3), np.array([0.0, 0.0, back]))
    freedoms = (_freedom(model, j, limited=bool(model.jnt_limited[j])),)
    return Pair(name, type, *ends, X_PL @ X, X @ offset, freedoms=freedoms)


def _freedom(model: Any, j: int, *, limited: bool) -> Freedom:
    dof = int(model.jnt_dofadr[j])
    lower, upper = (limit(float(x)) for x in model.jnt_range[j]) if limited else (-inf, inf)
    effort = inf
    if model.jnt_actfrclimited[j]:
        effort = float(np.abs(model.jnt_actfrcrange[j]).max())
    return Freedom(
        lower,
        upper,
        effort,
        damping=float(model.dof_damping[dof]),
        friction=float(model.dof_frictionloss[dof]),
    )


def _add_extras(model: Any, names: Names, j: int, pair: Pair, tree: Tree) -> None:
    """Record where a joint starts, its armature and its lines."""
    if pair.type != "spherical":
        tree.start[pair.name] = float(model.qpos0[model.jnt_qposadr[j]])
    if armature := float(model.dof_armature[model.jnt_dofadr[j]]):
        tree.actuators.append(Actuator(pair.name, armature))
    written = names.written("joint", j)
    tree.origin["constraint", pair.name, ""] = names.origin("joint", written)
    element = names.element("joint", written)
    if element is not None and element.get("axis") is not None:
        tree.origin["constraint", pair.name, "axis"] = origin(element, str(element.get("axis")))
