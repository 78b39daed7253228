"""Units on the command line: suffixes, ``--units``, ``[units]``, and numbers that are probably in another unit."""

from __future__ import annotations

import json
import re
from math import pi
from pathlib import Path

import pytest

from command_line import ROOT, call

ARM = str(ROOT / "assets" / "arm_6r.scene.toml")
SLIDER = """<robot name="slider"><link name="base"/>
<link name="cart"><inertial>
<mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<link name="arm"><inertial>
<mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="rail" type="prismatic"><parent link="base"/><child link="cart"/><axis xyz="1 0 0"/>
<limit lower="-1" upper="1" effort="100" velocity="0.5"/></joint>
<joint name="turn" type="revolute"><parent link="cart"/><child link="arm"/><axis xyz="0 0 1"/>
<limit lower="-3" upper="3" effort="50" velocity="3"/></joint></robot>"""


@pytest.fixture
def slider(tmp_path: Path) -> str:
    file = tmp_path / "slider.urdf"
    file.write_text(SLIDER)
    return str(file)


def document(*arguments: str) -> dict[str, object]:
    done = call(*arguments, "--base", "fixed", "--output-format", "json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert isinstance(found, dict)
    return found


SI = (
    "--q",
    f"rail=0.1,turn={pi / 6!r}",
    "--qd",
    f"rail=0.25,turn={pi / 3!r}",
    "--payload",
    "arm:0.5@0.01,0,0",
)


@pytest.mark.parametrize(
    "given",
    [
        ("--q", "rail=10cm,turn=30deg", "--qd", "rail=250mm/s,turn=10rpm", "--payload", "arm:500g@10mm,0,0"),
        (
            "--units",
            "deg,mm",
            "--q",
            "rail=100,turn=30",
            "--qd",
            "rail=250,turn=60",
            "--payload",
            "arm:.5@10,0,0",
        ),
        (
            *("--units", "deg,mm", "--q", f"rail=0.1m,turn={pi / 6!r}rad"),
            *("--qd", "rail=25cm/s,turn=60°/s", "--payload", "arm:0.5kg@1cm,0,0"),
        ),
    ],
)
def test_the_same_stop_in_any_units(slider: str, given: tuple[str, ...]) -> None:
    wanted, found = document("estop", slider, *SI), document("estop", slider, *given)
    a, b = (numbers(one) for one in (wanted, found))
    assert len(a) == len(b) and a == pytest.approx(b, rel=1e-6, abs=1e-9)


def numbers(value: object) -> list[float]:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return []
    if isinstance(value, int | float):
        return [float(value)]
    inner = value.values() if isinstance(value, dict) else value
    return [number for one in inner for number in numbers(one)]  # type: ignore[attr-defined]


def test_every_option_of_a_motion_takes_units(slider: str) -> None:
    si = (
        "--duration",
        "0.05",
        "--lock",
        "rail@0.01:0.02",
        "--torque",
        "turn=2,rail=3",
        "--load",
        "arm:1,2,3@0.1,0,0",
    )
    other = ("--duration", "50ms", "--lock", "rail@10ms:20ms", "--torque", "turn=200Ncm,rail=3000mN")
    other += ("--load", "arm:1N,2N,0.003kN@10cm,0,0", "--max-seconds", "1000ms")
    brakes = ("turn:torque=5,delay=0.01,viscous=2", "turn:torque=5Nm,delay=10ms,viscous=2N·m·s/rad")
    a = document("simulate", slider, *si, "--brake", brakes[0])
    b = document("simulate", slider, *other, "--brake", brakes[1])
    for one in (a, b):
        # what was asked for has another form, and computing took another time
        for key in ("source", "request", "statistics"):
            one.pop(key, None)
    assert numbers(a) == pytest.approx(numbers(b), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (
            ("estop", "--q", "turn=200deg/s"),
            "'turn' the value '200deg/s', which is an angular rate; expected an angle",
        ),
        (("estop", "--q", "turn=35mm"), "which is a length; expected an angle, such as 90deg"),
        (("estop", "--q", "rail=35deg"), "which is an angle; expected a length, such as 35mm"),
        (("estop", "--qd", "rail=35deg/s"), "which is an angular rate; expected a speed"),
        (("estop", "--payload", "5m"), "which is a length; expected a mass"),
        (("estop", "--brake", "rail:torque=5Nm"), "which is a torque; expected a force"),
        (("estop", "--brake", "turn:torque=5N"), "which is a force; expected a torque"),
        (("estop", "--brake", "turn:torque=5,wear=1kg"), "which is a mass; expected a number without a unit"),
        (("estop", "--duration", "5kg"), "--duration is '5kg', which is a mass; expected a time"),
        (("estop", "--category", "1", "--deceleration", "turn=5deg"), "expected an angular acceleration"),
        (("stop-table", "--payload", "5mm"), "--payload is '5mm', which is a length"),
        (("stop-table", "--speed", "turn=5m/s"), "which is a speed; expected an angular rate"),
        (("reactions", "--load", "arm:1m,2,3"), "which is a length; expected a force"),
        (("reactions", "--misfit", "turn.tx=1deg"), "which is an angle; expected a length"),
        (("simulate", "--duration", "1", "--lock", "turn@5deg"), "which is an angle; expected a time"),
        (("estop", "--units", "ft"), "--units names 'ft'; expected some of rad"),
        (("lint", "--q", "turn=5foo"), "'5foo'"),
    ],
)
def test_a_wrong_dimension_is_one_sentence(slider: str, command: tuple[str, ...], words: str) -> None:
    done = call(command[0], slider, *command[1:])
    assert done.code == 2 and words in done.err and len(done.err.strip().splitlines()) == 1


@pytest.mark.long
def test_texts_are_in_the_units_that_are_asked_for(slider: str) -> None:
    state = ("--base", "fixed", "--q", "turn=30deg", "--qd", "turn=60deg/s,rail=250mm/s")
    text = call("estop", slider, *state, "--units", "deg,mm").out
    assert re.search(r"rail \[mm\] +250 ", text) and re.search(r"turn \[deg\] +60 ", text)
    si = call("estop", slider, *state).out
    path, metres = (float(re.search(r"([\d.e+-]+) m?m along", one).group(1)) for one in (text, si))  # type: ignore[union-attr]
    assert path == pytest.approx(1000 * metres, rel=2e-3)
    page = call("estop", slider, *state, "--units", "deg,mm", "--output-format", "html").out
    assert "deg" in page and "mm/s" in page
    motion = call("simulate", slider, *state, "--duration", "10ms", "--units", "deg").out
    assert re.search(r"turn \[deg\] +30 ", motion)
    table = call("stop-table", ARM, "--units", "deg,mm", "--category", "0").out
    assert "ext. [mm]" in table and "deg/s" in table and re.search(r"\d\.\d+ deg ", table)


def test_documents_stay_in_si(slider: str) -> None:
    state = ("--qd", "turn=60deg/s")
    si, stated = (document("estop", slider, *state, *units) for units in ((), ("--units", "deg,mm")))
    commands = [one.pop("record")["command"] for one in (si, stated)]
    assert si == stated and ["--units" in command for command in commands] == [False, True]


def test_the_units_of_a_repository(slider: str, tmp_path: Path) -> None:
    config = tmp_path / "mbplugin.toml"
    config.write_text('[units]\nangle = "deg"\n')
    done = call("simulate", slider, "--base", "fixed", "--q", "turn=90", "--duration", "10ms")
    assert f"numbers without a unit are in deg and m ({config}:1)" in done.err
    assert re.search(r"turn \[deg\] +90 ", done.out) and re.search(r"rail \[m\]", done.out)
    stated = call(
        "simulate", slider, "--base", "fixed", "--q", "turn=1", "--duration", "10ms", "--units", "rad"
    )
    assert stated.err == "" and re.search(r"turn \[rad\] +1 ", stated.out)
    assert "units: angle = deg, length = m" in call("config", slider).out
    config.write_text('[units]\nangel = "deg"\n')
    wrong = call("simulate", slider, "--duration", "10ms")
    assert (
        wrong.code == 2
        and "unknown key 'angel' in units" in wrong.err
        and "did you mean 'angle'" in wrong.err
    )
    config.write_text('[units]\nangle = "mm"\n')
    assert call("simulate", slider, "--duration", "10ms").code == 2


RATE = "the rate of turn is 60 rad/s (3437.7 deg/s), above its velocity limit of 3 rad/s (171.89 deg/s)"
MASS = "the payload is 2000 kg (2e+06 g), more than the whole robot (3 kg (3000 g)); write 2000g if that is meant"


@pytest.mark.parametrize("command", [("estop",), ("simulate", "--duration", "1ms")])
def test_numbers_that_are_probably_in_another_unit_are_warnings(
    slider: str, command: tuple[str, ...]
) -> None:
    given = (command[0], slider, *command[1:], "--base", "fixed")
    done = call(*given, "--qd", "turn=60", "--payload", "arm:2000")
    assert done.code == 0
    assert f"mbplugin: warning: {RATE}; write 60deg/s if that is meant." in done.err
    assert f"mbplugin: warning: {MASS}." in done.err
    assert call(*given, "--qd", "turn=60deg/s,rail=0.5", "--payload", "arm:2000g").err == ""
    # far above the limit in any unit
    assert call(*given, "--qd", "rail=900").err.rstrip().endswith("(500 mm/s).")


def test_a_number_with_its_unit_is_not_proposed_in_another(slider: str) -> None:
    """The hint is for 60 rad/s where 60 deg/s are meant; it keeps the sign."""
    given = ("estop", slider, "--base", "fixed", "--qd")
    assert RATE.replace("is 60 rad/s (3437.7", "is -60 rad/s (-3437.7") in call(*given, "turn=-60").err
    assert "; write -60deg/s if" in call(*given, "turn=-60").err
    for text, rate in (("-1000deg/s", "-17.4533"), ("500deg/s", "8.72665")):
        stated = call(*given, f"turn={text}")
        assert f"the rate of turn is {rate} rad/s" in stated.err and "write" not in stated.err
    turned = call("estop", ARM, "--q", "j1=-200deg")
    assert turned.code == 2 and "'j1' is at -3.49066" in turned.err and "-3.49066deg" not in turned.err


def test_a_brake_far_stronger_than_its_joint_is_a_warning(slider: str) -> None:
    given = ("estop", slider, "--base", "fixed", "--qd", "turn=2", "--brake")
    strong = "the brake of turn holds 50000 N·m, 1000 times the effort limit of the joint, 50 N·m"
    assert strong in call(*given, "turn:torque=50kNm").err
    assert call(*given, "turn:torque=1kNm").err == ""


def test_wear_is_a_share_and_is_named(slider: str) -> None:
    given = ("estop", slider, "--base", "fixed", "--brake")
    worn = call(*given, "turn:torque=50,wear=0.6,delay=0.01").out
    assert "turn: the brake slides with 30 N·m (wear 0.6 included);" in worn
    assert "the effort limit, 50 N·m times its wear 0.6" in call(*given, "turn:wear=0.6").out.replace(
        "\n  ", " "
    )
    more = call(*given, "turn:wear=2")
    assert more.code == 2 and "the wear of the brake of 'turn' is 2" in more.err
    assert "expected a share of the torque that is left, 0 to 1" in more.err


def test_the_warning_is_in_the_document_and_in_the_table() -> None:
    found = call("estop", ARM, "--qd", "j1=200", "--output-format", "json")
    assert any("200 rad/s (11459 deg/s)" in note for note in json.loads(found.out)["notes"])
    table = call("stop-table", ARM, "--category", "0", "--speed", "j1=200", "--payload", "5000")
    assert "the rate of j1 is 200 rad/s" in table.err and "the payload is 5000 kg" in table.err
    assert "the rate of j1 is 200 rad/s" in table.out
