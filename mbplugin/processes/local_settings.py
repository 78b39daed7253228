"""Ignore the settings of libraries in the working folder, in mbplugin's own processes.

Matplotlib reads ``./matplotlibrc`` on import, which can make it run a program (LaTeX); numba reads
``./.numba_config.yaml`` on import and at every compilation. A script that imports mbplugin still uses both.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING

from mbplugin.processes import LIBRARY

if TYPE_CHECKING:
    from importlib.abc import Loader
else:
    # importing this module would load a dozen others and slow down every command
    Loader = object

_NAMES = ("matplotlib", "numba")


def ignore_local_settings() -> None:
    """Make libraries that are imported from now on ignore settings in the working folder."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


@contextmanager
def _elsewhere() -> Iterator[None]:
    """Change to the folder of Python's library within a block."""
    try:
        here = os.getcwd()  # noqa: PTH109
    except FileNotFoundError:
        # the working folder was removed, so it holds no settings
        yield
        return
    os.chdir(LIBRARY)
    try:
        yield
    finally:
        os.chdir(here)


class _Finder:
    """Finds the libraries as usual, but lets them be executed in another folder."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname not in _NAMES:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(Loader):
    """The loader of a library, which executes it in another folder."""

    def __init__(self, own: Loader) -> None:
        self._own = own

    def __getattr__(self, name: str) -> object:
        # resources of the library are read through its loader
        return getattr(self._own, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._own.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        with _elsewhere():
            self._own.exec_module(module)
        config = sys.modules.get("numba.core.config")
        if module.__name__ == "numba" and config is not None:
            # no settings file, or else the compiler would look for it again
            vars(config)["_config_fname"] = os.devnull
