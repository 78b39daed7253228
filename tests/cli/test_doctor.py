"""``mbplugin doctor``: what works is found by trying, on one screen, and what lacks has its command."""

from __future__ import annotations

import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

import mbplugin.installation as installation
from command_line import call
from mbplugin.errors import PACKAGES, install_command
from mbplugin.installation import Cache, Extra, Facility, Installation, Package, examine
from mbplugin.report.documents.part import schema_of
from mbplugin.report.text.lookup import installation_lines

#: Modules of a test: one that works, and others that do not in several ways.
MODULES = {
    "sound": "",
    "failing": "raise ValueError('no such library\\nand more')",
    "hanging": "import time; time.sleep(600)",
    "crashing": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
    "loud": "print('hello'); import sys; print('careful', file=sys.stderr)",
    "useless": "def use():\n    return 1 / 0",
}
#: What is tried with each package, before a test has others.
USES = dict(installation._USES)


@pytest.fixture
def few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Put only packages of the test in the place of those that are examined, and the caches in its folder."""
    for name, code in MODULES.items():
        (tmp_path / f"{name}.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(installation, "CORE", {"numpy": "sound"})
    monkeypatch.setattr(installation, "_MODULES", {})
    monkeypatch.setattr(installation, "_USES", {})
    monkeypatch.setattr(installation, "_BESIDE_EXTRAS", ())
    monkeypatch.setattr(installation, "PACKAGES", {"one": ("sound",), "two": ("absent", "sound")})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("DISPLAY", raising=False)
    yield tmp_path


def test_the_text_names_what_works_and_the_command_for_the_rest(few: Path) -> None:
    done = call("doctor")
    assert done.code == 0, done.err
    lines = [" ".join(line.split()) for line in done.out.splitlines()]
    assert lines[0].startswith("mbplugin ") and " WORKS: Python 3." in lines[0]
    assert "extras one" in lines
    assert lines[-1] == "no two python -m pip install absent"
    assert not (few / "cache").exists()


def test_the_document_follows_its_schema(few: Path) -> None:
    document = json.loads(call("doctor", "--output-format", "json").out)
    jsonschema.validate(document, schema_of("doctor"))
    assert document["works"] is True
    (core,) = document["core"]
    assert core["version"].count(".") == 2
    names = {one["name"]: (one["installed"], one["works"], one["extras"]) for one in document["optional"]}
    assert names == {"sound": (True, True, ["one", "two"]), "absent": (False, False, ["two"])}
    assert [one["install"] for one in document["extras"]] == ["", "python -m pip install absent"]
    assert {one["content"] for one in document["caches"]} == {"reports", "meshes", "machine code"}


@pytest.mark.parametrize(
    ("module", "reason"),
    [
        ("failing", "fails when it is imported (ValueError: no such library)"),
        ("hanging", "does not answer within 2 s when it is imported"),
        pytest.param(
            "crashing",
            "ends its process with signal 11 when it is imported",
            marks=pytest.mark.skipif(sys.platform == "win32", reason="no signals"),
        ),
        ("loud", ""),
        ("useless", "fails when it is used (ZeroDivisionError: division by zero)"),
    ],
)
def test_a_package_works_if_its_import_and_its_use_do(
    module: str, reason: str, few: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(installation, "PACKAGES", {"one": (module,)})
    monkeypatch.setattr(installation, "_USES", {"useless": "module.use()"})
    begun = time.monotonic()
    found = examine(seconds=2.0 if module == "hanging" else 60.0)
    assert time.monotonic() - begun < 50.0
    assert [one.reason for one in found.optional] == [reason]
    assert [one.installed for one in found.optional] == [True]
    assert found.works and found.extras[0].lacks == ((module,) if reason else ())


@pytest.mark.parametrize("package", installation._USES)
def test_a_package_that_is_an_empty_folder_does_not_work(package: str, few: Path) -> None:
    """Every use needs what the package has."""
    reason = installation._failure("sound", USES[package], 60.0)
    assert reason.startswith("fails when it is used ("), reason


@pytest.mark.parametrize("module", ["failing", "absent"])
def test_a_broken_core_is_exit_code_1(module: str, few: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "CORE", {"numpy": module})
    done = call("doctor")
    assert done.code == 1
    assert " IS BROKEN: " in done.out.splitlines()[0]
    assert "no core python -m pip install numpy" in " ".join(done.out.split())


def test_nothing_of_the_working_folder_is_imported(few: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = few / "here"
    here.mkdir()
    # an interpreter imports the second one by itself
    for name in ("argparse.py", "sitecustomize.py"):
        (here / name).write_text(f"open({str(here / 'ran')!r}, 'w')")
    (few / "sound.py").write_text("import argparse")
    monkeypatch.chdir(here)
    monkeypatch.setenv("PYTHONPATH", os.pathsep)
    assert examine().works
    assert not (here / "ran").exists()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="access lists protect the folders of Windows")
def test_caches_are_measured_and_doubted(few: Path) -> None:
    top = few / "cache" / "mbplugin"
    state = top / "0.60.0-0123456789abcdef"
    for folder in (top / "reports", top / "meshes", state, top / "else"):
        folder.mkdir(parents=True, mode=0o700)
        (folder / "file").write_bytes(b"x" * 2_500_000)
    (top / "meshes").chmod(0o777)
    found = {one.content: one for one in examine().caches}
    assert [found[name].size for name in ("reports", "machine code")] == [2_500_000, 2_500_000]
    assert found["meshes"].reason == "can be written by others"
    assert not found["reports"].reason and found["reports"].folder == str(top / "reports")
    text = " ".join(call("doctor").out.split())
    assert "reports 2.5 MB, meshes not used, since" in text and "can be written by others" in text


@pytest.mark.skipif(sys.platform != "linux", reason="X servers of Linux")
def test_a_display_is_one_that_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":7461")
    assert installation._display() == Facility(False, "no X server listens on DISPLAY :7461")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        server.bind("\0/tmp/.X11-unix/X7461")
        server.listen()
        assert installation._display() == Facility(True, ":7461")


def test_a_program_that_fails_does_not_work(few: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = few / "chromium"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(few))
    found = examine()
    assert found.browser == Facility(False, f"{program} --version ends with exit code 3")
    assert found.git == Facility(False, "is not installed")


def bare() -> Installation:
    """Return an installation of the core alone, with long folders."""
    names = dict.fromkeys(name for names in PACKAGES.values() for name in names)
    return Installation(
        "1.0.0",
        "3.12.10",
        "Linux x86_64",
        tuple(Package(name, (), True, "12.34.56", "") for name in installation.CORE),
        (
            *(Package(name, ("x",), False, "", "is not installed") for name in names),
            Package("pycollada", (), False, "", "is not installed"),
        ),
        tuple(Extra(name, needs, install_command(name)) for name, needs in PACKAGES.items()),
        tuple(Cache(name, "/home/somebody/.cache/mbplugin", True, 123_000_000, "") for name in "abc"),
        Facility(True, "2.39.5, /usr/bin/git"),
        Facility(False, "DISPLAY is not set"),
        Facility(False, "no Chromium, Chrome or Edge is found"),
    )


def test_the_longest_text_is_one_screen() -> None:
    lines = [line.text for line in installation_lines(bare(), 80)]
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line.endswith(install_command("dask"))]


def test_what_is_installed_and_broken_is_said_beside_the_command() -> None:
    found = bare()
    broken = replace(
        found.optional[0], installed=True, version="1.0", reason="does not import (OSError: libX)"
    )
    lines = [line.text for line in installation_lines(replace(found, optional=(broken,)), 80)]
    assert [" ".join(line.split()) for line in lines if "broken" in line] == [
        "broken pybullet does not import (OSError: libX)"
    ]


@pytest.mark.long
def test_all_that_the_tests_need_works_here() -> None:
    """The modules that are tried are those that the packages have."""
    found = examine()
    wrong = [one for one in found.optional if one.installed and not one.works]
    assert found.works and not wrong
    assert all(one.version for one in (*found.core, *found.optional) if one.installed)
