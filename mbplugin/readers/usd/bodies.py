"""The rigid bodies of a stage: their names, and which prims belong to which of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mbplugin.model.mechanism import WORLD
from mbplugin.model.spatial import Pose
from mbplugin.readers.usd.stage import Stage


def unique_names(paths: Iterable[str], taken: Iterable[str] = ()) -> dict[str, str]:
    """Return a name for each path: as little of its end as no other path and no taken name has."""
    parts = {path: path.strip("/").split("/") for path in paths}
    names: dict[str, str] = {}
    used = set(taken)
    todo, count = list(parts), 1
    while todo:
        ends: dict[str, list[str]] = {}
        for path in todo:
            ends.setdefault("/".join(parts[path][-count:]), []).append(path)
        again = []
        for end, those in ends.items():
            exhausted = all(len(parts[path]) <= count for path in those)
            if len(those) == 1 and end not in used:
                names[those[0]] = end
            elif exhausted:
                names[those[0]] = those[0]
            else:
                again += those
        used.update(names.values())
        todo, count = again, count + 1
    return {path: names[path] for path in parts}


class Bodies:
    """The rigid bodies of a stage.

    Parameters
    ----------
    stage : Stage

    Attributes
    ----------
    prims : dict of str to Usd.Prim
        The prim of each body by its name in the mechanism, in the order of the stage.
    held : list of str
        Bodies that are moved by others than forces (``kinematicEnabled``): fixed to the ground.
    colliders : dict of str to list of Usd.Prim
        The colliders of each body.
    """

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        api = stage.pxr.UsdPhysics.RigidBodyAPI
        found = {str(p.GetPath()): p for p in stage.prims if p.HasAPI(api) and self._is_enabled(p)}
        self._names = unique_names(found, (WORLD,))
        self.prims = {self._names[path]: prim for path, prim in found.items()}
        self.held = [n for n, prim in self.prims.items() if stage.value(prim, "physics:kinematicEnabled")]
        self.poses = {name: stage.frame(prim) for name, prim in self.prims.items()}
        self.colliders: dict[str, list[Any]] = {name: [] for name in self.prims}
        for prim in stage.prims:
            if prim.HasAPI(stage.pxr.UsdPhysics.CollisionAPI) and (owner := self.owner(prim)) != WORLD:
                self.colliders[owner].append(prim)

    def _is_enabled(self, prim: Any) -> bool:
        return self._stage.value(prim, "physics:rigidBodyEnabled") is not False

    def owner(self, prim: Any) -> str:
        """Return the body that a prim is part of: itself, or the nearest one above; else the ground."""
        for above in self._stage.ancestors(prim):
            name = self._names.get(str(above.GetPath()))
            if name is not None:
                return name
        return WORLD

    def pose(self, name: str) -> Pose:
        """Return X_WL of a body; that of the ground is the identity."""
        return Pose.identity() if name == WORLD else self.poses[name]
