"""The commands estop and stop-table: their JSON against the schemas, their text, bad input."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pybullet_data
import pytest
from command_line import ROOT, call

IIWA = str(Path(pybullet_data.getDataPath()) / "kuka_iiwa" / "model.urdf")
STOP = ("estop", IIWA, "--base", "fixed")
TABLE = ("stop-table", IIWA, "--base", "fixed", "--payload", "7")


@pytest.mark.parametrize("category", ["0", "1", "2"])
def test_a_stop_follows_its_schema(category: str) -> None:
    state = ("--q", "lbr_iiwa_joint_2=0.5", "--qd", "lbr_iiwa_joint_1=1", "--payload", "5")
    outcome = call(*STOP, *state, "--category", category, "--output-format", "json")
    assert outcome.code == 0
    found = json.loads(outcome.out)
    jsonschema.validate(found, json.loads(call("schema", "estop").out))
    assert found["outcome"] == "stopped"
    assert found["q_end"]["lbr_iiwa_joint_2"] == pytest.approx(0.5, abs=0.01)


def test_a_table_follows_its_schema_and_files(tmp_path: Path) -> None:
    outcome = call(*TABLE, "--output-format", "json")
    jsonschema.validate(json.loads(outcome.out), json.loads(call("schema", "stop-table").out))
    text = call(*TABLE, "--category", "0").out
    assert "computed, not measured" in text and "Category 0, axis 3: lbr_iiwa_joint_4" in text
    page = tmp_path / "table.html"
    assert call(*TABLE, "--output-format", "html", "--output", str(page)).code == 0
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert call(*TABLE, "--output-format", "csv").out.startswith("# stopping table of lbr_iiwa")


@pytest.mark.parametrize("document", ["estop", "stop-table"])
def test_the_schema_in_docs_is_current(document: str) -> None:
    written = (ROOT / "docs" / f"{document}.schema.json").read_text(encoding="utf-8")
    assert written == call("schema", document).out, "make schemas"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--brake", "world→lbr_iiwa_link_0:torque=1"), "fixed joint"),
        (
            ("--brake", "lbr_iiwa_joint_1:torque=9,delay=-0.1"),
            "_joint_1' is -0.1",
        ),
        (("--brake", "torque=1"), "--brake has 'torque=1'"),
        (("--payload", "hand:3"), "'hand', which is no body"),
        (("--payload", "heavy"), "--payload has 'heavy'"),
        (("--q", "lbr_iiwa_joint_2=3"), "above its upper limit"),
        (("--category", "4"), "no stop category 4"),
        (("--at", "0.3"), "--at says when in a motion"),
        (("--trajectory", "missing.csv"), "the table cannot be read"),
        (("--tool", "hand"), "the tool is 'hand'"),
    ],
)
def test_bad_input_is_one_sentence(options: tuple[str, ...], words: str) -> None:
    outcome = call(*STOP, *options)
    assert outcome.code == 2 and outcome.out == ""
    assert words in outcome.err and outcome.err.count("\n") == 1
