"""The same input gives the same bytes in another process, with another order of sets, and on more cores.

But for ``seconds``: how long a computation took.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from command_line import SAMPLE, call
from places import TESTS

SEED = 20261126
#: What a run says whose time was used up: how far it came depends on the speed of the machine.
CUT_SHORT = ("budget spent", "budget_spent", "max-seconds")


@pytest.mark.long
@pytest.mark.parametrize("number", [12, pytest.param(60, marks=pytest.mark.long)])
def test_structured_cases_say_and_write_the_same_under_another_hash_seed(tmp_path: Path, number: int) -> None:
    """Command lines about made-up models, in two processes whose sets and dictionaries are ordered differently."""
    first, second = (repeated(tmp_path / "here", seed, range(number)) for seed in ("1", "2"))
    assert len(first) == len(second) == number
    whole = [k for k in range(number) if not cut_short(first[k], second[k])]
    assert len(whole) >= 5 / 6 * number
    assert sum(bool(one["out"]) for one in first) >= number / 6
    for k in whole:
        assert first[k] == second[k], " ".join(first[k]["words"])


@pytest.mark.long
@pytest.mark.parametrize("start", range(100, 700, 100))
def test_many_structured_cases_say_and_write_the_same(tmp_path: Path, start: int) -> None:
    first, second = (repeated(tmp_path / "here", seed, range(start, start + 100)) for seed in ("3", "4"))
    assert len(first) == len(second) == 100
    for one, other in zip(first, second, strict=True):
        if not cut_short(one, other):
            assert one == other, " ".join(one["words"])


@pytest.mark.long
@pytest.mark.parametrize("kind", ["text", "json", "sarif", "github", "junit", "html"])
def test_a_folder_is_linted_to_the_same_bytes_on_two_cores(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")
    one, two = (call("lint", str(SAMPLE), "--jobs", jobs, "--output-format", kind) for jobs in ("1", "2"))
    assert one.code == two.code and one.err == two.err
    assert one.out.replace("--jobs 1", "--jobs 2") == two.out
    assert len(one.out) > 500


def cut_short(*runs: dict[str, Any]) -> bool:
    """Return whether one of some runs of a case ended because its time was used up."""
    # a record quotes the command, with the limit
    said = (re.sub(r"--max-seconds [\d.e+-]+", "", run["out"] + run["err"]) for run in runs)
    return any(word in text for text in said for word in CUT_SHORT)


def repeated(place: Path, hash_seed: str, numbers: range) -> list[dict[str, Any]]:
    """Return what cases say and write in a process of its own, each in a folder under ``place``, emptied after."""
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "SOURCE_DATE_EPOCH": "1700000000"}
    script = str(TESTS / "support" / "repeated_runs.py")
    done = subprocess.run(
        [sys.executable, script, str(SEED), str(place), *map(str, numbers)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    place.rename(place.with_name(f"of seed {hash_seed}"))
    return [json.loads(line) for line in done.stdout.splitlines()]
