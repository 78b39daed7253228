"""USD stages as text: prims of UsdPhysics, written out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def _numbers(values: Iterable[float]) -> tuple[float, ...]:
    return tuple(map(float, values))


def along(axis: str) -> str:
    """Return the attribute with the axis of a joint."""
    return f'uniform token physics:axis = "{axis}"\n'


def stage(
    *prims: str, metres: float | None = 1.0, kilograms: float = 1.0, up: str = "Z", more: str = ""
) -> str:
    """Return a layer with some prims."""
    unit = "" if metres is None else f"    metersPerUnit = {metres}\n"
    mass = f"    kilogramsPerUnit = {kilograms}\n"
    head = f'#usda 1.0\n(\n    defaultPrim = "robot"\n{unit}{mass}    upAxis = "{up}"\n{more})\n'
    return head + "\n".join(prims) + "\n"


def group(name: str, *prims: str, attributes: str = "", metadata: str = "") -> str:
    """Return an Xform with prims in it."""
    head = f'def Xform "{name}"' + (f" (\n{metadata}\n)" if metadata else "")
    return f"{head}\n{{\n{attributes}\n" + "\n".join(prims) + "\n}"


def xform(
    translate: Iterable[float] = (0, 0, 0), orient: Iterable[float] = (1, 0, 0, 0), scale: float = 1.0
) -> str:
    """Return the transformation of a prim: position, quaternion wxyz, scale."""
    return (
        f"double3 xformOp:translate = {_numbers(translate)}\n"
        f"quatd xformOp:orient = {_numbers(orient)}\n"
        f"double3 xformOp:scale = {(scale, scale, scale)}\n"
        'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient", "xformOp:scale"]\n'
    )


def body(name: str, *prims: str, at: str = "", mass: str = "", schemas: str = "") -> str:
    """Return a rigid body; ``mass`` has the attributes of MassAPI."""
    apis = ['"PhysicsRigidBodyAPI"', *(['"PhysicsMassAPI"'] if mass else []), *([schemas] if schemas else [])]
    return group(name, *prims, attributes=at + mass, metadata=f"prepend apiSchemas = [{', '.join(apis)}]")


def inertial(mass: float, diagonal: Iterable[float], com: Iterable[float] | None = None) -> str:
    """Return the attributes of a mass with its inertia."""
    center = "" if com is None else f"point3f physics:centerOfMass = {_numbers(com)}\n"
    axes = "quatf physics:principalAxes = (1, 0, 0, 0)\n"
    return (
        f"float physics:mass = {mass}\nfloat3 physics:diagonalInertia = {_numbers(diagonal)}\n{axes}{center}"
    )


def joint(kind: str, name: str, a: str | None, b: str | None, attributes: str = "", schemas: str = "") -> str:
    """Return a joint prim between two paths; None is the world."""
    apis = f" (prepend apiSchemas = [{schemas}])" if schemas else ""
    sides = "".join(
        f"rel physics:body{number} = <{path}>\n" for number, path in ((0, a), (1, b)) if path is not None
    )
    return f'def Physics{kind} "{name}"{apis}\n{{\n{sides}{attributes}\n}}'


def frames(at_a: Iterable[float], at_b: Iterable[float]) -> str:
    """Return the positions of a joint in its two bodies."""
    return f"point3f physics:localPos0 = {_numbers(at_a)}\npoint3f physics:localPos1 = {_numbers(at_b)}\n"


def four_bar(*, unit: float = 1.0, kilograms: float = 1.0, masses: Mapping[str, str] | None = None) -> str:
    """Return the planar 4R loop of ``oracles/four_bar_4R.sdf``: 1 m bars of 1 kg, axes z, the last joint closes it.

    Parameters
    ----------
    unit, kilograms : float
        Metres and kilograms of the stage's units; its numbers are converted.
    masses : mapping of str to str, optional
        MassAPI attributes and colliders in place of the stated ones.
    """

    def length(*xyz: float) -> tuple[float, ...]:
        return tuple(x / unit for x in xyz)

    inertia = 0.02 / kilograms / unit**2
    stated = inertial(1 / kilograms, (inertia,) * 3)
    places = {"crank": (0, 0.5, 0), "coupler": (0.5, 1, 0), "rocker": (1, 0.5, 0)}
    bodies = [
        body(name, at=xform(length(*p)), mass=(masses or {}).get(name, stated)) for name, p in places.items()
    ]
    axis = along("Z")
    ends = {
        "j0": (None, "crank", (0, 0, 0), (0, -0.5, 0)),
        "j1": ("crank", "coupler", (0, 0.5, 0), (-0.5, 0, 0)),
        "j2": ("coupler", "rocker", (0.5, 0, 0), (0, 0.5, 0)),
        "j3": (None, "rocker", (1, 0, 0), (0, -0.5, 0)),
    }
    joints = [
        joint(
            "RevoluteJoint",
            name,
            a and f"/robot/{a}",
            b and f"/robot/{b}",
            axis
            + frames(length(*pa), length(*pb))
            + ("uniform bool physics:excludeFromArticulation = 1" if name == "j3" else ""),
        )
        for name, (a, b, pa, pb) in ends.items()
    ]
    return stage(group("robot", *bodies, *joints), metres=unit, kilograms=kilograms)
