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
from mbplugin.synonyms import ABSENT, SETTERS
from mbplugin.vocabulary import (
    Described,
    described_entries,
    docstrings,
    leads_to,
    meant,
    proposal,
    public,
    remedy_for_function,
    told,
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


@pytest.mark.parametrize("subject", ABSENT, ids=lambda one: one[0].split()[0])
def test_every_absent_subject_is_told_by_its_names(subject: tuple[str, str, str]) -> None:
    names, _, sentence = subject
    for name in names.split():
        camel = re.sub("_(.)", lambda found: found[1].upper(), name)
        assert told(name, public()) == told(camel, public()) == sentence


def test_no_public_name_or_word_of_the_field_is_told_as_absent() -> None:
    known = public()
    assert not [one.name for one in known if told(one.name, known)]
    words = (
        "joint",
        "body",
        "state",
        "stats",
        "pose",
        "joint_info",
        "model",
        "short",
        "link_state",
        "friction",
    )
    assert not [word for word in words if told(word, known)]


def test_a_compound_of_an_absent_subject_has_no_parts() -> None:
    """A word that several subjects share, such as the joint of ``add_joint``, leads to none of them."""
    parts = {part for names, _, _ in ABSENT for name in names.split() for part in name.split("_")}
    whole = {name for names, _, _ in ABSENT for name in names.split()}
    texts = " ".join(text for _, text, _ in ABSENT)
    alike = {
        form for word in (*whole, *re.findall(r"[a-z]+", texts)) for form in (word, f"{word}ed", f"{word}s")
    }
    shared = [part for part in parts - alike if part not in ("element", "collisions")]
    assert len(shared) > 20
    assert not [part for part in shared if told(part, public())]


@pytest.mark.parametrize("verb", SETTERS)
@pytest.mark.parametrize(
    ("thing", "place"),
    [("Gravity", "'gravity' in a scene"), ("Payload", "payload=… to mb.simulate"), ("TimeStep", "step=…")],
)
def test_what_others_set_by_a_call_is_stated_as_an_argument_or_in_a_scene(
    verb: str, thing: str, place: str
) -> None:
    assert place in remedy_for_function(f"{verb}{thing}", {})
    assert place in remedy_for_function(f"{verb}_{re.sub('(?<=[a-z])(?=[A-Z])', '_', thing).lower()}", {})


def test_a_word_of_the_field_is_not_misspelt() -> None:
    known = [Described("point"), Described("joint_names"), Described("exit_code")]
    assert meant("joint", known, {}) == ("joint_names",)
    assert meant("pont", known, {}) == ("point",)
    # a counted or total thing is the thing
    assert meant("number_of_points", [Described("point"), Described("rank")], {}) == ("point",)


def test_a_function_is_named_for_a_whole_word_only() -> None:
    known = [Described("bias_forces", "Compute forces."), Described("reactions", "Compute forces.")]
    assert leads_to("forces", known, is_named=True) == ("reactions",)
    assert leads_to("filter", [Described("sweep", "Select and filter many.")], is_named=True) == ()


@pytest.mark.parametrize("room", ["simulation", "comparison", "model", "linter"])
def test_a_folder_that_is_called_leads_to_a_function(room: str) -> None:
    import importlib

    folder: Any = importlib.import_module(f"mbplugin.{room}")
    with pytest.raises(
        TypeError, match=rf"'mbplugin\.{room}' is a module, not a function; (did you mean|write)"
    ):
        folder()
