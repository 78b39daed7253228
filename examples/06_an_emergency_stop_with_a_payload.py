"""An emergency stop: a loaded KUKA iiwa swings and leans forward fast, and its brakes close.

Where does it come to rest, joint by joint and at the tool, what do its joints have to take, and how far is
the usual shortcut (every rate set to zero when its brake grips) away? Brakes from a data sheet would replace
the assumed ones. Draws rates, tool path and loads to out/stop.png where matplotlib is installed.

Run it from anywhere: python examples/06_an_emergency_stop_with_a_payload.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pybullet_data

import mbplugin as mb
from mbplugin.model.mechanism.kinematics import forward

ROOT = Path(__file__).resolve().parent.parent
PAYLOAD = 7.0

robot = mb.load(Path(pybullet_data.getDataPath()) / "kuka_iiwa" / "model.urdf", base="fixed")
joint = "lbr_iiwa_joint_{}".format
main = [joint(k) for k in (1, 2, 4)]
brakes = [
    {"joint": joint(k), "torque": torque, "viscous": 2.0, "delay": 0.015, "engagement": 0.03}
    for k, torque in enumerate((220, 220, 120, 120, 80, 40, 40), 1)
]
start = {joint(2): 0.5, joint(4): -0.9, joint(6): 0.6}
rates = {joint(1): 1.4, joint(2): 0.8, joint(4): 0.9}
stop = mb.estop(robot, start, rates, payload=PAYLOAD, brakes=brakes)

print(f"{PAYLOAD:g} kg: {stop.outcome} after {1e3 * stop.time:.0f} ms")
print(f"  {1e3 * stop.reaction_time:.0f} ms of it until the first brake grips")
print(f"the tool goes on for {1e3 * stop.tool.distance:.0f} mm at {stop.tool.speed:.2f} m/s first")
for one in (stop.joint(name) for name in main):
    travel, took = np.degrees(one.travel), 1e3 * one.time
    print(f"  {one.name}: {travel:6.2f}° in {took:3.0f} ms, {one.brake_energy:5.1f} J in its brake")
print("what has to take most:")
for peak in sorted(stop.peaks, key=lambda p: -p.moment)[:3]:
    print(f"  {peak.pair:28} {peak.force:6.0f} N {peak.moment:6.0f} N·m")
naive = stop.naive
away = 1e3 * naive.tool_error
print(f"rates set to zero by hand: the tool {away:.0f} mm away, {naive.energy_ignored:.0f} J nobody takes")

try:
    import matplotlib
except ImportError:
    print("no figure: pip install matplotlib")
else:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    motion, mech = stop.trajectory, stop.trajectory.mechanism
    figure, (left, middle, right) = pyplot.subplots(1, 3, figsize=(15, 4.5), layout="constrained")
    for name in mech.qd_names:
        k = mech.qd_names.index(name)
        left.plot(1e3 * motion.time, motion.qd[:, k], label=name.removeprefix("lbr_iiwa_"))
    left.axvline(1e3 * stop.reaction_time, color="grey", linestyle=":")
    left.set(xlabel="time from the signal, ms", ylabel="rate, rad/s", title="joints (dotted: brakes grip)")
    left.legend(fontsize="small")
    tip = mech.body_index[stop.tool.body]
    places = 1e3 * np.array([forward(mech, q).p_WL[tip] for q in motion.q])
    by_hand = np.linalg.norm(1e3 * forward(mech, naive.q).p_WL[tip] - places[0])
    middle.plot(1e3 * motion.time, np.linalg.norm(places - places[0], axis=1), label="tool")
    middle.axhline(by_hand, color="tab:red", linestyle="--", label="rates set to zero by hand")
    middle.set(xlabel="time from the signal, ms", ylabel="distance, mm", title="the tool goes on")
    middle.legend(fontsize="small", loc="lower right")
    right.barh([p.pair.removeprefix("lbr_iiwa_") for p in stop.peaks], [p.moment for p in stop.peaks])
    right.invert_yaxis()
    right.set(xlabel="largest moment, N·m", title="what joints and base have to take")
    (ROOT / "out").mkdir(exist_ok=True)
    figure.savefig(ROOT / "out" / "stop.png", dpi=120)
    print("drawn to out/stop.png")
