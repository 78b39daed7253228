"""Random stops of arms with meshes, and where the corners of their meshes are at random times."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import numpy as np
import trimesh
from scipy.interpolate import BPoly

from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.scene import Scene
from mbplugin.model.spatial import Array
from mbplugin.readers import load
from mbplugin.stopping.batch import CompiledStop
from mbplugin.stopping.run import make_scenario
from mbplugin.stopping.sweep.plan import SweepPlan
from places import BULLET_DATA

DATA = BULLET_DATA
ARMS = ("kuka_iiwa/model.urdf", "franka_panda/panda.urdf")


@cache
def arm(name: str) -> Scene:
    """An arm of pybullet_data, its gripper shut: the loop of many stops takes no joints that follow others."""
    text = (DATA / name).read_text(encoding="utf-8")
    text = re.sub(r"<mimic[^>]*/>", "", text.replace('type="prismatic"', 'type="fixed"'))
    folder = str((DATA / name).parent)
    return load(str(DATA / name), text=text, base="fixed", package_dirs=(folder,))


def random_stops(scene: Scene, count: int, seed: int = 3) -> SweepPlan:
    """Stops from poses all over the workspace, at 10 to 100 % of 2 rad/s in each joint, either way."""
    names = scene.mechanism.q_names
    brakes = [{"joint": name, "torque": 60.0 - 8 * k, "delay": 0.02} for k, name in enumerate(names)]
    scenario = make_scenario(scene, qd=dict.fromkeys(names, 2.0), brakes=brakes)
    rng = np.random.default_rng(seed)
    ranges = np.array([freedom(scene, name) for name in names])
    q = rng.uniform(ranges[:, 0], ranges[:, 1], (count, len(names)))
    qd = rng.uniform(-2, 2, (count, len(names)))
    return SweepPlan(scenario, count, seed, np.hstack((q, qd)), speed_range=(0.1, 1.0))


def freedom(scene: Scene, name: str) -> tuple[float, float]:
    one = scene.mechanism.pair_by_name[name].freedoms[0]
    return one.lower, one.upper


@cache
def mesh_corners(scene: Scene) -> dict[str, Array]:
    """All corners of the collision meshes of each body, link frame, as trimesh reads them."""
    found: dict[str, Array] = {}
    for body, shapes in scene.shapes.items():
        for shape in shapes:
            if shape.role == "collision" and shape.kind == "mesh":
                file = Path(
                    str(scene.request.path if scene.request else "")
                ).parent / shape.mesh.removeprefix("package://")
                mesh = trimesh.load(file, force="mesh")
                own = np.asarray(mesh.vertices) * shape.size
                own = own @ shape.X_LS.R.T + shape.X_LS.p
                found[body] = np.concatenate((found.get(body, np.zeros((0, 3))), own))
    return found


def stops_of(plan: SweepPlan, numbers: Iterable[int] | None = None) -> Iterator[tuple[Array, Array]]:
    """Yield coordinates at the signal and pieces of each stop, or of some."""
    compiled = CompiledStop(plan.scenario)
    for k in range(plan.count) if numbers is None else numbers:
        q, qd, brakes, payloads = plan.draw(k)
        compiled.set_brakes(brakes)
        compiled.set_payloads(payloads)
        compiled.stop(q, qd)
        yield q, compiled.pieces.copy()


def sampled_points(
    scene: Scene, q: Array, pieces: Array, rng: np.random.Generator, times: int, most: int
) -> Array:
    """Corners (n, 3) of meshes in the world at random times of a stop, at most so many of each body."""
    h = pieces[:, 0, 0]
    ended = np.flatnonzero(h <= 0)
    used = pieces[: ended[0]] if len(ended) else pieces
    found = []
    for _ in range(times):
        pose = q
        if len(used):
            piece = used[rng.integers(len(used))]
            curve = BPoly.from_derivatives([0.0, piece[0, 0]], [piece[1:4], piece[4:7]])
            pose = curve(rng.uniform(0.0, piece[0, 0]))
        poses = forward(scene.mechanism, pose)
        for body, corners in mesh_corners(scene).items():
            X_WL = poses.of(scene.mechanism.body_index[body])
            some = corners[rng.integers(len(corners), size=most)]
            found.append(some @ X_WL.R.T + X_WL.p)
    return np.concatenate(found)
