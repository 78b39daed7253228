"""The rooms of the package, from the ground up."""

from __future__ import annotations

#: From the ground up: a room imports itself and what stands before it.
ORDER = (
    (
        "phrases",
        "synonyms",
        "vocabulary",
        "errors",
        "formats",
        "choices",
        "files",
        "version",
        "rendering",
    ),
    ("processes",),
    ("model",),
    ("arguments", "csv_tables"),
    ("readers",),
    ("writers",),
    ("constraints",),
    ("analysis",),
    ("dynamics",),
    ("joint_reactions",),
    ("simulation",),
    ("stopping",),
    ("bullet",),
    ("comparison",),
    ("closing",),
    ("linter",),
    ("installation", "initialization"),
    ("report",),
    ("visualization",),
    ("watching", "editor"),
    ("api", ""),
    ("testing",),
    ("pytest_plugin", "usd_validator", "cli", "__main__", "watch"),
    ("studies",),
)
