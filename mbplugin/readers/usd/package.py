"""The usd-core package, imported where a stage is read."""

from __future__ import annotations

import importlib
import os
from types import SimpleNamespace
from typing import Any

from mbplugin.errors import MissingDependency

_MODULES = ("Ar", "Gf", "Plug", "Sdf", "Usd", "UsdGeom", "UsdPhysics", "UsdShade", "UsdUtils")


def pxr_modules() -> Any:
    """Return a namespace with the modules of ``pxr`` that the reader needs, with everything that they load later.

    OpenUSD's own resolver finds files, without a search path; plug-ins that the environment names are not loaded.

    Raises
    ------
    MissingDependency
        The package is not installed.
    """
    # its threads take addresses, which are limited
    os.environ.setdefault("PXR_WORK_THREAD_LIMIT", "1")
    os.environ.pop("PXR_PLUGINPATH_NAME", None)
    try:
        found = {name: importlib.import_module(f"pxr.{name}") for name in _MODULES}
    except ImportError:
        raise MissingDependency.of("reading USD", "usd-core", "usd") from None
    pxr = SimpleNamespace(**found)
    pxr.Ar.SetPreferredResolver("ArDefaultResolver")
    pxr.Ar.DefaultResolver.SetDefaultSearchPath([])
    # libraries and schemas are loaded when something first needs them, and while a stage is read no file is opened
    for plugin in pxr.Plug.Registry().GetAllPlugins():
        plugin.Load()
    pxr.Usd.SchemaRegistry().BuildComposedPrimDefinition("Xform", ["PhysicsRigidBodyAPI"])
    return pxr
