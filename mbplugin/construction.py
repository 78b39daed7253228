"""Constructors that answer a wrong call with the fields that they have, as the public functions do."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from functools import wraps
from typing import Any, TypeVar

from mbplugin.errors import BadUsage, suggestion
from mbplugin.phrases import counted, listed

_Type = TypeVar("_Type", bound=type)
#: Annotations of fields that hold one number.
_NUMBERS = ("float", "float | None", "int", "int | None")
#: Words of the field and of other libraries for fields, whose spelling alone would suggest a wrong one or none.
_ELSEWHERE = {
    **dict.fromkeys(("speed", "velocity", "omega", "qd", "v", "w"), ("rate",)),
    **dict.fromkeys(("position", "pos", "angle", "q"), ("value", "at", "point", "p")),
    **dict.fromkeys(("time", "t", "start"), ("at",)),
    **dict.fromkeys(("link", "link_name", "frame_name"), ("body",)),
    **dict.fromkeys(("joint_name", "axis_name"), ("joint",)),
    **dict.fromkeys(("kg", "m", "weight"), ("mass",)),
    **dict.fromkeys(("k", "kp"), ("stiffness",)),
    **dict.fromkeys(("d", "c", "kd"), ("damping",)),
    **dict.fromkeys(("F", "f"), ("force",)),
    **dict.fromkeys(("tau", "M", "T", "moment"), ("torque",)),
    **dict.fromkeys(("friction", "friction_coefficient"), ("mu",)),
    **dict.fromkeys(("rest_length", "neutral", "springref"), ("rest", "length")),
    **dict.fromkeys(("rotation", "rot", "orientation"), ("R",)),
    **dict.fromkeys(("translation", "xyz"), ("p", "point")),
    **dict.fromkeys(("I", "inertia_matrix"), ("inertia", "I_C")),
    **dict.fromkeys(("inertia",), ("I_C",)),
    **dict.fromkeys(("com", "center_of_mass", "centre_of_mass"), ("com", "p_LC")),
    **dict.fromkeys(("parent",), ("body_a",)),
    **dict.fromkeys(("child",), ("body_b",)),
    **dict.fromkeys(("kind", "joint_type"), ("type",)),
}


def takes_units(kind: _Type) -> _Type:
    """As :func:`answers_wrong_calls`, for a dataclass whose numbers may be texts with a unit, read where it is used."""
    return _answering(kind, with_units=True)


def answers_wrong_calls(kind: _Type) -> _Type:
    """Let a dataclass raise ``BadUsage`` where its constructor is called with a wrong, missing or superfluous field.

    It also refuses a text in a field that is a number only, which would fail far from the call.
    """
    return _answering(kind, with_units=False)


def _answering(kind: _Type, *, with_units: bool) -> _Type:
    build = kind.__init__  # type: ignore[misc]
    # fields that hold one number, and where each stands in the call
    places = [f for f in fields(kind) if f.init]
    numbers = {f.name: k for k, f in enumerate(places) if f.type in _NUMBERS and not with_units}

    @wraps(build)
    def init(self: Any, *args: Any, **kwargs: Any) -> None:
        try:
            build(self, *args, **kwargs)
        except TypeError:
            _check(type(self).__name__, [f for f in fields(self) if f.init], args, kwargs)
            raise
        for name, place in numbers.items():
            value = args[place] if place < len(args) else kwargs.get(name)
            if isinstance(value, str):
                raise BadUsage(
                    f"{name} is {value!r}",
                    where=f"{type(self).__name__}()",
                    expected="a number in SI units",
                    remedy=_number_in(name, value),
                )

    kind.__init__ = init  # type: ignore[misc]
    return kind


def _number_in(name: str, text: str) -> str:
    """Return a remedy with the number at the start of a text; empty if there is none."""
    found = re.match(r"\s*([-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?)", text)
    return f"write {name}={found[1]}, converted to SI" if found else ""


def _check(
    name: str, known: Sequence[Field[Any]], args: Sequence[object], kwargs: Mapping[str, object]
) -> None:
    """Refuse a call that does not fit the fields of a dataclass.

    Raises
    ------
    BadUsage
        A field is unknown, given twice or missing, or there are too many.
    """
    names = [field.name for field in known]
    where, call = f"{name}()", f"{name}({listed(names, 12)})"
    for word in kwargs:
        if word not in names:
            free = [other for other in names[len(args) :] if other not in kwargs]
            raise BadUsage(f"there is no field {word!r}", where=where, remedy=_remedy(word, names, free))
    if len(args) > len(names):
        given = counted(len(args), "value")
        raise BadUsage(f"{given} are given, of {counted(len(names), 'field')}", where=where, expected=call)
    if twice := [other for other in names[: len(args)] if other in kwargs]:
        raise BadUsage(f"{twice[0]!r} is given twice", where=where, expected="it once")
    needed = [f.name for f in known if f.default is MISSING and f.default_factory is MISSING]
    if missing := [other for other in needed if other not in names[: len(args)] and other not in kwargs]:
        verb = "is" if len(missing) == 1 else "are"
        what = f"{listed([repr(other) for other in missing], 12)} {verb} missing"
        raise BadUsage(what, where=where, expected=call, remedy=f"write {missing[0]}=…")


def _remedy(word: str, names: Collection[str], free: Collection[str]) -> str:
    """Return the field that is meant by a word, else the fields that there are."""
    meant = next((name for name in _ELSEWHERE.get(word, ()) if name in free), "")
    return f"did you mean {meant!r}?" if meant else suggestion(word, list(names))
