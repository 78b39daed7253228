"""SDF writer: links are placed at the state's pose, at which joint coordinates are zero."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

import numpy as np

from mbplugin.errors import BadUsage
from mbplugin.model import BodyPoses, Freedom, Pair, Scene, forward, freedom_name, measure, relative_pose
from mbplugin.model.mechanism import STANDARD_GRAVITY, WORLD, Body, Coupling
from mbplugin.model.spatial import Array, JointSpring, Pose, rpy_from_rotation
from mbplugin.phrases import listed
from mbplugin.writers import written
from mbplugin.writers.shapes import Solid, Solids, in_roles, solids_of

#: SDF joint types by pair type; all of them can close loops.
JOINTS = {
    "fixed": "fixed",
    "revolute": "revolute",
    "continuous": "continuous",
    "prismatic": "prismatic",
    "screw": "screw",
    "universal": "universal",
    "spherical": "ball",
}
_VERSION = "1.11"
#: Coordinates up to this are zero within rounding, rad or m.
_AT_ZERO = 1e-12


def sdf_text(scene: Scene) -> written.Written:
    """Return the SDF of a scene.

    Raises
    ------
    BadUsage
        A pair has a type that SDF does not support.
    """
    mech = scene.mechanism
    if lost := [pair for pair in mech.pairs if pair.type not in JOINTS and pair.type != "floating"]:
        raise BadUsage(
            f"SDF has no joint such as {lost[0].name!r} ({lost[0].type})",
            expected=f"pairs of the types {', '.join(JOINTS)}",
            remedy="write the model as a scene or as MJCF",
        )
    poses = forward(mech, scene.state.q)
    writing = _Writing(scene, poses, _coordinates(scene, poses), solids_of(scene, "sdf"))
    root = written.element(None, "sdf", {"version": _VERSION})
    parent = root
    if (mech.gravity - STANDARD_GRAVITY).any():
        # only a world can state gravity
        parent = written.element(root, "world", {"name": "world"})
        _value(parent, "gravity", written.row(mech.gravity))
    writing.fill(written.element(parent, "model", {"name": mech.name}))
    held, losses = tuple(writing.held), tuple(writing.losses)
    return written.Written(
        "sdf", written.document_text(root), held, losses, names_from=writing.solids.names_from(scene)
    )


def sdf_joint(scene: Scene, pair: Pair) -> written.Element:
    """Return the SDF element of a joint of a scene, with its pose in the child link."""
    poses = forward(scene.mechanism, scene.state.q)
    return _Writing(scene, poses, _coordinates(scene, poses), Solids()).joint(
        written.element(None, "model"), pair
    )


def _coordinates(scene: Scene, poses: BodyPoses) -> dict[str, Array]:
    """Return the coordinates of all pairs at the pose, those of cut pairs measured from the frames; rad, m."""
    mech = scene.mechanism
    found = {pair.name: measure(pair, relative_pose(mech, pair, poses)) for pair in mech.pairs}
    return found | {j.pair.name: scene.state.q[j.q] for j in mech.tree.joints if j.pair is not None}


@dataclass(eq=False)
class _Writing:
    """One model under construction.

    Parameters
    ----------
    poses : BodyPoses
        Poses at the state.
    start : mapping of pair to (c,) array
        Coordinates at the state, rad, m.
    """

    scene: Scene
    poses: BodyPoses
    start: Mapping[str, Array]
    solids: Solids
    held: list[str] = field(default_factory=list)
    losses: list[written.Loss] = field(default_factory=list)

    def fill(self, model: written.Element) -> None:
        """Write links, then joints, those of the tree first, since readers build the tree from the first joints."""
        mech = self.scene.mechanism
        for i, body in enumerate(mech.bodies):
            _link(model, body, self.poses.of(i), self.solids.of_body.get(body.name, ()))
        cut = {pair.name for pair in mech.tree.cut}
        joints = {
            pair.name: self.joint(model, pair)
            for pair in sorted(mech.pairs, key=lambda pair: pair.name in cut)
            if pair.type != "floating"
        }
        for coupling in mech.couplings:
            self._mimic(joints, coupling)
        moved = [name for name in joints if np.abs(self.start[name][:2]).max(initial=0.0) > _AT_ZERO]
        if moved:
            self.held.append(
                f"joint coordinates are relative to the written pose: {listed(moved)} not at zero"
            )
        self.losses += written.unwritten_constraints(mech, ("couplings",))
        self.losses += self.solids.losses
        self.held += self.solids.held
        self.losses += written.unwritten(self.scene, ("springs", "shapes"))
        self.losses += written.springs_between_points(self.scene)

    def joint(self, model: written.Element, pair: Pair) -> written.Element:
        """Write a joint, and return its element."""
        index = self.scene.mechanism.body_index
        X_WP = self.poses.of(index[pair.body_a]) @ pair.X_AP
        X_WS = self.poses.of(index[pair.body_b]) @ pair.X_BS
        joint = written.element(model, "joint", {"name": pair.name, "type": JOINTS[pair.type]})
        _value(joint, "parent", pair.body_a)
        _value(joint, "child", pair.body_b)
        # if the child is the world, the pose is relative to the model
        _pose(joint, X_WS if pair.body_b == WORLD else pair.X_BS, "__model__" if pair.body_b == WORLD else "")
        if pair.type == "screw":
            _value(joint, "screw_thread_pitch", written.number(pair.lead))
        if pair.type in ("fixed", "spherical"):
            if any(freedom != Freedom() for freedom in pair.freedoms):
                self.losses.append(
                    written.Loss(
                        "joint", f"limits, damping and friction of {pair.name!r}, which SDF has on axes only"
                    )
                )
            return joint
        directions = (X_WS.R[:, 2],) if len(pair.kind.free) == 1 else (X_WP.R[:, 0], X_WS.R[:, 1])
        for k, (axis_W, freedom) in enumerate(zip(directions, pair.freedoms, strict=True)):
            axis = written.element(joint, ("axis", "axis2")[k])
            _value(axis, "xyz", written.row(X_WS.R.T @ axis_W))
            _limit(axis, freedom, float(self.start[pair.name][k]))
            self._dynamics(axis, pair, k)
        return joint

    def _dynamics(self, axis: written.Element, pair: Pair, k: int) -> None:
        freedom, name = pair.freedoms[k], pair.name
        if len(pair.kind.free) > 1:
            name = freedom_name(pair.name, pair.kind.free[k])
        springs = [s for s in self.scene.springs if isinstance(s, JointSpring) and s.joint == name]
        if not (freedom.damping or freedom.friction or springs):
            return
        dynamics = written.element(axis, "dynamics")
        _value(dynamics, "damping", written.number(freedom.damping))
        _value(dynamics, "friction", written.number(freedom.friction))
        for spring in springs[:1]:
            _value(
                dynamics, "spring_reference", written.number(spring.rest - float(self.start[pair.name][k]))
            )
            _value(dynamics, "spring_stiffness", written.number(spring.stiffness))

    def _mimic(self, joints: Mapping[str, written.Element], coupling: Coupling) -> None:
        """Write follower = multiplier · leader + offset, in coordinates measured from the pose."""
        pairs = self.scene.mechanism.pair_by_name
        terms = [
            t for t in coupling.terms if t.coefficient and pairs[t.joint].type not in ("fixed", "spherical")
        ]
        if len(terms) != 2 or len(coupling.terms) != 2 or any(t.joint not in joints for t in terms):
            self.losses.append(
                written.Loss("coupling", f"coupling {coupling.name!r}, which is not between two axes")
            )
            return
        follower, leader = terms
        at = [pairs[t.joint].kind.free.index(t.freedom) for t in terms]
        values = [float(self.start[t.joint][k]) for t, k in zip(terms, at, strict=True)]
        multiplier = -leader.coefficient / follower.coefficient
        offset = coupling.offset / follower.coefficient + multiplier * values[1] - values[0]
        tags = [("axis", "axis2")[k] for k in at]
        axis = joints[follower.joint].find(tags[0])
        assert axis is not None
        mimic = written.element(axis, "mimic", {"joint": leader.joint, "axis": tags[1]})
        _value(mimic, "multiplier", written.number(multiplier))
        _value(mimic, "offset", written.number(offset))
        _value(mimic, "reference", "0")


def _limit(axis: written.Element, freedom: Freedom, start: float) -> None:
    """Write the limits of a coordinate relative to its value ``start`` (rad, m) at the pose; 1e16 means no limit."""
    limit = written.element(axis, "limit")
    _value(limit, "lower", written.number(freedom.lower - start) if isfinite(freedom.lower) else "-1e16")
    _value(limit, "upper", written.number(freedom.upper - start) if isfinite(freedom.upper) else "1e16")
    if isfinite(freedom.effort):
        _value(limit, "effort", written.number(freedom.effort))
    if isfinite(freedom.velocity):
        _value(limit, "velocity", written.number(freedom.velocity))


def _pose(parent: written.Element, X: Pose, frame: str = "") -> None:
    made = written.element(parent, "pose", {"relative_to": frame} if frame else {})
    made.text = written.row((*X.p, *rpy_from_rotation(X.R)))


def _value(parent: written.Element, tag: str, text: str) -> written.Element:
    made = written.element(parent, tag)
    made.text = text
    return made


def _link(model: written.Element, body: Body, X_WL: Pose, solids: Sequence[Solid]) -> None:
    link = written.element(model, "link", {"name": body.name})
    _pose(link, X_WL)
    if not body.massless:
        _inertial(link, body)
    count: Counter[str] = Counter()
    for role, solid in in_roles(solids):
        count[role] += 1
        _shape(link, role, solid, count[role])


def _shape(link: written.Element, role: str, solid: Solid, count: int) -> None:
    made = written.element(link, role, {"name": f"{role}_{count}"})
    _pose(made, solid.X_LS)
    kind = written.element(written.element(made, "geometry"), solid.kind)
    if solid.kind == "mesh":
        _value(kind, "uri", solid.file)
        if set(solid.size) != {1.0}:
            _value(kind, "scale", written.row(solid.size))
    elif solid.kind == "box":
        _value(kind, "size", written.row(solid.size))
    elif solid.kind == "plane":
        _value(kind, "normal", "0 0 1")
        if solid.size:
            _value(kind, "size", written.row(solid.size))
    else:
        for key, value in zip(("radius", "length"), solid.size, strict=False):
            _value(kind, key, written.number(value))
    if solid.rgba and role == "visual":
        material = written.element(made, "material")
        for key in ("ambient", "diffuse"):
            _value(material, key, written.row(solid.rgba))


def _inertial(link: written.Element, body: Body) -> None:
    inertial = written.element(link, "inertial")
    _pose(inertial, Pose(np.eye(3), body.p_LC))
    _value(inertial, "mass", written.number(body.mass))
    inertia = written.element(inertial, "inertia")
    for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
        _value(inertia, f"i{'xyz'[i]}{'xyz'[j]}", written.number(body.I_C[i, j]))
