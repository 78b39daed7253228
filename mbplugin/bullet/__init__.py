"""The only package that uses PyBullet: sessions, reading a live client, building mechanisms and computing motions.

Here are its sessions.
"""

from __future__ import annotations

import ctypes
import math
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from time import monotonic
from types import ModuleType
from typing import Any, TypeVar

from mbplugin.errors import BadUsage, MissingDependency
from mbplugin.processes.foreign import Limits, Purpose, in_own_child
from mbplugin.simulation.options import MAX_SECONDS

_LIMITS = Limits(
    60.0,
    60,
    4 << 30,
    1 << 20,
    Purpose("computed", "the overlaps", "solids that take less", "simplify the meshes"),
)
#: Collision margin that PyBullet adds around a hull, m.
_MARGIN = 1e-3
_STDOUT, _STDERR = 1, 2
T = TypeVar("T")
#: Limits of a child process: memory beyond that of the started process, and size of a file, bytes.
_MEMORY, _WRITTEN = 4 << 30, 1 << 30
_PURPOSE = Purpose(
    "computed", "the motion", "one that takes less", "take longer steps, a shorter duration or more seconds"
)


# Penetration depths of solids, computed by PyBullet's collision detection in a child process.


@dataclass(frozen=True)
class Solid:
    """A convex solid in the world.

    Parameters
    ----------
    kind : str
        ``box`` (x y z), ``sphere`` (radius), ``cylinder``, ``capsule`` (radius, length along z), or ``hull``
        of vertices.
    size : tuple of float
        m.
    vertices : tuple of (float, float, float)
        Vertices of a hull, m.
    position, orientation : tuple of float
        Position, m, and quaternion xyzw.
    """

    kind: str
    size: tuple[float, ...]
    vertices: tuple[tuple[float, ...], ...]
    position: tuple[float, ...]
    orientation: tuple[float, ...]


def overlap_depths(solids: Sequence[Solid], pairs: Sequence[tuple[int, int]]) -> list[float]:
    """Return the penetration depth of each pair of solids, m; 0 if they do not overlap.

    Raises
    ------
    MbPluginError
        PyBullet is not installed, crashed its process or took too long.
    """
    require_engine("finding overlaps")
    return in_child(_depths, tuple(solids), tuple(pairs), limits=_LIMITS)


def _depths(solids: Sequence[Solid], pairs: Sequence[tuple[int, int]]) -> list[float]:
    with session() as (bullet, client), quiet():
        ids = [_body(bullet, client, solid) for solid in solids]
        return [
            max(0.0, _depth(bullet, client, ids[a], ids[b]) - _margin(solids[a]) - _margin(solids[b]))
            for a, b in pairs
        ]


def _body(bullet: ModuleType, client: int, solid: Solid) -> int:
    shape = bullet.createCollisionShape(physicsClientId=client, **_shape(bullet, solid))
    return int(
        bullet.createMultiBody(
            0, shape, -1, list(solid.position), list(solid.orientation), physicsClientId=client
        )
    )


def _shape(bullet: ModuleType, solid: Solid) -> dict[str, object]:
    """Return the arguments of PyBullet's ``createCollisionShape``."""
    if solid.kind == "box":
        return {"shapeType": bullet.GEOM_BOX, "halfExtents": [edge / 2 for edge in solid.size]}
    if solid.kind == "sphere":
        return {"shapeType": bullet.GEOM_SPHERE, "radius": solid.size[0]}
    if solid.kind == "hull":
        return {"shapeType": bullet.GEOM_MESH, "vertices": [list(point) for point in solid.vertices]}
    round_shape = bullet.GEOM_CYLINDER if solid.kind == "cylinder" else bullet.GEOM_CAPSULE
    return {"shapeType": round_shape, "radius": solid.size[0], "height": solid.size[1]}


def _margin(solid: Solid) -> float:
    return _MARGIN if solid.kind == "hull" else 0.0


def _depth(bullet: ModuleType, client: int, a: int, b: int) -> float:
    points = bullet.getClosestPoints(a, b, 0.0, physicsClientId=client)
    # entry 8 is the distance, negative inside
    return max((-float(point[8]) for point in points), default=0.0)


class Captured:
    """The output printed inside :func:`quiet`; ``text`` is set when the block ends."""

    text = ""


@contextmanager
def quiet() -> Iterator[Captured]:
    """Keep everything that the block prints, from Python or C, off stdout and stderr.

    The redirection applies to the whole process, so no other thread may print meanwhile.

    Yields
    ------
    Captured
        Its ``text`` is the printed output, once the block has ended.
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


def _duplicate(descriptor: int) -> int | None:
    """Return a copy of a file descriptor; None if the process runs without it."""
    try:
        return os.dup(descriptor)
    except OSError:
        return None


def engine() -> ModuleType:
    """Return the pybullet module, imported without its banner.

    Raises
    ------
    MissingDependency
        PyBullet is not installed.
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
    """Require that PyBullet is installed, before the computation starts.

    Parameters
    ----------
    what : str
        The feature that needs it, for the message, such as "a cross-check".

    Raises
    ------
    MissingDependency
        PyBullet is not installed.
    """
    if "pybullet" not in sys.modules and find_spec("pybullet") is None:
        raise MissingDependency.of(what, "PyBullet", "bullet")


@contextmanager
def session() -> Iterator[tuple[ModuleType, int]]:
    """Connect to a private PyBullet world without a window, and disconnect at the end of the block.

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
        raise BadUsage("PyBullet allows no further client", remedy="disconnect one of those that are open")
    try:
        yield bullet, client
    finally:
        # the block may have disconnected it already
        with quiet(), suppress(bullet.error):
            bullet.disconnect(client)


def _flush() -> None:
    """Flush the output buffers of Python and C, so that the output goes to its intended destination."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(Exception):
            stream.flush()
    with suppress(Exception):
        ctypes.CDLL(None).fflush(None)


def _restore(descriptor: int, copy: int | None) -> None:
    if copy is None:
        os.close(descriptor)
        return
    os.dup2(copy, descriptor)
    os.close(copy)


# PyBullet motions run in a separate process, since a model can crash or block it.


@dataclass
class Allowance:
    """A time budget, s, shared by several calls; it runs from the creation of the object."""

    seconds: float = MAX_SECONDS
    begun: float = field(default_factory=monotonic)

    @property
    def limits(self) -> Limits:
        """Limits of the next call, with at least one second."""
        left = max(1.0, self.seconds - (monotonic() - self.begun))
        return Limits(left, math.ceil(left), _MEMORY, _WRITTEN, _PURPOSE)


def in_child(function: Callable[..., T], /, *args: Any, limits: Limits | None = None) -> T:
    """Return the result of a function that runs in a separate child process.

    Parameters
    ----------
    function : callable
        Function of an importable module; function, arguments and result must be picklable.
    limits : Limits, optional
        By default those of an :class:`Allowance`.

    Raises
    ------
    MbPluginError
        The function raised it, or PyBullet crashed the process, or a limit was exceeded.
    RuntimeError
        The function raised any other exception; the message has its traceback.
    """
    return in_own_child("PyBullet", limits or Allowance().limits, "", os.environ, function, *args)
