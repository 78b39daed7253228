"""Stiffness of pairs as it is stated, checked, and as the flexibility of the pair's rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mbplugin.errors import BadUsage, UnknownName, suggestion
from mbplugin.joint_reactions.stiffness.beams import Section
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Pair, RowKind
from mbplugin.model.scene import Stiffness
from mbplugin.model.spatial import COMPONENTS, Array

#: Relative size below which an asymmetry or a negative eigenvalue is rounding.
_ROUNDING = 1e-9

#: Values, tables with the keys of a scene, or a mapping by the name of the pair or body.
StiffnessLike = Iterable[Stiffness | Mapping[str, Any]] | Mapping[str, Any]

_KEYS = ("pair", "k", "body", "section")
_TABLE = "pair and k, or body and section"


def read_stiffness(mech: Mechanism, stated: StiffnessLike) -> tuple[dict[str, Array], dict[str, Section]]:
    """Return the flexibility (6, 6) of pairs and the beam sections of bodies, all checked.

    Parameters
    ----------
    stated : iterable of Stiffness or mapping, or mapping
        In an iterable a mapping has the keys of a scene's ``[[stiffness]]``: pair and k, or body and
        section. A mapping alone gives, by name, six numbers or a 6 × 6 matrix for a pair (N/m and
        N·m/rad in the axes of P at the origin of S; ``inf`` is rigid) or a table E, A, Iy, Iz, J, nu
        for a body.

    Raises
    ------
    UnknownName
        A name that is no pair, or no body.
    BadUsage
        A stiffness that is not symmetric positive semidefinite, or zero in a constrained direction.
    """
    pairs: dict[str, Array] = {}
    sections: dict[str, Section] = {}
    for item in _items(stated):
        if item.pair:
            pair = mech.pair_by_name.get(item.pair)
            if pair is None:
                raise UnknownName(
                    f"a stiffness names an unknown pair {item.pair!r}",
                    remedy=suggestion(item.pair, list(mech.pair_by_name)),
                )
            pairs[pair.name] = pair_flexibility(pair, _matrix(pair, item.matrix))
        else:
            if item.body not in [body.name for body in mech.bodies]:
                raise UnknownName(
                    f"a stiffness names an unknown body {item.body!r}",
                    remedy=suggestion(item.body, [body.name for body in mech.bodies]),
                )
            sections[item.body] = Section.checked(item.body, item.section)
    return pairs, sections


def _items(stated: StiffnessLike) -> Iterable[Stiffness]:
    if not isinstance(stated, Mapping):
        return [item if isinstance(item, Stiffness) else _from_table(item) for item in stated]
    return [
        Stiffness(body=name, section=value) if isinstance(value, Mapping) else Stiffness(name, value)
        for name, value in stated.items()
    ]


def _from_table(table: Any) -> Stiffness:
    """Return a stiffness of a mapping with the keys of a scene's table."""
    if not isinstance(table, Mapping):
        raise BadUsage(f"a stiffness is {table!r}", expected=_TABLE)
    for key in table:
        if key not in _KEYS:
            raise UnknownName(f"a stiffness has an unknown key {key!r}", remedy=suggestion(str(key), _KEYS))
    if set(table) == {"pair", "k"}:
        return Stiffness(pair=str(table["pair"]), matrix=table["k"])
    if set(table) == {"body", "section"}:
        if not isinstance(table["section"], Mapping):
            raise BadUsage(
                f"the section of body {table['body']!r} is {table['section']!r}",
                expected="a table of E, A, Iy, Iz, J and optionally nu",
            )
        return Stiffness(body=str(table["body"]), section=table["section"])
    raise BadUsage(f"a stiffness has the keys {', '.join(map(str, table)) or 'none'}", expected=_TABLE)


def _matrix(pair: Pair, value: Any) -> Array:
    """Return the checked stiffness (6, 6) of a pair, N/m and N·m/rad; rigid directions are inf on its diagonal."""
    try:
        K = np.array(value, dtype=float)
    except (TypeError, ValueError):
        K = np.zeros(0)
    K = _diagonal(K) if K.shape == (6,) else K
    if K.shape != (6, 6) or np.isnan(K).any():
        raise _bad(pair, "is not six numbers and no 6 × 6 matrix")
    rigid = np.isinf(np.diag(K))
    off = K - _diagonal(np.diag(K)) if not rigid.any() else np.where(np.eye(6) > 0, 0.0, K)
    if not np.isfinite(off).all() or off[rigid].any() or off[:, rigid].any():
        raise _bad(pair, "couples a rigid (inf) component to another")
    finite = K[np.ix_(~rigid, ~rigid)]
    if np.abs(finite - finite.T).max(initial=0.0) > _ROUNDING * np.abs(finite).max(initial=0.0):
        raise _bad(pair, "is not symmetric")
    if (np.diag(K) < 0).any() or _lowest(finite) < -_ROUNDING:
        raise _bad(pair, "is not positive semidefinite")
    return K


def _diagonal(k: Array) -> Array:
    """Return a diagonal matrix (6, 6) of k (6,); inf · 0 would be no number."""
    K = np.zeros((6, 6))
    np.fill_diagonal(K, k)
    return K


def _lowest(K: Array) -> float:
    """Return the lowest eigenvalue of K (n, n) with its diagonal scaled to one."""
    if not K.size:
        return 0.0
    size = np.sqrt(np.diag(K))
    if np.abs(K[size == 0]).max(initial=0.0) > 0:
        return -1.0
    size[size == 0] = 1.0
    return float(np.linalg.eigvalsh(K / np.outer(size, size))[0])


def _bad(pair: Pair, what: str) -> BadUsage:
    return BadUsage(
        f"the stiffness of pair {pair.name!r} {what}",
        expected="a symmetric positive semidefinite 6 × 6 matrix, or its diagonal (N/m, N·m/rad)",
    )


def pair_flexibility(pair: Pair, K: Array) -> Array:
    """Return the flexibility (6, 6) of a pair's constrained components, m/N and rad/(N·m).

    K (6, 6) is the stiffness in the joint frame, N/m and N·m/rad. What the pair leaves free carries no force
    and gives way (Schur complement); rigid components have no flexibility.

    Raises
    ------
    BadUsage
        The stiffness is zero where the pair constrains.
    """
    names = _constrained(pair)
    constrained = [COMPONENTS.index(c) for c in names if np.isfinite(K[COMPONENTS.index(c)].max())]
    free = [k for k, c in enumerate(COMPONENTS) if c not in names and np.isfinite(K[k].max())]
    K_cf, K_ff = K[np.ix_(constrained, free)], K[np.ix_(free, free)]
    stiff = K[np.ix_(constrained, constrained)] - K_cf @ np.linalg.pinv(K_ff) @ K_cf.T
    if constrained and (_lowest(stiff) <= _ROUNDING or (np.diag(stiff) <= 0).any()):
        soft = [COMPONENTS[c] for c, k in zip(constrained, np.diag(stiff), strict=True) if k <= 0]
        raise BadUsage(
            f"the stiffness of pair {pair.name!r} is zero in"
            f" {' '.join(soft) or 'a combination of components'}, which the pair constrains",
            expected="a positive number, or inf where the pair is rigid",
        )
    flexibility = np.zeros((6, 6))
    flexibility[np.ix_(constrained, constrained)] = np.linalg.inv(stiff)
    return flexibility


def _constrained(pair: Pair) -> Sequence[str]:
    """Return the components in which a pair can deform under its own reaction."""
    along_line = pair.kind.row_kind("d") is RowKind.DISTANCE
    return COMPONENTS[:3] if along_line else pair.kind.constrained
