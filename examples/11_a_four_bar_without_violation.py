"""A four-bar that never opens: closed forms for its joints, and which of them can lead.

A closed loop leaves one joint free; the others follow from it in closed form, so that no closure can
drift. A joint that stands still while the others move cannot be the free one: there another one has to lead.
The linkage and its angles are those of blajer1993 (ground 2 m, links 0.8, 1.6 and 1.7 m); its figure 3 is among what
is drawn to out/four_bar.png where matplotlib is installed.

Run it from anywhere: python examples/11_a_four_bar_without_violation.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import mbplugin as mb
from mbplugin import studies

ROOT = Path(__file__).resolve().parent.parent

# angles from +y clockwise, each relative to the link before; O4 closes the loop
lengths, clockwise = (0.8, 1.6, 1.7), (0, 0, -1)
ends = [(0, 0, 0), *((0, size, 0) for size in lengths)]
names = ["a1", "a2", "a3"]
links = [
    mb.Body(f"link {k}", size, np.array([0, size / 2, 0]), size**3 / 12 * np.diag([1, 0.01, 1]))
    for k, size in enumerate(lengths, start=1)
]
inner = [mb.WORLD, "link 1", "link 2", "link 3"]
pairs = [
    mb.Pair(
        name,
        "revolute",
        inner[k],
        inner[k + 1],
        mb.Pose.from_xyz_axis(ends[k], clockwise),
        mb.Pose.from_xyz_axis((0, 0, 0), clockwise),
    )
    for k, name in enumerate(names)
]
closure = mb.Pair(
    "O4",
    "revolute",
    "link 3",
    mb.WORLD,
    mb.Pose.from_xyz_axis(ends[3], clockwise),
    mb.Pose.from_xyz_axis((2, 0, 0), clockwise),
    closure=True,
)
linkage = mb.Mechanism("four-bar", tuple(links), (*pairs, closure), gravity=np.array([0.0, -9.81, 0.0]))
# near a pose of either branch: the search for a closed one starts there
up, down = np.array([0.0, 0.4, 2.0]), np.array([0.0, 3.0, -2.0])

by_crank = studies.closing_conditions(linkage, up, independent=["a1"])
(dyad,) = by_crank.steps
print(f"crank a1 known: {dyad.kind} dyad of {', '.join(dyad.joints)}, branch {dyad.branch:+d}")

# once round: how far each choice is from the pose where its dyad is flat and its rates have no bounds
turn = np.linspace(0, 2 * np.pi, 121)
poses = [by_crank.q]
for angle in turn[1:]:
    poses.append(by_crank.g(np.array([angle]), near=poses[-1]))
choices = {name: studies.closing_conditions(linkage, by_crank.q, independent=[name]) for name in names}
margins = {name: np.array([c.margin(q) for q in poses]) for name, c in choices.items()}
for name, margin in margins.items():
    worst = int(margin.argmin())
    print(f"{name} leads: worst {margin[worst]:.3f}, at a1 = {np.degrees(turn[worst]):.0f}°")


def corners(q: np.ndarray) -> np.ndarray:
    """O1 to O4 (4, 2) of a pose, m."""
    angle = np.cumsum(q)
    steps = np.array(lengths)[:, None] * np.column_stack((np.sin(angle), np.cos(angle)))
    return np.vstack(([[0.0, 0.0]], np.cumsum(steps, axis=0)))


# the poses in which a3 stands still, on either branch: blajer1993 Fig. 3 and their mirror images
other = studies.closing_conditions(linkage, down, independent=["a1"])
singular = [c.g(np.array([a1])) for c in (by_crank, other) for a1 in (np.pi / 2, 3 * np.pi / 2)]
print(f"a3 cannot lead with the crank along the ground: {max(choices['a3'].margin(q) for q in singular):.0e}")

# let it swing from rest, without any correction of the loop; whoever leads is the one of the largest
# projective criterion, until its dyad is nearly flat
plain = {"integrator": "rk4", "step": 4e-3, "stabilization": "none", "readable": True}
motion = mb.simulate(linkage, 3.0, q=by_crank.q, formulation="closing", **plain)
usual = mb.simulate(linkage, 3.0, q=by_crank.q, formulation="projected", **plain)
first, *later = motion.independent
changes = ", ".join(f"{', '.join(one.names)} from {one.time:.3f} s" for one in later) or "to the end"
print(f"3 s of swinging: {', '.join(first.names)} leads first, then {changes}")
print(f"the loop stays closed to 1e-14 m: {motion.residuals['O4'] < 1e-14}")
print(
    f"the same steps without closing conditions open it by more than 1e-7 m: {usual.residuals['O4'] > 1e-7}"
)
print(f"energy kept to a hundred-thousandth: {np.ptp(motion.energy) < 1e-5 * motion.kinetic.max()}")

try:
    import matplotlib
except ImportError:
    print("no figure: pip install matplotlib")
else:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, middle, right) = pyplot.subplots(1, 3, figsize=(16, 4), layout="constrained")
    for name, margin in margins.items():
        left.plot(np.degrees(turn), margin, label=f"{name} leads")
    left.set(xlabel="crank a1, °", ylabel="sine of the dyad's angle", title="Singular where zero")
    left.legend()
    for k, q in enumerate(singular):
        style = {"marker": "o", "color": f"C{k % 2}", "linestyle": "-" if k < 2 else ":"}
        middle.plot(
            *corners(q).T, label=f"a1 = {np.degrees(q[0]):.0f}°, a3 = {np.degrees(q[2]):.0f}°", **style
        )
    middle.set(aspect="equal", xlabel="x, m", ylabel="y, m", title="Where a3 stands still")
    middle.legend(fontsize=7)
    for k, name in enumerate(linkage.q_names):
        right.plot(motion.time, np.degrees(motion.q[:, k]), label=name)
    for one in later:
        right.axvline(one.time, color="grey", linestyle=":")
    right.set(xlabel="time, s", ylabel="joint angle, °", title="Swinging, closed at every instant")
    right.legend()
    (ROOT / "out").mkdir(exist_ok=True)
    figure.savefig(ROOT / "out" / "four_bar.png", dpi=120, bbox_inches="tight")
    print("drawn to out/four_bar.png")
