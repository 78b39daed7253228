"""Kernels and entries as numba's dispatchers: how they are compiled, and where that is kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core.registry import CPUDispatcher
from numba.core.types import unliteral

from mbplugin.dynamics.compiler.code_cache import CodeCache
from mbplugin.dynamics.compiler.kept_form import EntryForm, KernelForm
from mbplugin.dynamics.compiler.pipeline import EntryPipeline, KernelPipeline
from mbplugin.processes.collections import without_collections


class Kernel(CPUDispatcher):
    """A function for other kernels, with an entry for Python where Python calls it.

    Parameters
    ----------
    function : callable
        Of a module; what is made of another one is not kept.
    options : dict
        Of numba.
    folder : Path, optional
        Where what is compiled is kept.
    """

    def __init__(self, function: Callable[..., Any], options: dict[str, Any], folder: Path | None) -> None:
        without_wrappers = {**options, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        super().__init__(function, targetoptions=without_wrappers, pipeline_class=KernelPipeline)
        self._entry: Any = None
        self._entry_options, self._folder = {**options, "no_cfunc_wrapper": True}, folder
        _keep(self, function, KernelForm(), folder)

    def __reduce__(self) -> Any:
        """Return the name, by which another process finds it."""
        return self.py_func.__qualname__

    def add_overload(self, made: Any) -> None:
        """Note what was translated for a signature; Python cannot call that."""
        self.overloads[tuple(made.signature.args)] = made

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Return the types of a call in a kernel; a number that the caller states is a number like others."""
        numbers = {name: unliteral(kind) for name, kind in kws.items()}
        return super().get_call_template(tuple(unliteral(kind) for kind in args), numbers)

    def _compile_for_args(self, *args: Any, **kwargs: Any) -> Any:
        """Return the entry for arguments from Python."""
        if self._entry is None:
            self._entry = entry_of(self.py_func, self._entry_options, self._folder)
        known = len(self._entry.overloads)
        with without_collections():
            entry_point = self._entry._compile_for_args(*args, **kwargs)
        for made in list(self._entry.overloads.values())[known:]:
            enter: Any = self._insert  # type: ignore[attr-defined]
            enter([kind._code for kind in made.signature.args], made.entry_point, False)
        return entry_point


def entry_of(function: Callable[..., Any], options: dict[str, Any], folder: Path | None) -> Any:
    """Return a function that is compiled with all kernels below it; its machine code is kept in a folder."""
    made = CPUDispatcher(function, targetoptions=options, pipeline_class=EntryPipeline)
    _keep(made, function, EntryForm(), folder)
    return made


def _keep(dispatcher: Any, function: Any, form: EntryForm | KernelForm, folder: Path | None) -> None:
    """Let what is compiled be kept on disk, where there is a folder for it."""
    if folder is not None:
        dispatcher._cache = CodeCache(function, folder, form)
