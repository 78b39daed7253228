"""The types of the variables of a function."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import errors as numba_errors
from numba.core import ir
from numba.core import types as numba_types
from numba.core.typeinfer import TypeInferer, TypeVarMap

# the stubs leave much out
types: Any = numba_types
errors: Any = numba_errors
#: Variables, each with its type when it was looked at.
_Types = list[tuple[Any, Any]]


class RememberedTypes:
    """What is known of types, with a memory.

    Numba tries every way to add two numbers, arrays and dates included, at each sum anew.
    """

    def __init__(self, known: Any) -> None:
        self._known = known
        self._found: dict[Any, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._known, name)

    def resolve_function_type(self, function: Any, args: Any, kws: Any) -> Any:
        """Return the signature of a function for types of arguments; what cannot be called is not remembered."""
        if isinstance(function, types.Dispatcher):
            return self._known.resolve_function_type(function, args, kws)
        key = function, tuple(args), tuple(kws.items())
        found = self._found.get(key)
        if found is None:
            found = self._found[key] = self._known.resolve_function_type(function, args, kws)
        return found


class _ReadVariables(TypeVarMap):
    """The variables by name, and those that were asked for since somebody emptied ``read``."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[Any] = []

    def __getitem__(self, name: str) -> Any:
        variable = super().__getitem__(name)
        self.read.append(variable)
        return variable


class Inference(TypeInferer):
    """Finds types as numba does, but looks at a statement again only where a type that it looked at is another one."""

    def __init__(self, known: Any, function: Any) -> None:
        super().__init__(known, function, errors.WarningsFixer(errors.NumbaWarning))
        self.typevars: _ReadVariables = _ReadVariables()
        self.typevars.set_context(known)

    def propagate(self, raise_errors: bool = True) -> Any:
        """Go through all statements until no type changes; raise the first error that is left."""
        statements = self.constraints.constraints
        seen: list[_Types | None] = [None] * len(statements)
        # as texts: an error would keep all that its frames have, down to what is to be computed
        failed: dict[int, str] = {}
        while stale := [n for n, types in enumerate(seen) if types is None or _are_others(types)]:
            for n in stale:
                failed.pop(n, None)
                self.typevars.read = []
                try:
                    statements[n](self)
                except errors.TypingError as error:
                    failed[n] = str(error)
                seen[n] = [(variable, variable.type) for variable in self.typevars.read]
        found = [errors.TypingError(failed[n], loc=statements[n].loc) for n in sorted(failed)]
        if found and raise_errors:
            raise found[0]
        return found


def _are_others(types: _Types) -> bool:
    return any(variable.type is not kind for variable, kind in types)


@contextmanager
def plain_messages() -> Iterator[None]:
    """Let numba's errors have no colours and quote no lines in a block: most are caught, one for each plain number."""
    with _replaced(errors.termcolor(), "_markup", _as_it_is), _replaced(ir.Loc, "strformat", ir.Loc.__str__):
        yield


@contextmanager
def _replaced(owner: Any, name: str, function: Any) -> Iterator[None]:
    before = getattr(owner, name, None)
    setattr(owner, name, function)
    try:
        yield
    finally:
        setattr(owner, name, before)


def _as_it_is(message: str, *_: Any) -> str:
    return message
