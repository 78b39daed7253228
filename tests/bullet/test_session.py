import os
import subprocess
import sys

import pytest

from mbplugin.bullet import quiet, session

NOISY = "husky/husky.urdf"  # PyBullet warns about every link without inertial


def run(code: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120, **options
    )


LOAD = f"""
import pybullet_data
from mbplugin.bullet import quiet, session
with session() as (p, client):
    with quiet() as captured:
        p.loadURDF(pybullet_data.getDataPath() + "/{NOISY}", physicsClientId=client)
"""


def test_neither_the_banner_nor_the_load_reaches_stdout_or_stderr():
    result = run(LOAD + "\nprint('only this')")
    assert (result.stdout, result.stderr, result.returncode) == ("only this\n", "", 0)


def test_quiet_hands_back_what_was_printed_from_c_and_from_python():
    result = run(LOAD + "\nprint('No inertial data' in captured.text)")
    assert result.stdout == "True\n"
    with quiet() as captured:
        os.write(1, b"from C\n")
        os.write(2, b"to stderr\n")
    assert captured.text == "from C\nto stderr\n"


def test_what_was_printed_before_and_after_stays(capfd: pytest.CaptureFixture[str]):
    print("before")
    with quiet():
        os.write(1, b"inside")
    print("after")
    assert capfd.readouterr().out == "before\nafter\n"


def test_quiet_ends_with_the_error_of_its_block(capfd: pytest.CaptureFixture[str]):
    with pytest.raises(KeyError), quiet():
        raise KeyError
    print("restored")
    assert capfd.readouterr().out == "restored\n"


def test_a_closed_stdout_does_not_hurt():
    result = run("import os; os.close(1)\n" + LOAD + "\nimport sys; sys.stderr.write('alive')")
    assert (result.stderr, result.returncode) == ("alive", 0)


def test_the_client_is_gone_after_the_block_even_after_an_error():
    with pytest.raises(ZeroDivisionError), session() as (bullet, client):
        assert bullet.isConnected(client)
        raise ZeroDivisionError
    assert not bullet.isConnected(client)


def test_a_block_may_disconnect_by_itself():
    with session() as (bullet, client):
        bullet.disconnect(client)
