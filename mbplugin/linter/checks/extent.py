"""How far a mechanism and its bodies extend, as far as their joints say."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbplugin.model.mechanism import WORLD
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import Array


@dataclass(frozen=True, eq=False)
class Extents:
    """Lengths of a mechanism.

    Parameters
    ----------
    whole : float
        Diagonal of the box around all joints and link frames in the pose of the file, m; 0 where all are in one place.
    joints : dict of body name to (n, 3) array
        Where the joints of a body are, in its link frame, m.
    """

    whole: float
    joints: dict[str, Array]

    def of(self, body: str) -> float:
        """Return the largest distance between two joints of a body along the axes of its frame, m."""
        return float(np.linalg.norm(np.ptp(self.joints[body], axis=0))) if body in self.joints else 0.0


def extents(scene: Scene) -> Extents:
    """Return the lengths of a scene's mechanism."""
    mech = scene.mechanism
    poses = forward(mech, scene.state.q)
    own: dict[str, list[Array]] = {}
    # the frame of a link lies at its joint, that of the root where its author put it
    points = [poses.of(k).p for k in range(len(mech.bodies))]
    for pair in mech.pairs:
        for body, X in ((pair.body_a, pair.X_AP), (pair.body_b, pair.X_BS)):
            if body != WORLD:
                own.setdefault(body, []).append(X.p)
                points.append(poses.of(mech.body_index[body]).apply(X.p))
    whole = float(np.linalg.norm(np.ptp(np.array(points), axis=0))) if points else 0.0
    return Extents(whole, {body: np.array(found) for body, found in own.items()})
