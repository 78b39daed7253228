"""Springs of MJCF joints: MuJoCo's ``stiffness`` and ``springref``, as it compiles them."""

from __future__ import annotations

from typing import Any

import numpy as np

from mbplugin.model.mechanism import WORLD
from mbplugin.model.spring import JointSpring, Spring
from mbplugin.readers.mjcf.names import Names
from mbplugin.readers.mjcf.tree import Tree

#: Arrays with what MuJoCo adds to a linear spring or damper, and what it is called.
_ADDED = (
    ("jnt_stiffnesspoly", "jnt", "nonlinear stiffness"),
    ("jnt_springyield", "jnt", "plastic yield of the spring (springyield)"),
    ("dof_dampingpoly", "dof", "nonlinear damping"),
)


def read_springs(mujoco: Any, model: Any, names: Names, tree: Tree) -> tuple[Spring | JointSpring, ...]:
    """Return the linear springs of all joints; parts that have no linear spring are noted.

    A hinge or slide has force −k (q − q_ref) on its coordinate. The spring of a free joint is one of
    zero length between the body's origin and its place in ``qpos_spring``, and one on the orientation;
    orientation springs (also those of ball joints) are not read.

    Parameters
    ----------
    mujoco : module
    model : MjModel
        ``jnt_stiffness`` (njnt,) in N·m/rad or N/m, and ``qpos_spring`` (nq,) in rad or m: the defaults,
        ``springdamper`` and the angle unit of the file are worked in.
    names : Names
    tree : Tree
    """
    found: list[Spring | JointSpring] = []
    kinds = mujoco.mjtJoint
    for j in range(model.njnt):
        shown, stiffness = names.joint(j), float(model.jnt_stiffness[j])
        _note_added(model, names, j, shown)
        if not stiffness:
            continue
        kind, at = kinds(int(model.jnt_type[j])), int(model.jnt_qposadr[j])
        reference = np.array(model.qpos_spring[at : at + 7], dtype=float)
        if kind in (kinds.mjJNT_HINGE, kinds.mjJNT_SLIDE):
            found.append(JointSpring(tree.joint_pairs[j].name, stiffness, float(reference[0])))
            continue
        if kind == kinds.mjJNT_FREE:
            body = names.body(int(model.jnt_bodyid[j]))
            found.append(Spring(WORLD, body, reference[:3], np.zeros(3), stiffness))
        message = (
            f"the spring of joint {shown!r} (stiffness {stiffness:g} N·m/rad) acts on an orientation; "
            "it is not read"
        )
        names.not_read("joint", shown, message)
    return tuple(found)


def _note_added(model: Any, names: Names, j: int, shown: str) -> None:
    """Note what a joint has beyond a linear spring and a linear damper."""
    for array, owner, what in _ADDED:
        # older versions of MuJoCo have linear springs and dampers only
        values = getattr(model, array, None)
        if values is None:
            continue
        row = np.ravel(values[j if owner == "jnt" else int(model.jnt_dofadr[j])])
        if row.any():
            written = " ".join(f"{value:g}" for value in row)
            names.not_read("joint", shown, f"the {what} of joint {shown!r} ({written}) is not read")
