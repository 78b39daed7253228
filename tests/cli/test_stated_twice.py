"""A name that a repeatable option states twice is refused: of two values none is known to be the one meant."""

from __future__ import annotations

import pytest
import typer

from command_line import ROOT, call
from mbplugin.cli.app import application
from mbplugin.cli.help import COMMANDS
from places import ASSETS

ARM, BAR = str(ASSETS / "arm_6r.scene.toml"), str(ASSETS / "four_bar.scene.toml")
#: What the commands need besides the option: a file that they can read.
INPUTS = {
    "diff": (BAR, BAR),
    "close": (str(ASSETS / "four_bar.urdf"), "--to", "urdf"),
    "view": (ARM, "--stop"),
    "calibrate": (ARM, str(ROOT / "tests" / "stopping" / "published_stops.csv")),
    "simulate": (ARM, "--duration", "0.1"),
    "sweep": (ARM, "--out", "unused", "--number", "1"),
    "distance": (str(ROOT / "tests" / "report" / "documents" / "estop.json"),),
}
#: Two entries of these are two things, not two values of one.
LISTS = {
    "--report": "files of one format may be several",
    "--failure": "the search is repeated for each failure",
}
#: One entry of each option, in a form that it takes.
ENTRIES = {
    "--term": "K=1.6",
    "--brake": "j1:torque=5",
    "--map": "crank=crank",
    "--xacro-arg": "a:=1",
    "--grid": "speed=25,50",
    "--profile": "j0=missing.csv",
    "--misfit": "D.tx=1mm",
    "--misfit-sigma": "D.tx=1mm",
    "--limit": "j1=5",
}


def repeatable() -> list[tuple[str, str]]:
    """Return the commands and options that take NAME=VALUE more than once."""
    found = []
    for name in COMMANDS:
        command = typer.main.get_command(application((name,)))
        command = getattr(command, "commands", {name: command})[name]
        for parameter in command.params:
            form = getattr(parameter, "metavar", None) or ""
            if getattr(parameter, "multiple", False) and "=" in form:
                found += [(name, option) for option in parameter.opts if option.startswith("--")]
    return found


REPEATABLE = repeatable()


def test_the_options_are_those_that_the_program_has() -> None:
    assert {option for _, option in REPEATABLE} >= {*ENTRIES, *LISTS, "--q", "--qd"}


@pytest.mark.parametrize(
    ("command", "option"),
    [
        # a window asks for PyBullet before it looks at anything else
        pytest.param(*pair, marks=pytest.mark.bullet if pair[0] == "view" else ())
        for pair in REPEATABLE
        if pair[1] not in LISTS
    ],
)
def test_a_name_stated_twice_is_refused(command: str, option: str) -> None:
    entry = ENTRIES.get(option, "j1=1")
    done = call(command, *INPUTS.get(command, (ARM,)), option, entry, option, entry)
    assert done.code == 2
    name = entry.partition(":" if option in ("--brake", "--xacro-arg") else "=")[0]
    assert name in done.err and ("twice" in done.err or "two brakes" in done.err), done.err


@pytest.mark.parametrize("text", ["j1:torque=5,torque=6", "j1:delay=0.01,torque=5,delay=0.02"])
def test_a_key_of_a_brake_stated_twice_is_refused(text: str) -> None:
    done = call("estop", ARM, "--brake", text)
    assert done.code == 2 and "twice" in done.err
