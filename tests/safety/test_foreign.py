"""Foreign engines in processes of their own: what they answer, how they end, and what the next file finds."""

import ast
import importlib.util
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from mbplugin.errors import BrokenModel, UnreadableFile
from mbplugin.processes import isolated_command
from mbplugin.processes.foreign import Limits, in_engine, in_own_child
from mbplugin.readers import load
from places import ROOT

ATTACKS = ROOT / "tests" / "attacks" / "mjcf"
SMALL = Limits(seconds=30.0, cpu=30, memory=1 << 30)


def alone(function, *args, limits=SMALL, environment=None):
    return in_own_child(
        "the engine", limits, "f.xml", os.environ if environment is None else environment, function, *args
    )


def test_an_engine_keeps_its_process_until_it_fails() -> None:
    first = in_engine("test", SMALL, "f.xml", os.getpid)
    assert first != os.getpid()
    assert in_engine("test", SMALL, "f.xml", os.getpid) == first
    with pytest.raises(UnreadableFile):  # an error of ours says nothing of the engine
        in_engine("test", SMALL, "f.xml", load, "nowhere.urdf")
    assert in_engine("test", SMALL, "f.xml", os.getpid) == first
    with pytest.raises(RuntimeError, match=r"math domain error|expected a nonnegative"):
        in_engine("test", SMALL, "f.xml", math.sqrt, -1)
    assert in_engine("test", SMALL, "f.xml", os.getpid) != first


@pytest.mark.long
def test_what_never_answers_is_ended_and_the_next_call_answers() -> None:
    start = time.monotonic()
    with pytest.raises(BrokenModel, match=r"f\.xml: the engine has not read the file within 2 s"):
        alone(time.sleep, 60, limits=Limits(seconds=2.0))
    assert time.monotonic() - start < 20
    with pytest.raises(BrokenModel, match="test has not read the file within 1 s"):
        in_engine("test", Limits(cpu=1), "f.xml", math.factorial, 10**8)
    assert in_engine("test", SMALL, "f.xml", math.factorial, 5) == 120


def test_memory_is_limited() -> None:
    with pytest.raises(BrokenModel, match=r"needs more than 0\.5 GiB of memory"):
        alone(bytearray, 2 << 30, limits=Limits(memory=1 << 29))


def test_a_death_is_one_sentence() -> None:
    with pytest.raises(BrokenModel, match="the engine read the file ended by signal SIGSEGV"):
        alone(signal.raise_signal, signal.SIGSEGV)
    with pytest.raises(BrokenModel, match="ended by exit code 0 without an answer"):
        alone(os._exit, 0)


def test_it_has_the_environment_that_it_is_given_and_writes_nothing(tmp_path: Path) -> None:
    assert alone(os.getenv, "SECRET", environment={"ROS_DISTRO": "x"}) is None
    assert alone(os.getenv, "ROS_DISTRO", environment={"ROS_DISTRO": "x"}) == "x"
    with pytest.raises(RuntimeError, match=r"Permission denied|File too large"):
        alone(Path.write_text, tmp_path / "written", "text")
    assert not (tmp_path / "written").exists() or (tmp_path / "written").read_bytes() == b""


@pytest.mark.long
def test_modules_of_the_working_folder_are_not_run(tmp_path: Path) -> None:
    for name in ("numpy", "random", "lxml", "subprocess", "mbplugin"):
        (tmp_path / f"{name}.py").write_text("open('marker', 'w')\n")
    code = (
        f"import sys; sys.path[:0] = [{str(ROOT)!r}]\n"
        "import os\nfrom mbplugin.processes.foreign import Limits, in_engine\n"
        "from mbplugin.readers import load\n"
        f"os.chdir({str(tmp_path)!r}); sys.path[:0] = ['']\n"
        f"print(in_engine('test', Limits(), 'f', load, {str(ROOT / 'tests/oracles/four_bar_4R.sdf')!r})"
        ".mechanism.name)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "four_bar_4R"
    assert not (tmp_path / "marker").exists()


def test_the_command_is_isolated() -> None:
    assert isolated_command("mbplugin.processes.foreign_child")[1:3] == ["-I", "-c"]


def modules_of_processes() -> set[str]:
    """The modules that the package runs in processes of their own, from its sources."""
    found = set()
    for file in (ROOT / "mbplugin").rglob("*.py"):
        if "isolated_command(" not in (text := file.read_text()):
            continue
        tree = ast.parse(text)
        stated = {
            target.id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "isolated_command":
                (given,) = call.args
                found.add(given.value if isinstance(given, ast.Constant) else stated[given.id])  # type: ignore[attr-defined]
    return found


def test_each_process_has_a_module_that_can_be_run() -> None:
    """A package cannot be run, nor can a module that was moved."""
    names = modules_of_processes()
    assert len(names) >= 3
    for name in names:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations:
            spec = importlib.util.find_spec(f"{name}.__main__")
        assert spec is not None, name
        source = Path(str(spec.origin)).read_text()
        assert spec.name.endswith("__main__") or 'if __name__ == "__main__":' in source, name


@pytest.mark.long
def test_each_process_starts() -> None:
    """Without a request each process ends by itself."""
    names = modules_of_processes()
    for name in names:
        done = subprocess.run(
            isolated_command(name), input=b"", capture_output=True, check=False, timeout=60, cwd="/"
        )
        assert b"ImportError" not in done.stderr and b"ModuleNotFound" not in done.stderr, done.stderr
        # it has come to its request
        frames = [line for line in done.stderr.decode().splitlines() if line.lstrip().startswith("File ")]
        assert not frames or any("mbplugin" in line for line in frames), done.stderr


def test_the_child_runs_the_package_of_its_parent(tmp_path: Path) -> None:
    package = tmp_path / "mbplugin"
    processes = package / "processes"
    processes.mkdir(parents=True)
    for name in ("__init__.py", "api.py", "version.py", "processes/__init__.py"):
        shutil.copy(ROOT / "mbplugin" / name, package / name)
    (processes / "where.py").write_text("import mbplugin\nprint(mbplugin.__file__)\n")
    start = (
        "from mbplugin.processes import isolated_command\n"
        "import subprocess\n"
        "subprocess.run(isolated_command('mbplugin.processes.where'), check=True)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", start],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        cwd=tmp_path,
    )
    assert done.stdout == f"{package / '__init__.py'}\n", done.stderr


@pytest.mark.long
def test_a_model_after_which_mujoco_hangs_does_not_stop_the_next_one() -> None:
    pytest.importorskip("mujoco")
    files = [str(ATTACKS / name) for name in ("empty_anchor.xml", "good.xml")]
    done = subprocess.run(
        [sys.executable, "-m", "mbplugin", "lint", *files, "--output-format", "json"],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        cwd=ROOT,
    )
    assert done.returncode == 2, done.stderr
    broken, good = json.loads(done.stdout)["runs"]
    assert [finding["code"] for finding in broken["findings"]] == ["MB904"]
    assert "MuJoCo failed while it compiled the model" in broken["findings"][0]["message"]
    # a hinge leaves one freedom of six
    assert (good["mobility"]["rank"], good["mobility"]["dof"]) == (5, 1)
