"""Every way of installing that is documented is one that works: none takes the bare name from an index."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import mbplugin
from mbplugin.errors import PACKAGES, install_command
from places import ROOT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
#: Commands and keys that take packages from an index.
_INSTALLERS = (
    r"\b(?:pip3?|pipx|uv|rye|conda|mamba|pixi|poetry|pdm)(?: tool| pip)? (?:install|add|run|inject)\b",
    r"\buvx\b",
    r"\badditional_dependencies\b",
    r"\brequirements(?:-\w+)?\.txt\b",
)
INSTALLER = re.compile("|".join(_INSTALLERS))
#: The name alone, or with extras; not as a part of a path or an address, nor before `` @ git+…``.
BARE = re.compile(r"(?<![\w/.+@$-])mbplugin(?:\[[^\]]*\])?(?!\[)(?![\w/.@-])(?! @ )(?=['\"`,;:)\]\s=<>~!]|$)")
ADDRESS = re.compile(r"(?:git\+)?(https://git\.example\.org/[\w-]+)(?:@(v[\w.]+))?")
ENDINGS = (
    ".md",
    ".py",
    ".toml",
    ".yml",
    ".yaml",
    ".ipynb",
    ".cff",
    ".cfg",
    ".txt",
    ".html",
    "Makefile",
    "Dockerfile",
)


def bare_installs(text: str) -> list[str]:
    """Return the lines in which an installer is given the bare name."""
    found = []
    for line in text.splitlines():
        installer = INSTALLER.search(line)
        # what a shell runs after the installation is no package
        after = re.split(r"&&|\|\||#", line[installer.end() :])[0] if installer else ""
        if BARE.search(after):
            found.append(line.strip())
    return found


def files() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
    ).stdout
    paths = [ROOT / name for name in listed.decode().split("\0") if name.endswith(ENDINGS)]
    return [path for path in paths if path.is_file() and path != Path(__file__)]


@pytest.mark.parametrize(
    ("line", "is_bare"),
    [
        ("pip install mbplugin", True),
        ("- run: python -m pip install mbplugin==1.0", True),
        ("`pip install 'mbplugin[usd]'`", True),
        ("uv tool install mbplugin", True),
        ("uvx mbplugin lint .", True),
        ("pipx run mbplugin", True),
        ("additional_dependencies: [mbplugin]", True),
        ('pip install "git+https://git.example.org/mbplugin@v1.0.0"', False),
        ('pip install "mbplugin[usd] @ git+https://git.example.org/mbplugin@v1.0.0"', False),
        ("pip install . && mbplugin lint", False),
        ("python -m pip install usd-core  # beside mbplugin", False),
        ("mbplugin lint robots", False),
    ],
)
def test_the_scan(line: str, is_bare: bool) -> None:
    assert bool(bare_installs(line)) is is_bare


def test_nothing_installs_the_bare_name() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): bare_installs(path.read_text(encoding="utf-8")) for path in files()
    }
    assert {path: lines for path, lines in found.items() if lines} == {}


def test_messages_name_the_packages_of_an_extra() -> None:
    for extra in PACKAGES:
        assert "mbplugin" not in install_command(extra)
        assert not bare_installs(install_command(extra))
    assert install_command("dask") == "python -m pip install joblib pyarrow 'dask[distributed]'"


def test_one_address_and_the_tag_of_this_version() -> None:
    repository = PROJECT["urls"]["Repository"]
    for path in files():
        for address, tag in ADDRESS.findall(path.read_text(encoding="utf-8")):
            if address.endswith("/mbplugin"):
                assert address == repository, path
                assert tag in ("", f"v{mbplugin.__version__}"), path
    assert PROJECT["version"] == mbplugin.__version__
