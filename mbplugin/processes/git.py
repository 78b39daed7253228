"""Git repositories, read as data: no hook, filter, text conversion, pager, prompt or network access runs.

Only plumbing is called. Names of revisions reach git on its stdin, so that none can be taken for an option.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO

from mbplugin.errors import BadUsage, UnreadableFile
from mbplugin.files import LONGEST
from mbplugin.phrases import cut_short

#: Most files and bytes of a tree that is written out, and most bytes of its listing.
MOST_FILES, MOST_BYTES, _MOST_LISTED = 100_000, 2_000_000_000, 100_000_000
#: Time limit of one call of git, s.
_SECONDS = 300.0
#: Settings that would run programs or reach the network; they take precedence over those of the repository.
_SETTINGS = (
    *("core.hooksPath=/dev/null", "core.fsmonitor=false", "protocol.allow=never", "core.pager=cat"),
    *("safe.bareRepository=explicit", "submodule.recurse=false", "core.quotePath=false"),
)
_VARIABLES = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "LC_ALL": "C",
}
_FILES, _LINK, _SUBMODULE = ("100644", "100755"), "120000", "160000"
_HUNK = re.compile(rb"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")
#: Longest target of a symbolic link, bytes.
_LONGEST_TARGET = 4096


@dataclass(frozen=True)
class Entry:
    """A file of a tree: its mode, object, size in bytes, and path relative to the root with forward slashes."""

    mode: str
    blob: str
    size: int
    path: str


@dataclass(frozen=True)
class Repository:
    """A git repository.

    Parameters
    ----------
    folder : Path
        The folder in which git is called.
    top : Path, optional
        The root of the working tree; None of a bare repository.
    prefix : str
        ``folder`` relative to the root, with a slash at the end; empty for the root.
    program : str
        The git program.
    """

    folder: Path
    top: Path | None
    prefix: str
    program: str

    def tree(self, revision: str) -> str | None:
        """Return the object name of the tree of a revision; None if there is no such revision."""
        return self._resolved(revision, "tree")

    def commit(self, revision: str) -> str | None:
        """Return the object name of the commit of a revision; None if there is no such revision."""
        return self._resolved(revision, "commit")

    def _resolved(self, revision: str, kind: str) -> str | None:
        if not revision or not revision.isprintable():
            return None
        request = f"{revision}^{{{kind}}}\n".encode(errors="surrogateescape")
        answer = self.run("cat-file", "--batch-check", stdin=request).split()
        return answer[0].decode() if answer[1:2] == [kind.encode()] else None

    def entries(self, tree: str) -> list[Entry]:
        """Return the files of a tree.

        Raises
        ------
        BadUsage
            There are more of them, or they are larger, than a comparison may write out.
        """
        entries = _entries(self.run("ls-tree", "-r", "-z", "-l", "--full-tree", tree))
        total = sum(entry.size for entry in entries if entry.size <= LONGEST)
        if len(entries) > MOST_FILES or total > MOST_BYTES:
            raise BadUsage(
                f"the revision has {len(entries)} files with {total // 10**6} MB",
                expected=f"at most {MOST_FILES} files and {MOST_BYTES // 10**6} MB",
                remedy="check it out beside (git worktree add FOLDER REVISION) and name the file there",
            )
        return entries

    def write(self, entries: Iterable[Entry], folder: Path) -> list[str]:
        """Write the files of a tree below an empty folder, and return the paths of those that are left out.

        Contents are those of the objects: no line ends are converted, no filter (such as that of Git LFS) runs. Left
        out are submodules, links that lead out of the tree, paths that leave it or lie in a folder ``.git``, and
        files that are larger than those that are read.
        """
        root = Path(os.path.realpath(folder))
        left_out: list[str] = []
        files: list[Entry] = []
        links: list[Entry] = []
        for entry in entries:
            small = entry.size <= (_LONGEST_TARGET if entry.mode == _LINK else LONGEST)
            if entry.mode == _SUBMODULE or not small or not _is_confined(entry.path):
                left_out.append(entry.path)
            else:
                (links if entry.mode == _LINK else files).append(entry)
        # no link exists yet while files are written, so that none is written through one
        with self._objects(files) as stream:
            for entry in files:
                if not _write_blob(stream, entry, root / entry.path):
                    left_out.append(entry.path)
        made: list[Path] = []
        with self._objects(links) as stream:
            for entry in links:
                target = _read_blob(stream, entry)
                if not _make_link(target, root / entry.path, root):
                    left_out.append(entry.path)
                else:
                    made.append(root / entry.path)
        for gone in _confined(made, root):
            left_out.append(gone.relative_to(root).as_posix())
        return sorted(left_out)

    @contextlib.contextmanager
    def _objects(self, entries: list[Entry]) -> Iterator[IO[bytes]]:
        """Yield the stream of the objects of entries, in their order."""
        with tempfile.TemporaryFile() as names:
            names.write(b"".join(f"{entry.blob}\n".encode() for entry in entries))
            names.seek(0)
            with self._process("cat-file", "--batch", stdin=names) as process:
                assert process.stdout is not None
                yield process.stdout

    def added_lines(self, base: str, head: str, path: str) -> set[int]:
        """Return the lines of a file, from 1, that it has in ``head`` and not in the common ancestor with ``base``.

        Parameters
        ----------
        base, head : str
            Object names of commits.
        path : str
            Relative to the root.
        """
        ancestor = self.run("merge-base", base, head, may_fail=True).decode().split()
        if not ancestor:
            return set()
        options = ("-p", "-U0", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--text")
        place = f":(top,literal){path}"
        text = self.run("diff-tree", "-r", *options, ancestor[0], head, "--", place)
        lines: set[int] = set()
        for hunk in filter(None, map(_HUNK.match, text.split(b"\n"))):
            start, count = int(hunk[1]), int(hunk[2]) if hunk[2] is not None else 1
            lines.update(range(start, start + count))
        return lines

    def content(self, commit: str, path: str) -> bytes | None:
        """Return the content of a file, relative to the root, at a commit; None if there is none."""
        listing = self.run("ls-tree", "-z", "-l", "--full-tree", commit, "--", f":(literal){path}")
        entry = next((one for one in _entries(listing) if one.path == path and one.mode in _FILES), None)
        if entry is None or entry.size > LONGEST:
            return None
        with self._objects([entry]) as stream:
            return _read_blob(stream, entry)

    def run(self, *arguments: str, stdin: bytes = b"", may_fail: bool = False) -> bytes:
        """Return the output of git.

        Raises
        ------
        UnreadableFile
            Git fails, unless ``may_fail``, or prints too much.
        """
        with tempfile.TemporaryFile() as given:
            given.write(stdin)
            given.seek(0)
            with self._process(*arguments, stdin=given, may_fail=may_fail) as process:
                assert process.stdout is not None
                printed = process.stdout.read(_MOST_LISTED + 1)
        if len(printed) > _MOST_LISTED:
            raise UnreadableFile(f"git prints more than {_MOST_LISTED // 10**6} MB", where=str(self.folder))
        return printed

    @contextlib.contextmanager
    def _process(
        self, *arguments: str, stdin: IO[bytes], may_fail: bool = False
    ) -> Iterator[subprocess.Popen[bytes]]:
        with tempfile.TemporaryFile() as messages:
            process = subprocess.Popen(
                [self.program, *(word for one in _SETTINGS for word in ("-c", one)), *arguments],
                cwd=self.folder,
                env={**os.environ, **_VARIABLES},
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=messages,
            )
            limit = threading.Timer(_SECONDS, process.kill)
            limit.start()
            try:
                yield process
            finally:
                limit.cancel()
                assert process.stdout is not None
                process.stdout.close()
                code = process.wait()
            messages.seek(0)
            if code > 0 and not may_fail:
                reason = messages.read(2000).decode(errors="replace").removeprefix("fatal: ")
                raise UnreadableFile(
                    f"git cannot read the repository ({cut_short(reason.strip(), 300)})",
                    where=str(self.folder),
                )


def open_repository(folder: Path, purpose: str) -> Repository:
    """Return the repository around a folder.

    Raises
    ------
    BadUsage
        Git is not installed, or the folder is in no repository; ``purpose``, what needs it, begins the message.
    """
    program = git_program()
    if program is None:
        raise BadUsage(f"{purpose} needs git, which is not installed", remedy="install git")
    probe = Repository(folder, None, "", program)
    try:
        prefix = probe.run("rev-parse", "--show-prefix")
    except UnreadableFile as error:
        if "not a git repository" not in error.what:
            raise
        raise BadUsage(
            f"{purpose} needs a git repository, and the working folder is in none",
            where=str(folder),
            remedy="change to a folder of the repository",
        ) from None
    top = probe.run("rev-parse", "--show-toplevel", may_fail=True).decode("utf-8", "surrogateescape")
    root = Path(top.removesuffix("\n")) if top.strip() else None
    return Repository(folder, root, os.fsdecode(prefix).removesuffix("\n"), program)


def git_program() -> str | None:
    """Return the git program of PATH; relative folders of it, and on Windows the working folder, do not count."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        if Path(folder).is_absolute() and (found := shutil.which(str(Path(folder) / "git"))):
            return found
    return None


def _entries(listing: bytes) -> list[Entry]:
    """Return the files of a listing of ``ls-tree -z -l``."""
    entries = []
    for line in listing.split(b"\0")[:-1]:
        facts, _, path = line.partition(b"\t")
        mode, _, blob, size = facts.decode().split()
        entries.append(Entry(mode, blob, 0 if size == "-" else int(size), os.fsdecode(path)))
    return entries


def _is_confined(path: str) -> bool:
    """Return True if a path of a tree stays below its root, and is in no folder ``.git``."""
    parts = path.split("/")
    if os.name == "nt" and re.search(r'[\\:<>"|?*]', path):
        return False
    return not any(part in ("", ".", "..") or part.lower().rstrip(". ") == ".git" for part in parts)


def _write_blob(stream: IO[bytes], entry: Entry, target: Path) -> bool:
    """Write the next object of a stream to a new file; return False if there is one already."""
    _read_header(stream, entry)
    left = entry.size
    written = True
    with contextlib.ExitStack() as stack:
        output: IO[bytes] | None = None
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            output = stack.enter_context(target.open("xb"))
        except (FileExistsError, NotADirectoryError):
            # a folder that ignores case, or a tree with a path twice
            written = False
        while left:
            part = stream.read(min(left, 1 << 20))
            if not part:
                raise UnreadableFile("git ends before the file does", where=entry.path)
            left -= len(part)
            if output is not None:
                output.write(part)
    stream.read(1)
    return written


def _read_blob(stream: IO[bytes], entry: Entry) -> bytes:
    """Return the next object of a stream."""
    _read_header(stream, entry)
    data = stream.read(entry.size)
    stream.read(1)
    return data


def _read_header(stream: IO[bytes], entry: Entry) -> None:
    header = stream.readline(200).split()
    if header != [entry.blob.encode(), b"blob", str(entry.size).encode()]:
        raise UnreadableFile(
            "the repository lacks the content of the file",
            where=entry.path,
            remedy="fetch it (git fetch), since nothing is fetched here",
        )


def _make_link(target: bytes, link: Path, root: Path) -> bool:
    """Create a symbolic link with a relative target; return False if that is not possible below the root."""
    name = os.fsdecode(target)
    if not name or "\0" in name or PurePosixPath(name).is_absolute() or Path(name).is_absolute():
        return False
    try:
        link.parent.mkdir(parents=True, exist_ok=True)
        if os.path.realpath(link.parent) != str(link.parent) or not link.is_relative_to(root):
            return False
        link.symlink_to(name)
    except OSError:
        return False
    return True


def _confined(links: list[Path], root: Path) -> Iterator[Path]:
    """Remove and yield the links that lead out of the root; one that is removed may be part of another's way."""
    left = list(links)
    while outside := [link for link in left if not _leads_inside(link, root)]:
        for link in outside:
            link.unlink()
            left.remove(link)
            yield link


def _leads_inside(link: Path, root: Path) -> bool:
    """Return True if a link leads to a place below the root."""
    try:
        return Path(os.path.realpath(link)).is_relative_to(root)
    except (OSError, ValueError):
        return False
