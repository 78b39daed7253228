"""``mbplugin diff REV:PATH``: models at git revisions are data, whatever the tree of the revision holds."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from command_line import SAMPLE, call, call_process
from mbplugin.cli.revision import revision_and_path
from mbplugin.processes import git as of_git
from mbplugin.processes.git import Repository, open_repository
from places import ASSETS

ARM = "robots/arm.urdf"


def git(*arguments: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always")
    done = subprocess.run(
        ["git", *identity, *arguments],
        input=stdin,
        check=True,
        capture_output=True,
        env={**os.environ, **(env or {})},
    )
    return done.stdout.decode().strip()


def commit(message: str = "x") -> None:
    git("add", "--all")
    git("commit", "--quiet", "--message", message)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: the sample repository, with a commit, and an arm that is heavier than in it."""
    folder = tmp_path / "repository"
    shutil.copytree(SAMPLE, folder)
    monkeypatch.chdir(folder)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    git("init", "--quiet", "--initial-branch", "main")
    commit()
    arm = folder / ARM
    arm.write_text(arm.read_text().replace('<mass value="2.0"/>', '<mass value="9.0"/>'))
    assert '"9.0"' in arm.read_text()
    return folder


def left_behind(folder: Path) -> list[Path]:
    return list(folder.glob("mbplugin-revision-*"))


def test_a_revision_and_the_working_tree(repository: Path) -> None:
    done = call("diff", f"HEAD:{ARM}", ARM, "--output-format", "json")
    assert (done.code, done.err) == (1, "")
    document = json.loads(done.out)
    (difference,) = document["differences"]
    assert (difference["kind"], difference["value_a"], difference["value_b"]) == ("mass", "2 kg", "9 kg")
    assert difference["place_a"]["file"] == f"HEAD:{ARM}"
    files = {one["path"]: one["sha256"] for one in document["record"]["files"]}
    assert set(files) == {f"HEAD:{ARM}", ARM} and all(files.values()) and len(set(files.values())) == 2
    assert left_behind(repository.parent) == []


@pytest.mark.parametrize("output_format", ["text", "json", "html"])
def test_no_output_names_the_temporary_folder(repository: Path, output_format: str) -> None:
    done = call("diff", f"HEAD:{ARM}", ARM, "--output-format", output_format)
    assert done.code == 1 and f"HEAD:{ARM}" in done.out
    assert "mbplugin-revision-" not in done.out


def test_two_revisions(repository: Path) -> None:
    commit("heavier")
    assert call("diff", f"HEAD~1:{ARM}", f"main:{ARM}").code == 1
    assert call("diff", f"HEAD^{{/heavier}}:{ARM}", f"main:{ARM}").code == 0
    assert call("diff", f"HEAD:{ARM}", f"main@{{0}}:{ARM}").code == 0


def test_paths_are_those_of_git(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository / "robots")
    for path in (ARM, "./arm.urdf", "../robots/arm.urdf"):
        assert call("diff", f"HEAD:{path}", "arm.urdf").code == 1
    done = call("diff", "HEAD:arm.urdf", "arm.urdf")
    assert done.code == 2 and done.err.endswith("write HEAD:./arm.urdf.\n")


@pytest.mark.parametrize(
    ("argument", "words"),
    [
        (f"nope:{ARM}", "'nope' is no revision of the repository"),
        (f"--upload-pack=touch x:{ARM}", "no such option"),
        (f"HEAD --batch:{ARM}", "'HEAD --batch' is no revision"),
        (f"HEAD^{{tree}}\nHEAD:{ARM}", "is no revision"),
        ("HEAD:robots/am.urdf", "did you mean HEAD:robots/arm.urdf?"),
        ("HEAD:robots", "this is a folder; name a file of it"),
        ("HEAD:../../etc/passwd", "the revision has no such file"),
        ("HEAD:/etc/passwd", "the revision has no such file"),
    ],
)
def test_what_is_not_there_is_said_in_one_sentence(repository: Path, argument: str, words: str) -> None:
    done = call("diff", argument, ARM)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert words in done.err
    # also where the shell's -- ends the options
    assert call("diff", "--", argument, ARM).code == 2
    assert not (repository / "x").exists() and left_behind(repository.parent) == []


def test_a_revision_that_looks_like_an_option(repository: Path) -> None:
    done = call("diff", "--", f"--output=x:{ARM}", ARM)
    assert done.code == 2 and "is no revision" in done.err
    assert not list(repository.glob("x*"))


def test_outside_of_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = call("diff", f"HEAD:{ARM}", ARM)
    assert done.code == 2 and "needs a git repository, and the working folder is in none" in done.err


def test_without_git(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # a git in the working folder, or in a relative folder of PATH, is not run
    (repository / "git").write_text("#!/bin/sh\ntouch ran\n")
    (repository / "git").chmod(0o755)
    monkeypatch.setenv("PATH", os.pathsep.join((".", "", str(repository / "robots"))))
    done = call("diff", f"HEAD:{ARM}", ARM)
    assert done.code == 2 and "needs git, which is not installed; install git" in done.err
    assert not (repository / "ran").exists()


def test_a_file_with_a_colon_in_its_name_is_a_file(repository: Path) -> None:
    shutil.copy(ARM, "HEAD:arm.urdf")
    assert call("diff", "HEAD:arm.urdf", ARM).code == 0
    assert revision_and_path("C:\\robots\\arm.urdf") is None
    assert revision_and_path("package://a/b.urdf") is None
    assert revision_and_path("arm.urdf") is None and revision_and_path(":arm.urdf") is None
    assert revision_and_path("HEAD^{/fix: it}:a:b.urdf") == ("HEAD^{/fix: it}", "a:b.urdf")


@pytest.mark.long
def test_includes_and_packages_are_those_of_the_revision(repository: Path) -> None:
    package = repository / "ros" / "arm_description"
    (package / "urdf").mkdir(parents=True)
    (package / "package.xml").write_text("<package><name>arm_description</name></package>")
    (repository / "ros" / "parts").mkdir()
    (repository / "ros" / "parts" / "package.xml").write_text("<package><name>parts</name></package>")
    (repository / "robots" / "more.xacro").write_text("<robot/>")
    part = '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:property name="m" value="{}"/></robot>'
    (repository / "ros" / "parts" / "part.xacro").write_text(part.format(2))
    (package / "urdf" / "arm.urdf.xacro").write_text(
        '<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro">'
        '<xacro:include filename="$(find parts)/part.xacro"/><xacro:include filename="../../../robots/more.xacro"/>'
        '<link name="base"><inertial><mass value="${m}"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
        "</inertial></link></robot>"
    )
    commit()
    (repository / "ros" / "parts" / "part.xacro").write_text(part.format(5))
    file = "ros/arm_description/urdf/arm.urdf.xacro"
    done = call("diff", f"HEAD:{file}", file, "--package-dir", "ros", "--output-format", "json")
    assert done.code == 1, done.err
    (mass,) = [one for one in json.loads(done.out)["differences"] if one["kind"] == "mass"]
    assert (mass["value_a"], mass["value_b"]) == ("2 kg", "5 kg")


def test_errors_name_the_revision(repository: Path) -> None:
    (repository / "robots" / "broken.urdf").write_text("<robot><link></robot>")
    commit()
    done = call("diff", "HEAD:robots/broken.urdf", ARM)
    assert done.code == 2 and done.err.startswith("mbplugin: HEAD:robots/broken.urdf:1")


# Nothing of the repository runs, and nothing leaves the temporary folder


def test_no_hook_filter_or_text_conversion_runs(repository: Path) -> None:
    touch = f"touch {repository / 'ran'}"
    (repository / ".gitattributes").write_text("*.urdf filter=evil diff=evil working-tree-encoding=UTF-16\n")
    git("add", ".gitattributes")
    git("commit", "--quiet", "--message", "attributes")
    for key in ("filter.evil.smudge", "filter.evil.clean", "diff.evil.textconv", "diff.evil.command"):
        git("config", key, f"{touch}; cat")
    git("config", "core.fsmonitor", touch)
    git("config", "core.pager", touch)
    hooks = repository / ".git" / "hooks"
    for name in ("post-checkout", "post-index-change", "reference-transaction"):
        (hooks / name).write_text(f"#!/bin/sh\n{touch}\n")
        (hooks / name).chmod(0o755)
    assert call("diff", f"HEAD:{ARM}", ARM).code == 1
    assert not (repository / "ran").exists()


def test_a_tree_that_leaves_its_folder(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.urdf").write_text(Path(ARM).read_text())
    robots = repository / "robots"
    (robots / "out.urdf").symlink_to("../../secret.urdf")
    (robots / "absolute.urdf").symlink_to(tmp_path / "secret.urdf")
    (robots / "inside.urdf").symlink_to("../robots/arm.urdf")
    # a way that stays inside by its letters, and leaves by the folder that the first link leads to
    (robots / "up").symlink_to("..")
    (robots / "round.urdf").symlink_to("up/../secret.urdf")
    commit()
    assert call("diff", "HEAD:robots/inside.urdf", ARM).code == 0
    for name in ("out", "absolute", "round"):
        done = call("diff", f"HEAD:robots/{name}.urdf", ARM)
        assert done.code == 2 and "the file is left out of the revision" in done.err
        assert "robots/absolute.urdf, robots/out.urdf, robots/round.urdf" in done.err


def test_a_tree_made_by_hand(repository: Path, tmp_path: Path) -> None:
    """Git itself refuses to make such trees; an object can hold anything."""
    blob = git("hash-object", "-w", "--stdin", stdin=b"<robot/>")
    target = git("hash-object", "-w", "--stdin", stdin=b"..")
    here = git("hash-object", "-w", "--stdin", stdin=b".")
    raw = b"".join(
        mode + b" " + name + b"\0" + bytes.fromhex(sha)
        for mode, name, sha in (
            (b"100644", b"../escaped", blob),
            (b"100644", b"..", blob),
            (b"120000", b"a", target),
            (b"100644", b"a/escaped", blob),
            (b"120000", b"b", here),
            (b"120000", b"b/linked", here),
            (b"100644", b".GIT", blob),
            (b"100644", b"fine.urdf", blob),
        )
    )
    sha = git("hash-object", "-w", "--literally", "-t", "tree", "--stdin", stdin=raw)
    folder = tmp_path / "below" / "written"
    folder.mkdir(parents=True)
    opened = open_repository(repository, "a test")
    left_out = opened.write(opened.entries(sha), folder)
    assert {"../escaped", "..", ".GIT", "b/linked"} <= set(left_out)
    assert not (folder / "linked").is_symlink()
    assert (folder / "fine.urdf").read_bytes() == b"<robot/>"
    assert not (folder.parent / "escaped").exists() and not (folder / "escaped").exists()


def test_pointers_of_lfs_stay_pointers_and_submodules_are_left_out(repository: Path, tmp_path: Path) -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 9\n"
    (repository / "mesh.stl").write_bytes(pointer)
    other = tmp_path / "other"
    shutil.copytree(repository / "robots", other)
    git("-C", str(other), "init", "--quiet")
    git("-C", str(other), "add", ".")
    git("-C", str(other), "commit", "--quiet", "--message", "x")
    git("submodule", "--quiet", "add", str(other), "vendor")
    commit()
    opened = open_repository(repository, "a test")
    folder = tmp_path / "written"
    folder.mkdir()
    tree = opened.tree("HEAD")
    assert tree is not None
    assert opened.write(opened.entries(tree), folder) == ["vendor"]
    assert (folder / "mesh.stl").read_bytes() == pointer


def test_a_tree_that_is_too_large_is_refused(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(of_git, "MOST_FILES", 3)
    done = call("diff", f"HEAD:{ARM}", ARM)
    assert done.code == 2 and "the revision has 4 files" in done.err and "git worktree add" in done.err


def test_line_ends_are_those_of_the_objects(repository: Path, tmp_path: Path) -> None:
    (repository / "crlf.urdf").write_bytes(b"<robot>\r\n</robot>\r\n")
    commit()
    git("config", "core.autocrlf", "true")
    git("config", "core.eol", "lf")
    opened = open_repository(repository, "a test")
    commit_name = opened.commit("HEAD")
    assert commit_name is not None
    assert opened.content(commit_name, "crlf.urdf") == b"<robot>\r\n</robot>\r\n"
    assert opened.content(commit_name, "robots") is None and opened.content(commit_name, "none") is None


def test_a_bare_repository(repository: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare"))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "bare"))
    monkeypatch.chdir(tmp_path)
    opened = open_repository(tmp_path, "a test")
    assert isinstance(opened, Repository)
    assert call("diff", f"HEAD:{ARM}", f"main:{ARM}").code == 0


@pytest.mark.long
@pytest.mark.skipif(sys.platform == "win32", reason="names with colons")
def test_in_a_process_of_its_own(repository: Path) -> None:
    done = call_process(
        "diff", "HEAD:assets/four_bar.urdf", str(ASSETS / "four_bar.urdf"), GIT_DIR=str(repository / ".git")
    )
    assert done.code == 2 and "the revision has no such file" in done.err
