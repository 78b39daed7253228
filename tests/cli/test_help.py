"""The help: groups, examples, completion; a file in the place of a command; words in the place of a code."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from mbplugin.cli.app import _shown_name, run
from mbplugin.cli.help import ALIASES, COMMANDS
from places import ASSETS

BAR = str(ASSETS / "four_bar.scene.toml")
NAMES = list(COMMANDS)


def printed(*arguments: str, **environment: str) -> str:
    code = "from mbplugin.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, **environment},
    )
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


def test_other_names_lead_to_commands() -> None:
    assert set(ALIASES.values()) <= set(NAMES)


def test_the_list_of_commands_needs_no_numpy() -> None:
    """It is what a newcomer types first, and importing numpy takes longer than all the rest."""
    code = "import sys; from mbplugin.cli.app import run; run(['--help']); print('numpy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "False"


@pytest.mark.parametrize("name", NAMES)
def test_a_help_has_groups_and_an_example_that_can_be_typed(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert f"Example:\n  {COMMANDS[name].example}\n" in text
    options = set(re.findall(r"^  (?:-\w, )?(--[\w-]+)", text, re.MULTILINE))
    assert set(re.findall(r"(?<= )--[\w-]+", COMMANDS[name].example)) <= options
    assert "Output:\n" in text or name in ("warmup", "server")
    assert max(map(len, text.splitlines())) <= 80


def test_the_commands_stand_by_their_use(capsys: pytest.CaptureFixture[str]) -> None:
    run(["--help"])
    text = capsys.readouterr().out
    places = [text.index(f"\n  {name} ") for name in COMMANDS]
    assert places == sorted(places)
    assert max(map(len, text.splitlines())) <= 80


def test_a_file_in_the_place_of_a_command_is_linted(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([BAR]) == run(["lint", BAR]) == 0
    first, second = capsys.readouterr().out.split("four_bar: OVERCONSTRAINED, 3 redundant")[1:]
    assert first == second


def test_names_of_python_are_commands_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["constraint_matrix", BAR]) == run(["matrix", BAR]) == 0
    out = capsys.readouterr().out
    assert out[: len(out) // 2] == out[len(out) // 2 :]


def test_a_word_finds_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["rule", "redundant"]) == 0
    found = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert found[0] == "MB201" and "MB101" not in found
    assert run(["rule", "redundant-constraints"]) == 0
    assert "What it does" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands_and_options(shell: str) -> None:
    assert "mbplugin" in printed(_MBPLUGIN_COMPLETE=f"source_{shell}")
    words = {"bash": {"COMP_WORDS": "mbplugin sto", "COMP_CWORD": "1"}}
    other = {"_TYPER_COMPLETE_ARGS": "mbplugin sto", "_TYPER_COMPLETE_FISH_ACTION": "get-args"}
    completed = printed(_MBPLUGIN_COMPLETE=f"complete_{shell}", **words.get(shell, other))
    assert "stop-table" in completed and "lint" not in completed


@pytest.mark.long_after(1)
@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("rule MB30", "MB301"),
        ("rule redundant-c", "redundant-constraints"),
        ("lint --select MB101,MB30", "MB101,MB301"),
    ],
)
def test_shells_complete_codes_of_rules(typed: str, offered: str) -> None:
    words = f"mbplugin {typed}"
    completed = printed(
        _MBPLUGIN_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(len(words.split()) - 1)
    )
    assert offered in completed.split() and "MB102" not in completed


def test_nothing_is_written_beside_what_a_shell_completes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_MBPLUGIN_COMPLETE", "complete_zsh")
    assert _shown_name(["lint"]) == _shown_name([]) == ""
    monkeypatch.delenv("_MBPLUGIN_COMPLETE")
    assert _shown_name(["lint"]) == "mbplugin lint"


@pytest.mark.long
def test_colour_is_forced_and_refused() -> None:
    plain = {"FORCE_COLOR": "", "NO_COLOR": "", "TERM": "xterm"}
    assert "\x1b[" not in printed("lint", BAR, **plain)
    assert "\x1b[" in printed("lint", BAR, **{**plain, "FORCE_COLOR": "1"})
    assert "\x1b[" not in printed("lint", BAR, **{**plain, "FORCE_COLOR": "1", "NO_COLOR": "1"})
    assert "\x1b[" not in printed("lint", BAR, "--output-format", "json", **{**plain, "FORCE_COLOR": "1"})
