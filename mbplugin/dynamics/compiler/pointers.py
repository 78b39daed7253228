"""Compiled functions as addresses, which a call from Python passes instead of a function.

For a function argument, Numba looks the machine code up at every call, which takes longer than a step of a
robot.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import types
from numba.extending import intrinsic

_intrinsic: Any = intrinsic  # the stubs leave it untyped


def address_of(function: Any, signature: Any) -> int:
    """Return the address of a compiled function, valid as long as the function exists.

    Parameters
    ----------
    function : dispatcher
        Compiled for the signature, with an address.
    signature : numba signature
    """
    made = function.get_compile_result(signature)
    return int(made.library.get_pointer_to_function(made.fndesc.llvm_cfunc_wrapper_name))


def function_at(kind: Any) -> Callable[[int], Any]:
    """Return an intrinsic that converts an address to a function, for kernels.

    Parameters
    ----------
    kind : numba function type
        Type of the function.
    """

    def code(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        # the first member is the address, the others are for Python
        none = context.get_constant_null(kind)
        pointer = builder.inttoptr(args[0], none.type.elements[0])
        return builder.insert_value(none, pointer, 0)

    def typed(_: Any, address: Any) -> Any:
        return kind(types.intp), code

    made: Callable[[int], Any] = _intrinsic(typed)
    return made
