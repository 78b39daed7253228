"""The optional packages of zones, imported where a zone is computed."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from mbplugin.errors import MissingDependency


def shapely() -> Any:
    """Return shapely, which unites polygons.

    Raises
    ------
    MissingDependency
    """
    return _imported("shapely", "a zone")


def ezdxf() -> Any:
    """Return ezdxf, which writes drawings.

    Raises
    ------
    MissingDependency
    """
    return _imported("ezdxf", "a zone as .dxf")


def _imported(name: str, what: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingDependency.of(what, name, "zones") from None
