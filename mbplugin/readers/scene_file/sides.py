"""Sides of closures that are computed from the pose of a scene."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from mbplugin.model.mechanism import Mechanism
from mbplugin.model.scene import Defect
from mbplugin.model.spatial import Array, Pose, rpy_from_rotation
from mbplugin.readers.scene_file.joints import states_both_sides
from mbplugin.readers.scene_file.schema import SceneFile
from mbplugin.readers.scene_file.source import SceneSource
from mbplugin.readers.scene_file.tables.mechanism import ClosureTable, PairTable

#: A frame this near to that of its link, m and rad, is at it.
_AT_LINK = 1e-9
#: What is this small, m and rad, is rounding of zero.
_NOTHING = 1e-15


def sides_from_pose(source: SceneSource, tables: SceneFile, mech: Mechanism) -> Iterator[Defect]:
    """Yield a defect per ``[[closure]]`` with one joint frame; the other is as the mechanism has it.

    So for a ``[[pair]]`` between bodies that state no pose, where the other one is not that of the link.
    """
    for i, table in enumerate(tables.closure):
        if not states_both_sides(table):
            yield _one_sided(source, "closure", i, table, mech)
    loose = {body.name for body in tables.body if body.xyz is None and body.rpy is None}
    for i, pair in enumerate(tables.pair):
        if pair.body_a is None or states_both_sides(pair) or not loose & {pair.body_a, pair.body_b}:
            continue
        defect = _one_sided(source, "pair", i, pair, mech)
        side = defect.evidence["side"]
        if np.abs([*defect.evidence[f"xyz_{side}"], *defect.evidence[f"rpy_{side}"]]).max() > _AT_LINK:
            body = next(name for name in (pair.body_b, pair.body_a) if name in loose)
            where = f"; {body!r} states no pose and stands at the origin of the world there"
            yield replace(defect, message=defect.message + where)


def _one_sided(
    source: SceneSource, kind: str, i: int, table: PairTable | ClosureTable, mech: Mechanism
) -> Defect:
    """Return the defect of a table that states one side."""
    pair = mech.pair_by_name[table.name]
    given = "a" if table.xyz_a is not None or table.rpy_a is not None else "b"
    missing, body = ("b", pair.body_b) if given == "a" else ("a", pair.body_a)
    xyz, rpy = (getattr(table, f"{key}_{given}") for key in ("xyz", "rpy"))
    written = source.pose(kind, i, xyz, rpy, f"rpy_{given}")
    own, other = (pair.X_AP, pair.X_BS) if given == "a" else (pair.X_BS, pair.X_AP)
    # axis and type turn both frames alike; the file's keys are those before
    X = other @ (written.inverse() @ own).inverse()
    message = (
        f"side {missing} of {kind} {table.name!r} is not given; at the pose of the scene it is "
        f"xyz_{missing} = {_shown(X.p)}, rpy_{missing} = {_shown(rpy_from_rotation(X.R))} in {body!r}"
    )
    evidence = {
        "side": missing,
        "body": body,
        f"xyz_{missing}": X.p.tolist(),
        f"rpy_{missing}": rpy_from_rotation(X.R).tolist(),
        "toml": _toml(X, missing),
    }
    return Defect("MB116", table.name, message, source.origin(kind, i), evidence)


def _toml(X: Pose, side: str) -> str:
    xyz, rpy = ((np.where(np.abs(v) < _NOTHING, 0.0, v)).tolist() for v in (X.p, rpy_from_rotation(X.R)))
    return f"xyz_{side} = {xyz}\nrpy_{side} = {rpy}"


def _shown(values: Array) -> str:
    """Return ``values`` (n,) as text."""
    rounded = np.round(values, 12) + 0.0
    return f"[{', '.join(f'{value:.6g}' for value in rounded)}]"
