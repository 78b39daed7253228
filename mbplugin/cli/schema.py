"""``mbplugin schema``: the JSON schema of an output, or of the scene file."""

from __future__ import annotations

from typing import Annotated

import typer

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.output import emit_document
from mbplugin.report.documents import DocumentName


def schema_command(
    document: Annotated[
        DocumentName,
        typer.Argument(metavar="DOCUMENT", help=f"{opt.choices(DocumentName)}."),
    ] = "lint",
    output_format: opt.FormatOption = "json",
    output: opt.OutputOption = None,
) -> None:
    """Print the JSON schema of a command's JSON output, or of scene files; both formats are JSON."""
    from mbplugin.report.documents.schema import schema_of

    emit_document(schema_of(document), output)
