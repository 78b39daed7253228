"""URDF writer: a tree with link frames at the joints, and additional elements that close its loops.

Closures are written as ``<loop_joint>`` elements, which Isaac Sim and mbplugin read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite

import numpy as np

from mbplugin.errors import BadUsage
from mbplugin.model import Freedom, Pair, Pose, Scene, rpy_from_rotation
from mbplugin.model.mechanism import STANDARD_GRAVITY, WORLD, Body, Mechanism, Term, TreeJoint
from mbplugin.phrases import listed
from mbplugin.writers.shapes import Solid, Solids, in_roles, solids_of
from mbplugin.writers.written import (
    Element,
    Loss,
    Written,
    document_text,
    element,
    limited,
    number,
    row,
    unwritten,
    unwritten_constraints,
)

#: Joint types of URDF; ``spherical`` is an extension of PyBullet.
JOINTS = ("fixed", "revolute", "continuous", "prismatic", "planar", "spherical", "floating")
#: Closure types of ``<loop_joint>``.
LOOP_JOINTS = (
    *("fixed", "revolute", "continuous", "prismatic", "cylindrical", "universal", "spherical", "planar"),
    *("point-on-line", "point-on-plane"),
)
#: Written instead of a missing limit if a URDF must state one.
_NO_LIMIT = 1e16


def urdf_text(scene: Scene) -> Written:
    """Return the URDF of a scene, with the same joint coordinates.

    Raises
    ------
    BadUsage
        Several roots, or a joint or closure type that URDF does not have.
    """
    mech = scene.mechanism
    _require_tree(mech)
    # X_LN of the URDF frame N of each link, which is the frame of its joint on the link's side
    frames = {
        joint.outer: joint.pair.X_AP if joint.reversed else joint.pair.X_BS
        for joint in mech.tree.joints
        if joint.pair is not None
    }
    writing = _Writing(scene, frames, solids_of(scene, "urdf"))
    root = element(None, "robot", {"name": mech.name})
    if any(WORLD in (joint.inner, joint.outer) for joint in mech.tree.joints if joint.pair is not None):
        link = element(root, "link", {"name": WORLD})
        _shapes(link, writing.solids.of_body.get(WORLD, ()), Pose.identity())
    elif writing.solids.of_body.get(WORLD):
        writing.losses.append(Loss("shape", "shapes of the ground, which is not a link of the robot"))
    for body in mech.bodies:
        _link(root, body, frames.get(body.name, Pose.identity()), writing.solids.of_body.get(body.name, ()))
    for joint in mech.tree.joints:
        if joint.pair is not None and not (joint.pair.type == "floating" and joint.inner == WORLD):
            writing.joint(root, joint, joint.pair)
    for pair in mech.tree.cut:
        writing.closure(root, pair)
    writing.say_the_rest()
    held, losses = tuple(writing.held), tuple(writing.losses)
    return Written("urdf", document_text(root), held, losses, names_from=writing.solids.names_from(scene))


def _require_tree(mech: Mechanism) -> None:
    """Reject models with several roots or unsupported joints or closures."""
    roots = [
        j.outer
        for j in mech.tree.joints
        if j.pair is None or (j.pair.type == "floating" and j.inner == WORLD)
    ]
    grounded = any(
        j.inner == WORLD and j.pair is not None and j.pair.type != "floating" for j in mech.tree.joints
    )
    if len(roots) + grounded > 1:
        raise BadUsage(
            f"URDF has one root, and the model has {len(roots) + grounded}: {listed([*roots, *[WORLD] * grounded])}",
            remedy="write the model as SDF, MJCF or a scene",
        )
    if lost := [j.pair for j in mech.tree.joints if j.pair is not None and j.pair.type not in JOINTS]:
        raise BadUsage(
            f"URDF has no joint such as {lost[0].name!r} ({lost[0].type})",
            expected=f"joints of the types {', '.join(JOINTS)}",
            remedy="write the model as MJCF or a scene",
        )
    if lost := [pair for pair in mech.tree.cut if pair.type not in LOOP_JOINTS]:
        raise BadUsage(
            f"<loop_joint> has no closure such as {lost[0].name!r} ({lost[0].type})",
            expected=f"closures of the types {', '.join(LOOP_JOINTS)}",
            remedy="write the model as a scene",
        )


def _link(root: Element, body: Body, X_LN: Pose, solids: Sequence[Solid]) -> None:
    link = element(root, "link", {"name": body.name})
    X_NL = X_LN.inverse()
    if not body.massless:
        _inertial(link, body, X_NL)
    _shapes(link, solids, X_NL)


def _shapes(link: Element, solids: Sequence[Solid], X_NL: Pose) -> None:
    for role, solid in in_roles(solids):
        _shape(link, role, solid, X_NL)


def _inertial(link: Element, body: Body, X_NL: Pose) -> None:
    I_C = X_NL.R @ body.I_C @ X_NL.R.T
    inertial = element(link, "inertial")
    element(inertial, "origin", {"xyz": row(X_NL.apply(body.p_LC)), "rpy": "0 0 0"})
    element(inertial, "mass", {"value": number(body.mass)})
    entries = {f"i{'xyz'[i]}{'xyz'[j]}": number(I_C[i, j]) for i in range(3) for j in range(i, 3)}
    element(inertial, "inertia", entries)


def _shape(link: Element, role: str, solid: Solid, X_NL: Pose) -> None:
    made = element(link, role)
    _origin(made, "origin", X_NL @ solid.X_LS)
    geometry = element(made, "geometry")
    if solid.kind == "mesh":
        scale = {"scale": row(solid.size)} if set(solid.size) != {1.0} else {}
        element(geometry, "mesh", {"filename": solid.file, **scale})
    elif solid.kind == "box":
        element(geometry, "box", {"size": row(solid.size)})
    else:
        sizes = dict(zip(("radius", "length"), map(number, solid.size), strict=False))
        element(geometry, solid.kind, sizes)
    if solid.rgba and role == "visual":
        # in a URDF materials with the same name are identical, so name them by colour
        material = element(made, "material", {"name": "rgba_" + "_".join(f"{x:.4g}" for x in solid.rgba)})
        element(material, "color", {"rgba": row(solid.rgba)})


@dataclass(eq=False)
class _Writing:
    """One document under construction: the joints, and the notes about them."""

    scene: Scene
    frames: Mapping[str, Pose]
    solids: Solids
    held: list[str] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    unlimited: dict[str, list[str]] = field(default_factory=dict)

    def _in_link(self, body: str, X: Pose) -> Pose:
        return self.frames.get(body, Pose.identity()).inverse() @ X

    def joint(self, root: Element, joint: TreeJoint, pair: Pair) -> None:
        """Write a joint of the tree, with the inner link as parent and the outer one as child."""
        inner = pair.X_BS if joint.reversed else pair.X_AP
        made = element(root, "joint", {"name": pair.name, "type": self._type(pair)})
        _origin(made, "origin", self._in_link(joint.inner, inner))
        element(made, "parent", {"link": joint.inner})
        element(made, "child", {"link": joint.outer})
        if pair.type in ("revolute", "continuous", "prismatic", "planar"):
            # a reversed joint has the opposite axis, so that its coordinate stays the same
            element(made, "axis", {"xyz": row((0.0, 0.0, -1.0 if joint.reversed else 1.0))})
        if len(pair.freedoms) == 1:
            self._freedom(made, pair, pair.freedoms[0])
        elif any(freedom != Freedom() for freedom in pair.freedoms):
            self.losses.append(
                Loss("joint", f"limits, damping and friction of {pair.name!r}, which has several freedoms")
            )
        self._mimic(made, pair)

    def _type(self, pair: Pair) -> str:
        """Return the URDF type: a revolute joint without limits is continuous."""
        return "continuous" if pair.type == "revolute" and not limited(pair.freedoms[0]) else pair.type

    def _freedom(self, made: Element, pair: Pair, freedom: Freedom) -> None:
        stated = {
            "lower": freedom.lower if pair.type != "continuous" else -np.inf,
            "upper": freedom.upper if pair.type != "continuous" else np.inf,
            "effort": freedom.effort,
            "velocity": freedom.velocity,
        }
        if limited(freedom) or pair.type == "prismatic":
            # readers interpret missing limits of such joints as zero
            unlimited = [key for key, value in stated.items() if not isfinite(value)]
            stated |= {key: -_NO_LIMIT if key == "lower" else _NO_LIMIT for key in unlimited}
            if unlimited:
                self.unlimited[pair.name] = unlimited
        limits = {key: number(value) for key, value in stated.items() if isfinite(value)}
        if limits:
            element(made, "limit", limits)
        if freedom.damping or freedom.friction:
            entries = {"damping": number(freedom.damping), "friction": number(freedom.friction)}
            element(made, "dynamics", entries)

    def _mimic(self, made: Element, pair: Pair) -> None:
        for coupling in self.scene.mechanism.couplings:
            terms = coupling.terms
            if terms[0].joint != pair.name or not _is_mimic(self.scene.mechanism, coupling.terms):
                continue
            entries = {
                "joint": terms[1].joint,
                "multiplier": number(-terms[1].coefficient / terms[0].coefficient),
                "offset": number(coupling.offset / terms[0].coefficient),
            }
            element(made, "mimic", entries)
            return

    def closure(self, root: Element, pair: Pair) -> None:
        """Write a closure, with both frames relative to their links."""
        frames = [self._in_link(body, X) for body, X in ((pair.body_a, pair.X_AP), (pair.body_b, pair.X_BS))]
        root.append(loop_joint(pair, *frames))
        if any(freedom != Freedom() for freedom in pair.freedoms):
            self.losses.append(Loss("joint", f"limits, drive, damping and friction of closure {pair.name!r}"))

    def say_the_rest(self) -> None:
        """Note what URDF cannot state, and the large limits written for joints without limits."""
        by_keys: dict[str, list[str]] = {}
        for name, keys in self.unlimited.items():
            by_keys.setdefault(listed(keys), []).append(name)
        self.held += [
            f"no limit on {keys} of {listed(names)}, which a URDF must state: {_NO_LIMIT:g}"
            for keys, names in by_keys.items()
        ]
        mech = self.scene.mechanism
        lost = [c for c in mech.couplings if not _is_mimic(mech, c.terms)]
        seen: set[str] = set()
        for coupling in mech.couplings:
            if coupling not in lost and coupling.terms[0].joint in seen:
                lost.append(coupling)
            seen.add(coupling.terms[0].joint)
        self.losses += [
            Loss("coupling", f"coupling {one.name!r}, which is not a mimic of one joint by another")
            for one in lost
        ]
        self.losses += unwritten_constraints(mech, ("couplings",))
        self.losses += self.solids.losses
        self.held += self.solids.held
        self.losses += unwritten(self.scene, ("shapes",))
        if (mech.gravity - STANDARD_GRAVITY).any():
            self.losses.append(Loss("setting", f"gravity {row(mech.gravity)} m/s²"))
        if self.scene.state.q.any():
            self.losses.append(Loss("setting", "the pose: a URDF has joint coordinates of zero"))


def loop_joint(pair: Pair, X_AJ: Pose, X_BJ: Pose) -> Element:
    """Return the element of a closure, with its frames relative to the URDF links."""
    made = element(None, "loop_joint", {"name": pair.name, "type": pair.type})
    for tag, body, X in (("link1", pair.body_a, X_AJ), ("link2", pair.body_b, X_BJ)):
        element(made, tag, {"link": body, "xyz": row(X.p), "rpy": row(rpy_from_rotation(X.R))})
    if pair.type in ("revolute", "continuous", "prismatic", "planar", "cylindrical"):
        element(made, "axis", {"xyz": "0 0 1"})
    return made


def _is_mimic(mech: Mechanism, terms: tuple[Term, ...]) -> bool:
    """Return True if a coupling is between two joints of the tree with one freedom each."""
    return len(terms) == 2 and all(
        t.coefficient
        and t.joint in mech.tree.joint_of_pair
        and len(mech.pair_by_name[t.joint].kind.free) == 1
        for t in terms
    )


def _origin(parent: Element, tag: str, X: Pose) -> None:
    element(parent, tag, {"xyz": row(X.p), "rpy": row(rpy_from_rotation(X.R))})
