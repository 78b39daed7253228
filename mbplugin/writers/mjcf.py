"""MJCF writer: the tree at the state's pose, closures as equalities of sites, couplings as equalities of joints.

MuJoCo has two closures: ``<connect>`` (3 rows, a ball joint) and ``<weld>`` (6 rows). For any other closure the pair
joins a part of one body to the other body, and the part is welded to the rest, see :mod:`mbplugin.writers.written`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path

import numpy as np

from mbplugin.errors import BadUsage
from mbplugin.model import BodyPoses, DisjointSets, Pair, Request, Scene, forward
from mbplugin.model.mechanism import WORLD, Body, Mechanism, TreeJoint
from mbplugin.model.spatial import JointSpring, Pose, quaternion_from_rotation
from mbplugin.writers.shapes import Solid, Solids, is_mjcf, solids_of
from mbplugin.writers.written import (
    Element,
    Loss,
    Motion,
    WithStubs,
    Written,
    document_text,
    element,
    limited,
    motions_of,
    number,
    row,
    springs_between_points,
    unwritten,
    unwritten_constraints,
    with_stubs,
)

#: Types of closures that MuJoCo has, with their elements.
EQUALITIES = {"spherical": "connect", "fixed": "weld"}
#: MuJoCo's constraints are springs, by default so soft that a weld between slender parts yields by degrees; these
#: are stiff, with a time constant of two and a half of its steps (0.002 s). ``HARDEST`` are the stiffest impedances
#: that it allows: about a ten-thousandth of a velocity is left after one step.
HARDEST = (0.9999, 0.9999, 0.001, 0.5, 2.0)
_HARD = {"solref": "0.005 1", "solimp": " ".join(f"{value:g}" for value in HARDEST)}
#: Written for a missing limit on one side of a range; readers interpret it as no limit.
_NO_LIMIT = 1e15
#: MuJoCo's lower bound, kg and kg·m².
_LEAST_INERTIA = 1e-15
#: Relative excess of a moment over the sum of the others that may be rounding.
_ROUNDED = 1e-9
_SIGNS = (-1.0, 1.0)
#: Largest number of parts of a scene, including the ground, that contact bits can distinguish; and the number of parts
#: with a single robot.
_MOST_PARTS, _ONE_PART = 29, 2
#: Meshes below this volume are written as shells, since MuJoCo rejects volumes nearly this small, m³.
_LEAST_VOLUME = 1e-13


def mjcf_text(scene: Scene) -> Written:
    """Return the MJCF of a scene, with the same joint coordinates; the default pose is its state.

    Raises
    ------
    BadUsage
        A closure cannot be written as an equality or with a part of a body, or a moving body has no inertia.
    """
    made = mjcf_document(scene)
    return Written("mjcf", document_text(made.root), made.held, made.losses, names_from=made.names_from)


@dataclass(frozen=True, eq=False)
class MjcfDocument:
    """A scene as MJCF, before it becomes text.

    Parameters
    ----------
    root : Element
    held : tuple of str
        Parts of the model that are written in an equivalent form, one clause each.
    losses : tuple of Loss
    whole : WithStubs
        The mechanism as written, with parts of bodies for closures that are not equalities.
    names_from : Request, optional
        Request for the file to whose folder the names of meshes are relative.
    """

    root: Element
    held: tuple[str, ...]
    losses: tuple[Loss, ...]
    whole: WithStubs
    names_from: Request | None = None


def mjcf_document(scene: Scene) -> MjcfDocument:
    """Return the MJCF elements of a scene.

    Raises
    ------
    BadUsage
        A closure cannot be written as an equality or with a part of a body, or a moving body has no inertia.
    """
    stubbed = stubbed_closures(scene.mechanism)
    if lost := [pair for pair in stubbed if not pair.kind.has_coordinates]:
        raise BadUsage(
            f"MJCF has no closure such as {lost[0].name!r} ({lost[0].type})",
            expected="a closure with joint coordinates",
            remedy="write the model as a scene, which holds every type",
        )
    whole = with_stubs(scene.mechanism, scene.state, stubbed)
    _require_inertia(whole.mechanism)
    writing = _Writing(scene, whole.mechanism, whole.state.q)
    root = writing.document()
    held = [
        f"closure {pair.name!r} ({pair.type}): a part of a body on the pair, welded to the rest"
        for pair in stubbed
    ]
    names_from = writing.solids.names_from(scene)
    return MjcfDocument(root, (*held, *writing.held), tuple(writing.losses), whole, names_from)


def stubbed_closures(mech: Mechanism) -> tuple[Pair, ...]:
    """Return the closures that are written with parts of bodies."""
    return tuple(pair for pair in mech.tree.cut if pair.type not in EQUALITIES)


@dataclass(eq=False)
class _Writing:
    """One document under construction.

    Parameters
    ----------
    scene : Scene
        Source of everything except the constraints.
    mech : Mechanism
        The mechanism to write; its cut pairs are spherical or fixed.
    q : (nq,) array
    """

    scene: Scene
    mech: Mechanism
    q: np.ndarray
    motions: dict[tuple[str, str], Motion] = field(default_factory=dict)
    held: list[str] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    solids: Solids = field(default_factory=Solids)
    meshes: dict[tuple[object, ...], str] = field(default_factory=dict)
    parts: dict[str, int] = field(default_factory=dict)
    self_touching: bool = False

    def document(self) -> Element:
        """Return the root element."""
        mech = self.mech
        root = element(None, "mujoco", {"model": mech.name})
        compiler = element(root, "compiler", {"angle": "radian", "autolimits": "true"})
        element(root, "option", {"gravity": row(mech.gravity)})
        # geoms read from an MJCF file may touch each other by default
        self.self_touching = is_mjcf(self.scene)
        self.solids = solids_of(self.scene, "mjcf", _standing(mech))
        if any(self.solids.of_body.values()):
            # otherwise MuJoCo would compute masses of massless bodies from their shapes
            compiler.set("inertiafromgeom", "false")
            self._assets(root)
        poses = forward(mech, self.q)
        world = element(root, "worldbody")
        self._shapes(world, WORLD)
        elements = self._bodies(world, poses)
        equality = element(root, "equality")
        for pair in mech.tree.cut:
            self._closure(equality, elements, pair)
        self._screws(equality)
        self._couplings(equality)
        for lock in mech.locks:
            self._lock(equality, lock.joint, lock.freedoms, lock.name)
        if not len(equality):
            root.remove(equality)
        self._drives(root)
        self.losses += unwritten_constraints(mech, ("couplings", "locks"))
        self.losses += self.solids.losses
        self.held += self.solids.held
        if self.solids.touches and not self.self_touching:
            self.held.append(
                "shapes of a robot touch the ground and other robots, not each other, as elsewhere"
            )
        self.losses += unwritten(self.scene, ("springs", "actuators", "actuator_laws", "actuated", "shapes"))
        self.losses += springs_between_points(self.scene)
        if self.scene.options.planar is not None:
            self.losses.append(
                Loss(
                    "setting",
                    f"the plane {self.scene.options.planar}, to which the scene restricts the analysis",
                )
            )
        return root

    def _bodies(self, world: Element, poses: BodyPoses) -> dict[str, Element]:
        """Write all bodies, each inside its parent body."""
        mech = self.mech
        elements, X_W = {WORLD: world}, {WORLD: Pose.identity()}
        waiting: dict[str, list[Motion]] = {}
        folded = _folded(mech)
        into: dict[str, str] = {WORLD: WORLD}
        for joint in mech.tree.joints:
            body = mech.bodies[mech.body_index[joint.outer]]
            X_WL = poses.of(mech.body_index[body.name])
            motions = [*waiting.pop(joint.inner, ()), *motions_of(mech, joint, self.q, poses)]
            if body.name in folded:
                waiting[body.name], into[body.name] = motions, into[joint.inner]
                if self.solids.of_body.pop(body.name, ()):
                    why = "a body without mass between two joints becomes part of the next one"
                    self.losses.append(Loss("shape", f"shapes of {body.name!r}: {why}"))
                continue
            parent = into[joint.inner]
            into[body.name] = body.name
            X = X_W[parent].inverse() @ X_WL
            made = element(elements[parent], "body", {"name": body.name, **_placed(X)})
            if joint.pair is None or (joint.pair.type == "floating" and parent == WORLD):
                element(
                    made,
                    "freejoint",
                    {"name": joint.pair.name if joint.pair is not None else f"{joint.outer}_free"},
                )
            else:
                for motion in motions:
                    self._joint(made, motion, X_WL)
            _inertial(made, body)
            self._shapes(made, body.name)
            elements[body.name], X_W[body.name] = made, X_WL
        return elements

    def _assets(self, root: Element) -> None:
        """Write each combination of mesh and scale once, under a unique name."""
        made = element(root, "asset")
        for own in self.solids.of_body.values():
            for solid in own:
                if solid.kind != "mesh" or (key := _mesh_key(solid)) in self.meshes:
                    continue
                stem, count = Path(solid.file).stem or "mesh", 1
                name = stem
                while name in self.meshes.values():
                    count += 1
                    name = f"{stem}_{count}"
                self.meshes[key] = name
                element(made, "mesh", {"name": name, **_mesh(solid)})
        if not len(made):
            root.remove(made)

    def _shapes(self, body: Element, name: str) -> None:
        """Write the shapes of a body."""
        for solid in self.solids.of_body.get(name, ()):
            attributes = {"type": solid.kind, **_placed(solid.X_LS), **_sizes(solid)}
            if solid.kind == "mesh":
                attributes["mesh"] = self.meshes[_mesh_key(solid)]
            if solid.rgba:
                attributes["rgba"] = row(solid.rgba)
            if not solid.touches:
                attributes |= {"contype": "0", "conaffinity": "0"}
            elif not self.self_touching:
                attributes |= self._touching(name)
            if solid.seen != solid.touches:
                # MuJoCo's viewer displays group 2 and hides group 3
                attributes["group"] = "2" if solid.seen else "3"
            element(body, "geom", attributes)

    def _touching(self, name: str) -> dict[str, str]:
        """Return the contact bits of a body, so that its part of the scene collides with the others and the ground.

        All have contype bit 0, which default geoms accept. Each part has one more contype bit, which is in the
        conaffinity of the other parts only.
        """
        if not self.parts:
            mech, sets = self.scene.mechanism, DisjointSets[str]()
            for pair in mech.pairs:
                if WORLD not in pair.bodies:
                    sets.join(*pair.bodies)
            roots = {name: sets.find(name) for name in (WORLD, *(body.name for body in mech.bodies))}
            number = {root: k for k, root in enumerate(dict.fromkeys(roots.values()))}
            self.parts |= {body: number[root] for body, root in roots.items()}
        count = len(set(self.parts.values()))
        if count == _ONE_PART or count > _MOST_PARTS:
            return {"conaffinity": "0"}
        own, every = 2 << self.parts[name], (2 << count) - 2
        return {"contype": str(1 | own), "conaffinity": str(every & ~own)}

    def _joint(self, body: Element, motion: Motion, X_WL: Pose) -> None:
        """Write a simple joint, with position and axis in the body's frame at the pose."""
        self.motions[motion.pair, motion.component] = motion
        attributes = {"name": motion.name, "type": motion.kind}
        if motion.kind != "slide":
            attributes["pos"] = row(X_WL.inverse().apply(motion.point_W))
        if motion.kind != "ball":
            attributes["axis"] = row(X_WL.R.T @ motion.axis_W)
            if motion.value:
                attributes["ref"] = number(motion.value)
            attributes |= self._limits(motion) | self._spring(motion)
        freedom = motion.freedom
        attributes |= {
            key: number(value)
            for key, value in (
                ("damping", freedom.damping),
                ("frictionloss", freedom.friction),
                ("armature", self._armature(motion)),
            )
            if value
        }
        element(body, "joint", attributes)

    def _limits(self, motion: Motion) -> dict[str, str]:
        freedom = motion.freedom
        found = {}
        if limited(freedom) and freedom.lower < freedom.upper:
            lower, upper = np.clip((freedom.lower, freedom.upper), -_NO_LIMIT, _NO_LIMIT)
            found["range"] = row((lower, upper))
        elif limited(freedom):
            self.losses.append(
                Loss(
                    "joint",
                    f"the limits of {motion.name!r}, of which the lower one is not below the upper one",
                )
            )
        if isfinite(freedom.effort) and freedom.effort > 0:
            found["actuatorfrcrange"] = row(sign * freedom.effort for sign in _SIGNS)
        return found

    def _spring(self, motion: Motion) -> dict[str, str]:
        for spring in self.scene.springs:
            if isinstance(spring, JointSpring) and spring.joint in (motion.name, motion.pair):
                return {"stiffness": number(spring.stiffness), "springref": number(spring.rest)}
        return {}

    def _armature(self, motion: Motion) -> float:
        own = [a for a in self.scene.actuators if a.joint in (motion.name, motion.pair)]
        return sum(a.armature * a.gear_ratio**2 for a in own)

    def _closure(self, equality: Element, elements: Mapping[str, Element], pair: Pair) -> None:
        """Write a closure between two sites, which makes it independent of the pose."""
        sites = []
        for body, X, side in ((pair.body_a, pair.X_AP, "a"), (pair.body_b, pair.X_BS, "b")):
            sites.append(f"{pair.name}_{side}")
            element(elements[body], "site", {"name": sites[-1], **_placed(X)})
        ends = {"site1": sites[0], "site2": sites[1]}
        element(equality, EQUALITIES[pair.type], {"name": pair.name, **ends, **_HARD})

    def _screws(self, equality: Element) -> None:
        for pair in self.mech.pairs:
            if pair.type == "screw" and (pair.name, "rz") in self.motions:
                names = [self.motions[pair.name, c].name for c in ("tz", "rz")]
                # slide and hinge are both measured from the pose, so their relation has no offset
                slope = pair.lead / (2 * np.pi)
                self._joint_row(equality, f"{pair.name}_lead", names, 0.0, slope)
                self.held.append(f"screw {pair.name!r}: a slide and a hinge with a row between them")

    def _couplings(self, equality: Element) -> None:
        for coupling in self.mech.couplings:
            terms = [t for t in coupling.terms if t.coefficient]
            motions = [self.motions.get((t.joint, t.freedom)) for t in terms]
            known = [motion for motion in motions if motion is not None]
            if len(known) < len(motions) or len(known) not in (1, 2):
                self.losses.append(
                    Loss(
                        "coupling",
                        f"coupling {coupling.name!r}, which is not between two joints of one freedom each",
                    )
                )
                continue
            slope = -terms[1].coefficient / terms[0].coefficient if len(terms) == 2 else 0.0
            start = (
                sum(t.coefficient * self.motions[t.joint, t.freedom].value for t in coupling.terms)
                - coupling.offset
            ) / terms[0].coefficient
            self._joint_row(equality, coupling.name, [m.name for m in known], -start, slope)

    def _joint_row(
        self, equality: Element, name: str, joints: list[str], offset: float, slope: float
    ) -> None:
        """Write y − y₀ = offset + slope (x − x₀), with x₀ and y₀ the values at the pose."""
        attributes = {"name": name, "joint1": joints[0]}
        if len(joints) == 2:
            attributes["joint2"] = joints[1]
        attributes |= {"polycoef": row((offset, slope, 0.0, 0.0, 0.0)), **_HARD}
        element(equality, "joint", attributes)

    def _lock(self, equality: Element, pair: str, freedoms: tuple[str, ...], name: str) -> None:
        free = freedoms or self.mech.pair_by_name[pair].kind.free
        motions = [self.motions.get((pair, component)) for component in free]
        for motion in motions:
            if motion is None:
                self.losses.append(
                    Loss("constraint", f"the lock of {pair!r}, which is not a hinge or slide of the tree")
                )
                return
        for motion in motions:
            assert motion is not None
            own = name if len(motions) == 1 else f"{name} {motion.component}"
            self._joint_row(equality, own, [motion.name], 0.0, 0.0)

    def _drives(self, root: Element) -> None:
        """Write the actuators read from an MJCF file with their laws, and motors for all other drives of the scene."""
        of_joint: dict[str, list[Motion]] = {}
        for (pair, component), motion in self.motions.items():
            if component:
                of_joint.setdefault(pair, []).append(motion)
        actuator = element(None, "actuator")
        written, names = set(), set()
        for law in self.scene.actuator_laws:
            motions = of_joint.get(law.joint, [])
            if law.obstacle or len(motions) != 1:
                where = law.obstacle or f"its joint {law.joint!r} is none of the tree"
                self.losses.append(Loss("actuator", f"actuator {law.name!r}: {where}"))
                continue
            attributes = {"name": law.name, "joint": motions[0].name, **dict(law.attributes)}
            element(actuator, "general" if law.attributes else "motor", attributes)
            written.add(law.joint)
            names.add(law.name)
        for joint in self.scene.actuated:
            for motion in of_joint.get(joint, []) if joint not in written else []:
                if motion.name in names:
                    self.losses.append(
                        Loss("actuator", f"the drive of {motion.name!r}, whose name another actuator has")
                    )
                else:
                    element(actuator, "motor", {"name": motion.name, "joint": motion.name})
        if len(actuator):
            root.append(actuator)


def _require_inertia(mech: Mechanism) -> None:
    """Reject bodies that MuJoCo rejects.

    These are moving bodies without inertia, also in bodies welded to them, and bodies with impossible moments.
    """
    folded = _folded(mech)
    carried = {
        joint.inner for joint in mech.tree.joints if not _moves(joint) and _is_heavy(mech, joint.outer)
    }
    for joint in mech.tree.joints:
        name = joint.outer
        if _moves(joint) and name not in folded and name not in carried and not _is_heavy(mech, name):
            body = mech.bodies[mech.body_index[name]]
            a, _, c = np.linalg.eigvalsh(body.I_C)
            raise BadUsage(
                f"body {name!r} moves, and has mass {body.mass:g} kg and moments of inertia {a:g} to {c:g} kg·m²",
                expected="mass and inertia of every body that moves in an MJCF file",
                remedy="state its inertia, or --base fixed (base='fixed') where it is the root",
            )
    for body in mech.bodies:
        a, b, c = np.linalg.eigvalsh(body.I_C)
        if not body.massless and a + b < (1 - _ROUNDED) * c:
            raise BadUsage(
                f"body {body.name!r} has moments of inertia {a:g}, {b:g} and {c:g} kg·m², which no body can have",
                expected="no moment that is larger than the sum of the other two: MuJoCo refuses it",
                remedy="correct its inertia (mbplugin lint tells which moments it may have)",
            )


def _moves(joint: TreeJoint) -> bool:
    return joint.pair is None or bool(joint.pair.kind.free)


def _is_heavy(mech: Mechanism, name: str) -> bool:
    body = mech.bodies[mech.body_index[name]]
    return body.mass > _LEAST_INERTIA and bool(np.linalg.eigvalsh(body.I_C)[0] > _LEAST_INERTIA)


def _folded(mech: Mechanism) -> frozenset[str]:
    """Return the massless bodies between two joints, which MuJoCo rejects; the next body gets both joints."""
    outer: dict[str, list[TreeJoint]] = {}
    for joint in mech.tree.joints:
        outer.setdefault(joint.inner, []).append(joint)
    ends = {body for pair in mech.tree.cut for body in pair.bodies}
    return frozenset(
        body.name
        for body in mech.bodies
        if body.massless
        and body.name not in ends
        and (own := mech.tree.joint_of_body[body.name].pair) is not None
        and own.kind.free
        and len(following := outer.get(body.name, [])) == 1
        and following[0].pair is not None
        and following[0].pair.kind.free
    )


def _placed(X: Pose) -> dict[str, str]:
    """Return pos and quat (scalar first) of a pose; an identity rotation is omitted."""
    found = {"pos": row(X.p)}
    x, y, z, w = quaternion_from_rotation(X.R)
    if (x, y, z) != (0.0, 0.0, 0.0):
        found["quat"] = row((w, x, y, z))
    return found


def _inertial(parent: Element, body: Body) -> None:
    """Write mass and principal inertias, unless the body is massless."""
    if body.massless:
        return
    moments, axes = np.diag(body.I_C).copy(), np.eye(3)
    if (body.I_C - np.diag(moments)).any():
        moments, axes = np.linalg.eigh(body.I_C)
        axes[:, 0] *= np.linalg.det(axes)
    # in a flat body the largest moment is the sum of the others; MuJoCo rejects one larger by rounding
    largest = int(np.argmax(moments))
    moments[largest] = min(moments[largest], float(np.delete(moments, largest).sum()))
    principal = _placed(Pose(axes, body.p_LC))
    element(parent, "inertial", {**principal, "mass": number(body.mass), "diaginertia": row(moments)})


def _standing(mech: Mechanism) -> frozenset[str]:
    """Return the bodies fixed to the world in the tree, and the world."""
    found = {WORLD}
    for joint in mech.tree.joints:
        if joint.inner in found and not _moves(joint):
            found.add(joint.outer)
    return frozenset(found)


def _mesh_key(solid: Solid) -> tuple[object, ...]:
    """Return the key of a mesh: file or vertices, and scale."""
    return solid.file or id(solid.vertices), solid.size


def _mesh(solid: Solid) -> dict[str, str]:
    """Return the attributes of a mesh; one with nearly no volume gets the inertia of a shell."""
    found = {"scale": row(solid.size)} if set(solid.size) != {1.0} else {}
    if solid.file:
        found["file"] = solid.file
    elif solid.vertices is not None:
        # in single precision, like MuJoCo's
        found["vertex"] = " ".join(f"{x:.7g}" for x in (solid.vertices + 0.0).ravel().tolist())
        if solid.faces is not None:
            found["face"] = " ".join(map(str, solid.faces.ravel().tolist()))
    if solid.vertices is not None and solid.faces is not None and _volume(solid) < _LEAST_VOLUME:
        found["inertia"] = "shell"
    return found


def _volume(solid: Solid) -> float:
    """Return the volume inside the triangles of a mesh, m³."""
    assert solid.vertices is not None and solid.faces is not None
    a, b, c = (solid.vertices[solid.faces[:, k]] for k in range(3))
    return abs(float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6 * np.prod(solid.size)))


def _sizes(solid: Solid) -> dict[str, str]:
    """Return the size of a geom, with halved edges and lengths."""
    size = solid.size
    if solid.kind == "mesh":
        return {}
    if solid.kind == "box":
        return {"size": row(x / 2 for x in size)}
    if solid.kind == "sphere":
        return {"size": row(size)}
    if solid.kind == "plane":
        return {"size": row((*(x / 2 for x in size or (0.0, 0.0)), 1.0))}
    return {"size": row((size[0], size[1] / 2))}
