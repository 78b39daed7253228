"""A robot on the ground: the assumed base where its file states none, and the contacts of one that stands.

Arms are bolted down, wheeled and legged robots are not. A URDF cannot state the base: the same file describes an arm on
a table and one in space. PyBullet lets it fall unless its caller says otherwise. Stopping and reactions of a falling
arm are of no interest, so these analyses assume an arm to be bolted down, and say so. Analyses of joints one by one
(stopping tables, worst stops, engines side by side) hold any other robot's base as well, as on a stand. An arm
satisfies these conditions:

1. Neither the file nor the call states the base, and nothing ties the robot to the ground.
2. It is connected and has one root. Its limbs are the parts that move on the bodies rigidly connected to the root.
3. It is not a vehicle. No name contains a word for wheels, legs, rotors or thrusters; no two limbs end in wheels; no
   three limbs are single vertical axes without limits; and no two limbs reach lower than the root's rigid group at the
   pose of the file, as legs do (but fingers of a hand may).

Contacts of a robot that stands are the lowest points of its collision shapes. A sphere touches at one point, a capsule
at two, a cylinder at the lowest points of its rims, a box or a mesh at the corners of its lowest face: at most four of
their convex hull. A face smaller than ``_SMALL`` of the robot's size, such as the bottom of a tessellated ball, is one
point. The ground is not modelled: its normal is against gravity at every contact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from mbplugin.errors import BadNumber, BadUsage, UnknownName, suggestion
from mbplugin.model import WORLD, AnyArray, Array, DisjointSets, Mechanism, Pose, TreeJoint, mechanism_of
from mbplugin.model.mechanism import kinematics
from mbplugin.model.mechanism.pair import LARGEST_FRICTION, MOST_CONTACTS, Contact
from mbplugin.model.scene import Scene, Shape, in_coordinates_of, require_kind, require_table
from mbplugin.phrases import WORD_IN_NAME, Assumption, counted, listed
from mbplugin.readers import ModelSource, format_name, model_of
from mbplugin.readers.meshes import UnusableMesh, mesh_file, read_mesh
from mbplugin.readers.unread import with_fixed_roots

#: Keys of a ``[[contact]]`` table.
CONTACT_KEYS = ("body_a", "mu", "point", "normal", "body_b", "name")
ContactLike = Contact | Mapping[str, Any]


def read_contacts(mech: Mechanism, contacts: Iterable[ContactLike]) -> tuple[Contact, ...]:
    """Read contacts, check that every body exists, and name those without a name.

    Parameters
    ----------
    contacts : iterable of Contact or mapping
        A mapping has the keys of a scene's ``[[contact]]``: body_a, the body that is pushed; point (m, link frame of
        body_a); normal (world axes, into body_a); mu; body_b, by default the ground; name.

    Raises
    ------
    UnknownName
        A body does not exist, or a key is unknown.
    BadUsage, BadNumber
        A value is missing or impossible.
    """
    found: list[Contact] = []
    for contact in contacts:
        if len(found) == MOST_CONTACTS:
            raise BadUsage(
                f"there are more than {MOST_CONTACTS} contacts", expected=f"{MOST_CONTACTS} at most"
            )
        read = _from_table(contact) if isinstance(contact, Mapping) else contact
        require_kind("contact", read, Contact, CONTACT_KEYS)
        for name in (read.body, read.on):
            if name not in mech.body_index:
                raise UnknownName(
                    f"a contact names {name!r}, which is not a body of {mech.name!r}",
                    remedy=suggestion(name, [body.name for body in mech.bodies]),
                )
        found.append(read)
    return tuple(named(found, [constraint.name for constraint in mech.constraints()]))


def _from_table(table: Mapping[str, Any]) -> Contact:
    require_table("contact", table, CONTACT_KEYS, 0.8)
    body = table["body_a"]
    for key in ("mu", "point", "normal"):
        if key not in table:
            raise BadUsage(f"the contact of {body!r} has no {key}", expected="body_a, mu, point and normal")
    try:
        point, normal = (np.array(table[key], dtype=float) for key in ("point", "normal"))
        mu = float(table["mu"])
    except (TypeError, ValueError):
        raise BadUsage(
            f"the contact of {body!r} has a point, a normal or a mu that is not a number",
            expected="three numbers each, and one of mu",
        ) from None
    return Contact(str(table.get("name", "")), str(body), point, normal, mu, str(table.get("body_b", WORLD)))


def named(contacts: Iterable[Contact], taken: Iterable[str] = ()) -> Iterator[Contact]:
    """Yield the contacts, those without a name as ``contact BODY``, numbered if the body has several."""
    own = list(contacts)
    used = {*taken, *(contact.name for contact in own)}
    unnamed = Counter(contact.body for contact in own if not contact.name)
    number: Counter[str] = Counter()
    for contact in own:
        if contact.name:
            yield contact
            continue
        name = f"contact {contact.body}"
        while name in used or unnamed[contact.body] > 1:
            number[contact.body] += 1
            name = f"contact {contact.body} {number[contact.body]}"
            if name not in used:
                break
        used.add(name)
        yield replace(contact, name=name)


#: Words in names of parts that roll, walk, fly or swim.
_VEHICLE = {
    *("wheel", "wheels", "caster", "castor", "footprint", "propeller", "rotor", "thruster", "flying"),
    *("leg", "legs", "foot", "feet", "hip", "thigh", "calf", "shin", "knee", "ankle", "toe"),
}
#: Of these, the words in names of parts that do not touch the ground; motors have rotors as well.
_FLIES = {"propeller", "rotor", "thruster", "flying"}
#: Words in names of the first bodies of a hand, whose fingers may hang down like legs.
_HAND = {"finger", "fingers", "fingertip", "thumb", "index", "pinky", "knuckle", "jaw", "gripper"}
#: Least cosine of the angle between a rotor's axis and gravity (the axis is vertical).
_VERTICAL = 0.95
#: Least distance that a leg reaches below its base, as a fraction of the robot's height.
_LOWER = 0.05
#: Largest distance of a wheel's centre of mass from its axis (a wheel is balanced), m.
_BALANCED = 1e-3
#: Largest cosine of the angle between a wheel's axis and gravity (the axis is level).
_LEVEL = 0.5
#: Maximum number of moving joints up to a wheel, including that of the base: a wheel may steer and spin.
_MOST_JOINTS = 3
#: Coefficient of friction of rubber on a dry floor, assumed if none is stated.
FRICTION = 0.8
#: Links that reach to this fraction of the robot's size above its lowest point touch the ground.
TOUCHING = 0.01
#: Points of a link up to this fraction of the robot's size above its lowest point are its lowest face.
_FACE = 1e-3
#: A face up to this fraction of the robot's size wide is one point.
_SMALL = 0.02
#: Largest number of points of one link.
_MOST = 4
#: Number of points on the rim of an upright cylinder.
_RIM = 8
#: Sine of the angle between a cylinder's axis and gravity below which it is upright.
_UPRIGHT = 1e-3
_CORNERS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float)


def standing(
    source: ModelSource, *stated: kinematics.JointValues, on_stand: bool = False
) -> Scene | Mechanism:
    """Return the model for an analysis of a standing robot: an arm whose base is not stated is bolted down.

    The base stays free if a call states its coordinates, rates or accelerations (``stated``).

    Parameters
    ----------
    on_stand : bool
        As for :func:`bolted_down`.

    Raises
    ------
    MbPluginError
        A file or a client cannot be used.
    """
    model = model_of(source)
    if not isinstance(model, Scene) or any(_names_base(model.mechanism, values) for values in stated):
        return model
    return bolted_down(model, on_stand=on_stand)


def on_stand(source: ModelSource, *stated: kinematics.JointValues) -> Scene | Mechanism:
    """Return the model for stops of its joints one by one: its base is held, even one that its file leaves free.

    Every body that nothing ties to the ground is fixed to it at the pose of the scene, and ``base="fixed"`` is stored
    in the request. A base that the call frees (``base="free"``) or moves (``stated``) stays free, and so do the bodies
    of a scene file, which states what holds them.

    Raises
    ------
    MbPluginError
        A file or a client cannot be used.
    """
    model = standing(source, *stated)
    if not isinstance(model, Scene) or any(_names_base(model.mechanism, values) for values in stated):
        return model
    mech, request = model.mechanism, model.request
    roots = [joint for joint in mech.tree.joints if joint.pair is None]
    if not roots or (request is not None and (request.base == "free" or format_name(request) == "scene")):
        return model
    names = {name for root in roots for name in mech.q_names[root.q]}
    if model.state.given & names or any(model.state.qd[root.qd].any() for root in roots):
        return model
    again = None if request is None else replace(request, base="fixed")
    return replace(_fixed_to_ground(model, roots), request=again)


def in_motion(model: Scene | Mechanism, *stated: kinematics.JointValues) -> Scene | Mechanism:
    """Return the model for a motion: a base without mass that neither file nor call states free is bolted down.

    Nothing moves such a base, and PyBullet holds it too. Any other base stays as it is.
    """
    roots = [joint.outer for joint in mechanism_of(model).tree.joints if joint.pair is None]
    if len(roots) != 1 or not isinstance(model, Scene):
        return model
    mech, group = model.mechanism, kinematics.rigid_groups(model.mechanism)[roots[0]]
    if any(not body.massless for body in mech.bodies if body.name in group):
        return model
    return standing(model, *stated, on_stand=True)


def _names_base(mech: Mechanism, values: kinematics.JointValues) -> bool:
    if values is None:
        return False
    if not isinstance(values, Mapping):
        return len(values) in (len(mech.q_names), len(mech.qd_names))
    roots = [joint.outer for joint in mech.tree.joints if joint.pair is None]
    return any(name == root or name.startswith(f"{root}.") for name in values for root in roots)


def taken_in(scene: Scene, mech: Mechanism) -> Scene:
    """Return the scene as used for a result with this mechanism, which names the bases that it took as fixed."""
    roots = [joint for joint in scene.mechanism.tree.joints if joint.pair is None]
    held = [joint for joint in roots if joint.outer in mech.assumed_fixed]
    return _fixed_to_ground(scene, held) if held else scene


def bolted_down(scene: Scene, *, on_stand: bool = False) -> Scene:
    """Return the scene with its root fixed to the ground if it is an arm and its base is not stated.

    The mechanism states this in ``assumed_fixed``. Any other scene is returned unchanged.

    Parameters
    ----------
    on_stand : bool
        Whether the base of a robot on wheels or legs is held as well, as on a stand: for analyses of its joints one
        by one, which mean nothing while it falls.
    """
    mech = scene.mechanism
    roots = [joint for joint in mech.tree.joints if joint.pair is None]
    if not scene.base_open or len(roots) != 1 or _tied(mech, roots[0].outer):
        return scene
    stated = scene.state.given & {*mech.q_names[roots[0].q]}
    if stated or scene.state.qd[roots[0].qd].any():
        return scene
    if not on_stand and _is_vehicle(scene, roots[0].outer):
        return scene
    return _fixed_to_ground(scene, roots)


def _fixed_to_ground(scene: Scene, roots: Sequence[TreeJoint]) -> Scene:
    """Return the scene with all its roots fixed to the ground at its pose; the mechanism states them as assumed."""
    mech, names = scene.mechanism, [root.outer for root in roots]
    poses = kinematics.forward(mech, scene.state.q)
    held = with_fixed_roots(mech, {name: poses.of(mech.body_index[name]) for name in names})
    fixed = replace(held, assumed_fixed=tuple(names))
    origin = dict(scene.origin)
    for name, pair in zip(names, fixed.pairs, strict=False):
        if ("body", name, "") in origin:
            origin["constraint", pair.name, ""] = origin["body", name, ""]
    state = in_coordinates_of(fixed, mech, scene.state)
    return replace(scene, mechanism=fixed, state=state, origin=origin, base_open=False)


def stands(model: Scene | Mechanism, *stated: kinematics.JointValues) -> bool:
    """Return True if a robot has legs or wheels on which it can stand: shapes, and one free root, tied to nothing.

    False if a call states the motion of its base (``stated`` rates and accelerations).
    """
    if not isinstance(model, Scene) or any(_names_base(model.mechanism, values) for values in stated):
        return False
    mech = model.mechanism
    roots = [joint.outer for joint in mech.tree.joints if joint.pair is None]
    if len(roots) != 1 or not mech.gravity.any() or not any(model.shapes.values()):
        return False
    if _tied(mech, roots[0]):
        return False
    names = [*(body.name for body in mech.bodies), *(pair.name for pair in mech.pairs)]
    if _speaks_of(_VEHICLE - _FLIES, names):
        return True
    if _speaks_of(_FLIES, names):
        return False
    return len(likely_wheels(mech)) >= 2 or len(feet(mech, kinematics.forward(mech, model.state.q))) >= 2


def _tied(mech: Mechanism, root: str) -> bool:
    """Return True if something ties a robot to the ground; other models of a world, such as its ground, do not."""
    own = _of_robot(mech, root)
    return bool(mech.pfaffians) or any(
        WORLD in pair.bodies and not own.isdisjoint(pair.bodies) for pair in mech.pairs
    )


def _of_robot(mech: Mechanism, root: str) -> set[str]:
    """Return the bodies that pairs connect to a root, not through the ground."""
    sets: DisjointSets[str] = DisjointSets()
    for pair in mech.pairs:
        if WORLD not in pair.bodies:
            sets.join(pair.body_a, pair.body_b)
    return {body.name for body in mech.bodies if sets.find(body.name) == sets.find(root)}


def _is_vehicle(scene: Scene, root: str) -> bool:
    mech = scene.mechanism
    names = (*(body.name for body in mech.bodies), *(pair.name for pair in mech.pairs))
    if _speaks_of(_VEHICLE, names):
        return True
    limbs = list(_limbs(mech, root))
    poses = kinematics.forward(mech, scene.state.q)
    wheels = [body for body in likely_wheels(mech) if not _follows(mech, mech.tree.joint_of_body[body])]
    rotors = [limb for limb in limbs if len(limb) == 1 and _is_rotor(mech, limb[0], poses)]
    return not limbs or len(wheels) >= 2 or len(rotors) >= 3 or len(feet(mech, poses)) >= 2


def cannot_stand(error: BadUsage) -> Assumption:
    """Return the note that the base of a robot is held because it cannot stand on its lowest links."""
    return Assumption(
        f"At this pose the robot cannot stand on its lowest links ({error.what}), so its base is held: "
        "--stance (stance=[...]) names the links that touch the ground, --q another pose.",
        "base held, as the robot cannot stand at this pose (--stance, --q)",
    )


def require_stance_for(friction: float | None) -> None:
    """Refuse a coefficient of friction that no contact has.

    Raises
    ------
    BadUsage
        A coefficient is given.
    """
    if friction is not None:
        raise BadUsage(
            "a coefficient of friction is given, but no stance", expected="stance (--stance) as well"
        )


def require_free_base(mech: Mechanism) -> None:
    """Refuse a stance of a robot that is bolted down.

    Raises
    ------
    BadUsage
        No body of the mechanism moves freely in the world.
    """
    if all(joint.pair is not None for joint in mech.tree.joints):
        raise BadUsage(
            f"a stance is given for {mech.name!r}, whose base is fixed",
            expected="a robot with a free base",
            remedy="free it (base='free' or --base free), or leave the stance out",
        )


def _speaks_of(words: Collection[str], names: Iterable[str]) -> bool:
    return any(word.lower() in words for name in names for word in WORD_IN_NAME.findall(name))


def _limbs(mech: Mechanism, root: str) -> Iterator[list[TreeJoint]]:
    """Yield the moving joints of every limb, from the root outwards; chains that a loop connects are one limb."""
    base = kinematics.rigid_groups(mech)[root]
    limbs: list[list[TreeJoint]] = []
    limb_of: dict[str, int] = {}
    for joint in mech.tree.joints:
        # what is tied to the ground is no limb of a base that moves
        if (
            joint.pair is None
            or joint.outer in base
            or (joint.inner not in base and joint.inner not in limb_of)
        ):
            continue
        if joint.inner in base:
            limbs.append([])
        limb_of[joint.outer] = len(limbs) - 1 if joint.inner in base else limb_of[joint.inner]
        limbs[limb_of[joint.outer]].append(joint)
    # the arms of a delta robot meet at its platform: they are no legs
    for pair in mech.tree.cut:
        first, second = (limb_of.get(body) for body in pair.bodies)
        if first is None or second is None or first == second:
            continue
        first, second = min(first, second), max(first, second)
        limbs[first] += limbs[second]
        limbs[second] = []
        limb_of.update({joint.outer: first for joint in limbs[first]})
    yield from filter(None, limbs)


def _is_rotor(mech: Mechanism, joint: TreeJoint, poses: kinematics.BodyPoses) -> bool:
    if joint.pair is None or joint.pair.type != "continuous" or _follows(mech, joint):
        return False
    S, _ = kinematics.joint_axes(mech, joint, poses)
    return abs(float(S[3:, 0] @ _up(mech))) > _VERTICAL


def _follows(mech: Mechanism, joint: TreeJoint) -> bool:
    return joint.pair is not None and kinematics.follows(mech, joint.pair)


def _up(mech: Mechanism) -> Array:
    """Return the upward direction (3,), against gravity; z without gravity."""
    return -mech.gravity / np.linalg.norm(mech.gravity) if mech.gravity.any() else np.array([0.0, 0.0, 1.0])


def feet(mech: Mechanism, poses: kinematics.BodyPoses) -> tuple[str, ...]:
    """Return the feet of a robot with a free base: the lowest body of each limb that reaches below its base.

    Empty if fewer than two limbs do, or if the limbs are fingers.
    """
    roots = [joint.outer for joint in mech.tree.joints if joint.pair is None]
    if len(roots) != 1:
        return ()
    up = _up(mech)
    heights = {body.name: float(up @ poses.of(i).p) for i, body in enumerate(mech.bodies)}
    lowest = min(heights[name] for name in kinematics.rigid_groups(mech)[roots[0]] if name != WORLD)
    lowest -= _LOWER * (max(heights.values()) - min(heights.values()))
    limbs = [[joint.outer for joint in limb] for limb in _limbs(mech, roots[0])]
    if _speaks_of(_HAND, (bodies[0] for bodies in limbs)):
        return ()
    ends = (min(bodies, key=heights.__getitem__) for bodies in limbs)
    found = tuple(end for end in ends if heights[end] < lowest)
    return found if len(found) >= 2 else ()


# The wheels of a robot: those stated to touch the ground, else bodies that look like wheels.


def stated_wheels(mech: Mechanism) -> tuple[str, ...]:
    """Return the bodies with a stated wheel or knife edge on the ground."""
    return tuple(dict.fromkeys(pfaffian.body for pfaffian in mech.pfaffians))


def likely_wheels(mech: Mechanism) -> tuple[str, ...]:
    """Return the bodies on a mobile base that turn without limits about a level axis through their centre of mass.

    URDF does not state which bodies touch the ground.
    """
    poses = kinematics.forward(mech, kinematics.home(mech))
    return tuple(
        joint.outer
        for joint in mech.tree.joints
        if turns_like_a_wheel(mech, joint, poses) and _on_mobile_base(mech, joint)
    )


def turns_like_a_wheel(mech: Mechanism, joint: TreeJoint, poses: kinematics.BodyPoses) -> bool:
    """Return True if a joint without limits turns one body about a level axis through its centre of mass."""
    if joint.pair is None or joint.pair.type != "continuous":
        return False
    in_loops, carried = {body for pair in mech.tree.cut for body in pair.bodies}, _carried(mech, joint)
    return in_loops.isdisjoint(carried) and _is_balanced_and_level(mech, joint, poses, carried)


def moves(joint: TreeJoint) -> bool:
    """Return True if a tree joint has a degree of freedom; a free root has six."""
    return joint.pair is None or bool(joint.pair.kind.free)


def _carried(mech: Mechanism, joint: TreeJoint) -> list[str]:
    """Return the body of a joint and those fixed to it; empty if another body moves on them."""
    found = [joint.outer]
    for other in mech.tree.joints:
        if other.inner in found:
            if moves(other):
                return []
            found.append(other.outer)
    return found


def _on_mobile_base(mech: Mechanism, joint: TreeJoint) -> bool:
    """Return True if few joints connect a body to a base that moves freely or in a plane."""
    way = [j for j in mech.tree.way_in(joint.outer) if moves(j)]
    root = way[-1].pair
    return len(way) <= _MOST_JOINTS and (root is None or root.type in ("planar", "floating"))


def _is_balanced_and_level(
    mech: Mechanism, joint: TreeJoint, poses: kinematics.BodyPoses, carried: list[str]
) -> bool:
    """Return True if the axis of a joint is level and contains the centre of mass of the carried bodies."""
    if not carried:
        return False
    S, on_axis = kinematics.joint_axes(mech, joint, poses)
    axis, down = S[3:, 0], mech.gravity
    rows = [mech.body_index[name] for name in carried]
    masses = np.array([mech.bodies[i].mass for i in rows])
    off = np.average(poses.p_WC[rows], axis=0, weights=masses) - on_axis if masses.sum() > 0 else np.zeros(3)
    balanced = np.linalg.norm(np.cross(axis, off)) < _BALANCED
    return bool(balanced and abs(axis @ down) <= _LEVEL * np.linalg.norm(down))


@dataclass(frozen=True, eq=False)
class Stance:
    """The links on which a robot stands, and their contacts.

    Parameters
    ----------
    links : tuple of str
    contacts : tuple of Contact
    friction : float
        Coefficient of friction of all contacts.
    assumed : bool
        Whether the links are assumed, not named.
    assumed_friction : bool
        Whether the coefficient is assumed, not stated.
    notes : tuple of str
        What the shapes do not say.
    """

    links: tuple[str, ...]
    contacts: tuple[Contact, ...]
    friction: float
    assumed: bool
    assumed_friction: bool
    notes: tuple[str, ...] = ()


def stance_of(
    scene: Scene,
    mech: Mechanism,
    poses: kinematics.BodyPoses,
    links: Iterable[str] | None,
    friction: float | None,
) -> Stance:
    """Return the contacts of a robot at a pose with the ground below it.

    Parameters
    ----------
    mech : Mechanism
        With the bodies of the scene.
    links : iterable of str, or None
        Names of the links that touch, or patterns such as ``*_foot``, each with its lowest points; None selects the
        links that reach the lowest height.
    friction : float or None
        Coefficient of friction, by default ``FRICTION``.

    Raises
    ------
    UnknownName
        No link has the name.
    BadUsage, BadNumber
        There is no gravity, the links have no shapes, or the friction is impossible.
    """
    if not mech.gravity.any():
        raise BadUsage(
            "the direction of the ground is unknown without gravity", expected="gravity, or contacts"
        )
    mu = FRICTION if friction is None else friction
    if not 0 <= mu <= LARGEST_FRICTION:
        raise BadNumber(
            f"the coefficient of friction is {mu!r}", expected=f"a number from 0 to {LARGEST_FRICTION:g}"
        )
    up = -mech.gravity / np.linalg.norm(mech.gravity)
    lowest, notes = _lowest_points(scene, mech, poses, up)
    roots = [joint.outer for joint in mech.tree.joints if joint.pair is None]
    # what else stands in the world, such as a ground plane or a table, carries the robot only where links are named
    robot = set[str]().union(*(_of_robot(mech, root) for root in roots))
    if links is None and roots:
        lowest = {name: points for name, points in lowest.items() if name in robot}
    wanted = None if links is None else _matching(mech, links)
    if wanted is not None and (shapeless := [name for name in wanted if name not in lowest]):
        raise BadUsage(
            f"{listed(shapeless)} {'has' if len(shapeless) == 1 else 'have'} no shape that can touch the ground",
            expected="links with collision shapes",
            remedy="state a [[contact]] in a scene (contacts=[...])",
        )
    if not lowest:
        raise BadUsage(
            f"no link of {mech.name!r} has a shape that could stand on the ground",
            expected="collision shapes",
            remedy="state each [[contact]] in a scene (contacts=[...])",
        )
    everything = np.vstack(list(lowest.values()))
    size = float(np.linalg.norm(np.ptp(everything, axis=0))) or 1.0
    heights = {name: float((points @ up).min()) for name, points in lowest.items()}
    if wanted is None:
        limit = min(heights.values()) + TOUCHING * size
        wanted = tuple(name for name, height in heights.items() if height <= limit)
    elif (spread := float(np.ptp([heights[name] for name in wanted]))) > TOUCHING * size:
        notes = (*notes, f"the links that touch are at heights that differ by {spread:.4g} m")
    rigid = kinematics.rigid_groups(mech)
    together = [(name,) for name in wanted] if links is not None else _grouped(wanted, rigid)
    found = _faces(lowest, together, up, size)
    contacts = [
        Contact("", name, poses.of(mech.body_index[name]).inverse().apply(point), up, mu)
        for name, points in found.items()
        for point in points
    ]
    taken = [constraint.name for constraint in mech.constraints()]
    return Stance(
        tuple(found), tuple(named(contacts, taken)), mu, links is None, friction is None, tuple(notes)
    )


def _grouped(names: Iterable[str], rigid: Mapping[str, frozenset[str]]) -> list[tuple[str, ...]]:
    """Return the names by rigid group: a leg and the toe welded to it have one lowest face."""
    groups: dict[frozenset[str], list[str]] = {}
    for name in names:
        groups.setdefault(rigid[name], []).append(name)
    return [tuple(group) for group in groups.values()]


def stance_sentence(stance: Stance | None) -> tuple[str, ...]:
    """Return a sentence on the assumptions of a stance, and how to change them; empty if nothing is."""
    if stance is None or not (stance.assumed or stance.assumed_friction):
        return ()
    count = len(stance.contacts)
    said = f"taken as standing on {count} contact{'s' if count != 1 else ''}: {listed(stance.links)}"
    if stance.assumed_friction:
        mu = f"{stance.friction:g}"
        said += f"; the coefficient of friction is assumed to be {mu}: --friction (friction=...) changes it"
    if stance.assumed:
        said += "; --stance (stance=[...]) names the links that touch the ground"
    short = f"standing on {counted(count, 'contact')}, friction {stance.friction:g} (--stance, --friction)"
    return (Assumption(said + ".", short),)


def _matching(mech: Mechanism, links: Iterable[str]) -> tuple[str, ...]:
    """Return the bodies with given names or patterns, in file order."""
    known = [body.name for body in mech.bodies]
    wanted: set[str] = set()
    stated: set[str] = set()
    for name in links:
        if name in stated:
            raise BadUsage(f"the stance names {name!r} twice", expected="each link or pattern once")
        stated.add(name)
        found = [own for own in known if own == name] or [own for own in known if fnmatchcase(own, name)]
        if not found:
            raise UnknownName(
                f"the stance names {name!r}, which is not a link of {mech.name!r}",
                remedy=suggestion(name, known),
            )
        wanted.update(found)
    return tuple(name for name in known if name in wanted)


def _lowest_points(
    scene: Scene, mech: Mechanism, poses: kinematics.BodyPoses, up: Array
) -> tuple[dict[str, Array], tuple[str, ...]]:
    """Return the points (n, 3) of each body, in the world, that can be its lowest ones, and notes; up (3,)."""
    found, unread = _of_role(scene, mech, poses, up, "collision")
    notes: list[str] = []
    if not found:
        found, unread = _of_role(scene, mech, poses, up, "visual")
        if found:
            notes.append("no link has a collision shape, so that the visual shapes touch the ground")
    if unread:
        notes.append(f"meshes of {listed(unread)} cannot be read, so that nothing touches the ground there")
    return found, tuple(notes)


def _of_role(
    scene: Scene, mech: Mechanism, poses: kinematics.BodyPoses, up: Array, role: str
) -> tuple[dict[str, Array], list[str]]:
    """Return the possible lowest points (n, 3) by body, and the bodies with unreadable shapes; up (3,)."""
    found: dict[str, Array] = {}
    unread: list[str] = []
    for k, body in enumerate(mech.bodies):
        X_WL, parts = poses.of(k), []
        for shape in scene.shapes.get(body.name, ()):
            if shape.role != role or shape.kind == "plane":
                continue
            points = shape_points(shape, scene, X_WL, up)
            if points is None:
                unread.append(body.name)
            elif len(points):
                parts.append(points)
        if parts:
            found[body.name] = np.vstack(parts)
    return found, list(dict.fromkeys(unread))


def shape_points(shape: Shape, scene: Scene, X_WL: Pose, up: Array) -> Array | None:
    """Return the points (n, 3) of a shape, in the world, m, among which are its lowest ones; None if it is unreadable.

    Parameters
    ----------
    X_WL : Pose
        Link frame in the world.
    up : (3,) array
        Direction against gravity.
    """
    R, center = X_WL.R @ shape.X_LS.R, X_WL.apply(shape.X_LS.p)
    size = np.array(shape.size, dtype=float)
    if shape.kind in ("box", "sphere", "cylinder", "capsule") and not (np.isfinite(size) & (size > 0)).all():
        return None
    if shape.kind == "box":
        return np.asarray(center + (0.5 * size * _CORNERS) @ R.T)
    if shape.kind == "sphere":
        return np.asarray(center - size[0] * up)[None]
    if shape.kind in ("cylinder", "capsule"):
        ends = center + np.outer([-0.5 * size[1], 0.5 * size[1]], R[:, 2])
        return np.asarray(ends - size[0] * up) if shape.kind == "capsule" else _rims(ends, size[0], R, up)
    vertices = _vertices(shape, scene)
    return None if vertices is None else np.asarray(center + vertices @ R.T)


def _rims(ends: Array, radius: float, R: Array, up: Array) -> Array:
    """Return the lowest points (n, 3) of both rims of a cylinder; ends (2, 3) of its axis, R (3, 3), up (3,)."""
    down = -(up - (up @ R[:, 2]) * R[:, 2])
    sine = float(np.linalg.norm(down))
    if sine > _UPRIGHT:
        return np.asarray(ends + radius * down / sine)
    angles = 2 * np.pi * np.arange(_RIM) / _RIM
    rim = radius * (np.outer(np.cos(angles), R[:, 0]) + np.outer(np.sin(angles), R[:, 1]))
    return np.vstack([end + rim for end in ends])


def _vertices(shape: Shape, scene: Scene) -> Array | None:
    """Return the vertices (n, 3) of a mesh or hull in its frame, m; None if there are none."""
    if shape.points:
        return np.array(shape.points, dtype=float)
    if shape.triangles is not None and len(shape.triangles[0]):
        return np.asarray(shape.triangles[0] * np.array(shape.size))
    path = mesh_file(shape, scene.request)
    if path is None:
        return None
    try:
        vertices = read_mesh(path, shape.size)[0]
    except UnusableMesh:
        return None
    return vertices if len(vertices) and np.isfinite(vertices).all() else None


def _faces(
    lowest: Mapping[str, Array], groups: Iterable[Sequence[str]], up: Array, size: float
) -> dict[str, Array]:
    """Return the points (k, 3) of each body in the lowest face of its group, from ``lowest`` (n, 3); up (3,)."""
    found: dict[str, Array] = {}
    for group in groups:
        owners = np.repeat(np.arange(len(group)), [len(lowest[name]) for name in group])
        points = np.vstack([lowest[name] for name in group])
        chosen = _face(points, up, size)
        for k, name in enumerate(group):
            if (own := chosen[owners[chosen] == k]).size:
                found[name] = points[own]
    return found


def _face(points: Array, up: Array, size: float) -> AnyArray:
    """Return the indices (k,) of at most ``_MOST`` points of the lowest face of points (n, 3); up (3,)."""
    heights = points @ up
    near = np.flatnonzero(heights <= heights.min() + _FACE * size)
    low = points[near]
    first = np.linalg.svd(up[None])[2][1:]
    flat = low @ first.T
    middle = flat.mean(axis=0)
    far = np.linalg.norm(flat - middle, axis=1)
    if 2 * far.max() <= _SMALL * size:
        return near[[int(np.argmin(far))]]
    # the two points farthest apart, then those farthest from the line between them on either side
    a = int(np.argmax(np.linalg.norm(flat - flat[int(np.argmax(far))], axis=1)))
    b = int(np.argmax(np.linalg.norm(flat - flat[a], axis=1)))
    chosen = [a, b]
    along = (flat[b] - flat[a]) / np.linalg.norm(flat[b] - flat[a])
    aside = (flat - flat[a]) @ np.array([-along[1], along[0]])
    for k in (int(np.argmax(aside)), int(np.argmin(aside))):
        if abs(aside[k]) > 0.5 * _SMALL * size:
            chosen.append(k)
    return near[list(dict.fromkeys(chosen))[:_MOST]]
