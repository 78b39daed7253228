"""Sweeps: the same table from one process, several, a cluster, and after kill -9."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from command_line import ROOT
from mbplugin.errors import BadUsage, MbPluginError
from mbplugin.model.brake_law import Brake
from mbplugin.stopping.run import make_scenario
from mbplugin.stopping.sweep.plan import SweepPlan, finished
from mbplugin.stopping.sweep.run import part_file, sweep
from rod_arms import arm

pytest.importorskip("pyarrow")
pytest.importorskip("joblib")


def plan(count: int = 60, part: int = 7) -> SweepPlan:
    brakes = [Brake(f"j{k}", 80.0 / (k + 1), viscous=1.0, delay=0.01, engagement=0.01) for k in range(3)]
    q, qd = np.array([0.2, 0.4, -0.3]), np.array([1.0, -1.5, 2.0])
    scenario = make_scenario(arm((0.5, 0.4, 0.3)), q, qd, brakes=brakes, payload=3.0)
    return SweepPlan(scenario, count, 5, None, 0.3, (0.2, 1.0), 0.2, 0.3, (0.0, 1.0), part)


def test_every_stop_is_its_own() -> None:
    """Drawn from seed and number alone: not from the parts, nor from the stops before it."""
    first, again = plan(), replace(plan(), part=13)
    for k in (0, 17, 59):
        assert first.draw(k)[0].tolist() == again.draw(k)[0].tolist()
        assert first.draw(k)[2] == again.draw(k)[2]
    assert first.draw(3)[0].tolist() != first.draw(4)[0].tolist()
    torques = [b.law.sliding for k in range(60) for b in plan().draw(k)[2][:1]]
    assert 64 <= min(torques) < 70 and 90 < max(torques) <= 96


@pytest.mark.long
def test_one_process_and_two_give_the_same_table(tmp_path: Path) -> None:
    one = sweep(plan(), tmp_path / "one", jobs=1)
    two = sweep(plan(), tmp_path / "two", jobs=2)
    assert one.count == 60 and one.table.equals(two.table)
    assert sum(one.outcomes.values()) == 60 and one.outcomes["stopped"] > 50
    rested = np.array(one.table.column("outcome").to_pylist()) == "stopped"
    times = one.table.column("time").to_numpy()
    assert one.quantiles["time"][0.5] == pytest.approx(np.median(times[rested]))
    assert times[one.worst["time"]] == times[rested].max()


@pytest.mark.long
def test_threads_and_processes_write_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads compute what is compiled, and no process starts for it; very many stops are left to processes."""
    started: list[str] = []

    def noted(joblib: Any, backend: str, work: Sequence[Any]) -> Iterator[Any]:
        started.append(backend)
        yield from finished(joblib, backend, work)

    monkeypatch.setattr("mbplugin.stopping.sweep.run.finished", noted)
    monkeypatch.setattr("mbplugin.stopping.sweep.run.cores", lambda: 3)
    sweep(plan(), tmp_path / "one", jobs=1)
    sweep(plan(60, 30), tmp_path / "wide", jobs=1)
    sweep(plan(60, 30), tmp_path / "threads", jobs=-1)
    assert not started
    monkeypatch.setattr("mbplugin.stopping.sweep.run._MOST_IN_THREADS", 59)
    sweep(plan(), tmp_path / "processes", jobs=2)
    assert started == ["loky"]
    for folder, same in (("one", "processes"), ("wide", "threads")):
        files = sorted((tmp_path / folder).iterdir())
        assert len(files) > 2
        assert all(file.read_bytes() == (tmp_path / same / file.name).read_bytes() for file in files)


@pytest.mark.long
def test_a_cluster_of_two_gives_the_same_table(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    one = sweep(plan(), tmp_path / "one", jobs=1)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster),
    ):
        spread = sweep(plan(), tmp_path / "dask", backend="dask")
    assert spread.table.equals(one.table)
    with pytest.raises(BadUsage, match="no dask client"):
        sweep(plan(), tmp_path / "none", backend="dask")


@pytest.mark.long
def test_killed_in_the_middle_it_goes_on(tmp_path: Path) -> None:
    whole = sweep(plan(400, 4), tmp_path / "whole", jobs=1)
    code = (
        "import sys; sys.path[:0] = ['tests/stopping', 'tests/support']\n"
        "from test_sweep import plan\n"
        "from mbplugin.stopping.sweep.run import sweep\n"
        f"sweep(plan(400, 4), {str(tmp_path / 'cut')!r}, jobs=1)\n"
    )
    child = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    first = part_file(tmp_path / "cut", 1)
    until = time.monotonic() + 120
    while not first.exists() and child.poll() is None and time.monotonic() < until:
        time.sleep(0.002)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    there = sorted((tmp_path / "cut").glob("part-*.parquet"))
    assert 2 <= len(there) < 100
    kept = {file: file.stat().st_mtime_ns for file in there}
    resumed = sweep(plan(400, 4), tmp_path / "cut", jobs=1)
    assert resumed.table.equals(whole.table)
    assert all(file.stat().st_mtime_ns == at for file, at in kept.items())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"count": 0}, "0 stops"),
        ({"seed": -1}, "seed is -1"),
        ({"torque_tolerance": 1.5}, "torque tolerance is 1.5"),
    ],
)
def test_sweeps_that_cannot_be(change: dict[str, float], words: str) -> None:
    with pytest.raises(MbPluginError, match=words):
        replace(plan(), **change)  # type: ignore[arg-type]


def test_a_folder_belongs_to_one_sweep(tmp_path: Path) -> None:
    sweep(plan(5), tmp_path, jobs=1)
    with pytest.raises(BadUsage, match="another sweep"):
        sweep(plan(6), tmp_path, jobs=1)
    with pytest.raises(MbPluginError, match="no backend 'spark'"):
        sweep(plan(5), tmp_path, backend="spark")
