"""Brakes on a triple pendulum: what a locked joint does to the others, and what the usual shortcut says.

A pendulum of three links falls from rest; its second joint locks at 0.8 s, its third at 1.3 s. A lock is an
impact: the rates of all joints jump, so that the momenta of the free ones go on (mueller2026 §6). Setting the
locked rate to zero by hand is another motion. Draws both (mueller2026 Figs. 2 to 4) to out/locks.png where
matplotlib is installed.

Run it from anywhere: python examples/05_brakes_on_a_triple_pendulum.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mbplugin as mb

ROOT = Path(__file__).resolve().parent.parent

# links of 1 m and 108 kg in the x-y plane, hinges along z, gravity along −y
at_end = mb.Pose(np.eye(3), np.array([1.0, 0.0, 0.0]))
bodies = tuple(mb.Body(f"link{k}", 108.0, 0.5 * at_end.p, np.diag([0.72, 9.36, 9.36])) for k in (1, 2, 3))
pairs = tuple(
    mb.Pair(f"j{k}", "revolute", inner, f"link{k}", at, mb.Pose.identity())
    for k, inner, at in ((1, mb.WORLD, mb.Pose.identity()), (2, "link1", at_end), (3, "link2", at_end))
)
pendulum = mb.Mechanism("triple pendulum", bodies, pairs, gravity=np.array([0.0, -9.81, 0.0]))
start = np.full(3, np.pi / 6)
locks = [mb.Lock("j2", at=0.8), mb.Lock("j3", at=1.3)]


def swing(transition: str) -> mb.Trajectory:
    return mb.simulate(
        pendulum, 2.0, q=start, locks=locks, transition=transition, integrator="rk4", step=1e-3
    )


right, naive = swing("consistent"), swing("naive")
for event in right.events:
    rates = [" ".join(f"{x:9.4f}" for x in v) for v in (event.velocity_before, event.velocity_after)]
    print(f"{event.time:.1f} s, {event.joint} locks: rates {rates[0]} → {rates[1]} rad/s")
    taken = ", ".join(f"{name.removeprefix('lock ')} {v:.1f}" for (name, _), v in event.impulse.items())
    print(f"       impulses of the brakes: {taken} N·m·s")
levels = [right.energy[right.segment == k][0] for k in range(3)]
print("energy: " + " → ".join(f"{level:.1f}" for level in levels) + " J")
print(f"angles after 2 s: {np.round(right.q[-1], 4)}, with rates set by hand {np.round(naive.q[-1], 4)} rad")


def free_momenta(motion: mb.Trajectory) -> np.ndarray:
    """The generalised momenta (T, 3) of the joints that are not locked, N·m·s; NaN for the others."""
    out = motion.momenta.copy()
    out[motion.segment >= 1, 1] = np.nan
    out[motion.segment >= 2, 2] = np.nan
    return out


try:
    import matplotlib
except ImportError:
    print("no figure: pip install matplotlib")
else:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, grid = pyplot.subplots(2, 3, figsize=(15, 7), sharex=True, layout="constrained")
    for row, (motion, kind) in zip(
        grid, ((right, "momentum balance"), (naive, "rates set by hand")), strict=True
    ):
        few = motion.resample(np.linspace(0, 2, 201))
        for k, name in enumerate(pendulum.q_names):
            row[0].plot(motion.time, motion.q[:, k], label=name)
            row[1].plot(motion.time, motion.qd[:, k], label=name)
            row[2].plot(few.time, free_momenta(few)[:, k], label=name)
        row[0].set(ylabel="angle, rad", title=kind)
        row[1].set(ylabel="rate, rad/s", title=kind)
        row[2].set(ylabel="momentum, N·m·s", title=f"free joints, {kind}")
        row[0].legend(loc="lower left")
    energy = grid[0, 2].twinx()
    energy.plot(right.time, right.energy, color="grey", linestyle="--")
    energy.set(ylabel="total energy (dashed), J")
    for axes in grid.ravel():
        for lock in locks:
            axes.axvline(lock.at or 0.0, color="grey", linestyle=":")
    for axes in grid[1]:
        axes.set(xlabel="time, s")
    (ROOT / "out").mkdir(exist_ok=True)
    figure.savefig(ROOT / "out" / "locks.png", dpi=120, bbox_inches="tight")
    print("drawn to out/locks.png")
