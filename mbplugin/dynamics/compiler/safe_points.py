"""Points in a compilation at which it may be interrupted; elsewhere the compiler may swallow an exception."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

_asked: list[Callable[[], None]] = []


def safe_point() -> None:
    """Call the registered functions, which may raise."""
    for function in tuple(_asked):
        function()


@contextlib.contextmanager
def at_safe_points(function: Callable[[], None]) -> Iterator[None]:
    """Call a function, which may raise, at every safe point within a block."""
    _asked.append(function)
    try:
        yield
    finally:
        _asked.remove(function)
