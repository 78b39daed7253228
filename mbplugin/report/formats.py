"""The formats of outputs: a serialization of documents is a name and a line here, besides its file."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Literal

#: Serializations of the document of a command.
DocumentFormat = Literal["json"]
#: What every command writes, and what commands with an HTML report and the stopping table write.
OutputFormat = Literal["text", DocumentFormat]
PageFormat = Literal[OutputFormat, "html"]
TableFormat = Literal[OutputFormat, "csv", "html"]
#: What a command writes that makes tables of a scene.
SceneFormat = Literal[OutputFormat, "toml"]

#: Where each serialization is; imported when it is used.
_SERIALIZERS: dict[str, tuple[str, str]] = {"json": ("mbplugin.report.documents.json", "dumps")}


def serialized(document: object, output_format: str) -> str:
    """Return the text of a document."""
    module, function = _SERIALIZERS[output_format]
    write: Any = getattr(import_module(module), function)
    return str(write(document))
