"""Whoever reads the first five lines of a text report knows all that it assumes."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import pytest

from command_line import call
from mbplugin.phrases import Assumption
from mbplugin.report.text import FIRST, Line, first_lines

INERTIA = (
    '<inertial><origin xyz="0.1 0 0.05"/><mass value="1"/>'
    '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>'
)
#: Without a link on the ground and with long names; the zero pose of its third joint is outside the limits.
NAMES = [f"manipulator_of_the_left_side_joint_{k}" for k in range(1, 7)]


def arm(effort: str = "40", velocity: str = "2", finger: bool = True) -> str:
    links = [f'<link name="mounting_plate_of_the_arm">{INERTIA}</link>']
    before = "mounting_plate_of_the_arm"
    for k, name in enumerate(NAMES):
        lower = "0.2" if k == 2 else "-1.5"
        links.append(
            f'<link name="{name}_link">{INERTIA}</link><joint name="{name}" type="revolute"><parent link="{before}"/>'
            f'<child link="{name}_link"/><origin xyz="0.2 0 0.1"/><axis xyz="0 {k % 2} {1 - k % 2}"/>'
            f'<limit lower="{lower}" upper="1.5" effort="{effort}" velocity="{velocity}"/></joint>'
        )
        before = f"{name}_link"
    for side, mimic in (
        ("left", ""),
        ("right", '<mimic joint="left_finger_joint" multiplier="-1"/>'),
    ) * finger:
        links.append(
            f'<link name="{side}_finger">{INERTIA}</link><joint name="{side}_finger_joint" type="prismatic">'
            f'<parent link="{before}"/><child link="{side}_finger"/><origin xyz="0.1 0 0"/><axis xyz="0 1 0"/>'
            f'<limit lower="-0.1" upper="0.1" effort="{effort}" velocity="{velocity}"/>{mimic}</joint>'
        )
    return f'<robot name="robot_with_a_name_that_is_not_short">{"".join(links)}</robot>'


ROBOTS = {
    "limits": arm(),
    "placeholders": arm(effort="100000"),
    "no limits": arm(effort="0", velocity="0"),
    "no finger": arm(finger=False),
    "cart": re.sub(r'type="revolute"', 'type="continuous"', arm(finger=False)),
}
COMMANDS = {
    "simulate": ("simulate", "--duration", "0.05"),
    "estop": ("estop",),
    "estop of a motion": ("estop", "--qd", f"{NAMES[1]}=0.5"),
    "reactions": ("reactions",),
    "engines": ("engines",),
    "stop-table": ("stop-table", "--category", "0"),
    "worst-stop": ("worst-stop", "--samples", "2", "--max-seconds", "5"),
    "close": ("close", "--to", "mjcf", "--no-drift"),
}


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> dict[str, Assumption]:
    """The assumptions that a command makes."""
    found: dict[str, Assumption] = {}
    new = Assumption.__new__

    def recorded(cls: type[Assumption], sentence: str, short: str) -> Assumption:
        one = new(cls, sentence, short)
        if short:
            found[short] = one
        return one

    monkeypatch.setattr(Assumption, "__new__", recorded)
    return found


@pytest.mark.long_after(2)
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
@pytest.mark.parametrize("robot", ROBOTS.values(), ids=ROBOTS)
def test_every_assumption_is_in_the_first_five_lines(
    robot: str, command: tuple[str, ...], made: dict[str, Assumption], tmp_path: Path
) -> None:
    file = tmp_path / "robot.urdf"
    file.write_text(robot)
    done = call(command[0], str(file), *command[1:])
    assert done.code in (0, 1), done.err
    lines = [re.sub("^! ", "", line).strip() for line in done.out.splitlines() if line.strip()]
    top = " ".join(lines[:FIRST])
    assert made
    # fingers are made rigid before the tool is chosen anew
    tools = [short for short in made if short.startswith("tool ")]
    assert not tools or any(short.removesuffix(" (--tool)") in top for short in tools)
    for short, sentence in made.items():
        assert short in top or str(sentence) in top or short in tools, short


def test_short_forms_come_first_if_the_sentences_are_too_long() -> None:
    long = Assumption("word " * 100, "one thing")
    lines = [line.text for line in first_lines([Line("verdict")], [long, "a warning"], 80, notes=["a note"])]
    assert lines[:3] == ["verdict", "! assumed: one thing.", ""]
    assert lines[3].startswith("! word word") and "! a warning" in lines


def test_short_sentences_stand_alone() -> None:
    short = Assumption("All is well.", "well")
    lines = [line.text for line in first_lines([Line("verdict")], [short, ""], 80)]
    assert lines == ["verdict", "", "! All is well.", ""]


def test_a_note_gives_its_short_form_and_a_long_headline_comes_later() -> None:
    headline = [Line(f"verdict {k}") for k in range(5)]
    note = Assumption("It stands.", "standing")
    lines = [line.text for line in first_lines(headline, [], 80, notes=[note, "other"])]
    assert lines == ["! assumed: standing.", *(line.text for line in headline), ""]


def test_an_assumption_keeps_its_short_form_in_another_process() -> None:
    kept = pickle.loads(pickle.dumps(Assumption("It stands.", "standing")))
    assert (kept, kept.short) == ("It stands.", "standing")
