"""Close a four-bar, see why it is overconstrained, take the proposed remedy, and see that it helped.

Draws the closed four-bar by its verdict to out/closed_four_bar.png.

Run it from anywhere: python examples/02_close_and_fix_a_four_bar.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import mbplugin as mb

ROOT = Path(__file__).resolve().parent.parent
ASSETS = ROOT / "assets"

# the URDF alone is an open chain: nothing in it says that the rocker is hinged to the ground
chain = mb.analyze(mb.load(ASSETS / "four_bar.urdf", base="fixed"))
print(f"open chain:      {chain.degree_of_redundancy} redundant constraints, mobility {chain.dof}")

# the scene closes it with a fourth hinge
scene = mb.load(ASSETS / "four_bar.scene.toml")
closed = mb.analyze(scene)
print(f"closed four-bar: {closed.degree_of_redundancy} redundant constraints, mobility {closed.dof}")
for stress in closed.self_stresses:
    print(f"  {stress.text}")

# in its plane nothing is redundant: what the hinges fight over is out of the plane
plane = mb.analyze(scene, planar="zx")
print(f"in its plane:    {plane.degree_of_redundancy} redundant constraints, mobility {plane.dof}")

# the remedy is TOML for the end of the scene file
for remedy in closed.remedies:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "four_bar.urdf").write_text((ASSETS / "four_bar.urdf").read_text())
        fixed_file = Path(folder) / "fixed.scene.toml"
        fixed_file.write_text((ASSETS / "four_bar.scene.toml").read_text() + "\n" + remedy.toml + "\n")
        fixed = mb.analyze(mb.load(fixed_file))
    changes = ", ".join(f"{change.constraint} {change.new}" for change in remedy.changes)
    print(f"with {changes}: {fixed.degree_of_redundancy} redundant constraints, mobility {fixed.dof}")
    assert all(constraint.unique for constraint in fixed.constraints)

(ROOT / "out").mkdir(exist_ok=True)
try:
    mb.show(scene, closed, picture=ROOT / "out" / "closed_four_bar.png")
except mb.MbPluginError as error:
    print(f"no picture: {error}")
else:
    print("drawn to out/closed_four_bar.png")
