"""``python -m mbplugin.watch``: a script runs as by itself, and its simulations are watched."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import mbplugin as mb
from command_line import ROOT

#: A script with its own arguments, two ways of stepping, a second connection and an exit code.
SCRIPT = """
import sys
import pybullet as p, pybullet_data
from pybullet import stepSimulation
from pybullet_utils.bullet_client import BulletClient

print(sys.argv, __name__, __file__, sys.path[0], __spec__, sys.modules["__main__"].__dict__ is globals())
client = BulletClient(p.DIRECT)
client.setAdditionalSearchPath(pybullet_data.getDataPath())
client.setGravity(0, 0, -9.81)
client.loadURDF("plane.urdf")
box = client.loadURDF("r2d2.urdf", [0, 0, 0.5])
for _ in range(100):
    client.stepSimulation()
print(client.getBasePositionAndOrientation(box))
client.disconnect()
again = p.connect(p.DIRECT)
stepSimulation()
p.setAdditionalSearchPath(pybullet_data.getDataPath())
p.loadURDF("cube_small.urdf", [0, 0, 1])
stepSimulation(again)
stepSimulation(physicsClientId=again)
if "fail" in sys.argv:
    raise ValueError("of the script")
sys.exit(7)
"""


def run(tmp_path: Path, *arguments: str, script: str = SCRIPT) -> subprocess.CompletedProcess[str]:
    (tmp_path / "script.py").write_text(script)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=env,
        check=False,
        timeout=240,
    )


@pytest.mark.long
def test_the_script_sees_what_it_sees_alone(tmp_path: Path) -> None:
    alone = run(tmp_path, "script.py", "a", "--log", "b")
    watched = run(tmp_path, "-m", "mbplugin.watch", "script.py", "a", "--log", "b")
    assert watched.returncode == alone.returncode == 7

    def own(text: str) -> list[str]:
        return [line for line in text.splitlines() if line.startswith(("[", "(("))]

    assert own(watched.stdout) == own(alone.stdout) and len(own(alone.stdout)) == 2
    assert "mbplugin.watch: client 0: 100 steps, 100 updates" in watched.stderr
    assert "disconnected" in watched.stderr and "client 0: 3 steps" in watched.stderr
    assert not (tmp_path / "b").exists()


@pytest.mark.long
def test_log_and_plot(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        "-m",
        "mbplugin.watch",
        "--every",
        "5",
        "--log",
        "l.csv",
        "--plot",
        "p.png",
        "script.py",
        "x",
    )
    assert done.returncode == 7, done.stderr
    lines = (tmp_path / "l.csv").read_text().splitlines()
    assert len(lines) > 100 and lines[0].startswith("update,time_s")
    assert (tmp_path / "p.png").stat().st_size > 5000
    assert "100 steps, 20 updates" in done.stderr


@pytest.mark.long
def test_an_exception_has_the_traceback_of_the_script(tmp_path: Path) -> None:
    alone, watched = (
        run(tmp_path, "script.py", "fail"),
        run(tmp_path, "-m", "mbplugin.watch", "script.py", "fail"),
    )
    assert watched.returncode == alone.returncode == 1

    def trace(text: str) -> str:
        begun = text[text.index("Traceback") :]
        return begun[: begun.index("of the script") + len("of the script")].replace(
            str(tmp_path) + os.sep, ""
        )

    assert trace(watched.stderr) == trace(alone.stderr)
    assert "mbplugin.watch: client 0" in watched.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    ("script", "code"),
    [
        ("import sys; sys.exit()", 0),
        ("import sys; sys.exit('bye')", 1),
        ("raise KeyboardInterrupt", 130),
        ("x = ", 1),
        ("print(1)", 0),
    ],
)
def test_exit_codes(tmp_path: Path, script: str, code: int) -> None:
    done = run(tmp_path, "-m", "mbplugin.watch", "script.py", script=script)
    assert done.returncode == code, done.stderr
    if "x =" not in script:
        assert "no simulation of PyBullet or MuJoCo took a step" in done.stderr


LONG = """
import pybullet as p
import pybullet_data
p.connect(p.DIRECT)
p.setAdditionalSearchPath(pybullet_data.getDataPath())
p.setGravity(0, 0, -9.81)
p.loadURDF("cube_small.urdf", [0, 0, 1])
p.stepSimulation()
print("stepped", flush=True)
while True:
    p.stepSimulation()
"""


@pytest.mark.long
@pytest.mark.skipif(os.name == "nt", reason="Windows ends processes without a signal")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_script_that_is_ended_from_outside_closes_its_log(tmp_path: Path, number: int) -> None:
    (tmp_path / "script.py").write_text(LONG)
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "mbplugin.watch", "--log", "log.csv", "script.py"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path, env=env
    ) as script:
        assert script.stdout is not None
        while script.stdout.readline().strip() != "stepped":
            assert script.poll() is None
        script.send_signal(number)
        _, said = script.communicate(timeout=120)
    assert script.returncode == 128 + number
    assert "log: log.csv" in said
    assert sorted(file.name for file in tmp_path.iterdir()) == ["log.csv", "script.py"]


FORKS = """
import os
import signal
import time
import pybullet as p
import pybullet_data
p.connect(p.DIRECT)
p.setAdditionalSearchPath(pybullet_data.getDataPath())
p.setGravity(0, 0, -9.81)
p.loadURDF("cube_small.urdf", [0, 0, 1])
for _ in range(20):
    p.stepSimulation()
child = os.fork()
if child == 0:
    time.sleep(60)
    os._exit(0)
time.sleep(0.3)
os.kill(child, signal.SIGTERM)
print("child", os.waitpid(child, 0)[1])
if os.fork() == 0:
    raise SystemExit(0)
os.wait()
for _ in range(20):
    p.stepSimulation()
"""


@pytest.mark.long
@pytest.mark.bullet
@pytest.mark.skipif(os.name == "nt", reason="Windows does not fork")
def test_children_that_a_script_forks_end_as_without_a_watch_and_leave_its_log(tmp_path: Path) -> None:
    done = run(tmp_path, "-m", "mbplugin.watch", "--log", "log.csv", "script.py", script=FORKS)
    assert done.returncode == 0 and "child 15" in done.stdout, done.stderr
    assert done.stderr.count("log: log.csv") == 1
    steps = [line.split(",")[0] for line in (tmp_path / "log.csv").read_text().splitlines()]
    alone = run(
        tmp_path,
        "-m",
        "mbplugin.watch",
        "--log",
        "log.csv",
        "script.py",
        script=FORKS.split("child =")[0] + FORKS.split("os.wait()")[1],
    )
    assert alone.returncode == 0
    assert steps == [line.split(",")[0] for line in (tmp_path / "log.csv").read_text().splitlines()]


@pytest.mark.long
@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["nowhere.py"], "cannot be read"),
        (["--every", "0", "script.py"], "--every is 0"),
        (["--log", "l.txt", "script.py"], "no format of a log"),
        ([], "usage"),
    ],
)
def test_what_cannot_be_run(tmp_path: Path, options: list[str], text: str) -> None:
    done = run(tmp_path, "-m", "mbplugin.watch", *options)
    assert done.returncode == 2 and text in done.stderr
    assert done.stdout == ""


@pytest.mark.long
def test_a_script_of_mujoco(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    from watched import BIPED

    script = (
        "from mujoco import MjModel, MjData, mj_step\n"
        f"model = MjModel.from_xml_string({BIPED!r})\n"
        "data = MjData(model)\nfor _ in range(40): mj_step(model, data)\nmj_step(model, data, nstep=3)\n"
    )
    done = run(tmp_path, "-m", "mbplugin.watch", "--log", "l.csv", "script.py", script=script)
    assert done.returncode == 0, done.stderr
    assert "MuJoCo's data: 41 steps, 41 updates" in done.stderr
    assert "contact foot_l" in (tmp_path / "l.csv").read_text()


@pytest.mark.long
def test_importing_the_module_leaves_the_function() -> None:
    code = "import mbplugin as mb; f = mb.watch; import mbplugin.watch; assert mb.watch is f; print(f.__module__)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "mbplugin.watching.run"
    assert callable(mb.watch)
