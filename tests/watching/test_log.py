"""The record of a watch and its picture."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from live_clients import Client
from mbplugin.errors import BadUsage, MissingDependency
from mbplugin.watching.log import COLUMNS
from watched import BIPED, minitaur, table


def recorded(client: Client, file: Path, steps: int = 30, intervals: int | None = 15) -> mb.Watch:
    minitaur(client)
    with mb.watch(client.id, every=1, log=file, intervals=intervals) as watch:
        for _ in range(steps):
            client.stepSimulation()
        assert not file.exists()
    return watch


def test_a_csv_log(client: Client, tmp_path: Path) -> None:
    watch = recorded(client, tmp_path / "log.csv")
    with (tmp_path / "log.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == COLUMNS and {int(row["update"]) for row in rows} == set(range(1, 31))
    last = {(row["constraint"], row["component"]): row for row in rows if row["update"] == "30"}
    assert len(last) == len([row for row in rows if row["update"] == "30"])
    for force in watch.latest.forces:
        if force.constraint.startswith(("constraint", "contact")):
            row = last[force.constraint, force.component]
            assert float(row["engine"]) == pytest.approx(force.engine, rel=1e-8)
            assert row["determined"] == str(force.determined).lower() and row["unit"] == force.unit
            assert float(row["lower"]) <= float(row["upper"])
    assert float(rows[-1]["time_s"]) == pytest.approx(30 / 500)


def test_a_parquet_log_has_the_same(client: Client, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    recorded(client, tmp_path / "log.parquet")
    client.resetSimulation()
    recorded(client, tmp_path / "log.csv")
    a, b = (
        pandas.read_parquet(tmp_path / "log.parquet"),
        pandas.read_csv(tmp_path / "log.csv", keep_default_na=False),
    )
    assert tuple(a.columns) == COLUMNS and len(a) == len(b) > 500
    assert (a.constraint == b.constraint).all() and (a.component == b.component).all()
    assert np.allclose(a.engine, pandas.to_numeric(b.engine), rtol=1e-8)


@pytest.mark.long
def test_a_log_is_written_as_it_goes(client: Client, tmp_path: Path) -> None:
    table(client, tmp_path)
    with mb.watch(client.id, every=1, log=tmp_path / "log.csv") as watch:
        for _ in range(1200):
            client.stepSimulation()
        (temporary,) = [
            f for f in tmp_path.iterdir() if f.name.startswith(".") or f.name not in ("table.urdf",)
        ]
        assert temporary.stat().st_size > 200_000
        assert len(watch.kept) == 1200
    assert sorted(f.name for f in tmp_path.iterdir()) == ["log.csv", "table.urdf"]


def test_a_script_that_fails_leaves_no_half_log(client: Client, tmp_path: Path) -> None:
    table(client, tmp_path)
    with pytest.raises(RuntimeError), mb.watch(client.id, every=1, log=tmp_path / "log.csv"):
        for _ in range(50):
            client.stepSimulation()
        raise RuntimeError
    assert (tmp_path / "log.csv").read_text().count("\n") > 5


@pytest.mark.parametrize("name", ["log.txt", "log", "nowhere/log.csv"])
def test_a_log_that_cannot_be(client: Client, tmp_path: Path, name: str) -> None:
    table(client, tmp_path)
    with pytest.raises(BadUsage):
        mb.watch(client.id, log=tmp_path / name)


def test_names_of_a_log_are_no_formulas(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "table.urdf"
    table(client, tmp_path)
    client.resetSimulation()
    file.write_text(file.read_text().replace('"top"', '"=1+1"'))
    client.setGravity(0, 0, -9.81)
    client.load("plane.urdf")
    client.load(file, [0.1, 0.05, 0.7])
    with mb.watch(client.id, every=1, log=tmp_path / "log.csv"):
        for _ in range(50):
            client.stepSimulation()
    lines = (tmp_path / "log.csv").read_text().splitlines()[1:]
    assert lines and not any(cell.startswith("=") for line in lines for cell in line.split(","))


@pytest.mark.long
def test_a_plot(client: Client, tmp_path: Path) -> None:
    watch = recorded(client, tmp_path / "log.csv", 200, None)
    figure = watch.plot(tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 10_000
    forces, counts = figure.axes
    times = counts.lines[0].get_xdata()
    assert len(times) == 200 and times[-1] == pytest.approx(0.4)
    drawn = {line.get_label() for line in forces.lines if not line.get_label().startswith("_")}
    assert any(name.startswith("contact quadruped/lower_leg") for name in drawn)
    dashed = [line for line in forces.lines if line.get_linestyle() == "--"]
    assert (
        np.nanmax([np.nanmax(line.get_ydata()) for line in dashed if np.isfinite(line.get_ydata()).any()]) > 5
    )
    assert max(counts.lines[0].get_ydata()) == max(one.redundancy for one in watch.kept) > 5


def test_no_line_of_a_plot_goes_back_in_time() -> None:
    mujoco = pytest.importorskip("mujoco")
    model = mujoco.MjModel.from_xml_string(BIPED)
    data = mujoco.MjData(model)
    with mb.watch(model, data, every=1) as watch:
        for steps in (7, 4):
            for _ in range(steps):
                mujoco.mj_step(model, data)
            mujoco.mj_resetData(model, data)
    for axes in watch.plot().axes:
        for line in axes.lines:
            time = np.asarray(line.get_xdata())
            assert len(time) in (12, 0) and not (np.diff(time) <= 0).any()


def test_a_plot_of_nothing(client: Client, tmp_path: Path) -> None:
    table(client, tmp_path)
    with mb.watch(client.id) as watch:
        with pytest.raises(BadUsage, match="nothing to plot"):
            watch.plot()
        watch.update()
        with pytest.raises(BadUsage, match="no picture"):
            watch.plot(tmp_path / "plot.csv")


def test_parquet_without_pyarrow(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    table(client, tmp_path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingDependency, match="PyArrow"):
        mb.watch(client.id, log=tmp_path / "log.parquet")
