"""The validation errors of pydantic for a scene file, in one sentence with the line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from pydantic import ValidationError

from mbplugin.errors import BadScene, BadUsage, suggestion
from mbplugin.model.units import SI
from mbplugin.readers.scene_file.schema import SceneFile
from mbplugin.readers.scene_file.source import SceneSource
from mbplugin.readers.scene_file.tables.table import Table

_EXPECTED = {
    "float_type": "a number",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "string_type": "a text in quotes",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "finite_number": "a finite number",
    "string_too_short": "a text that is not empty",
    "greater_than": "more than {gt}",
    "greater_than_equal": "at least {ge:g}",
    "less_than": "less than {lt}",
    "less_than_equal": "at most {le:g}",
    "literal_error": "one of {expected}",
}


def validate(source: SceneSource) -> SceneFile:
    """Return the file's tables.

    Raises
    ------
    BadScene
        The first thing that does not follow the schema, and how many more there are.
    """
    try:
        return SceneFile.model_validate(source.data)
    except ValidationError as error:
        # of a union, pydantic reports every alternative that failed
        failures = error.errors(include_url=False, include_context=True)
        places = {tuple(part for part in e["loc"] if not _is_alternative(part)) for e in failures}
        raise _sentence(source, dict(failures[0]), len(places) - 1) from None


def _is_alternative(part: int | str) -> bool:
    return isinstance(part, str) and part.startswith("list[")


def _sentence(source: SceneSource, failure: Mapping[str, Any], more: int) -> BadScene:
    loc: tuple[int | str, ...] = failure["loc"]
    table = str(loc[0])
    index = loc[1] if len(loc) > 1 and isinstance(loc[1], int) else 0
    rest = loc[2:] if len(loc) > 1 and isinstance(loc[1], int) else loc[1:]
    if not rest:
        what, expected, remedy = _about_table(source, table, failure)
    else:
        what, expected, remedy = _about_key(source, loc, rest, failure)
    if more:
        what += f" (and {more} more {'error' if more == 1 else 'errors'} in this file)"
    key = str(rest[0]) if rest else ""
    in_top_level = not rest and (table, 0) not in source.tables
    where = source.where("", 0, table) if in_top_level else source.where(table, index, key)
    return BadScene(what, where=where, expected=expected, remedy=remedy)


def _about_table(source: SceneSource, table: str, failure: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return what is wrong, what was expected, and the remedy, for a whole table or a top-level key."""
    known = tuple(SceneFile.model_fields)
    if failure["type"] == "extra_forbidden":
        noun = "table" if (table, 0) in source.tables else "key"
        return f"unknown {noun} {table!r}", "", suggestion(table, known)
    if failure["type"] == "list_type" and _table_of(SceneFile.model_fields[table].annotation):
        return f"{table!r} is not an array of tables", f"[[{table}]]", "write its header in double brackets"
    return f"{table!r} is {_shown(failure['input'])}", _expected(failure), ""


def _about_key(
    source: SceneSource, loc: tuple[int | str, ...], rest: tuple[int | str, ...], failure: Mapping[str, Any]
) -> tuple[str, str, str]:
    owner = _title(source, loc)
    names = [str(part) for part in rest if isinstance(part, str) and not _is_alternative(part)]
    key = ".".join(names)
    if failure["type"] == "extra_forbidden":
        return f"{owner} has an unknown key {key!r}", "", suggestion(names[-1], _fields(loc))
    if failure["type"] == "missing":
        return f"{owner} lacks the key {key!r}", "", f"add {names[-1]} = …"
    remedy = ""
    if failure["type"] == "literal_error" and isinstance(failure["input"], str):
        choices = failure["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", ")
        remedy = suggestion(failure["input"], choices)
        remedy = remedy if remedy.startswith("did") else ""
    if failure["type"] == "float_type" and isinstance(failure["input"], str):
        remedy = _as_number(failure["input"])
    return f"{owner}: {key} is {_shown(failure['input'])}", _expected(failure), remedy


def _as_number(text: str) -> str:
    """Return what to write for a text such as ``90deg``: numbers of a scene are in SI units."""
    try:
        return f"write {SI.value(text, '', ''):.12g}, in SI units (rad, m, s …)"
    except BadUsage:
        return ""


def _expected(failure: Mapping[str, Any]) -> str:
    kind, context = failure["type"], failure.get("ctx", {})
    if kind in ("too_short", "too_long"):
        least = kind == "too_short"
        bound = f"least {context['min_length']}" if least else f"most {context['max_length']}"
        return f"at {bound} entries, it has {context['actual_length']}"
    return str(_EXPECTED.get(kind, failure["msg"])).format(**context)


def _title(source: SceneSource, loc: tuple[int | str, ...]) -> str:
    """Return ``[[closure]] 2 ('foot')``: the table, its number from one, and its name."""
    table = str(loc[0])
    if len(loc) < 2 or not isinstance(loc[1], int):
        return f"[{table}]"
    values = source.data[table][loc[1]]
    name = (
        next((values[k] for k in ("name", "joint", "body", "file") if k in values), None)
        if (isinstance(values, dict))
        else None
    )
    return f"[[{table}]] {loc[1] + 1}" + (f" ({name!r})" if isinstance(name, str) else "")


def _fields(loc: tuple[int | str, ...]) -> tuple[str, ...]:
    """Return the keys that the table at a location may have."""
    model: type[Table] = SceneFile
    for part in loc[:-1]:
        if isinstance(part, str) and part in model.model_fields:
            model = _table_of(model.model_fields[part].annotation) or model
    return tuple(model.model_fields)


def _table_of(annotation: Any) -> type[Table] | None:
    if isinstance(annotation, type) and issubclass(annotation, Table):
        return annotation
    return next((found for inner in get_args(annotation) if (found := _table_of(inner))), None)


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
