"""Definition of JSON objects as classes: the fields give the keys, their order and the schema.

The classes repeat field names of the values they show, as the keys are a contract and the field names are not.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from operator import attrgetter
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from mbplugin.choices import NamedPlane
from mbplugin.report import plain
from mbplugin.report.documents import DocumentName

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
#: The documents in each module of this folder; for example, ``stop-table`` is defined by ``StopTableOutput``.
_MODULES: dict[str, tuple[DocumentName, ...]] = {
    "lint": ("lint",),
    "models": ("matrix", "rule", "diff", "engines", "close", "view", "config"),
    "motions": ("reactions", "simulate", "crosscheck", "modes"),
    "stopping": ("estop", "stop-table", "worst-stop", "sweep", "distance", "calibrate"),
    "installation": ("doctor", "init"),
}
#: The models of input files.
_INPUTS = {
    "scene": ("mbplugin.readers.scene_file", "SceneFile"),
    "settings": ("mbplugin.linter.config_file", "ConfigFile"),
}
_CHOICES: dict[str, Callable[[Any], Sequence[Any]]] = {"const": lambda one: (one,), "enum": tuple}
Size = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=0)]
Series = list[float]
Three = Annotated[list[float], Field(min_length=3, max_length=3)]
Matrix = Annotated[list[Three], Field(min_length=3, max_length=3)]
Six = Annotated[list[float], Field(min_length=6, max_length=6)]
ByName = dict[str, float]
#: False if the mechanism is not restricted to a plane.
Planar = Literal[False] | NamedPlane
_Open = Annotated[list[Three], Field(max_length=3)] | None
_LEFT_OPEN = (
    "orthonormal directions, world axes, in which the rigid model leaves the {} open;"
    " null for no pair, or where the method does not tell"
)
OpenForce = Annotated[_Open, Field(description=_LEFT_OPEN.format("force"))]
OpenMoment = Annotated[_Open, Field(description=_LEFT_OPEN.format("moment at the point"))]
Code = Annotated[str, Field(pattern="^[A-Z]+[0-9]{3,}$")]
_Scalar = float | bool | str | None


# JSON schemas (draft 2020-12) of the outputs of commands, of the scene file and of the settings.
#
# Objects are open: keys may be added to a document of the same ``schema_version``.


def schema_of(document: DocumentName) -> dict[str, Any]:
    """Return the schema of the output of a command, of a ``scene`` file or of the ``settings`` of a lint."""
    if document in _INPUTS:
        module, name = _INPUTS[document]
        schema = getattr(import_module(module), name).model_json_schema()
    else:
        schema = TypeAdapter(output_of(document)).json_schema(
            mode="serialization", schema_generator=_Untitled
        )
    # the title comes first, as it identifies files of mbplugin
    title = {"title": f"mbplugin {document}"}
    return {"$schema": _DRAFT, **title, **schema, **title}


def output_of(document: DocumentName) -> type[Document]:
    """Return the definition of the output of a command."""
    (module,) = (name for name, documents in _MODULES.items() if document in documents)
    name = "".join(word.capitalize() for word in document.split("-"))
    output: type[Document] = getattr(import_module(f"{__package__}.{module}"), f"{name}Output")
    return output


def violation(value: Any, document: DocumentName) -> str:
    """Return the path of the first value in a document that violates its schema; empty if there is none.

    Missing keys are allowed, as an earlier release may not have written them, except for the top-level keys of
    the document and those of its record.

    Parameters
    ----------
    value : object
        What :func:`~mbplugin.files.parse_json` returned.
    document : DocumentName
    """
    schema = _cached_schema(document)
    return _Reader(schema.get("$defs", {})).violation(value, schema, "", strict=True)


@cache
def _cached_schema(document: DocumentName) -> dict[str, Any]:
    """Return a schema that nobody changes: building one takes longer than checking a document against it."""
    return schema_of(document)


class _Reader:
    """The part of JSON schema (draft 2020-12) that schemas of documents use."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self.definitions = definitions

    def violation(self, value: Any, schema: Any, path: str, strict: bool = False) -> str:
        """Return the path of the first violation; empty if none. With ``strict``, required keys must be present."""
        if schema is True or schema == {}:
            return ""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            return self.violation(value, self.definitions[name], path, strict or name == "Record")
        where = path or "the whole"
        if "anyOf" in schema:
            found = [self.violation(value, one, path, strict) for one in schema["anyOf"]]
            # of several alternatives, the one whose violation lies deepest was probably meant
            return "" if "" in found else max(found, key=len)
        if "type" in schema and not _TYPES[schema["type"]](value):
            return where
        if any(
            key in schema and not _is_one(value, options(schema[key])) for key, options in _CHOICES.items()
        ):
            return where
        if is_number(value) and value < schema.get("minimum", value):
            return where
        if isinstance(value, str) and re.search(schema.get("pattern", ""), value) is None:
            return where
        if isinstance(value, dict):
            return self._of_object(value, schema, path, strict)
        if isinstance(value, list):
            return self._of_list(value, schema, path)
        return ""

    def _of_object(self, value: dict[str, Any], schema: Any, path: str, strict: bool) -> str:
        known = schema.get("properties", {})
        lacking = [key for key in schema.get("required", ()) if key not in value] if strict else []
        if lacking:
            return f"{path}.{lacking[0]}".lstrip(".")
        for key, item in value.items():
            # strict applies to the top level only: nested objects may be those of an earlier release
            if found := self.violation(
                item, known.get(key, schema.get("additionalProperties", True)), f"{path}.{key}".lstrip(".")
            ):
                return found
        return ""

    def _of_list(self, value: list[Any], schema: Any, path: str) -> str:
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            return path or "the whole"
        first = schema.get("prefixItems", [])
        for k, item in enumerate(value):
            own = first[k] if k < len(first) else schema.get("items", True)
            if found := self.violation(item, own, f"{path}[{k}]"):
                return found
        return ""


def is_number(value: Any) -> bool:
    """Return True for a number of JSON, which a truth value is not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_one(value: Any, options: Sequence[Any]) -> bool:
    """Return True if a value is one of the options, with the same type (1 is not True)."""
    return any(type(value) is type(option) and value == option for option in options)


_TYPES: dict[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": is_number,
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


class _Untitled(GenerateJsonSchema):
    """Schemas without the parts that repeat their keys: titles, and the default of a key that may be missing."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def model_schema(self, schema: Any) -> dict[str, Any]:
        found = super().model_schema(schema)
        found.pop("title", None)
        return found

    def default_schema(self, schema: Any) -> dict[str, Any]:
        return self.generate_inner(schema["schema"])

    def normalize_name(self, name: str) -> str:
        return super().normalize_name(name).lstrip("_")


def key(
    description: str | None = None,
    *,
    read: str | None = None,
    name: str | None = None,
    optional: bool = False,
) -> Any:
    """Return the properties of one key of a document.

    Parameters
    ----------
    description : str, optional
        Meaning and unit, for the schema.
    read : str, optional
        Attribute that is read from the value, dotted for nested attributes; default: the field's name.
    name : str, optional
        The key, if it differs from the field's name, for example because it is a Python keyword.
    optional : bool
        Leave out the key if the value is None.
    """
    default = None if optional else ...
    return Field(default, description=description, validation_alias=read, serialization_alias=name)


class _Object(dict[str, Any]):
    """An object that a part has made, and the part, which knows the meaning of its keys."""

    part: type[Part]


class _Entry(NamedTuple):
    """How one key is written."""

    name: str
    key: str
    path: str
    read: Callable[[Any], Any]
    make: Callable[[Any], Any] | None
    constant: tuple[Any, ...]
    optional: bool


class Part(BaseModel):
    """An object of a document. Documents are written from values, and never validated while they are."""

    # building validators, which only tests need, would triple the import time
    model_config = ConfigDict(defer_build=True)

    @classmethod
    def of(cls, value: Any = None, **stated: Any) -> dict[str, Any]:
        """Return the JSON object of a value, with its keys in the order of the fields.

        A field with a single possible value has that value. Any other field is taken from ``stated``, else from
        the attribute (for a mapping, the entry) of its name; nested parts are made in the same way. Arrays stay
        arrays. An optional field that is None is left out.

        Parameters
        ----------
        value : object
            A result, a mapping, or a tuple with one entry per field.
        **stated
            Fields that override the value or that it does not have.

        Raises
        ------
        TypeError
            A stated field does not exist.
        """
        if isinstance(value, _Object):
            return value
        if type(value) is tuple:
            value = dict(zip(cls.model_fields, value, strict=True))
        mapping = isinstance(value, Mapping)
        found = _Object()
        found.part = cls
        for entry in _entries(cls):
            if entry.constant:
                item = entry.constant[0]
            elif entry.name in stated:
                item = stated.pop(entry.name)
            elif mapping:
                item = value.get(entry.path) if entry.optional else value[entry.path]
            else:
                item = entry.read(value)
            if item is None and entry.optional:
                continue
            found[entry.key] = item if entry.make is None or item is None else entry.make(item)
        if stated:
            raise TypeError(f"{cls.__name__} has no field {', '.join(stated)}")
        return found


class Document(Part):
    """What a command prints."""

    schema_version: Literal[1]
    generator: Literal["mbplugin"] = key("the program that wrote the document", optional=True)


class Source(Part):
    """A file that was read."""

    path: str
    sha256: str | None = key("null where the file could not be read once more")


class Record(Part):
    """How a report was made."""

    date: str = key("UTC, ISO 8601")
    version: str = key("of mbplugin")
    command: str = key("as typed, quoted for a shell")
    robot: str
    files: list[Source]
    standard: str | None = key("the edition whose form the report follows", optional=True)


class InputChange(Part):
    """Something that went into two reports and is not the same: a file, the command, the version."""

    name: str
    old: str
    new: str


class KeyChange(Part):
    """What changed under a key."""

    path: str = key("path of the key, [] for the entries of lists", read="key", name="key")
    changed: Count = key("values that differ by more than a millionth of the largest under the key")
    count: Count = key("values under the key")
    where: str = key("the entry of the largest difference; empty where the key is there once")
    old: _Scalar = key("its value there; null if the earlier report has none")
    new: _Scalar = key("its value there; null if this report has none")
    relative: float | None = key("(new − old)/|old|; null for what is not a number, and for an old zero")


class Against(Part):
    """What differs from an earlier report."""

    path: str
    sha256: str
    date: str = key("of the earlier report; empty where it does not say")
    inputs: list[InputChange]
    changes: list[KeyChange]
    count: Count = key("values that were compared")


class Recorded(Document):
    """What a command prints with its record; a document that no command prints has none."""

    record: Record | None = key("how the report was made", optional=True)
    against: Against | None = key("what differs from an earlier report, with --against", optional=True)

    @classmethod
    def of(cls, value: Any = None, **stated: Any) -> dict[str, Any]:
        """Return the JSON object of a value, with a record and a comparison only if stated."""
        return super().of(value, **{"record": None, "against": None, **stated})


class Model(Part):
    """The model that was read."""

    name: str
    files: list[str]


class PlanarModel(Model):
    """The model that was read, and the plane to which it is restricted."""

    planar: Planar


class Weight(Part):
    """A term of a sum, such as a self-stress: the factor of a component."""

    constraint: str
    component: str
    weight: float


def by_name(names: Iterable[str], values: Iterable[Any]) -> dict[str, Any]:
    """Return a mapping of names to values."""
    return dict(zip(names, values, strict=True))


def with_keys(document: dict[str, Any], after: str, **added: Any) -> dict[str, Any]:
    """Return a copy of an object with ``added`` keys after the key ``after``."""
    found = _Object()
    for name, value in document.items():
        found[name] = value
        if name == after:
            found.update(added)
    if isinstance(document, _Object):
        found.part = document.part
    return found


def required_keys(part: type[Part]) -> list[str]:
    """Return the required keys of a part."""
    return [entry.key for entry in _entries(part) if not entry.optional]


def meaning_of(found: Any, name: str) -> str:
    """Return the meaning and unit of a key of an object; empty if the object was not made by a part."""
    part = getattr(found, "part", None)
    return _meanings(part).get(name, "") if part is not None else ""


@cache
def _meanings(part: type[Part]) -> dict[str, str]:
    fields = part.model_fields.items()
    return {field.serialization_alias or name: field.description or "" for name, field in fields}


@cache
def _entries(part: type[Part]) -> tuple[_Entry, ...]:
    entries = []
    for name, field in part.model_fields.items():
        path = str(field.validation_alias or name)
        possible = get_args(field.annotation) if get_origin(field.annotation) is Literal else ()
        constant = possible if len(possible) == 1 else ()
        written = field.serialization_alias or name
        make, optional = _maker(field.annotation), not field.is_required()
        entries.append(_Entry(name, written, path, attrgetter(path), make, constant, optional))
    return tuple(entries)


def _maker(annotation: Any) -> Callable[[Any], Any] | None:
    """Return the function that makes the nested parts of a value of this type; None if it has no parts."""
    origin = get_origin(annotation)
    if origin is None:
        return annotation.of if isinstance(annotation, type) and issubclass(annotation, Part) else None
    make = next(filter(None, map(_maker, get_args(annotation))), None)
    if make is None:
        return None
    if origin is list:
        return lambda values: [make(value) for value in values]
    if origin is dict:
        return lambda values: {name: make(value) for name, value in values.items()}
    return make


# JSON text, and conversion of values to JSON types.


def dumps(document: Any) -> str:
    """Return strict JSON text: non-finite numbers become null, and negative zero becomes zero."""
    return json.dumps(plain(document), indent=2, allow_nan=False) + "\n"
