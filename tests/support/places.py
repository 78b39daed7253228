"""Where the files of the repository are."""

from __future__ import annotations

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
