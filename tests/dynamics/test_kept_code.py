"""Machine code kept on disk: damaged, planted or without room, it changes no result and runs nothing."""

from __future__ import annotations

import hashlib
import os
import pickle
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import FOUR_BAR, ROOT, Outcome
from mbplugin.dynamics import compiler as jit
from mbplugin.dynamics.compiler import cache_folder

#: Two compiled functions of one signature: the machine code of one in the place of the other would show.
PROGRAM = """
from mbplugin.dynamics.compiler import kernel

@kernel
def twice(number):
    return 2 * number

@kernel
def thrice(number):
    return 3 * number

print(twice(21), thrice(21))
"""


def python(*arguments: str, folder: Path, before: Callable[[], None] | None = None, **more: str) -> Outcome:
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
        cwd=folder,
        preexec_fn=before,
        env={**os.environ, "PYTHONPATH": str(ROOT), **more},
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "home").mkdir()
    return tmp_path


def computed(folder: Path, **more: str) -> str:
    """Run the program, whose results are always right, and return what it says on stderr."""
    outcome = python("program.py", folder=folder, **({"XDG_CACHE_HOME": str(folder / "cache")} | more))
    assert (outcome.code, outcome.out) == (0, "42 63\n"), outcome.err
    assert "Traceback" not in outcome.err
    return outcome.err


def kept(folder: Path) -> dict[Path, bytes]:
    files = sorted(file for file in (folder / "cache").rglob("*") if file.is_file())
    return {file: file.read_bytes() for file in files}


def flipped(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.long
@pytest.mark.parametrize(
    "damage",
    [lambda c: b"", lambda c: c[: len(c) // 2], lambda c: c[:10], flipped, lambda c: b"\x80" * len(c)],
    ids=["empty", "half", "ten bytes", "one bit", "rubbish"],
)
def test_a_damaged_file_is_removed_and_compiled_anew(damage: Callable[[bytes], bytes], folder: Path) -> None:
    assert computed(folder) == ""
    files = kept(folder)
    assert files
    for file, content in files.items():
        file.write_bytes(damage(content))
    lines = computed(folder).splitlines()
    assert len(lines) == len(files)
    assert all(line.startswith("mbplugin: cached machine code is damaged (") for line in lines)
    assert {line.rpartition(": ")[2].rstrip(".") for line in lines} == set(map(str, files))
    assert computed(folder) == ""
    assert set(kept(folder)) == set(files)


def planted(file: Path, mark: Path) -> bytes:
    """Return the content of a file whose checksum fits, and which makes a folder where it is read."""
    body = pickle.dumps(Payload(mark))
    return b"mbplugin machine code 2\n" + hashlib.sha256(file.name.encode() + b"\0" + body).digest() + body


@pytest.mark.long
@pytest.mark.parametrize(
    ("whose", "reason"),
    [
        ("foreign", "it belongs to somebody else"),
        ("world-writable", "it can be written by others"),
        ("group-writable", "it can be written by others"),
        ("link", "it is a link"),
        ("pipe", "it is not a file"),
    ],
)
def test_a_file_that_others_may_have_written_is_not_read(whose: str, reason: str, folder: Path) -> None:
    """Its checksum fits, and its code would run: only whose it is speaks against it."""
    if whose == "foreign" and os.getuid() != 0:
        pytest.skip("only root can give a file away")
    computed(folder)
    files = [*kept(folder)]
    assert len(files) == 2 and all(file.suffix == ".code" for file in files)
    mark = folder / "mark"
    for file in files:
        file.write_bytes(planted(file, mark))
        if whose == "foreign":
            os.chown(file, 12345, 12345)
        elif whose == "link":
            file.rename(folder / file.name)
            file.symlink_to(folder / file.name)
        elif whose == "pipe":
            file.unlink()
            os.mkfifo(file)
        else:
            file.chmod(0o602 if whose == "world-writable" else 0o620)
    lines = computed(folder).splitlines()
    assert not mark.exists()
    assert sorted(lines) == [
        f"mbplugin: cached machine code is damaged ({reason}) and is compiled again: {file}."
        for file in files
    ]
    assert computed(folder) == ""
    assert {*kept(folder)} == {*files} and all(file.stat().st_mode & 0o777 == 0o600 for file in files)


#: A process that is killed where its first code is written and has no name yet, or where it has one.
KILLED = """
import os, signal
named = os.replace
def killed(*names):
    if {after}:
        named(*names)
    os.kill(os.getpid(), signal.SIGKILL)
os.replace = killed
"""


@pytest.mark.long
@pytest.mark.parametrize("after", [False, True], ids=["before its name", "after its name"])
def test_a_kill_during_a_compilation_leaves_whole_files_or_none(after: bool, folder: Path) -> None:
    (folder / "killed.py").write_text(KILLED.format(after=after) + PROGRAM)
    cache = {"XDG_CACHE_HOME": str(folder / "cache")}
    assert python("killed.py", folder=folder, **cache) == Outcome(-9, "", "")
    codes = [file for file in kept(folder) if file.suffix == ".code"]
    assert len(codes) == (1 if after else 0)
    # what is there is whole: the same program goes on with it in silence, and compiles the rest
    (folder / "killed.py").write_text(PROGRAM)
    assert python("killed.py", folder=folder, **cache) == Outcome(0, "42 63\n", "")
    assert {*codes} <= {*kept(folder)}


#: Waits until all processes are there, so that they compile at once.
AT_ONCE = """
import os, time
from pathlib import Path
import mbplugin.dynamics.compiler
Path(f"ready-{os.getpid()}").touch()
while not Path("go").exists():
    time.sleep(0.001)
"""


@pytest.mark.long
def test_processes_on_one_cache_disturb_each_other_nowhere(folder: Path) -> None:
    (folder / "program.py").write_text(AT_ONCE + PROGRAM)
    command = [sys.executable, "program.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(folder / "cache")}
    both = [
        subprocess.Popen(
            command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(3)
    ]
    until = time.monotonic() + 120
    while len([*folder.glob("ready-*")]) < len(both) and time.monotonic() < until:
        time.sleep(0.01)
    (folder / "go").touch()
    outcomes = [(*process.communicate(timeout=240), process.returncode) for process in both]
    assert outcomes == [("42 63\n", "", 0)] * len(both)
    files = kept(folder)
    assert len(files) == 2 and all(file.suffix == ".code" for file in files)
    times = {file: file.stat().st_mtime_ns for file in files}
    # the next one takes what is there
    assert computed(folder) == ""
    assert {file: file.stat().st_mtime_ns for file in kept(folder)} == times


@pytest.mark.long
def test_the_file_of_another_function_is_not_read(folder: Path) -> None:
    computed(folder)
    (first, content), (second, other) = kept(folder).items()
    first.write_bytes(other)
    second.write_bytes(content)
    assert computed(folder).count("its checksum does not fit") == 2
    assert computed(folder) == ""


def no_room() -> None:
    """No file of this process can hold a byte: what a full disk does, done to one process."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


@pytest.mark.long
def test_a_full_disk_keeps_nothing_and_computes(folder: Path) -> None:
    outcome = python("-B", "program.py", folder=folder, before=no_room, XDG_CACHE_HOME=str(folder / "cache"))
    assert (outcome.code, outcome.out) == (0, "42 63\n"), outcome.err
    assert outcome.err.count("\n") == 1 and "machine code is not cached" in outcome.err
    assert kept(folder) == {}
    assert computed(folder) == ""


@pytest.mark.long
def test_a_relative_folder_is_ignored(folder: Path) -> None:
    """As the XDG specification says; and numba's configuration in the working folder leads nowhere."""
    (folder / ".numba_config.yaml").write_text("cache_dir: planted\n")
    assert computed(folder, XDG_CACHE_HOME="cache", HOME=str(folder / "home")) == ""
    assert sorted(file.name for file in folder.iterdir()) == [".numba_config.yaml", "home", "program.py"]
    assert any(file.suffix == ".code" for file in (folder / "home" / ".cache").rglob("*"))


#: A kernel that calls another, twice with numbers that it states; the files of the other say what they are worth.
CALLS = """
import sys
from mbplugin.dynamics.compiler import compiled, kernel
from numba import types

@kernel
def part(number, share):
    return number * share

@kernel
def whole(number):
    return part(number, 2) + part(number, 3)

def entry(number):
    return whole(number)

def other(number):
    return whole(number) + 1.0

integer = types.int64(types.int64)
made = compiled(entry if sys.argv[1] == "entry" else other, integer)
print(made(7), len(part.overloads), sum(whole._cache_hits.values()), sum(part._cache_misses.values()))
"""


@pytest.mark.long
def test_another_entry_reads_the_kernels_below_it(tmp_path: Path) -> None:
    """One translation of each serves both entries; a kernel whose callee is damaged is translated anew."""
    (tmp_path / "program.py").write_text(CALLS)

    def run(entry: str) -> Outcome:
        return python("program.py", entry, folder=tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache"))

    assert run("entry") == Outcome(0, "35 1 0 1\n", "")
    # an entry that is kept needs no kernel
    assert run("entry") == Outcome(0, "35 0 0 0\n", "")
    assert run("other") == Outcome(0, "36 1 1 0\n", "")
    for file in (tmp_path / "cache").rglob("*"):
        if file.name.startswith("__main__.part") or "other" in file.name:
            file.write_bytes(b"")
    again = run("other")
    assert (again.code, again.out.split()[0]) == (0, "36")
    assert again.err.count("is damaged") == 2
    assert run("other") == Outcome(0, "36 0 0 0\n", "")


class Payload:
    """Pickled code: it makes a file when it is read."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> object:
        return os.mkdir, (str(self.mark),)


@pytest.mark.long
@pytest.mark.parametrize("other", ["writable", "foreign", "link"])
def test_a_folder_that_others_may_write_into_is_not_used(other: str, folder: Path) -> None:
    computed(folder)
    mark = folder / "mark"
    for file in kept(folder):
        file.write_bytes(planted(file, mark))
    (code,) = (folder / "cache" / "mbplugin").iterdir()
    if other == "writable":
        code.chmod(0o770)
    elif other == "link":
        code.rename(folder / "elsewhere")
        code.symlink_to(folder / "elsewhere")
    else:
        if os.getuid() != 0:
            pytest.skip("only root can give a folder away")
        os.chown(code, 12345, 12345)
    said = computed(folder)
    assert not mark.exists()
    assert said.count("\n") == 1
    words = {"writable": "can be written by others", "foreign": "belongs to somebody else"}
    assert words.get(other, "is not a folder") in said


@pytest.mark.long
def test_in_a_folder_of_ones_own_such_code_would_run(folder: Path) -> None:
    """Or the test before would show nothing."""
    computed(folder)
    first = next(iter(kept(folder)))
    first.write_bytes(planted(first, folder / "mark"))
    assert "damaged" in computed(folder)
    assert (folder / "mark").exists()


def without_clock(text: str) -> object:
    """Return a document but for how long it took."""
    return [line for line in text.splitlines() if '"seconds"' not in line]


@pytest.mark.long
def test_a_simulation_with_damaged_code_prints_the_same(tmp_path: Path) -> None:
    command = ("-m", "mbplugin", "simulate", FOUR_BAR, "--duration", "0.05", "--output-format", "json")
    undisturbed = python(*command, folder=tmp_path)
    assert undisturbed.code == 0, undisturbed.err
    own = cache_folder()
    assert own is not None
    shutil.copytree(own, tmp_path / "cache" / "mbplugin" / own.name)
    # a folder that several Pythons use has one for each
    for cut in (tmp_path / "cache").rglob("*explicit_loop.advance_explicit-*.entry.code"):
        cut.write_bytes(b"")
    again = python(*command, folder=tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert again.code == 0 and without_clock(again.out) == without_clock(undisturbed.out)
    assert again.err.count("\n") == 1 and "damaged" in again.err


@pytest.mark.parametrize(
    ("file", "before", "after"),
    [
        (
            "dynamics/kernels/rows.py",
            "TILT, ALL_TURNS, MEASURED = 0, 1, 2",
            "TILT, ALL_TURNS, MEASURED = 0, 2, 1",
        ),
        ("model/mechanism/pair.py", "class RowKind(Enum):\n", 'class RowKind(Enum):\n    FIRST = "first"\n'),
        ("model/brake_law.py", "return law.viscous * rate", "return 2 * law.viscous * rate"),
        ("dynamics/kernels/__init__.py", "c * a + s * b, c * b - s * a", "c * a - s * b, c * b + s * a"),
    ],
)
def test_constants_of_other_files_are_part_of_the_code(
    tmp_path: Path, file: str, before: str, after: str
) -> None:
    package = Path(jit.__file__).resolve().parents[2]
    copy = tmp_path / "mbplugin"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    assert jit.state_of_sources(copy) == jit.state_of_sources(package)
    text = (copy / file).read_text(encoding="utf-8")
    assert text.count(before) == 1
    (copy / file).write_text(text.replace(before, after), encoding="utf-8")
    assert jit.state_of_sources(copy) != jit.state_of_sources(package)
