"""The ending of ``--output`` chooses the format, by one table, in every command."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from command_line import ASSETS, FOUR_BAR, call, unstamped
from mbplugin.cli.app import application
from mbplugin.cli.help import COMMANDS as ALL
from mbplugin.errors import BadUsage
from mbplugin.rendering import ENDINGS, endings_of

ARM = str(ASSETS / "arm_6r.scene.toml")
STOP = ("stop-table", ARM, "--axes", "j1", "--category", "0")
FORMATS = dict.fromkeys(ENDINGS.values())
#: How the content of each format begins.
BEGINS = {"json": "{", "html": "<!doctype html>", "csv": "# ASSUMED", "toml": "# fitted", "text": ""}


COMMANDS: dict[str, Any] = {str(one.name): one.callback for one in application(ALL).registered_commands}


def offered(command: str) -> set[str]:
    """Return the formats that a command has, and text where it has no choice."""
    found = inspect.signature(COMMANDS[command]).parameters.get("output_format")
    return {"text"} if found is None else {text for text in FORMATS if f"'{text}'" in str(found.annotation)}


@pytest.mark.parametrize("ending", [".txt", ".json", ".html", ".csv"])
def test_a_table_is_written_as_its_ending_says(tmp_path: Path, ending: str) -> None:
    file = tmp_path / f"table{ending}"
    done = call(*STOP, "--output", str(file))
    assert (done.code, done.out) == (0, "")
    options = ("--output-format", ENDINGS[ending])
    stated = call(*STOP, *options).out
    # the record has the command line, and of a text only one in a file has a record
    text = (file.read_text(encoding="utf-8") if ending == ".json" else unstamped(file)).partition(
        "\nRecord\n"
    )[0]
    name = file.name if ending == ".html" else file
    assert text == stated.replace(" ".join(options), f"--output {name}")
    assert stated.startswith(BEGINS[ENDINGS[ending]])


@pytest.mark.parametrize("command", sorted(set(COMMANDS) - {"server"}))
def test_every_command_refuses_other_endings(tmp_path: Path, command: str) -> None:
    own = offered(command)
    bad = [".docx", *(ending for ending, meant in ENDINGS.items() if meant not in own)]
    for ending in bad:
        file = tmp_path / f"out{ending}"
        done = call(command, *_arguments(command, tmp_path), "--output", str(file))
        assert done.code == 2 and done.out == "" and done.err.count("\n") == 1, done.err
        assert f"{ending} is none of the formats" in done.err
        assert " or ".join(endings_of(sorted(own))) in done.err
        assert not file.exists()


def _arguments(command: str, folder: Path) -> list[str]:
    """Return what a command needs before its output is looked at."""
    if command in ("config", "doctor", "init", "rule", "schema", "warmup"):
        return []
    more = {
        "simulate": ["--duration", "1"],
        "calibrate": ["rows.csv"],
        "diff": [FOUR_BAR],
        "close": ["--to", "mjcf"],
        "sweep": ["--out", str(folder / "sweep"), "--number", "1"],
    }
    return ["a.json" if command == "distance" else FOUR_BAR, *more.get(command, [])]


def test_a_stated_format_may_have_another_ending_but_not_that_of_a_format(tmp_path: Path) -> None:
    odd = tmp_path / "matrix.v2"
    assert call("matrix", FOUR_BAR, "--output-format", "json", "--output", str(odd)).code == 0
    assert json.loads(odd.read_text())
    done = call("matrix", FOUR_BAR, "--output-format", "text", "--output", str(tmp_path / "m.json"))
    assert done.code == 2 and "but --output-format is text; expected --output-format json" in done.err
    assert not (tmp_path / "m.json").exists()


def test_a_file_without_an_ending_has_the_default(tmp_path: Path) -> None:
    file = tmp_path / "rules"
    assert call("rule", "--output", str(file)).code == 0
    assert unstamped(file) == call("rule").out


def test_upper_case_endings_count(tmp_path: Path) -> None:
    file = tmp_path / "M.JSON"
    assert call("matrix", FOUR_BAR, "--output", str(file)).code == 0
    assert json.loads(file.read_text())


def test_a_saved_table_has_the_same_endings(tmp_path: Path) -> None:
    from mbplugin.stopping.table import StoppingTable

    table = StoppingTable("arm", "flange", ("a",), (), ("computed, not measured",))
    table.save(tmp_path / "table.HTM")
    assert (tmp_path / "table.HTM").read_text().startswith("<!doctype html>")
    with pytest.raises(
        BadUsage, match=r"\.sarif is none of the formats here; expected .* \.csv or .* \.html or \.htm"
    ):
        table.save(tmp_path / "table.sarif")
