"""The arguments of the public functions, checked where they are called, by the annotations of their signatures."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, wraps
from inspect import Parameter, Signature, signature, unwrap
from typing import Any, ParamSpec, TypeVar

from mbplugin.argument_kinds import EXAMPLES, Kind, Misfit, kind_of
from mbplugin.errors import BadUsage, suggestion
from mbplugin.phrases import cut_short, listed

_P = ParamSpec("_P")
_R = TypeVar("_R")

#: Names that other functions, the command line, or earlier versions have for a parameter.
ALIASES = {
    "q0": ("q",),
    "qd0": ("qd",),
    "payloads": ("payload",),
    "number": ("count",),
    "brake": ("brakes",),
    "load": ("loads",),
    "category": ("categories",),
    "engine": ("only",),
    "mech": ("model", "source", "scene"),
    "model": ("mech", "source", "scene"),
    "source": ("mech", "model", "scene"),
}
#: Names that other libraries have for what is meant, where letters alone lead to something else.
_ELSEWHERE = {"dq": "qd", "qvel": "qd", "v": "qd", "ddq": "qdd", "qacc": "qdd", "a": "qdd", "qpos": "q"}
#: What only the reading of a file needs: functions that take a mechanism have no such parameter.
_OF_LOADING = ("base", "package_dirs", "xacro_args", "xacro_unsafe")
_SHORT = 40


def checked(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Check the arguments of each call of a public function; what does not fit is one sentence.

    Raises
    ------
    BadUsage
        By the function that is returned: a value of another kind than its annotation, an argument that is
        unknown, missing or given twice.
    """

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        read: Any = [*_read_positional(function, args)], _read_named(function, len(args), kwargs)
        return function(*read[0], **read[1])

    return call


def known_as(function: Callable[_P, _R], name: str) -> Callable[_P, _R]:
    """Return a checked function under another name, which its sentences say."""
    inner: Any = unwrap(function)

    @wraps(inner)
    def twin(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        found: _R = inner(*args, **kwargs)
        return found

    twin.__name__ = twin.__qualname__ = name
    return checked(twin)


@cache
def _parameters(function: Callable[..., Any]) -> dict[str, tuple[Parameter, Kind]]:
    return {name: (p, kind_of(ast.parse(p.annotation, mode="eval").body)) for name, p in _signature(function)}


def _signature(function: Callable[..., Any]) -> Iterable[tuple[str, Parameter]]:
    found: Signature = signature(function)
    return found.parameters.items()


def _read_positional(function: Callable[..., Any], args: Sequence[object]) -> Iterator[object]:
    places = [(n, p, k) for n, (p, k) in _parameters(function).items() if p.kind is not p.KEYWORD_ONLY]
    if places and places[-1][1].kind is Parameter.VAR_POSITIONAL:
        places += places[-1:] * (len(args) - len(places))
    if len(args) > len(places):
        raise _bad(
            function,
            f"{len(args)} arguments are given by position",
            f"{len(places)} at most ({listed([name for name, _, _ in places]) or 'none'})",
            "name the others",
        )
    for value, (name, _, kind) in zip(args, places, strict=False):
        yield _read(function, name, kind, value)


def _read_named(function: Callable[..., Any], given: int, kwargs: Mapping[str, Any]) -> dict[str, Any]:
    parameters = _parameters(function)
    names = [n for n, (p, _) in parameters.items() if p.kind is not p.VAR_POSITIONAL]
    found: dict[str, Any] = {}
    for written, value in kwargs.items():
        others = ALIASES.get(written, ()) if written not in names else ()
        name = next((other for other in others if other in names), written)
        if name not in names:
            meant = _ELSEWHERE.get(written)
            remedy = f"did you mean {meant!r}?" if meant in names else suggestion(written, names)
            if written in _OF_LOADING:
                remedy = f"give it to mb.load(FILE, {written}=…), and the result to this function"
            raise _bad(function, f"there is no argument {written!r}", "", remedy)
        if name in found or name in names[:given]:
            raise _bad(function, f"{name!r} is given twice", "it once", "")
        found[name] = _read(function, name, parameters[name][1], value)
    for name in names[given:]:
        if parameters[name][0].default is Parameter.empty and name not in found:
            raise _bad(function, f"{name!r} is missing", parameters[name][1].words, f"write {name}=…")
    return found


def _read(function: Callable[..., Any], name: str, kind: Kind, value: object) -> object:
    try:
        return kind.read(name, value)
    except Misfit as misfit:
        what = f"{misfit.place} is {cut_short(repr(misfit.value), _SHORT)}"
        examples = (f"such as {example}" for kind, example in EXAMPLES.items() if kind in misfit.expected)
        row = "such as [0, 0, 0.1]" if misfit.expected == "numbers" else ""
        remedy = _as_number(misfit) or next(examples, row)
        raise _bad(function, what, misfit.expected, remedy) from None


def _bad(function: Callable[..., Any], what: str, expected: str, remedy: str) -> BadUsage:
    return BadUsage(what, where=f"{function.__name__}()", expected=expected, remedy=remedy)


def _as_number(misfit: Misfit) -> str:
    """Return what to write for a text that is a number; where it has a unit, in those of SI."""
    if not isinstance(misfit.value, str) or "number" not in misfit.expected:
        return ""
    from mbplugin.model.units import SI

    try:
        value = SI.value(misfit.value, "", "")
    except BadUsage:
        return ""
    if "whole" in misfit.expected and value != round(value):
        return ""
    has_unit = misfit.value.strip()[-1] not in "0123456789."
    return f"write {value:.12g}{' (SI units)' if has_unit else ''}"
