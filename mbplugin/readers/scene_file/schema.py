"""A whole ``.scene.toml`` file, as a pydantic model of its tables."""

from __future__ import annotations

from pydantic import Field

from mbplugin.readers.scene_file.tables.analysis import LintTable
from mbplugin.readers.scene_file.tables.forces import (
    LimitTable,
    LoadTable,
    MisfitTable,
    PayloadTable,
    SpringTable,
    StiffnessTable,
)
from mbplugin.readers.scene_file.tables.mechanism import (
    BodyTable,
    ClosureTable,
    CouplingTable,
    DriverTable,
    HoldTable,
    LockTable,
    ModelTable,
    PairTable,
    PfaffianTable,
    StateTable,
)
from mbplugin.readers.scene_file.tables.stops import ActuatorTable, BrakeTable, RampTable
from mbplugin.readers.scene_file.tables.table import Table, Vector


class SceneFile(Table):
    """A whole scene file."""

    gravity: Vector | None = Field(
        default=None, description="in world axes, m/s²; default: 0 0 -9.81, or that of the model"
    )
    state: StateTable = StateTable()
    model: list[ModelTable] = Field(default=[])
    body: list[BodyTable] = Field(default=[])
    pair: list[PairTable] = Field(default=[])
    closure: list[ClosureTable] = Field(default=[])
    coupling: list[CouplingTable] = Field(default=[])
    pfaffian: list[PfaffianTable] = Field(default=[])
    driver: list[DriverTable] = Field(default=[])
    lock: list[LockTable] = Field(default=[])
    hold: list[HoldTable] = Field(default=[])
    load: list[LoadTable] = Field(default=[])
    stiffness: list[StiffnessTable] = Field(default=[])
    misfit: list[MisfitTable] = Field(default=[])
    limit: list[LimitTable] = Field(default=[])
    spring: list[SpringTable] = Field(default=[])
    brake: list[BrakeTable] = Field(default=[])
    ramp: list[RampTable] = Field(default=[])
    payload: list[PayloadTable] = Field(default=[])
    actuator: list[ActuatorTable] = Field(default=[])
    lint: LintTable = LintTable()
