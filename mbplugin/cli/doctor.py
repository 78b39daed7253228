"""``mbplugin doctor``: what of an installation works here, and the commands that install the rest."""

from __future__ import annotations

from functools import partial

from mbplugin.cli.shared import options as opt
from mbplugin.cli.shared.report import emit_document, emit_lines


def doctor_command(output_format: opt.FormatOption = "text", output: opt.OutputOption = None) -> int:
    """Check which extras, engines, caches and programs work here, and print the command for what lacks.

    Each package is imported and used in a process of its own, up to a minute. Exit code: 0 if the core works, else 1.
    """
    from mbplugin.installation import examine

    found = examine()
    if output_format == "text":
        from mbplugin.report.text.installation import installation_lines

        emit_lines(partial(installation_lines, found), output)
    else:
        from mbplugin.report.documents.installation import doctor_document

        emit_document(doctor_document(found), output, output_format)
    return 0 if found.works else 1
