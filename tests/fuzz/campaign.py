"""A campaign: one worker process goes through the inputs, this one watches that it goes on.

An input that hangs, eats the memory or kills the process must not end the campaign, so the worker
says which input it is at before it starts it, and is replaced when it is stuck or gone.
"""

from __future__ import annotations

import ctypes
import math
import multiprocessing
import os
import re
import resource
import shutil
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from .corpus import corpus
from .target import failure_of, write_input

#: Seconds of processor time that one input may take; and of anybody's time, on a busy machine.
PATIENCE, PATIENCE_ON_THE_CLOCK = 10.0, 60.0
#: Bytes that the worker may use.
MEMORY = 4 << 30
#: One in so many inputs is linted and reported, the others are read.
WHOLE = 2

_fork = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Limits:
    """Where to begin, how many inputs at most, and how many seconds."""

    first: int = 0
    inputs: int = 10**9
    seconds: float = 60.0


@dataclass
class Result:
    """How many inputs a campaign saw, and the failures by what went wrong with their numbers."""

    seed: int
    inputs: int = 0
    seconds: float = 0.0
    failures: dict[str, list[int]] = field(default_factory=dict)

    def add(self, number: int, failure: str) -> None:
        """Count a failure with those that are alike."""
        self.failures.setdefault(failure, []).append(number)

    def text(self) -> str:
        """Return what a person wants to know."""
        kinds = [
            f"{len(numbers)} × (inputs {', '.join(map(str, numbers[:5]))}): {failure}"
            for failure, numbers in sorted(self.failures.items(), key=lambda item: -len(item[1]))
        ]
        head = f"{self.inputs} inputs of seed {self.seed} in {self.seconds:.0f} s"
        return "\n\n".join((f"{head}: {len(kinds)} kinds of failure", *kinds))


def run_campaign(seed: int, limits: Limits, keep: Path | None = None) -> Result:
    """Go through inputs until their count or the time is spent."""
    result, start = Result(seed), time.monotonic()
    number, last = limits.first, limits.first + limits.inputs
    while number < last and (left := limits.seconds - (time.monotonic() - start)) > 0:
        number = _watch(result, seed, (number, last), left, keep)
        result.inputs, result.seconds = number - limits.first, time.monotonic() - start
    return result


def _watch(result: Result, seed: int, numbers: tuple[int, int], seconds: float, keep: Path | None) -> int:
    """Run one worker and return the number of the input that comes next."""
    at = _fork.Value(ctypes.c_longlong, numbers[0], lock=False)
    # nothing has begun before the worker says so: on a busy machine that may take a while
    since = _fork.Array(ctypes.c_double, (math.inf, math.inf), lock=False)
    receive, send = _fork.Pipe(duplex=False)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        folder = Path(name)
        worker = _fork.Process(target=_work, args=(seed, numbers, seconds, (at, since), send, folder))
        worker.start()
        send.close()
        stuck = False
        while not _told(receive, result, folder, keep):
            if stuck := _stuck(worker.pid, *since):
                worker.kill()
                break
        worker.join()
        if not stuck and worker.exitcode == 0:
            return int(at.value)
        why = f"no answer in {PATIENCE:.0f} s" if stuck else f"the process ended with {worker.exitcode}"
        result.add(int(at.value), why)
        _keep(folder / str(int(at.value)), keep, int(at.value))
        return int(at.value) + 1


def _stuck(pid: int, clock: float, processor: float) -> bool:
    """Return whether a worker takes too long, having begun at these times."""
    try:
        # behind the name in brackets: field 14 and 15 of all, in ticks
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return False
    used = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return used - processor > PATIENCE or time.monotonic() - clock > PATIENCE_ON_THE_CLOCK


def _told(receive, result: Result, folder: Path, keep: Path | None) -> bool:
    """Take one report of the worker, waiting a little; return whether it has gone."""
    try:
        if receive.poll(0.5):
            number, failure = receive.recv()
            result.add(number, failure)
            _keep(folder / str(number), keep, number)
    except EOFError:
        return True
    return False


def _keep(folder: Path, keep: Path | None, number: int) -> None:
    if keep is not None and folder.is_dir():
        shutil.copytree(folder, keep / str(number), dirs_exist_ok=True)


def _work(seed, numbers, seconds, progress, send, folder: Path) -> None:
    """Go through inputs in a process of its own; what a library prints is nobody's business."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.chdir(folder)
    at, since = progress
    seeds, end, known = corpus(), time.monotonic() + seconds, set()
    for number in range(*numbers):
        at.value, since[:] = number, (time.monotonic(), time.process_time())
        if time.monotonic() > end:
            return
        place = folder / str(number)
        place.mkdir()
        start, file = write_input(seeds, seed, number, place)
        if failure := failure_of(file, start.folder, whole=number % WHOLE == 0):
            send.send((number, told := _alike(failure)))
            if told not in known:
                known.add(told)
                time.sleep(1.0)  # until the input is kept
        shutil.rmtree(place, ignore_errors=True)
    at.value = numbers[1]


def _alike(failure: str) -> str:
    """Return what failures of one cause have in common: the last frames and the kind of error."""
    frames = re.findall(r'File "([^"]*)", line (\d+), in (\S+)', failure)
    if not frames:
        return failure[:200]
    places = [f"{Path(file).name}:{line} {function}" for file, line, function in frames[-3:]]
    ours = [f"{Path(f).name}:{line} {n}" for f, line, n in frames if "mbplugin" in f][-1:]
    return f"{failure.strip().splitlines()[-1][:160]}\n    at {' > '.join(dict.fromkeys((*ours, *places)))}"
