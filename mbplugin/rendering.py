"""Results as JSON or HTML texts: the only import from a result upwards to the reports, at the time of use."""

from __future__ import annotations

from importlib import import_module
from typing import Literal

#: The module that knows the documents and pages of all results; nothing below may import it.
_REPORTS = "mbplugin.report.results"


def rendered(result: object, kind: Literal["json", "html"]) -> str:
    """Return the JSON document or the HTML page of a result.

    Raises
    ------
    TypeError
        The reports know no such result.
    """
    return str(import_module(_REPORTS).text_of(result, kind))
