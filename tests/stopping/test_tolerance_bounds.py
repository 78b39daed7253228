"""Tolerance bounds: published sample sizes, the binomial sum, coverage in simulations, and those of sweeps."""

from __future__ import annotations

import json
from math import comb, inf, nan
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import mbplugin as mb
from command_line import call
from mbplugin.stopping import rank_of, required_number


@pytest.mark.parametrize(
    ("share", "confidence", "number"),
    [
        (0.95, 0.95, 59),
        (0.99, 0.95, 299),
        (0.90, 0.95, 29),
        (0.95, 0.99, 90),
        (0.99, 0.99, 459),
        (0.90, 0.90, 22),
        (0.5, 0.5, 1),
    ],
)
def test_published_sample_sizes(share: float, confidence: float, number: int) -> None:
    assert required_number(share, confidence) == number
    assert rank_of(number, share, confidence) == 1 and rank_of(number - 1, share, confidence) == 0


def test_published_ranks() -> None:
    """Sample sizes of 95/95 by order statistics: 59, 93, 124, 153, 181 for the first to the fifth."""
    first = {rank_of(n, 0.95, 0.95): n for n in range(200, 0, -1)}
    assert [first[k] for k in range(1, 6)] == [59, 93, 124, 153, 181]
    values = np.arange(93.0)
    bound = mb.tolerance_bound(values[::-1], share=0.95, confidence=0.95)
    assert (bound.value, bound.rank, bound.count, bound.required) == (91.0, 2, 93, 59)


@pytest.mark.parametrize("share", [0.6, 0.9, 0.97])
@pytest.mark.parametrize("confidence", [0.4, 0.9, 0.99])
def test_the_rank_is_that_of_the_binomial_sum(share: float, confidence: float) -> None:
    for n in (1, 2, 7, 30, 61, 150):
        weights = [comb(n, j) * share**j * (1 - share) ** (n - j) for j in range(n + 1)]
        ranks = [k for k in range(1, n + 1) if sum(weights[: n - k + 1]) >= confidence]
        assert rank_of(n, share, confidence) == max(ranks, default=0)


def test_a_confidence_that_is_met_exactly_is_met() -> None:
    """Of an odd number of fair coins at most half show heads with a probability of one half."""
    assert [rank_of(n, 0.5, 0.5) for n in (1, 59, 93, 301)] == [1, 30, 47, 151]


@pytest.mark.long
@pytest.mark.parametrize(("n", "share"), [(59, 0.95), (93, 0.95), (40, 0.8), (200, 0.9)])
def test_coverage_in_a_simulation(n: int, share: float) -> None:
    """Whatever the distribution: how often the bound is above the true quantile, within four deviations."""
    rng = np.random.default_rng(17)
    trials, confidence = 4000, 0.95
    for draw, quantile in (
        (rng.exponential(0.3, (trials, n)), -0.3 * np.log(1 - share)),
        (rng.uniform(0.2, 0.5, (trials, n)), 0.2 + 0.3 * share),
    ):
        found = [mb.tolerance_bound(row, share=share, confidence=confidence).value for row in draw]
        hit = float(np.mean(np.array(found, dtype=float) >= quantile))
        k = rank_of(n, share, confidence)
        exact = sum(comb(n, j) * share**j * (1 - share) ** (n - j) for j in range(n - k + 1))
        assert exact >= confidence
        assert abs(hit - exact) < 4 * np.sqrt(exact * (1 - exact) / trials)


def test_too_few_values_have_no_bound() -> None:
    bound = mb.tolerance_bound([0.3, 0.1, 0.2])
    assert (bound.value, bound.rank, bound.count, bound.required, bound.largest) == (None, 0, 3, 59, 0.3)
    assert 1 - bound.share_of_largest**3 == pytest.approx(0.95)
    assert mb.tolerance_bound([]).largest is None


def test_infinite_values_rank_first() -> None:
    values = [*range(91), inf, inf]
    bound = mb.tolerance_bound(values)
    assert (bound.value, bound.rank, bound.infinite) == (inf, 2, 2)
    assert mb.tolerance_bound(values[:-1], share=0.9).value == 87.0


@pytest.mark.parametrize(
    ("values", "words", "options"),
    [
        ([1.0, nan], "a value is not a number", {}),
        ([1.0], "the share of a bound is 1;", {"share": 1.0}),
        ([1.0], "the share of a bound is 0;", {"share": 0.0}),
        ([1.0], "the confidence of a bound is 95;", {"confidence": 95.0}),
        ([1.0], "the confidence of a bound is nan;", {"confidence": nan}),
    ],
)
def test_bounds_that_cannot_be(values: list[float], words: str, options: dict[str, float]) -> None:
    with pytest.raises(mb.MbPluginError, match=words):
        mb.tolerance_bound(values, **options)


ROD = """
<robot name="rod"><link name="world"/>
<link name="rod"><inertial><origin xyz="0.25 0 0"/><mass value="3"/>
<inertia ixx="0.01" iyy="0.06" izz="0.06" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j0" type="revolute"><parent link="world"/><child link="rod"/><axis xyz="0 0 1"/>
<limit lower="-2" upper="0.6" effort="50" velocity="4"/></joint></robot>
"""


@pytest.fixture(name="rod")
def rod_file(tmp_path: Path) -> str:
    path = tmp_path / "rod.urdf"
    path.write_text(ROD, encoding="utf-8")
    return str(path)


BRAKE = ("--base", "fixed", "--brake", "j0:torque=4,delay=0.01")


def swept(rod: str, folder: Path, *options: str) -> tuple[dict, str]:  # type: ignore[type-arg]
    pytest.importorskip("joblib")
    pytest.importorskip("pyarrow")
    command = ("sweep", rod, "--out", str(folder), "--jobs", "1", "--seed", "3", *BRAKE, *options)
    outcome = call(*command, "--output-format", "json")
    assert outcome.code == 0, outcome.err
    found = json.loads(outcome.out)
    jsonschema.validate(found, json.loads(call("schema", "sweep").out))
    return found, " ".join(call(*command).out.split())


def columns(folder: Path) -> dict[str, np.ndarray]:  # type: ignore[type-arg]
    pq = pytest.importorskip("pyarrow.parquet")
    tables = [pq.read_table(file).to_pydict() for file in sorted(folder.glob("part-*.parquet"))]
    return {name: np.array([v for table in tables for v in table[name]]) for name in tables[0]}


def test_a_sweep_has_the_bound_of_each_quantity(rod: str, tmp_path: Path) -> None:
    options = ("--number", "130", "--qd", "j0=1.5", "--q-spread", "0.2", "--torque-tolerance", "0.3")
    found, text = swept(rod, tmp_path / "stops", *options, "--bound", "0.95")
    table = columns(tmp_path / "stops")
    assert (table["outcome"] == "stopped").all()
    names = [bound["name"] for bound in found["bounds"]]
    assert names == ["time", "tool_distance", "tool_displacement", "time j0", "travel j0"]
    for bound in found["bounds"]:
        third = np.sort(np.abs(table[bound["name"]]))[-3]
        assert (bound["value"], bound["rank"], bound["count"]) == (third, 3, 130)
        assert (bound["share"], bound["confidence"], bound["required"]) == (0.95, 0.95, 59)
    assert "with 95 % confidence, at least 95 % of the stops that this sweep draws" in text
    assert "bounds" not in swept(rod, tmp_path / "stops", *options)[0]


def test_a_sweep_of_too_few_stops_says_how_many_are_needed(rod: str, tmp_path: Path) -> None:
    options = ("--number", "50", "--qd", "j0=1.5", "--q-spread", "0.2")
    found, text = swept(rod, tmp_path / "stops", *options, "--bound", "0.99,0.9")
    assert {(b["value"], b["rank"], b["required"]) for b in found["bounds"]} == {(None, 0, 230)}
    assert "a bound of 99 % with 90 % confidence needs 230 stops, and there are 50" in text
    # 1 − 0.1^(1/50), rounded down
    assert "the largest of these is a bound of 95.4 %" in text


def test_stops_at_a_limit_count_as_infinite(rod: str, tmp_path: Path) -> None:
    options = ("--number", "100", "--q", "j0=0.35", "--qd", "j0=3", "--q-spread", "0.2")
    found, text = swept(rod, tmp_path / "stops", *options, "--bound", "0.5")
    hit = int((columns(tmp_path / "stops")["outcome"] != "stopped").sum())
    assert 30 < hit < 70
    bound = found["bounds"][0]
    assert bound["infinite"] == hit and bound["largest"] is None
    table = columns(tmp_path / "stops")
    time = np.sort(np.where(table["outcome"] == "stopped", table["time"], inf))[-bound["rank"]]
    assert bound["value"] == (None if np.isinf(time) else time)
    assert f"{hit} stops that did not come to rest or met a limit count as infinite" in text
    refused, text = swept(rod, tmp_path / "stops", *options, "--bound", "0.9")
    assert refused["bounds"][0]["value"] is None and refused["bounds"][0]["rank"] > 0
    assert "does not exist: the bound is the value of rank" in text


@pytest.mark.parametrize("bound", ["", "1", "0", "95", "0.9,", "0.9,1", "0.9,0.9,0.9", "nan"])
def test_bounds_of_the_command_line_that_cannot_be(bound: str, rod: str, tmp_path: Path) -> None:
    outcome = call("sweep", rod, "--out", str(tmp_path / "s"), "--number", "3", "--bound", bound)
    assert outcome.code == 2 and outcome.out == "" and outcome.err.count("\n") == 1
    assert "--bound has" in outcome.err and "numbers between 0 and 1" in outcome.err
    assert not (tmp_path / "s").exists()
