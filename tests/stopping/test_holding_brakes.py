"""Brakes that only hold what stated ramps have led to rest: a report says that no number depends on them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import mbplugin as mb
from command_line import call
from places import ASSETS

ARM = (ASSETS / "arm_6r.urdf").read_text()
NOT_EVIDENCE, HOLD = "No number below is evidence for safety", "They only hold the arm after the stated ramps"


def scene(folder: Path, ramps: str, brakes: float = 0.0) -> str:
    """Write the arm with ramps, and brakes of a torque on all joints where one is stated; return the file."""
    (folder / "arm_6r.urdf").write_text(ARM)
    text = 'gravity = [0, 0, -9.81]\n[[model]]\nfile = "arm_6r.urdf"\nbase = "fixed"\n'
    for n in range(1, 7):
        text += f'[[ramp]]\njoint = "j{n}"\n{ramps}\n'
        if brakes:
            text += f'[[brake]]\njoint = "j{n}"\ntorque = {brakes}\ndelay = 0.01\n'
    file = folder / "arm.scene.toml"
    file.write_text(text)
    return str(file)


@pytest.mark.long
@pytest.mark.parametrize("command", ["stop-table", "estop"])
def test_a_controlled_stop_of_stated_ramps_depends_on_no_brake(command: str, tmp_path: Path) -> None:
    """The banner says so; category 0, or ramps that begin at an assumed delay, stay without evidence."""
    how = {"stop-table": ["stop-table"], "estop": ["estop", "--qd", "j2=1"]}[command]

    def said(ramps: str, category: str) -> str:
        name = "--category"
        return " ".join(
            call(how[0], scene(tmp_path, ramps), *how[1:], name, category).out.replace("\n!", " ").split()
        )

    stated, delayed = "deceleration = 4.0\nreaction = 0.02", "deceleration = 4.0"
    assert HOLD in said(stated, "1")
    assert NOT_EVIDENCE not in said(stated, "1")
    assert HOLD not in said(delayed, "1")
    assert NOT_EVIDENCE in said(delayed, "1")
    assert NOT_EVIDENCE in said(stated, "0")


@pytest.mark.long
def test_what_the_banner_says_is_so(tmp_path: Path) -> None:
    """With any brakes that hold, every row of the table is the same."""

    def rows(brakes: float) -> list[Any]:
        table = mb.stopping_table(
            scene(tmp_path, "deceleration = 4.0\nreaction = 0.02", brakes), categories=(1,)
        )
        assert table.of_effort.holding
        return [dict(row) for row in table.rows]

    assumed = rows(0.0)
    assert rows(900.0) == assumed
    assert rows(1100.0) == assumed
