"""Loads, payloads and misfits, given as values or as tables, and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from mbplugin.errors import BadNumber, BadUsage, UnknownName, suggestion
from mbplugin.model.bounds import LARGEST
from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.mechanism.identity import RowLabel
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Load, Payload
from mbplugin.model.spatial import Array

LoadLike = Load | Mapping[str, Any]
PayloadLike = Payload | Mapping[str, Any]

LOAD_KEYS = ("body", "force", "torque", "point", "frame")
PAYLOAD_KEYS = ("body", "mass", "com", "inertia")


def require_kind(kind: str, value: object, wanted: type, keys: Sequence[str]) -> None:
    """Require that an element of a list of loads, payloads or brakes is one.

    Raises
    ------
    BadUsage
        Something else, such as a name, or a key of a table that stands where a list belongs.
    """
    if not isinstance(value, wanted):
        raise BadUsage(
            f"a {kind} cannot be {value!r}",
            expected=f"a list of tables of {', '.join(keys)}, or of mb.{wanted.__name__}",
        )


def read_loads(mech: Mechanism, loads: Iterable[LoadLike]) -> tuple[Load, ...]:
    """Return loads with every body known and every number finite.

    Parameters
    ----------
    loads : iterable of Load or mapping
        A mapping has the keys of a scene's ``[[load]]``: body, force (N), torque (N·m), point (m, link
        frame), frame ("world" or "body").

    Raises
    ------
    UnknownName
        A body that does not exist, or an unknown key.
    BadNumber
        Not three finite numbers.
    """
    return tuple(_load(mech, load) for load in loads)


def _load(mech: Mechanism, load: LoadLike) -> Load:
    if isinstance(load, Mapping):
        _check_keys("load", load, LOAD_KEYS)
        force, torque, point = (load.get(key, np.zeros(3)) for key in ("force", "torque", "point"))
        load = Load(str(load["body"]), force, torque, point, load.get("frame", "world"))
    require_kind("load", load, Load, LOAD_KEYS)
    _check_body(mech, "load", load.body)
    if load.frame not in ("world", "body"):
        raise BadUsage(
            f"the load on {load.body!r} is given in frame {load.frame!r}", expected="world or body"
        )
    where = f"of the load on {load.body!r}"
    force, torque, point = (
        _vector(f"{key} {where}", value)
        for key, value in (("force", load.force), ("torque", load.torque), ("point", load.point))
    )
    return Load(load.body, force, torque, point, load.frame)


def read_payloads(mech: Mechanism, payloads: Iterable[PayloadLike]) -> tuple[Payload, ...]:
    """Return payloads with every body known; arguments and errors as for :func:`read_loads`.

    A mapping has the keys of a scene's ``[[payload]]``: body, mass (kg), com (m), inertia (kg·m²; 3
    moments, or the matrix).
    """
    return tuple(_payload(mech, payload) for payload in payloads)


def _payload(mech: Mechanism, payload: PayloadLike) -> Payload:
    if isinstance(payload, Mapping):
        _check_keys("payload", payload, PAYLOAD_KEYS)
        inertia = np.array(payload.get("inertia", np.zeros(3)), dtype=float)
        payload = Payload(
            str(payload["body"]),
            float(payload.get("mass", 0.0)),
            payload.get("com", np.zeros(3)),
            np.diag(inertia) if inertia.ndim == 1 else inertia,
        )
    require_kind("payload", payload, Payload, PAYLOAD_KEYS)
    _check_body(mech, "payload", payload.body)
    if not 0 <= payload.mass <= LARGEST:
        raise BadNumber(
            f"the payload on {payload.body!r} has mass {payload.mass}",
            expected=f"kg, not negative, up to {LARGEST:g}",
        )
    com = _vector(f"com of the payload on {payload.body!r}", payload.com)
    return Payload(payload.body, float(payload.mass), com, np.asarray(payload.inertia, dtype=float))


def read_misfit(labels: tuple[RowLabel, ...], misfit: Mapping[str, float], what: str = "misfit") -> Array:
    """Return the stated misfit of each row (m,), from values by "constraint.component".

    A misfit is how far the successor stands off along a row (m or rad) before the joint is closed.

    Raises
    ------
    UnknownName
        No row has that name.
    """
    gaps = np.zeros(len(labels))
    index = {label.dotted: k for k, label in enumerate(labels)}
    for name, value in misfit.items():
        if name not in index:
            raise UnknownName(
                f"the {what} names {name!r}, which is no row of a constraint",
                expected="CONSTRAINT.COMPONENT",
                remedy=suggestion(name, list(index)),
            )
        gaps[index[name]] = _finite(f"the {what} {name!r}", value)
    return gaps


def _check_keys(kind: str, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
    for key in table:
        if key not in known:
            raise UnknownName(f"a {kind} has an unknown key {key!r}", remedy=suggestion(str(key), known))
    if "body" not in table:
        raise BadUsage(f"a {kind} names no body", expected=f"a table of {', '.join(known)}")


def _check_body(mech: Mechanism, kind: str, name: str) -> None:
    if name == WORLD or name not in mech.body_index:
        raise UnknownName(
            f"the {kind} acts on {name!r}, which is no body of {mech.name!r}",
            remedy=suggestion(name, [body.name for body in mech.bodies]),
        )


def _vector(what: str, value: Any) -> Array:
    """Return three finite numbers, (3,)."""
    try:
        vector = np.array(value, dtype=float)
    except (TypeError, ValueError):
        vector = np.zeros(0)
    if vector.shape != (3,) or not (np.abs(vector) <= LARGEST).all():
        raise BadNumber(f"{what} is {value!r}", expected=f"three finite numbers up to {LARGEST:g}")
    return vector


def _finite(what: str, value: Any) -> float:
    number = float(value)
    if not abs(number) <= LARGEST:
        raise BadNumber(f"{what} is {value!r}", expected=f"a finite number up to {LARGEST:g}")
    return number
