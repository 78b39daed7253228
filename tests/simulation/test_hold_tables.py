"""``[[hold]]`` and ``--hold``: two flywheels and a clutch, and what other commands do with it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mbplugin as mb
from command_line import call

RATIO = -2.0
SCENE = f"""
gravity = [0, 0, 0]
body = [
  {{ name = "first", mass = 1.0, inertia = [1, 1, 2.0] }},
  {{ name = "second", mass = 1.0, inertia = [1, 1, 3.0] }},
]
pair = [
  {{ name = "h0", type = "revolute", body_a = "world", body_b = "first", xyz_a = [0, 0, 0] }},
  {{ name = "h1", type = "revolute", body_a = "world", body_b = "second", xyz_a = [0, 0, 0] }},
]
[[coupling]]
name = "clutch"
type = "gear"
terms = [{{ joint = "h0", coefficient = 1.0 }}, {{ joint = "h1", coefficient = {-RATIO} }}]
[state]
q = {{ h0 = 0.0, h1 = 0.0 }}
"""
HOLD = '[[hold]]\nconstraint = "clutch"\nat = 0.5\nuntil = 0.8\n'
START = ("--qd", "h0=4,h1=1")


def written(folder: Path, text: str) -> str:
    file = folder / "clutch.scene.toml"
    file.write_text(text, encoding="utf-8")
    return str(file)


def rates_after(folder: Path, text: str, *options: str) -> tuple[list[float], list[float]]:
    """Return the times of the events, and the rates of both wheels at the end of 1 s."""
    done = call(
        "simulate", written(folder, text), "--duration", "1", *START, *options, "--output-format", "json"
    )
    assert done.code == 0, done.err
    document = json.loads(done.out)
    return [event["time"] for event in document["events"]], [
        samples[-1] for samples in document["qd"].values()
    ]


@pytest.mark.parametrize(
    ("text", "options"), [(SCENE + HOLD, ()), (SCENE, ("--hold", "clutch@0.5:0.8"))], ids=["table", "option"]
)
def test_the_clutch_changes_the_rates_as_by_hand(tmp_path: Path, text: str, options: tuple[str, ...]) -> None:
    """ω₀ = ratio·ω₁ while it holds: J₀ Δω₀ = Λ, J₁ Δω₁ = −ratio·Λ."""
    times, rates = rates_after(tmp_path, text, *options)
    push = (RATIO * 1.0 - 4.0) / (1 / 2.0 + RATIO**2 / 3.0)
    assert times == pytest.approx([0.5, 0.8])
    assert rates == pytest.approx([4.0 + push / 2.0, 1.0 - RATIO * push / 3.0], rel=1e-9)


def test_a_table_is_what_a_call_states(tmp_path: Path) -> None:
    scene = mb.load(written(tmp_path, SCENE + HOLD))
    assert scene.holds == (mb.TimedConstraint("clutch", 0.5, 0.8),)
    plain = mb.load(written(tmp_path, SCENE))
    motions = [
        mb.simulate(one, 1.0, qd0={"h0": 4.0, "h1": 1.0}, holds=holds)
        for one, holds in ((scene, ()), (plain, scene.holds))
    ]
    assert motions[0].q[-1] == pytest.approx(motions[1].q[-1], abs=1e-14)
    # from the start on and for good it is the coupling itself
    held = mb.simulate(plain, 0.2, qd0={"h0": 2.0, "h1": -1.0}, holds=[mb.TimedConstraint("clutch")])
    own = mb.simulate(plain, 0.2, qd0={"h0": 2.0, "h1": -1.0})
    assert held.q[-1] == pytest.approx(own.q[-1], abs=1e-10)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ('[[hold]]\nconstraint = "cluch"\n', "no constraint is called 'cluch'; did you mean 'clutch'?"),
        (HOLD + HOLD, "constraint 'clutch' is to hold twice"),
        (HOLD.replace("0.8", "0.5"), "closes at 0.5 s and opens at 0.5 s; expected a later time"),
        (HOLD.replace("0.5", "-1"), "at is -1; expected at least 0"),
        ('[[lock]]\njoint = "h0"\n[[hold]]\nconstraint = "lock h0"\n', "'lock h0' is a lock"),
    ],
)
def test_a_hold_that_cannot_be_is_refused_with_its_line(tmp_path: Path, table: str, said: str) -> None:
    done = call("simulate", written(tmp_path, SCENE + table), "--duration", "1")
    assert done.code == 2 and said in done.err and "clutch.scene.toml:" in done.err


@pytest.mark.bullet
def test_other_commands_say_what_they_do_with_it(tmp_path: Path) -> None:
    file = written(tmp_path, SCENE + HOLD)
    assert "which neither engine can do" in call("crosscheck", file).err
    braked = written(tmp_path, SCENE + HOLD + '[[brake]]\njoint = "h0"\ntorque = 5\n')
    said = call("estop", braked, "--qd", "h0=2,h1=-1").out
    assert "what the scene holds for a while holds during the whole stop: clutch" in " ".join(said.split())
    twice = call("simulate", file, "--duration", "1", "--hold", "clutch@0.1")
    assert twice.code == 2 and "'clutch' is to hold twice" in twice.err
