"""The usd-core package, imported where a stage is read."""

from __future__ import annotations

import importlib
import os
from types import SimpleNamespace
from typing import Any

from mbplugin.errors import MissingDependency

_MODULES = ("Ar", "Gf", "Sdf", "Usd", "UsdGeom", "UsdPhysics", "UsdShade", "UsdUtils")


def pxr_modules() -> Any:
    """Return a namespace with the modules of ``pxr`` that the reader needs.

    Raises
    ------
    MissingDependency
        The package is not installed.
    """
    # its threads take addresses, which are limited
    os.environ.setdefault("PXR_WORK_THREAD_LIMIT", "1")
    try:
        found = {name: importlib.import_module(f"pxr.{name}") for name in _MODULES}
    except ImportError:
        raise MissingDependency.of("reading USD", "usd-core", "usd") from None
    return SimpleNamespace(**found)
