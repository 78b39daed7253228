"""The steps of action.yml and of the GitLab template, run in a shell on the sample repository."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from github_annotations import annotations
from places import ROOT, TESTS

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
GITLAB = yaml.safe_load((ROOT / "templates" / "mbplugin.gitlab-ci.yml").read_text(encoding="utf-8"))[
    "mbplugin"
]
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"] if "name" in step}
ARM = "robots/arm.urdf"
#: A gh that keeps what it is given, and answers with the comments of an earlier run.
GH = """#!/usr/bin/env bash
printf '%s\\n' "$*" >> "$GH_LOG"
for word in "$@"; do
  [[ $word != body=@* ]] || cp "${word#body=@}" "$GH_LOG.body"
done
[[ $* != *--input* ]] || cp "${@: -1}" "$GH_LOG.review"
case "$*" in
  *issues/7/comments*--jq*) printf '%s' "${GH_COMMENT:-}" ;;
  *pulls/7/comments*--jq*) cat "$GH_LOG.known" 2> /dev/null || true ;;
esac
"""


def git(*arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    done = subprocess.run(["git", *identity, *arguments], check=True, capture_output=True)
    return done.stdout.decode().strip()


def commit() -> str:
    git("add", "--all")
    git("commit", "--quiet", "--message", "x")
    return git("rev-parse", "HEAD")


class Runner:
    """A folder with the repository, programs in front of PATH, and the files that GitHub gives to steps."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.programs = folder / "repository", folder / "programs"
        self.files = {name: folder / name for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        self.log = folder / "gh.log"
        shutil.copytree(TESTS / "sample_repository", self.folder)
        os.chdir(self.folder)
        git("init", "--quiet", "--initial-branch", "main")
        self.base = commit()
        arm = self.folder / ARM
        text = arm.read_text().replace('<mass value="2.0"/>', '<mass value="9.0"/>')
        arm.write_text(text.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 2 0"/>'))
        self.head = commit()
        self.programs.mkdir()
        self.program("gh", GH)
        self.program("mbplugin", f'#!/bin/sh\nexec "{sys.executable}" -P -m mbplugin "$@"\n')

    def program(self, name: str, text: str) -> None:
        (self.programs / name).write_text(text)
        (self.programs / name).chmod(0o755)

    def run(self, command: str, shell: tuple[str, ...] = ("bash", "-e", "-c"), **variables: str) -> Any:
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "GITHUB_"))}
        return subprocess.run(
            [*shell, command],
            cwd=self.folder,
            env={
                **inherited,
                "PYTHONPATH": str(ROOT),
                "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}",
                "GITHUB_WORKSPACE": str(self.folder),
                "GH_LOG": str(self.log),
                **{name: str(file) for name, file in self.files.items()},
                **variables,
            },
            capture_output=True,
            check=False,
            timeout=300,
            text=True,
        )

    def step(self, name: str, more: dict[str, str] | None = None, **inputs: str) -> Any:
        """Run a step as the runner does: expressions are evaluated in its environment, never in its text."""
        step = STEPS[name]
        values = {key: str(one["default"]) for key, one in ACTION["inputs"].items()} | {
            key.replace("_", "-"): value for key, value in inputs.items()
        }
        context = {
            **{f"inputs.{key}": value for key, value in values.items()},
            "github.action_path": str(ROOT),
            "github.event.pull_request.base.sha": self.base,
            "github.event.pull_request.head.sha": self.head,
            "github.event.pull_request.number": "7",
            "github.repository": "owner/name",
        }
        assert step["shell"] == "bash"
        environment = {
            key: re.sub(r"\$\{\{ (\S+) \}\}", lambda match: context[match[1]], value)
            for key, value in step["env"].items()
        }
        shell = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c")
        return self.run(step["run"], shell, **environment, **(more or {}))


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Runner:
    monkeypatch.chdir(tmp_path)
    return Runner(tmp_path)


def test_inputs_are_never_part_of_a_command() -> None:
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")
        assert set(step.get("with", {})) <= {"python-version"}
    assert {"path", "fail-on", "baseline", "fix"} <= set(ACTION["inputs"])
    assert all("description" in one and "default" in one for one in ACTION["inputs"].values())
    values = [value for step in STEPS.values() for value in step["env"].values()]
    used = {word for value in values for word in re.findall(r"inputs\.([\w-]+)", value)} | {"python"}
    assert used == set(ACTION["inputs"])


def test_the_tool_is_installed_from_the_checkout_of_the_action(runner: Runner) -> None:
    runner.program("python", '#!/bin/sh\nprintf "%s\\n" "$@" > installed\n')
    assert runner.step("Install").returncode == 0
    installed = (runner.folder / "installed").read_text().splitlines()
    assert installed[:3] == ["-m", "pip", "install"] and installed[-1] == f"{ROOT}[xacro,yaml]"
    assert runner.step("Install", extras="").returncode == 0
    assert (runner.folder / "installed").read_text().splitlines()[-1] == str(ROOT)
    bad = runner.step("Install", extras="xacro] evil [x")
    assert bad.returncode == 2 and "letters and commas" in bad.stderr


@pytest.mark.long
def test_lint_annotates_and_writes_sarif(runner: Runner) -> None:
    done = runner.step("Lint")
    assert done.returncode == 1, done.stderr
    places = {(a["file"], a["line"], a["title"].split()[0]) for a in annotations(done.stdout)}
    assert ("robots/gripper.urdf", "9", "MB103") in places and (ARM, "23", "MB125") in places
    log = json.loads((runner.folder / "mbplugin-results" / "lint.sarif").read_text())
    schema = json.loads((TESTS / "schemas" / "sarif-2.1.0.json").read_text())
    jsonschema.Draft4Validator(schema).validate(log)
    assert runner.files["GITHUB_OUTPUT"].read_text() == "sarif=mbplugin-results/lint.sarif\n"
    assert runner.step("Lint", path=ARM).returncode == 0
    assert runner.step("Lint", path=ARM, fail_on="note").returncode == 1


@pytest.mark.long
def test_a_baseline(runner: Runner) -> None:
    runner.run("mbplugin lint . --output-format json --output baseline.json")
    assert runner.step("Lint", baseline="baseline.json", fail_on="note").returncode == 0


@pytest.mark.long
def test_the_summary_says_what_changed(runner: Runner) -> None:
    done = runner.step("Compare with the base", stops="true")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    summary = (runner.folder / "mbplugin-results" / "summary.md").read_text()
    assert summary == runner.files["GITHUB_STEP_SUMMARY"].read_text()
    assert "| mass | `upper_arm` | `2 kg` | `9 kg` |" in summary and "| `shoulder` | 3 rad/s |" in summary
    assert f"Before: `{runner.base[:16]}:{ARM}`, after: `{ARM}`." in summary
    assert summary.count("<!-- mbplugin:diff -->") == 1


@pytest.mark.long
def test_two_robots_are_one_summary_and_none_says_so(runner: Runner) -> None:
    runner.run("sed -i 's/0.001/0.002/' robots/four_bar.sdf")
    four_bar = runner.folder / "robots" / "four_bar.sdf"
    four_bar.write_text(re.sub(r"<mass>[^<]*", "<mass>7", four_bar.read_text()))
    commit()
    runner.step("Compare with the base")
    summary = (runner.folder / "mbplugin-results" / "summary.md").read_text()
    assert summary.count("### `") == 2 and summary.count("<!-- mbplugin:diff -->") == 1
    runner.base = commit_of_nothing()
    runner.step("Compare with the base")
    summary = (runner.folder / "mbplugin-results" / "summary.md").read_text()
    assert summary == "<!-- mbplugin:diff -->\nNo robot changes.\n"


def commit_of_nothing() -> str:
    git("commit", "--quiet", "--allow-empty", "--message", "x")
    return git("rev-parse", "HEAD")


def test_a_base_that_is_not_in_the_clone(runner: Runner) -> None:
    runner.base = "0" * 40
    done = runner.step("Compare with the base")
    assert done.returncode == 2 and "check out with fetch-depth: 0" in done.stderr


@pytest.mark.long
def test_the_comment_is_added_once_and_then_updated(runner: Runner) -> None:
    runner.step("Lint", fix="true")
    runner.step("Compare with the base")
    done = runner.step("Comment", token="secret")
    assert (done.returncode, done.stderr) == (0, "")
    log = runner.log.read_text()
    assert "--method POST repos/owner/name/issues/7/comments" in log and "secret" not in log + done.stdout
    body = Path(f"{runner.log}.body").read_text()
    assert body == (runner.folder / "mbplugin-results" / "summary.md").read_text()
    review = json.loads(Path(f"{runner.log}.review").read_text())
    assert [one["line"] for one in review["comments"]] == [23, 30]

    # a later run updates the comment, and makes no suggestion twice
    runner.log.unlink()
    Path(f"{runner.log}.known").write_text("\n".join(one["body"] for one in review["comments"]))
    assert runner.step("Comment", {"GH_COMMENT": "12"}, token="secret").returncode == 0
    log = runner.log.read_text()
    assert "--method PATCH repos/owner/name/issues/comments/12" in log and "POST" not in log


@pytest.mark.long
def test_a_patch(runner: Runner) -> None:
    assert runner.step("Lint", fix="true").returncode == 1
    runner.run("git apply mbplugin-results/fixes.patch")
    assert '<axis xyz="0 1 0"/>' in (runner.folder / ARM).read_text()


# What is hostile


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("path", "$(touch x)"),
        ("path", "`touch x`; touch x"),
        ("path", "--output=x"),
        ("path", "robots\n--force\n-h"),
        ("fail-on", "$(touch x)"),
        ("fail-on", "note --output x"),
        ("baseline", "x; touch x"),
        ("baseline", "$(touch x)"),
        ("fix", "$(touch x)"),
        ("stops", '"; touch x; "'),
    ],
)
def test_no_input_is_run(runner: Runner, name: str, value: str) -> None:
    for step in ("Lint", "Compare with the base"):
        runner.step(step, **{name: value})
    assert not (runner.folder / "x").exists() and not (runner.folder / "touch").exists()


@pytest.mark.long
def test_names_of_files_and_robots_are_no_commands(runner: Runner) -> None:
    text = (runner.folder / ARM).read_text()
    names = [
        "$(touch x).urdf",
        "a\n::error::owned.urdf",
        "`touch x`.urdf",
        "-x.urdf",
        "a b'\".urdf",
        "x;touch x.urdf",
    ]
    for name in names:
        (runner.folder / "robots" / name).write_text(text)
    (runner.folder / "robots" / "b\n::warning::not compared.urdf").write_text("<robot/>")
    runner.base = commit()
    for name in names:
        owned = text.replace("upper_arm", "@all&#10;::error::owned|`").replace('"9.0"', '"5.0"')
        (runner.folder / "robots" / name).write_text(owned)
    (runner.folder / "robots" / "b\n::warning::not compared.urdf").write_text("<robot name='b'/>")
    commit()
    lint = runner.step("Lint", fix="true")
    done = runner.step("Compare with the base")
    assert done.returncode == 0, done.stderr
    printed = "\n".join((lint.stdout, lint.stderr, done.stdout, done.stderr))
    for line in printed.splitlines():
        assert not line.lstrip().startswith("::") or "title=MB" in line, line
    summary = (runner.folder / "mbplugin-results" / "summary.md").read_text()
    assert summary.count("### `arm`") == len(names)
    assert not any(line.startswith("::") for line in summary.splitlines())
    assert not list(runner.folder.rglob("x")) and not list(runner.folder.rglob("touch"))


# GitLab


@pytest.mark.long
def test_the_gitlab_template(runner: Runner, tmp_path: Path) -> None:
    own = shutil.which("git")
    clone = f'[ "$1" != clone ] || {{ shift 7; ln -s {ROOT} "$2"; exit; }}'
    runner.program("git", f'#!/bin/sh\n{clone}\nexec {own} "$@"\n')
    runner.program("pip", "#!/bin/sh\n")
    runner.program("python", f'#!/bin/sh\n[ "$2" != pip ] || exit 0\nexec {sys.executable} "$@"\n')
    script = "\n".join(GITLAB["script"])
    variables = {key: str(value) for key, value in GITLAB["variables"].items()}
    place = {"ACTION_PATH": str(tmp_path / "tool"), "CI_MERGE_REQUEST_DIFF_BASE_SHA": runner.base}
    done = runner.run(script, **variables, **place)
    assert done.returncode == 1, done.stderr
    assert "3 runs: 1 passed, 2 failed" in done.stdout
    results = runner.folder / "mbplugin-results"
    report = json.loads((results / "codequality.json").read_text())
    assert {"description", "check_name", "fingerprint", "severity", "location"} == set(report[0])
    assert GITLAB["artifacts"]["reports"] == {
        "codequality": "mbplugin-results/codequality.json",
        "junit": "mbplugin-results/junit.xml",
    }
    assert all((runner.folder / path).exists() for path in GITLAB["artifacts"]["reports"].values())
    assert "| mass | `upper_arm` |" in (results / "summary.md").read_text()
