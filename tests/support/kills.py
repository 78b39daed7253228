"""A sweep that is killed again and again, with files damaged in between: the means of its tests."""

from __future__ import annotations

import ctypes
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from command_line import ROOT, Outcome

ARM = """
gravity = [0, -9.81, 0]
body = [
  { name = "upper", mass = 3.0, com = [0.25, 0, 0], inertia = [0.01, 0.06, 0.06] },
  { name = "lower", mass = 2.0, com = [0.2, 0, 0], inertia = [0.01, 0.03, 0.03] },
]
pair = [
  { name = "j0", type = "revolute", body_a = "world", body_b = "upper", xyz_a = [0, 0, 0] },
  { name = "j1", type = "revolute", body_a = "upper", body_b = "lower", xyz_a = [0.5, 0, 0] },
]
brake = [{ joint = "j0", torque = 90.0 }, { joint = "j1", torque = 30.0 }]
state = { qd = { j0 = 1.5, j1 = -1.0 } }
"""
#: Parts hold 1000 stops.
STOPS, PARTS = 8000, 8
#: The console script; what runs in the background of a shell would ignore Ctrl-C.
_SCRIPT = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from mbplugin.cli import main
sys.exit(main())
"""
_SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
#: How long a process that was asked to end may take, s.
_PATIENCE = 30.0

Damage = Callable[[random.Random, Path], str]


@dataclass
class Sweep:
    """A folder with a scene, a sweep's part files and a cache of machine code of its own.

    Parameters
    ----------
    folder : Path
    jobs : int
    killed : list of str
        Runs that a signal ended, in words.
    told : dict
        The report of :func:`warm_up`.
    """

    folder: Path
    jobs: int = 1
    killed: list[str] = field(default_factory=list)
    told: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.folder.mkdir(exist_ok=True)
        (self.folder / "arm.scene.toml").write_text(ARM)

    @property
    def out(self) -> Path:
        """Where the part files are."""
        return self.folder / "stops"

    @property
    def cache(self) -> Path:
        """Where machine code is kept, below ``mbplugin`` in a folder for each state of the sources."""
        return self.folder / "cache"

    def code_files(self) -> list[Path]:
        """Return the files of cached machine code."""
        return sorted(self.cache.rglob("*.code"))

    def started(self, before: Callable[[], None] | None = None) -> subprocess.Popen[str]:
        """Start the sweep in a process group of its own."""
        varied = ("--q-spread", "0.3", "--torque-tolerance", "0.2", "--seed", "5", "--jobs", str(self.jobs))
        command = ("sweep", "arm.scene.toml", "--out", "stops", "--number", str(STOPS), *varied)
        return subprocess.Popen(
            [sys.executable, "-c", _SCRIPT, *command, "--output-format", "json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            start_new_session=True,
            preexec_fn=before,
            env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(self.cache)},
        )

    def finished(self, before: Callable[[], None] | None = None, seconds: float = 540.0) -> Outcome:
        """Return the outcome of a run that nobody disturbs."""
        return _outcome(self.started(before), seconds)

    def kill(self, after: float, number: int, whom: str = "group") -> Outcome | None:
        """Run it and send a signal after some seconds; None where it had ended by itself.

        Parameters
        ----------
        after : float
        number : int
            Of the signal.
        whom : "group" or "parent"
        """
        process = self.started()
        try:
            outcome = _outcome(process, after)
        except subprocess.TimeoutExpired:
            pass
        else:
            assert outcome.code == 0, outcome
            return None
        (os.killpg if whom == "group" else os.kill)(process.pid, number)
        try:
            outcome = _outcome(process, _PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        self.killed.append(f"{signal.Signals(number).name} to the {whom} after {after:.2f} s")
        return outcome

    def parts(self) -> dict[str, bytes]:
        """Return the part files."""
        return {file.name: file.read_bytes() for file in sorted(self.out.glob("part-*"))}


def _outcome(process: subprocess.Popen[str], seconds: float) -> Outcome:
    """Return the outcome once the output of all its processes has ended."""
    out, err = process.communicate(timeout=seconds)
    return Outcome(process.returncode, out, err)


def document(outcome: Outcome) -> dict[str, Any]:
    """Return the report without what it says about the files that it found, and without the number of processes."""
    told: dict[str, Any] = json.loads(outcome.out)
    told.pop("replaced")
    told["record"]["command"] = re.sub(r"--jobs \d+", "--jobs N", told["record"]["command"])
    return told


def cut(rng: random.Random, file: Path) -> str:
    content = file.read_bytes()
    file.write_bytes(content[: rng.randrange(max(1, len(content)))])
    return "cut"


def empty(rng: random.Random, file: Path) -> str:
    file.write_bytes(b"")
    return "emptied"


def flip(rng: random.Random, file: Path) -> str:
    content = bytearray(file.read_bytes() or b"\0")
    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    file.write_bytes(content)
    return "with another bit"


def replace(rng: random.Random, file: Path) -> str:
    file.write_bytes(rng.randbytes(rng.randrange(1, 20_000)))
    return "replaced by rubbish"


def exchange(rng: random.Random, file: Path) -> str:
    """Put the content of another file of its kind into its place."""
    others = [other for other in file.parent.glob(f"*{file.suffix}") if other != file and other.is_file()]
    if not others:
        return empty(rng, file)
    shutil.copy(rng.choice(sorted(others)), file)
    return "replaced by its neighbour"


def remove(rng: random.Random, file: Path) -> str:
    file.unlink()
    return "removed"


DAMAGES: tuple[Damage, ...] = (cut, empty, flip, replace, exchange, remove)


def damage_some(sweep: Sweep, rng: random.Random) -> dict[str, str]:
    """Damage some parts, now and then the note, and some machine code; return what was done to which."""
    parts = sorted(sweep.out.glob("part-*.parquet"))
    chosen = rng.sample(parts, min(len(parts), rng.randrange(3)))
    note = sweep.out / "sweep.json"
    chosen += [note] if note.is_file() and rng.random() < 0.3 else []
    # with another bit a note may name another sweep, whose folder is refused
    no_flip = [damage for damage in DAMAGES if damage is not flip]
    code = sweep.code_files()
    chosen += rng.sample(code, min(len(code), rng.randrange(3)))
    return {file.name: rng.choice(no_flip if file == note else DAMAGES)(rng, file) for file in chosen}


def some_signal(rng: random.Random) -> tuple[int, str]:
    """Return a signal and whether it goes to the whole group."""
    return rng.choice(_SIGNALS), rng.choice(("group", "group", "parent"))


def without_privileges() -> None:
    """Let permissions hold for this process, should it be root's; for ``preexec_fn``."""
    if os.getuid() == 0:
        libc = ctypes.CDLL(None)
        drop_from_bounding_set, override, read_search = 24, 1, 2
        assert libc.prctl(drop_from_bounding_set, override, 0, 0, 0) == 0
        assert libc.prctl(drop_from_bounding_set, read_search, 0, 0, 0) == 0


def warm_up(folder: Path) -> Sweep:
    """Return a sweep that ran undisturbed, its cache made of what is kept already."""
    from mbplugin.dynamics.compiler import cache_folder

    sweep = Sweep(folder)
    kept = cache_folder()
    if kept is not None:
        shutil.copytree(kept, sweep.cache / "mbplugin" / kept.name)
    outcome = sweep.finished()
    assert outcome.code == 0 and outcome.err == "", outcome.err
    sweep.told = document(outcome)
    return sweep
