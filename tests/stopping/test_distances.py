"""Separation distances: cases computed by hand, terms that are missing, and stops that do not rest."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import mbplugin as mb
from command_line import ROOT, call
from mbplugin.errors import BadNumber
from mbplugin.stopping.zones.distance import Distance, StopFigures, figures_of

#: A stop of half a second over 0.3 m, from 1.2 m/s.
STOP = StopFigures("arm", 0.5, 0.3, 1.2, "stop of category 0 of arm", "stop of category 0 of arm")
#: The slowest and the farthest of a table.
TABLE = replace(STOP, speed=None, slowest="row 3", farthest="row 7")
S = {"K": 1.6, "t1": 0.1, "D_DS": 0.85, "Z": 0.04}
S_P = {"v_h": 1.6, "T_r": 0.1, "C": 0.2, "Z_d": 0.05, "Z_r": 0.01}


def values(distance: Distance) -> dict[str, float]:
    return {term.symbol: term.value for term in distance.terms}


def test_the_separation_distance_of_a_hand_computed_case() -> None:
    distance = mb.separation_distance(STOP, **S)
    # T = 0.1 + 0.5 = 0.6 s; K·T = 0.96 m; S = 0.96 + 0.85 + 0.04 = 1.85 m
    expected = {"K": 1.6, "t1": 0.1, "t2": 0.5, "T": 0.6, "K·T": 0.96, "D_DS": 0.85, "Z": 0.04, "S": 1.85}
    assert values(distance) == pytest.approx(expected)
    assert list(values(distance)) == list(expected)
    assert distance.value == pytest.approx(1.85)
    assert "2024" in distance.standard
    assert {term.symbol for term in distance.terms if term.origin == "given"} == set(S)
    assert distance.term("t2").source == "stop of category 0 of arm"


def test_the_protective_separation_distance_of_a_hand_computed_case() -> None:
    distance = mb.protective_distance(STOP, **S_P)
    # S_h = 1.6 (0.1 + 0.5) = 0.96 m; S_r = 1.2 · 0.1 = 0.12 m; S_s = 0.3 m; 0.96 + 0.12 + 0.3 + 0.26 = 1.64 m
    expected = {"S_h": 0.96, "S_r": 0.12, "S_s": 0.3, "C": 0.2, "Z_d": 0.05, "Z_r": 0.01, "S_p": 1.64}
    found = values(distance)
    assert {symbol: found[symbol] for symbol in expected} == pytest.approx(expected)
    assert (found["T_s"], found["v_r"]) == (0.5, 1.2)
    assert distance.term("v_r").origin == "stop"
    faster = mb.protective_distance(STOP, **S_P, v_r=2.0)
    assert faster.value == pytest.approx(1.64 - 0.12 + 0.2)
    assert faster.term("v_r").origin == "given"


@pytest.mark.parametrize("v_r", [0.0, 0.25, 1.19])
def test_a_robot_is_no_slower_than_its_stop_begins(v_r: float) -> None:
    message = (
        rf"v_r \(.*\) is {v_r:g} m/s, and the tool moves at 1.2 m/s when the stop begins; expected 1.2 m/s"
    )
    with pytest.raises(BadNumber, match=message):
        mb.protective_distance(STOP, **S_P, v_r=v_r)
    assert mb.protective_distance(STOP, **S_P, v_r=1.2).value == mb.protective_distance(STOP, **S_P).value


@pytest.mark.parametrize("missing", S)
def test_a_missing_term_of_s_is_named(missing: str) -> None:
    given: dict[str, Any] = {symbol: value for symbol, value in S.items() if symbol != missing}
    with pytest.raises(
        mb.MbPluginError, match=rf"ISO 13855:2024: the distance needs {missing} \(.*{missing}=VALUE"
    ):
        mb.separation_distance(STOP, **given)


@pytest.mark.parametrize("missing", S_P)
def test_a_missing_term_of_s_p_is_named(missing: str) -> None:
    given: dict[str, Any] = {symbol: value for symbol, value in S_P.items() if symbol != missing}
    with pytest.raises(mb.MbPluginError, match=rf"the distance needs {missing} \("):
        mb.protective_distance(STOP, **given)


def test_a_table_states_no_speed_so_it_has_to_be_given() -> None:
    with pytest.raises(mb.MbPluginError, match=r"the distance needs v_r \(speed of the robot"):
        mb.protective_distance(TABLE, **S_P)
    distance = mb.protective_distance(TABLE, **S_P, v_r=1.2)
    assert distance.value == pytest.approx(1.64)
    assert (distance.term("T_s").source, distance.term("S_s").source) == ("row 3", "row 7")


@pytest.mark.parametrize(
    ("symbol", "value", "message"),
    [
        ("K", 1600.0, r"K \(approach speed .*\) is 1600 m/s; expected 0 to 10 m/s"),
        ("D_DS", 850.0, r"D_DS \(.*\) is 850 m; expected 0 to 10 m; write D_DS=850mm if that is meant"),
        ("t1", 100.0, r"t1 \(.*\) is 100 s; expected 0 to 10 s; write t1=100ms if that is meant"),
        ("t1", -0.1, r"t1 \(.*\) is -0.1 s; expected 0 to 10 s"),
        ("Z", float("nan"), r"Z \(.*\) is nan m"),
    ],
)
def test_values_of_another_unit_are_refused(symbol: str, value: float, message: str) -> None:
    with pytest.raises(mb.MbPluginError, match=message):
        mb.separation_distance(STOP, **{**S, symbol: value})


def test_a_stop_that_does_not_rest_has_no_distance() -> None:
    moving = replace(STOP, unrested=("stop of category 0 of arm (limit hit)",))
    with pytest.raises(
        mb.MbPluginError, match=r"does not end at rest: stop of category 0 of arm \(limit hit\)"
    ):
        mb.separation_distance(moving, **S)
    with pytest.raises(mb.MbPluginError, match="does not end at rest"):
        mb.protective_distance(moving, **S_P)


ARM = ROOT / "assets" / "arm_6r.scene.toml"


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stops")
    stop = ("estop", str(ARM), "--qd", "j1=1", "--payload", "5")
    assert call(*stop, "--output-format", "json", "--output", str(folder / "stop.json")).code == 0
    table = ("stop-table", str(ARM), "--payload", "5", "--category", "1", "--axes", "j1")
    assert call(*table, "--output-format", "json", "--output", str(folder / "table.json")).code == 0
    return folder


@pytest.mark.long
def test_a_table_knows_how_fast_the_tool_of_its_fastest_row_is(documents: Path) -> None:
    """The axis of a row moves alone: a stop from the same pose, all other joints at rest, says how fast the tool is."""
    document = json.loads((documents / "table.json").read_text(encoding="utf-8"))
    names = [f"j{k}" for k in range(1, 7)]
    speeds = []
    for row in document["rows"]:
        qd = {**dict.fromkeys(names, 0.0), row["joint"]: row["sense"] * row["speed"]}
        speeds.append(mb.estop(mb.load(ARM), q=row["q"], qd=qd).tool.speed)
    assert figures_of(documents / "table.json").known_speed == pytest.approx(max(speeds), rel=1e-9)
    slower = {**S_P, "v_r": 0.99 * max(speeds)}
    with pytest.raises(BadNumber, match="compute the stop from"):
        mb.protective_distance(documents / "table.json", **slower)
    assert mb.protective_distance(documents / "table.json", **{**S_P, "v_r": 1.01 * max(speeds)}).value > 0


def test_the_command_takes_no_speed_below_that_of_the_document(documents: Path) -> None:
    terms = ",".join(f"{symbol}={value}" for symbol, value in S_P.items())
    done = call(
        "distance", str(documents / "stop.json"), "--standard", "iso15066", "--term", f"{terms},v_r=0.01"
    )
    assert done.code == 2 and "0.01 m/s" in done.err and "leave v_r out" in done.err


def test_documents_and_values_give_the_same_figures(documents: Path) -> None:
    report = mb.estop(mb.load(ARM), qd={"j1": 1.0}, payload=5.0)
    read = figures_of(documents / "stop.json")
    assert len(read.sha256) == 64 and read.file
    assert replace(read, file="", sha256="") == figures_of(report)
    rows = json.loads((documents / "table.json").read_text(encoding="utf-8"))["rows"]
    table = figures_of(documents / "table.json")
    assert table.time == max(row["rest_time"] for row in rows)
    assert table.travel == max(row["tool_distance"] for row in rows)
    assert "100 % speed" in table.slowest and table.speed is None


def test_the_command_shows_every_term(documents: Path) -> None:
    done = call("distance", str(documents / "stop.json"), "--term", "K=1.6,t1=0.1,D_DS=0.85", "--term", "Z=0")
    assert done.code == 0, done.err
    for symbol in ("K ", "t1 ", "t2 ", "T ", "K·T ", "D_DS ", "Z ", "S "):
        assert f"\n  {symbol}" in done.out
    assert "ISO 13855:2024" in done.out and "SHA-256" in done.out


@pytest.mark.parametrize("name", ["stop.json", "table.json"])
def test_a_distance_from_assumed_brakes_says_so_below_its_first_line(documents: Path, name: str) -> None:
    terms = ("--term", "K=1.6,t1=0.1,D_DS=0.85,Z=0")
    done = call("distance", str(documents / name), *terms)
    first, below, *_ = done.out.split("\n\n")
    assert first.startswith("arm_6r: S = ")
    assert below.startswith("! ASSUMED, NOT STATED: the brakes of j1, j2, j3, j4, j5, j6 ")
    assert "--require-brakes" in below
    document = json.loads(call("distance", str(documents / name), *terms, "--output-format", "json").out)
    assert document["stop"]["of_effort"]["brakes"] == [f"j{k}" for k in range(1, 7)]
    assert figures_of(documents / name).of_effort.brakes == tuple(document["stop"]["of_effort"]["brakes"])


def test_a_distance_from_stated_brakes_has_no_warning() -> None:
    brakes = [{"joint": f"j{k}", "torque": 900, "delay": 0.01} for k in range(1, 7)]
    stop = mb.estop(mb.load(ARM), qd={"j1": 1.0}, brakes=brakes)
    assert mb.separation_distance(stop, **S).stop.of_effort.warnings == ()


def test_the_document_of_the_command_follows_its_schema(documents: Path) -> None:
    import jsonschema

    terms = ",".join(f"{symbol}={value}" for symbol, value in {**S_P, "v_r": 9.9}.items())
    where = str(documents / "table.json")
    done = call("distance", where, "--standard", "iso15066", "--term", terms, "--output-format", "json")
    document = json.loads(done.out)
    schema = json.loads((ROOT / "docs" / "distance.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(document, schema)
    assert document["symbol"] == "S_p" and document["terms"][-1]["value"] == document["value"]


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("not json", (), "this is not JSON; expected the JSON document of estop, stop-table or worst-stop"),
        ("{}", (), "this document has no stopping times"),
        (
            '{"model": {"name": "a"}, "rows": [], "assumptions": []}',
            (),
            "this document has no stopping times",
        ),
        ('{"model": {"name": "a"}, "tool": {"distance": -1, "speed": 0}}', (), "has no stopping times"),
        (None, (), "the distance needs K (approach speed"),
        (None, ("--term", "k=1"), "'k' is not a term of ISO 13855:2024 that is given"),
        (None, ("--term", "v_h=1.6"), "'v_h' is not a term"),
        (None, ("--term", "K=fast"), "expected a finite number"),
        (None, ("--standard", "iso9283"), "iso9283"),
    ],
)
def test_bad_input_is_one_sentence_and_writes_nothing(
    documents: Path, tmp_path: Path, content: str | None, options: tuple[str, ...], message: str
) -> None:
    file, out = documents / "stop.json", tmp_path / "out.txt"
    if content is not None:
        file = tmp_path / "bad.json"
        file.write_text(content, encoding="utf-8")
    done = call("distance", str(file), *options, "--output", str(out))
    assert done.code == 2 and not done.out and not out.exists()
    assert message in done.err and done.err.count("\n") == 1


def test_the_document_that_is_read_is_not_overwritten(documents: Path) -> None:
    before = (documents / "stop.json").read_bytes()
    done = call("distance", str(documents / "stop.json"), "--output", str(documents / "stop.json"))
    assert done.code == 2 and "the output file is also an input" in done.err
    assert (documents / "stop.json").read_bytes() == before
