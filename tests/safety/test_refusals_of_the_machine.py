"""A full disk, a name that is too long, an interrupt at any time: one sentence or none, and no traceback."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from command_line import DOOR_2, call
from mbplugin.cli.help import COMMANDS

LONG = "a" * 5000
#: Without it there is nothing to stop, which is said first.
BRAKE = ("--brake", "h0:torque=1")
#: Of each command, what it reads, one by one.
READING = (
    ("lint", "{}.urdf"),
    ("lint", DOOR_2, "--config", "{}"),
    ("lint", DOOR_2, "--baseline", "{}"),
    ("matrix", DOOR_2, "--against", "{}.json"),
    ("matrix", "{}.urdf"),
    ("reactions", "{}.urdf"),
    ("distance", "{}.json"),
    ("calibrate", DOOR_2, "{}.csv"),
    ("estop", DOOR_2, *BRAKE, "--trajectory", "{}.csv"),
    ("diff", DOOR_2, "{}.urdf"),
    ("sweep", DOOR_2, *BRAKE, "--out", "{}", "--number", "3"),
    ("matrix", DOOR_2, "--save", "{}.npz"),
    ("lint", DOOR_2, "--output", "{}.json"),
    ("close", DOOR_2, "--to", "mjcf", "--write", "{}.xml"),
)


@pytest.mark.parametrize("arguments", READING, ids=" ".join)
def test_a_name_that_is_too_long_is_one_sentence(arguments: tuple[str, ...]) -> None:
    done = call(*(one.format(LONG) for one in arguments))
    assert done.code == 2 and "Traceback" not in done.err and "bug in mbplugin" not in done.err
    assert "name too long" in " ".join((done.out + done.err).split())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no full device")
@pytest.mark.parametrize("command", ["", *(pytest.param(name, marks=pytest.mark.long) for name in COMMANDS)])
def test_help_on_a_full_disk_is_one_sentence(command: str) -> None:
    with open("/dev/full", "wb") as full:  # noqa: PTH123
        words = [sys.executable, "-m", "mbplugin", *command.split(), "--help"]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert done.stderr.startswith("mbplugin: no space left on device; free some space")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no Linux")
def test_no_folder_for_temporary_files_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openpyxl")

    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.NamedTemporaryFile", refuse)
    monkeypatch.setattr("openpyxl.worksheet._writer.create_temporary_file", refuse)
    done = call("lint", DOOR_2, "--output", str(tmp_path / "r.xlsx"))
    assert (done.code, done.out) == (2, "") and done.err.count("\n") == 1
    assert "no space left on device" in done.err and not list(tmp_path.iterdir())


@pytest.mark.long
def test_an_interrupt_at_any_time_after_the_entry_is_silent() -> None:
    script = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler);"
        " from mbplugin.cli import main; print('.', file=sys.stderr, flush=True); main()"
    )
    for k in range(12):
        words = [sys.executable, "-c", script, "lint", DOOR_2]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        process.stderr.readline()
        # an interrupt counts from the first line of main on, which takes the handler of the script away
        end = time.monotonic() + 5
        while time.monotonic() < end and _catches_interrupts(process.pid):
            time.sleep(0.001)
        time.sleep(0.02 * k)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode in (130, -2, 0) and "Traceback" not in err, (k, err)


def _catches_interrupts(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return False
    caught = next(line for line in status.read_text().splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) & 1 << (signal.SIGINT - 1))
