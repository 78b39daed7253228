"""Rooms that share their name with a public function: ``mb.lint`` is a package and can be called."""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any


class CallableRoom(ModuleType):
    """A package whose call is the call of its one public function.

    Importing a submodule binds the package over any function of that name in the parent, so the
    package itself has to answer the call.
    """

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the public function."""
        module, _, function = str(self.__dict__["PUBLIC_FUNCTION"]).rpartition(".")
        return getattr(importlib.import_module(module), function)(*args, **kwargs)


def make_callable(name: str) -> None:
    """Let the package ``name`` be called as its ``PUBLIC_FUNCTION`` ("module.function")."""
    sys.modules[name].__class__ = CallableRoom
