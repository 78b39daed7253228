"""The ``.scene.toml`` file: models, closures and everything around them, as one scene.

Here is its grammar.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from mbplugin.errors import BadScene, BadUsage, MbPluginError, suggestion
from mbplugin.model import SI, Array, FitUncertainty, Origin, Pose, rotation_from_rpy
from mbplugin.phrases import only_near
from mbplugin.readers.scene_file.tables import (
    ActuatorTable,
    BodyTable,
    BrakeTable,
    ClosureTable,
    ContactTable,
    CouplingTable,
    DriverTable,
    HoldTable,
    LimitTable,
    LintTable,
    LoadTable,
    LockTable,
    MisfitTable,
    ModelTable,
    PairTable,
    PayloadTable,
    PfaffianTable,
    RampTable,
    RefusedTable,
    ShapeTable,
    SpringTable,
    StateTable,
    StiffnessTable,
    Table,
    Vector,
    key,
    strict_model,
)
from mbplugin.readers.xml import rounded_angle

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
#: Keys of a table that are not numbers.
_WORDS = ("joint", "origin", "origin_values", "uncertainty")
#: The header of a table: one or two brackets, and its name.
TOML_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"^\s*(?:\"([^\"]*)\"|'([^']*)'|([A-Za-z0-9_-]+))[^=]*=")
_LINE_OF_ERROR = re.compile(r"\s*\(at (?:line (\d+), column (\d+)|end of document)\)")
#: An unquoted word where a value is expected.
_WORD = re.compile(r"[A-Za-z_][\w./-]{,60}")
#: Maximum length of a scene, characters: the parser takes a second for three million.
_LONGEST = 10_000_000
#: Maximum length of a quoted parser message, characters: it names keys.
_LONGEST_REASON = 200
#: Maximum number of dots in one word of a scene; the parser's time is quadratic in it.
_DEEPEST = 1000


# Validation errors of pydantic for a scene file, as one sentence with the line.


def validate(source: SceneSource) -> SceneFile:
    """Return the file's tables.

    Raises
    ------
    BadScene
        The first violation of the schema, and the number of others.
    """
    try:
        return SceneFile(**source.data)
    except RefusedTable:
        raise _refusal(source) from None


def _refusal(source: SceneSource) -> BadScene:
    """Return the error for tables that violate the schema."""
    # imported for the reason only, because it is slow to import
    from pydantic import ValidationError

    try:
        strict_model(SceneFile).model_validate(source.data)
    except ValidationError as error:
        # for a union, pydantic reports every alternative that failed
        failures = error.errors(include_url=False, include_context=True)
    else:
        raise AssertionError(f"{source.file} is refused without a reason")
    places = {tuple(part for part in e["loc"] if not _is_alternative(part)) for e in failures}
    refused = _sentence(source, dict(failures[0]), len(places) - 1)
    refused.meant = tuple(_meant(source, failures))
    return refused


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


def _meant(source: SceneSource, failures: Sequence[Mapping[str, Any]]) -> Iterator[tuple[int, str, str]]:
    """Yield the line of each unknown key, the key, and the only known one that it is near and that is not stated."""
    for failure in failures:
        loc: tuple[int | str, ...] = failure["loc"]
        key, stated = loc[-1], source.data
        if failure["type"] != "extra_forbidden" or not isinstance(key, str):
            continue
        for part in loc[:-1]:
            stated = stated[part]  # type: ignore[index]
        # an array of tables may go on
        near = only_near(key, [k for k in _fields(loc) if k not in stated or isinstance(stated[k], list)])
        if not near:
            continue
        table, index = str(loc[0]), loc[1] if len(loc) > 2 and isinstance(loc[1], int) else 0
        if len(loc) > 1:
            line = source.keys.get((table, index, key), (0, ""))[0]
        else:
            line = source.tables.get((table, 0), 0) or source.keys.get(("", 0, table), (0, ""))[0]
        if line:
            yield line, key, near


def _about_table(source: SceneSource, table: str, failure: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return the error, the expectation and the remedy for a whole table or a top-level key."""
    known = tuple(SceneFile.fields())
    if failure["type"] == "extra_forbidden":
        noun = "table" if (table, 0) in source.tables else "key"
        return f"unknown {noun} {table!r}", "", suggestion(table, known)
    if failure["type"] == "list_type" and _table_of(SceneFile.fields()[table].annotation):
        return f"{table!r} is not an array of tables", f"[[{table}]]", "write its header in double brackets"
    return f"{table!r} is {_short_text(failure['input'])}", _expected(failure), ""


def _about_key(
    source: SceneSource, loc: tuple[int | str, ...], rest: tuple[int | str, ...], failure: Mapping[str, Any]
) -> tuple[str, str, str]:
    owner = _title(source, loc)
    names = [str(part) for part in rest if isinstance(part, str) and not _is_alternative(part)]
    key = ".".join(names)
    if failure["type"] == "extra_forbidden":
        from mbplugin.vocabulary import remedy_for_key

        remedy = remedy_for_key(names[-1], _described_fields(loc), suggestion(names[-1], _fields(loc)))
        return f"{owner} has an unknown key {key!r}", "", remedy
    if failure["type"] == "missing":
        return f"{owner} lacks the key {key!r}", "", f"add {names[-1]} = …"
    remedy = ""
    if failure["type"] == "literal_error" and isinstance(failure["input"], str):
        choices = failure["ctx"]["expected"].replace("'", "").replace(" or ", ", ").split(", ")
        remedy = suggestion(failure["input"], choices)
        remedy = remedy if remedy.startswith("did") else ""
    if failure["type"] == "float_type" and isinstance(failure["input"], str):
        remedy = _as_number(failure["input"])
    return f"{owner}: {key} is {_short_text(failure['input'])}", _expected(failure), remedy


def _as_number(text: str) -> str:
    """Return a hint with the SI value of a text such as ``90deg``: scenes are in SI units."""
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
    """Return the permitted keys of the table at a location."""
    return tuple(_described_fields(loc))


def _described_fields(loc: tuple[int | str, ...]) -> dict[str, str]:
    """Return the permitted keys of the table at a location, with their descriptions."""
    model: type[Table] = SceneFile
    for part in loc[:-1]:
        if isinstance(part, str) and part in model.fields():
            model = _table_of(model.fields()[part].annotation) or model
    return {name: field.description for name, field in model.fields().items()}


def _table_of(annotation: Any) -> type[Table] | None:
    if isinstance(annotation, type) and issubclass(annotation, Table):
        return annotation
    return next((found for inner in get_args(annotation) if (found := _table_of(inner))), None)


def _short_text(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


class SceneFile(Table):
    """A whole scene file."""

    gravity: Vector | None = key(
        default=None, description="in world axes, m/s²; default: 0 0 -9.81, or that of the model"
    )
    state: StateTable = StateTable()
    model: list[ModelTable] = key(default=[])
    body: list[BodyTable] = key(default=[])
    shape: list[ShapeTable] = key(default=[])
    pair: list[PairTable] = key(default=[])
    closure: list[ClosureTable] = key(default=[])
    coupling: list[CouplingTable] = key(default=[])
    pfaffian: list[PfaffianTable] = key(default=[])
    driver: list[DriverTable] = key(default=[])
    lock: list[LockTable] = key(default=[])
    hold: list[HoldTable] = key(default=[])
    contact: list[ContactTable] = key(default=[])
    load: list[LoadTable] = key(default=[])
    stiffness: list[StiffnessTable] = key(default=[])
    misfit: list[MisfitTable] = key(default=[])
    limit: list[LimitTable] = key(default=[])
    spring: list[SpringTable] = key(default=[])
    brake: list[BrakeTable] = key(default=[])
    ramp: list[RampTable] = key(default=[])
    payload: list[PayloadTable] = key(default=[])
    actuator: list[ActuatorTable] = key(default=[])
    lint: LintTable = LintTable()


# Stated values of a brake or a ramp, and whether its stated origin still applies to them.


def stated_with_origin(table: BrakeTable | RampTable) -> dict[str, Any]:
    """Return the values of a table by key; ``origin`` is extended by the numbers changed after the fit."""
    stated = {key: value for key, value in table.as_dict().items() if key != "origin_values"}
    if table.origin_values:
        stated["origin"] = "; ".join((table.origin or "no origin is stated", *_changes(table)))
    own = table.uncertainty if _is_as_fitted(table) else None
    stated["uncertainty"] = own and FitUncertainty(
        **{key: _frozen(value) for key, value in own.as_dict().items()}
    )
    return stated


def _is_as_fitted(table: BrakeTable | RampTable) -> bool:
    """Return True if the numbers that govern stopping are those of the fit; the static torque was never measured."""
    now, there = table.as_dict(), table.origin_values
    more = {*table.stated} - {*_WORDS, *there, "static_torque"}
    return bool(there) and not more and all(now.get(key) == value for key, value in there.items())


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _changes(table: BrakeTable | RampTable) -> Iterator[str]:
    """Yield the numbers that differ from those of the origin, or are not part of it."""
    now, there = table.as_dict(), table.origin_values
    changed = [
        f"{key} ({value:g} there, {_origins_shown(now.get(key))} here)"
        for key, value in there.items()
        if key in _WORDS or now.get(key) != value
    ]
    if changed:
        yield f"CHANGED SINCE: {', '.join(changed)}"
    more = [key for key in table.stated if key not in (*_WORDS, *there)]
    if more:
        keys = [key for key in table.fields() if key in more]
        yield f"not from there: {', '.join(keys)}"


def _origins_shown(value: Any) -> str:
    return f"{value:g}" if isinstance(value, int | float) else "none"


# The text of a scene file: its values, with the line and literal of each.


if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True, eq=False)
class SceneSource:
    """A parsed scene file with the lines of its tables and keys.

    Parameters
    ----------
    file : str
    data : dict
        The values.
    tables : mapping of (table, index) to line
        The index of a plain table is 0; the table of the top level is ``""``.
    keys : mapping of (table, index, key) to (line, literal)
    snap : bool
        Read rounded angles as the fraction of π they stand for.
    """

    file: str
    data: dict[str, Any]
    tables: dict[tuple[str, int], int]
    keys: dict[tuple[str, int, str], tuple[int, str]]
    snap: bool = False

    def origin(self, table: str, index: int = 0, key: str = "") -> Origin:
        """Return the location of a table or one of its keys; line 0 if it is unknown."""
        line, text = self.keys.get((table, index, key), (0, ""))
        return Origin(self.file, line or self.tables.get((table, index), 0), text)

    def where(self, table: str, index: int = 0, key: str = "") -> str:
        """Return ``file:line`` of a table or one of its keys."""
        return str(self.origin(table, index, key))

    def pose(
        self, table: str, index: int, xyz: list[float] | None, rpy: list[float] | None, key: str
    ) -> Pose:
        """Return a pose; ``key`` names its angles, whose literals are snapped if requested."""
        angles = np.array(rpy or [0.0, 0.0, 0.0], dtype=float)
        words = self.origin(table, index, key).text.split()
        if self.snap and len(words) == 3:
            for i, word in enumerate(words):
                if rounded := rounded_angle(word):
                    angles[i] = rounded.meant
        position: Array = np.array(xyz or [0.0, 0.0, 0.0], dtype=float)
        return Pose(rotation_from_rpy(angles), position)


def parse_scene(text: str, file: str, *, snap: bool = False) -> SceneSource:
    """Return the values of a TOML text with their lines.

    Raises
    ------
    BadScene
        The text is not TOML; with the line.
    """
    text = text.lstrip("\ufeff")
    if len(text) > _LONGEST:
        raise BadScene(
            f"the scene is longer than {_LONGEST // 10**6} million characters",
            where=file,
            remedy="put long motions into CSV files, and name them in [[driver]]",
        )
    if any(word.count(".") > _DEEPEST for word in text.split()):
        raise _too_deep(file)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = _LINE_OF_ERROR.search(str(error))
        line = int(place.group(1)) if place and place.group(1) else text.rstrip().count("\n") + 1
        reason = _LINE_OF_ERROR.sub("", str(error)).rstrip(".")[:_LONGEST_REASON]
        remedy = "correct the file there"
        if "immutable" in reason:
            remedy = (
                "write either [[pair]] for each pair or pair = […] for all, and the like for other tables"
            )
        elif (
            place
            and place.group(2)
            and (word := _WORD.match(text.split("\n")[line - 1], int(place.group(2)) - 1))
        ):
            reason, remedy = f"{reason} {word[0]}", f'write a text in quotes: "{word[0]}"'
        raise BadScene(
            f"the TOML is broken: {reason[:1].lower() + reason[1:]}", where=f"{file}:{line}", remedy=remedy
        ) from None
    except RecursionError:
        raise _too_deep(file) from None
    except ValueError:
        # the only error not raised by the parser itself: Python refuses to read such a long integer
        raise BadScene(
            "the TOML has an integer of thousands of digits", where=file, expected="numbers"
        ) from None
    tables, keys = _scan(text.splitlines())
    return SceneSource(file, data, tables, keys, snap)


def _too_deep(file: str) -> BadScene:
    return BadScene("the TOML nests too deeply", where=file, expected="the tables of a scene")


def _scan(
    lines: list[str],
) -> tuple[dict[tuple[str, int], int], dict[tuple[str, int, str], tuple[int, str]]]:
    """Locate headers and keys line by line; multi-line strings may hide some, but never add any."""
    tables: dict[tuple[str, int], int] = {("", 0): 1}
    keys: dict[tuple[str, int, str], tuple[int, str]] = {}
    counts: dict[str, int] = {}
    table, index = "", 0
    for number, line in enumerate(lines, start=1):
        if header := TOML_HEADER.match(line):
            table = header.group(2).split(".")[0].strip("\"' ")
            if header.group(1) == "[[" and "." not in header.group(2):
                counts[table] = counts.get(table, -1) + 1
            index = counts.get(table, 0)
            tables.setdefault((table, index), number)
        elif key := _KEY.match(line):
            name = next(group for group in key.groups() if group is not None)
            keys.setdefault((table, index, name), (number, _literal(lines, number - 1, key.end())))
    return tables, keys


def _literal(lines: list[str], row: int, column: int) -> str:
    """Return a value's text without brackets, commas and comments, with numbers separated by blanks."""
    text, depth = "", 0
    for line in [lines[row][column:], *lines[row + 1 : row + 20]]:
        bare = line.split("#", 1)[0]
        text += " " + bare
        depth += bare.count("[") - bare.count("]")
        if depth <= 0:
            break
    return " ".join(re.sub(r"[\[\],]", " ", text).split())


@contextmanager
def located(where: str) -> Iterator[None]:
    """Add a location to errors of the block that have none."""
    try:
        yield
    except MbPluginError as error:
        if error.where:
            raise
        raise type(error)(
            error.what, where=where, expected=error.expected, remedy=error.remedy, code=error.code
        ) from None
