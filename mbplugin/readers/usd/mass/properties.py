"""Mass, centre of mass and inertia of a body: stated, or from the volumes and densities of its colliders.

The rules are those of UsdPhysics: the mass of a body counts before the masses of its colliders; the density of
a collider counts before that of its body, and both before that of a material.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from mbplugin.errors import BadNumber
from mbplugin.model.bounds import LARGEST
from mbplugin.model.mechanism import Body
from mbplugin.model.spatial import Array, Pose, rotation_from_quaternion
from mbplugin.readers.usd.mass.solids import solid_of
from mbplugin.readers.usd.stage import Stage

#: Density where nothing states one, kg/m³: the default of UsdPhysics.
_WATER = 1000.0


@dataclass(frozen=True, eq=False)
class _Sum:
    """Mass, kg; first (3,) and second moments (3, 3) of it about the origin of a link frame, kg·m and kg·m²."""

    mass: float
    first: Array
    second: Array

    def inertia(self, p_LC: Array) -> Array:
        """Return the inertia (3, 3) about a point p_LC (3,), kg·m²."""
        moved = np.outer(self.first, p_LC)
        second = self.second - moved - moved.T + self.mass * np.outer(p_LC, p_LC)
        return np.asarray(np.trace(second) * np.eye(3) - second)


def body_of(stage: Stage, prim: Any, name: str, colliders: Sequence[Any]) -> Body:
    """Return the body of a rigid-body prim.

    Parameters
    ----------
    stage : Stage
    prim : Usd.Prim
    name : str
        Its name in the mechanism.
    colliders : sequence of Usd.Prim
        The colliders below it that belong to no other body.

    Raises
    ------
    BadNumber
        A number that is not finite.
    """
    X_WL = stage.frame(prim)
    stated = _stated_mass(stage, prim)
    center, inertia = _stated_center(stage, prim, X_WL), _stated_inertia(stage, prim)
    needed = stated == 0.0 or center is None or inertia is None
    solid = _colliders_of(stage, prim, X_WL, colliders) if needed else None
    if solid is None:
        if stated and inertia is None:
            stage.not_read(
                prim, f"body {name!r} has a mass, but no inertia and no collider; its inertia is read as zero"
            )
        return Body(
            name,
            stated,
            np.zeros(3) if center is None else center,
            np.zeros((3, 3)) if inertia is None else inertia,
        )
    if stated:
        scale = stated / solid.mass
        solid = _Sum(stated, scale * solid.first, scale * solid.second)
    p_LC = solid.first / solid.mass if center is None else center
    return Body(name, solid.mass, p_LC, solid.inertia(p_LC) if inertia is None else inertia)


def _stated_mass(stage: Stage, prim: Any) -> float:
    """Return the mass that a prim states, kg; 0 where it states none."""
    return _usable(stage, prim, "physics:mass") * stage.kilogram


def _density(stage: Stage, prim: Any) -> float:
    """Return the density that a prim states, kg/m³; 0 where it states none."""
    return _usable(stage, prim, "physics:density") * stage.kilogram / stage.metre**3


def _usable(stage: Stage, prim: Any, name: str) -> float:
    value = stage.number(prim, name, 0.0)
    if not abs(value) <= LARGEST:
        raise BadNumber(f"{name} is {value:g}", where=stage.where(prim), expected="a finite number")
    return value


def _stated_center(stage: Stage, prim: Any, X_WL: Pose) -> Array | None:
    """Return the centre of mass (3,) in the link frame, m; None where the prim states none (−inf)."""
    if not stage.authored(prim, "physics:centerOfMass"):
        return None
    point = stage.vector(prim, "physics:centerOfMass", (0.0, 0.0, 0.0))
    if not np.isfinite(point).all():
        return None
    A, _ = stage.matrix(prim)
    return np.asarray(stage.metre * X_WL.R.T @ A @ point)


def _stated_inertia(stage: Stage, prim: Any) -> Array | None:
    """Return the inertia (3, 3) about the centre of mass in link axes, kg·m²; None where the prim states none."""
    unit = stage.kilogram * stage.metre**2
    full = stage.value(prim, "newton:inertia")
    if full is not None and len(full):
        xx, yy, zz, xy, xz, yz = stage.vector(prim, "newton:inertia", (0.0,) * 6)
        I_C = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    else:
        diagonal = stage.vector(prim, "physics:diagonalInertia", (0.0, 0.0, 0.0))
        if not diagonal.any():
            return None
        R = rotation_from_quaternion(stage.quaternion(prim, "physics:principalAxes"))
        I_C = R @ np.diag(diagonal) @ R.T
    if not (np.abs(I_C) <= LARGEST).all():
        raise BadNumber("the inertia is not finite", where=stage.where(prim))
    return np.asarray(unit * I_C)


def _colliders_of(stage: Stage, body: Any, X_WL: Pose, colliders: Sequence[Any]) -> _Sum | None:
    """Return the summed mass of the colliders of a body; None where none has a volume."""
    mass, first, second = 0.0, np.zeros(3), np.zeros((3, 3))
    X_LW = X_WL.inverse()
    for prim in colliders:
        solid = solid_of(stage, prim)
        if solid is None or solid.volume == 0.0:
            continue
        if not (abs(solid.volume) <= LARGEST and (np.abs(solid.second) <= LARGEST).all()):
            raise BadNumber("the collider is too large for a mass", where=stage.where(prim))
        A, p = stage.matrix(prim)
        solid = solid.mapped(stage.metre * X_LW.R @ A, X_LW.apply(stage.metre * p))
        own = _stated_mass(stage, prim)
        # a negative density is as little one as zero
        density = own / solid.volume if own > 0 else _density_of(stage, body, prim)
        if not isfinite(density * solid.volume):
            continue
        mass += density * solid.volume
        first = first + density * solid.first
        second = second + density * solid.second
    return _Sum(mass, first, second) if mass > 0 else None


def _density_of(stage: Stage, body: Any, prim: Any) -> float:
    """Return the density of a collider, kg/m³."""
    for owner in (prim, body):
        if (density := _density(stage, owner)) > 0:
            return density
    material, _ = stage.pxr.UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")
    if material and (density := _density(stage, material.GetPrim())) > 0:
        return density
    return _WATER
