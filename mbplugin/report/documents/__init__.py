"""The JSON documents of the commands; each has one definition, from which its schema is generated."""

from __future__ import annotations

from typing import Literal, get_args

#: Everything with a schema: the outputs of commands, and the input files ``scene`` and ``settings``.
DocumentName = Literal[
    "lint",
    "scene",
    "matrix",
    "rule",
    "reactions",
    "simulate",
    "modes",
    "estop",
    "stop-table",
    "calibrate",
    "worst-stop",
    "sweep",
    "distance",
    "crosscheck",
    "diff",
    "engines",
    "close",
    "view",
    "config",
    "settings",
    "doctor",
    "init",
]
DOCUMENTS: tuple[DocumentName, ...] = get_args(DocumentName)
