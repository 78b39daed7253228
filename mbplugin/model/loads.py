"""Loads, payloads and misfits, given as values or as tables, and checked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from mbplugin.errors import BadNumber, BadUsage, UnknownName, suggestion
from mbplugin.model.bounds import LARGEST
from mbplugin.model.mechanism.body import WORLD
from mbplugin.model.mechanism.identity import RowLabel
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Load, Payload
from mbplugin.model.spatial import Array
from mbplugin.model.units import EXAMPLES, SI
from mbplugin.phrases import cut_short

LoadLike = Load | Mapping[str, Any]
PayloadLike = Payload | Mapping[str, Any]

LOAD_KEYS = ("body", "force", "torque", "point", "frame")
PAYLOAD_KEYS = ("body", "mass", "com", "inertia")
#: Characters of a table in a message.
_SHORT = 60


def require_table(kind: str, table: Mapping[str, Any], keys: Sequence[str], value: object) -> None:
    """Require that a table names what it is about, as its first key, and has no unknown key.

    Parameters
    ----------
    keys : sequence of str
        The name and the main number first. A name as a key, with its number, is a frequent slip.
    value : object
        A number for the example of what to write.

    Raises
    ------
    BadUsage, UnknownName
        It names nothing; an unknown key.
    """
    first, main = keys[:2]
    if not isinstance(table.get(first), str):
        named = next((key for key in table if key not in keys and not isinstance(table[key], str)), first)
        stated = table.get(named, value)
        stated = stated if isinstance(stated, Mapping) else {main: stated}
        example = {first: "NAME" if named == first else named, **stated}
        raise BadUsage(
            f"a {kind} names no {first}: {cut_short(repr(dict(table)), _SHORT)}",
            expected=f"a table of {', '.join(keys)}",
            remedy=f"write {cut_short(repr(example), _SHORT)}",
        )
    for key in table:
        if key not in keys:
            raise UnknownName(
                f"a {kind} has an unknown key {key!r}", remedy=suggestion(str(key), tuple(keys))
            )


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
        require_table("load", load, LOAD_KEYS, [0, 0, -10])
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
        _vector(f"{key} {where}", getattr(load, key), dimension)
        for key, dimension in (("force", "force"), ("torque", "torque"), ("point", "length"))
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
        require_table("payload", payload, PAYLOAD_KEYS, 5)
        mass, com, inertia = (payload.get(key, np.zeros(3)) for key in ("mass", "com", "inertia"))
        payload = Payload(payload["body"], mass if "mass" in payload else 0.0, com, inertia)
    require_kind("payload", payload, Payload, PAYLOAD_KEYS)
    _check_body(mech, "payload", payload.body)
    where = f"of the payload on {payload.body!r}"
    mass = _number(f"the mass {where}", payload.mass, "mass")
    if not 0 <= mass <= LARGEST:
        raise BadNumber(
            f"the payload on {payload.body!r} has mass {mass:g}",
            expected=f"kg, not negative, up to {LARGEST:g}",
        )
    com = _vector(f"com {where}", payload.com, "length")
    return Payload(payload.body, mass, com, _inertia(f"the inertia {where}", payload.inertia))


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


def _check_body(mech: Mechanism, kind: str, name: str) -> None:
    if name == WORLD or name not in mech.body_index:
        raise UnknownName(
            f"the {kind} acts on {name!r}, which is no body of {mech.name!r}",
            remedy=suggestion(name, [body.name for body in mech.bodies]),
        )


def _number(what: str, value: Any, dimension: str) -> float:
    """Return a number in SI units, from one or from a text with its unit."""
    if isinstance(value, str):
        return SI.value(value, dimension, f"{what} is")
    if not isinstance(value, Real):
        raise BadNumber(f"{what} is {value!r}", expected=EXAMPLES[dimension])
    return float(value)


def _vector(what: str, value: Any, dimension: str) -> Array:
    """Return three finite numbers, (3,), in SI units; each may be a text with its unit."""
    if isinstance(value, list | tuple):
        value = [SI.value(one, dimension, f"{what} has") if isinstance(one, str) else one for one in value]
    vector = _array(value)
    if vector.shape != (3,) or not (np.abs(vector) <= LARGEST).all():
        raise BadNumber(f"{what} is {value!r}", expected=f"three finite numbers up to {LARGEST:g}")
    return vector


def _inertia(what: str, value: Any) -> Array:
    """Return an inertia (3, 3), from its matrix or its three moments, kg·m²."""
    inertia = _array(value)
    if inertia.shape not in ((3,), (3, 3)) or not (np.abs(inertia) <= LARGEST).all():
        raise BadNumber(f"{what} is {value!r}", expected="three moments, or a matrix of three rows, kg·m²")
    return np.diag(inertia) if inertia.ndim == 1 else inertia


def _array(value: Any) -> Array:
    """Return numbers as an array (n,) or (n, m), an empty one (0,) where they are none."""
    try:
        return np.array(value, dtype=float)
    except (TypeError, ValueError):
        return np.zeros(0)


def _finite(what: str, value: Any) -> float:
    number = float(value)
    if not abs(number) <= LARGEST:
        raise BadNumber(f"{what} is {value!r}", expected=f"a finite number up to {LARGEST:g}")
    return number
