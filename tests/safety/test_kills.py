"""Sweeps that are killed at any time, with damaged files: the final table is that of an undisturbed run."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from pathlib import Path

import pytest

from command_line import Outcome
from kills import PARTS, Sweep, damage_some, document, some_signal, warm_up, without_privileges

pytest.importorskip("pyarrow")
pytest.importorskip("joblib")

#: A run takes about this long, s; kills are drawn from its length.
RUN, COMPILATION = 3.0, 15.0
#: Sweeps of five kills each.
SWEEPS = 8
#: Where the program of a sweep imports this package.
BEFORE_US = 'File "<string>", line 4, in <module>'
#: What is said of files that could not be used.
SENTENCES = ("was computed again: ", "cached machine code is damaged (")


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Sweep:
    return warm_up(tmp_path_factory.mktemp("kills") / "undisturbed")


@pytest.fixture
def sweep(undisturbed: Sweep, tmp_path: Path) -> Sweep:
    """One with machine code, and nothing else."""
    made = Sweep(tmp_path / "sweep")
    shutil.copytree(undisturbed.cache, made.cache)
    return made


def check_end(outcome: Outcome, number: int, history: list[str]) -> None:
    """Check how a run that was killed has ended: with its signal, and no part of what looks like a result."""
    codes = {signal.SIGKILL: {-9}, signal.SIGTERM: {-15, 143}, signal.SIGINT: {130, -2}}
    if outcome.out:
        # a signal between the report and the end comes too late: all of it is there
        assert "computed_not_measured" in document(outcome), (history, outcome)
        codes = {key: {*of_one, 0} for key, of_one in codes.items()}
    assert outcome.code in codes[signal.Signals(number)], (history, outcome)
    # Python itself complains when it is interrupted before our first line
    if "Traceback" in outcome.err:
        assert number == signal.SIGINT and BEFORE_US in outcome.err, (history, outcome)


def disturb(sweep: Sweep, rng: random.Random, kills: int, longest: float) -> list[str]:
    """Kill a sweep some times, damage files after each, and return what was done."""
    history: list[str] = []
    while len(sweep.killed) < kills:
        number, whom = some_signal(rng)
        outcome = sweep.kill(rng.uniform(0.2, longest), number, whom)
        if outcome is None:
            shutil.rmtree(sweep.out)
            history.append("ended by itself")
        else:
            history.append(sweep.killed[-1])
            check_end(outcome, number, history)
        history.append(str(damage_some(sweep, rng)))
    return history


def check_equal(sweep: Sweep, undisturbed: Sweep, history: list[str]) -> None:
    """Finish a sweep, and compare what it leaves and says with what an undisturbed one does."""
    outcome = sweep.finished()
    said = "\n".join([*history, outcome.err])
    assert outcome.code == 0, said
    for line in outcome.err.splitlines():
        assert line.startswith("mbplugin: ") and any(words in line for words in SENTENCES), said
    assert sweep.parts() == undisturbed.parts(), said
    assert document(outcome) == undisturbed.told, said


@pytest.mark.slow
def test_a_sweep_that_is_killed_goes_on(sweep: Sweep, undisturbed: Sweep) -> None:
    sweep.jobs = 2
    check_equal(sweep, undisturbed, disturb(sweep, random.Random(1), 2, RUN))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 2 + SWEEPS))
def test_sweeps_that_are_killed_go_on(seed: int, sweep: Sweep, undisturbed: Sweep) -> None:
    sweep.jobs = 1 + seed % 2
    check_equal(sweep, undisturbed, disturb(sweep, random.Random(seed), 5, RUN))
    # nothing is left to be said or to be computed
    again = sweep.finished()
    assert (again.code, again.err) == (0, ""), again.err


@pytest.mark.slow
@pytest.mark.parametrize("seed", [10, 11])
def test_a_first_compilation_that_is_killed_goes_on(seed: int, undisturbed: Sweep, tmp_path: Path) -> None:
    sweep = Sweep(tmp_path / "sweep", jobs=1 + seed % 2)
    check_equal(sweep, undisturbed, disturb(sweep, random.Random(seed), 5, COMPILATION))
    assert {file.name for file in sweep.code_files()} <= {file.name for file in undisturbed.code_files()}


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_nobody_waits_for_a_first_compilation_that_was_interrupted(
    jobs: int, undisturbed: Sweep, tmp_path: Path
) -> None:
    """It takes ten seconds; one that went on to its end would leave the code of every function."""
    sweep = Sweep(tmp_path / "sweep", jobs)
    process = sweep.started()
    until = time.monotonic() + 120
    while not sweep.code_files() and time.monotonic() < until:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, "")
    assert err == "mbplugin: interrupted; run the same command again to resume in stops.\n"
    assert 0 < len(sweep.code_files()) < len(undisturbed.code_files()) / 2


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_no_process_outlives_a_sweep(number: int, sweep: Sweep, undisturbed: Sweep) -> None:
    """Their output stays open as long as one does, and who reads it waits."""
    sweep.jobs = 2
    process = sweep.started()
    until = time.monotonic() + 120
    while not [*sweep.out.glob("part-*")] and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    assert 0 < len(sweep.parts()) < len(undisturbed.parts()) and out == ""
    if number == signal.SIGTERM:
        assert process.returncode == 143
        assert err == "mbplugin: interrupted; run the same command again to resume in stops.\n"


@pytest.mark.slow
def test_folders_that_cannot_be_written_to(sweep: Sweep, undisturbed: Sweep) -> None:
    """Machine code is used and not kept; a sweep is reported where it is finished, and refused where not."""
    shutil.copytree(undisturbed.out, sweep.out)
    (code,) = (sweep.cache / "mbplugin").iterdir()
    sweep.code_files()[0].unlink()
    for folder in (code, sweep.out):
        folder.chmod(0o500)
    try:
        whole = sweep.finished(without_privileges)
        assert whole.code == 0 and document(whole) == undisturbed.told
        sweep.out.chmod(0o700)
        (sweep.out / "part-000003.parquet").unlink()
        sweep.out.chmod(0o500)
        lacking = sweep.finished(without_privileges)
    finally:
        for folder in (code, sweep.out):
            folder.chmod(0o700)
    assert (lacking.code, lacking.out) == (2, "")
    assert "stops: a part of the sweep cannot be written (permission denied)" in lacking.err
    assert len(sweep.parts()) == PARTS - 1 and not list(sweep.out.glob(".mbplugin-*"))
