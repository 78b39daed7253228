"""The command line as a process: streams, signals, and what it imports."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from command_line import ASSETS, DOOR_1, FOUR_BAR, ROOT, call, call_process
from mbplugin.cli.app import run


@pytest.mark.long
def test_streams_of_a_real_process() -> None:
    outcome = call_process("lint", FOUR_BAR, "--output-format", "json")
    assert outcome.code == 0
    assert json.loads(outcome.out)["schema_version"] == 1
    assert outcome.err == ""


@pytest.mark.long
def test_ascii_terminal_does_not_break_the_text() -> None:
    outcome = call_process("lint", FOUR_BAR, PYTHONIOENCODING="ascii")
    assert outcome.code == 0
    assert "redundant" in outcome.out


@pytest.mark.long
@pytest.mark.parametrize("unbuffered", ["", "1"], ids=["buffered", "unbuffered"])
def test_closed_stdout_ends_quietly(unbuffered: str) -> None:
    # more than a pipe holds, so that writing fails while the reader is gone
    files = " ".join([f"'{FOUR_BAR}'"] * 12)
    command = (
        f"'{sys.executable}' -m mbplugin lint {files} --samples 0 --output-format json"
        " | head -1; echo ${PIPESTATUS[0]}"
    )
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, check=False, timeout=120, env=environment
    )
    assert done.stdout.decode().split() == ["{", "0"]
    assert done.stderr == b""


@pytest.mark.long
def test_no_streams_at_all() -> None:
    command = f"'{sys.executable}' -m mbplugin lint '{FOUR_BAR}' --fail-on warning >&- 2>&-"
    assert subprocess.run(["bash", "-c", command], check=False, timeout=120).returncode == 1


def test_full_disk_is_told() -> None:
    command = f"'{sys.executable}' -m mbplugin lint '{FOUR_BAR}' > /dev/full"
    done = subprocess.run(["bash", "-c", command], capture_output=True, check=False, timeout=120)
    assert done.returncode == 2
    assert done.stderr.decode() == "mbplugin: stdout cannot be written (no space left on device).\n"


def wait_until_it_reads_stdin(process: subprocess.Popen[bytes]) -> None:
    """Wait for the read call on file descriptor 0; where the system does not tell, wait long enough."""
    call = Path(f"/proc/{process.pid}/syscall")
    deadline = time.monotonic() + 30.0
    while time.monotonic() < deadline:
        try:
            words = call.read_text().split()
        except OSError:
            time.sleep(5.0)
            return
        # read is call 0 on x86-64 and 63 on arm64
        if words[0] in ("0", "63") and words[1:2] == ["0x0"]:
            return
        time.sleep(0.05)


def test_interrupt_of_an_import_ends_quietly() -> None:
    """Extension modules that are interrupted while they are initialized raise ImportError instead."""
    code = (
        "import sys\nfrom mbplugin import readers\nfrom mbplugin.cli.app import run\n"
        "def load(*arguments, **named):\n"
        "    try:\n        raise KeyboardInterrupt\n"
        "    except KeyboardInterrupt as error:\n"
        "        raise ImportError('initialization failed') from error\n"
        "readers.load = load\n"
        f"sys.exit(run(['matrix', {FOUR_BAR!r}]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, cwd=ROOT, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


def test_the_end_of_a_file_is_no_interrupt(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Bytecode that was cut off ends an import so, and typer takes it for an interrupt."""

    def load(*arguments: object, **named: object) -> None:
        raise EOFError("marshal data too short")

    monkeypatch.setattr("mbplugin.cli.report.read_scene", load)
    assert run(["matrix", FOUR_BAR]) == 2
    assert "marshal data too short" in (err := capsys.readouterr().err)
    assert "this is a bug in mbplugin (EOFError)" in err


def test_interrupt_ends_quietly() -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "mbplugin", "lint", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        wait_until_it_reads_stdin(process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (130, b"", b"")


#: Names that would cost a lint its start, or bring an engine into it.
FOREIGN = (
    *("pybullet", "numba", "trimesh", "mujoco", "matplotlib", "rich", "joblib", "pxr"),
    *("scipy", "numpy.ma", "statistics", "multiprocessing", "unittest", "mbplugin.cli.simulate"),
)


@pytest.mark.long
@pytest.mark.parametrize("file", [FOUR_BAR, str(ASSETS / "minitaur.scene.toml")], ids=["sdf", "scene"])
def test_a_lint_imports_no_engine(file: str) -> None:
    code = (
        "import sys; from mbplugin.cli.app import run;"
        f"run(['lint', {file!r}, '--samples', '0', '--output', {'/dev/null'!r}]);"
        f"print([name for name in {FOREIGN!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, cwd=ROOT, timeout=120
    )
    assert done.stdout.decode().strip() == "[]"


@pytest.mark.long
def test_a_lint_of_a_robot_without_loops_imports_no_scipy() -> None:
    code = (
        "import sys; from mbplugin.cli.app import run;"
        f"run(['lint', {str(ASSETS / 'arm_6r.urdf')!r}, '--output', {'/dev/null'!r}]);"
        "print([name for name in sys.modules if name.startswith('scipy.')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=120)
    assert done.stdout.decode().strip() == "[]"


@pytest.mark.parametrize("command", ["lint", "simulate"])
def test_help_imports_no_numerics(command: str) -> None:
    code = (
        f"import sys; from mbplugin.cli.app import run; run([{command!r}, '--help']);"
        "print([name for name in ('numpy', 'scipy', 'networkx', 'lxml', 'numba') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=120)
    assert done.stdout.decode().splitlines()[-1] == "[]"


def test_the_installed_script_is_the_module() -> None:
    script = Path(sys.executable).parent / "mbplugin"
    done = subprocess.run([script, "--version"], capture_output=True, check=True, timeout=120)
    assert done.stdout.decode() == call("--version").out


@pytest.mark.long
def test_several_files_show_progress_on_a_terminal_only() -> None:
    leader, follower = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "mbplugin", "lint", DOOR_1, DOOR_1, "--output-format", "json"],
        stdout=subprocess.PIPE,
        stderr=follower,
        check=True,
        timeout=120,
    )
    os.close(follower)
    shown = os.read(leader, 100_000)
    os.close(leader)
    assert len(json.loads(done.stdout)["runs"]) == 2
    assert b"lint" in shown
