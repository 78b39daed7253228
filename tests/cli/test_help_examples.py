"""The examples in the help do what they say, on a robot with the names that they use."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from command_line import call
from mbplugin.cli.help import COMMANDS
from places import ASSETS, ROOT

PUBLISHED = ROOT / "examples" / "published_stops"
#: Those that need PyBullet, and the one that searches for half a minute.
MARKS = {
    **dict.fromkeys(("crosscheck", "engines", "view"), pytest.mark.bullet),
    "worst-stop": pytest.mark.slow,
}
#: Exit code 1: the two models differ.
CODES = {"diff": 1}


def _arm(mass: int = 42) -> str:
    """Return the arm of the assets, welded to the world and with a tool at its end."""
    text = (ASSETS / "arm_6r.urdf").read_text().replace('"flange"', '"tool"')
    weld = '<joint name="w" type="fixed"><parent link="world"/><child link="base"/></joint>'
    return text.replace("</robot>", f'<link name="world"/>{weld}</robot>').replace(
        'mass value="42"', f'mass value="{mass}"'
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "robot.urdf").write_text(_arm())
    (tmp_path / "before.urdf").write_text(_arm())
    (tmp_path / "after.urdf").write_text(_arm(mass=43))
    shutil.copy(ASSETS / "four_bar.urdf", tmp_path)
    shutil.copy(ASSETS / "four_bar.scene.toml", tmp_path / "robot.scene.toml")
    return tmp_path


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=MARKS.get(name, ())) for name in COMMANDS if name != "server"],
)
def test_an_example_of_the_help_runs(name: str, folder: Path) -> None:
    if name == "calibrate":
        shutil.copy(PUBLISHED / "tm5_700.urdf", folder / "robot.urdf")
        shutil.copy(PUBLISHED / "tm5_700.csv", folder / "measured.csv")
    if name == "distance":
        stop = shlex.split(COMMANDS["estop"].example)[1:]
        assert call(*stop, "--output-format", "json", "--output", "stop.json").code == 0
    words = shlex.split(COMMANDS[name].example)[1:]
    done = call(*words)
    assert done.code == CODES.get(name, 0), done.err
    written = [word for word in words if word.endswith((".html", ".npz", ".png", ".xml"))]
    assert all((folder / file).stat().st_size > 500 for file in written)
    assert written or done.out


@pytest.mark.long
def test_the_example_of_the_server_serves(folder: Path) -> None:
    pytest.importorskip("pygls")
    words = shlex.split(COMMANDS["server"].example)[1:]
    messages: list[dict[str, object]] = [
        {"id": 1, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": {}}},
        {"method": "initialized", "params": {}},
        {"id": 2, "method": "shutdown"},
        {"method": "exit"},
    ]
    bodies = [json.dumps({"jsonrpc": "2.0", **message}).encode() for message in messages]
    done = subprocess.run(
        (sys.executable, "-P", "-m", "mbplugin", *words),
        input=b"".join(b"Content-Length: %d\r\n\r\n%s" % (len(body), body) for body in bodies),
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert b'"capabilities"' in done.stdout
