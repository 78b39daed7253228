"""Which bearing takes the load? A door, a shaft and a robot's platform, with what decides it in each.

Run it from anywhere: python examples/09_which_bearing_takes_the_load.py. Draws door and shaft to out/bearings.png
where matplotlib is installed.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import mbplugin as mb
from mbplugin.joint_reactions.values import Reactions

ROOT = Path(__file__).resolve().parent.parent
ASSETS = ROOT / "assets"
BEARING = "[1e6, 1e6, 1e6, 1e4, 1e4, 0]"


def load(text: str) -> mb.Scene:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "made_here.scene.toml"
        path.write_text(text)
        return mb.load(path)


def body_on_hinges(
    name: str, weight: float, com: float, places: list[float], axis: str, along: str, more: str = ""
) -> mb.Scene:
    """One body on hinges to the world, all written as revolute, as everybody does."""
    text = f'[[body]]\nname = "{name}"\nmass = {weight / 9.81}\nxyz = [{com}, 0, 0]\n'
    for k, place in enumerate(places):
        point = f"[0, 0, {place}]" if along == "z" else f"[{place}, 0, 0]"
        table = "pair" if k == 0 else "closure"
        text += f'[[{table}]]\nname = "bearing {k + 1}"\ntype = "revolute"\nbody_a = "world"\n'
        text += f'body_b = "{name}"\nxyz_a = {point}\naxis = {axis}\n'
    return load(text + more)


def stated(count: int, k: str = BEARING) -> str:
    return "".join(f'[[stiffness]]\npair = "bearing {n + 1}"\nk = {k}\n' for n in range(count))


def table(title: str, result: Reactions) -> Reactions:
    """Forces and moments in the hinge's frame, z along its axis; ? is what nothing determines."""
    print(f"\n{title}")
    print(f"  {'':12}{'tx N':>11}{'ty N':>11}{'tz N':>11}{'rx N·m':>11}{'ry N·m':>11}")
    for bearing in result.constraints:
        cells = []
        for name in ("tx", "ty", "tz", "rx", "ry"):
            value = bearing[name].value
            cells.append("?" if value is None else f"{round(value, 3) + 0.0:.3f}")
        print(f"  {bearing.name:12}" + "".join(f"{cell:>11}" for cell in cells))
    return result


def forces(result: Reactions, component: str) -> list[float]:
    """Return a component of every bearing, N; 0 where nothing determines it."""
    return [bearing[component].value or 0.0 for bearing in result.constraints]


print("A door of 200 N, its weight 0.4 m from the axis, outer hinges 1.5 m apart")
two, three = [-0.75, 0.75], [-0.75, 0.0, 0.75]
door = ("door", 200.0, 0.4)
table("two hinges, rigid: no simulator can know", mb.reactions(body_on_hinges(*door, two, "[0, 0, 1]", "z")))
hung = {}
for places in (two, three):
    scene = body_on_hinges(*door, places, "[0, 0, 1]", "z", stated(len(places)))
    title = f"{len(places)} hinges of 1e6 N/m and 1e4 N·m/rad"
    hung[f"{len(places)} hinges"] = table(title, mb.reactions(scene))
high = body_on_hinges(*door, three, "[0, 0, 1]", "z", stated(3))
askew = mb.reactions(high, misfit={"bearing 3.tz": -1e-4})
hung["the top one 0.1 mm too high"] = table("the same, the top hinge hung 0.1 mm too high", askew)

print("\n\nA shaft of 4 m and 120 N on three bearings across it: its own stiffness decides")
shaft = ("shaft", 120.0, 2.0, [0.0, 2.0, 4.0], "[0, 1, 0]", "x")
section = '[[stiffness]]\nbody = "shaft"\nsection = { E = 210e9, A = 2e-3, Iy = 3e-7, Iz = 3e-7, J = 6e-7 }\n'
bent = mb.reactions(body_on_hinges(*shaft, section))
table("slender shaft, rigid bearings: 3/8, 10/8, 3/8 of a span", bent)
soft = mb.reactions(body_on_hinges(*shaft, stated(3, "[1e4, 1e4, 1e4, inf, inf, 0]")))
print("\nrigid shaft, soft bearings: a third each")
for bearing, force in zip(soft.constraints, forces(soft, "ty"), strict=True):
    print(f"  {bearing.name:12}{force:11.3f} N up and down")

print("\n\nA four-bar pushed sideways with 1000 N, stiffness estimated from the links' shapes")
push = {"body": "coupler", "force": [0, 1000, 0], "point": [0.25, 0, 0]}
result = mb.reactions(mb.load(ASSETS / "four_bar.scene.toml"), loads=[push])
for name in ("j0", "j3"):
    along = result[name]["tz"]
    print(f"  {name}: {along.value or 0.0:8.1f} N along its axis ({along.source})")
for e in result.estimated:
    print(f"  {e.body:8} assumed {e.material}, A = {e.section.A:.2g} m² from {', '.join(e.shapes)}")
print("  an estimate: state [[stiffness]] in the scene to have it for certain")

try:
    import matplotlib
except ImportError:
    print("pip install matplotlib for the picture")
else:
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 4.5), layout="constrained")
    cases = {"slender shaft, rigid bearings": bent, "rigid shaft, soft bearings": soft}
    for axes, shown, component in ((left, hung, "tz"), (right, cases, "ty")):
        for k, (words, result) in enumerate(shown.items()):
            values = [abs(force) if axes is right else force for force in forces(result, component)]
            places = [n + 1 + 0.27 * (k - (len(shown) - 1) / 2) for n in range(len(values))]
            bars = axes.bar(places, values, 0.25, label=words)
            axes.bar_label(bars, fmt="%.0f", fontsize="small")
        axes.axhline(0.0, color="grey", linewidth=0.8)
        axes.set(xticks=[1, 2, 3], xlabel="bearing")
        axes.margins(y=0.15)
        axes.legend(fontsize="small")
    left.set(xlabel="hinge, from below", ylabel="force along the axis, N", title="A door of 200 N")
    right.set(ylabel="force across the shaft, N", title="A shaft of 120 N on three bearings")
    (ROOT / "out").mkdir(exist_ok=True)
    figure.savefig(ROOT / "out" / "bearings.png", dpi=110)
    print("\ndrawn to out/bearings.png")
