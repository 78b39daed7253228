"""Sides of closures that are computed from the pose of a scene."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mbplugin.model.mechanism import Mechanism
from mbplugin.model.scene import Defect
from mbplugin.model.spatial import Array, Pose, rpy_from_rotation
from mbplugin.readers.scene_file.joints import states_both_sides
from mbplugin.readers.scene_file.schema import SceneFile
from mbplugin.readers.scene_file.source import SceneSource


def sides_from_pose(source: SceneSource, tables: SceneFile, mech: Mechanism) -> Iterator[Defect]:
    """Yield a defect per ``[[closure]]`` with one joint frame; the other is as the mechanism has it."""
    for i, table in enumerate(tables.closure):
        if states_both_sides(table):
            continue
        pair = mech.pair_by_name[table.name]
        given = "a" if table.xyz_a is not None or table.rpy_a is not None else "b"
        missing, body = ("b", pair.body_b) if given == "a" else ("a", pair.body_a)
        xyz, rpy = (getattr(table, f"{key}_{given}") for key in ("xyz", "rpy"))
        written = source.pose("closure", i, xyz, rpy, f"rpy_{given}")
        own, other = (pair.X_AP, pair.X_BS) if given == "a" else (pair.X_BS, pair.X_AP)
        # axis and type turn both frames alike; the file's keys are those before
        X = other @ (written.inverse() @ own).inverse()
        message = (
            f"side {missing} of closure {table.name!r} is not given; at the pose of the scene it is "
            f"xyz_{missing} = {_shown(X.p)}, rpy_{missing} = {_shown(rpy_from_rotation(X.R))} in {body!r}"
        )
        evidence = {
            "side": missing,
            "body": body,
            f"xyz_{missing}": X.p.tolist(),
            f"rpy_{missing}": rpy_from_rotation(X.R).tolist(),
            "toml": _toml(X, missing),
        }
        yield Defect("MB116", table.name, message, source.origin("closure", i), evidence)


def _toml(X: Pose, side: str) -> str:
    # without the minus of a zero
    xyz, rpy = (X.p + 0.0).tolist(), (rpy_from_rotation(X.R) + 0.0).tolist()
    return f"xyz_{side} = {xyz}\nrpy_{side} = {rpy}"


def _shown(values: Array) -> str:
    """Return ``values`` (n,) as text."""
    rounded = np.round(values, 12) + 0.0
    return f"[{', '.join(f'{value:.6g}' for value in rounded)}]"
