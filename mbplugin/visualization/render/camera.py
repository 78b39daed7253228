"""The camera of a picture: yaw, pitch and distance about a point, in PyBullet's conventions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mbplugin.model.spatial import Array
from mbplugin.report.picture import Picture

#: Height of the view, degrees.
FIELD = 40.0
_YAW, _PITCH, _FROM_ABOVE = 40.0, -24.0, -50.0
#: What is thinner than this beside its width is looked at from its flat side, turned by so much.
_FLAT, _TURNED = 0.35, 25.0
#: How much of the view the robot fills.
_FILLED = 0.92


@dataclass(frozen=True, eq=False)
class Camera:
    """A view.

    Parameters
    ----------
    target_W : (3,) array
        The middle of the picture, m.
    yaw, pitch : float
        Degrees; at yaw 0 one looks along y, and at a pitch below 0 from above.
    distance : float
        From the target, m.
    """

    target_W: Array
    yaw: float
    pitch: float
    distance: float

    @property
    def R_WK(self) -> Array:
        """Axes (3, 3) of the camera in the world, columns: right, up, and back towards the eye."""
        yaw, pitch = np.radians(self.yaw), np.radians(self.pitch)
        right = np.array([np.cos(yaw), np.sin(yaw), 0.0])
        back = np.array([np.sin(yaw) * np.cos(pitch), -np.cos(yaw) * np.cos(pitch), -np.sin(pitch)])
        return np.column_stack((right, np.cross(back, right), back))

    @property
    def eye_W(self) -> Array:
        """Where it stands, (3,), m."""
        return np.asarray(self.target_W + self.distance * self.R_WK[:, 2])

    @property
    def view(self) -> list[float]:
        """The view matrix as PyBullet takes it, column by column."""
        matrix = np.eye(4)
        matrix[:3, :3] = self.R_WK.T
        matrix[:3, 3] = -self.R_WK.T @ self.eye_W
        return [float(x) for x in matrix.T.ravel()]

    def pixels(self, points_W: Array, size: tuple[int, int]) -> Array:
        """Return where ``points_W`` (n, 3) are in a picture of width × height, (n, 2), from its upper left."""
        p_K = (np.atleast_2d(points_W) - self.eye_W) @ self.R_WK
        scale = 0.5 * size[1] / np.tan(np.radians(0.5 * FIELD))
        depth = np.maximum(-p_K[:, 2], 1e-9)
        return np.column_stack(
            (0.5 * size[0] + scale * p_K[:, 0] / depth, 0.5 * size[1] - scale * p_K[:, 1] / depth)
        )


def camera_for(
    seen: Picture, size: tuple[int, int], angles: tuple[float, ...] = (), cloud_W: Array | None = None
) -> Camera:
    """Return a camera from which a robot is seen well.

    Parameters
    ----------
    size : tuple of int
        Width and height of the picture.
    angles : tuple of float
        Yaw and pitch in degrees and distance in m, as far as they are given.
    cloud_W : (n, 3) array, optional
        Points that have to be seen besides the robot.
    """
    points = robot_points(seen)
    if cloud_W is not None and len(cloud_W):
        points = np.vstack((points, cloud_W))
    yaw, pitch = _angles(points)
    yaw, pitch = (*angles[:2], *(yaw, pitch)[len(angles[:2]) :])
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    camera = Camera(middle, yaw, pitch, 1.0)
    camera = _framed(camera, points, size)
    return Camera(camera.target_W, yaw, pitch, angles[2]) if len(angles) > 2 else camera


def robot_points(seen: Picture) -> Array:
    """Return corners of all that is drawn of a robot, (n, 3), world axes, m."""
    clouds = [joint.X_WJ.p[None] for joint in seen.joints]
    for index, body in enumerate(seen.bodies, start=-1):
        if body.parts and (index >= 0 or body.stick):
            X_WL = seen.poses.of(index)
            vertices = body.mesh.vertices
            clouds.append(vertices[:: max(1, len(vertices) // 400)] @ X_WL.R.T + X_WL.p)
    cloud = np.vstack(clouds) if clouds else np.zeros((1, 3))
    far = np.linalg.norm(cloud - seen.center_W, axis=1) > 1.5 * seen.radius
    return cloud[~far] if not far.all() else seen.center_W[None]


def _angles(points: Array) -> tuple[float, float]:
    """Return yaw and pitch from which a cloud of ``points`` (n, 3) is seen broad, degrees."""
    _, sigma, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    if len(sigma) < 3 or sigma[2] > _FLAT * sigma[1]:
        return _YAW, _PITCH
    n = axes[2]
    if abs(n[2]) > 0.7:
        return _YAW, _FROM_ABOVE
    yaws = [float(np.degrees(np.arctan2(s * n[0], -s * n[1]))) for s in (1.0, -1.0)]
    yaw = min(yaws, key=lambda angle: abs(_wrapped(angle - _YAW)))
    return yaw + float(np.clip(_wrapped(_YAW - yaw), -_TURNED, _TURNED)), 0.7 * _PITCH


def _framed(camera: Camera, points: Array, size: tuple[int, int]) -> Camera:
    """Return the camera so near, and so directed, that all ``points`` (n, 3) just fit."""
    tangent = np.tan(np.radians(0.5 * FIELD)) * _FILLED
    reach = np.array([tangent * size[0] / size[1], tangent])
    target = camera.target_W
    distance = 1.0
    for _ in range(8):
        p_K = (points - target) @ camera.R_WK
        need = p_K[:, 2] + np.abs(p_K[:, :2] / reach).max(axis=1)
        distance = max(float(need.max()), 1e-3)
        depth = distance - p_K[:, 2]
        across = p_K[:, :2] / depth[:, None]
        middle = 0.5 * (across.min(axis=0) + across.max(axis=0)) * distance
        target = target + camera.R_WK[:, :2] @ middle
    return Camera(target, camera.yaw, camera.pitch, distance)


def _wrapped(angle: float) -> float:
    return (angle + 180.0) % 360.0 - 180.0
