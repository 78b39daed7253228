"""The rigid bodies of a stage: their names, and the prims that belong to each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import degrees, inf, isfinite, radians
from typing import Any, Literal

import numpy as np

from mbplugin.errors import BadNumber
from mbplugin.model import LARGEST, PAIR_TYPES, WORLD, Array, Defect, Freedom, Pose, align_z
from mbplugin.phrases import counted, only_near
from mbplugin.readers.usd.stage import Stage
from mbplugin.readers.xml import limit, quaternion_defect, wrong_norm

#: Namespaces of simulator schemas.
_DIALECTS = ("physx", "newton", "mjc", "isaac", "drake")
_READ_STARTS = ("physxMimicJoint:",)
#: Prefixes of settings for contacts, solvers, sensors and steps, and of others without mechanics.
_IDLE_STARTS = (
    *(
        "physxScene:",
        "physxCollision:",
        "physxArticulation:",
        "physxMaterial:",
        "physxLimit:",
        "physxSDFMesh",
    ),
    *("physxConvex", "physxTriangle", "physxCooked", "physxContactReport", "physxTrigger", "physxMeshMerge"),
    *(
        "mjc:option:",
        "mjc:compiler:",
        "mjc:visual:",
        "mjc:flag:",
        "mjc:statistic:",
        "mjc:sol",
        "newton:xpbd:",
    ),
    *(
        "newton:kamino:",
        "newton:mpm:",
        "newton:contact",
        "newton:sdf",
        "newton:hydro",
        "newton:limit",
        "isaac:",
    ),
    *(
        "mjcf:",
        "newton:rot",
        "newton:trans",
        "newton:angular:",
        "newton:linear:",
        "newton:articulation_default",
    ),
    *(
        "physxRigidBody:solver",
        "physxRigidBody:sleep",
        "physxRigidBody:stabilization",
        "physxRigidBody:enable",
    ),
    *("physxRigidBody:max", "physxRigidBody:contact", "physxRigidBody:cfm", "physxJoint:enableProjection"),
)
_IDLE = {
    *(
        "mjc:margin",
        "mjc:gap",
        "mjc:group",
        "mjc:condim",
        "mjc:priority",
        "mjc:shellinertia",
        "mjc:maxhullvert",
    ),
    *("mjc:rollingfriction", "mjc:torsionalfriction", "physxRigidBody:retainAccelerations", "mjc:type"),
    *("newton:maxHullVertices", "newton:selfCollisionEnabled", "newton:jointsAddMobility"),
    *("newton:maxSolverIterations", "newton:timeStepsPerSecond", "newton:torsionalFriction"),
    *("newton:rollingFriction", "physxRigidBody:lockedPosAxis", "physxRigidBody:lockedRotAxis"),
}
#: Numbers without effect while they are zero.
_FORCES = ("physxRigidBody:linearDamping", "physxRigidBody:angularDamping", "physxJoint:jointFriction")
#: Prefixes of prim types, undefined in the schemas here, that act on a mechanism.
_TYPES = ("Physx", "PhysX", "Newton", "Mjc")
_IDLE_TYPES = ("MjcKeyframe", "MjcActuator", "NewtonActuator", "NewtonSite")
#: Prefixes of applied schemas that act on a mechanism.
_APPLIED = ("PhysxTendon", "PhysxVehicle", "PhysxForce", "PhysxSurfaceVelocity", "PhysxDeformable")
#: Attributes by quantity; the first one stated counts.
ARMATURE = ("newton:armature", "physxJoint:armature", "mjc:armature")
DAMPING = ("newton:damping", "mjc:damping")
FRICTION = ("newton:friction", "mjc:frictionloss")
VELOCITY = ("newton:velocityLimit", "physxJoint:maxJointVelocity")
_READ = {
    *(*ARMATURE, *DAMPING, *FRICTION, *VELOCITY),
    *("newton:inertia", "newton:mimicJoint", "newton:mimicCoef0", "newton:mimicCoef1", "newton:mimicEnabled"),
    *("newton:gravityEnabled", "mjc:target", "newton:targets"),
}
#: The six directions of a joint frame in LimitAPI, and their names here.
DIRECTIONS = {"transX": "tx", "transY": "ty", "transZ": "tz", "rotX": "rx", "rotY": "ry", "rotZ": "rz"}
#: Directions of each instance of DriveAPI.
_DRIVES = {
    **{key: (value,) for key, value in DIRECTIONS.items()},
    "linear": ("tx", "ty", "tz"),
    "angular": ("rx", "ry", "rz"),
}
_AXES = {"X": "x", "Y": "y", "Z": "z"}


# Mechanical statements of a stage that the reader does not use: one defect per kind.


def unread_defects(stage: Stage) -> Iterator[Defect]:
    """Yield one defect per kind of statement that is not read."""
    groups: dict[str, list[Any]] = {}
    for prim in stage.prims:
        for what in _of_prim(stage, prim):
            groups.setdefault(what, []).append(prim)
    for what, prims in groups.items():
        first = prims[0]
        where = f" of <{first.GetPath()}>" + (
            f" and {counted(len(prims) - 1, 'other prim')}" if prims[1:] else ""
        )
        paths = [str(prim.GetPath()) for prim in prims[:20]]
        yield Defect(
            "MB113", str(first.GetPath()), f"{what}{where} is not read", stage.place(first), {"prims": paths}
        )
    for prim in stage.prims:
        for wrong, right in _misspelt(prim):
            said = f"{wrong} of <{prim.GetPath()}> is not read; did you mean {right!r}?"
            yield Defect("MB113", str(prim.GetPath()), said, stage.place(prim), {"meant": {wrong: right}})


def _misspelt(prim: Any) -> Iterator[tuple[str, str]]:
    """Yield the physical properties of a prim that its schemas do not have, with the only one near each."""
    authored = set(map(str, prim.GetAuthoredPropertyNames()))
    unknown = [name for name in authored if name.startswith("physics:")]
    if not unknown:
        return
    known = {*map(str, prim.GetPrimDefinition().GetPropertyNames())}
    free = [name for name in known - authored if name.startswith("physics:")]
    for name in sorted({*unknown} - known):
        if near := only_near(name, free):
            yield name, near


#: Numbers of the types of quaternions, with the digits that they hold.
_PRECISIONS = {"Quath": np.float16, "Quatf": np.float32, "Quatd": np.float64}
#: The quaternions that are read, with what OpenUSD does with a norm that is not 1.
_QUATERNIONS: dict[str, tuple[str, Literal["note", "warning"]]] = {
    "physics:localRot0": ("OpenUSD normalises them", "note"),
    "physics:localRot1": ("OpenUSD normalises them", "note"),
    "xformOp:orient": ("OpenUSD does not normalise them and reads another angle", "warning"),
}


def wrong_quaternions(stage: Stage) -> Iterator[Defect]:
    """Yield a defect for each quaternion of a joint frame or a transformation whose norm is not 1."""
    for prim in stage.prims:
        for name, (taken, severity) in _QUATERNIONS.items():
            value = stage.value(prim, name) if stage.authored(prim, name) else None
            precision = _PRECISIONS.get(type(value).__name__)
            if value is None or precision is None:
                continue
            # the shortest text of a number is that of the file
            norm = wrong_norm([str(precision(x)) for x in (value.GetReal(), *value.GetImaginary())])
            if norm is not None:
                path = str(prim.GetPath())
                yield quaternion_defect(path, name, norm, stage.place(prim), taken, severity)


def _of_prim(stage: Stage, prim: Any) -> Iterator[str]:
    """Yield the unread statements of a prim."""
    kind = str(prim.GetTypeName())
    if kind.startswith(_TYPES) and kind not in _IDLE_TYPES:
        yield f"a {kind}"
        return
    if kind == "PointInstancer":
        yield "the instances of a PointInstancer"
    for schema in stage.schemas(prim):
        if schema.startswith(_APPLIED):
            yield schema.partition(":")[0]
    # the settings of an actuator belong to a controller
    if kind in _IDLE_TYPES:
        return
    for name in prim.GetAuthoredPropertyNames():
        if name.startswith(_DIALECTS) and _counts(stage, prim, name):
            yield name
        elif (
            name in ("physics:velocity", "physics:angularVelocity")
            and (value := stage.value(prim, name)) is not None
            and any(value)
        ):
            yield f"the initial {name}"


def _counts(stage: Stage, prim: Any, name: str) -> bool:
    if name in _READ or name in _IDLE or name.startswith((*_READ_STARTS, *_IDLE_STARTS)):
        return False
    value = stage.value(prim, name)
    if name in _FORCES or name in ("mjc:stiffness", "mjc:springref", "mjc:ref", "mjc:gravcomp"):
        return bool(value)
    if name == "physxRigidBody:disableGravity":
        return bool(value)
    return True


# Properties of a joint from simulator schemas: rotor inertia, damping, friction, drives.


@dataclass(frozen=True)
class JointExtras:
    """Properties of a joint besides its geometry, SI units; each pair is for translations, then rotations.

    Parameters
    ----------
    armature, damping, friction, velocity : tuple of (float, float)
        kg and kg·m², N·s/m and N·m·s/rad, N and N·m, m/s and rad/s.
    efforts : mapping of str to float
        Largest force or torque of the drive of each direction, N or N·m.
    """

    armature: tuple[float, float]
    damping: tuple[float, float]
    friction: tuple[float, float]
    velocity: tuple[float, float]
    efforts: Mapping[str, float] = field(default_factory=dict)

    def drives(self, direction: str) -> bool:
        """Return True if a drive acts along or about a direction; a drive without force does not count."""
        return self.efforts.get(direction, 0.0) > 0

    def armature_of(self, direction: str) -> float:
        """Return the rotor inertia of a direction, kg or kg·m²."""
        return self.armature[direction[0] == "r"]

    def apply(self, freedom: Freedom, direction: str) -> Freedom:
        """Return the freedom with the damping, friction, effort and velocity of a direction (``tx`` … ``rz``)."""
        turns = direction[0] == "r"
        return replace(
            freedom,
            damping=self.damping[turns],
            friction=self.friction[turns],
            velocity=self.velocity[turns],
            effort=self.efforts.get(direction, inf),
        )


def joint_extras(stage: Stage, prim: Any) -> JointExtras:
    """Return the properties that a joint prim states besides its geometry.

    Raises
    ------
    BadNumber
        A number is unusable.
    """
    force = stage.kilogram * stage.metre
    torque = force * stage.metre
    armature = _first(stage, prim, ARMATURE, 0.0)[1]
    name, damping = _first(stage, prim, DAMPING, 0.0)
    # Newton's angular units are degrees, MuJoCo's radians
    per_radian = degrees(damping) if name.startswith("newton") else damping
    friction = _first(stage, prim, FRICTION, 0.0)[1]
    speed = _first(stage, prim, VELOCITY, inf)[1]
    return JointExtras(
        (stage.kilogram * armature, stage.kilogram * stage.metre**2 * armature),
        (stage.kilogram * damping, torque * per_radian),
        (force * friction, torque * friction),
        (stage.metre * speed, radians(speed)),
        _efforts(stage, prim, force, torque),
    )


def _efforts(stage: Stage, prim: Any, force: float, torque: float) -> dict[str, float]:
    """Return the largest effort of each direction with a drive, N or N·m."""
    found: dict[str, float] = {}
    for schema in stage.schemas(prim):
        api, _, instance = schema.partition(":")
        if api != "PhysicsDriveAPI" or instance not in _DRIVES:
            continue
        most = stage.number(prim, f"drive:{instance}:physics:maxForce", inf)
        for direction in _DRIVES[instance]:
            found[direction] = (torque if direction[0] == "r" else force) * most if isfinite(most) else inf
    return found


def _first(stage: Stage, prim: Any, names: tuple[str, ...], default: float) -> tuple[str, float]:
    """Return the first stated of several attributes, and its value."""
    for name in names:
        if stage.authored(prim, name):
            value = stage.number(prim, name, default)
            if abs(value) > LARGEST and value != inf:
                raise BadNumber(f"{name} is {value:g}", where=stage.where(prim), expected="a finite number")
            return name, value if isfinite(value) or default == inf else default
    return "", default


def unique_names(paths: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Return a name for each path: the shortest end of it that no other path and no taken name has."""
    parts = {path: path.strip("/").split("/") for path in paths}
    names: dict[str, str] = {}
    used = set(taken)
    todo, count = list(parts), 1
    while todo:
        ends: dict[str, list[str]] = {}
        for path in todo:
            ends.setdefault("/".join(parts[path][-count:]), []).append(path)
        again = []
        for end, those in ends.items():
            exhausted = all(len(parts[path]) <= count for path in those)
            if len(those) == 1 and end not in used:
                names[those[0]] = end
            elif exhausted:
                names[those[0]] = those[0]
            else:
                again += those
        used.update(names.values())
        todo, count = again, count + 1
    return {path: names[path] for path in parts}


class Bodies:
    """The rigid bodies of a stage.

    Parameters
    ----------
    stage : Stage

    Attributes
    ----------
    prims : dict of str to Usd.Prim
        The prim of each body by its name in the mechanism, in the order of the stage.
    held : list of str
        Kinematic bodies (``kinematicEnabled``), which forces do not move: fixed to the ground.
    colliders : dict of str to list of Usd.Prim
        The colliders of each body.
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        api = stage.pxr.UsdPhysics.RigidBodyAPI
        found = {
            str(p.GetPath()): p
            for p in stage.prims
            if p.HasAPI(api) and self._stage.value(p, "physics:rigidBodyEnabled") is not False
        }
        self._names = unique_names(found, (WORLD,))
        self.prims = {self._names[path]: prim for path, prim in found.items()}
        self.held = [n for n, prim in self.prims.items() if stage.value(prim, "physics:kinematicEnabled")]
        self.poses = {name: stage.frame(prim) for name, prim in self.prims.items()}
        self.colliders: dict[str, list[Any]] = {name: [] for name in self.prims}
        for prim in stage.prims:
            if prim.HasAPI(stage.pxr.UsdPhysics.CollisionAPI) and (owner := self.owner(prim)) != WORLD:
                self.colliders[owner].append(prim)

    def owner(self, prim: Any) -> str:
        """Return the body of a prim: itself or its nearest ancestor that is a body, else the ground."""
        for above in self._stage.ancestors(prim):
            name = self._names.get(str(above.GetPath()))
            if name is not None:
                return name
        return WORLD

    def pose(self, name: str) -> Pose:
        """Return X_WL of a body; identity for the ground."""
        return Pose.identity() if name == WORLD else self.poses[name]


# Freedoms of a joint prim, and the pairs that realise them.


@dataclass(frozen=True, eq=False)
class Step:
    """A pair of a joint: its type, the rotation (3, 3) from its axes to the joint frame, and its freedoms there."""

    type: str
    turn: Array
    free: tuple[str, ...]


def steps_of(free: tuple[str, ...]) -> tuple[Step, ...]:
    """Return the pairs, from body 0 to body 1, that leave the given directions of a joint frame free.

    A single pair if a type has these freedoms; else a chain, translations before rotations, each in
    the order x, y, z.

    Parameters
    ----------
    free : tuple of str
        From ``tx`` … ``rz``.
    """
    t = [name[1] for name in ("tx", "ty", "tz") if name in free]
    r = [name[1] for name in ("rx", "ry", "rz") if name in free]
    one = _one(t, r)
    if one is not None:
        return (one,)
    return (*(_along("prismatic", axis, "t") for axis in t), *([_turning(r)] if r else []))


def _one(t: list[str], r: list[str]) -> Step | None:
    """Return the single pair with translations along and rotations about the given axes, None if no type has them."""
    if len(t) == 3 and len(r) == 3:
        return Step("floating", np.eye(3), ("tx", "ty", "tz", "rx", "ry", "rz"))
    if not t and not r:
        return Step("fixed", np.eye(3), ())
    if not t:
        return _turning(r)
    if len(t) == 1 and (not r or r == t):
        return _along("cylindrical" if r else "prismatic", t[0], "tr" if r else "t")
    if len(t) == 2 and len(r) == 1 and r[0] not in t:
        return _planar("planar", r[0])
    if len(r) == 3:
        if len(t) == 1:
            return _spun("point-on-line", t[0])
        return _spun("point-on-plane", next(axis for axis in "xyz" if axis not in t))
    return None


def _turning(r: list[str]) -> Step:
    """Return the pair with only rotations; the first of two is about an axis of body 0."""
    if len(r) == 1:
        return _along("revolute", r[0], "r")
    if len(r) == 3:
        return Step("spherical", np.eye(3), ("rx", "ry", "rz"))
    x, y = (_unit(axis) for axis in r)
    return Step("universal", np.column_stack((x, y, np.cross(x, y))), (f"r{r[0]}", f"r{r[1]}"))


def _along(type: str, axis: str, kinds: str) -> Step:
    return Step(type, align_z(_unit(axis)), tuple(f"{kind}{axis}" for kind in kinds))


def _planar(type: str, normal: str) -> Step:
    """Return a pair with its normal along an axis, and its x and y along the other two in cyclic order."""
    x = "xyz"[("xyz".index(normal) + 1) % 3]
    y = "xyz"[("xyz".index(normal) + 2) % 3]
    turn = np.column_stack([_unit(axis) for axis in (x, y, normal)])
    return Step(type, turn, (f"t{x}", f"t{y}", f"r{normal}"))


def _spun(type: str, axis: str) -> Step:
    """Return a pair with all rotations free about its point, and z along an axis."""
    step = _planar(type, axis)
    names = dict(zip("xyz", (name[1] for name in step.free), strict=True))
    return Step(type, step.turn, tuple(f"{name[0]}{names[name[1]]}" for name in PAIR_TYPES[type].free))


def _unit(axis: str) -> Array:
    """Return the unit vector (3,) of an axis, x, y or z."""
    return np.asarray(np.eye(3)["xyz".index(axis)])


def stated_freedoms(stage: Stage, prim: Any, kind: str) -> dict[str, Freedom] | None:
    """Return the freedoms of a joint prim by direction, with their limits; None for a distance joint.

    Parameters
    ----------
    stage : Stage
    prim : Usd.Prim
    kind : str
        Its type in UsdPhysics: ``PhysicsRevoluteJoint`` …
    """
    if kind == "PhysicsFixedJoint":
        return {}
    if kind in ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint"):
        turns = kind == "PhysicsRevoluteJoint"
        axis = _AXES.get(str(stage.value(prim, "physics:axis")), "x")
        lower = stage.number(prim, "physics:lowerLimit", -inf)
        upper = stage.number(prim, "physics:upperLimit", inf)
        return {f"{'r' if turns else 't'}{axis}": _limited(stage, lower, upper, turns=turns)}
    if kind == "PhysicsSphericalJoint":
        for name in ("physics:coneAngle0Limit", "physics:coneAngle1Limit"):
            if stage.number(prim, name, -1.0) >= 0:
                stage.not_read(prim, f"the cone that limits joint {prim.GetName()!r} is not read", "note")
                break
        return {name: Freedom() for name in ("rx", "ry", "rz")}
    if kind == "PhysicsDistanceJoint":
        return None
    return _of_limits(stage, prim)


def _of_limits(stage: Stage, prim: Any) -> dict[str, Freedom]:
    """Return the freedoms of a generic joint; a direction is locked if its low limit exceeds its high one.

    It is also locked if both limits are zero. Limits stated without LimitAPI are read too, and reported.
    """
    found, without = {}, []
    applied = set(stage.schemas(prim))
    for written, name in DIRECTIONS.items():
        low = stage.number(prim, f"limit:{written}:physics:low", -inf)
        high = stage.number(prim, f"limit:{written}:physics:high", inf)
        if f"PhysicsLimitAPI:{written}" not in applied and stage.authored(
            prim, f"limit:{written}:physics:low"
        ):
            without.append(written)
        if low < high or low == high != 0.0:
            found[name] = _limited(stage, low, high, turns=name[0] == "r")
    if without:
        stage.not_read(
            prim,
            f"joint {prim.GetName()!r} has limits of {', '.join(without)} without PhysicsLimitAPI; they are read",
            "note",
        )
    if stage.authored(prim, "limit:distance:physics:high") or stage.authored(
        prim, "limit:distance:physics:low"
    ):
        stage.not_read(prim, f"the distance that limits joint {prim.GetName()!r} is not read")
    return found


def _limited(stage: Stage, lower: float, upper: float, *, turns: bool) -> Freedom:
    if turns:
        return Freedom(radians(limit(lower)), radians(limit(upper)))
    return Freedom(stage.metre * limit(lower), stage.metre * limit(upper))
