"""Models at a revision of the git repository: arguments ``REV:PATH`` of ``mbplugin diff``."""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from mbplugin.cli import options as opt
from mbplugin.cli.report import Reading, read_scene, warn
from mbplugin.errors import BadUsage, MbPluginError, UnreadableFile
from mbplugin.files import hash_when_read, note_hash
from mbplugin.phrases import listed
from mbplugin.processes.git import Entry, Repository, open_repository

if TYPE_CHECKING:
    from collections.abc import Iterable

    from mbplugin.model import Origin, Scene

#: A drive of Windows with a path, and a name with a scheme such as ``package://``.
_NO_REVISION = re.compile(r"[A-Za-z]:\\|\w+://")
#: What is typed for a revision, without a file of it.
_ONLY_REVISION = re.compile(r"(HEAD|main|master|[0-9a-f]{7,40})([~^]\d*)*")
#: Most paths that a message names.
_NAMED = 4
#: Most paths among which a misspelt one is looked for.
_MOST_NAMES = 2000


def revision_and_path(argument: str) -> tuple[str, str] | None:
    """Return revision and path of an argument ``REV:PATH``; None for the name of a file.

    A file that exists is that file, also if its name has a colon.
    """
    revision, colon, path = _halves(argument)
    if not colon or not revision or not path or _NO_REVISION.match(argument) or _exists(argument):
        return None
    return revision, path


def _halves(argument: str) -> tuple[str, str, str]:
    """Return the argument before and after its first colon outside of braces, as git divides it."""
    depth = 0
    for k, letter in enumerate(argument):
        depth += (letter == "{") - (letter == "}")
        if letter == ":" and depth <= 0:
            return argument[:k], ":", argument[k + 1 :]
    return argument, "", ""


def _exists(name: str) -> bool:
    try:
        return os.path.lexists(name)
    except ValueError:
        return False


@contextlib.contextmanager
def scene_of(
    argument: str,
    outputs: Iterable[Path | None],
    reading: Reading,
    also: Iterable[Path | None] = (),
    *,
    anew: bool = True,
) -> Iterator[Scene]:
    """Yield the scene of a FILE argument, which may be ``REV:PATH``.

    The files of the revision are written to a private temporary folder, which lasts until the end of the block, since
    pages read meshes last. Places and errors name files as ``REV:PATH``. ``anew`` is as in ``read_scene``.

    Raises
    ------
    BadUsage
        There is no repository, or no such revision or path of it.
    MbPluginError
        The model cannot be used.
    """
    found = None if argument == opt.STDIN else revision_and_path(argument)
    if found is None and _ONLY_REVISION.fullmatch(argument) and not _exists(argument):
        raise UnreadableFile(
            "no such file", where=argument, remedy=f"write {argument}:FILE for a file at that revision"
        )
    if found is None:
        yield read_scene(argument, outputs, reading, also=also, anew=anew)
        return
    revision, path = found
    repository = open_repository(Path.cwd(), f"{argument!r}, a file at a revision,")
    with tempfile.TemporaryDirectory(prefix="mbplugin-revision-") as temporary:
        root = Path(os.path.realpath(temporary))
        # the files of a model may not leave its repository, of which the root is marked by this folder
        (root / ".git").mkdir()
        place = _written(repository, revision, path, root)
        shown = _Shown(root, revision)
        folders = [_in_revision(folder, repository, root) for folder in reading.package_dir or ()]
        try:
            scene = read_scene(
                str(place), outputs, replace(reading, package_dir=folders), also=also, anew=anew
            )
        except MbPluginError as error:
            raise shown.error(error) from None
        yield shown.scene(scene)


def _written(repository: Repository, revision: str, path: str, root: Path) -> Path:
    """Write the files of a revision below ``root`` and return the place of one."""
    tree = repository.tree(revision)
    if tree is None:
        raise BadUsage(
            f"{revision!r} is no revision of the repository",
            where=str(repository.top or repository.folder),
            expected="a commit, branch or tag, such as HEAD, main~2 or v1.0",
            remedy="fetch it first if it is not here (git fetch), or check the name of the file",
        )
    entries = repository.entries(tree)
    names = [entry.path for entry in entries]
    # as in git: from the root, or from the working folder if it starts with ./ or ../
    whole = path if not path.startswith(("./", "../")) else f"{repository.prefix}{path}"
    inside = _normal(whole)
    if inside not in names:
        raise _no_such_path(repository, revision, path, entries)
    if left_out := repository.write(entries, root):
        warn(
            [
                f"of {revision}, these are left out (submodules, links that leave it): {listed(left_out, _NAMED)}"
            ]
        )
    if inside in left_out:
        raise UnreadableFile("the file is left out of the revision", where=f"{revision}:{path}")
    return root / inside


def _in_revision(folder: str, repository: Repository, root: Path) -> str:
    """Return the folder of a revision that stands for one of the working tree; others are returned as they are."""
    if repository.top is None:
        return folder
    real, top = Path(os.path.realpath(folder)), Path(os.path.realpath(repository.top))
    return str(root / real.relative_to(top)) if real.is_relative_to(top) else folder


def _normal(path: str) -> str:
    """Return a path without ``.`` and ``..``; one that leaves the root is returned as it is."""
    parts: list[str] = []
    for part in PurePosixPath(path).parts:
        if part == "..":
            if not parts:
                return path
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def _no_such_path(repository: Repository, revision: str, path: str, entries: list[Entry]) -> UnreadableFile:
    names = {entry.path for entry in entries}
    below = _normal(f"{repository.prefix}{path}")
    alike = sorted(name for name in names if PurePosixPath(name).name == PurePosixPath(path).name)
    if any(name.startswith(f"{_normal(path)}/") for name in names):
        remedy = "this is a folder; name a file of it"
    elif below in names and not path.startswith("."):
        remedy = f"paths start at the root of the repository; write {revision}:./{path}"
    elif alike:
        remedy = f"did you mean {revision}:{alike[0]}?"
    else:
        from difflib import get_close_matches

        close = get_close_matches(path, sorted(names)[:_MOST_NAMES], n=1)
        remedy = (
            f"did you mean {revision}:{close[0]}?" if close else "paths start at the root of the repository"
        )
    return UnreadableFile("the revision has no such file", where=f"{revision}:{path}", remedy=remedy)


class _Shown:
    """Names of the files of a revision, in place of those in the temporary folder."""

    def __init__(self, root: Path, revision: str) -> None:
        self.root, self.revision = f"{root}{os.sep}", revision

    def name(self, text: str) -> str:
        """Return a text in which files are named by revision and path."""
        return text.replace(self.root, f"{self.revision}:")

    def error(self, error: MbPluginError) -> MbPluginError:
        """Return an error with these names."""
        error.what, error.where = self.name(error.what), self.name(error.where)
        error.expected, error.remedy = self.name(error.expected), self.name(error.remedy)
        error.args = (error.sentence(),)
        return error

    def scene(self, scene: Scene) -> Scene:
        """Return a scene whose places and files have these names; meshes stay where they are read."""
        for file in scene.files:
            if (known := hash_when_read(file)) is not None:
                note_hash(self.name(file), known)
        origin = {key: self._place(place) for key, place in scene.origin.items()}
        defects = tuple(
            replace(one, message=self.name(one.message), origin=one.origin and self._place(one.origin))
            for one in scene.defects
        )
        files = tuple(map(self.name, scene.files))
        return replace(scene, origin=origin, files=files, defects=defects)

    def _place(self, place: Origin) -> Origin:
        return replace(place, file=self.name(place.file))
