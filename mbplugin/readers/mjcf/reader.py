"""MJCF as a scene, compiled by the mujoco package: tree, equalities, sites.

Contacts, actuators and tendons are no part of a mechanism; what a file says of them is named in findings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mbplugin.errors import BadUsage
from mbplugin.model.mechanism import WORLD, Mechanism
from mbplugin.model.mechanism.kinematics import FRAMES_MEET, BodyPoses, coordinates_of, frames_apart
from mbplugin.model.scene import Defect, Origin, OriginKey, Request, Scene, State
from mbplugin.model.spatial import Array
from mbplugin.readers.common.grounding import require_free_root, with_fixed_roots
from mbplugin.readers.common.unread import unread_defects
from mbplugin.readers.common.xml import local_name
from mbplugin.readers.mjcf.compile import compile_mjcf, mujoco_module
from mbplugin.readers.mjcf.drives import driven_joints
from mbplugin.readers.mjcf.equality import read_equalities
from mbplugin.readers.mjcf.files import model_files
from mbplugin.readers.mjcf.names import Names
from mbplugin.readers.mjcf.shapes import read_shapes
from mbplugin.readers.mjcf.springs import read_springs
from mbplugin.readers.mjcf.stand_ins import missing_defects
from mbplugin.readers.mjcf.tree import Tree, read_tree
from mbplugin.readers.mjcf.vocabulary import MJCF


def read_mjcf(text: str, request: Request) -> Scene:
    """Return the scene of an MJCF model.

    Joint coordinates are MuJoCo's ``qpos``: at the file's pose they are ``qpos0``, that is ``ref``.

    Parameters
    ----------
    text : str
        The model.
    request : Request
        Where it comes from; included files and meshes are looked up beside it, as MuJoCo does.

    Raises
    ------
    MissingDependency
        The mujoco package is not installed.
    MbPluginError
        A model that MuJoCo does not compile.
    """
    files = model_files(text, request)
    roots = files.roots
    model = compile_mjcf(files, request)
    mujoco = mujoco_module()
    names = Names(mujoco, model, roots)
    tree = read_tree(mujoco, model, names)
    equalities = read_equalities(mujoco, model, names, tree)
    mech = Mechanism(
        name=str(roots[0].get("model", "")) or Path(request.path).stem,
        bodies=tuple(tree.bodies),
        pairs=(*tree.pairs, *equalities.pairs),
        couplings=tuple(equalities.couplings),
        gravity=_gravity(mujoco, model),
    )
    mech = _with_base(mech, tree, request)
    poses = _poses(mech, tree)
    names.defects += _moved_bodies(mech, poses, equalities.origin)
    springs = read_springs(mujoco, model, names, tree)
    names.defects += unread_defects(roots[0], MJCF, "mujoco")
    # what an included file holds stands where the include does, whatever its own root is called
    names.defects += (d for root in roots[1:] for d in unread_defects(root, MJCF, "mujocoinclude"))
    names.defects += (d for root in files.attached for d in unread_defects(root, MJCF, local_name(root)))
    names.defects += missing_defects(files.missing)
    return Scene(
        mechanism=mech,
        state=_state(mech, tree, poses),
        origin={**tree.origin, **equalities.origin},
        files=tuple(dict.fromkeys(str(root.base) for root in (*roots, *files.attached))),
        defects=tuple(names.defects),
        shapes=read_shapes(mujoco, model, names, files),
        actuators=tuple(tree.actuators),
        springs=springs,
        request=request,
        actuated=driven_joints(mujoco, model, tree.joint_pairs),
    )


def _gravity(mujoco: Any, model: Any) -> Array:
    """Return gravity (3,), m/s²; none where a ``<flag>`` switches it off."""
    off = int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    return np.zeros(3) if off else np.array(model.opt.gravity, dtype=float)


def _with_base(mech: Mechanism, tree: Tree, request: Request) -> Mechanism:
    """Follow the request about the base; a body without a joint is fixed by the format's rules."""
    if request.base == "fixed":
        return with_fixed_roots(mech, tree.poses)
    if request.base == "free":
        for pair in mech.pairs:
            if pair.type == "fixed" and pair.body_a == WORLD and not pair.closure:
                raise BadUsage(
                    f"the base of body {pair.body_b!r} cannot be free, it has no joint",
                    where=str(tree.origin["body", pair.body_b, ""]),
                    remedy="add a <freejoint/> to it or do not ask for a free base",
                )
        require_free_root(mech, request.path)
    return mech


def _moved_bodies(mech: Mechanism, poses: BodyPoses, places: Mapping[OriginKey, Origin]) -> Iterator[Defect]:
    """Yield the equalities that carry a body and do not hold at the pose of the file."""
    for joint, pair, distance, angle in frames_apart(mech, poses):
        if pair.closure and max(distance, angle) > FRAMES_MEET:
            message = (
                f"equality {pair.name!r} does not hold at the pose of the file: its frames are {distance:.3g} m and "
                f"{np.degrees(angle):.3g}° apart; body {joint.outer!r} is moved to where they meet"
            )
            evidence = {"body": joint.outer, "distance": distance, "angle": angle}
            yield Defect("MB119", pair.name, message, places.get(("constraint", pair.name, "")), evidence)


def _poses(mech: Mechanism, tree: Tree) -> BodyPoses:
    """Return the poses of the file."""
    X_WL = [tree.poses[body.name] for body in mech.bodies]
    R, p = np.array([X.R for X in X_WL]), np.array([X.p for X in X_WL])
    p_WC = np.array([X.apply(body.p_LC) for X, body in zip(X_WL, mech.bodies, strict=True)])
    return BodyPoses(R, p, p_WC)


def _state(mech: Mechanism, tree: Tree, poses: BodyPoses) -> State:
    """Return the state at ``qpos0``, at rest."""
    q = coordinates_of(mech, poses)
    for joint in mech.tree.joints:
        # an angle that is measured loses its full turns
        if joint.pair is not None and joint.pair.name in tree.start:
            q[joint.q] = tree.start[joint.pair.name]
    return State(q, np.zeros(len(mech.qd_names)))
