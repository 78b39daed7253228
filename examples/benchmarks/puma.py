"""Torques of a Puma 560 at a pose at rest, with accelerations, and with rates."""

import numpy as np
from harness import Problem, scene, show, timed

import mbplugin as mb

PROBLEM = Problem(
    title="Puma 560, torques of six joints for three motions",
    parameters="Corke and Armstrong-Hélouvry (1994)",
    reference="published digits: tests of Corke's Robotics Toolbox; Robotics, Vision and Control (2011), chapter 9",
    quantity="largest of 18 torques, N m, printed with four decimals",
    tolerance="—",
    allowed=6e-4,
    others="3.7e-06 s Pinocchio 4.1.0, three times rnea, run here in turns",
)
POSE = [0, np.pi / 4, np.pi, 0, np.pi / 4, 0]
ONE_TO_THREE = np.array([1.0, 2, 3, 1, 2, 3])
WEIGHT = [0, 31.6399, 6.0351, 0, 0.0283, 0]
INERTIA = [3.1500, 9.4805, 3.6189, 0.1901, 0.3519, 0.5823]
CORIOLIS = [
    *[[-0.1735, -2.0494, -0.1178, -0.0002, -0.0045, 0.0001], [0.6274, 1.1572, 1.9287, -0.0015, -0.0003, 0]],
    *[[-0.3608, -0.7734, -0.0018, -0.0009, -0.0064, 0], [0.0011, 0.0005, -0.0001, 0.0002, 0.0002, -0.0001]],
    *[[-0.0002, 0.0028, 0.0046, -0.0002, 0, 0], [0.0001, 0, 0, 0, 0, 0]],
]


def solve() -> tuple[float, float]:
    arm = mb.load(scene("puma"))
    still = np.zeros(6)
    motions = ((still, still), (still, ONE_TO_THREE), (ONE_TO_THREE, still))
    forces, pose = mb.InverseDynamics(arm), np.array(POSE)
    found, seconds = timed(lambda: [forces(pose, qd, qdd) for qd, qdd in motions], 1000)
    published = np.add(WEIGHT, (still, INERTIA, np.dot(CORIOLIS, ONE_TO_THREE)))
    return float(np.abs(np.subtract(found, published)).max()), seconds


if __name__ == "__main__":
    show(PROBLEM, solve)
