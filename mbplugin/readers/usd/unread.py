"""What a stage says of the mechanics that the reader does not take: one note per kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mbplugin.model.scene import Defect
from mbplugin.phrases import counted
from mbplugin.readers.usd.dialects import ARMATURE, DAMPING, FRICTION, VELOCITY
from mbplugin.readers.usd.stage import Stage

#: Name spaces of the schemas of simulators.
_DIALECTS = ("physx", "newton", "mjc", "isaac", "drake")
_READ = {
    *(*ARMATURE, *DAMPING, *FRICTION, *VELOCITY),
    *("newton:inertia", "newton:mimicJoint", "newton:mimicCoef0", "newton:mimicCoef1", "newton:mimicEnabled"),
    *("newton:gravityEnabled", "mjc:target", "newton:targets"),
}
_READ_STARTS = ("physxMimicJoint:",)
#: Settings of contact, solvers, sensors and steps, and of what has no mechanics.
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
#: Numbers that say nothing while they are zero.
_FORCES = ("physxRigidBody:linearDamping", "physxRigidBody:angularDamping", "physxJoint:jointFriction")
#: Types of prims that no schema here defines, and that act on a mechanism.
_TYPES = ("Physx", "PhysX", "Newton", "Mjc")
_IDLE_TYPES = ("MjcKeyframe", "MjcActuator", "NewtonActuator", "NewtonSite")
#: Applied schemas that act on a mechanism.
_APPLIED = ("PhysxTendon", "PhysxVehicle", "PhysxForce", "PhysxSurfaceVelocity", "PhysxDeformable")


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


def _of_prim(stage: Stage, prim: Any) -> Iterator[str]:
    """Yield what a prim states and nothing reads."""
    kind = str(prim.GetTypeName())
    if kind.startswith(_TYPES) and kind not in _IDLE_TYPES:
        yield f"a {kind}"
        return
    if kind == "PointInstancer":
        yield "the instances of a PointInstancer"
    for schema in stage.schemas(prim):
        if schema.startswith(_APPLIED):
            yield schema.partition(":")[0]
    # an actuator's own settings are those of a controller
    if kind in _IDLE_TYPES:
        return
    for name in prim.GetAuthoredPropertyNames():
        if name.startswith(_DIALECTS) and _counts(stage, prim, name):
            yield name
        elif name in ("physics:velocity", "physics:angularVelocity") and _any(stage.value(prim, name)):
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


def _any(value: Any) -> bool:
    return value is not None and any(value)
