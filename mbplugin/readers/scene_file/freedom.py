"""What a ``[[pair]]`` table states of the freedom of its pair: limits, the drive, damping and friction."""

from __future__ import annotations

from dataclasses import replace

from mbplugin.errors import BadScene
from mbplugin.model.mechanism import Pair
from mbplugin.readers.scene_file.source import SceneSource
from mbplugin.readers.scene_file.tables.mechanism import PairTable

_KEYS = ("lower", "upper", "velocity", "effort", "damping", "friction")
#: What a passive joint does not have.
_OF_DRIVES = _KEYS[:4]


def with_freedom(source: SceneSource, index: int, table: PairTable, pair: Pair) -> Pair:
    """Return a pair whose freedom has the numbers of its ``[[pair]]`` table.

    Raises
    ------
    BadScene
        Numbers for a pair that has not one freedom, or for a passive one; a lower limit that is not below the upper.
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
    """Return what dry friction is per newton of the joint's force: μ, or μ r, m; None where nothing is stated."""
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
