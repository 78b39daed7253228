"""What is stated once: which rows a pair type has is read from its table, not from its name."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

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
