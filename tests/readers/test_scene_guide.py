"""The schema of a scene describes every key, and the guide to writing a mechanism every type of a pair."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import pytest

import mbplugin as mb
from command_line import ROOT
from mbplugin.choices import PairTypeName
from mbplugin.model.mechanism.pair import PAIR_TYPES
from mbplugin.readers.scene_file import SceneFile

TABLES: dict[str, dict[str, Any]] = SceneFile.model_json_schema()["$defs"]
TYPES = sorted(get_args(PairTypeName))
GUIDE = (ROOT / "docs" / "mechanism.md").read_text(encoding="utf-8")
DOOR = """
[[body]]
name = "door"
mass = 20
xyz = [0, 0, 0]
com = [0.4, 0, 1]
inertia = [6, 7, 1]

[[pair]]
name = "below"
type = "{below}"
body_a = "world"
body_b = "door"
xyz_a = [0, 0, 0.2]

[[closure]]
name = "above"
type = "{above}"
body_a = "world"
body_b = "door"
xyz_a = [0, 0, 1.8]
"""


@pytest.mark.parametrize("table", sorted(TABLES))
def test_every_key_of_a_table_is_described(table: str) -> None:
    for key, value in TABLES[table]["properties"].items():
        assert value.get("description"), f"{table}.{key}"


@pytest.mark.parametrize("name", TYPES)
def test_the_guide_and_its_drawing_have_every_type(name: str) -> None:
    rows = [line for line in GUIDE.splitlines() if line.startswith("|") and f"`{name}`" in line.split("|")[1]]
    assert len(rows) == 1 and int(rows[0].split("|")[2]) == len(PAIR_TYPES[name].constrained)
    assert name in (ROOT / "docs" / "joint-types.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("below", "above", "p"), [("revolute", "revolute", 5), ("spherical", "point-on-line", 0)]
)
def test_the_door_of_the_guide(tmp_path: Path, below: str, above: str, p: int) -> None:
    scene = tmp_path / "door.scene.toml"
    scene.write_text(DOOR.format(below=below, above=above))
    found = mb.analyze(mb.load(scene))
    assert (found.degree_of_redundancy, found.dof) == (p, 1)
