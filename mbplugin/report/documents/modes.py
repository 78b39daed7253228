"""The JSON document of ``mbplugin modes`` (contract: keys may be added, never renamed)."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from mbplugin.model.mechanism import base_sentence
from mbplugin.model.mechanism.kinematics import rate_units
from mbplugin.report.documents.part import ByName, Part, PlanarModel, Recorded, Series, Size, by_name, key
from mbplugin.simulation.equilibrium import Stability

if TYPE_CHECKING:
    from mbplugin.simulation.equilibrium import Linearization, Mode


class _Equilibrium(Part):
    stability: Stability = key("neutral: some freedom has no stiffness, and none is unstable")
    q: ByName = key("the pose of rest, rad and m")
    start: ByName = key("the closed pose from which it was searched")
    force: Size = key("largest generalised force left, N·m and N")
    steps: int = key("of the search")


class _Coordinate(Part):
    name: str
    unit: Literal["rad", "m"]


class _Mode(Part):
    frequency: Size = key("natural frequency without damping, Hz; zero if neutral or unstable")
    stiffness: float = key("ω², rad²/s²; negative if unstable")
    damping_ratio: float | None = key("share of critical damping; null unless ω² > 0")
    growth_time: float | None = key("time in which a deviation grows by e, s; null unless unstable")
    shape: ByName = key("joint rates, the largest is 1")


class _Eigenvalue(Part):
    real: float
    imaginary: float


class ModesOutput(Recorded):
    """The equilibrium of a mechanism, and small motions M s̈ + D ṡ + K s = 0 about it."""

    model: PlanarModel
    tolerance: Size = key("relative rank tolerance")
    assumptions: list[str]
    held: list[str] = key("joints held by --hold")
    equilibrium: _Equilibrium
    coordinates: list[_Coordinate] = key("independent joint rates s, the order of the matrices")
    mass: list[Series] = key("kg·m² and kg")
    damping: list[Series] = key("N·m·s/rad and N·s/m")
    stiffness: list[Series] = key("N·m/rad and N/m")
    modes: list[_Mode] = key("by rising ω²")
    eigenvalues: list[_Eigenvalue] = key("of the damped system, 1/s")
    notes: list[str]


def modes_document(found: Linearization, files: Sequence[str]) -> dict[str, Any]:
    """Return the JSON document of small motions."""
    rest, mech = found.equilibrium, found.mechanism
    units = dict(zip(mech.qd_names, rate_units(mech), strict=True))
    return ModesOutput.of(
        found,
        model=(mech.name, files, rest.planar or False),
        tolerance=rest.tolerance,
        assumptions=base_sentence(mech.assumed_fixed),
        held=rest.held,
        equilibrium=_Equilibrium.of(
            rest, q=by_name(mech.q_names, rest.q), start=by_name(mech.q_names, rest.start)
        ),
        coordinates=[(name, "rad" if units[name].startswith("rad") else "m") for name in rest.coordinates],
        modes=[_mode(mode, mech.qd_names) for mode in found.modes],
        eigenvalues=[(float(one.real), float(one.imag)) for one in found.eigenvalues],
        notes=rest.notes,
    )


def _mode(mode: Mode, names: Sequence[str]) -> dict[str, Any]:
    return _Mode.of(
        mode,
        damping_ratio=mode.damping_ratio if isfinite(mode.damping_ratio) else None,
        growth_time=mode.growth_time if isfinite(mode.growth_time) else None,
        shape=by_name(names, mode.shape),
    )
