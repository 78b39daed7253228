"""Names of rows and holders: what is written is read again, whatever joints are called."""

from __future__ import annotations

import re
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mbplugin as mb
from mbplugin.model.mechanism import Lock
from mbplugin.model.mechanism.identity import (
    Holder,
    HolderKind,
    RowLabel,
    freedom_held,
    freedom_name,
    freedom_of,
    lock_label,
    pair_and_freedom,
)
from places import ASSETS, ROOT

KINDS = get_args(HolderKind)
#: Joints may have points and spaces in their names, and begin as a holder does.
NAMES = st.text(min_size=1, alphabet="abz ._é/") | st.sampled_from(("lock j", "brake", "j.rz", "a b"))


@given(st.sampled_from(KINDS), NAMES)
def test_a_holder_is_read_as_it_was_written(kind: HolderKind, joint: str) -> None:
    assert Holder.of(str(Holder(kind, joint))) == (kind, joint)


@pytest.mark.parametrize("name", ["j2", "lock", "lock ", "plane", "locks j", "Lock j", ""])
def test_other_constraints_are_no_holders(name: str) -> None:
    assert Holder.of(name) is None
    with pytest.raises(ValueError, match="holds no joint"):
        freedom_held(RowLabel(name, "rz"))


@given(NAMES, st.sampled_from(("rz", "tx")))
def test_a_lock_and_its_row_have_one_name(joint: str, freedom: str) -> None:
    label = lock_label(joint, freedom)
    assert label.constraint == Lock(joint).name and label.of_lock
    assert freedom_held(label) == (joint, freedom)
    assert label == (f"lock {joint}", f"{freedom}_lock"), "documents have these texts"


@given(NAMES, st.sampled_from(("rz", "tx", "wx")), st.sets(NAMES))
def test_a_freedom_is_found_behind_the_last_point(pair: str, freedom: str, others: set[str]) -> None:
    name = freedom_name(pair, freedom)
    assert pair_and_freedom(name, {pair, *others} - {name}) == (pair, freedom)
    assert pair_and_freedom(pair, {pair}) == (pair, "")
    assert freedom_name(pair, freedom, 1) == pair


def test_components_of_other_rows_stay() -> None:
    assert [freedom_of(c) for c in ("rz_lock", "tx_drive", "ty", "normal")] == ["rz", "tx", "ty", "normal"]


def test_rows_of_every_layer_have_identities() -> None:
    scene = mb.load(ASSETS / "four_bar.scene.toml")
    rows = mb.constraint_matrix(scene).rows
    assert all(isinstance(label, RowLabel) for label in rows)
    assert str(rows[0]) == f"{rows[0][0]} {rows[0][1]}" and rows[0].dotted == ".".join(rows[0])
    assert np.unique([str(label) for label in rows]).size == len(rows)


#: Text that takes the names apart or puts them together anywhere else.
SURGERY = re.compile(
    r"\"(?:lock|brake|friction|drive) \"|f\"(?:lock|brake|friction|drive) \{"
    r"|partition\(\" \"\)\[2\]|(?:suffix|with)\(\"_(?:lock|drive)\"\)|\}_(?:lock|drive)\""
)
ROOMS = ("analysis", "bullet", "constraints", "dynamics", "joint_reactions", "model", "readers", "report")
ROOMS += ("simulation", "studies", "visualization", "linter", "comparison")


@pytest.mark.parametrize("room", ROOMS)
def test_names_are_written_and_read_in_one_file(room: str) -> None:
    files = (ROOT / "mbplugin" / room).rglob("*.py")
    texts = {file.name: file.read_text("utf-8") for file in files if file.name != "identity.py"}
    assert texts and not [name for name, text in texts.items() if SURGERY.search(text)]


def test_string_surgery_is_seen() -> None:
    for text in (
        'f"lock {joint}"',
        'name.removeprefix("lock ")',
        'f"{freedom}_lock"',
        'name.partition(" ")[2]',
    ):
        assert SURGERY.search(text)
