"""MuJoCo equality constraints as closures and couplings."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mbplugin.errors import BadNumber, BrokenModel
from mbplugin.model.mechanism import WORLD, Coupling, Pair, Term
from mbplugin.model.scene import Origin, OriginKey
from mbplugin.model.spatial import Array, Pose
from mbplugin.readers.mjcf.names import Names
from mbplugin.readers.mjcf.tree import Tree, pose_wxyz


@dataclass(eq=False)
class Equalities:
    """Closures and couplings of a model."""

    pairs: list[Pair] = field(default_factory=list)
    couplings: list[Coupling] = field(default_factory=list)
    origin: dict[OriginKey, Origin] = field(default_factory=dict)


def read_equalities(mujoco: Any, model: Any, names: Names, tree: Tree) -> Equalities:
    """Return what the active equalities constrain; inactive ones are noted.

    Raises
    ------
    BrokenModel
        An equality between a body and itself.
    """
    out = Equalities()
    kinds = mujoco.mjtEq
    for i in range(model.neq):
        kind = kinds(int(model.eq_type[i]))
        written = names.written("equality", i)
        label = kind.name.removeprefix("mjEQ_").lower()
        shown = written or f"{label}{i}"
        if not model.eq_active0[i]:
            names.not_read("equality", shown, f"equality {shown!r} is not active and not read")
            continue
        if kind not in (kinds.mjEQ_CONNECT, kinds.mjEQ_WELD, kinds.mjEQ_JOINT):
            # the table of the format's words has a finding for its element
            continue
        name = names.unique("constraint", shown)
        out.origin["constraint", name, ""] = names.origin("equality", written)
        if kind == kinds.mjEQ_JOINT:
            out.couplings.append(_coupling(model, i, name, names, tree))
        else:
            weld = kind == kinds.mjEQ_WELD
            out.pairs.append(_closure(mujoco, model, i, name, names, tree, weld=weld))
    return out


def _closure(mujoco: Any, model: Any, i: int, name: str, names: Names, tree: Tree, *, weld: bool) -> Pair:
    """Return the closure of a connect or weld, its predecessor frame in body 1 (or site 1)."""
    first, second = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
    data = np.array(model.eq_data[i], dtype=float)
    if int(model.eq_objtype[i]) == int(mujoco.mjtObj.mjOBJ_SITE):
        body_a, body_b = (names.body(int(model.site_bodyid[s])) for s in (first, second))
        X_AP, X_BS = (pose_wxyz(model.site_pos[s], model.site_quat[s]) for s in (first, second))
    else:
        body_a, body_b = names.body(first), names.body(second)
        if weld:
            if not data[6:10].any():
                place = names.origin("equality", name)
                raise BadNumber(f"weld {name!r} has no rotation", where=str(place), expected="a quaternion")
            # the anchor is given in body 2, and the pose of body 2's axes at it in body 1
            X_AP, X_BS = pose_wxyz(data[3:6], data[6:10]), Pose(np.eye(3), data[:3])
        else:
            X_AP, X_BS = Pose(np.eye(3), data[:3]), Pose(np.eye(3), data[3:6])
    if body_a == body_b:
        place = names.origin("equality", name)
        raise BrokenModel(f"equality {name!r} joins body {body_a!r} to itself", where=str(place))
    # a weld without torque leaves the rotation free
    spherical = not weld or data[10] == 0.0
    if spherical:
        R_WA, R_WB = (np.eye(3) if b == WORLD else tree.poses[b].R for b in (body_a, body_b))
        X_BS = Pose(R_WB.T @ R_WA @ X_AP.R, X_BS.p)
    return Pair(name, "spherical" if spherical else "fixed", body_a, body_b, X_AP, X_BS, closure=True)


def _coupling(model: Any, i: int, name: str, names: Names, tree: Tree) -> Coupling:
    """Return y − y0 = a0 + a1 (x − x0); terms of a higher degree are noted and left out."""
    follower, leader = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
    a0, a1, *higher = (float(a) for a in model.eq_data[i][:5])
    y = tree.joint_pairs[follower]
    terms = [Term(y.name, y.kind.free[0], 1.0)]
    offset = a0 + tree.start[y.name]
    if leader >= 0:
        x = tree.joint_pairs[leader]
        terms.append(Term(x.name, x.kind.free[0], -a1))
        offset -= a1 * tree.start[x.name]
        if any(higher):
            message = (
                f"joint equality {name!r} is not linear (polycoef {_shown(model.eq_data[i][:5])}); only its "
                f"slope {a1:g} at the file's pose is read"
            )
            names.not_read("equality", name, message)
    return Coupling(name, "mimic", tuple(terms), offset)


def _shown(values: Array) -> str:
    """Return ``values`` (n,) as text."""
    return " ".join(f"{value:g}" for value in values)
