"""The one owner of the pybullet import: a silent engine and a client that is always disconnected.

PyBullet prints from C, past ``sys.stdout``: a banner on import, warnings on every load. Only
requested output may reach standard output, so both file descriptors are redirected meanwhile.
"""

from __future__ import annotations

import ctypes
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from types import ModuleType

from mbplugin.errors import BadUsage, MissingDependency

_STDOUT, _STDERR = 1, 2


class Captured:
    """What was printed inside :func:`quiet`; ``text`` is filled when the block ends."""

    text = ""


@contextmanager
def quiet() -> Iterator[Captured]:
    """Keep everything printed by the block, from Python or C, off stdout and stderr.

    The redirection holds for the whole process, so nothing else may print meanwhile.

    Yields
    ------
    Captured
        Its ``text`` holds what was printed, once the block has ended.
    """
    captured = Captured()
    _flush()
    with tempfile.TemporaryFile() as file:
        saved = [(descriptor, _duplicate(descriptor)) for descriptor in (_STDOUT, _STDERR)]
        try:
            for descriptor, _ in saved:
                os.dup2(file.fileno(), descriptor)
            yield captured
        finally:
            _flush()
            for descriptor, copy in saved:
                _restore(descriptor, copy)
            file.seek(0)
            captured.text = file.read().decode(errors="replace")


def engine() -> ModuleType:
    """Return the pybullet module, imported without its banner.

    Raises
    ------
    MissingDependency
        It is not installed.
    """
    if (loaded := sys.modules.get("pybullet")) is not None:
        return loaded
    try:
        with quiet():
            import pybullet
    except ImportError:
        raise MissingDependency.of("this", "PyBullet", "bullet") from None
    module: ModuleType = pybullet
    return module


def require_engine(what: str) -> None:
    """Refuse what needs PyBullet where it is not installed, before anything is computed for it.

    Parameters
    ----------
    what : str
        The subject of the sentence, such as "a cross-check".

    Raises
    ------
    MissingDependency
        It is not installed.
    """
    if "pybullet" not in sys.modules and find_spec("pybullet") is None:
        raise MissingDependency.of(what, "PyBullet", "bullet")


@contextmanager
def session() -> Iterator[tuple[ModuleType, int]]:
    """Connect to a private PyBullet world without a window, and leave it again.

    Yields
    ------
    engine : module
        pybullet.
    client : int
        The id to pass as ``physicsClientId``.

    Raises
    ------
    BadUsage
        No more clients can be connected.
    """
    bullet = engine()
    with quiet():
        client = bullet.connect(bullet.DIRECT)
    if client < 0:
        raise BadUsage("PyBullet refuses another client", remedy="disconnect one of those that are open")
    try:
        yield bullet, client
    finally:
        # the block may have disconnected it already
        with quiet(), suppress(bullet.error):
            bullet.disconnect(client)


def _flush() -> None:
    """Write out what Python and C still buffer, to where it belongs."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    with suppress(Exception):
        ctypes.CDLL(None).fflush(None)


def _duplicate(descriptor: int) -> int | None:
    """Return a copy of a descriptor, or None where the process runs without it."""
    try:
        return os.dup(descriptor)
    except OSError:
        return None


def _restore(descriptor: int, copy: int | None) -> None:
    if copy is None:
        os.close(descriptor)
        return
    os.dup2(copy, descriptor)
    os.close(copy)
