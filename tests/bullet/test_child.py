"""Functions in a process of their own: their answers, errors, prints and deaths."""

import operator
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import mbplugin as mb
from mbplugin.bullet import Allowance, in_child
from mbplugin.errors import BadNumber, UnreadableFile
from mbplugin.model.mechanism.kinematics import joint_vector
from mbplugin.readers import load
from places import ASSETS

FOUR_BAR = ASSETS / "four_bar.scene.toml"


@pytest.mark.long
def test_the_answer_comes_back() -> None:
    assert in_child(operator.add, 2, 3) == 5
    assert in_child(os.getpid) != os.getpid()
    assert in_child(load, FOUR_BAR).mechanism.q_names == load(FOUR_BAR).mechanism.q_names


def test_errors_come_back_whole() -> None:
    with pytest.raises(UnreadableFile) as there:
        in_child(load, "nowhere.urdf")
    with pytest.raises(UnreadableFile) as here:
        load("nowhere.urdf")
    assert (str(there.value), there.value.code) == (str(here.value), here.value.code)
    with pytest.raises(BadNumber, match="expected a finite number, rad"):
        in_child(joint_vector, load(FOUR_BAR).mechanism, [float("nan")] * 3)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        in_child(operator.truediv, 1, 0)


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGABRT])
def test_a_death_is_one_sentence(number: signal.Signals) -> None:
    with pytest.raises(mb.MbPluginError, match=f"ended by signal {number.name}; .*\\.$"):
        in_child(signal.raise_signal, number)
    with pytest.raises(mb.MbPluginError, match="exit code 3 without an answer"):
        in_child(os._exit, 3)


def test_what_takes_too_much_is_one_sentence() -> None:
    begun = time.monotonic()
    with pytest.raises(mb.MbPluginError, match="PyBullet has not computed the motion within 1 s; expected"):
        in_child(time.sleep, 100, limits=Allowance(1.0).limits)
    assert time.monotonic() - begun < 20
    little = replace(Allowance().limits, memory=1 << 29)
    with pytest.raises(mb.MbPluginError, match=r"PyBullet needs more than 0\.5 GiB of memory for the motion"):
        in_child(bytearray, 2 << 30, limits=little)


def test_calls_share_an_allowance() -> None:
    allowance = Allowance(100.0)
    assert 99 < allowance.limits.seconds <= 100
    allowance.begun -= 60
    assert 39 < allowance.limits.seconds <= 40
    allowance.begun -= 60
    assert allowance.limits.seconds == 1


def test_prints_of_the_function_are_not_its_answer(capfd: pytest.CaptureFixture[str]) -> None:
    assert in_child(print, "chatter") is None
    assert in_child(os.write, 1, b"from C") == 6
    assert capfd.readouterr() == ("", "")


def test_the_script_of_the_user_is_not_run_again(tmp_path: Path) -> None:
    script = tmp_path / "own.py"
    script.write_text(
        "import operator\nfrom mbplugin.bullet import in_child\n"
        "print('once')\nprint(in_child(operator.add, 1, 1))\n"
    )
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["once", "2"]
