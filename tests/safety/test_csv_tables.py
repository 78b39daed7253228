"""Tables as CSV: nothing is computed by a spreadsheet, and what spreadsheets write is read."""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

import mbplugin as mb
from command_line import ASSETS
from mbplugin.choices import decimal
from mbplugin.csv_tables import as_text, as_written, csv_text, read_csv
from mbplugin.errors import MbPluginError
from mbplugin.readers.xml import number
from mbplugin.stopping.calibration.measured import read_measured
from mbplugin.stopping.scenario.start import read_recording

EVIL = "=1+cmd|' /C calc'!A0"
#: What begins a formula, and what parts cells in one of the locales.
PIECES = st.lists(st.sampled_from([*"=+-@'\";,|\t\r\n #a1.＝", "0.5", "e"]), max_size=8).map("".join)
ROWS = [("j0", "0", "2.0", "0.5", "0.6"), ("j1", "0", "1.25", "0.35", "0.3")]
HEAD = ("joint", "category", "speed", "time", "distance")


def is_computed(cell: str) -> bool:
    bare = cell.lstrip(" ")
    # numbers side by side, where another separator parts them, name neither a function nor a program
    if re.fullmatch(r'[-+.,;|"\d\se]*', bare) or not bare.startswith(("=", "+", "-", "@", "＝")):
        return False
    return not re.fullmatch(r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?", bare)


@pytest.mark.long
@settings(max_examples=1000, deadline=None)
@given(PIECES)
def test_a_neutral_text_is_read_as_it_was(text: str) -> None:
    assert as_written(as_text(text)) == text


@pytest.mark.long
@settings(max_examples=1000, deadline=None)
@given(PIECES, PIECES)
@example("+0.5 ＝", "")
@example("-0.5 a", "")
def test_no_cell_is_computed_wherever_a_locale_parts_them(name: str, comment: str) -> None:
    text = csv_text(["joint", name], [[name, -0.5]], [comment])
    for delimiter in ",;\t|":
        cells = re.split(f"[{delimiter}\r\n]", text)
        assert not [cell for cell in cells if is_computed(cell.strip('" '))]


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(PIECES, st.floats(allow_nan=False, allow_infinity=False)), min_size=1, max_size=4))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, float]]
) -> None:
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    path.write_text(csv_text(["name", "value"], rows, ["about\nit"]), encoding="utf-8", newline="\n")
    table = read_csv(path)
    assert [cells[0] for _, cells in table.rows[1:]] == [name.strip() for name, _ in rows]
    assert [table.number(cells[1]) for _, cells in table.rows[1:]] == [value for _, value in rows]


def test_every_table_of_a_robot_with_such_names_is_text(tmp_path: Path) -> None:
    urdf = (ASSETS / "arm_6r.urdf").read_text().replace('"j1"', '"=1+cmd"').replace('"j2"', '"@a;=2+cmd"')
    (tmp_path / "arm.urdf").write_text(urdf)
    scene = mb.load(tmp_path / "arm.urdf", base="fixed")
    motion = mb.simulate(scene, 0.01)
    motion.save(tmp_path / "motion.csv", reactions=["=1+cmd"])
    mb.constraint_matrix(scene.mechanism).save(tmp_path / "matrix.csv")
    mb.reactions(scene).save(tmp_path / "reactions.csv")
    table = mb.stopping_table(scene, axes=["=1+cmd"], categories=[0])
    table.save(tmp_path / "table.csv")
    for name in ("motion", "matrix", "reactions", "table"):
        text = (tmp_path / f"{name}.csv").read_text()
        assert "=1+cmd" in text
        for delimiter in ",;\t":
            for row in csv.reader(io.StringIO(text), delimiter=delimiter):
                assert not [cell for cell in row if is_computed(cell)], name
    read = read_recording(tmp_path / "motion.csv", scene.mechanism.q_names)
    assert set(read.q) == set(scene.mechanism.q_names)
    assert read.q["=1+cmd"][-1] == motion.q[-1, scene.mechanism.q_names.index("=1+cmd")]


def written(separator: str, comma: bool, encoding: str, ending: str, trailing: bool, quoted: bool) -> bytes:
    rows = [HEAD, *([cell.replace(".", ",") if comma else cell for cell in row] for row in ROWS)]
    quote = '"' if quoted or (comma and separator == ",") else ""
    lines = (separator.join(f"{quote}{cell}{quote}" for cell in row) for row in rows)
    return "".join(f"{line}{separator if trailing else ''}{ending}" for line in lines).encode(encoding)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_what_spreadsheets_write_is_one_table(separator: str, encoding: str, tmp_path: Path) -> None:
    plain = tmp_path / "plain.csv"
    plain.write_bytes(written(",", False, "utf-8", "\n", False, False))
    other = tmp_path / "other.csv"
    expected = read_measured(plain).records
    for comma in (False, True):
        for ending in ("\n", "\r\n"):
            for trailing in (False, True):
                for quoted in (False, True):
                    other.write_bytes(written(separator, comma, encoding, ending, trailing, quoted))
                    assert read_measured(other).records == expected


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("joint,category,speed,time,distance\nj0,0,2,0.5,0.6".encode("utf-16-le"), "null characters"),
        ("joint,category,speed [°/s]\n".encode("cp1252"), "not text in UTF-8, from byte 23"),
        (b"joint;category;speed;time;distance\nj0;0;1,570;1,000;1,200\n", "speed is '1,570'"),
        (b"joint;category;speed;time;distance\nj0;0;1.5;0,5;1\n", "time is '0,5'"),
        (b'joint,category,speed,time,distance\nj0,0,2,0.5,"0.6\n', "cannot be read from line 2"),
        (b"", "the table is empty"),
    ],
)
def test_what_is_not_clear_is_refused(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(MbPluginError, match=said):
        read_measured(tmp_path / "t.csv")


@pytest.mark.parametrize("text", ["1_000", "٣", "0x10", "１", "nan", "inf", "-Infinity", "1e999"])
def test_what_python_alone_takes_for_a_number_is_none(text: str, tmp_path: Path) -> None:
    with pytest.raises(MbPluginError):
        number(text, "here", "mass")
    files = {
        "measured": f"joint,category,speed,time,distance\nj0,0,{text},0.5,0.6\n",
        "motion": f"time,j1\n0,0\n1,{text}\n",
    }
    for name, content in files.items():
        (tmp_path / f"{name}.csv").write_text(content, encoding="utf-8")
    with pytest.raises(MbPluginError):
        read_measured(tmp_path / "measured.csv")
    arm = mb.load(ASSETS / "arm_6r.urdf", base="fixed")
    with pytest.raises(MbPluginError):
        read_recording(tmp_path / "motion.csv", arm.mechanism.q_names)
    scene = '[[body]]\nname = "b"\n[[pair]]\nname = "j"\ntype = "revolute"\n'
    scene += 'body_a = "world"\nbody_b = "b"\nxyz_a = [0, 0, 0]\n'
    (tmp_path / "profile.csv").write_text(f"time,value\n0,0\n1,{text}\n", encoding="utf-8")
    (tmp_path / "x.scene.toml").write_text(scene + '[[driver]]\njoint = "j"\nfile = "profile.csv"\n')
    with pytest.raises(MbPluginError, match=r"number|finite"):
        mb.load(tmp_path / "x.scene.toml")
    urdf = (
        (ASSETS / "arm_6r.urdf")
        .read_text(encoding="utf-8")
        .replace('mass value="65"', f'mass value="{text}"')
    )
    (tmp_path / "arm.urdf").write_text(urdf, encoding="utf-8")
    with pytest.raises(MbPluginError):
        mb.load(tmp_path / "arm.urdf")


def test_decimal_reads_what_others_write() -> None:
    for value in (*np.random.default_rng(3).normal(size=100), 0.0, 1e-300, 5e300, -12.0):
        assert decimal(repr(float(value))) == value
