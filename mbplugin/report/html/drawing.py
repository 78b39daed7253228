"""A picture, a film and ghosts as data for the viewer."""

from __future__ import annotations

from base64 import b64encode
from typing import TYPE_CHECKING, Any

import numpy as np

from mbplugin.model.mechanism.kinematics import BodyPoses, forward
from mbplugin.model.mechanism.mechanism import WORLD
from mbplugin.model.spatial import Array, Pose, quaternion_from_rotation
from mbplugin.report.picture import Mesh, Picture
from mbplugin.report.picture.picture import (
    LEGEND,
    PALETTE,
    QUANTITIES,
    ArrowLengths,
    DrawnArrow,
    arrow_scale,
    drawn_arrows,
    length,
)
from mbplugin.simulation.trajectory.resampling import drawn

if TYPE_CHECKING:
    from mbplugin.model.mechanism.mechanism import Mechanism
    from mbplugin.simulation.trajectory.trajectory import Trajectory

#: Lengths of arrows, relative to the radius of the picture.
_ARROWS = ArrowLengths(largest=0.45, smallest=0.06, fan=0.22)
#: Maximum number of frames of a film, and maximum size of its data, bytes.
_FRAMES, _BYTES = 300, 3_000_000


def drawing_data(seen: Picture) -> dict[str, Any]:
    """Return bodies, joints, arrows and colours as data; poses are position xyz, m, and quaternion xyzw."""
    shelf = _Shelf()
    index = {body.name: k for k, body in enumerate(seen.bodies)}
    return {
        "center": seen.center_W,
        "radius": seen.radius,
        "palette": {key: [colour.hex, colour.alpha, colour.on_dark] for key, colour in PALETTE.items()},
        "legend": [[entry.key, entry.marks, entry.text] for entry in LEGEND],
        "bodies": [
            {
                "name": body.name,
                "verdict": body.verdict,
                "stick": body.stick,
                "parts": [[shelf.place(part.mesh), seven_numbers(part.X_LM)] for part in body.parts],
            }
            for body in seen.bodies
        ],
        "joints": [
            {
                "name": joint.name,
                "type": joint.type,
                "kind": joint.kind,
                "verdict": joint.verdict,
                "ends": [joint.body_a, joint.body_b],
                "body": index[joint.body],
                "mesh": shelf.place(joint.mesh),
                "place": seven_numbers(joint.X_LJ),
            }
            for joint in seen.joints
        ],
        "arrows": [_arrow(one) for one in drawn_arrows(seen.arrows, seen.radius, _ARROWS)],
        "arrow_scale": {
            quantity: arrow_scale(seen.arrows, quantity, seen.radius, _ARROWS) for quantity in QUANTITIES
        },
        "poses": pose_bytes(seen.poses),
        "geometries": shelf.geometries,
    }


def film_data(motion: Trajectory) -> dict[str, Any]:
    """Return the poses of all bodies along a motion, equally spaced in time; empty without motion or bodies."""
    bodies = len(motion.mechanism.bodies)
    count = int(np.clip(_BYTES // (28 * (bodies + 1)), 2, _FRAMES))
    start, end = float(motion.time[0]), float(motion.time[-1])
    if end <= start or not bodies:
        return {}
    times = np.asarray(np.linspace(start, end, count), dtype=float)
    frames = drawn(motion, times)
    poses = np.stack([body_places(forward(motion.mechanism, q)) for q in frames.q])
    places = poses[:, :, :3].reshape(-1, 3)
    reach = [places.min(axis=0), places.max(axis=0)]
    return {"time": frames.time, "poses": base64_of(poses), "bodies": bodies, "reach": reach}


def ghost_data(mech: Mechanism, key: str, q: Array) -> dict[str, Any]:
    """Return the data of the whole mechanism at another pose q (nq,)."""
    return {"key": key, "poses": pose_bytes(forward(mech, q))}


def pose_bytes(poses: BodyPoses) -> str:
    """Return the poses of all bodies without the ground, seven numbers each, in Base64."""
    return base64_of(body_places(poses))


def path_bytes(path: Array) -> str:
    """Return the points of a path (n, 3), m, in Base64."""
    return base64_of(path)


def body_places(poses: BodyPoses) -> Array:
    """Return position and quaternion xyzw of all bodies, (N, 7)."""
    count = len(poses.p_WL)
    return np.array([seven_numbers(poses.of(k)) for k in range(count)]).reshape(count, 7)


def seven_numbers(X: Pose) -> list[float]:
    """Return position and quaternion xyzw of a pose, m."""
    return [round(float(v), 9) for v in (*X.p, *quaternion_from_rotation(X.R))]


def base64_of(values: Array) -> str:
    """Return values (...,) of any shape as 32-bit floats in Base64, clipped to the range of such numbers."""
    largest = float(np.finfo("<f4").max)
    return b64encode(np.clip(values, -largest, largest).astype("<f4").tobytes()).decode()


class _Shelf:
    """Geometries of a page, each stored once."""

    def __init__(self) -> None:
        self.geometries: list[dict[str, Any]] = []
        self._places: dict[int, int] = {}
        # keep the meshes alive, as an id is unique only during an object's lifetime
        self._kept: list[Mesh] = []

    def place(self, mesh: Mesh) -> int:
        if id(mesh) not in self._places:
            self._places[id(mesh)] = len(self.geometries)
            self._kept.append(mesh)
            kind = "<u2" if len(mesh.vertices) < 2**16 else "<u4"
            faces = np.ascontiguousarray(mesh.faces, dtype=kind).tobytes()
            self.geometries.append(
                {"v": base64_of(mesh.vertices), "f": b64encode(faces).decode(), "wide": kind == "<u4"}
            )
        return self._places[id(mesh)]


def _arrow(drawn: DrawnArrow) -> dict[str, Any]:
    arrow = drawn.arrow
    unit = "N" if arrow.quantity == "force" else "N·m"
    said = f"{arrow.constraint}: {arrow.quantity}"
    if length(arrow.known) or not len(arrow.fan):
        said += f" {length(arrow.known):.4g} {unit}"
    if len(arrow.fan):
        said += ", partly not determined by a rigid model" if length(arrow.known) else " not determined"
    if arrow.resolved is not None:
        said += f"; by stiffness {length(arrow.resolved):.4g} {unit}"
    return {
        "joint": arrow.constraint,
        "quantity": arrow.quantity,
        "point": arrow.point_W,
        "known": drawn.known,
        "resolved": drawn.resolved,
        "fan": drawn.fan,
        "text": said,
    }


def stress_data(constraints: tuple[str, ...], ends: dict[str, tuple[str, str]]) -> dict[str, Any]:
    """Return the constraints that a self-stress loads, and the bodies they connect."""
    loaded = {body for name in constraints for body in ends.get(name, ())} - {WORLD}
    return {"joints": list(constraints), "bodies": sorted(loaded)}
