"""The files with which a repository lints its robots: what is found in it, their texts, and their writing."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mbplugin.errors import PACKAGES, BadUsage, UnreadableFile
from mbplugin.files import read_bounded, temporary_beside, toml_text
from mbplugin.initialization.survey import Survey, baseline_text
from mbplugin.linter.targets import NAME, SHARED_NAME
from mbplugin.phrases import visible
from mbplugin.version import __version__

CiChoice = Literal["github", "gitlab", "script", "none"]
#: The address that stands for that of the repository of mbplugin, and what GitHub's workflows call such a repository.
PLACEHOLDER, _OWNER = "https://git.example.org/mbplugin", "OWNER/mbplugin"
BASELINE, HOOKS = "mbplugin-baseline.json", ".pre-commit-config.yaml"
WORKFLOW, GITLAB, SCRIPT = ".github/workflows/mbplugin.yml", ".gitlab-ci.yml", "mbplugin-ci.sh"
_ADDRESS = re.compile(r"https://[A-Za-z0-9][A-Za-z0-9.-]*(?::\d+)?(?:/[A-Za-z0-9_~][A-Za-z0-9_.~-]*)+")
#: Largest existing file that is looked at.
_LARGEST = 2_000_000


@dataclass(frozen=True)
class NewFile:
    """A file to write, relative to the root.

    Parameters
    ----------
    name : str
        With forward slashes.
    text : str
    executable : bool
    addition : str
        What to add to a file of this name that exists already; empty if it has all.
    exists : bool
        True if there is one, which is left alone.
    """

    name: str
    text: str
    executable: bool = False
    addition: str = ""
    exists: bool = False


def new_files(found: Survey, source: str = "", ci: CiChoice | None = None) -> tuple[NewFile, ...]:
    """Return the files for a repository, those that others refer to first.

    Parameters
    ----------
    found : Survey
    source : str
        Address of the repository of mbplugin; default: one that stands for it.
    ci : "github", "gitlab", "script" or "none", optional
        Default: that of the host.

    Raises
    ------
    BadUsage
        The address is none.
    """
    if source and not _ADDRESS.fullmatch(source):
        raise BadUsage(
            f"--source is {source!r}", expected=f"an address such as {PLACEHOLDER}, without user and password"
        )
    address = (source or PLACEHOLDER).removesuffix(".git")
    extras = _extras(found)
    chosen = ci or {"github": "github", "gitlab": "gitlab", "other": "script"}[found.host]
    return (
        *_settings_files(found),
        _new(found.root, HOOKS, _hooks(address, extras), "mbplugin-lint", _hook_entry(address, extras)),
        *_ci_files(found.root, chosen, address, ",".join(extras)),
    )


def has_placeholder(files: Sequence[NewFile]) -> bool:
    """Return True if a text that is written or to be added names an address that only stands for another."""
    texts = [one.addition if one.exists else one.text for one in files]
    return any(PLACEHOLDER in text or _OWNER in text for text in texts)


def _new(
    root: Path, name: str, text: str, marker: str, addition: str = "", executable: bool = False
) -> NewFile:
    """Return a file; one that exists and has the marker has all that is needed."""
    path = root / name
    # a link that leads nowhere exists too
    if not path.is_symlink() and not path.exists():
        return NewFile(name, text, executable)
    try:
        present = read_bounded(path, _LARGEST).decode("utf-8", errors="replace")
    except UnreadableFile:
        present = ""
    return NewFile(name, text, executable, "" if marker in present else addition or text, exists=True)


# The configuration and the baseline.


def _settings_files(found: Survey) -> Iterator[NewFile]:
    needs_baseline = bool(found.findings) and not found.settings.baseline
    if needs_baseline:
        yield _new(found.root, BASELINE, baseline_text(found.reports), '"generator": "mbplugin"')
    text = _configuration(found, needs_baseline)
    addition = "".join(f"{line}\n" for line in _settings(found, needs_baseline))
    if not found.settings.file:
        yield _new(found.root, NAME, text, "\0", addition)
        return
    name = SHARED_NAME if Path(found.settings.file).name == SHARED_NAME else NAME
    inside = f"[tool.mbplugin]\n{addition}" if addition and name == SHARED_NAME else addition
    yield NewFile(name, text, addition=inside, exists=True)


def _configuration(found: Survey, baseline: bool) -> str:
    lines = [
        "# Settings of mbplugin for this repository; `mbplugin config` prints those that apply.",
        'fail-on = "error"  # or warning, note',
        *_settings(found, baseline),
    ]
    return "\n".join(lines) + "\n"


def _settings(found: Survey, baseline: bool) -> Iterator[str]:
    if baseline:
        yield "# findings that were there when this was written; they are not reported again"
        yield f"baseline = {toml_text(BASELINE)}"
    reasons = dict.fromkeys((one.pattern, one.reason) for one in found.excluded)
    if reasons:
        yield "# passed over when folders are linted"
        yield "exclude = ["
        yield from (f"    {toml_text(pattern)},  # {visible(reason)}" for pattern, reason in reasons)
        yield "]"


# The hook and the CI, which call the templates and the action of mbplugin's own repository.


def _extras(found: Survey) -> list[str]:
    """Return the extras that the robots need, besides those of the hook and of the action."""
    names = [report.source.lower() for report in found.reports]
    more = {"mjcf": (".xml", ".mjcf"), "usd": (".usd", ".usda", ".usdc", ".usdz")}
    return [
        "xacro",
        "yaml",
        *(extra for extra, ends in more.items() if any(name.endswith(ends) for name in names)),
    ]


def _hooks(address: str, extras: Sequence[str]) -> str:
    return f"repos:\n{_hook_entry(address, extras)}"


def _hook_entry(address: str, extras: Sequence[str]) -> str:
    packages = ", ".join(package for extra in extras for package in PACKAGES[extra])
    more = f"        additional_dependencies: [{packages}]\n" if len(extras) > 2 else ""
    return f"  - repo: {address}\n    rev: v{__version__}\n    hooks:\n      - id: mbplugin-lint\n{more}"


def _ci_files(root: Path, ci: str, address: str, extras: str) -> Iterator[NewFile]:
    if ci == "github":
        text = _WORKFLOW.format(action=_action(address), version=__version__, extras=extras)
        yield _new(root, WORKFLOW, text, f"uses: {_action(address)}@")
    elif ci == "gitlab":
        text = _GITLAB.format(address=address, version=__version__, extras=extras)
        yield _new(root, GITLAB, text, "mbplugin.gitlab-ci.yml")
    elif ci == "script":
        text = _SCRIPT.format(address=address, version=__version__, extras=extras)
        yield _new(root, SCRIPT, text, "templates/ci.sh", executable=True)


def _action(address: str) -> str:
    """Return the name of the action of a repository on GitHub."""
    return (
        address.removeprefix("https://github.com/") if address.startswith("https://github.com/") else _OWNER
    )


_WORKFLOW = """\
name: robots
on: [push, pull_request]
permissions:
  contents: read
jobs:
  mbplugin:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with:
          # the base of a pull request is compared
          fetch-depth: 0
      - uses: {action}@v{version}
        with:
          extras: {extras}
"""
_GITLAB = """\
include:
  - remote: {address}/-/raw/v{version}/templates/mbplugin.gitlab-ci.yml

mbplugin:
  variables:
    MBPLUGIN_REPOSITORY: {address}
    MBPLUGIN_TAG: v{version}
    EXTRAS: {extras}
"""
_SCRIPT = """\
#!/usr/bin/env bash
# Lints the robots of this repository; needs git, and Python 3.10 or later with pip.
set -euo pipefail
cd "$(dirname "$0")"
ACTION_PATH=$(mktemp -d)
trap 'rm -rf -- "$ACTION_PATH"' EXIT
export ACTION_PATH EXTRAS={extras} ANNOTATIONS=text
git clone --quiet --depth 1 --branch v{version} -- {address} "$ACTION_PATH"
bash "$ACTION_PATH/templates/ci.sh" install
bash "$ACTION_PATH/templates/ci.sh" lint
"""


def write_all(root: Path, files: Iterable[NewFile]) -> None:
    """Write files that do not exist yet; if one cannot be written, those before it are removed again.

    Each is complete on the disk before the first gets its name, so that a process that is killed leaves no part of a
    file under any of the names. A file that somebody else has created meanwhile stays as it is.

    Parameters
    ----------
    root : Path
    files : iterable of NewFile
        Those that exist are passed over.

    Raises
    ------
    BadUsage
        A file cannot be written, or its folder lies outside of ``root``.
    """
    with contextlib.ExitStack() as undo, contextlib.ExitStack() as cleanup:
        ready = []
        for file in files:
            if not file.exists:
                target = root / file.name
                with _named(target):
                    _make_folders(root, target.parent, undo)
                    temporary = temporary_beside(target)
                    cleanup.callback(temporary.unlink, missing_ok=True)
                    _fill(temporary, file)
                ready.append((temporary, target))
        for temporary, target in ready:
            with _named(target):
                _take_name(temporary, target)
            undo.callback(target.unlink, missing_ok=True)
        # all have their names
        undo.pop_all()


def patch_of(files: Iterable[NewFile]) -> str:
    """Return the patch, for ``git apply``, that adds the files which do not exist."""
    lines = []
    for file in files:
        if not file.exists:
            mode = "100755" if file.executable else "100644"
            lines += [f"diff --git a/{file.name} b/{file.name}", f"new file mode {mode}", "--- /dev/null"]
            body = file.text.splitlines()
            lines += [f"+++ b/{file.name}", f"@@ -0,0 +1,{len(body)} @@", *(f"+{line}" for line in body)]
    return "".join(f"{line}\n" for line in lines)


@contextlib.contextmanager
def _named(target: Path) -> Iterator[None]:
    """Turn an error of the system into a sentence with the file."""
    try:
        yield
    except FileExistsError:
        raise BadUsage(
            "this file exists now", where=str(target), remedy="start mbplugin init again"
        ) from None
    except OSError as error:
        reason = (error.strerror or "no reason given").lower()
        raise BadUsage(
            f"the file cannot be written ({reason}), so none is",
            where=str(target),
            remedy="make its folder writable",
        ) from None


def _make_folders(root: Path, folder: Path, undo: contextlib.ExitStack) -> None:
    missing = [one for one in (folder, *folder.parents) if one.is_relative_to(root) and not one.exists()]
    for one in reversed(missing):
        one.mkdir()
        undo.callback(_remove_folder, one)
    if not Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(root)):
        raise BadUsage("this folder is a link that leads out of the repository", where=str(folder))


def _remove_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()


def _fill(temporary: Path, file: NewFile) -> None:
    with temporary.open("wb") as stream:
        stream.write(file.text.encode())
        stream.flush()
        os.fsync(stream.fileno())
    mask = os.umask(0)
    os.umask(mask)
    temporary.chmod((0o777 if file.executable else 0o666) & ~mask)


def _take_name(temporary: Path, target: Path) -> None:
    """Give a file its name, unless another has it."""
    try:
        os.link(temporary, target)
    except FileExistsError:
        raise
    except (OSError, AttributeError):
        # a file system without links
        if target.is_symlink() or target.exists():
            raise FileExistsError from None
        temporary.rename(target)
