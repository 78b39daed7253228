"""The ``[[pair]]`` and ``[[closure]]`` tables of a scene: joint frames, and changes of pair types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from mbplugin.errors import BadScene, UnknownName, suggestion
from mbplugin.model.mechanism import PAIR_TYPES, Pair
from mbplugin.model.spatial import Pose, align_z
from mbplugin.readers.scene_file.schema import SceneSource
from mbplugin.readers.scene_file.tables import ClosureTable, JointTable, PairTable

_FRAME_KEYS = ("xyz_a", "rpy_a", "xyz_b", "rpy_b")
_KEYS = ("lower", "upper", "velocity", "effort", "damping", "friction")
#: Keys that a passive joint cannot have.
_OF_DRIVES = _KEYS[:4]


def require_known(name: str, known: Mapping[str, object], kind: str, where: str) -> None:
    """Refuse a name that is not among the known ones.

    Raises
    ------
    UnknownName
        Suggests the nearest name.
    """
    if name not in known:
        raise UnknownName(f"no {kind} is called {name!r}", where=where, remedy=suggestion(name, list(known)))


def declares_new_pair(source: SceneSource, index: int, table: PairTable, known: Mapping[str, Pair]) -> bool:
    """Return True if a ``[[pair]]`` declares a new pair (with bodies), False if it retypes one (without).

    Raises
    ------
    BadScene
        Only one body is named, frames are stated without bodies, or a new pair is called passive.
    UnknownName
        The pair to retype does not exist.
    """
    if table.body_a is not None and table.body_b is not None:
        if table.passive:
            raise BadScene(
                f"[[pair]] {table.name!r} is a new one and called passive",
                where=source.where("pair", index, "passive"),
                expected="passive for a joint that a file describes",
            )
        return True
    where = source.where("pair", index)
    if table.body_a is not None or table.body_b is not None:
        raise BadScene(
            f"[[pair]] {table.name!r} names one body only",
            where=where,
            expected="body_a and body_b for a new pair, neither to change the type of one",
        )
    if extra := [key for key in _FRAME_KEYS if getattr(table, key) is not None]:
        raise BadScene(
            f"[[pair]] {table.name!r} has {extra[0]} but no bodies",
            where=source.where("pair", index, extra[0]),
            expected="name, type and axis to change the type of a pair",
            remedy="add body_a and body_b if it is a new one",
        )
    require_known(table.name, known, "pair", where)
    return False


def changes_coordinates(pair: Pair, table: PairTable) -> bool:
    """Return True if retyping changes the meaning of the pair's coordinates."""
    return table.axis is not None or PAIR_TYPES[table.type].free != pair.kind.free


def retyped(source: SceneSource, index: int, table: PairTable, pair: Pair) -> Pair:
    """Return a pair changed to the type of a ``[[pair]]`` table.

    Raises
    ------
    BadScene
        The axis, lead, length or limits do not suit the type.
    """
    _check_axis(source, "pair", index, table)
    axis = None if table.axis is None else np.array(table.axis)
    if table.type == "universal" and axis is not None and not axis[:2].any():
        raise BadScene(
            f"the second cross axis of {table.name!r} lies along the first",
            where=source.where("pair", index, "axis"),
            expected="an axis across the old joint axis (z)",
        )
    lead = table.lead if table.lead is not None else pair.lead
    length = table.length if table.length is not None else pair.length
    _check_measures(source, "pair", index, table, lead, length)
    pair = replace(pair.retyped(table.type, axis), lead=lead, length=length)
    return with_freedom(source, index, table, pair)


def declared(
    source: SceneSource,
    kind: str,
    index: int,
    table: PairTable | ClosureTable,
    poses: Mapping[str, Pose],
) -> Pair:
    """Return the pair declared by a ``[[pair]]`` with bodies or by a ``[[closure]]``.

    Parameters
    ----------
    kind : "pair" or "closure"
        The table's name.
    poses : mapping of body name to Pose
        X_WL at the scene's state, including the ground; an unstated side is computed from them.

    Raises
    ------
    BadScene
        A body is joined to itself, or the axis, sides, lead or length do not suit the type.
    UnknownName
        A body does not exist.
    """
    body_a, body_b = str(table.body_a), str(table.body_b)
    for key, body in (("body_a", body_a), ("body_b", body_b)):
        require_known(body, poses, "body", source.where(kind, index, key))
    if body_a == body_b:
        raise BadScene(
            f"[[{kind}]] {table.name!r} joins {body_a!r} to itself", where=source.where(kind, index)
        )
    _check_axis(source, kind, index, table)
    turn = Pose(np.eye(3) if table.axis is None else align_z(np.array(table.axis)), np.zeros(3))
    X_AP, X_BS = _sides(source, kind, index, table, poses[body_a], poses[body_b])
    X_AP, X_BS = X_AP @ turn, X_BS @ turn
    length = table.length or 0.0
    if table.type == "distance" and table.length is None:
        length = float(np.linalg.norm((poses[body_b] @ X_BS).p - (poses[body_a] @ X_AP).p))
    lead = table.lead or 0.0
    _check_measures(source, kind, index, table, lead, length)
    pair = Pair(
        table.name,
        table.type,
        body_a,
        body_b,
        X_AP,
        X_BS,
        closure=kind == "closure",
        lead=lead,
        length=length,
    )
    return with_freedom(source, index, table, pair) if isinstance(table, PairTable) else pair


def states_both_sides(table: JointTable) -> bool:
    """Return True if the joint frame is stated on both sides."""
    return _states(table, "a") and _states(table, "b")


def _states(table: JointTable, side: str) -> bool:
    return getattr(table, f"xyz_{side}") is not None or getattr(table, f"rpy_{side}") is not None


def _sides(
    source: SceneSource, kind: str, index: int, table: PairTable | ClosureTable, X_WA: Pose, X_WB: Pose
) -> tuple[Pose, Pose]:
    """Return the joint frame in both link frames, before its z is rotated to the axis."""
    if not (_states(table, "a") or _states(table, "b")):
        raise BadScene(
            f"[[{kind}]] {table.name!r} gives no joint frame",
            where=source.where(kind, index),
            expected="xyz_a in the link frame of body_a, or xyz_b",
        )
    X_AP = source.pose(kind, index, table.xyz_a, table.rpy_a, "rpy_a")
    X_BS = source.pose(kind, index, table.xyz_b, table.rpy_b, "rpy_b")
    if table.type == "distance" and not states_both_sides(table):
        raise BadScene(
            f"[[{kind}]] {table.name!r} keeps a distance but gives one point",
            where=source.where(kind, index),
            expected="xyz_a and xyz_b",
        )
    if not _states(table, "b"):
        X_BS = X_WB.inverse() @ X_WA @ X_AP
    elif not _states(table, "a"):
        X_AP = X_WA.inverse() @ X_WB @ X_BS
    return X_AP, X_BS


def _check_axis(source: SceneSource, kind: str, index: int, table: PairTable | ClosureTable) -> None:
    if table.axis is not None and not any(table.axis):
        raise BadScene(
            f"the axis of [[{kind}]] {table.name!r} is zero",
            where=source.where(kind, index, "axis"),
            expected="a direction",
        )


def _check_measures(
    source: SceneSource,
    kind: str,
    index: int,
    table: PairTable | ClosureTable,
    lead: float,
    length: float,
) -> None:
    """Require the lead of a screw and the length of a distance pair, and refuse them elsewhere."""
    for key, value, owner in (("lead", lead, "screw"), ("length", length, "distance")):
        if table.type == owner and not value:
            raise BadScene(
                f"[[{kind}]] {table.name!r} is a {owner} without a {key}",
                where=source.where(kind, index),
                remedy=f"add {key} = … in metres{' per turn' if owner == 'screw' else ''}",
            )
        if table.type != owner and getattr(table, key) is not None:
            raise BadScene(
                f"[[{kind}]] {table.name!r} is {table.type} and has a {key}",
                where=source.where(kind, index, key),
                expected=f"{key} with type = {owner!r} only",
            )


# Values of a ``[[pair]]`` table for the freedom of its pair: limits, drive, damping and friction.


def with_freedom(source: SceneSource, index: int, table: PairTable, pair: Pair) -> Pair:
    """Return the pair with its freedom updated by the values of its ``[[pair]]`` table.

    Raises
    ------
    BadScene
        Values for a pair without exactly one freedom, or for a passive one; a lower limit that is not below the upper.
    """
    stated = {key: value for key in _KEYS if (value := getattr(table, key)) is not None}
    by_load = _load_friction(source, index, table, pair)
    if by_load is not None:
        pair = replace(pair, freedoms=(replace(pair.freedoms[0], load_friction=by_load),))
    if not stated:
        return pair
    first = next(iter(stated))
    where = source.where("pair", index, first)
    if len(pair.kind.free) != 1:
        raise BadScene(
            f"[[pair]] {table.name!r} is {pair.type} and states its {first}",
            where=where,
            expected="a pair with one freedom",
        )
    if table.passive and first in _OF_DRIVES:
        raise BadScene(
            f"[[pair]] {table.name!r} is passive and states its {first}",
            where=where,
            expected="no limits and no drive of a passive joint",
        )
    freedom = replace(pair.freedoms[0], **stated)
    if ("lower" in stated or "upper" in stated) and not freedom.lower < freedom.upper:
        raise BadScene(
            f"[[pair]] {table.name!r} has limits from {freedom.lower:g} to {freedom.upper:g}",
            where=where,
            expected="a lower limit below the upper one",
        )
    return replace(pair, freedoms=(freedom,))


def _load_friction(source: SceneSource, index: int, table: PairTable, pair: Pair) -> float | None:
    """Return the dry friction per newton of joint force: μ, or μ r, m; None if none is stated."""
    mu, radius = table.friction_coefficient, table.friction_radius
    if mu is None and radius is None:
        return None
    where = source.where("pair", index, "friction_radius" if mu is None else "friction_coefficient")
    if pair.type not in ("revolute", "prismatic"):
        raise BadScene(
            f"[[pair]] {table.name!r} is {pair.type} and states friction that grows with its load",
            where=where,
            expected="a revolute or a prismatic pair",
        )
    if mu is None or (radius is None) == (pair.type == "revolute"):
        keys = "both" if pair.type == "revolute" else "friction_coefficient alone"
        raise BadScene(
            f"[[pair]] {table.name!r} is {pair.type} and states friction_coefficient or friction_radius",
            where=where,
            expected=f"{keys}: the friction is "
            + ("coefficient · radius · force" if pair.type == "revolute" else "coefficient · force"),
        )
    return mu * (1.0 if radius is None else radius)
