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
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from .usage import addresses, family, forget_peaks, memory, processor_time

#: Seconds of anybody's time that one input may take, on a busy machine.
PATIENCE_ON_THE_CLOCK = 180.0
#: Seconds between two words about how far it is.
PROGRESS = 60.0

# linear algebra has threads, and a process with threads is not forked safely
_spawn = multiprocessing.get_context("spawn")


class Subject(Protocol):
    """What a campaign goes through."""

    def prepare(self) -> None:
        """Do once in a worker what no input is to blame for."""

    def failure(self, seed: int, number: int, place: Path) -> str:
        """Make an input in a folder, use it, and return what must not happen, or nothing."""

    def again(self, seed: int, number: int) -> str:
        """Return the command line that does it again."""


@dataclass(frozen=True)
class Limits:
    """Where to begin, how many inputs at most, how many seconds; and what one input may take.

    That is ``patience`` in seconds of processor time, and ``memory`` in bytes beyond what the worker has before it.
    """

    first: int = 0
    inputs: int = 10**9
    seconds: float = 60.0
    patience: float = 10.0
    memory: int = 2 << 30


@dataclass
class Result:
    """How many inputs a campaign saw, and the failures by what went wrong with their numbers."""

    seed: int
    subject: Subject
    told: Callable[[str], None] = lambda line: None
    inputs: int = 0
    seconds: float = 0.0
    failures: dict[str, list[int]] = field(default_factory=dict)

    def add(self, number: int, failure: str) -> None:
        """Count a failure with those that are alike, and tell the first of them."""
        if failure not in self.failures:
            self.told(f"{number}: {failure}\n    again: {self.subject.again(self.seed, number)}")
        self.failures.setdefault(failure, []).append(number)

    def text(self) -> str:
        """Return what a person wants to know."""
        kinds = [
            f"{len(numbers)} × (inputs {', '.join(map(str, numbers[:5]))}): {failure}\n"
            f"    again: {self.subject.again(self.seed, numbers[0])}"
            for failure, numbers in sorted(self.failures.items(), key=lambda item: -len(item[1]))
        ]
        head = f"{self.inputs} inputs of seed {self.seed} in {self.seconds:.0f} s"
        return "\n\n".join((f"{head}: {len(kinds)} kinds of failure", *kinds))


def run_campaign(
    seed: int,
    limits: Limits,
    keep: Path | None,
    subject: Subject,
    told: Callable[[str], None] = lambda line: None,
) -> Result:
    """Go through inputs until their count or the time is spent; tell failures and progress as they come."""
    result, start = Result(seed, subject, told), time.monotonic()
    number, last = limits.first, limits.first + limits.inputs
    while number < last and (left := limits.seconds - (time.monotonic() - start)) > 0:
        number = _watch(result, replace(limits, first=number, inputs=last - number, seconds=left), keep)
        result.inputs, result.seconds = number - limits.first, time.monotonic() - start
    return result


def _watch(result: Result, limits: Limits, keep: Path | None) -> int:
    """Run one worker and return the number of the input that comes next."""
    at = _spawn.Value(ctypes.c_longlong, limits.first, lock=False)
    # nothing has begun before the worker says so: on a busy machine that may take a while
    since = _spawn.Array(ctypes.c_double, (math.inf, math.inf, math.inf), lock=False)
    receive, send = _spawn.Pipe(duplex=False)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        folder = Path(name)
        work = (result.subject, result.seed, limits, (at, since), send, (folder, keep))
        worker = _spawn.Process(target=_work, args=work)
        worker.start()
        send.close()
        excess, due = "", time.monotonic() + PROGRESS
        while not _told(receive, result):
            if time.monotonic() > due:
                due += PROGRESS
                result.told(f"at input {int(at.value)}, {len(result.failures)} kinds of failure")
            if excess := _excess(worker.pid, limits, *since):
                _kill(worker)
                break
        worker.join()
        if not excess and worker.exitcode == 0:
            return int(at.value)
        result.add(int(at.value), excess or f"the process ended with {worker.exitcode}")
        _keep(folder / str(int(at.value)), keep, int(at.value))
        return int(at.value) + 1


def _kill(worker: multiprocessing.process.BaseProcess) -> None:
    """End a worker and what it has started."""
    for pid in reversed(family(worker.pid or 0)):
        try:
            os.kill(pid, 9)
        except ProcessLookupError:
            continue


def _excess(pid: int, limits: Limits, clock: float, processor: float, bytes_before: float) -> str:
    """Return what a worker takes too much of, having begun at these times with this memory."""
    if math.isinf(clock):
        return ""
    pids = family(pid)
    if processor_time(pids) - processor > limits.patience:
        return f"no answer in {limits.patience:.0f} s"
    if time.monotonic() - clock > PATIENCE_ON_THE_CLOCK:
        return f"no answer in {PATIENCE_ON_THE_CLOCK:.0f} s on the clock"
    if memory(pids) - bytes_before > limits.memory:
        return f"more than {limits.memory / 2**30:g} GiB"
    return ""


def _told(receive, result: Result) -> bool:
    """Take one report of the worker, waiting a little; return whether it has gone."""
    try:
        if receive.poll(0.5):
            result.add(*receive.recv())
    except EOFError:
        return True
    return False


def _keep(folder: Path, keep: Path | None, number: int) -> None:
    if keep is not None and folder.is_dir():
        shutil.copytree(folder, keep / str(number), dirs_exist_ok=True)


def _work(subject: Subject, seed: int, limits: Limits, progress, send, folders) -> None:
    """Go through inputs in a process of its own; what a library prints is nobody's business."""
    folder, keep = folders
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    os.environ.pop("DISPLAY", None)
    os.chdir(folder)
    at, since = progress
    subject.prepare()
    end, known, me = time.monotonic() + limits.seconds, set(), os.getpid()
    last = limits.first + limits.inputs
    for number in range(limits.first, last):
        before = family(me)
        forget_peaks(before)
        resource.setrlimit(resource.RLIMIT_AS, (addresses() + limits.memory, resource.RLIM_INFINITY))
        begun = (time.monotonic(), processor_time(before), float(memory(before)))
        at.value, since[:] = number, begun
        if time.monotonic() > end:
            return
        place = folder / str(number)
        place.mkdir()
        try:
            failure = subject.failure(seed, number, place) or _taken(family(me), limits, *begun[1:])
        except BaseException:
            # of what makes the input: that must not end the campaign without a word either
            failure = traceback.format_exc()
        if failure:
            send.send((number, told := _alike(failure)))
            if told not in known:
                known.add(told)
                _keep(place, keep, number)
        shutil.rmtree(place, ignore_errors=True)
    at.value = last


def _taken(pids: list[int], limits: Limits, processor: float, bytes_before: float) -> str:
    """Return what an input that has ended took too much of."""
    if processor_time(pids) - processor > limits.patience:
        return f"no answer in {limits.patience:.0f} s"
    if memory(pids, "VmHWM") - bytes_before > limits.memory:
        return f"more than {limits.memory / 2**30:g} GiB"
    return ""


def _alike(failure: str) -> str:
    """Return what failures of one cause have in common: the last frames and the kind of error."""
    frames = re.findall(r'File "([^"]*)", line (\d+), in (\S+)', failure)
    if not frames:
        return failure[:400]
    places = [f"{Path(file).name}:{line} {function}" for file, line, function in frames[-3:]]
    ours = [f"{Path(f).name}:{line} {n}" for f, line, n in frames if "mbplugin" in f][-1:]
    return f"{failure.strip().splitlines()[-1][:160]}\n    at {' > '.join(dict.fromkeys((*ours, *places)))}"
