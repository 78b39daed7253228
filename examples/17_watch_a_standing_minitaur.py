"""Watch a standing Minitaur: which of its forces are determined, and whether PyBullet's numbers are possible.

The script is anybody's: PyBullet's Minitaur with its legs closed, which stands on its motors. The watch only asks, so
the simulation goes on bit for bit as without it. Writes out/watch.csv and out/watch.png; with --gui the forces are
drawn into PyBullet's window.

Run it from anywhere: python examples/17_watch_a_standing_minitaur.py [--gui] [--seconds S]
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import pybullet as p
import pybullet_data

import mbplugin as mb

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--gui", action="store_true", help="open PyBullet's window")
parser.add_argument("--seconds", type=float, default=1.0, help="simulated time")
options = parser.parse_args()

client = p.connect(p.GUI if options.gui else p.DIRECT)
p.setAdditionalSearchPath(pybullet_data.getDataPath())
p.setGravity(0, 0, -9.81)
p.setTimeStep(1 / 500)
p.loadURDF("plane.urdf")
robot = p.loadURDF("quadruped/minitaur.urdf", [0, 0, 0.2])
index = {p.getJointInfo(robot, j)[1].decode(): j for j in range(p.getNumJoints(robot))}
for leg, way in (("front_left", -1), ("back_left", -1), ("front_right", 1), ("back_right", 1)):
    for side in "LR":
        motor, knee = index[f"motor_{leg}{side}_joint"], index[f"knee_{leg}{side}_link"]
        p.resetJointState(robot, motor, way * math.pi / 2)
        p.resetJointState(robot, knee, -way * 2.1834)
        p.setJointMotorControl2(robot, motor, p.POSITION_CONTROL, way * math.pi / 2, force=20)
        p.setJointMotorControl2(robot, knee, p.VELOCITY_CONTROL, force=0)
    feet = index[f"knee_{leg}R_link"], index[f"knee_{leg}L_link"]
    pivots = [0, 0.005, 0.2], [0, 0.01, 0.2]
    p.createConstraint(robot, feet[0], robot, feet[1], p.JOINT_POINT2POINT, [0, 0, 0], *pivots)
if options.gui:
    p.configureDebugVisualizer(p.COV_ENABLE_GUI, 0)
    p.resetDebugVisualizerCamera(0.7, 40, -20, [0, 0, 0.05])

out = Path(__file__).resolve().parent.parent / "out"
out.mkdir(exist_ok=True)
with mb.watch(client, every=1, log=out / "watch.csv") as watch:
    for _ in range(round(500 * options.seconds)):
        p.stepSimulation()
    last = watch.latest
    print(f"{watch.updates} updates; degree of redundancy {last.degree_of_redundancy}")
    print("forces of closures and contacts that are determined:", sum(last.numbers.verdict.rows))
    print("what PyBullet says, and what the normal forces may be:")
    for force in last.forces:
        if force.component == "cn":
            may = last.intervals[force.constraint, force.component]
            print(
                f"  {force.constraint}: {force.engine:5.1f} N   {round(may.lower, 1) + 0.0:5.1f} … {may.upper:5.1f} N"
            )
    print("not possible:", *last.marks or ["nothing"])
    try:
        watch.plot(out / "watch.png")
    except mb.MbPluginError as error:
        print(f"no plot: {error}")
    if options.gui:
        # the overlay goes with the watch, and the window with the client
        watch.overlay.draw(last, now=True)
        input("Press Enter to close the window.")
p.disconnect(client)
