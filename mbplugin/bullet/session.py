"""The one owner of the pybullet import: a silent engine and a client that is always disconnected.

PyBullet prints from C, past ``sys.stdout``: a banner on import, warnings on every load. Only
requested output may reach standard output, so both file descriptors are redirected meanwhile.
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
from mbplugin.simulation.budget import MAX_SECONDS

_LIMITS = Limits(
    60.0,
    60,
    4 << 30,
    1 << 20,
    Purpose("computed", "the overlaps", "solids that take less", "simplify the meshes"),
)
#: What PyBullet lays around a hull, m.
_MARGIN = 1e-3
_STDOUT, _STDERR = 1, 2
T = TypeVar("T")
#: Bytes: of memory beyond those of the started process, and of a file.
_MEMORY, _WRITTEN = 4 << 30, 1 << 30
_PURPOSE = Purpose(
    "computed", "the motion", "one that takes less", "take longer steps, a shorter duration or more seconds"
)


# How deep solids lie in each other, computed by PyBullet's collision detection in a child process.


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
        Of a hull, m.
    position, orientation : tuple of float
        m, and a quaternion xyzw.
    """

    kind: str
    size: tuple[float, ...]
    vertices: tuple[tuple[float, ...], ...]
    position: tuple[float, ...]
    orientation: tuple[float, ...]


def overlap_depths(solids: Sequence[Solid], pairs: Sequence[tuple[int, int]]) -> list[float]:
    """Return how deep the two solids of each pair lie in each other, m; 0 where they do not.

    Raises
    ------
    MbPluginError
        PyBullet is not installed, ended its process or took too long.
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


# Motions of PyBullet, computed in a separate process, which a model can end or block.


@dataclass
class Allowance:
    """Seconds that several calls share; the clock runs from its making."""

    seconds: float = MAX_SECONDS
    begun: float = field(default_factory=monotonic)

    @property
    def limits(self) -> Limits:
        """What the next call may take, at least a second."""
        left = max(1.0, self.seconds - (monotonic() - self.begun))
        return Limits(left, math.ceil(left), _MEMORY, _WRITTEN, _PURPOSE)


def in_child(function: Callable[..., T], /, *args: Any, limits: Limits | None = None) -> T:
    """Return the result of a function that runs in a child process of its own.

    Parameters
    ----------
    function : callable
        Of a module that can be imported; it, its arguments and its answer can be pickled.
    limits : Limits, optional
        By default those of an :class:`Allowance`.

    Raises
    ------
    MbPluginError
        What the function raised, that PyBullet ended the process, or that it took too much.
    RuntimeError
        Any other exception in the function, with its traceback.
    """
    return in_own_child("PyBullet", limits or Allowance().limits, "", os.environ, function, *args)
