"""Limits of a process that the system keeps; where it has none, nothing is limited."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

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
