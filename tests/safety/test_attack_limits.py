"""PyBullet's motions that never end, or that end their process, through the command line."""

from __future__ import annotations

import json
import time
from typing import Any

import jsonschema
import pytest

import mbplugin as mb
from command_line import ASSETS, ROOT, call_process
from mbplugin.processes.foreign import LimitPassed

BAR = str(ASSETS / "four_bar.scene.toml")


def check_schema(found: object) -> None:
    schema = json.loads((ROOT / "docs" / "crosscheck.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(found, schema)


@pytest.mark.bullet
@pytest.mark.long
def test_a_cross_check_without_end_ends_with_its_time() -> None:
    """Half a second in steps of 1 ns is 5e8 steps, and eight times as many in the finest motion."""
    begun = time.monotonic()
    done = call_process("crosscheck", BAR, "--step", "1e-9", "--max-seconds", "2", "--output-format", "json")
    assert time.monotonic() - begun < 60
    assert done.code == 1 and done.err == "", done.err
    found = json.loads(done.out)
    check_schema(found)
    assert found["verdict"] == "not comparable"
    assert "PyBullet has not computed the motion within" in found["reason"]


@pytest.mark.bullet
@pytest.mark.long
def test_so_do_iterations_without_end() -> None:
    done = call_process("crosscheck", BAR, "--iterations", "2000000000", "--max-seconds", "2")
    assert done.code == 1 and "Traceback" not in done.err
    assert "PyBullet has not computed the motion within" in " ".join(done.out.split())


@pytest.mark.long
@pytest.mark.bullet
def test_no_time_is_refused() -> None:
    done = call_process("crosscheck", BAR, "--max-seconds", "0")
    assert done.code == 2 and "the time to compute is 0 s" in done.err


@pytest.mark.bullet
@pytest.mark.long
def test_what_was_computed_before_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The four motions at the coarsest steps are in time; the next one, at half the last step, is not."""
    from mbplugin.comparison import run as crosscheck_run

    whole = mb.crosscheck(mb.load(BAR), 0.5)
    computed = crosscheck_run.in_child

    def late(function: Any, task: Any, h: Any, refinements: Any, *rest: Any, **limits: Any) -> Any:
        if refinements == (16,):
            raise LimitPassed("PyBullet has not computed the motion within 1 s")
        return computed(function, task, h, refinements, *rest, **limits)

    monkeypatch.setattr(crosscheck_run, "in_child", late)
    cut = mb.crosscheck(mb.load(BAR), 0.5)
    assert cut.steps == (0.5 / 64, 0.5 / 128, 0.5 / 256, 0.5 / 512) and min(whole.steps) < min(cut.steps)
    assert any("smaller steps are not compared" in note for note in cut.notes)
    assert {row.quantity for row in whole.rows} == {row.quantity for row in cut.rows}
    kept = {(row.quantity, row.element): row.errors for row in cut.rows if row.errors}
    assert kept and all(len(errors) == 4 for errors in kept.values())
