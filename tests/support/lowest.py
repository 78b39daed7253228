"""Print the lowest declared version of every dependency as exact requirements, for ``make lowest``."""

from __future__ import annotations

import re
import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

#: The extras that the core tests need, besides the dependencies.
EXTRAS = ("mjcf", "yaml", "xacro", "sweep", "plot")
_REQUIREMENT = re.compile(r"([\w.-]+)(?:\[[\w,]+\])?\s*>=\s*([\w.]+)")


def lowest(pyproject: Path) -> list[str]:
    """Return ``name==version; marker`` of all dependencies that state a lower bound."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    stated = [*project["dependencies"], *(one for extra in EXTRAS for one in extras.get(extra, ()))]
    found: dict[str, str] = {}
    for requirement in stated:
        bound, _, marker = requirement.partition(";")
        if match := _REQUIREMENT.fullmatch(bound.split(",")[0].strip()):
            found.setdefault(match[1], f"{match[1]}=={match[2]}{';' + marker if marker else ''}")
    return sorted(found.values())


if __name__ == "__main__":
    print("\n".join(lowest(Path(__file__).resolve().parents[2] / "pyproject.toml")))
