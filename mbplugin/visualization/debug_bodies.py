"""Surfaces in a client of PyBullet: nothing there has a mass or collides, every pose is set."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

from mbplugin.bullet.build.tree import Visual, wavefront
from mbplugin.model.mechanism.kinematics import BodyPoses, forward
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import Array, quaternion_from_rotation
from mbplugin.report.picture.palette import PALETTE
from mbplugin.visualization.scene_view import Surface


class VisualScene:
    """What a client shows of a mechanism.

    Parameters
    ----------
    bullet : module
        pybullet.
    mech : Mechanism
        Whose poses are set.
    """

    def __init__(self, bullet: ModuleType, client: int, mech: Mechanism) -> None:
        self.bullet, self.client, self.mech = bullet, client, mech
        self._drawn: list[tuple[int, Surface]] = []

    def draw(self, surfaces: Iterable[Surface]) -> tuple[int, ...]:
        """Add surfaces, each in its own frame, and return their ids; poses are set by :meth:`pose`."""
        ids: list[int] = []
        with tempfile.TemporaryDirectory() as folder:
            for surface in surfaces:
                file = Path(folder) / f"{len(ids)}.obj"
                mesh = surface.mesh
                file.write_text(wavefront(Visual(mesh.vertices, mesh.faces)), encoding="ascii")
                shape = self.bullet.createVisualShape(
                    self.bullet.GEOM_MESH,
                    fileName=str(file),
                    rgbaColor=PALETTE[surface.key].rgba,
                    physicsClientId=self.client,
                )
                ids.append(int(self.bullet.createMultiBody(0, -1, shape, physicsClientId=self.client)))
                self._drawn.append((ids[-1], surface))
        return tuple(ids)

    def remove(self, ids: Iterable[int]) -> None:
        """Take surfaces away."""
        gone = set(ids)
        for id in gone:
            self.bullet.removeBody(id, physicsClientId=self.client)
        self._drawn = [(id, surface) for id, surface in self._drawn if id not in gone]

    def pose(self, q: Array) -> None:
        """Put all surfaces where they are at coordinates q (nq,) of the mechanism."""
        self.place(forward(self.mech, q))

    def place(self, poses: BodyPoses) -> None:
        """Put all surfaces where they are when the bodies are at given poses."""
        for id, surface in self._drawn:
            if surface.body < 0 and surface.rod is None:
                continue
            X_WL = surface.place(self.mech, poses)
            self.bullet.resetBasePositionAndOrientation(
                id, X_WL.p.tolist(), quaternion_from_rotation(X_WL.R).tolist(), physicsClientId=self.client
            )
