"""JSON schemas (draft 2020-12) of what the commands write, of the scene file and of the settings.

Objects are open: keys may be added to a document of the same ``schema_version``.
"""

from __future__ import annotations

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
