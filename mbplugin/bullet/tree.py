"""Write a tree of bodies as a URDF for PyBullet, without joint limits and collision shapes.

``createMultiBody`` would be limited to 127 links, without a warning. In the URDF the frame of a link is the frame of
the joint that carries it, and inertias are stated in principal axes, the only ones that Bullet supports.

PyBullet loads a tree of more than 127 joints, but then reports the state of none of its links. The bodies that fixed
joints hold become parts of the links that carry them in such a tree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from xml.sax.saxutils import quoteattr

import numpy as np

from mbplugin.bullet.reader import MOST_JOINTS, unique
from mbplugin.constraints.reduction import body_twists
from mbplugin.errors import BrokenModel
from mbplugin.model import WORLD, Body, Mechanism, Pair, Payload, TreeJoint, freedom_name
from mbplugin.model.mechanism.kinematics import BodyPoses, coordinates_of, forward, home, joint_axes
from mbplugin.model.spatial import Array, Pose, axis_of, is_turn, shift_twists, skew

#: Longest name passed to PyBullet, characters.
_LONGEST = 200
_INERTIA = '<inertia ixx="{!r}" iyy="{!r}" izz="{!r}" ixy="0" ixz="0" iyz="0"/>'
_NO_MASS = f'<inertial><mass value="0"/>{_INERTIA.format(0.0, 0.0, 0.0)}</inertial>'
# a prismatic joint must state limits; reversed ones mean no limits
_NO_LIMIT = '<limit lower="1" upper="-1" effort="0" velocity="0"/>'
#: Rotation about or translation along an axis of the joint frame, a ball joint, or no motion.
StepKind = Literal["continuous", "prismatic", "spherical", "fixed"]
_CUTTABLE = ("universal", "cylindrical", "planar", "screw", "point-on-line", "point-on-plane")


@dataclass(frozen=True, eq=False)
class Visual:
    """The appearance of a body: triangles in its link frame.

    Parameters
    ----------
    vertices : (n, 3) array
        Link frame of the body, m.
    faces : (m, 3) array of int
        Indices of vertices.
    rgba : tuple of float
        Colour and opacity, 0 to 1.
    """

    vertices: Array
    faces: Array
    rgba: tuple[float, float, float, float] = (0.7, 0.7, 0.7, 1.0)


Visuals = Mapping[str, Sequence[Visual]]


@dataclass(frozen=True, eq=False)
class TreeText:
    """A URDF text, and the names in it of the bodies and joints.

    Parameters
    ----------
    root : str
        The base body; ``world`` for everything attached to the ground.
    links : mapping of body to the name of its link
        Without the bodies that are part of another link.
    joints : mapping of tree joint to the names of its joints, from the inner body outwards
    inertias : mapping of link name to (3,) array
        Principal moments, kg·m².
    carriers : mapping of body to tuple of str and Pose
        The body whose link a body is part of, and X_HB, its pose in the link frame of that body.
    """

    text: str
    root: str
    links: Mapping[str, str]
    joints: Mapping[str, tuple[str, ...]]
    inertias: Mapping[str, Array]
    carriers: Mapping[str, tuple[str, Pose]]


def trees(mech: Mechanism) -> list[tuple[str, tuple[TreeJoint, ...]]]:
    """Return the trees: the root of each, ``world`` or a free body, and its joints ordered outwards."""
    root_of = {WORLD: WORLD}
    found: dict[str, list[TreeJoint]] = {}
    for joint in mech.tree.joints:
        root = joint.outer if joint.pair is None else root_of[joint.inner]
        root_of[joint.outer] = root
        own = found.setdefault(root, [])
        if joint.pair is not None:
            own.append(joint)
    return [(root, tuple(joints)) for root, joints in found.items()]


def tree_text(
    mech: Mechanism,
    root: str,
    joints: Sequence[TreeJoint],
    visuals: Visuals,
    folder: Path,
) -> TreeText:
    """Return the URDF of one tree, and write the visuals of its bodies as mesh files into a folder."""
    bodies = {body.name: body for body in mech.bodies}
    carriers = _carriers(root, joints)
    carried: dict[str, list[str]] = {}
    for name, (carrier, _) in carriers.items():
        carried.setdefault(carrier, []).append(name)
    taken: set[str] = set()
    names_of_links = (name for name in (root, *(j.outer for j in joints)) if name not in carriers)
    links = {name: unique(name[:_LONGEST], taken) for name in names_of_links}
    frames = {root: Pose.identity()} | {j.outer: outer_frame(j) for j in joints}
    names: dict[str, tuple[str, ...]] = {}
    inertias: dict[str, Array] = {}
    parts: list[str] = []
    for name, link in links.items():
        body = bodies.get(name, Body(name))
        stem = folder / f"{len(parts)}"
        shapes = [_visuals(visuals.get(name, ()), frames[name], stem)]
        if own := carried.get(name, []):
            poses = {part: carriers[part][1] for part in own}
            if name != WORLD:
                body = _joined(name, [body, *(_moved(bodies[part], X_HB) for part, X_HB in poses.items())])
            for k, (part, X_HB) in enumerate(poses.items()):
                at = stem.with_name(f"{stem.name}_{k}")
                shapes.append(_visuals(visuals.get(part, ()), X_HB.inverse() @ frames[name], at))
        inertial, inertias[link] = _inertial(body, frames[name])
        parts.append(f"<link name={quoteattr(link)}>{inertial}{''.join(shapes)}</link>")
    taken_joints: set[str] = set()
    for joint in joints:
        assert joint.pair is not None
        if joint.outer in carriers:
            continue
        steps = steps_of(joint)
        names[joint.pair.name] = tuple(
            unique(freedom_name(joint.pair.name, step.freedom, len(steps))[:_LONGEST], taken_joints)
            for step in steps
        )
        inner, X_HI = carriers.get(joint.inner, (joint.inner, Pose.identity()))
        X = frames[inner].inverse() @ X_HI @ inner_frame(joint)
        parts += _chain(names[joint.pair.name], steps, links[inner], links[joint.outer], X, taken)
    # PyBullet breaks lines longer than 8 kB
    text = "\n".join((f"<robot name={quoteattr(mech.name[:_LONGEST])}>", *parts, "</robot>"))
    return TreeText(text, root, links, names, inertias, carriers)


def _carriers(root: str, joints: Sequence[TreeJoint]) -> dict[str, tuple[str, Pose]]:
    """Return the carrier of each body that becomes part of another link, and its pose there.

    Raises
    ------
    BrokenModel
        More joints move than PyBullet can report.
    """
    if sum(len(steps_of(joint)) for joint in joints) <= MOST_JOINTS:
        return {}
    moving = sum(len(steps_of(joint)) for joint in joints if joint.pair and joint.pair.kind.free)
    if moving > MOST_JOINTS:
        raise BrokenModel(
            f"PyBullet reports the state of at most {MOST_JOINTS} joints of one tree; {moving} joints move "
            f"in the tree of {root!r}"
        )
    carriers: dict[str, tuple[str, Pose]] = {}
    for joint in joints:
        if joint.pair is not None and not joint.pair.kind.free:
            carrier, X_HI = carriers.get(joint.inner, (joint.inner, Pose.identity()))
            carriers[joint.outer] = carrier, X_HI @ inner_frame(joint) @ outer_frame(joint).inverse()
    return carriers


def _chain(
    names: Sequence[str], steps: Sequence[Step], inner: str, outer: str, X: Pose, taken: set[str]
) -> Iterable[str]:
    """Yield the joints of one pair, and the massless links between them."""
    for k, (name, step) in enumerate(zip(names, steps, strict=True)):
        last = k == len(steps) - 1
        link = outer if last else unique(f"{name} link", taken)
        if not last:
            yield f"<link name={quoteattr(link)}>{_NO_MASS}</link>"
        yield (
            f'<joint name={quoteattr(name)} type="{step.kind}"><parent link={quoteattr(inner)}/>'
            f"<child link={quoteattr(link)}/>{_origin(X)}"
            f'<axis xyz="{_numbers(step.axis)}"/>{_NO_LIMIT if step.kind == "prismatic" else ""}</joint>'
        )
        inner, X = link, Pose.identity()


def _inertial(body: Body, X_LS: Pose) -> tuple[str, Array]:
    """Return the ``<inertial>`` element in S, the link's frame in the URDF, and the principal moments (3,)."""
    X_SL = X_LS.inverse()
    moments, axes = np.linalg.eigh(X_SL.R @ body.I_C @ X_SL.R.T)
    axes = axes * np.sign(np.linalg.det(axes))
    X_SC = Pose(axes, X_SL.apply(body.p_LC))
    text = f'<mass value="{float(body.mass)!r}"/>{_INERTIA.format(*moments.tolist())}'
    return f"<inertial>{_origin(X_SC)}{text}</inertial>", moments


def _visuals(shapes: Sequence[Visual], X_LS: Pose, stem: Path) -> str:
    parts = []
    for k, shape in enumerate(shapes):
        mesh = stem.with_name(f"{stem.name}_{k}.obj")
        mesh.write_text(wavefront(shape), encoding="ascii")
        colour = f'<material name="{stem.name}_{k}"><color rgba="{_numbers(shape.rgba)}"/></material>'
        parts.append(
            f"<visual>{_origin(X_LS.inverse())}"
            f"<geometry><mesh filename={quoteattr(str(mesh))}/></geometry>{colour}</visual>"
        )
    return "\n".join(parts)


def wavefront(shape: Visual) -> str:
    """Return triangles as OBJ text with face normals, which are needed for the lighting."""
    v, faces = np.asarray(shape.vertices, dtype=float), np.asarray(shape.faces, dtype=int)
    normals = np.cross(v[faces[:, 1]] - v[faces[:, 0]], v[faces[:, 2]] - v[faces[:, 0]])
    normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
    lines = [f"v {_numbers(x)}" for x in v.tolist()]
    lines += [f"vn {_numbers(n)}" for n in normals.tolist()]
    lines += ["f " + " ".join(f"{i + 1}//{k + 1}" for i in face) for k, face in enumerate(faces.tolist())]
    return "\n".join(lines) + "\n"


def _origin(X: Pose) -> str:
    return f'<origin xyz="{_numbers(X.p.tolist())}" rpy="{_numbers(rpy_from_rotation(X.R))}"/>'


def _numbers(values: Iterable[float]) -> str:
    return " ".join(repr(float(x)) for x in values)


# A tree joint as a chain of PyBullet joints: single axes, then at most one ball joint.


@dataclass(frozen=True)
class Step:
    """One PyBullet joint.

    Parameters
    ----------
    kind : str
        URDF joint type.
    axis : tuple of float
        In the joint frame.
    freedom : str
        The freedom of the pair that it represents; a ball joint represents the last three.
    """

    kind: StepKind
    axis: tuple[float, float, float]
    freedom: str


def steps_of(joint: TreeJoint) -> tuple[Step, ...]:
    """Return the PyBullet joints that together represent a tree pair, from its inner body outwards.

    A pair translates along the axes of P, then rotates; if the tree runs from S to P, the same motions follow in
    reverse order with opposite axes. The translation of a screw is coupled to its rotation by a gear.
    """
    assert joint.pair is not None
    free = joint.pair.kind.free
    if not free:
        return (Step("fixed", (0.0, 0.0, 1.0), ""),)
    turns = [c for c in free if is_turn(c)]
    travels = [c for c in free if not is_turn(c)]
    ball = len(turns) == 3
    sign = -1.0 if joint.reversed else 1.0
    steps = [_step("prismatic", c, sign) for c in travels]
    if joint.pair.type == "screw":
        steps.append(_step("prismatic", "tz", sign))
    steps += (
        [Step("spherical", (0.0, 0.0, 1.0), "r")] if ball else [_step("continuous", c, sign) for c in turns]
    )
    return tuple(reversed(steps)) if joint.reversed else tuple(steps)


def _step(kind: StepKind, freedom: str, sign: float) -> Step:
    axis = [0.0, 0.0, 0.0]
    axis[axis_of(freedom)] = sign
    return Step(kind, (axis[0], axis[1], axis[2]), freedom)


def inner_frame(joint: TreeJoint) -> Pose:
    """Return the joint frame in the link frame of the inner body."""
    assert joint.pair is not None
    return joint.pair.X_BS if joint.reversed else joint.pair.X_AP


def outer_frame(joint: TreeJoint) -> Pose:
    """Return the joint frame in the link frame of the outer body; for a free body, it is the link frame."""
    if joint.pair is None:
        return Pose.identity()
    return joint.pair.X_AP if joint.reversed else joint.pair.X_BS


def rpy_from_rotation(R: Array) -> tuple[float, float, float]:
    """Return fixed-axis angles (rad) of a rotation R (3, 3); accurate also in gimbal lock."""
    yaw = np.arctan2(R[1, 0], R[0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    pitch = np.arctan2(-R[2, 0], c * R[0, 0] + s * R[1, 0])
    roll = np.arctan2(s * R[0, 2] - c * R[1, 2], c * R[1, 1] - s * R[0, 1])
    return float(roll), float(pitch), float(yaw)


# Masses in PyBullet: payloads are merged into their bodies, and a free base needs mass.


def loaded(mech: Mechanism, payloads: Iterable[Payload]) -> Mechanism:
    """Return the mechanism with payloads merged into their bodies, and with mass at its free bases.

    PyBullet fixes a base without mass, so such a base takes over the masses of the bodies fixed to it.
    """
    bodies = {body.name: body for body in mech.bodies}
    for payload in payloads:
        own = bodies[payload.body]
        part = Body("", payload.mass, np.asarray(payload.com), np.asarray(payload.inertia))
        bodies[own.name] = _joined(own.name, [own, part])
    for joint in mech.tree.joints:
        if joint.pair is None and bodies[joint.outer].mass == 0:
            _gather(mech, joint.outer, bodies)
    return replace(mech, bodies=tuple(bodies[body.name] for body in mech.bodies))


def movers_without_mass(mech: Mechanism) -> list[str]:
    """Return the joints that move no mass at all, and the free bases without mass."""
    carried = {body.name: not body.massless for body in mech.bodies}
    empty = []
    for joint in reversed(mech.tree.joints):
        if joint.pair is None:
            if mech.bodies[mech.body_index[joint.outer]].mass == 0:
                empty.append(joint.outer)
            continue
        if not carried[joint.outer] and joint.pair.kind.free:
            empty.append(joint.pair.name)
        if joint.inner in carried:
            carried[joint.inner] |= carried[joint.outer]
    return empty[::-1]


def _gather(mech: Mechanism, root: str, bodies: dict[str, Body]) -> None:
    """Merge the masses of all bodies fixed to a root into the root."""
    group = [root]
    for joint in mech.tree.joints:
        if joint.inner in group and joint.pair is not None and not joint.pair.kind.free:
            group.append(joint.outer)
    poses = forward(mech, home(mech))
    X_RW = poses.of(mech.body_index[root]).inverse()
    parts = []
    for name in group:
        parts.append(_moved(bodies[name], X_RW @ poses.of(mech.body_index[name])))
        bodies[name] = Body(name)
    bodies[root] = _joined(root, parts)


def _moved(body: Body, X_RB: Pose) -> Body:
    """Return the mass and inertia of a body in the link frame R of another one."""
    return Body("", body.mass, X_RB.apply(body.p_LC), X_RB.R @ body.I_C @ X_RB.R.T)


def _joined(name: str, parts: Sequence[Body]) -> Body:
    """Return one body that combines several, all given in its link frame."""
    mass = sum(part.mass for part in parts)
    if mass == 0:
        return Body(name, 0.0, parts[0].p_LC, sum((p.I_C for p in parts), np.zeros((3, 3))))
    com: Array = sum((p.mass * p.p_LC for p in parts), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for part in parts:
        K = skew(part.p_LC - com)
        inertia += part.I_C - part.mass * K @ K
    return Body(name, mass, com, inertia)


# Closures without a PyBullet constraint: a body is split into halves, and the closing pair becomes a tree joint.
#
# One half is attached to the other body through the pair, which is now a tree joint, and a fixed constraint holds
# the halves together. The motion is the same.


def split(mech: Mechanism) -> tuple[Mechanism, dict[str, str]]:
    """Return a mechanism whose closures PyBullet supports, and the whole body of each added half.

    A split body keeps its name and geometry but only half of its mass and inertia. The closing pair keeps its name as
    a tree joint, and the fixed constraint is named after the half.
    """
    bodies = {body.name: body for body in mech.bodies}
    pairs, halves = list(mech.pairs), dict[str, str]()
    for pair in mech.tree.cut:
        if pair.type not in _CUTTABLE:
            continue
        ends = [name for name in (pair.body_b, pair.body_a) if name != WORLD and bodies[name].mass > 0]
        if not ends:
            continue
        whole, half = ends[0], f"half of {ends[0]} at {pair.name}"
        own = bodies[whole]
        bodies[whole] = replace(own, mass=own.mass / 2, I_C=own.I_C / 2)
        bodies[half] = replace(bodies[whole], name=half)
        halves[half] = whole
        a, b = (half if name == whole else name for name in pair.bodies)
        pairs[pairs.index(pair)] = replace(pair, body_a=a, body_b=b, closure=False)
        same = Pose.identity()
        pairs.append(Pair(f"{half} held", "fixed", half, whole, same, same, closure=True))
    return replace(mech, bodies=tuple(bodies.values()), pairs=tuple(pairs)), halves


def split_state(
    mech: Mechanism, cut: Mechanism, halves: Mapping[str, str], q: Array, qd: Array
) -> tuple[Array, Array]:
    """Convert q (nq,) and qd (nv,) of a mechanism to those of its split version ``cut``, with the halves together."""
    if not halves:
        return q, qd
    poses, twists = forward(mech, q), body_twists(mech, forward(mech, q), qd)
    index = [mech.body_index[halves.get(body.name, body.name)] for body in cut.bodies]
    cut_poses = BodyPoses(poses.R_WL[index], poses.p_WL[index], poses.p_WC[index])
    q_cut, qd_cut = coordinates_of(cut, cut_poses), np.zeros(len(cut.qd_names))
    of_pair = mech.tree.joint_of_pair
    for joint in cut.tree.joints:
        if joint.pair is None or joint.pair.name in of_pair:
            own = mech.tree.joint_of_body[joint.outer] if joint.pair is None else of_pair[joint.pair.name]
            q_cut[joint.q], qd_cut[joint.qd] = q[own.q], qd[own.qd]
            continue
        S, point = joint_axes(cut, joint, cut_poses)
        relative = np.zeros(6)
        for name, sign in ((joint.outer, 1.0), (joint.inner, -1.0)):
            if name != WORLD:
                i = cut.body_index[name]
                relative += sign * shift_twists(twists[index[i]][:, None], point - cut_poses.p_WC[i])[:, 0]
        qd_cut[joint.qd] = np.linalg.lstsq(S, relative, rcond=None)[0]
    return q_cut, qd_cut
