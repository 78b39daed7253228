"""Limits of a process that the system keeps; where it has none, nothing is limited."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def memory_limited(more: int) -> Iterator[None]:
    """Limit the addresses of this process within a block.

    Parameters
    ----------
    more : int
        Bytes beyond those that it has; an allocation that needs more raises MemoryError.
    """
    try:
        import resource
    except ImportError:  # Windows
        yield
        return
    before = resource.getrlimit(resource.RLIMIT_AS)[0]
    set_soft(resource.RLIMIT_AS, addresses() + more)
    try:
        yield
    finally:
        set_soft(resource.RLIMIT_AS, before)


def set_soft(kind: int, value: int) -> None:
    """Set a soft limit of this process, as far as its hard limit allows."""
    import resource

    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY and (value == resource.RLIM_INFINITY or value > hard):
        value = hard
    # some systems refuse limits of addresses
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(kind, (value, hard))


def addresses() -> int:
    """Return the bytes of addresses that this process has."""
    import resource

    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[0]) * resource.getpagesize()
    except (OSError, ValueError):
        return 1 << 30
