"""Walls around processes that work on a stranger's file: whatever runs in them can do nothing.

Plain Python tries each forbidden thing in a child; the same code in a child without walls shows that it would work.
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

import forbidden
from mbplugin.errors import BrokenModel
from mbplugin.processes import foreign
from mbplugin.processes.foreign import Limits, in_own_child, walls_here
from mbplugin.processes.walls import Raised, Walls

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the walls are those of Linux")

LIMITS = Limits(seconds=30.0, cpu=10, memory=1 << 30)
COMPUTES, ENGINE = Walls(reads=False), Walls()
#: What a kernel may be built or set up not to do, with a wall or without.
NOT_EVERYWHERE = {
    "ring",
    "program_of_the_kernel",
    "namespaces",
    "mounted",
    "root_folder",
    "nameless",
    "traced",
}
FORBIDDEN = (
    *((one.__name__, "made") for one in forbidden.TO_BE_MADE),
    *((one.__name__, "there") for one in forbidden.THERE),
    *((one.__name__, "process") for one in forbidden.OF_A_PROCESS),
    *((one.__name__, "port") for one in forbidden.TO_A_PORT),
)
ENGINES_OWN = tuple((one.__name__, "there") for one in forbidden.OF_ENGINES)


@dataclass(frozen=True)
class Outside:
    """What is there to be attacked; each attribute as the text that an attempt is given."""

    folder: Path
    process: str
    port: str

    def target(self, kind: str) -> str:
        if kind == "made":
            return str(self.folder / "mark")
        if kind == "there":
            (self.folder / "file").write_text("content")
            return str(self.folder / "file")
        return self.process if kind == "process" else self.port


@pytest.fixture
def outside(tmp_path: Path) -> Iterator[Outside]:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        with socket.create_server(("127.0.0.1", 0)) as server:
            yield Outside(tmp_path, str(process.pid), str(server.getsockname()[1]))
        process.kill()


def tried(name: str, target: str, walls: Walls | None) -> str:
    # what is trusted may write
    limits = LIMITS if walls else replace(LIMITS, written=1 << 20)
    try:
        return in_own_child("test", limits, "f", dict(os.environ), forbidden.tried, name, target, walls=walls)
    except BrokenModel as error:
        # another program has taken the place of the process
        return f"done: {error}"


def test_all_walls_hold_on_this_system() -> None:
    """Where one does not, the other tests would have to say so: this one is for whoever reads their results."""
    here = walls_here()
    assert here == Raised(limits=True, privileges=True, filter=here.filter, landlock=here.landlock)
    assert here.filter or here.landlock, "a Linux with neither is not one on which files of others are read"


@pytest.mark.long
@pytest.mark.parametrize("walls", [COMPUTES, ENGINE], ids=["computes", "engine"])
@pytest.mark.parametrize(("name", "kind"), FORBIDDEN, ids=[name for name, _ in FORBIDDEN])
def test_a_forbidden_thing_is_refused(name: str, kind: str, walls: Walls, outside: Outside) -> None:
    target = outside.target(kind)
    before = {path: path.stat().st_ctime_ns for path in outside.folder.iterdir()}
    assert tried(name, target, walls).startswith("refused")
    assert {path: path.stat().st_ctime_ns for path in outside.folder.iterdir()} == before


@pytest.mark.long
@pytest.mark.parametrize(("name", "kind"), ENGINES_OWN, ids=[name for name, _ in ENGINES_OWN])
def test_what_only_computes_opens_nothing_and_an_engine_reads(name: str, kind: str, outside: Outside) -> None:
    assert tried(name, outside.target(kind), COMPUTES).startswith("refused")
    assert tried(name, outside.target(kind), ENGINE) == "done"


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "kind"),
    # a limit that nobody has set is not raised
    [(n, k) for n, k in (*FORBIDDEN, *ENGINES_OWN) if n not in ("raised_size", "raised_processes")],
)
def test_without_walls_it_would_be_done(name: str, kind: str, outside: Outside) -> None:
    """Or the tests above would show nothing."""
    outcome = tried(name, outside.target(kind), None)
    if name in NOT_EVERYWHERE and not outcome.startswith("done"):
        pytest.skip(f"not allowed on this machine either: {outcome}")
    assert outcome.startswith("done")


def test_limits_are_for_good() -> None:
    """Without walls the soft limit of files can be raised again."""
    unlimited = in_own_child("test", LIMITS, "f", {}, forbidden.tried, "raised_size", "", walls=None)
    assert unlimited == "done"


@pytest.mark.parametrize(
    "file", ["/etc/hostname", "/etc/passwd", "/proc/self/environ", "/proc/{}/environ", "/dev/null"]
)
def test_what_only_computes_reads_no_file_of_the_system(file: str) -> None:
    assert tried("read", file.format(os.getppid()), COMPUTES).startswith("refused")


def test_an_engine_does_not_read_the_environment_of_an_ancestor() -> None:
    """No filter sees a name: Landlock keeps other processes from it."""
    if not walls_here().landlock:
        pytest.skip("this kernel has no Landlock")
    assert tried("environment", str(os.getpid()), ENGINE).startswith("refused")
    assert tried("environment", str(os.getpid()), None) == "done"


@pytest.mark.parametrize("walls", [COMPUTES, ENGINE, None], ids=["computes", "engine", "none"])
def test_only_its_own_pipes_are_open(walls: Walls | None) -> None:
    with tempfile.TemporaryFile() as file:
        os.set_inheritable(file.fileno(), True)
        assert len(in_own_child("test", LIMITS, "f", {}, forbidden.descriptors, walls=walls)) == 4


def test_its_environment_is_what_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "told")
    names = in_own_child(
        "test", LIMITS, "f", {"ROS_DISTRO": "x"}, forbidden.names_of_variables, walls=COMPUTES
    )
    assert "SECRET" not in names
    # Python itself adds the coding of its texts
    assert set(names) - {"LC_CTYPE"} == {"ROS_DISTRO"}


def test_it_stands_in_an_empty_folder_that_nobody_has_to_remove(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.chdir(tmp_path)
    before = set(Path(tempfile.gettempdir()).glob("tmp*"))
    with pytest.raises(RuntimeError, match="FileNotFoundError"):
        in_own_child("test", LIMITS, "f", {}, os.getcwd, walls=COMPUTES)
    with pytest.raises(BrokenModel, match="SIGKILL"):
        in_own_child("test", LIMITS, "f", {}, signal.raise_signal, signal.SIGKILL, walls=COMPUTES)
    assert set(Path(tempfile.gettempdir()).glob("tmp*")) <= before
    assert list(tmp_path.iterdir()) == []


def test_an_engine_that_writes_has_a_folder_which_is_removed(tmp_path: Path) -> None:
    writing = Limits(seconds=30.0, cpu=10, memory=1 << 30, written=1 << 20)
    made = Path(in_own_child("test", writing, "f", {}, tempfile.mkdtemp))
    assert made.parent.name.startswith("mbplugin-") and not made.parent.exists()
    outcome = in_own_child("test", writing, "f", {}, forbidden.tried, "written", str(tmp_path / "mark"))
    if walls_here().landlock:
        assert outcome.startswith("refused") and not (tmp_path / "mark").exists()
    outcome = in_own_child("test", writing, "f", {}, forbidden.tried, "program", str(tmp_path / "mark"))
    assert outcome.startswith("refused") and not (tmp_path / "mark").exists()


def test_an_answer_is_data(tmp_path: Path) -> None:
    """A process over which a file has won would otherwise reach its parent through what it answers."""
    mark = tmp_path / "mark"
    with pytest.raises(BrokenModel, match=r"an answer that is none \(posix\.mkdir is not data\)"):
        in_own_child("test", LIMITS, "f", {}, forbidden.hostile_answer, str(mark), walls=COMPUTES)
    assert not mark.exists()
    with pytest.raises(BrokenModel, match="ended by"):
        in_own_child("test", LIMITS, "f", {}, forbidden.loud, walls=COMPUTES)


@pytest.mark.parametrize("question", ["_hidden", "__init__", "other"])
def test_a_parent_answers_with_its_public_methods_alone(question: str) -> None:
    class Serves:
        def shown(self, text: str) -> str:
            return text.upper()

        def _hidden(self, text: str) -> str:
            return text

    assert foreign._served(Serves(), ("shown", ("a",))) == ("value", "A")
    kind, _ = foreign._served(Serves(), (question, ("a",)))
    assert kind == "raise"
    assert foreign._served(None, ("shown", ("a",)))[0] == "raise"
    assert foreign._served(Serves(), ("shown", (os,)))[0] == "raise"
