"""The formats of outputs: a serialization of documents is a name and a line here, besides its file."""

from __future__ import annotations

from importlib import import_module
from typing import Literal

#: Serializations of the document of a command.
DocumentFormat = Literal["json", "xlsx"]
#: What every command writes, and what commands with an HTML report and the stopping table write.
OutputFormat = Literal["text", DocumentFormat]
PageFormat = Literal[OutputFormat, "html", "pdf"]
TableFormat = Literal[PageFormat, "csv"]
#: What a command writes that makes tables of a scene.
SceneFormat = Literal[PageFormat, "toml"]

#: Where each serialization is; imported when it is used.
_SERIALIZERS: dict[str, tuple[str, str]] = {
    "json": ("mbplugin.report.documents.json", "dumps"),
    "xlsx": ("mbplugin.report.documents.xlsx", "workbook"),
}
#: Where formats get the package that they need.
_PACKAGES: dict[str, tuple[str, str]] = {
    "xlsx": ("mbplugin.report.documents.xlsx", "openpyxl_module"),
    "pdf": ("mbplugin.report.pdf", "playwright_api"),
}


def require_package(output_format: str) -> None:
    """Refuse a format whose package is not installed, before anything is computed for it.

    Raises
    ------
    MissingDependency
    """
    if output_format in _PACKAGES:
        module, function = _PACKAGES[output_format]
        getattr(import_module(module), function)()


def serialized(document: object, output_format: str) -> str | bytes:
    """Return the text of a document, or the bytes where the format is no text.

    Raises
    ------
    MissingDependency
        The format needs a package that is absent.
    """
    module, function = _SERIALIZERS[output_format]
    written: str | bytes = getattr(import_module(module), function)(document)
    return written
