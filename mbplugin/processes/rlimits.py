"""Limits of a process that the system keeps; where it has none, nothing is limited."""

from __future__ import annotations

import builtins
import contextlib
import sys
from collections.abc import Iterator
from typing import Any

#: Where the system does not tell, bytes.
_ADDRESSES = 1 << 30


@contextlib.contextmanager
def memory_limited(more: int) -> Iterator[None]:
    """Limit the addresses of this process within a block.

    Parameters
    ----------
    more : int
        Bytes beyond those that it has; an allocation that needs more raises MemoryError.
    """
    if sys.platform == "win32":
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_AS)[0]
    set_soft(resource.RLIMIT_AS, addresses() + more)
    try:
        yield
    finally:
        set_soft(resource.RLIMIT_AS, before)


@contextlib.contextmanager
def no_more_files() -> Iterator[None]:
    """Let this process open no file within a block, whatever library tries to; what is open can be read on.

    Modules can be imported: they are this program's, and numpy imports some when it first needs them. This holds
    where the system limits descriptors, thus not on Windows.
    """
    import_before = builtins.__import__

    def import_module(*args: Any, **kwargs: Any) -> Any:
        builtins.__import__ = import_before
        try:
            with files_allowed():
                return import_before(*args, **kwargs)
        finally:
            builtins.__import__ = import_module

    builtins.__import__ = import_module
    try:
        with _descriptors(0):
            yield
    finally:
        builtins.__import__ = import_before


@contextlib.contextmanager
def files_allowed() -> Iterator[None]:
    """Let this process open files again, within a block of :func:`no_more_files`."""
    with _descriptors(_BEFORE[0] if _BEFORE else None):
        yield


#: The soft limits of descriptors that blocks have replaced, the outermost first.
_BEFORE: list[int] = []


@contextlib.contextmanager
def _descriptors(most: int | None) -> Iterator[None]:
    if sys.platform == "win32" or most is None:
        yield
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    # not as far as possible but exactly: a limit that does not hold must not be taken for one that does
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    _BEFORE.append(soft)
    try:
        yield
    finally:
        set_soft(resource.RLIMIT_NOFILE, _BEFORE.pop())


def set_soft(kind: int, value: int) -> None:
    """Set a soft limit of this process, as far as its hard limit allows; on Windows there are none."""
    if sys.platform == "win32":
        return
    import resource

    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY and (value == resource.RLIM_INFINITY or value > hard):
        value = hard
    # some systems refuse limits of addresses
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (value, hard))


def addresses() -> int:
    """Return the bytes of addresses that this process has, or what it may have where nothing tells."""
    if sys.platform == "win32":
        return _ADDRESSES
    import resource

    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[0]) * resource.getpagesize()
    except (OSError, ValueError):
        return _ADDRESSES


def set_hard(kind: int, value: int) -> bool:
    """Set a limit of this process that it cannot raise again, and return whether it holds."""
    if sys.platform == "win32":
        return False
    import resource

    soft, hard = resource.getrlimit(kind)
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    if soft == resource.RLIM_INFINITY or soft > value:
        soft = value
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (soft, value))
    return resource.getrlimit(kind)[1] == value
