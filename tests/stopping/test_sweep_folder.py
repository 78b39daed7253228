"""A sweep's folder in which files are cut, foreign or exchanged: the table is that of an undisturbed run."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
from command_line import ASSETS, ROOT, Outcome, call
from mbplugin.stopping.sweep import sweep_plan
from mbplugin.stopping.sweep.run import UnfitPart, numbers_of, read_part

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
pytest.importorskip("joblib")

ARM = """
body = [{ name = "upper", mass = 3.0, com = [0.25, 0, 0], inertia = [0.01, 0.06, 0.06] }]
pair = [{ name = "j0", type = "revolute", body_a = "world", body_b = "upper", xyz_a = [0, 0, 0] }]
brake = [{ joint = "j0", torque = 90.0 }]
state = { qd = { j0 = 1.0 } }
"""
#: Parts hold 1000 stops: 1000, 1000 and 100 of them.
STOPS, PARTS = 2100, 3


def part(folder: Path, number: int) -> Path:
    return folder / f"part-{number:06d}.parquet"


def command(scene: Path, out: Path, seed: int = 1) -> tuple[str, ...]:
    varied = ("--q-spread", "0.3", "--torque-tolerance", "0.2", "--seed", str(seed), "--jobs", "1")
    return ("sweep", str(scene), "--out", str(out), "--number", str(STOPS), *varied)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the scene, a finished sweep of it, and one with another seed."""
    folder = tmp_path_factory.mktemp("sweeps")
    (folder / "arm.scene.toml").write_text(ARM)
    for seed, name in ((1, "stops"), (2, "other")):
        outcome = call(*command(folder / "arm.scene.toml", folder / name, seed))
        assert outcome.code == 0 and outcome.err == "", outcome.err
    return folder


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    """A copy of it, to be damaged."""
    shutil.copytree(finished, tmp_path / "copy")
    return tmp_path / "copy"


def rows(folder: Path) -> list[dict[str, object]]:
    files = sorted(folder.glob("part-*.parquet"))
    return [row for file in files for row in pq.read_table(file).to_pylist()]


def in_process(*arguments: str, before: Callable[[], None] | None = None) -> Outcome:
    done = subprocess.run(
        [sys.executable, "-m", "mbplugin", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=ROOT,
        # where files stay small, some Pythons would keep the begin of a module as its bytecode
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        preexec_fn=before,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def cut(file: Path, other: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])


def empty(file: Path, other: Path) -> None:
    file.write_bytes(b"")


def rubbish(file: Path, other: Path) -> None:
    file.write_bytes(b"PAR1" + bytes(range(256)) * 40 + b"PAR1")


def foreign(file: Path, other: Path) -> None:
    pq.write_table(pa.table({"price": [1.0, 2.0]}), file)


def bare(file: Path, other: Path) -> None:
    """The right table without a word about what it is, as an earlier version wrote it."""
    pq.write_table(pq.read_table(file).replace_schema_metadata(None), file)


def neighbour(file: Path, other: Path) -> None:
    shutil.copy(part(file.parent, 0), file)


def of_another_sweep(file: Path, other: Path) -> None:
    shutil.copy(other / file.name, file)


def changed(file: Path, other: Path) -> None:
    """One time of one stop differs, and nothing else."""
    table = pq.read_table(file)
    column = table.column_names.index("time")
    times = table.column("time").to_pylist()
    times[7] *= 2
    pq.write_table(table.set_column(column, table.field(column), pa.array(times)), file)


def too_long(file: Path, other: Path) -> None:
    """Small in the file, a terabyte when it is read as it claims."""
    table = pq.read_table(file)
    longer = pa.concat_tables([table] * 400).replace_schema_metadata(table.schema.metadata)
    pq.write_table(longer, file)


WORDS = {
    cut: "it cannot be read",
    empty: "it cannot be read",
    rubbish: "it cannot be read",
    foreign: "it does not say which stops",
    bare: "it does not say which stops",
    neighbour: "it holds the stops 0 to 999",
    of_another_sweep: "it belongs to another sweep",
    changed: "its checksum does not fit",
    too_long: "it has other columns or rows",
}


@pytest.mark.parametrize("damage", WORDS, ids=lambda damage: damage.__name__)
def test_a_part_that_does_not_fit_is_named_and_computed_again(
    damage: Callable[[Path, Path], None], finished: Path, copy: Path
) -> None:
    damage(part(copy / "stops", 1), copy / "other")
    outcome = call(*command(copy / "arm.scene.toml", copy / "stops"), "--output-format", "json")
    assert outcome.code == 0
    assert outcome.err.count("\n") == 1
    assert f"part-000001.parquet was computed again: {WORDS[damage]}" in outcome.err
    assert rows(copy / "stops") == rows(finished / "stops")
    assert len({row["stop"] for row in rows(copy / "stops")}) == STOPS
    document = json.loads(outcome.out)
    assert document["stops"] == STOPS
    assert [file["file"] for file in document["replaced"]] == ["part-000001.parquet"]


def bits_of(file: Path) -> Iterator[bytes]:
    """Yield a file with one other bit: some of its data, more of its footer."""
    content = file.read_bytes()
    for k in (*range(0, len(content) - 1000, 499), *range(len(content) - 1000, len(content), 7)):
        yield content[:k] + bytes([content[k] ^ 1 << k % 8]) + content[k + 1 :]


def test_a_part_with_any_other_bit_is_none(finished: Path, copy: Path) -> None:
    """Also where its values are the same: other programs skip stops by the bounds in its footer."""
    folder = copy / "stops"
    scene = mb.load(finished / "arm.scene.toml")
    plan = sweep_plan(scene, STOPS, seed=1, q_spread=0.3, torque_tolerance=0.2)
    assert read_part(plan, 2, part(folder, 2)).equals(pq.read_table(part(finished / "stops", 2)))
    same = 0
    for content in bits_of(part(finished / "stops", 2)):
        part(folder, 2).write_bytes(content)
        with pytest.raises(UnfitPart):
            read_part(plan, 2, part(folder, 2))
        with contextlib.suppress(Exception):
            same += pq.read_table(part(folder, 2)).equals(pq.read_table(part(finished / "stops", 2)))
    # of most of the footer's bits, a reader says nothing
    assert same > 15


@pytest.mark.parametrize("lost", [("sweep.json",), ()], ids=["without a note", "with the note"])
def test_a_bit_beside_the_values_is_mended(lost: tuple[str, ...], finished: Path, copy: Path) -> None:
    content = bytearray(part(copy / "stops", 1).read_bytes())
    place = content.rindex(b"parquet-cpp-arrow")
    content[place] ^= 1
    part(copy / "stops", 1).write_bytes(content)
    for name in lost:
        (copy / "stops" / name).unlink()
    outcome = call(*command(copy / "arm.scene.toml", copy / "stops"))
    assert (
        outcome.code == 0
        and "part-000001.parquet was computed again: its checksum does not fit" in outcome.err
    )
    for file in (finished / "stops").iterdir():
        assert (copy / "stops" / file.name).read_bytes() == file.read_bytes()


def test_files_hold_fewer_stops_where_these_take_longer() -> None:
    """Those of an arm are computed together, those of a loop one by one."""
    scene = mb.load(ASSETS / "arm_6r.scene.toml")
    plans = [sweep_plan(scene, 2, category=category) for category in (0, 1, 2)]
    assert [plan.part for plan in plans] == [1000, 1000, 1000]
    assert sweep_plan(mb.load(ASSETS / "four_bar.scene.toml"), 2).part == 250


def test_a_note_with_another_number_is_written_again(finished: Path, copy: Path) -> None:
    note = copy / "stops" / "sweep.json"
    right = note.read_text()
    note.write_text(right.replace(f'"count": {STOPS}', '"count": 7'))
    assert note.read_text() != right
    outcome = call(*command(copy / "arm.scene.toml", copy / "stops"))
    assert (outcome.code, outcome.err) == (0, "mbplugin: sweep.json was computed again: it was changed.\n")
    assert note.read_text() == right


@pytest.mark.long
def test_parts_that_changed_places_are_both_computed_again(finished: Path, copy: Path) -> None:
    first, second = part(copy / "stops", 0), part(copy / "stops", 1)
    first.rename(copy / "aside")
    second.rename(first)
    (copy / "aside").rename(second)
    outcome = in_process(*command(copy / "arm.scene.toml", copy / "stops"))
    assert outcome.code == 0
    assert outcome.err.count("was computed again: it holds the stops") == 2
    assert rows(copy / "stops") == rows(finished / "stops")


@pytest.mark.parametrize(
    "note",
    [b"", b"{", b"[]", b"3", b"null", b'{"plan": 3}', b"[" * 4000, b"\xff\xfe\x00", b" " * 100_000],
)
def test_a_malformed_note_is_written_again(note: bytes, finished: Path, copy: Path) -> None:
    right = (copy / "stops" / "sweep.json").read_bytes()
    (copy / "stops" / "sweep.json").write_bytes(note)
    outcome = call(*command(copy / "arm.scene.toml", copy / "stops"))
    said = "mbplugin: sweep.json was computed again: it does not say which sweep this is.\n"
    assert (outcome.code, outcome.err) == (0, said)
    assert (copy / "stops" / "sweep.json").read_bytes() == right
    assert rows(copy / "stops") == rows(finished / "stops")


def test_a_missing_note_is_written_again(finished: Path, copy: Path) -> None:
    (copy / "stops" / "sweep.json").unlink()
    outcome = call(*command(copy / "arm.scene.toml", copy / "stops"))
    assert (outcome.code, outcome.err) == (0, "mbplugin: sweep.json was computed again: it was missing.\n")
    assert rows(copy / "stops") == rows(finished / "stops")


@pytest.mark.parametrize("note", ["{", None], ids=["damaged", "missing"])
def test_another_sweep_is_not_overwritten_because_its_note_is_gone(note: str | None, copy: Path) -> None:
    (copy / "stops" / "sweep.json").unlink()
    if note is not None:
        (copy / "stops" / "sweep.json").write_text(note)
    before = rows(copy / "stops")
    outcome = call(*command(copy / "arm.scene.toml", copy / "stops", seed=3))
    assert outcome.code == 2 and "the folder holds another sweep" in outcome.err
    assert rows(copy / "stops") == before


@pytest.mark.long
@pytest.mark.parametrize("name", ["sweep.json", "part-000001.parquet"])
def test_what_is_no_file_is_refused(name: str, copy: Path) -> None:
    """A folder in its place cannot be replaced; a pipe is never opened, or it would wait for ever."""
    (copy / "stops" / name).unlink()
    (copy / "stops" / name).mkdir()
    outcome = in_process(*command(copy / "arm.scene.toml", copy / "stops"))
    assert outcome.code == 2 and outcome.out == ""
    assert outcome.err.count("\n") == 1 and "Traceback" not in outcome.err
    (copy / "stops" / name).rmdir()
    os.mkfifo(copy / "stops" / name)
    assert in_process(*command(copy / "arm.scene.toml", copy / "stops")).code in (0, 2)


def little_room() -> None:
    """No file of this process can hold more than 2 kB: what a full disk does, done to one process."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))


@pytest.mark.long
@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_full_disk_is_one_sentence(jobs: str, finished: Path, tmp_path: Path) -> None:
    arguments = (*command(finished / "arm.scene.toml", tmp_path / "stops")[:-1], jobs)
    outcome = in_process(*arguments, before=little_room)
    assert outcome.code == 2 and outcome.out == ""
    lines = [line for line in outcome.err.splitlines() if "machine code" not in line]
    assert len(lines) == 1 and "a part of the sweep cannot be written (file too large)" in lines[0]
    assert not list((tmp_path / "stops").glob("*part-*"))


def test_numbers_of_a_column_in_pieces_are_those_that_were_put_in() -> None:
    pieces = [pa.array([9.0, 1.0, 2.5]).slice(1), pa.array([-4.0])]
    assert numbers_of(pa.chunked_array(pieces)).tolist() == [1.0, 2.5, -4.0]
    assert numbers_of(pa.chunked_array([pa.array([7, 8])])).tolist() == [7, 8]
    assert np.isnan(numbers_of(pa.chunked_array([pa.array([None, 1.0])]))).tolist() == [True, False]


@pytest.mark.long
def test_a_sweep_waits_for_no_table_or_statistics_library(tmp_path: Path) -> None:
    """Each process would import them, which takes as long as a thousand stops."""
    (tmp_path / "arm.scene.toml").write_text(ARM)
    program = (
        "import sys; import mbplugin as mb\n"
        f"mb.sweep({str(tmp_path / 'arm.scene.toml')!r}, {str(tmp_path / 'out')!r}, 3, jobs=1)\n"
        "late = ('pandas', 'scipy.stats', 'scipy.interpolate')\n"
        "print([name for name in late if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "[]\n", "")


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="counts the threads in /proc")
def test_reading_of_parquet_leaves_no_thread(tmp_path: Path) -> None:
    """A thread of Arrow that holds bytes of Python when the interpreter ends aborts the process, now and then."""
    (tmp_path / "arm.scene.toml").write_text(ARM)
    scene, folder, motion = (str(tmp_path / name) for name in ("arm.scene.toml", "out", "motion.parquet"))
    program = (
        "import os, numpy, scipy.linalg, joblib, pyarrow as pa, pyarrow.parquet\n"
        "import mbplugin as mb\n"
        "from mbplugin.readers.motions import read_motion\n"
        "before = set(os.listdir('/proc/self/task'))\n"
        f"mb.sweep({scene!r}, {folder!r}, 3, jobs=1)\n"
        f"mb.sweep({scene!r}, {folder!r}, 3, jobs=1)\n"
        "columns = ['time [s]', 'q j0 [rad]', 'qd j0 [rad/s]', 'qdd j0 [rad/s²]']\n"
        f"pa.parquet.write_table(pa.table({{name: [0.0, 0.1] for name in columns}}), {motion!r})\n"
        f"read = read_motion({motion!r}, mb.load({scene!r}).mechanism)\n"
        "print(len(read.time), len(set(os.listdir('/proc/self/task')) - before))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "2 0\n", "")
