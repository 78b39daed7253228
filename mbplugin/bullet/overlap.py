"""How deep solids lie in each other, computed by PyBullet's collision detection in a child process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

from mbplugin.bullet.child import in_child
from mbplugin.bullet.session import quiet, require_engine, session
from mbplugin.processes.foreign import Limits, Purpose

_LIMITS = Limits(
    60.0,
    60,
    4 << 30,
    1 << 20,
    Purpose("computed", "the overlaps", "solids that take less", "simplify the meshes"),
)


#: What PyBullet lays around a hull, m.
_MARGIN = 1e-3


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
