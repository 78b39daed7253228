"""What is kept of a kernel and of an entry, and what is made of that in another process."""

from __future__ import annotations

import importlib
from functools import reduce
from typing import Any

from numba.core.compiler import compile_result
from numba.core.environment import Environment

from mbplugin.dynamics.compiler.code_library import EntryLibrary, KernelLibrary, Origin
from mbplugin.dynamics.compiler.pipeline import register_kernel


class CannotKeep(Exception):
    """A function that another process would not find by its name."""


class NotKept(Exception):
    """What a kernel was translated with is not there any more."""


class EntryForm:
    """Of an entry: its machine code."""

    suffix = "entry"

    def reduce(self, made: Any) -> Any:
        """Return what can be pickled of a compiled entry."""
        description = made.fndesc
        # neither is needed, and they cannot always be pickled
        description.typemap = description.calltypes = None
        environments = tuple(made._find_referenced_environments())
        code, names = made.library.machine_code()
        return (
            made.library.name,
            *(code, names),
            *(description, made.environment, made.signature),
            *(made.reload_init, environments),
        )

    def rebuild(self, context: Any, kept: Any) -> Any:
        """Return a compiled entry."""
        name, code, names, description, environment, signature, reload_init, environments = kept
        for function in reload_init:
            function()
        library = EntryLibrary.of_machine_code(context.codegen(), name, code, names)
        entry_point = context.get_executable(library, description, environment)
        for one in environments:
            library.codegen.set_env(one.env_name, one)
        return compile_result(
            typing_context=context.typing_context,
            target_context=context,
            library=library,
            environment=environment,
            entry_point=entry_point,
            fndesc=description,
            signature=signature,
            objectmode=False,
            lifted=(),
            reload_init=reload_init,
            referenced_envs=environments,
        )


class KernelForm:
    """Of a kernel that others call: its module, and which kernels it calls."""

    suffix = "kernel"

    def reduce(self, made: Any) -> Any:
        """Return what can be pickled of a translated kernel.

        Raises
        ------
        CannotKeep
            It is no function of a module, or calls one.
        """
        library, description = made.library, made.fndesc
        called = [one.origin for one in library.called if isinstance(one, KernelLibrary)]
        for origin in (library.origin, *called):
            _find(origin)
        description.typemap = description.calltypes = None
        names = tuple(_compiled(origin).fndesc.mangled_name for origin in called)
        return (
            *(library.name, library.bitcode(), library.origin),
            *(tuple(called), names),
            *(description, made.signature, tuple(getattr(library, "_reload_init", ()))),
        )

    def rebuild(self, context: Any, kept: Any) -> Any:
        """Return a translated kernel; those that it calls are read, or translated anew.

        Raises
        ------
        NotKept
            One that it calls has another name by now.
        """
        name, bitcode, origin, called, names, description, signature, reload_init = kept
        below = [_compiled(one) for one in called]
        if names != tuple(one.fndesc.mangled_name for one in below):
            raise NotKept
        for function in reload_init:
            function()
        libraries = [one.library for one in below]
        library = KernelLibrary.of_bitcode(context.codegen(), name, bitcode, libraries)
        library.origin = origin
        environment = Environment.from_fndesc(description)
        return compile_result(
            typing_context=context.typing_context,
            target_context=context,
            library=library,
            environment=environment,
            entry_point=register_kernel(context, library, description, environment),
            fndesc=description,
            signature=signature,
            objectmode=False,
            lifted=(),
            reload_init=reload_init,
        )


def _find(origin: Origin) -> Any:
    """Return the kernel of a module that something was translated from."""
    try:
        found = reduce(getattr, origin.name.split("."), importlib.import_module(origin.module))
    except (ImportError, AttributeError):
        raise CannotKeep(origin.name) from None
    if not hasattr(found, "get_compile_result"):
        raise CannotKeep(origin.name)
    return found


def _compiled(origin: Origin) -> Any:
    """Return a kernel, translated for the types of its arguments."""
    kernel = _find(origin)
    kernel.compile(origin.args)
    return kernel.overloads[origin.args]
