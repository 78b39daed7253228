"""JSON schemas (draft 2020-12) of what the commands write, of the scene file and of the settings.

Objects are open: keys may be added to a document of the same ``schema_version``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema

from mbplugin.report.documents import DocumentName
from mbplugin.report.documents.part import Document

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
#: Documents whose modules are in a folder beside this one; the others are beside it.
_STOPPING = ("estop", "stop-table", "calibrate", "worst-stop", "sweep", "distance")
#: The models of what a user writes; a document NAME is ``Output`` of the module NAME.
_INPUTS = {
    "scene": ("mbplugin.readers.scene_file.schema", "SceneFile"),
    "settings": ("mbplugin.linter.config.schema", "ConfigFile"),
}


def schema_of(document: DocumentName) -> dict[str, Any]:
    """Return the schema of the output of a command, of a ``scene`` file or of the ``settings`` of a lint."""
    if document in _INPUTS:
        module, name = _INPUTS[document]
        schema = getattr(import_module(module), name).model_json_schema()
    else:
        schema = TypeAdapter(output_of(document)).json_schema(
            mode="serialization", schema_generator=_Untitled
        )
    # the title comes first: by it a file of ours is recognized
    title = {"title": f"mbplugin {document}"}
    return {"$schema": _DRAFT, **title, **schema, **title}


def output_of(document: DocumentName) -> type[Document]:
    """Return the definition of the output of a command."""
    folder = f"{__package__}.stopping" if document in _STOPPING else __package__
    output: type[Document] = import_module(f"{folder}.{document.replace('-', '_')}").Output
    return output


def violation(value: Any, document: DocumentName) -> str:
    """Return the first place at which a document that was read back is not what its schema says; empty for none.

    Keys that lack are no violation, as an earlier release may not have written them, but for those of the
    document itself and of its record.

    Parameters
    ----------
    value : object
        What :func:`~mbplugin.files.parse_json` returned.
    document : DocumentName
    """
    schema = schema_of(document)
    return _Reader(schema.get("$defs", {})).violation(value, schema, "", strict=True)


class _Reader:
    """The part of JSON schema (draft 2020-12) that schemas of documents use."""

    def __init__(self, definitions: Mapping[str, Any]) -> None:
        self.definitions = definitions

    def violation(self, value: Any, schema: Any, path: str, strict: bool = False) -> str:
        """Return the path of the first violation; empty for none. With ``strict``, required keys are there."""
        if schema is True or schema == {}:
            return ""
        if "$ref" in schema:
            name = schema["$ref"].rpartition("/")[2]
            return self.violation(value, self.definitions[name], path, strict or name == "Record")
        where = path or "the whole"
        if "anyOf" in schema:
            found = [self.violation(value, one, path, strict) for one in schema["anyOf"]]
            # of several possibilities the one that goes deepest is what was meant
            return "" if "" in found else max(found, key=len)
        if "type" in schema and not _TYPES[schema["type"]](value):
            return where
        if any(
            key in schema and not _is_one(value, options(schema[key])) for key, options in _CHOICES.items()
        ):
            return where
        if _is_number(value) and value < schema.get("minimum", value):
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
            # strict is about the document itself: its parts may be those of an earlier release
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


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_one(value: Any, options: Sequence[Any]) -> bool:
    """Return whether a value is one of some, where 1 is not true."""
    return any(type(value) is type(option) and value == option for option in options)


_CHOICES: dict[str, Callable[[Any], Sequence[Any]]] = {"const": lambda one: (one,), "enum": tuple}
_TYPES: dict[str, Callable[[Any], bool]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": _is_number,
    "string": lambda value: isinstance(value, str),
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


class _Untitled(GenerateJsonSchema):
    """Schemas without what repeats their keys: titles, and the default of a key that may be missing."""

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
