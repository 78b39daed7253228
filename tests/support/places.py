"""Where the files of the repository are."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ASSETS = ROOT / "assets"
TESTS = ROOT / "tests"
ORACLES = TESTS / "oracles"

_FOUND = find_spec("pybullet_data")
#: The models that come with PyBullet; without PyBullet a folder that does not exist, and the tests that read
#: them have the mark ``bullet``.
BULLET_DATA = (
    Path(_FOUND.submodule_search_locations[0])
    if _FOUND is not None and _FOUND.submodule_search_locations
    else ROOT / "out" / "no-pybullet-data"
)


def _models(scene: Path) -> list[str]:
    return re.findall(r'^file = "(.+?)"', scene.read_text(encoding="utf-8"), re.MULTILINE)


#: The scenes of models that come with PyBullet; a test with one of them as a parameter gets the mark ``bullet``.
BULLET_SCENES = frozenset(
    scene
    for scene in ASSETS.glob("*.scene.toml")
    if not all((ASSETS / file).exists() for file in _models(scene))
)
