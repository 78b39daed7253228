"""Read MJCF as a scene, compiled by the mujoco package: tree, equalities, sites.

Contacts and tendons are not part of a mechanism; findings report what a file states about them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import count
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mbplugin.errors import BadNumber, BadUsage, BrokenModel
from mbplugin.files import reading_instead, replaced_contents
from mbplugin.model import WORLD, Base, Body, Coupling, Freedom, Mechanism, Pair, Term, spatial
from mbplugin.model.mechanism import kinematics
from mbplugin.model.scene import (
    MADE,
    Actuator,
    ActuatorLaw,
    Defect,
    Origin,
    OriginKey,
    Request,
    Scene,
    Shape,
    State,
)
from mbplugin.phrases import listed
from mbplugin.processes.foreign import Limits, in_engine
from mbplugin.readers.mjcf.compile import MJCF, Names, compile_mjcf, mujoco_module
from mbplugin.readers.mjcf.files import ModelFiles, missing_defects, model_files
from mbplugin.readers.unread import SHAPE, TOUCH, require_free_root, unread_defects, with_fixed_roots
from mbplugin.readers.xml import Element, limit, local_name, origin, quaternion_defects

LIMITS = Limits(seconds=60.0, cpu=60, memory=2 << 30)
#: The last group of geoms that MuJoCo's viewer shows by default.
_LAST_SHOWN = 2
#: The colour of a geom that states none.
_GREY = np.array([0.5, 0.5, 0.5, 1.0], dtype=np.float32)
#: Arrays of MuJoCo's extensions to linear springs and dampers, and their names in messages.
_ADDED = (
    ("jnt_stiffnesspoly", "jnt", "nonlinear stiffness"),
    ("jnt_springyield", "jnt", "plastic yield of the spring (springyield)"),
    ("dof_dampingpoly", "dof", "nonlinear damping"),
)
_XYZW = [1, 2, 3, 0]


# MJCF is read in a separate process: MuJoCo can raise and then hang, and can end its process.


def read_mjcf_apart(text: str, request: Request) -> Scene:
    """Return the scene of an MJCF model, read in a separate process.

    Raises
    ------
    MbPluginError
        Any error of the reader; or MuJoCo ended its process, exceeded a limit, or failed.
    """
    contents = replaced_contents()
    scene = in_engine("MuJoCo", LIMITS, request.path, _read_instead, contents, text, request)
    return replace(scene, request=request)


def _read_instead(contents: Mapping[str, bytes], text: str, request: Request) -> Scene:
    """Return the scene of an MJCF model whose included files may have other contents than on the disk."""
    with reading_instead(contents):
        return read_mjcf(text, request)


def read_mjcf(text: str, request: Request) -> Scene:
    """Return the scene of an MJCF model.

    Joint coordinates are MuJoCo's ``qpos``: at the file's pose they are ``qpos0``, that is ``ref``.

    Parameters
    ----------
    text : str
        The model.
    request : Request
        The origin of the model; includes and meshes are looked up in its folder, as in MuJoCo.

    Raises
    ------
    MissingDependency
        The mujoco package is not installed.
    MbPluginError
        MuJoCo does not compile the model.
    """
    files = model_files(text, request)
    roots = files.roots
    model = compile_mjcf(files, request)
    mujoco = mujoco_module()
    names = Names(mujoco, model, roots, radians=files.radians)
    name = str(roots[0].get("model", "")) or Path(request.path).stem
    scene, _ = _scene_of(mujoco, model, names, name, files, request)
    defects = [*scene.defects, *unread_defects(roots[0], MJCF, "mujoco")]
    # an included file is a part of the including document, whatever the name of its root
    defects += (d for root in roots[1:] for d in unread_defects(root, MJCF, "mujocoinclude"))
    defects += (d for root in files.attached for d in unread_defects(root, MJCF, local_name(root)))
    defects += (d for root in (*roots, *files.attached) for d in quaternion_defects(root, "MJCF"))
    defects += missing_defects(files.missing)
    read = tuple(dict.fromkeys(str(root.base) for root in (*roots, *files.attached)))
    return replace(scene, files=read, defects=tuple(defects), request=request)


def scene_of_model(model: Any, data: Any = None, base: Base | None = None) -> Scene:
    """Return the scene of a compiled model in memory, at ``qpos0`` or in the state of its data.

    Meshes are stored as triangles without a file, and source lines are unknown.

    Parameters
    ----------
    model : MjModel
    data : MjData, optional
    base : "fixed" or "free", optional
        Overrides the base of the root links.

    Raises
    ------
    MbPluginError
        The model is not a mechanism.
    """
    mujoco = mujoco_module()
    name = bytes(model.names).partition(b"\0")[0].decode(errors="replace") or "model"
    names = Names(mujoco, model, [])
    scene, tree = _scene_of(mujoco, model, names, name, ModelFiles(), Request(f"<{name}>", "", base=base))
    return scene if data is None else _in_state(mujoco, model, data, scene, tree)


def _scene_of(
    mujoco: Any, model: Any, names: Names, name: str, files: ModelFiles, request: Request
) -> tuple[Scene, Tree]:
    """Return the scene of a compiled model, without additions from its text, and its tree."""
    tree = read_tree(mujoco, model, names)
    equalities = read_equalities(mujoco, model, names, tree)
    mech = Mechanism(
        name=name,
        bodies=tuple(tree.bodies),
        pairs=(*tree.pairs, *equalities.pairs),
        couplings=tuple(equalities.couplings),
        gravity=_gravity(mujoco, model),
    )
    mech = _with_base(mech, tree, request)
    poses = kinematics.poses_of_links(mech, tree.poses)
    names.defects += _moved_bodies(mech, poses, equalities.origin)
    springs, shapes = read_springs(mujoco, model, names, tree), read_shapes(mujoco, model, names, files)
    scene = Scene(
        mechanism=mech,
        state=_state(mech, tree, poses),
        origin={**tree.origin, **equalities.origin},
        defects=tuple(names.defects),
        shapes=shapes,
        actuators=tuple(tree.actuators),
        springs=springs,
        actuated=driven_joints(mujoco, model, tree.joint_pairs),
        actuator_laws=tuple(actuator_laws(mujoco, model, tree.joint_pairs)),
    )
    return scene, tree


def _in_state(mujoco: Any, model: Any, data: Any, scene: Scene, tree: Tree) -> Scene:
    """Return the scene in the state of the data of a model."""
    mech = scene.mechanism
    q, qd = scene.state.q.copy(), np.zeros(len(mech.qd_names))
    for j in range(model.njnt):
        at, dof = int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])
        kind = mujoco.mjtJoint(int(model.jnt_type[j]))
        if kind == mujoco.mjtJoint.mjJNT_FREE:
            body = tree.names[int(model.jnt_bodyid[j])]
            edge = mech.tree.joint_of_body[body]
            if edge.pair is not None:
                continue
            X = pose_wxyz(data.qpos[at : at + 3], data.qpos[at + 3 : at + 7])
            r = X.R @ mech.bodies[mech.body_index[body]].p_LC
            omega = X.R @ np.array(data.qvel[dof + 3 : dof + 6])
            q[edge.q] = [*(X.p + r), *spatial.quaternion_from_rotation(X.R)]
            # the rates of a root are the twist at its centre of mass, in world axes
            qd[edge.qd] = [*(np.array(data.qvel[dof : dof + 3]) + np.cross(omega, r)), *omega]
            continue
        edge = mech.tree.joint_of_pair[tree.joint_pairs[j].name]
        if kind == mujoco.mjtJoint.mjJNT_BALL:
            xyzw = np.array(data.qpos[at : at + 4])[_XYZW]
            q[edge.q] = xyzw / np.linalg.norm(xyzw)
            # MuJoCo states the rates in body axes, a pair in those of its predecessor frame
            qd[edge.qd] = spatial.rotation_from_quaternion(q[edge.q]) @ np.array(data.qvel[dof : dof + 3])
            continue
        q[edge.q], qd[edge.qd] = data.qpos[at], data.qvel[dof]
    return replace(scene, state=State(q, qd))


def _gravity(mujoco: Any, model: Any) -> spatial.Array:
    """Return gravity (3,), m/s²; zero if a ``<flag>`` disables it."""
    off = int(model.opt.disableflags) & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY)
    return np.zeros(3) if off else np.array(model.opt.gravity, dtype=float)


def _with_base(mech: Mechanism, tree: Tree, request: Request) -> Mechanism:
    """Apply the requested base; a body without a joint is already fixed by the rules of the format."""
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


def _moved_bodies(
    mech: Mechanism, poses: kinematics.BodyPoses, places: Mapping[OriginKey, Origin]
) -> Iterator[Defect]:
    """Yield a defect for each equality that positions a body and does not hold at the pose of the file."""
    for joint, pair, distance, angle in kinematics.frames_apart(mech, poses):
        if pair.closure and max(distance, angle) > kinematics.FRAMES_MEET:
            message = (
                f"equality {pair.name!r} does not hold at the pose of the file: its frames are {distance:.3g} m and "
                f"{np.degrees(angle):.3g}° apart; body {joint.outer!r} is moved to where they meet"
            )
            evidence = {"body": joint.outer, "distance": distance, "angle": angle}
            yield Defect("MB119", pair.name, message, places.get(("constraint", pair.name, "")), evidence)


def _state(mech: Mechanism, tree: Tree, poses: kinematics.BodyPoses) -> State:
    """Return the state at ``qpos0``, at rest."""
    q = kinematics.coordinates_of(mech, poses)
    for joint in mech.tree.joints:
        # angles computed from poses lose full turns
        if joint.pair is not None and joint.pair.name in tree.start:
            q[joint.q] = tree.start[joint.pair.name]
    return State(q, np.zeros(len(mech.qd_names)))


# Geoms of a compiled MuJoCo model as shapes.


def read_shapes(mujoco: Any, model: Any, names: Names, files: ModelFiles) -> dict[str, tuple[Shape, ...]]:
    """Return the shapes of every body; ground geoms, and kinds such as ellipsoids, are only reported."""
    found: dict[str, list[Shape]] = {}
    of_ground, strange, moved = [], {}, _moved_meshes(files)
    for g in range(model.ngeom):
        body, shown = int(model.geom_bodyid[g]), names.written("geom", g) or f"geom{g}"
        shape = _shape(mujoco, model, g, names, files, moved)
        if not body:
            of_ground.append(shown)
        elif shape is None:
            strange[shown] = names.body(body)
        else:
            rgba = _colour(model, g)
            seen = int(model.geom_group[g]) <= _LAST_SHOWN and (not rgba or rgba[3] > 0)
            found.setdefault(names.body(body), []).append(replace(shape, rgba=rgba, seen=seen))
    if of_ground:
        names.note(
            "MB153", "geom", of_ground, f"geoms of the ground are not read ({listed(of_ground)}): {TOUCH.why}"
        )
    if strange:
        names.note(
            "MB113",
            "geom",
            list(strange),
            f"ellipsoids and the like are not read ({listed(list(strange))}): {SHAPE.why}",
            {"links": list(dict.fromkeys(strange.values()))},
        )
    return {name: tuple(shapes) for name, shapes in found.items()}


def _moved_meshes(files: ModelFiles) -> frozenset[str]:
    """Return the names of the meshes with ``refpos`` or ``refquat``, which move them in their file."""
    return frozenset(
        str(element.get("name") or Path(str(element.get("file", ""))).stem)
        for root in files.roots
        for element in root.iter("mesh")
        if element.get("refpos") or element.get("refquat")
    )


def _shape(
    mujoco: Any, model: Any, g: int, names: Names, files: ModelFiles, moved: Collection[str]
) -> Shape | None:
    kinds = mujoco.mjtGeom
    kind = kinds(int(model.geom_type[g]))
    collides = bool(model.geom_contype[g] or model.geom_conaffinity[g])
    role = "collision" if collides else "visual"
    X_LS = pose_wxyz(model.geom_pos[g], model.geom_quat[g])
    a, b, c = (float(x) for x in model.geom_size[g])
    if kind == kinds.mjGEOM_BOX:
        return Shape(role, "box", (2 * a, 2 * b, 2 * c), X_LS)
    if kind == kinds.mjGEOM_SPHERE:
        return Shape(role, "sphere", (a,), X_LS)
    if kind in (kinds.mjGEOM_CAPSULE, kinds.mjGEOM_CYLINDER):
        return Shape(role, "capsule" if kind == kinds.mjGEOM_CAPSULE else "cylinder", (a, 2 * b), X_LS)
    if kind == kinds.mjGEOM_PLANE:
        return Shape(role, "plane", (2 * a, 2 * b), X_LS)
    if kind == kinds.mjGEOM_MESH:
        mesh = int(model.geom_dataid[g])
        file = files.path_of(_mesh_file(model, mesh))
        # without a file, or with refpos or refquat, only the compiled triangles are known
        if not file or names.written("mesh", mesh) in moved:
            return Shape(role, "mesh", (1.0, 1.0, 1.0), X_LS, triangles=_triangles(model, mesh))
        # the compiler moves a mesh to its principal frame
        X_MF = pose_wxyz(model.mesh_pos[mesh], model.mesh_quat[mesh])
        scale = tuple(float(s) for s in np.asarray(model.mesh_scale[mesh]))
        return Shape(role, "mesh", scale, X_LS @ X_MF.inverse(), file)
    return None


def _triangles(model: Any, mesh: int) -> tuple[spatial.Array, NDArray[np.int64]]:
    """Return vertices (n, 3) and triangles (m, 3) of a compiled mesh, in its principal frame."""
    first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    start, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
    vertices = np.array(model.mesh_vert[first : first + count], dtype=float)
    return vertices, np.array(model.mesh_face[start : start + faces], dtype=np.int64)


def _colour(model: Any, g: int) -> tuple[float, ...]:
    """Return colour and opacity of a geom, or of its material; empty for the default grey."""
    own, material = model.geom_rgba[g], int(model.geom_matid[g])
    if material >= 0 and np.array_equal(own, _GREY):
        own = model.mat_rgba[material]
    elif np.array_equal(own, _GREY):
        return ()
    return tuple(round(float(x), 6) for x in own)


def _mesh_file(model: Any, mesh: int) -> str:
    start = int(model.mesh_pathadr[mesh])
    if start < 0:
        return ""
    paths = bytes(model.paths)
    return paths[start : paths.index(b"\0", start)].decode()


# MuJoCo equality constraints as closures and couplings.


@dataclass(eq=False)
class Equalities:
    """Closures and couplings of a model, and their origins."""

    pairs: list[Pair] = field(default_factory=list)
    couplings: list[Coupling] = field(default_factory=list)
    origin: dict[OriginKey, Origin] = field(default_factory=dict)


def read_equalities(mujoco: Any, model: Any, names: Names, tree: Tree) -> Equalities:
    """Return the closures and couplings of the active equalities; inactive ones are reported.

    Raises
    ------
    BrokenModel
        An equality joins a body to itself.
    BadNumber
        A weld has a zero quaternion.
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
            # the vocabulary reports its element
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
    """Return the closure of a connect or weld, with the predecessor frame in body 1 (or site 1)."""
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
            # the anchor is given in body 2, and the pose of body 2's axes at the anchor in body 1
            X_AP, X_BS = pose_wxyz(data[3:6], data[6:10]), spatial.Pose(np.eye(3), data[:3])
        else:
            X_AP, X_BS = spatial.Pose(np.eye(3), data[:3]), spatial.Pose(np.eye(3), data[3:6])
    if body_a == body_b:
        place = names.origin("equality", name)
        raise BrokenModel(f"equality {name!r} joins body {body_a!r} to itself", where=str(place))
    # a weld with torquescale 0 leaves the rotation free
    spherical = not weld or data[10] == 0.0
    if spherical:
        R_WA, R_WB = (np.eye(3) if b == WORLD else tree.poses[b].R for b in (body_a, body_b))
        X_BS = spatial.Pose(R_WB.T @ R_WA @ X_AP.R, X_BS.p)
    return Pair(name, "spherical" if spherical else "fixed", body_a, body_b, X_AP, X_BS, closure=True)


def _coupling(model: Any, i: int, name: str, names: Names, tree: Tree) -> Coupling:
    """Return the coupling y − y0 = a0 + a1 (x − x0); terms of higher degree are reported and dropped."""
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
                f"joint equality {name!r} is not linear (polycoef {_numbers_text(model.eq_data[i][:5])}); only its "
                f"slope {a1:g} at the file's pose is read"
            )
            names.not_read("equality", name, message)
    return Coupling(name, "mimic", tuple(terms), offset)


def _numbers_text(values: spatial.Array) -> str:
    """Format ``values`` (n,) as text."""
    return " ".join(f"{value:g}" for value in values)


# Springs of MJCF joints: compiled ``stiffness`` and ``springref``.


def read_springs(
    mujoco: Any, model: Any, names: Names, tree: Tree
) -> tuple[spatial.Spring | spatial.JointSpring, ...]:
    """Return the linear springs of all joints; anything else in a spring is reported.

    A hinge or slide has force −k (q − q_ref) on its coordinate. The spring of a free joint consists of one
    of zero length between the body's origin and its position in ``qpos_spring``, and one on the orientation;
    orientation springs (also those of ball joints) are not read.

    Parameters
    ----------
    mujoco : module
    model : MjModel
        ``jnt_stiffness`` (njnt,) in N·m/rad or N/m, and ``qpos_spring`` (nq,) in rad or m: the compiler has
        applied defaults, ``springdamper`` and the angle unit of the file.
    names : Names
    tree : Tree
    """
    found: list[spatial.Spring | spatial.JointSpring] = []
    kinds = mujoco.mjtJoint
    for j in range(model.njnt):
        shown, stiffness = names.joint(j), float(model.jnt_stiffness[j])
        _note_added(model, names, j, shown)
        if not stiffness:
            continue
        kind, at = kinds(int(model.jnt_type[j])), int(model.jnt_qposadr[j])
        reference = np.array(model.qpos_spring[at : at + 7], dtype=float)
        if kind in (kinds.mjJNT_HINGE, kinds.mjJNT_SLIDE):
            found.append(spatial.JointSpring(tree.joint_pairs[j].name, stiffness, float(reference[0])))
            continue
        if kind == kinds.mjJNT_FREE:
            body = names.body(int(model.jnt_bodyid[j]))
            found.append(spatial.Spring(WORLD, body, reference[:3], np.zeros(3), stiffness))
        message = (
            f"the spring of joint {shown!r} (stiffness {stiffness:g} N·m/rad) acts on an orientation; "
            "it is not read"
        )
        names.not_read("joint", shown, message)
    return tuple(found)


def _note_added(model: Any, names: Names, j: int, shown: str) -> None:
    """Report the terms of a joint beyond a linear spring and a linear damper."""
    for array, owner, what in _ADDED:
        # older versions of MuJoCo have only linear springs and dampers
        values = getattr(model, array, None)
        if values is None:
            continue
        row = np.ravel(values[j if owner == "jnt" else int(model.jnt_dofadr[j])])
        if row.any():
            written = " ".join(f"{value:g}" for value in row)
            names.not_read("joint", shown, f"the {what} of joint {shown!r} ({written}) is not read")


# The tree of a compiled MuJoCo model: bodies, and one pair per joint.


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
    names : mapping of body index to str
    """

    bodies: list[Body] = field(default_factory=list)
    pairs: list[Pair] = field(default_factory=list)
    poses: dict[str, spatial.Pose] = field(default_factory=dict)
    joint_pairs: dict[int, Pair] = field(default_factory=dict)
    start: dict[str, float] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    actuators: list[Actuator] = field(default_factory=list)
    origin: dict[OriginKey, Origin] = field(default_factory=dict)


def pose_wxyz(p: spatial.Array, wxyz: spatial.Array) -> spatial.Pose:
    """Return the pose of a position p (3,), m, and a quaternion ``wxyz`` (4,), scalar first as in MuJoCo."""
    return spatial.Pose(spatial.rotation_from_quaternion(np.asarray(wxyz)[_XYZW]), np.array(p, dtype=float))


def read_tree(mujoco: Any, model: Any, names: Names) -> Tree:
    """Return the bodies and pairs; a body with several joints is attached by a chain of massless bodies."""
    tree = Tree()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    for i in range(1, model.nbody):
        name = names.body(i)
        X_WL = spatial.Pose(data.xmat[i].reshape(3, 3).copy(), data.xpos[i].copy())
        first = int(model.body_jntadr[i])
        joints = list(range(first, first + int(model.body_jntnum[i])))
        _add_pairs(mujoco, model, names, i, joints, X_WL, tree)
        tree.bodies.append(_body(model, i, name))
        tree.poses[name] = X_WL
        tree.names[i] = name
        tree.origin["body", name, ""] = names.origin("body", name)
        for part, place in names.turns(name):
            tree.origin["body", name, part] = place
    return tree


def _body(model: Any, i: int, name: str) -> Body:
    X_LI = pose_wxyz(model.body_ipos[i], model.body_iquat[i])
    I_C = X_LI.R @ np.diag(model.body_inertia[i]) @ X_LI.R.T
    return Body(name, float(model.body_mass[i]), X_LI.p, I_C)


def _add_pairs(
    mujoco: Any, model: Any, names: Names, i: int, joints: list[int], X_WL: spatial.Pose, tree: Tree
) -> None:
    """Add the pairs between a body and its parent, in the order in which MuJoCo applies the joints."""
    name, parent = names.body(i), names.body(int(model.body_parentid[i]))
    X_PL = pose_wxyz(model.body_pos[i], model.body_quat[i])
    free = int(mujoco.mjtJoint.mjJNT_FREE)
    if roots := [j for j in joints if int(model.jnt_type[j]) == free]:
        _note_free(model, names, roots[0])
        return
    if not joints:
        fixed = names.unique("constraint", f"{parent}→{name}")
        tree.pairs.append(Pair(fixed, "fixed", parent, name, X_PL, spatial.Pose.identity()))
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
        # the intermediate bodies of several joints share the body's frame with all joints at qpos0
        inner, X_PL = outer, spatial.Pose.identity()


def _note_free(model: Any, names: Names, j: int) -> None:
    """Report damping, friction and armature of a free joint; the root of a mechanism cannot have them."""
    dofs = slice(int(model.jnt_dofadr[j]), int(model.jnt_dofadr[j]) + 6)
    arrays = (("dof_damping", "damping"), ("dof_frictionloss", "dry friction"), ("dof_armature", "armature"))
    for array, what in arrays:
        if (values := getattr(model, array)[dofs]).any():
            shown = names.joint(j)
            message = (
                f"the {what} of the free joint {shown!r} ({_numbers_text(np.unique(values))}) is not read"
            )
            names.not_read("joint", shown, message)


def _joint_pair(
    mujoco: Any, model: Any, names: Names, j: int, ends: tuple[str, str], X_PL: spatial.Pose
) -> Pair:
    """Return the pair of a joint; its coordinate is MuJoCo's, which is ``qpos0`` at the file's pose."""
    kind = mujoco.mjtJoint(int(model.jnt_type[j]))
    point = np.array(model.jnt_pos[j], dtype=float)
    name = names.unique("constraint", names.joint(j))
    if kind == mujoco.mjtJoint.mjJNT_BALL:
        X = spatial.Pose(np.eye(3), point)
        freedom = _freedom(model, j, limited=False)
        return Pair(name, "spherical", *ends, X_PL @ X, X, freedoms=(freedom,) * 3)
    X = spatial.Pose(spatial.align_z(model.jnt_axis[j]), point)
    back = float(model.qpos0[model.jnt_qposadr[j]])
    if kind == mujoco.mjtJoint.mjJNT_HINGE:
        type, offset = (
            "revolute",
            spatial.Pose(spatial.rotation_from_vector(np.array([0.0, 0.0, back])), np.zeros(3)),
        )
    else:
        type, offset = "prismatic", spatial.Pose(np.eye(3), np.array([0.0, 0.0, back]))
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
    """Record the start coordinate, armature and source lines of a joint."""
    if pair.type != "spherical":
        tree.start[pair.name] = float(model.qpos0[model.jnt_qposadr[j]])
    if armature := float(model.dof_armature[model.jnt_dofadr[j]]):
        tree.actuators.append(Actuator(pair.name, armature))
    written = names.written("joint", j)
    tree.origin["constraint", pair.name, ""] = names.origin("joint", written)
    element = names.element("joint", written)
    if element is not None and element.get("axis") is not None:
        tree.origin["constraint", pair.name, "axis"] = origin(element, str(element.get("axis")))
    if element is not None and pair.type != "spherical" and _is_inverted(model, j, names, element):
        tree.origin["constraint", pair.name, "range"] = origin(element, str(element.get("range")))


def _is_inverted(model: Any, j: int, names: Names, element: Element) -> bool:
    """Return True if a joint states a range in the wrong order, which MuJoCo then takes for no limits."""
    lower, upper = model.jnt_range[j]
    off = element.get("limited") == "false" or names.unlimited_by_default
    return bool(lower > upper and element.get("range") and not model.jnt_limited[j] and not off)


# Actuated joints of an MJCF model: driven directly, or by a tendon that combines joints.


def driven_joints(mujoco: Any, model: Any, joint_pairs: dict[int, Pair]) -> tuple[str, ...]:
    """Return the pairs driven by actuators, without duplicates, in the order of the actuators.

    Parameters
    ----------
    mujoco : module
    model : MjModel
    joint_pairs : dict of MuJoCo joint index to Pair
    """
    joints: list[int] = []
    for k in range(_number_of_actuators(model)):
        number = int(model.actuator_trnid[k][0])
        if _acts_on_joint(mujoco, model, k):
            joints.append(number)
        elif int(model.actuator_trntype[k]) == int(mujoco.mjtTrn.mjTRN_TENDON):
            joints += _along(mujoco, model, number)
    return tuple(dict.fromkeys(joint_pairs[j].name for j in joints if j in joint_pairs))


def _number_of_actuators(model: Any) -> int:
    """Return the number of actuators; since MuJoCo 4, ``nu`` counts commands, of which an actuator may have several."""
    return int(getattr(model, "nactuator", model.nu))


def _acts_on_joint(mujoco: Any, model: Any, k: int) -> bool:
    # since MuJoCo 4, the orientation of a ball joint can be commanded
    names = ("mjTRN_JOINT", "mjTRN_JOINTINPARENT", "mjTRN_SO3")
    kinds = [int(getattr(mujoco.mjtTrn, name)) for name in names if hasattr(mujoco.mjtTrn, name)]
    return int(model.actuator_trntype[k]) in kinds


def _along(mujoco: Any, model: Any, tendon: int) -> list[int]:
    """Return the joints combined by a fixed tendon."""
    first = int(model.tendon_adr[tendon])
    wraps = range(first, first + int(model.tendon_num[tendon]))
    joint = int(mujoco.mjtWrap.mjWRAP_JOINT)
    return [int(model.wrap_objid[w]) for w in wraps if int(model.wrap_type[w]) == joint]


#: Properties of an actuator besides its law, in later MuJoCo versions.
_BESIDES = ("actuator_armature", "actuator_damping", "actuator_dampingpoly", "actuator_delay")
#: Index of the first command and force of an actuator, and their numbers; one each before MuJoCo 4.
_FIRST = ("actuator_ctrladr", "actuator_outadr")
_SINGLE = ("actuator_ctrlnum", "actuator_outnum")
#: Types of dynamics, gain and bias that ``<general>`` defines by numbers alone.
_DYNAMICS = {"mjDYN_NONE": "none", "mjDYN_INTEGRATOR": "integrator", "mjDYN_FILTER": "filter"}
_DYNAMICS |= {"mjDYN_FILTEREXACT": "filterexact"}
_GAINS = {"mjGAIN_FIXED": "fixed", "mjGAIN_AFFINE": "affine"}
_BIASES = {"mjBIAS_NONE": "none", "mjBIAS_AFFINE": "affine"}


def actuator_names(mujoco: Any, model: Any) -> list[str]:
    """Return the names of the actuators of a compiled model; unnamed ones are numbered."""
    numbers = range(_number_of_actuators(model))
    found = [mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_ACTUATOR, k) for k in numbers]
    for k in numbers:
        found[k] = found[k] or next(n for j in count(k + 1) if (n := f"actuator {j}") not in found)
    return found


def actuator_laws(mujoco: Any, model: Any, joint_pairs: dict[int, Pair]) -> Iterator[ActuatorLaw]:
    """Yield the actuator laws of a compiled model, in their order.

    Parameters
    ----------
    mujoco : module
    model : MjModel
    joint_pairs : dict of MuJoCo joint index to Pair
    """
    for k, name in enumerate(actuator_names(mujoco, model)):
        pair = joint_pairs.get(int(model.actuator_trnid[k][0])) if _acts_on_joint(mujoco, model, k) else None
        types = (
            _known(mujoco.mjtDyn, model.actuator_dyntype[k], _DYNAMICS),
            _known(mujoco.mjtGain, model.actuator_gaintype[k], _GAINS),
            _known(mujoco.mjtBias, model.actuator_biastype[k], _BIASES),
        )
        obstacle = _obstacle(mujoco, model, k, pair, known=None not in types)
        target = _target(mujoco, model, k) if pair is None else ()
        attributes = (*target, *_attributes(model, k, *types)) if None not in types else target
        yield ActuatorLaw(name, pair.name if pair else "", attributes, obstacle)


def _obstacle(mujoco: Any, model: Any, k: int, pair: Pair | None, *, known: bool) -> str:
    """Return the reason why an actuator on a joint cannot be stated by numbers alone; empty if it can."""
    if not _acts_on_joint(mujoco, model, k):
        return "it does not act on a joint itself"
    if pair is None or len(pair.kind.free) != 1:
        return "its joint has several freedoms"
    if any(int(getattr(model, part)[k]) != 1 for part in _SINGLE if hasattr(model, part)):
        return "it has several commands or forces"
    if not known or int(model.actuator_plugin[k]) >= 0:
        return "its law is that of a muscle, a plugin or a callback"
    if any(np.any(getattr(model, part)[k]) for part in _BESIDES if hasattr(model, part)):
        return "it has a rotor, a damping or a delay of its own"
    return ""


def _target(mujoco: Any, model: Any, k: int) -> tuple[tuple[str, str], ...]:
    """Return the target of an actuator that is not a joint of the mechanism: its kind, and its name or index."""
    kind = mujoco.mjtTrn(int(model.actuator_trntype[k])).name.removeprefix("mjTRN_").lower()
    number = int(model.actuator_trnid[k][0])
    type = getattr(mujoco.mjtObj, f"mjOBJ_{kind.upper()}", None)
    named = mujoco.mj_id2name(model, type, number) if type is not None else ""
    return ((kind, named or str(number)),)


def _known(kinds: Any, value: Any, words: dict[str, str]) -> str | None:
    """Return the keyword of an enumeration value, None if it has none."""
    return next((word for name, word in words.items() if int(getattr(kinds, name)) == int(value)), None)


def _attributes(
    model: Any, k: int, dynamics: str | None, gain: str | None, bias: str | None
) -> Iterator[tuple[str, str]]:
    """Yield the attributes in which an actuator differs from a plain motor."""
    command, force = (int(getattr(model, part)[k]) if hasattr(model, part) else k for part in _FIRST)
    gear, gains = _numbers(model.actuator_gear[force]), _numbers(model.actuator_gainprm[k])
    if gear != "1.0":
        yield "gear", gear
    for limited, ranges, key, at in (
        (model.actuator_ctrllimited, model.actuator_ctrlrange, "ctrlrange", command),
        (model.actuator_forcelimited, model.actuator_forcerange, "forcerange", k),
        (model.actuator_actlimited, model.actuator_actrange, "actrange", k),
    ):
        if limited[at]:
            yield key, _numbers(ranges[at], trimmed=False)
    if dynamics != "none":
        yield "dyntype", str(dynamics)
        yield "dynprm", _numbers(model.actuator_dynprm[k])
    if gain != "fixed" or gains != "1.0":
        yield "gaintype", str(gain)
        yield "gainprm", gains
    if bias != "none":
        yield "biastype", str(bias)
        yield "biasprm", _numbers(model.actuator_biasprm[k])
    if model.actuator_actearly[k]:
        yield "actearly", "true"


def _numbers(values: Any, *, trimmed: bool = True) -> str:
    """Format numbers with all their digits, without trailing zeros unless ``trimmed`` is False."""
    found = [float(value) for value in values]
    while trimmed and len(found) > 1 and found[-1] == 0.0:
        found.pop()
    return " ".join(map(repr, found))
