"""The planar four-bar of blajer1993 and blajer1994 by hand: three relative angles, loop cut at O₄.

O₁ = (0, 0) and O₄ = (l₀, 0); angles are clockwise, α₁ from +y, so that a link at θ points along
(sin θ, cos θ). The links are uniform rods.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from mbplugin.dynamics.formulations import Equations
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.spatial import Array, Pose
from models import from_world_frames, pose_at

#: l₀ … l₃, m: the crank turns fully.
LENGTHS = (2.0, 0.8, 1.6, 1.7)
_SUMS = np.tril(np.ones((3, 3)))


@dataclass(frozen=True)
class Linkage:
    """The four-bar with the masses of its three moving links, kg, and its lengths, m."""

    masses: tuple[float, float, float]
    gravity: float = 0.0
    sizes: tuple[float, float, float, float] = LENGTHS

    def closed(self, crank: float, branch: int = 1) -> Array:
        """α at a crank angle (blajer1994 (40), (41)), α₃ with the sign of the branch."""
        l0, l1, l2, l3 = self.sizes
        reach = l0**2 + l1**2 - 2 * l0 * l1 * np.sin(crank)
        knee = branch * np.arccos((reach - l2**2 - l3**2) / (2 * l2 * l3))
        target = np.array([l0 - l1 * np.sin(crank), -l1 * np.cos(crank)])
        # the line from O₂ to O₄, and the angle at O₂ between it and link 2
        heading = np.arctan2(target[0], target[1])
        return np.array(
            [crank, heading - np.arctan2(l3 * np.sin(knee), l2 + l3 * np.cos(knee)) - crank, knee]
        )

    def tip(self, alpha: Array) -> Array:
        """The end of link 3, which the loop holds at O₄."""
        theta = np.cumsum(alpha)
        return np.array(self.sizes[1:]) @ np.column_stack((np.sin(theta), np.cos(theta)))

    def _motion(self, alpha: Array, rate: Array, parts: Array) -> tuple[Array, Array]:
        """Jacobian (2, 3) and bias (2,) of the acceleration of a point Σ parts·(sin θ, cos θ)."""
        theta, theta_dot = np.cumsum(alpha), np.cumsum(rate)
        across = np.array([np.cos(theta), -np.sin(theta)]) * parts
        along = np.array([np.sin(theta), np.cos(theta)]) * parts
        return across @ _SUMS, -along @ theta_dot**2

    def equations(self, alpha: Array, rate: Array) -> Equations:
        """M v̇ = F + Cᵀλ in the three angles."""
        lengths = np.array(self.sizes[1:])
        M, F = np.zeros((3, 3)), np.zeros(3)
        for k, mass in enumerate(self.masses):
            parts = np.where(np.arange(3) < k, lengths, np.where(np.arange(3) == k, lengths / 2, 0.0))
            J, bias = self._motion(alpha, rate, parts)
            M += mass * (J.T @ J + lengths[k] ** 2 / 12 * np.outer(_SUMS[k], _SUMS[k]))
            F += mass * J.T @ (np.array([0.0, -self.gravity]) - bias)
        C, bias = self._motion(alpha, rate, lengths)
        return Equations(
            "joint",
            (("O4", "tx"), ("O4", "ty")),
            rate,
            M,
            F,
            C,
            np.zeros(2),
            -bias,
            np.full(2, 1 / self.sizes[0]),
            np.ones(3),
            0,
            lambda rhs: np.linalg.solve(M, rhs),
        )

    def rates(self, alpha: Array, crank_rate: float) -> Array:
        """Rates with C v = 0."""
        C = self.equations(alpha, np.zeros(3)).C
        return crank_rate * np.concatenate(([1.0], -np.linalg.solve(C[:, 1:], C[:, 0])))

    def energy(self, alpha: Array, rate: Array) -> float:
        """Kinetic and potential energy, J."""
        theta, lengths = np.cumsum(alpha), np.array(self.sizes[1:])
        tips = np.cumsum(lengths * np.cos(theta))
        heights = tips - lengths * np.cos(theta) / 2
        M = self.equations(alpha, rate).M
        return float(0.5 * rate @ M @ rate + self.gravity * np.array(self.masses) @ heights)

    def mechanism(self, crank: float) -> tuple[Mechanism, Array]:
        """The same as a mechanism, closed at O4, with hinges along −z so that q is α; and that q."""
        theta, lengths = np.cumsum(self.closed(crank)), np.array(self.sizes[1:])
        joint_frames = np.column_stack((np.sin(theta), np.cos(theta))) * lengths[:, None]
        tips = np.vstack((np.zeros(2), np.cumsum(joint_frames, axis=0)))
        middles = {f"link{k + 1}": (tips[k] + tips[k + 1]) / 2 for k in range(3)}
        bodies = {name: Pose(np.eye(3), np.array([*p, 0.0])) for name, p in middles.items()}
        chain = ["world", *bodies, "world"]
        joints = [
            (f"O{k + 1}", "revolute", chain[k], chain[k + 1], pose_at(np.array([*tips[k], 0.0]), (0, 0, -1)))
            for k in range(3)
        ]
        joints.append(("O4", "revolute", "world", "link3", pose_at(np.array([*tips[3], 0.0]))))
        mech, q = from_world_frames("linkage", bodies, joints, gravity=np.array([0.0, -self.gravity, 0.0]))
        composites = tuple(
            replace(body, mass=m, I_C=m * length**2 / 12 * np.eye(3))
            for body, m, length in zip(mech.bodies, self.masses, lengths, strict=True)
        )
        return replace(mech, bodies=composites), q
