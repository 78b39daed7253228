"""The ``[[driver]]`` tables of a scene, with motions through points or from a file."""

from __future__ import annotations

from mbplugin.errors import BadScene, MbPluginError
from mbplugin.model.component import is_turn
from mbplugin.model.mechanism import Driver
from mbplugin.model.mechanism.identity import Holder
from mbplugin.model.mechanism.motion_profile import MotionProfile
from mbplugin.model.scene import Request
from mbplugin.readers.common.profile_file import read_profile
from mbplugin.readers.scene_file.actions import Pairs, check_freedoms
from mbplugin.readers.scene_file.schema import SceneFile
from mbplugin.readers.scene_file.source import SceneSource
from mbplugin.readers.scene_file.tables.mechanism import DriverTable


def drivers(
    source: SceneSource, tables: SceneFile, pairs: Pairs, request: Request
) -> tuple[tuple[Driver, ...], tuple[str, ...]]:
    """Return the ``[[driver]]`` tables, and the files of motions that they name.

    Raises
    ------
    MbPluginError
        A joint or freedom that does not exist, or a motion that cannot be.
    """
    files: list[str] = []
    for i, table in enumerate(tables.driver):
        check_freedoms(pairs, table.joint, table.freedoms, source.where("driver", i, "joint"))
    found = tuple(
        Driver(
            table.name or str(Holder("drive", table.joint)),
            table.joint,
            tuple(table.freedoms),
            table.value,
            table.rate,
            table.acceleration,
            _profile(source, i, table, pairs, request, files),
        )
        for i, table in enumerate(tables.driver)
    )
    return found, tuple(files)


def _profile(
    source: SceneSource, index: int, table: DriverTable, pairs: Pairs, request: Request, files: list[str]
) -> MotionProfile | None:
    """Return the motion through the points of a ``[[driver]]``; a file of it is added to ``files``."""
    stated = [key for key in ("points", "file") if getattr(table, key) is not None]
    if not stated:
        if "between" in table.model_fields_set:
            where = source.where("driver", index, "between")
            raise BadScene(f"[[driver]] {table.joint!r} states between, but no points", where=where)
        return None
    besides = [
        key
        for key in ("value", "rate", "acceleration", "file")
        if key in table.model_fields_set - {stated[0]}
    ]
    if besides:
        raise BadScene(
            f"[[driver]] {table.joint!r} states {stated[0]} and {besides[0]}",
            where=source.where("driver", index, besides[0]),
            expected="value, rate and acceleration, or points, or a file of them",
        )
    if table.points is not None:
        try:
            return MotionProfile.from_points(table.points, table.between)
        except MbPluginError as error:
            where = source.where("driver", index, "points")
            raise BadScene(
                f"[[driver]] {table.joint!r}: {error.what}", where=where, expected=error.expected
            ) from None
    freedom = (*table.freedoms, *pairs[table.joint].kind.free)[0]
    assert table.file is not None
    path = table.file.path(request, source.where("driver", index, "file"))
    files.append(str(path))
    return read_profile(path, is_turn(freedom), table.between)
