"""What was looked up in the file system is kept for one run, in which files are taken not to change."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterator
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")

_KEPT: ContextVar[dict[Hashable, Any] | None] = ContextVar("kept lookups", default=None)


@contextlib.contextmanager
def lookups_kept() -> Iterator[None]:
    """Look up everything at most once in this block: several rules ask for the same files."""
    token = _KEPT.set({})
    try:
        yield
    finally:
        _KEPT.reset(token)


def looked_up(key: Hashable, look_up: Callable[[], T]) -> T:
    """Return the result of a look-up; in a block of :func:`lookups_kept`, of the first one with its key.

    Parameters
    ----------
    key : hashable
        What is looked up, and everything on which the result depends but the files themselves.
    look_up : callable
    """
    kept = _KEPT.get()
    if kept is None:
        return look_up()
    if key not in kept:
        kept[key] = look_up()
    result: T = kept[key]
    return result
