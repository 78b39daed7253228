"""What is stated once: the rows of a pair type are in its table, the default tolerance in its file."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from mbplugin.constraints import DEFAULT_SAMPLES, DEFAULT_TOLERANCE
from mbplugin.model.mechanism.pair import PAIR_TYPES, RowKind
from places import ROOT

#: Rooms that make or read the rows of pairs.
ROOMS = ("constraints", "dynamics/kernels", "joint_reactions", "simulation")
SPECIAL = {name for name, kind in PAIR_TYPES.items() if kind.kinds}


def named(text: str) -> set[str]:
    """Return the pair types with rows of their own that a module names in its code."""
    return {
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in SPECIAL
    }


@pytest.mark.parametrize("room", ROOMS)
def test_rows_come_from_the_table_of_pair_types(room: str) -> None:
    files: list[Path] = sorted((ROOT / "mbplugin" / room).rglob("*.py"))
    assert len(files) > 5
    assert not {file.name: found for file in files if (found := named(file.read_text(encoding="utf-8")))}


def test_a_name_in_code_is_seen() -> None:
    assert named('if pair.type == "universal":\n    pass\n') == {"universal"}


def test_every_component_with_a_row_of_its_own_is_one_of_the_pair() -> None:
    for kind in PAIR_TYPES.values():
        assert set(kind.kinds) <= {*kind.constrained, *kind.free}
        assert all(kind.row_kind(component) is RowKind.AXIS for component in kind.free if component[0] == "t")


T, POSES = DEFAULT_TOLERANCE, DEFAULT_SAMPLES
SPELLED = "|".join(
    re.escape(x) for x in sorted({repr(T), f"{T:g}", f"{T:.0e}", f"{T:.0e}".replace("e-0", "e-")})
)
#: The default rank tolerance, or the number of poses, where a text states it as the default.
STATED = re.compile(
    rf"(?:default|else|None is):?\W({SPELLED}|{POSES}[.\" ])|({SPELLED}) (?:by default|where)"
)
TEXTS = (*(ROOT / "mbplugin").rglob("*.py"), *(ROOT / "docs").glob("*.md"), ROOT / "README.md")


def test_the_default_tolerance_and_number_of_poses_stand_in_one_file() -> None:
    """A text takes them from there or names the place, so that no text is wrong once they change."""
    lines = [(file, line) for file in TEXTS for line in file.read_text("utf-8").splitlines()]
    assert not [(file.name, line) for file, line in lines if STATED.search(line)]


def test_a_stated_default_is_seen() -> None:
    for text in (f"the scene's, else {T:g}.", f"tolerance ({T:g} by default)", f"a pose; default {POSES}."):
        assert STATED.search(text)
    assert not STATED.search(f"p = 0 at a tolerance of 1e-7 and p = 4 at {T:g}.")
