"""Inside your own PyBullet script: three lines tell what the simulation at hand cannot.

The script is anybody's: PyBullet's Minitaur with its legs closed, some steps into a simulation. The client is
only asked, so the simulation goes on bit for bit as it would have without these lines. Draws what it holds to
out/live_scene.png.

Run it from anywhere: python examples/08_live_scene.py
"""

from __future__ import annotations

import math
from pathlib import Path

import pybullet as p
import pybullet_data

# a user's script
client = p.connect(p.DIRECT)
p.setAdditionalSearchPath(pybullet_data.getDataPath())
p.setGravity(0, 0, -9.81)
p.setTimeStep(1 / 500)
robot = p.loadURDF("quadruped/minitaur.urdf", [0, 0, 0.2], useFixedBase=True)
index = {p.getJointInfo(robot, j)[1].decode(): j for j in range(p.getNumJoints(robot))}
for leg, way in (("front_left", -1), ("back_left", -1), ("front_right", 1), ("back_right", 1)):
    for side in "LR":
        p.resetJointState(robot, index[f"motor_{leg}{side}_joint"], way * math.pi / 2)
        p.resetJointState(robot, index[f"knee_{leg}{side}_link"], -way * 2.1834)
    feet = index[f"knee_{leg}R_link"], index[f"knee_{leg}L_link"]
    pivots = [0, 0.005, 0.2], [0, 0.01, 0.2]
    p.createConstraint(robot, feet[0], robot, feet[1], p.JOINT_POINT2POINT, [0, 0, 0], *pivots)
for _ in range(10):
    p.stepSimulation()

# the three lines
import mbplugin as mb  # noqa: E402

result = mb.analyze(mb.load(client))
print(f"{result.degree_of_redundancy} redundant constraints, mobility {result.dof}")
print("non-unique reactions:", *(c.name for c in result.constraints if not c.unique))

# and a picture of what the client holds
out = Path(__file__).resolve().parent.parent / "out"
out.mkdir(exist_ok=True)
try:
    mb.show(mb.load(client), picture=out / "live_scene.png")
except mb.MbPluginError as error:
    print(f"no picture: {error}")

# the user's script goes on
for _ in range(10):
    p.stepSimulation()
print(f"the simulation goes on, {p.getNumConstraints()} constraints in it")
