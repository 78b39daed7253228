"""That two programs agree is no evidence for a value that both of them take from us."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import mbplugin as mb
from command_line import ROOT, call
from mbplugin.comparison.agreement import Agreement
from mbplugin.report.html.chapters import Chapter
from mbplugin.report.html.view import grade

ROBOT = """<robot name="arm">
<link name="base"/>
<link name="a"><inertial><origin xyz="0.2 0 0"/><mass value="2"/>
<inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="9" velocity="3"/></joint></robot>"""
ASSUMED = "j: no brake is stated, torque assumed as the effort limit, 9 N·m, delay assumed as 0.015 s"
STATED = "j:torque=9,delay=0.015"


@pytest.fixture(scope="module")
def robot(tmp_path_factory: pytest.TempPathFactory) -> str:
    file = tmp_path_factory.mktemp("robot") / "arm.urdf"
    file.write_text(ROBOT, encoding="utf-8")
    return str(file)


def documents(*command: str) -> tuple[str, str, dict[str, object]]:
    """Return the text, the page and the valid document of a command."""
    text, page, made = (call(*command, "--output-format", kind) for kind in ("text", "html", "json"))
    assert {text.code, page.code, made.code} == {0}
    document: dict[str, object] = json.loads(made.out)
    schema = (ROOT / "docs" / f"{command[0]}.schema.json").read_text(encoding="utf-8")
    jsonschema.validate(document, json.loads(schema))
    return text.out, page.out, document


@pytest.mark.bullet
@pytest.mark.long
def test_a_stop_with_assumed_brakes_is_amber_and_the_same_one_with_stated_brakes_green(robot: str) -> None:
    command = ("crosscheck", robot, "--base", "fixed", "--qd", "j=1", "--stop", "0")
    text, page, document = documents(*command)
    assert text.startswith("! ASSUMED, NOT STATED: the brakes of j ") and "arm, PyBullet: agrees." in text
    assert ASSUMED in " ".join(text.split())
    assert page.index('class="verdict fair"') < page.index('class="alarm"') and ASSUMED in page
    assert document["verdict"] == "agrees"
    assert document["assumed"] == [ASSUMED] and document["of_effort"] == {
        "brakes": ["j"],
        "ramps": [],
        "delays": [],
        "taken": [],
        "holding": False,
    }

    text, page, document = documents(*command, "--brake", STATED)
    assert text.startswith("! assumed: tool a (--tool).\narm, PyBullet: agrees.") and "ASSUMED" not in text
    assert 'class="verdict good"' in page and 'class="alarm"' not in page
    assert document["assumed"] == [] and document["of_effort"] == {
        "brakes": [],
        "ramps": [],
        "delays": [],
        "taken": [],
        "holding": False,
    }


@pytest.mark.bullet
def test_a_motion_with_a_brake_without_a_torque_is_compared_under_the_same_warning(robot: str) -> None:
    arm = mb.load(robot, base="fixed")
    found = mb.crosscheck(arm, 0.1, qd={"j": 1}, brakes=[{"joint": "j", "delay": 0.02}])
    assert found.agrees and found.assumed == ("j: torque assumed as the effort limit, 9 N·m",)
    assert str(found).startswith("! ASSUMED") and "assumed values" in repr(found)
    cell = found._repr_html_()
    assert cell.index('class="alarm"') < cell.index("<strong>Agreement")


@pytest.mark.bullet
@pytest.mark.long
def test_a_comparison_says_that_it_leaves_an_end_stop_out(robot: str) -> None:
    arm = mb.load(robot, base="fixed")
    hit = mb.estop(arm, q={"j": 0.95}, qd={"j": 3}, brakes=[{"joint": "j", "torque": 9, "delay": 0.1}])
    assert hit.outcome == "limit_hit"
    note = "end stops are left out of both motions, which pass the limits of j"
    assert note in mb.crosscheck(hit).notes
    assert note not in mb.crosscheck(arm, 0.1, qd={"j": 1}).notes


@pytest.mark.parametrize(
    ("verdict", "assumed", "expected"),
    [
        ("agrees", (), "good"),
        ("agrees", (ASSUMED,), "fair"),
        ("disagrees", (ASSUMED,), "bad"),
        ("not asymptotic", (), "fair"),
        ("not comparable", (), "fair"),
    ],
)
def test_what_decides_nothing_is_amber_and_a_disagreement_red(
    verdict: str, assumed: tuple[str, ...], expected: str
) -> None:
    found = Agreement(verdict, "why", assumed=assumed)  # type: ignore[arg-type]
    assert grade(Chapter(title="check", agreement=found)) == expected


@pytest.mark.long
def test_a_motion_names_the_brakes_that_state_no_torque(robot: str) -> None:
    command = ("simulate", robot, "--base", "fixed", "--duration", "0.1", "--qd", "j=1", "--brake")
    text, page, document = documents(*command, "j:delay=0.01")
    assert text.startswith("! ASSUMED, NOT STATED: the brakes of j ") and "  j: torque assumed as" in text
    assert page.index('class="verdict fair"') < page.index('class="alarm"')
    assert document["assumed"] == ["j: torque assumed as the effort limit, 9 N·m"]
    text, page, document = documents(*command, "j:torque=9")
    assert text.startswith("! ASSUMED, NOT STATED: the delays of the brakes of j.")
    assert page.index('class="verdict fair"') < page.index('class="alarm"')
    assert document["assumed"] == ["j: its delay is 0 s, as none is stated"]
    assert "ASSUMED" not in documents(*command, "j:torque=9,delay=0")[0]
    text, page, document = documents(*command, STATED)
    assert "ASSUMED" not in text and 'class="verdict good"' in page and document["assumed"] == []


@pytest.mark.long
def test_files_of_a_stop_carry_the_warning(robot: str, tmp_path: Path) -> None:
    arm = mb.load(robot, base="fixed")
    for brakes, warned in (((), True), (({"joint": "j", "torque": 9, "delay": 0},), False)):
        stop = mb.estop(arm, qd={"j": 1}, brakes=brakes, tool_point=(0.4, 0.0, 0.0))
        stop.save(tmp_path / "stop.csv")
        assert (tmp_path / "stop.csv").read_text(encoding="utf-8").startswith("# ASSUMED") is warned
        assert ("assumed" in stop.to_frame().attrs) is warned
        stop.plot(tmp_path / "stop.svg")
        assert ("<!-- ASSUMED" in (tmp_path / "stop.svg").read_text(encoding="utf-8")) is warned
        zone = mb.stop_zone(arm, stop)
        assert zone.assumptions[0].startswith("ASSUMED") is warned
