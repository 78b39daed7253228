"""A six-axis arm whose main brakes close one after another: where does the tool end up?

Joints 1, 2 and 3 lock at 0.05, 0.10 and 0.15 s while the arm moves fast. Every lock throws the joints that
are still free; a simulator that only sets the locked rate to zero puts the tool somewhere else. Motors count
by the square of their gear ratio. Draws the arm at zero and angles, rates and momenta of its motors
(mueller2026 Figs. 5 to 8) to out/arm_stop.png where matplotlib is installed.

Run it from anywhere: python examples/12_stopping_an_arm_joint_by_joint.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mbplugin as mb

ROOT = Path(__file__).resolve().parent.parent
GEAR, MAIN, END = 100.0, 3, 0.25

scene = mb.load(ROOT / "assets" / "arm_6r.scene.toml")
arm = scene.mechanism
right = mb.simulate(scene, END, samples=250)
naive = mb.simulate(scene, END, samples=250, transition="naive")


def tool(motion: mb.Trajectory) -> np.ndarray:
    """The flange at the end of a motion, m."""
    return motion.point("flange").p_W[-1]


for event in right.events:
    thrown = np.abs(event.velocity_after - event.velocity_before)
    free = [k for k in range(6) if abs(event.velocity_after[k]) > 1e-9]
    most = max(free, key=lambda k: thrown[k])
    names = f"{event.joint} locks at {event.time:.2f} s"
    print(
        f"{names}: {event.impulse[f'lock {event.joint}', 'rz_lock']:8.2f} N·m·s on its brake,"
        f" {arm.qd_names[most]} thrown by {thrown[most]:.2f} rad/s"
    )
levels = [right.energy[right.segment == k] for k in range(4)]
print("energy: " + " → ".join(f"{level[0]:.1f}" for level in levels) + " J, constant in between to", end=" ")
print(f"{max(np.ptp(level) for level in levels) < 1e-4 * levels[0][0]}")
apart = np.linalg.norm(tool(right) - tool(naive))
print(f"tool after {END} s: {np.round(tool(right), 3)} m")
print(f"with rates set by hand: {np.round(tool(naive), 3)} m, {1000 * apart:.0f} mm away")
elbow = np.abs(right.q[-1] - naive.q[-1])[:MAIN]
print(f"main axes: {np.round(np.degrees(elbow), 2)} degrees apart")


def motor_momenta(motion: mb.Trajectory) -> np.ndarray:
    """Momenta (T, 3) of the main motors that are free, at the motors' side of the gears, N·m·s."""
    out = motion.momenta[:, :MAIN] / GEAR
    for k in range(MAIN):
        out[motion.segment > k, k] = np.nan
    return out


try:
    import matplotlib
except ImportError:
    print("no figure: pip install matplotlib")
else:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(19, 7), layout="constrained")
    grid = figure.subplots(2, 4, gridspec_kw={"width_ratios": [0.8, 1, 1, 1]})
    zero = mb.simulate(arm, 1e-3, q=dict.fromkeys(arm.q_names, 0.0))
    joints = np.array([zero.point(body.name).p_W[0] for body in arm.bodies])
    for view, axis in ((0, 0), (1, 1)):
        grid[view, 0].plot(joints[:, axis], joints[:, 2], marker="o")
        grid[view, 0].set(
            aspect="equal",
            xlim=(-0.6, 0.6),
            xlabel=f"{'xy'[axis]}, m",
            ylabel="z, m",
            title="all angles zero",
        )
    for row, (motion, kind) in zip(
        grid[:, 1:], ((right, "momentum balance"), (naive, "rates set by hand")), strict=True
    ):
        momenta = motor_momenta(motion)
        for k in range(MAIN):
            row[0].plot(motion.time, GEAR * motion.q[:, k], label=f"motor {k + 1}")
            row[1].plot(motion.time, GEAR * motion.qd[:, k], label=f"motor {k + 1}")
            row[2].plot(motion.time, momenta[:, k], label=f"motor {k + 1}")
        row[0].set(ylabel="motor angle, rad", title=kind)
        row[1].set(ylabel="motor rate, rad/s", title=kind)
        row[2].set(ylabel="momentum, N·m·s", title=f"free motors, {kind}")
        row[0].legend(loc="upper left")
    for axes in grid[1, 1:]:
        axes.set(xlabel="time, s")
    (ROOT / "out").mkdir(exist_ok=True)
    figure.savefig(ROOT / "out" / "arm_stop.png", dpi=120, bbox_inches="tight")
    print("drawn to out/arm_stop.png")
