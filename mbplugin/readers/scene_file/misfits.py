"""The ``[[misfit]]`` and ``[[limit]]`` tables of a scene."""

from __future__ import annotations

from mbplugin.errors import BadScene
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.misfits import Limit, Misfit
from mbplugin.readers.scene_file.joints import require_known
from mbplugin.readers.scene_file.schema import SceneFile
from mbplugin.readers.scene_file.source import SceneSource
from mbplugin.readers.scene_file.tables.forces import MisfitTable


def misfits(source: SceneSource, tables: SceneFile, mech: Mechanism) -> tuple[Misfit, ...]:
    """Return the ``[[misfit]]`` tables."""
    return tuple(_misfit(source, i, table, mech) for i, table in enumerate(tables.misfit))


def _misfit(source: SceneSource, index: int, table: MisfitTable, mech: Mechanism) -> Misfit:
    known = dict.fromkeys(c.name for c in mech.constraints())
    require_known(table.joint, known, "joint", source.where("misfit", index, "joint"))
    if table.value is None and table.sigma is None:
        raise BadScene(
            f"[[misfit]] {index + 1} does not say how large it is",
            where=source.where("misfit", index),
            expected="value, or sigma, or both (m, rad)",
        )
    return Misfit(table.joint, table.component, table.value, table.sigma)


def limits(source: SceneSource, tables: SceneFile, mech: Mechanism) -> tuple[Limit, ...]:
    """Return the ``[[limit]]`` tables."""
    known = dict.fromkeys(c.name for c in mech.constraints())
    for i, table in enumerate(tables.limit):
        require_known(table.joint, known, "joint", source.where("limit", i, "joint"))
    return tuple(Limit(table.joint, table.value, table.component or "") for table in tables.limit)
