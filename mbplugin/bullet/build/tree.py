"""A tree of bodies as a URDF that PyBullet reads without loss: no limits, no shapes that collide.

``createMultiBody`` stops at 127 links without a warning. In the URDF the frame of a link is the
frame of the joint that carries it, and inertias are stated in principal axes, because Bullet knows
no others.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np

from mbplugin.model.mechanism.identity import freedom_name
from mbplugin.bullet.build.chain import Step, inner_frame, outer_frame, rpy_from_rotation, steps_of
from mbplugin.bullet.reader.client import unique
from mbplugin.model.mechanism import WORLD, Body, Mechanism
from mbplugin.model.mechanism.topology import TreeJoint
from mbplugin.model.spatial import Array, Pose

#: Characters of a name that PyBullet is handed.
_LONGEST = 200


@dataclass(frozen=True, eq=False)
class Visual:
    """What a body looks like: triangles in its link frame.

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
    """A URDF and what its names stand for.

    Parameters
    ----------
    root : str
        The body at its base; ``world`` for everything that stands on the ground.
    links : mapping of body to the name of its link
    joints : mapping of tree joint to the names of its joints, from the inner body outwards
    inertias : mapping of link name to (3,) array
        Principal moments, kg·m².
    """

    text: str
    root: str
    links: Mapping[str, str]
    joints: Mapping[str, tuple[str, ...]]
    inertias: Mapping[str, Array]


def trees(mech: Mechanism) -> list[tuple[str, tuple[TreeJoint, ...]]]:
    """Return each tree as its root, ``world`` or a free body, and its joints outwards."""
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
    """Return the URDF of one tree; what its bodies look like is written into a folder as meshes."""
    bodies = {body.name: body for body in mech.bodies}
    taken: set[str] = set()
    links = {name: unique(name[:_LONGEST], taken) for name in (root, *(j.outer for j in joints))}
    frames = {root: Pose.identity()} | {j.outer: outer_frame(j) for j in joints}
    names: dict[str, tuple[str, ...]] = {}
    inertias: dict[str, Array] = {}
    parts: list[str] = []
    for name, link in links.items():
        body = bodies.get(name, Body(name))
        inertial, inertias[link] = _inertial(body, frames[name])
        shapes = _visuals(visuals.get(name, ()), frames[name], folder / f"{len(parts)}")
        parts.append(f"<link name={quoteattr(link)}>{inertial}{shapes}</link>")
    taken_joints: set[str] = set()
    for joint in joints:
        assert joint.pair is not None
        steps = steps_of(joint)
        names[joint.pair.name] = tuple(
            unique(freedom_name(joint.pair.name, step.freedom, len(steps))[:_LONGEST], taken_joints)
            for step in steps
        )
        X = frames[joint.inner].inverse() @ inner_frame(joint)
        parts += _chain(names[joint.pair.name], steps, links[joint.inner], links[joint.outer], X, taken)
    # PyBullet breaks lines of more than 8 kB apart
    text = "\n".join((f"<robot name={quoteattr(mech.name[:_LONGEST])}>", *parts, "</robot>"))
    return TreeText(text, root, links, names, inertias)


def _chain(
    names: Sequence[str], steps: Sequence[Step], inner: str, outer: str, X: Pose, taken: set[str]
) -> Iterable[str]:
    """Yield the joints of one pair, and the links without mass between them."""
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


_INERTIA = '<inertia ixx="{!r}" iyy="{!r}" izz="{!r}" ixy="0" ixz="0" iyz="0"/>'
_NO_MASS = f'<inertial><mass value="0"/>{_INERTIA.format(0.0, 0.0, 0.0)}</inertial>'
# a slider must state limits, and reversed ones are none
_NO_LIMIT = '<limit lower="1" upper="-1" effort="0" velocity="0"/>'


def _inertial(body: Body, X_LS: Pose) -> tuple[str, Array]:
    """Return mass and inertia in the frame S that the link has in the URDF, and the principal moments."""
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
    """Return triangles as OBJ text with a normal for each face, which is what lights them."""
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
