"""``--zone`` of the commands of stops: files, what is said, and what is refused before anything is computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from command_line import ROOT, call

pytest.importorskip("shapely")
ezdxf = pytest.importorskip("ezdxf")

ARM = str(ROOT / "assets" / "arm_6r.scene.toml")
STOP = ("estop", ARM, "--qd", "j1=1")
TABLE = ("stop-table", ARM, "--category", "1", "--axes", "j1")


def corners(file: Path) -> np.ndarray:
    lines = [line for line in file.read_text(encoding="utf-8").splitlines() if line[0] not in "#p"]
    return np.array([line.split(",") for line in lines], dtype=float)


@pytest.mark.long
def test_a_stop_writes_its_zone_in_all_formats_beside_its_report(tmp_path: Path) -> None:
    files = [tmp_path / f"zone.{ending}" for ending in ("dxf", "svg", "csv", "STL")]
    done = call(*STOP, *(word for file in files for word in ("--zone", str(file))))
    assert done.code == 0, done.err
    assert all(file.stat().st_size > 100 for file in files)
    assert done.out == call(*STOP).out
    assert "zone of 1 stop of arm_6r" in done.err and "computed, not measured" in done.err
    assert not ezdxf.readfile(files[0]).audit().errors


def test_a_table_and_a_sweep_write_the_zone_of_all_stops(tmp_path: Path) -> None:
    file = tmp_path / "zone.csv"
    done = call(*TABLE, "--payload", "5", "--payload-radius", "0.1", "--zone", str(file))
    assert done.code == 0 and "stops of arm_6r" in done.err
    assert "a ball of 0.1 m" in file.read_text(encoding="utf-8")
    assert np.ptp(corners(file)[:, 1]) > 0.5
    pytest.importorskip("joblib")
    sweep = ("sweep", ARM, "--out", str(tmp_path / "sweep"), "--number", "5", "--qd", "j1=1", "--jobs", "1")
    done = call(*sweep, "--q-spread", "0.5", "--zone", str(tmp_path / "sweep.svg"))
    assert done.code == 0 and "zone of 5 stops" in done.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--zone", "zone.png"), "a zone cannot be written as .png; expected .dxf or .svg or .csv or .stl"),
        (("--zone", "zone"), "a zone cannot be written as a file without ending"),
        (("--zone", "none/zone.csv"), "no such folder"),
        (("--zone", "zone.csv", "--zone", "zone.csv"), "two outputs are the same file"),
        (
            ("--zone", "a.svg", "--output", "a.svg", "--output-format", "text"),
            "two outputs are the same file",
        ),
        (("--zone", "zone.csv", "--zone-resolution", "0"), "the resolution is 0 m"),
        (("--zone", "zone.csv", "--payload", "5"), "the size of the payload at 'flange' is not stated"),
        (
            ("--units", "deg,mm", "--zone", "a.svg", "--payload", "5kg", "--payload-radius", "0.1"),
            "--payload-radius is 0.1 mm; expected 1 mm or more; state its unit, such as 0.1m",
        ),
        (
            ("--units", "deg,mm", "--zone", "a.svg", "--zone-resolution", "0.002"),
            "--zone-resolution is 0.002 mm; expected 0.01 mm or more; state its unit, such as 0.1m",
        ),
        (
            ("--zone", "a.svg", "--payload-radius", "10μm"),
            "--payload-radius is 0.01 mm; expected 1 mm or more",
        ),
        (("--payload-radius", "0.1"), "--payload-radius is given without a zone"),
    ],
)
def test_bad_requests_write_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = call(*STOP, *options)
    assert done.code == 2 and not done.out
    assert message in done.err and done.err.count("\n") == 1
    assert not list(tmp_path.iterdir())
