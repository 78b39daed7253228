"""What is published: an sdist that is complete, and a wheel of it that works in an empty environment.

Nothing is downloaded: the build needs setuptools (in the test extra), the new environment gets its pip
from Python itself, and sees the dependencies where this one has them, but not this checkout.
"""

from __future__ import annotations

import json
import os
import shutil
import site
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

from command_line import ROOT

#: What an sdist is made of.
SOURCES = (
    "mbplugin",
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "MANIFEST.in",
    "packaging",
)
#: What the tests in an sdist read besides.
OF_TESTS = (
    "tests",
    "assets",
    "examples",
    "benchmarks",
    "docs",
    "CHANGELOG.md",
    "CITATION.cff",
    "Makefile",
    "mkdocs.yml",
)
HOOK = "import sys; from setuptools import build_meta; print(getattr(build_meta, sys.argv[1])(sys.argv[2]))"


def run(*command: str | Path, cwd: Path, **environment: str) -> str:
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
        env={**{k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}, **environment},
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def build(kind: str, source: Path, target: Path) -> Path:
    """Return an archive, made by the hook that pip and build call."""
    target.mkdir(exist_ok=True)
    printed = run(sys.executable, "-c", HOOK, f"build_{kind}", target, cwd=source)
    return target / printed.splitlines()[-1]


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Return the sdist of a copy of the sources, and the wheel of what the sdist holds."""
    folder = tmp_path_factory.mktemp("package")
    (folder / "copy").mkdir()
    for name in (*SOURCES, *OF_TESTS):
        if (ROOT / name).is_dir():
            leave_out = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / "copy" / name, ignore=leave_out)
        else:
            shutil.copy(ROOT / name, folder / "copy" / name)
    sdist = build("sdist", folder / "copy", folder / "dist")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    return sdist, build("wheel", unpacked, folder / "dist")


def package_of_the_checkout() -> set[str]:
    """Return modules, and what the page of a report is made of."""
    files = [file for file in (ROOT / "mbplugin").rglob("*") if file.is_file()]
    return {str(file.relative_to(ROOT)) for file in files if "__pycache__" not in file.parts}


@pytest.mark.long
def test_the_sdist_is_complete(archives: tuple[Path, Path]) -> None:
    with tarfile.open(archives[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert package_of_the_checkout() | {"LICENSE", "README.md"} <= names
    for folder in ("tests", "assets", "examples", "docs", "packaging"):
        files = (
            file for file in (ROOT / folder).rglob("*") if file.is_file() and "__pycache__" not in file.parts
        )
        assert {str(file.relative_to(ROOT)) for file in files} <= names
    assert {"MANIFEST.in", "CHANGELOG.md", "CITATION.cff", "Makefile", "mkdocs.yml"} <= names


@pytest.mark.long
def test_an_index_takes_the_description(archives: tuple[Path, Path]) -> None:
    printed = run(sys.executable, "-m", "twine", "check", "--strict", *archives, cwd=archives[0].parent)
    assert printed.count("PASSED") == 2


def test_the_wheel_is_complete_and_nothing_else(archives: tuple[Path, Path]) -> None:
    with zipfile.ZipFile(archives[1]) as archive:
        names = set(archive.namelist())
        metadata = next(name for name in names if name.endswith("METADATA"))
        text = archive.read(metadata).decode()
    package = {name for name in names if ".dist-info/" not in name}
    assert package == package_of_the_checkout()
    assert any(name.endswith("LICENSE") for name in names)
    assert "Requires-Dist: numpy" in text and "License-Expression: MIT" in text


@pytest.fixture(scope="module")
def installed(archives: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the bin folder of a new environment with the wheel in it."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    run(python, "-m", "pip", "install", "--no-deps", "--no-index", archives[1], cwd=folder)
    (packages,) = folder.glob("lib/python*/site-packages")
    # a path file is not followed to the path files there: an editable install stays unseen
    (packages / "dependencies.pth").write_text("\n".join(site.getsitepackages()))
    return folder / "bin"


@pytest.mark.long
def test_the_wheel_works_in_an_empty_environment(installed: Path, tmp_path: Path) -> None:
    where = run(installed / "python", "-c", "import mbplugin; print(mbplugin.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(installed.parent)
    (tmp_path / "r.urdf").write_text("<robot name='r'><link name='a'/></robot>")
    document = json.loads(
        run(installed / "mbplugin", "lint", "r.urdf", "--output-format", "json", cwd=tmp_path)
    )
    assert document["mobility"]["dof"] == 6
    page = run(installed / "mbplugin", "lint", "r.urdf", "--output-format", "html", cwd=tmp_path)
    assert "/* three.js" in page and "<canvas" in page
    assert "MB201" in run(installed / "mbplugin", "rule", cwd=tmp_path)
    assert json.loads(run(installed / "mbplugin", "schema", "scene", cwd=tmp_path))["properties"]["closure"]


@pytest.mark.long
def test_every_module_of_the_wheel_imports(installed: Path, tmp_path: Path) -> None:
    code = (
        "import importlib, pkgutil, mbplugin\n"
        "for module in pkgutil.walk_packages(mbplugin.__path__, 'mbplugin.'):\n"
        "    if module.name != 'mbplugin.__main__':\n"
        "        importlib.import_module(module.name)\n"
        "print('all')\n"
    )
    assert run(installed / "python", "-c", code, cwd=tmp_path).splitlines()[-1:] == ["all"]


@pytest.mark.parametrize("target", ["demo", "test-core"])
def test_make_says_which_python_it_needs(tmp_path: Path, target: str) -> None:
    """Neither a Python that is too old nor one without pip makes an environment."""
    for name, made_so in (("old", "version_info = (3, 9)"), ("bare", "modules['ensurepip'] = None")):
        python = tmp_path / name
        code = f"import sys; sys.{made_so}; exec(sys.argv[1])"
        python.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{code}" "$2"\n', encoding="utf-8")
        python.chmod(0o755)
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    command = ["make", target, f"PYTHON={tmp_path / 'old'} {tmp_path / 'bare'}"]
    # a make within a make tells its folder
    alone = {"PATH": os.environ["PATH"]}
    done = subprocess.run(command, cwd=tmp_path, env=alone, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout.count("\n") == 1
    assert done.stdout.startswith("No Python 3.10 or later") and "python3-venv" in done.stdout
