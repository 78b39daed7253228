"""``mbplugin config``: the settings that apply to a file, and their origin."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.output import emit, emit_document


def config_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A file or folder.")] = Path(),
    output_format: opt.FormatOption = "text",
    output: opt.OutputOption = None,
) -> None:
    """Print the settings that a lint of FILE uses, and the origin of each setting."""
    from mbplugin.linter.config.find import settings_for

    settings = settings_for(file)
    if output_format == "text":
        from mbplugin.report.text.config import settings_text

        emit(settings_text(settings), output)
    else:
        from mbplugin.report.documents.config import settings_document

        emit_document(settings_document(settings), output, output_format)
