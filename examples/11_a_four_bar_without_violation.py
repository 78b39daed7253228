"""A four-bar that never opens: closed forms for its joints, and a coordinate that is changed in time.

A closed loop leaves one joint free; the others follow from it in closed form, so that no closure can
drift. At some poses the free joint stands still while the others move: there another one has to lead.
Draws both to out/four_bar.png where matplotlib is installed.

Run it from anywhere: python examples/11_a_four_bar_without_violation.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mbplugin as mb
from mbplugin.dynamics.equations import Equations
from mbplugin.dynamics.explicit_closure import Closing, closing_conditions, minimal_accelerations
from mbplugin.dynamics.joint import equations_of
from mbplugin.dynamics.tree_model import tree_model
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.spatial import Array

ROOT = Path(__file__).resolve().parent.parent
STEP, STEPS = 4e-3, 250

scene = mb.load(ROOT / "assets" / "four_bar.scene.toml")
mech = scene.mechanism
analysis = mb.analyze(scene)
start, model = analysis.q, tree_model(mech, q=analysis.q)
by_crank = closing_conditions(mech, start, ["j0"])
(dyad,) = by_crank.steps
print(f"crank j0 known: {dyad.kind} dyad of {', '.join(dyad.joints)}, branch {dyad.branch:+d}")

# once round: how far each choice is from the pose where its dyad is flat and its rates have no bounds
turn = start[0] + np.linspace(0, 2 * np.pi, 121)
poses = [start]
for angle in turn[1:]:
    poses.append(by_crank.g(np.array([angle]), near=poses[-1]))
choices = {name: closing_conditions(mech, start, [name]) for name in mech.qd_names}
margins = {name: np.array([c.margin(q) for q in poses]) for name, c in choices.items()}
for name, margin in margins.items():
    worst = int(margin.argmin())
    print(f"{name} leads: worst {margin[worst]:.3f}, at j0 = {np.degrees(turn[worst]) % 360:.0f}°")


def equations(q: Array, qd: Array) -> Equations:
    return equations_of(model, q, qd, time=0.0, degree_of_redundancy=analysis.degree_of_redundancy)


def step(closing: Closing, q: Array, qd: Array) -> tuple[Array, Array]:
    """One step of Runge and Kutta in the one coordinate that leads."""
    (k,) = closing.independent_coordinates
    x, v = [q[k]], [qd[k]]
    slopes: list[tuple[float, float]] = []
    for part in (0.0, 0.5, 0.5, 1.0):
        dx, dv = slopes[-1] if slopes else (0.0, 0.0)
        here = closing.g(np.array([x[0] + part * STEP * dx]), near=q)
        rates = closing.A(here)[:, 0] * (v[0] + part * STEP * dv)
        slopes.append((rates[k], minimal_accelerations(equations(here, rates), closing, here)[k]))
    (a, b, c, d) = (np.array(s) for s in slopes)
    dx, dv = STEP / 6 * (a + 2 * b + 2 * c + d)
    after = closing.g(np.array([x[0] + dx]), near=q)
    return after, closing.A(after)[:, 0] * (v[0] + dv)


def energy(q: Array, qd: Array) -> float:
    heights = forward(mech, q).p_WC[:, 2]
    weight = sum(b.mass * 9.81 * h for b, h in zip(mech.bodies, heights, strict=True))
    return float(0.5 * qd @ equations(q, qd).M @ qd + weight)


# let it swing from rest, led on purpose by the joint that is singular first
q, qd, closing = start, np.zeros(len(mech.qd_names)), choices["j2"]
before, path, leaders = energy(q, qd), [q], [closing.independent[0]]
for _ in range(STEPS):
    if closing.is_near_singular(q, below=0.3):
        closing = closing.change(q)
    q, qd = step(closing, q, qd)
    path.append(q)
    leaders.append(closing.independent[0])
changes = [k for k in range(1, len(leaders)) if leaders[k] != leaders[k - 1]]
told = ", ".join(f"{leaders[k]} from {k * STEP:.3f} s" for k in changes)
print(f"{STEPS * STEP:.0f} s of swinging: {leaders[0]} leads first, then {told}")
print(f"the loop is open by less than 1e-12 m: {closing.residuals(q)['j3'] < 1e-12}")
print(f"energy kept to a hundred-thousandth: {abs(energy(q, qd) - before) < 1e-5 * abs(before)}")

try:
    import matplotlib
except ImportError:
    print("no figure: pip install matplotlib")
else:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4))
    for name, margin in margins.items():
        left.plot(np.degrees(turn - start[0]), margin, label=f"{name} leads")
    left.set(
        xlabel="crank since the start, °", ylabel="sine of the dyad's angle", title="Singular where zero"
    )
    left.legend()
    time = STEP * np.arange(len(path))
    for k, name in enumerate(mech.q_names):
        right.plot(time, np.degrees(np.array(path)[:, k]), label=name)
    for k in changes:
        right.axvline(time[k], color="grey", linestyle=":")
    right.set(xlabel="time, s", ylabel="joint angle, °", title="No jump where another joint takes the lead")
    right.legend()
    (ROOT / "out").mkdir(exist_ok=True)
    figure.savefig(ROOT / "out" / "four_bar.png", dpi=120, bbox_inches="tight")
    print("drawn to out/four_bar.png")
