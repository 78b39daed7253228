"""What a word leads to: every name is found by the words of its own text, and a word without a meaning finds none."""

from __future__ import annotations

import random
import re
import string
import subprocess
import sys
from functools import cache
from inspect import getdoc
from pathlib import Path
from typing import Any

import pytest
import typer

import mbplugin as mb
from mbplugin.api import PUBLIC
from mbplugin.cli.app import application
from mbplugin.cli.help import COMMANDS
from mbplugin.linter.targets import settings_for
from mbplugin.vocabulary import (
    Described,
    described_entries,
    docstrings,
    leads_to,
    meant,
    proposal,
    public,
)

#: Words that no text can be found by.
SHORT = 4


@cache
def options(command: str) -> tuple[Described, ...]:
    group: Any = typer.main.get_command(application((command, "lint" if command != "lint" else "diff")))
    own = [one for one in group.commands[command].params if one.param_type_name == "option"]
    return tuple(Described(one.opts[0], one.help or "") for one in own)


def main_words(text: str) -> list[str]:
    """Return the words of a first sentence that say most: the long ones."""
    sentence = re.split(r"[.;:]", text)[0]
    return [word for word in re.findall(r"[a-z]+", sentence.lower()) if len(word) > SHORT]


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS)
def test_options_are_found_by_the_words_of_their_help(command: str) -> None:
    known = options(command)
    asked = [(one, main_words(one.summary)) for one in known]
    asked = [(one, words) for one, words in asked if len(words) > 2]
    found = [one.name in leads_to("-".join(words[:4]), known) for one, words in asked]
    assert sum(found) >= 0.85 * len(found)


def test_functions_are_found_by_the_words_of_their_docstrings() -> None:
    known = public()
    asked = [(one, main_words(one.summary)) for one in known if one.name.islower()]
    asked = [(one, words) for one, words in asked if len(words) > 2]
    assert len(asked) > 25
    found = [one.name in leads_to("_".join(words[:4]), known) for one, words in asked]
    assert sum(found) >= 0.9 * len(found)


@pytest.mark.long
def test_words_without_a_meaning_lead_nowhere() -> None:
    draw = random.Random(5)
    words = ["".join(draw.choices(string.ascii_lowercase, k=draw.randint(5, 10))) for _ in range(300)]
    for known in (options("simulate"), tuple(public())):
        led = [word for word in words if leads_to(word, known)]
        assert len(led) <= 0.01 * len(words), led


@pytest.mark.parametrize("word", ["", "_", "---", "the", "42", "é", "x" * 100_000, "a_" * 50_000])
def test_any_text_is_answered(word: str) -> None:
    assert meant(word, public(), {}) == ()


@pytest.mark.parametrize(
    ("word", "name"),
    [
        # the same words in other forms
        ("massMatrix", "mass_matrix"),
        ("CalcMassMatrix", "mass_matrix"),
        ("computeInverseDynamics", "inverse_dynamics"),
        ("linearization_of_motions", "linearize"),
        # synonyms
        ("rnea", "inverse_dynamics"),
        ("coriolis_forces", "bias_forces"),
        ("eigenfrequencies", "linearize"),
        ("emergencyStop", "estop"),
        # a misspelt synonym, the beginning of one, and two in one word
        ("frequncies", "linearize"),
        ("eigenfreq", "linearize"),
        # a class, and a function that is written as one
        ("Hinge", "Pair"),
        ("GearRatio", "Coupling"),
        # the direction of a conversion
        ("from_sdf", "load"),
        ("usd2sdf", "close"),
    ],
)
def test_words_of_other_programs_lead_to_names(word: str, name: str) -> None:
    assert meant(word, public(), {})[:1] == (name,)


def test_a_name_counts_more_than_what_is_said_about_it() -> None:
    known = [
        Described("speed", "Speed of the tool."),
        Described("payload", "Mass at the tool."),
        Described("zone", "Space that the tool sweeps at this speed."),
    ]
    assert leads_to("tool_velocity", known)[0] == "speed"
    assert leads_to("kg", known) == ("payload",)
    # most of the question is unknown
    assert leads_to("speed_of_zebras_in_stripes", known) == ()
    assert leads_to("tool", [*known, Described("tool")]) == ("tool",)


def test_what_describes_all_alike_decides_nothing() -> None:
    known = [Described(letter, "A joint of a robot.") for letter in "abcdefg"]
    assert leads_to("link", known) == ()
    assert len(leads_to("joint", known)) <= 3
    # a synonym of a word of all is still less
    assert leads_to("hinge", known) == ()


@pytest.mark.long
def test_docstrings_are_those_of_the_objects() -> None:
    texts = docstrings(PUBLIC)
    for name, text in texts.items():
        if text and name not in ("calibrate", "estop", "stopping_table", "sweep", "worst_stop"):
            assert (getdoc(getattr(mb, name)) or "").startswith(text.partition("\n")[0])
    assert sum(map(bool, texts.values())) >= len(PUBLIC) - 4


def test_entries_of_a_docstring() -> None:
    text = (
        "Do it.\n\nParameters\n----------\nq, qd : mapping\n    Pose and rates.\n    Both.\n"
        "**options\n    More.\n\nRaises\n------\nBadUsage\n    Never."
    )
    entries = described_entries(text)
    assert entries["q"] == entries["qd"] == "mapping Pose and rates. Both."
    assert entries["options"].strip() == "More."
    assert "Parameters" not in entries and "Raises" not in entries


@pytest.mark.parametrize(("key", "known"), [("latency", "delay"), ("torqe", "torque"), ("zebra", "")])
def test_keys_of_scenes_are_found_by_their_descriptions(key: str, known: str, tmp_path: Path) -> None:
    file = tmp_path / "brake.scene.toml"
    file.write_text(f"[[brake]]\njoint = 'j1'\ntorque = 5\n{key} = 1\n", encoding="utf-8")
    with pytest.raises(mb.MbPluginError, match=f"did you mean '{known}'" if known else "known names are"):
        mb.load(file)


@pytest.mark.parametrize(("key", "known"), [("disable", "ignore"), ("severity", "fail-on")])
def test_keys_of_configurations_are_found_by_their_descriptions(key: str, known: str, tmp_path: Path) -> None:
    file = tmp_path / "mbplugin.toml"
    file.write_text(f"{key} = 'note'\n", encoding="utf-8")
    with pytest.raises(mb.MbPluginError, match=f"did you mean '{known}'"):
        settings_for(tmp_path / "robot.urdf")


def test_proposals_are_questions() -> None:
    assert proposal(()) == ""
    assert proposal(("a",)) == "did you mean 'a'?"
    assert proposal(("a", "b", "c")) == "did you mean 'a', 'b' or 'c'?"


def test_nothing_is_read_for_a_right_call() -> None:
    code = "import sys, mbplugin; mbplugin.load; sys.exit('mbplugin.vocabulary' in sys.modules)"
    assert subprocess.run([sys.executable, "-P", "-c", code], check=False, timeout=60).returncode == 0
