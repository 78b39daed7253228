"""The recipes of CONTRIBUTING.md, followed in a copy of the package; and what the guides for developers name."""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from places import ROOT
from rooms import ORDER

BLOCK = re.compile(r"```python\n# (mbplugin/\S+\.py)\n(.*?)```", re.DOTALL)
CHANGE = re.compile(r"```diff\n# (mbplugin/\S+\.py)\n(.*?)```", re.DOTALL)
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
HEAVY = """<robot name="r"><link name="a"/>
<link name="b"><inertial><mass value="1200"/>
<inertia ixx="9" iyy="9" izz="9" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint></robot>
"""


@pytest.fixture(scope="module")
def followed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a copy of the package to which the recipes were applied."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "mbplugin", folder / "mbplugin", ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in BLOCK.findall(TEXT):
        (folder / name).parent.mkdir(exist_ok=True)
        with (folder / name).open("a", encoding="utf-8") as file:
            file.write(text)
    (folder / "heavy.urdf").write_text(HEAVY)
    return folder


@pytest.fixture(scope="module")
def braked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a copy of the package that has one more law of brakes; its kernels are not used."""
    folder = tmp_path_factory.mktemp("braked")
    shutil.copytree(ROOT / "mbplugin", folder / "mbplugin", ignore=shutil.ignore_patterns("__pycache__"))
    for name, text in BLOCK.findall(TEXT):
        if name.startswith("mbplugin/readers/"):
            (folder / name).parent.mkdir()
            (folder / name).write_text(text, encoding="utf-8")
    for name, text in CHANGE.findall(TEXT):
        change(folder / name, text)
    (folder / "heavy.urdf").write_text(HEAVY)
    return folder


def change(file: Path, text: str) -> None:
    """Apply the hunks of a recipe; what a hunk starts from stands in the file once."""
    content = file.read_text(encoding="utf-8")
    for hunk in re.split(r"^@@.*\n", text, flags=re.MULTILINE)[1:]:
        lines = hunk.splitlines(keepends=True)
        before, after = ("".join(line[1:] for line in lines if line[0] in kept) for kept in (" -", " +"))
        assert content.count(before) == 1, (file, before)
        content = content.replace(before, after)
    file.write_text(content, encoding="utf-8")


def printed(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", "from mbplugin.cli import main; main()", *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_the_rule_is_found_and_speaks(followed: Path) -> None:
    assert "1200 kg" in printed(followed, "lint", "heavy.urdf", "--select", "MB199")
    assert "Links above a tonne" in printed(followed, "rule", "MB199")


@pytest.mark.long
def test_the_command_runs(followed: Path) -> None:
    assert printed(followed, "mass", "heavy.urdf") == "1200\n"
    assert "Print the mass of all links" in printed(followed, "--help")


@pytest.mark.long
def test_the_integrator_can_be_chosen(followed: Path) -> None:
    pendulum = HEAVY.replace('type="fixed"', 'type="revolute"').replace(
        "</joint>", '<axis xyz="1 0 0"/></joint>'
    )
    (followed / "pendulum.urdf").write_text(pendulum.replace("<inertia ", '<origin xyz="0 0 1"/><inertia '))
    command = shlex.split(
        "simulate pendulum.urdf --base fixed --duration 0.05 --q j=0.2 --output-format json"
    )
    ours, other = (
        json.loads(printed(followed, *command, "--integrator", name))
        for name in ("bogacki_shampine", "dop853")
    )
    assert ours["request"]["integrator"] == "bogacki_shampine"
    assert ours["statistics"]["evaluations"] != other["statistics"]["evaluations"]
    assert ours["q"]["j"][-1] == pytest.approx(other["q"]["j"][-1], abs=1e-6)
    assert "bogacki_shampine" in printed(followed, "simulate", "--help")


@pytest.mark.long
def test_the_brake_law_is_everywhere(braked: Path) -> None:
    scene = (
        '[[model]]\nfile = "heavy.urdf"\nbase = "fixed"\n'
        '[[pair]]\nname = "j"\ntype = "revolute"\n'
        '[[brake]]\njoint = "j"\ntorque = 1.0\nquadratic = 0.5\n'
    )
    (braked / "fan.scene.toml").write_text(scene)
    assert "MB908" not in printed(braked, "lint", "fan.scene.toml")
    assert "quadratic" in printed(braked, "estop", "--help")
    for document in ("estop", "sweep", "scene"):
        assert '"quadratic"' in printed(braked, "schema", document)
    for brake in ("j:torque=1,quadratic=0.5", "j:torque=1,quadratic=0.5,wear=0.5"):
        command = ("estop", "fan.scene.toml", "--qd", "j=2", "--brake", brake, "--output-format", "json")
        stop = json.loads(printed(braked, *command))
        assert [one["quadratic"] for one in stop["brakes"]] == [0.5]
    program = (
        "import numpy as np\n"
        "from mbplugin.dynamics.kernels.solve import resistance_records, sliding_forces\n"
        "from mbplugin.model.brake_law import Brake\n"
        "records = resistance_records(0, [Brake('j', 1.0, quadratic=0.5).law(0.0)] * 2)\n"
        "records['sense'] = [1.0, -1.0]\n"
        "print(sliding_forces(records, np.array([4.0, -6.0])).tolist())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=braked,
        env={**os.environ, "PYTHONPATH": str(braked)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == [-9.0, 19.0]


@pytest.mark.long
def test_the_format_is_read_everywhere(braked: Path) -> None:
    folder = braked / "lists"
    folder.mkdir()
    (folder / "two.links").write_text("hull 1200\nrudder 3\n")
    (folder / "one.links").write_text("hull 1000\n")
    text = printed(braked, "lint", "lists")
    assert "lists/one.links" in text and "lists/two.links" in text
    report = json.loads(printed(braked, "lint", "lists/two.links", "--output-format", "json"))
    assert report["mobility"]["dof"] == 12
    assert "2 bodies" in printed(braked, "diff", "lists/two.links", "lists/two.links")


@pytest.mark.long
def test_the_column_is_in_every_output_and_converted(braked: Path) -> None:
    arm = str(ROOT / "assets" / "arm_6r.scene.toml")
    options = ("stop-table", arm, "--payload", "5", "--category", "0", "--axes", "j1")
    row = json.loads(printed(braked, *options, "--output-format", "json"))["rows"][0]
    assert row["mean_speed"] == pytest.approx(row["distance"] / row["time"], rel=1e-12)
    assert '"mean_speed"' in printed(braked, "schema", "stop-table")
    assert ",mean_speed," in printed(braked, *options, "--output-format", "csv")
    assert f"{math.degrees(row['mean_speed']):.3f} deg/s" in printed(braked, *options, "--units", "deg,mm")


@pytest.mark.parametrize("guide", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_every_file_and_folder_that_a_guide_names_exists(guide: str) -> None:
    text = BLOCK.sub("", (ROOT / guide).read_text(encoding="utf-8"))
    named = re.findall(r"`((?:mbplugin|tests|docs)/[\w./]*)`", text)
    named += [
        f"mbplugin/{name}" for name in re.findall(r"`(\w+/[\w./]+|\w+/)`", text) if "FORMAT" not in name
    ]
    named = [name for name in named if not re.search(r"mb199|mbNNN|^mbplugin/(mbplugin|tests|docs)/", name)]
    assert len(named) > 5
    assert not [name for name in named if not (ROOT / name).exists()]


def test_the_drawing_has_every_room_in_order() -> None:
    drawn = re.findall(r'class="n"[^>]*>([^<]*)<', (ROOT / "docs" / "architecture.svg").read_text("utf-8"))
    places = {room: k for k, row in enumerate(reversed(drawn)) for room in row.split(" · ")}
    rooms = [room for rooms in ORDER for room in rooms if (ROOT / "mbplugin" / room).is_dir() and room]
    assert [places[room] for room in rooms] == sorted(places[room] for room in rooms)
