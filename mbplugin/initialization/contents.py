"""The texts of the files that a repository gets: configuration, baseline, hook of pre-commit, CI.

Names of files stand in the configuration and in the baseline only, as quoted strings; a comment has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from mbplugin.errors import PACKAGES, BadUsage, UnreadableFile
from mbplugin.files import read_bounded, toml_text
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
