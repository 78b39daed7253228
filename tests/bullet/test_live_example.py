"""The example of a live scene: what it adds to a PyBullet script leaves the simulation as it was.

Its own source is run, once with the lines that ask mbplugin and once without them.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import ROOT

(EXAMPLE,) = (ROOT / "examples").glob("*live_scene.py")
ASKED, GOES_ON = "# the three lines", "# the user's script goes on"
#: Everything that a client tells of its bodies, constraints and settings.
SNAPSHOT = """
def snapshot():
    bodies = [p.getBodyUniqueId(k) for k in range(p.getNumBodies())]
    told = {
        "bodies": [(b, p.getBodyInfo(b), p.getNumJoints(b)) for b in bodies],
        "bases": [(p.getBasePositionAndOrientation(b), p.getBaseVelocity(b)) for b in bodies],
        "infos": [p.getJointInfo(b, j) for b in bodies for j in range(p.getNumJoints(b))],
        "joints": [p.getJointState(b, j) for b in bodies for j in range(p.getNumJoints(b))],
        "links": [p.getLinkState(b, j) for b in bodies for j in range(p.getNumJoints(b))],
        "dynamics": [p.getDynamicsInfo(b, j) for b in bodies for j in range(-1, p.getNumJoints(b))],
        "shapes": [p.getVisualShapeData(b) for b in bodies],
        "constraints": [
            (c, p.getConstraintInfo(c), p.getConstraintState(c))
            for c in (p.getConstraintUniqueId(k) for k in range(p.getNumConstraints()))
        ],
        "settings": p.getPhysicsEngineParameters(),
        "connection": p.getConnectionInfo(client),
    }
    return repr(told)
"""
#: Notes every function of PyBullet that is called for the client of the user.
SPY = """
def spied():
    called = []
    def noting(name, function):
        def note(*values, **named):
            of = named.get("physicsClientId", values[0] if name == "disconnect" else 0)
            if of == client and not name.startswith(("compute", "connect")):
                called.append(name)
            return function(*values, **named)
        return note
    for name, value in list(vars(p).items()):
        if callable(value) and not isinstance(value, type):
            setattr(p, name, noting(name, value))
    return called
"""


def parts(folder: Path) -> tuple[str, str, str]:
    """The user's own lines, those that ask, and how it goes on; a small picture in a folder."""
    text = EXAMPLE.read_text(encoding="utf-8")
    text = text.replace("__file__", repr(str(folder / "examples" / "example.py")))
    text = text.replace('"live_scene.png"', '"live_scene.png", size=(160, 90)')
    before, _, rest = text.partition(ASKED)
    asks, _, after = rest.partition(GOES_ON)
    assert asks.strip() and after.strip()
    return before, asks, after


def run(code: str, tmp_path: Path) -> Any:
    """Run code in a process of its own, and return what it puts into ``answer``."""
    file = tmp_path / "answer.json"
    code += f"\nimport json\nopen({str(file)!r}, 'w').write(json.dumps(answer))\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(file.read_text())


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("told")
    before, asks, after = parts(folder)
    lines = (
        *(before, SNAPSHOT, SPY, "answer = {'before': snapshot()}", "called = spied()", asks),
        *("answer['called'] = sorted(set(called))", "answer['after'] = snapshot()", after),
        "answer['end'] = snapshot()",
    )
    answer = run("\n".join(lines), folder)
    assert (folder / "out" / "live_scene.png").is_file()
    return answer


@pytest.mark.long
def test_the_client_is_as_it_was(told: Any) -> None:
    assert told["before"] == told["after"]
    assert len(told["before"]) > 20_000


@pytest.mark.long
def test_the_client_is_only_asked(told: Any) -> None:
    """So no debug item, body, constraint or setting can have come or gone, whatever can be read of it."""
    assert "getJointInfo" in told["called"] and "getConstraintInfo" in told["called"]
    assert [name for name in told["called"] if not name.startswith(("get", "isConnected"))] == []


def test_the_simulation_goes_on_bit_for_bit(told: Any, tmp_path: Path) -> None:
    before, _, after = parts(tmp_path)
    alone = run("\n".join((before, SNAPSHOT, after, "answer = snapshot()")), tmp_path)
    assert told["end"] == alone != told["before"]
