"""The dynamics of two models that differ in a mass: their differences by the equations of an arm of two links."""

from __future__ import annotations

from dataclasses import dataclass
from math import cos
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.comparison.models.alignment import POSES, SEED, compare_dynamics, random_pose
from mbplugin.model.mechanism import WORLD, Body, Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import Pose, align_z

G = 9.81


@dataclass(frozen=True)
class Arm:
    """Two links that turn about y; centres of mass on the lines of the links."""

    m: tuple[float, float]
    c: tuple[float, float] = (0.2, 0.15)
    length: float = 0.5
    I_yy: tuple[float, float] = (0.03, 0.02)

    def save(self, path: Path) -> Path:
        links = "".join(
            f'<link name="l{k}"><inertial><origin xyz="{self.c[k]} 0 0"/><mass value="{self.m[k]}"/>'
            f'<inertia ixx="0.02" iyy="{self.I_yy[k]}" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="j{k}" type="continuous"><parent link="{parent}"/><child link="l{k}"/>'
            f'<origin xyz="{x} 0 0"/><axis xyz="0 1 0"/></joint>'
            for k, (parent, x) in enumerate((("base", 0.0), ("l0", self.length)))
        )
        path.write_text(f'<robot name="arm"><link name="base"/>{links}</robot>')
        return path

    def mass_matrix(self, turned: float) -> np.ndarray:
        """M (2, 2) with the second joint turned, kg·m²: a textbook's."""
        (m, n), (c, d), reach, (I_yy, J_yy) = self.m, self.c, self.length, self.I_yy
        outer = n * d**2 + J_yy
        coupled = outer + n * reach * d * cos(turned)
        return np.array([[m * c**2 + I_yy + n * reach**2 + 2 * coupled - outer, coupled], [coupled, outer]])

    def gravity(self, q: np.ndarray) -> np.ndarray:
        """−∂V/∂q (2,), N·m: a positive angle lowers a link that points along x."""
        outer = self.m[1] * self.c[1] * cos(q[0] + q[1])
        return G * np.array([(self.m[0] * self.c[0] + self.m[1] * self.length) * cos(q[0]) + outer, outer])


@pytest.mark.parametrize("masses", [(3.0, 2.2), (3.3, 2.0), (2.7, 2.1)])
def test_a_changed_mass(tmp_path: Path, masses: tuple[float, float]) -> None:
    one, other = Arm((3.0, 2.0)), Arm(masses)
    a, b = mb.load(one.save(tmp_path / "a.urdf"), base="fixed"), other.save(tmp_path / "b.urdf")
    found = mb.diff(a, mb.load(b, base="fixed"))
    rng, gaps = np.random.default_rng(SEED), []
    for _ in range(POSES):
        q = random_pose(a.mechanism, rng)
        pairs = (one.mass_matrix(q[1]), other.mass_matrix(q[1])), (one.gravity(q), other.gravity(q))
        gaps.append([np.abs(x - y).max() / max(np.abs(x).max(), np.abs(y).max()) for x, y in pairs])
    assert (found.mass_matrix, found.gravity_forces) == pytest.approx(tuple(np.max(gaps, axis=0)), rel=1e-9)
    assert not found.same


def test_the_same_arm_does_not_differ(tmp_path: Path) -> None:
    a, b = Arm((3.0, 2.0)).save(tmp_path / "a.urdf"), Arm((3.0, 2.0)).save(tmp_path / "b.urdf")
    found = mb.diff(a, b)
    assert found.same and found.mass_matrix == found.gravity_forces == 0


@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_the_unit_of_length_changes_no_difference(factor: float) -> None:
    """Masses and forces beside inertias and moments: a slide that carries a hinge, in mm."""
    inertia = np.diag([0.02, 0.03, 0.04])

    def robot(mass: float, unit: float) -> Mechanism:
        along, about = (
            Pose(align_z([1.0, 0, 0]), np.zeros(3)),
            Pose(align_z([0, 1.0, 0]), np.array([unit * 0.3, 0, 0])),
        )
        return Mechanism(
            "r",
            (
                Body("cart", 2.0, np.array([unit * 0.1, 0, 0]), unit**2 * inertia),
                Body("arm", mass, np.array([unit * 0.2, 0, 0]), unit**2 * inertia),
            ),
            (
                Pair("slide", "prismatic", WORLD, "cart", along, along),
                Pair("hinge", "revolute", "cart", "arm", about, Pose(about.R, np.zeros(3))),
            ),
            gravity=unit * np.array([1.0, 0.0, -9.81]),
        )

    gaps = []
    for unit in (1.0, factor):
        a, b = robot(1.0, unit), robot(1.25, unit)
        found = compare_dynamics(a, b, np.zeros(2))
        gaps.append((found.mass_matrix, found.gravity_forces, found.wrenches))
    # poses within ±0.3 m of a slide without limits are others in mm: its coordinate moves no inertia of this robot
    assert gaps[0] == pytest.approx(gaps[1], rel=1e-9)
    assert min(gaps[0]) > 0.01
