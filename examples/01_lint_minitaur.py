"""What is wrong with PyBullet's own Minitaur? Draws the robot by its verdict to out/minitaur.png.

Run it from anywhere: python examples/01_lint_minitaur.py
"""

from __future__ import annotations

from pathlib import Path

import mbplugin as mb

ROOT = Path(__file__).resolve().parent.parent
SCENE = ROOT / "assets" / "minitaur.scene.toml"

report = mb.lint(SCENE)
result = report.analysis
assert result is not None

print(f"redundant constraints: {result.degree_of_redundancy}")
print(f"mobility: {result.dof}, while Grübler's formula says {result.gruebler}")

print("\nIs that a matter of the tolerance? The file has rounded angles:")
for plateau in result.plateaus:
    print(f"  from {plateau.start:.1e} to {plateau.stop:.1e}: {plateau.degree_of_redundancy} redundant")
snapped = mb.lint(SCENE, snap_angles=True).analysis
assert snapped is not None
print(f"with the angles that were meant: {[p.degree_of_redundancy for p in snapped.plateaus]} redundant")

print("\nReaction components that no rigid simulator can know:")
for constraint in result.constraints:
    open_components = [component.name for component in constraint.components if not component.unique]
    if open_components:
        print(f"  {constraint.name:28} {' '.join(open_components)}")

print("\nOne thing to do about it, to paste into the scene:\n")
print(result.remedies[0].toml)

(ROOT / "out").mkdir(exist_ok=True)
try:
    mb.show(mb.load(SCENE), result, picture=ROOT / "out" / "minitaur.png")
except mb.MbPluginError as error:
    print(f"no picture: {error}")
else:
    print("drawn to out/minitaur.png")
