"""Commands named in the sentences of the documents: each command and each of its options exists."""

from __future__ import annotations

import re
import shlex

import pytest
import typer

from mbplugin.cli.app import application
from mbplugin.cli.help import COMMANDS as ALL
from places import ROOT

COMMANDS = typer.main.get_command(application(ALL)).commands  # type: ignore[attr-defined]
NAMED = sorted(
    {
        (str(file.relative_to(ROOT)), command)
        for file in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
        for command in re.findall(r"`mbplugin ([a-z][^`]*)`", file.read_text())
    }
)


@pytest.mark.parametrize(("file", "command"), NAMED)
def test_a_command_in_a_sentence_exists_with_its_options(file: str, command: str) -> None:
    name, *words = shlex.split(command)
    assert name in COMMANDS, file
    known = {option for given in COMMANDS[name].params for option in (*given.opts, *given.secondary_opts)}
    assert {word.partition("=")[0] for word in words if word.startswith("--")} <= known | {"--help"}, file
