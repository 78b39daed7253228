"""``mbplugin init``: a repository gets what lints its robots, nothing is overwritten, names stay in their quotes."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
import yaml

import mbplugin.initialization as writing
from command_line import ROOT, SAMPLE, call
from mbplugin.errors import BadUsage
from mbplugin.files import toml_text
from mbplugin.initialization import NewFile, host_of, pattern_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CONFIG, BASELINE, HOOKS = "mbplugin.toml", "mbplugin-baseline.json", ".pre-commit-config.yaml"
WORKFLOW, GITLAB, SCRIPT = ".github/workflows/mbplugin.yml", ".gitlab-ci.yml", "mbplugin-ci.sh"
#: A model that cannot be read: its joint names links that there are not.
PART = '<robot name="p"><joint name="j" type="fixed"><parent link="b"/><child link="c"/></joint></robot>'


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)
    return done.stdout.decode()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the sample repository out, without its configuration, as a git repository of its own."""
    folder = tmp_path / "repository"
    shutil.copytree(SAMPLE, folder)
    (folder / CONFIG).unlink()
    git(folder, "init", "--quiet", "--initial-branch", "main")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "robots")
    git(folder, "remote", "add", "origin", "git@github.com:acme/robots.git")
    monkeypatch.chdir(folder)
    return folder


def files_of(folder: Path) -> dict[str, bytes]:
    """Return the contents of all files below a folder but those of git."""
    found = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def start(*arguments: str) -> str:
    done = call("init", *arguments)
    assert (done.code, done.err) == (0, ""), done.err
    return done.out


def words(text: str) -> str:
    return " ".join(text.split())


# What is written


def test_a_repository_passes_after_it_and_fails_with_a_new_defect(repository: Path) -> None:
    assert call("lint", ".").code == 1
    before = files_of(repository)
    text = start()
    after = files_of(repository)
    assert after.keys() - before.keys() == {CONFIG, BASELINE, HOOKS, WORKFLOW}
    assert all(after[name] == content for name, content in before.items())
    assert "robots 3: robots/arm.urdf" in words(text) and "5 findings, known in the baseline" in words(text)
    assert call("lint", ".").code == 0
    arm = repository / "robots" / "arm.urdf"
    arm.write_text(arm.read_text().replace('ixx="', 'ixx="9', 1))
    done = call("lint", ".")
    assert done.code == 1 and "MB103" in done.out and "3 runs: 2 passed, 1 failed" in done.out


@pytest.mark.long
def test_the_lint_passes_from_every_folder_and_in_pytest(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start()
    monkeypatch.chdir(repository / "robots")
    assert call("lint", ".").code == 0
    assert call("lint", "gripper.urdf").code == 0
    monkeypatch.chdir(repository.parent)
    assert call("lint", "repository").code == 0
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--mbplugin", "-q", "-p", "no:cacheprovider", "-p", "no:randomly"],
        cwd=repository,
        env={**{k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
        text=True,
    )
    assert "3 passed" in done.stdout, done.stdout


def test_it_works_from_a_folder_below_the_root(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(repository / "robots")
    start()
    assert Path.cwd() == repository / "robots"
    assert (repository / CONFIG).exists() and not (repository / "robots" / CONFIG).exists()


def test_hook_and_workflow_use_what_this_repository_has(repository: Path) -> None:
    start("--source", "https://github.com/acme/mbplugin.git")
    (hook,) = yaml.safe_load((repository / HOOKS).read_text())["repos"]
    version = re.search(r'__version__ = "(.*)"', (ROOT / "mbplugin" / "version.py").read_text())
    assert version is not None
    tag = f"v{version[1]}"
    assert hook == {
        "repo": "https://github.com/acme/mbplugin",
        "rev": tag,
        "hooks": [{"id": "mbplugin-lint"}],
    }
    ours = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert {one["id"] for one in hook["hooks"]} <= {one["id"] for one in ours}
    (job,) = yaml.safe_load((repository / WORKFLOW).read_text())["jobs"].values()
    step = job["steps"][-1]
    assert step["uses"] == f"acme/mbplugin@{tag}"
    assert step["with"].keys() <= yaml.safe_load((ROOT / "action.yml").read_text())["inputs"].keys()
    assert "placeholder" in start("--ci", "gitlab", "--dry-run")


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://gitlab.example.org/acme/robots", GITLAB),
        ("git@codeberg.org:acme/github.git", SCRIPT),
        ("", SCRIPT),
    ],
)
def test_the_host_is_that_of_the_remote(address: str, name: str, repository: Path) -> None:
    git(repository, "remote", "remove", "origin")
    if address:
        git(repository, "remote", "add", "upstream", address)
    start("--source", "https://gitlab.example.org/acme/mbplugin")
    assert {name} == {WORKFLOW, GITLAB, SCRIPT} & files_of(repository).keys()
    text = (repository / name).read_text()
    if name == GITLAB:
        template = yaml.safe_load((ROOT / "templates" / "mbplugin.gitlab-ci.yml").read_text())["mbplugin"]
        data = yaml.safe_load(text)
        assert data["mbplugin"]["variables"].keys() <= template["variables"].keys()
        assert data["include"][0]["remote"].endswith("/templates/mbplugin.gitlab-ci.yml")
    else:
        assert os.access(repository / name, os.X_OK)
        assert subprocess.run(["bash", "-n", name], check=False).returncode == 0


@pytest.mark.parametrize(
    ("address", "host"),
    [
        ("https://github.com/a/b", "github"),
        ("ssh://git@github.example.org:22/a/b.git", "github"),
        ("git@github-work:a/b.git", "github"),
        ("https://user:word@gitlab.com/a/b", "gitlab"),
        ("https://gitlab-ci.example.org/a", "gitlab"),
        ("https://example.org/github/gitlab", None),
        ("https://notgithub.org/a", None),
        ("/home/github/robots", None),
        ("", None),
    ],
)
def test_hosts_are_known_by_name(address: str, host: str | None) -> None:
    assert host_of(address) == host


@pytest.mark.long
def test_the_script_runs_the_steps_of_the_template(repository: Path, tmp_path: Path) -> None:
    start("--ci", "script")
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, text in {
        "git": f'#!/bin/sh\nmkdir -p "${{@: -1}}"\ncp -r {ROOT}/templates "${{@: -1}}"\n'.replace(
            "sh", "bash", 1
        ),
        "python": "#!/bin/sh\nexit 0\n",
        "mbplugin": f'#!/bin/sh\nexec "{sys.executable}" -P -m mbplugin "$@"\n',
    }.items():
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    variables = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [str(repository / SCRIPT)],
        cwd=tmp_path,
        env={**os.environ, **variables},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (repository / "mbplugin-results" / "lint.sarif").exists()


# What is excluded, and why


@pytest.mark.long
def test_what_is_excluded_has_its_reason(repository: Path) -> None:
    (repository / ".gitignore").write_text("build/\n")
    (repository / "build").mkdir()
    shutil.copy("robots/gripper.urdf", "build/copy.urdf")
    (repository / "robots" / "broken.urdf").write_text("<robot name='x'><link")
    head = "<!-- |    This document was autogenerated by xacro from tool.urdf.xacro | -->\n"
    shutil.copy("robots/gripper.urdf", "robots/tool.urdf.xacro")
    (repository / "robots" / "tool.urdf").write_text(head + Path("robots/gripper.urdf").read_text())
    macros = '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:macro name="m"/></robot>'
    (repository / "robots" / "macros.xacro").write_text(macros)
    document = json.loads(start("--output-format", "json"))
    reasons = {one["pattern"]: one["reason"] for one in document["excluded"]}
    assert reasons["build/*"] == "git ignores it"
    assert "autogenerated" not in reasons["robots/tool.urdf"]
    assert reasons["robots/tool.urdf"] == "xacro wrote it from tool.urdf.xacro, which is linted"
    assert reasons["robots/broken.urdf"]
    assert {one["file"]: one["reason"] for one in document["skipped"]}["robots/macros.xacro"]
    config = tomllib.loads((repository / CONFIG).read_text())
    assert set(config["exclude"]) == reasons.keys()
    assert call("lint", ".").code == 0


def test_a_folder_without_robots_gets_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for text in (None, "<robot name='x'><link"):
        if text:
            (tmp_path / "part.urdf").write_text(text)
        done = call("init")
        assert done.code == 2 and done.out == "" and str(tmp_path) in done.err
        assert len(files_of(tmp_path)) == int(text is not None)


def test_outside_of_git_it_says_so(repository: Path) -> None:
    shutil.rmtree(repository / ".git")
    text = words(start())
    assert "in no git repository" in text and "git init" in text
    assert {CONFIG, BASELINE, HOOKS, SCRIPT} <= files_of(repository).keys()
    assert call("lint", ".").code == 0


# Nothing is overwritten


@pytest.mark.parametrize("option", ["--dry-run", "--diff"])
def test_these_options_write_nothing(option: str, repository: Path) -> None:
    before = files_of(repository)
    text = start(option)
    assert files_of(repository) == before
    assert all(name in text for name in (CONFIG, BASELINE, HOOKS, WORKFLOW))


def test_the_patch_is_what_is_written(repository: Path) -> None:
    (repository.parent / "patch").write_text(start("--diff", "--ci", "script"))
    start("--ci", "script")
    written = files_of(repository)
    git(repository, "clean", "--quiet", "--force", "-d")
    git(repository, "apply", "../patch")
    assert files_of(repository) == written
    assert os.access(repository / SCRIPT, os.X_OK)


def test_an_existing_file_stays_and_what_to_add_is_printed(repository: Path) -> None:
    mine = {CONFIG: 'fail-on = "warning"\n', HOOKS: "repos: []\n", WORKFLOW: "on: push\n"}
    for name, text in mine.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text)
    out = start()
    assert {name: (repository / name).read_text() for name in mine} == mine
    assert all(f"{name}, left as it is; add to it" in out for name in mine)
    assert f'    baseline = "{BASELINE}"' in out.splitlines() and "- id: mbplugin-lint" in out
    assert call("lint", ".").code == 1
    (repository / CONFIG).write_text(f'baseline = "{BASELINE}"\n' + mine[CONFIG])
    assert call("lint", ".").code == 0


def test_a_second_run_has_nothing_to_do(repository: Path) -> None:
    start()
    before = files_of(repository)
    out = words(start())
    assert files_of(repository) == before
    assert "written nothing" in out and "add to it" not in out and out.count("it has all") == 3


def test_a_pyproject_with_settings_is_the_configuration(repository: Path) -> None:
    (repository / "pyproject.toml").write_text('[tool.mbplugin]\nfail-on = "error"\n')
    out = start()
    assert not (repository / CONFIG).exists()
    assert "pyproject.toml, left as it is" in out and "    [tool.mbplugin]" in out.splitlines()


def test_a_link_is_not_followed(repository: Path, tmp_path: Path) -> None:
    (repository / HOOKS).symlink_to(tmp_path / "nowhere.yaml")
    start()
    assert not (tmp_path / "nowhere.yaml").exists()
    git(repository, "clean", "--quiet", "--force", "-d")
    (tmp_path / "elsewhere").mkdir()
    (repository / ".github").symlink_to(tmp_path / "elsewhere")
    before = files_of(repository)
    done = call("init")
    assert done.code == 2 and "leads out of the repository" in done.err
    assert files_of(repository) == before and not list((tmp_path / "elsewhere").rglob("*.yml"))


# All files or none

NEW = [NewFile("a.toml", "a = 1\n"), NewFile("deep/er/b.yml", "b: 1\n"), NewFile("c.sh", "true\n", True)]


@pytest.mark.parametrize("number", range(3))
def test_if_one_cannot_be_written_none_is(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, real = iter(range(3)), writing._take_name

    def failing(temporary: Path, target: Path) -> None:
        if next(names) == number:
            raise OSError(28, "No space left on device")
        real(temporary, target)

    monkeypatch.setattr(writing, "_take_name", failing)
    with pytest.raises(BadUsage, match="no space left on device"):
        writing.write_all(tmp_path, NEW)
    assert list(tmp_path.iterdir()) == []


def test_what_another_creates_meanwhile_stays(tmp_path: Path) -> None:
    (tmp_path / "c.sh").write_text("mine")
    with pytest.raises(BadUsage, match="exists now"):
        writing.write_all(tmp_path, NEW)
    assert files_of(tmp_path) == {"c.sh": b"mine"}


KILLED = """
import os, signal, sys
from pathlib import Path
import mbplugin.initialization as writing
from mbplugin.initialization import NewFile
point, calls = int(sys.argv[2]), 0
def killed(real):
    def call(*arguments):
        global calls
        calls += 1
        if calls == point:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*arguments)
    return call
writing._fill = killed(writing._fill)
writing._take_name = killed(writing._take_name)
os.fsync = killed(os.fsync)
writing.write_all(Path(sys.argv[1]), [NewFile("a.toml", "a = 1\\n" * 9999), NewFile("d/b.yml", "b: 1\\n" * 9999)])
"""


@pytest.mark.long_after(1)
@pytest.mark.skipif(sys.platform == "win32", reason="no signals")
@pytest.mark.parametrize("point", range(1, 7))
def test_killed_in_the_middle_no_file_is_half(point: int, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(tmp_path), str(point)], env={**os.environ, "PYTHONPATH": str(ROOT)}
    )
    assert done.returncode == -9
    whole = {"a.toml": b"a = 1\n" * 9999, "d/b.yml": b"b: 1\n" * 9999}
    left = {name: text for name, text in files_of(tmp_path).items() if ".mbplugin-" not in name}
    assert left.items() <= whole.items()
    # the names come last, one after the other
    assert bool(left) == (point == 6)


# Hostile names

PIECES = (
    *(
        "\n",
        "\r",
        "\t",
        '"',
        "'",
        "'''",
        '"""',
        "\\",
        "${{ secrets.X }}",
        "$(touch x)",
        "`id`",
        "#",
        " #",
        ": ",
        "- ",
    ),
    *(
        "]",
        "[",
        "*",
        "?",
        "[!a]",
        "{",
        "}",
        "%",
        "&",
        "!",
        "|",
        ">",
        "@",
        "\x01",
        "\x7f",
        "\x85",
        "\u2028",
        "\u202e",
    ),
    *(
        "é",
        "日本",
        "🤖",
        "\ufeff",
        "\udcff",
        "\udc80",
        "~",
        "--",
        "-x",
        "a",
        "b.urdf",
        " ",
        "null",
        "true",
        "\x1b[31m",
    ),
)


def names(seed: int, number: int) -> Iterator[str]:
    dice = random.Random(seed)
    for _ in range(number):
        name = "".join(dice.choices(PIECES, k=dice.randint(1, 9))) + ".urdf"
        yield name if dice.random() < 0.9 else "x" * (200 - len(os.fsencode(name))) + name


def test_every_text_is_read_back_from_toml() -> None:
    for name in names(1, 3000):
        text = pattern_of(name)
        line = f"exclude = [\n    {toml_text(text)},  # why\n]\n"
        assert tomllib.loads(line) == {"exclude": [text]}
        assert line.count("\n") == 3 and line.replace("\n", "").isprintable()
        assert fnmatchcase(name, text)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_hostile_names_stay_in_their_quotes(seed: int, repository: Path) -> None:
    start()
    harmless = files_of(repository)
    git(repository, "clean", "--quiet", "--force", "-d")
    bad = [os.fsencode(f"robots/{name}") for name in names(seed, 25)]
    for k, name in enumerate(bad):
        content = PART if k % 2 else Path("robots/gripper.urdf").read_text()
        Path(os.fsdecode(name)).write_text(content)
    document = json.loads(start("--output-format", "json"))
    after = files_of(repository)
    # what has no names in it is the same as without these files
    for name in (HOOKS, WORKFLOW):
        assert after[name] == harmless[name] and yaml.safe_load(after[name])
    config = tomllib.loads(after[CONFIG].decode())
    assert config.keys() == {"fail-on", "baseline", "exclude"}
    assert config["exclude"] == [one["pattern"] for one in document["excluded"]]
    files = [os.fsdecode(name) for name, k in zip(bad, range(25), strict=True) if k % 2]
    assert all(any(fnmatchcase(file, one) for one in config["exclude"]) for file in files)
    assert not any(fnmatchcase("robots/arm.urdf", one) for one in config["exclude"])
    baseline = json.loads(after[BASELINE])
    sources = {run["source"] for run in baseline["runs"]}
    # a model whose name is no UTF-8 cannot be read
    apart = {one["file"] for one in document["excluded"]}
    assert {os.fsdecode(name) for k, name in enumerate(bad) if k % 2 == 0} <= sources | apart
    assert call("lint", ".").code == 0
    Path("robots/arm.urdf").write_text(Path("robots/arm.urdf").read_text().replace('ixx="', 'ixx="9', 1))
    assert call("lint", ".").code == 1


@pytest.mark.parametrize(
    "address",
    [
        "http://a.org/b",
        "https://a.org/b\nc: d",
        "https://a.org/${{ x }}",
        "https://u:p@a.org/b",
        "https://a.org/$(id)",
        "x",
    ],
)
def test_only_an_address_is_a_source(address: str, repository: Path) -> None:
    before = files_of(repository)
    done = call("init", "--source", address)
    assert done.code == 2 and "--source is" in done.err
    assert files_of(repository) == before
