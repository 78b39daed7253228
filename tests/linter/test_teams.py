"""What a team sees: the sample repository, and every block of docs/teams.md run in a copy of it."""

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
from lxml import etree

import mbplugin as mb
from command_line import ROOT, SAMPLE, call
from github_annotations import annotations
from mbplugin.formats import LINTED, SEARCHED
from mbplugin.linter.targets import read_config

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SCHEMAS = ROOT / "tests" / "schemas"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
README, GUIDE = ROOT / "README.md", ROOT / "docs" / "teams.md"
BLOCKS = BLOCK.findall(GUIDE.read_text(encoding="utf-8"))
COMMANDS = [line for kind, text in BLOCKS if kind == "sh" for line in text.splitlines()]
#: Commands that have findings to report.
FAILING = re.compile(r"mbplugin lint robots (?!--baseline)")
IGNORE = '[[waive]]\nrule = "MB103"\nelement = "{}"\nreason = "the supplier owes us a model"\n'


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory: the sample repository."""
    folder = tmp_path / "repository"
    shutil.copytree(SAMPLE, folder)
    monkeypatch.chdir(folder)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    return folder


def blocks(kind: str, file: str) -> list[str]:
    """Return the blocks of a file that the guide shows."""
    return [text for k, text in BLOCKS if k == kind and text.startswith(f"# {file}\n")]


def process(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    inherited = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env={**inherited, "PATH": path, **environment},
        capture_output=True,
        check=False,
        timeout=120,
        text=True,
    )


# One command


def team_command() -> str:
    lines = [
        line for kind, text in BLOCK.findall(README.read_text()) if kind == "sh" for line in text.splitlines()
    ]
    (command,) = [line for line in lines if "--report" in line]
    return str(command.partition("#")[0].strip())


@pytest.mark.long
def test_the_command_of_the_readme(repository: Path) -> None:
    command = team_command().replace("tests/sample_repository", ".")
    done = process(command, repository)
    assert (done.returncode, done.stderr) == (1, "")

    log = json.loads((repository / "lint.sarif").read_text())
    jsonschema.Draft4Validator(json.loads((SCHEMAS / "sarif-2.1.0.json").read_text())).validate(log)
    levels = [result["level"] for result in log["runs"][0]["results"]]
    assert (levels.count("error"), levels.count("warning")) == (1, 1)

    places = {(a["file"], a["line"], a["title"].split()[0]) for a in annotations(done.stdout)}
    assert ("robots/gripper.urdf", "9", "MB103") in places
    assert ("robots/four_bar.sdf", "44", "MB201") in places
    assert not any(file == "robots/arm.urdf" for file, _, _ in places)

    report = etree.parse(str(repository / "junit.xml"))
    etree.XMLSchema(file=str(SCHEMAS / "junit-10.xsd")).assertValid(report)
    suite = report.getroot()[0]
    assert [suite.get(key) for key in ("tests", "failures", "errors")] == ["3", "2", "0"]


@pytest.mark.long
def test_the_command_works_in_a_fresh_clone_of_this_repository(tmp_path: Path) -> None:
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    assert process(team_command(), tmp_path).returncode == 1


def test_one_ignore_with_its_reason(repository: Path) -> None:
    def exits() -> list[int]:
        return [call("lint", f"robots/{name}").code for name in ("arm.urdf", "four_bar.sdf", "gripper.urdf")]

    config = repository / "mbplugin.toml"
    before = config.read_text()
    assert exits() == [0, 1, 1]
    config.write_text(before + IGNORE.format("finger") + 'file = "robots/gripper.urdf"\n')
    assert exits() == [0, 1, 0]
    assert "MB913" not in call("lint", "robots").out
    config.write_text(before + IGNORE.format("thumb") + 'file = "robots/gripper.urdf"\n')
    assert exits() == [0, 1, 1]
    text = call("lint", "robots").out
    assert "mbplugin.toml:3: the waiver of MB103 for 'thumb' matches nothing" in text


@pytest.mark.long
def test_pytest_on_the_repository(repository: Path) -> None:
    done = process("pytest --mbplugin -p no:cacheprovider", repository)
    assert "collected 3 items" in done.stdout
    assert re.search(r"=+ 2 failed, 1 passed", done.stdout.splitlines()[-1])
    assert "3 redundant constraints" in done.stdout
    assert "no body has the inertia of link 'finger'" in done.stdout


# The guide


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS)
def test_command_of_the_guide(command: str, repository: Path) -> None:
    if "--baseline" in command:
        process(COMMANDS[COMMANDS.index(command) - 1], repository)
    if "HEAD:" in command:
        git = "git -c user.name=a -c user.email=a@example.org"
        process(f"git init --quiet && git add . && {git} commit --quiet --message x", repository)
    done = process(command, repository)
    assert (done.returncode, done.stderr) == (int(bool(FAILING.match(command))), "")


def test_configurations_of_the_guide(repository: Path) -> None:
    first, second = blocks("toml", "mbplugin.toml")
    config = repository / "mbplugin.toml"
    config.write_text(first)
    settings = read_config(config)
    assert settings is not None
    # both show every key that there is, but for the units, which are none of a lint
    defaults = {name for name, (_, origin) in settings.values.items() if origin == "default"}
    assert defaults == {"waive", "units"}
    config.write_text(second)
    settings = read_config(config)
    assert settings is not None and settings.values["waive"][1] != "default"
    assert call("lint", "robots/gripper.urdf").code == 0


@pytest.mark.long
def test_tests_of_the_guide(repository: Path) -> None:
    (text,) = blocks("python", "test_robots.py")
    (repository / "test_robots.py").write_text(text)
    done = process("pytest -q -p no:cacheprovider", repository)
    assert "2 passed" in done.stdout, done.stdout


def test_rule_of_the_guide(repository: Path) -> None:
    (code,) = blocks("python", "acme_rules.py")
    (text,) = blocks("toml", "pyproject.toml")
    project = tomllib.loads(text)["project"]
    (repository / "acme_rules.py").write_text(code)
    # what pip makes of that pyproject.toml
    info = repository / "acme_rules-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 1.0\n")
    ((group, entries),) = project["entry-points"].items()
    lines = [f"{name} = {value}" for name, value in entries.items()]
    (info / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines]))
    done = process("mbplugin lint robots/arm.urdf", repository, PYTHONPATH=str(repository))
    assert done.returncode == 1
    assert "1 warning ACME101 too-heavy, robots/arm.urdf:5: upper_arm is too heavy" in done.stdout


# Other people's programs


def hooks() -> list[dict[str, Any]]:
    return list(yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text()))


@pytest.mark.long
def test_the_hook_lints_the_repository(repository: Path) -> None:
    (hook,) = hooks()
    (config,) = blocks("yaml", ".pre-commit-config.yaml")
    assert yaml.safe_load(config)["repos"][0]["hooks"] == [{"id": hook["id"]}]
    # pre-commit runs entry and args, and here no names of files
    assert hook["pass_filenames"] is False
    done = process(" ".join([hook["entry"], *hook["args"]]), repository)
    assert done.returncode == 1
    assert done.stdout.splitlines()[-1].startswith("3 runs: 1 passed, 2 failed")


def test_the_hook_runs_for_what_is_linted_and_for_what_says_how() -> None:
    (hook,) = hooks()
    wakes = [f"a/robot{ending}" for ending in (*LINTED, *SEARCHED)] + [
        "mbplugin.toml",
        "a/pyproject.toml",
        "A.URDF",
    ]
    assert all(re.search(hook["files"], name) for name in wakes)
    assert not any(re.search(hook["files"], name) for name in ["a.py", "urdf", "a.toml", "a.urdf.txt"])


def test_the_hook_brings_what_it_reads_with() -> None:
    """Everything that pre-commit installs into the hook's environment: this package, and these."""
    (hook,) = hooks()
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]
    assert hook["language"] == "python"
    assert hook["additional_dependencies"] == [*extras["xacro"], *extras["yaml"]]


def test_the_workflow_gives_the_action_inputs_that_it_has() -> None:
    (text,) = blocks("yaml", ".github/workflows/robots.yml")
    steps = yaml.safe_load(text)["jobs"]["lint"]["steps"]
    (step,) = [step for step in steps if step["uses"].startswith("OWNER/mbplugin@")]
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    assert step["uses"] == f"OWNER/mbplugin@v{mb.__version__}"
    assert set(step["with"]) <= set(action["inputs"])
    table = re.findall(r"^\| (`[^|]*`) \|", GUIDE.read_text().split("### GitHub")[1], re.MULTILINE)
    rows = set(re.findall(r"`([\w-]+)`", "".join(table)))
    assert rows == set(action["inputs"])
    uploads = [step["with"] for step in steps if step.get("if") == "always()"]
    assert uploads[0]["sarif_file"] == "mbplugin-results/lint.sarif"
    assert uploads[1]["path"] == "mbplugin-results"


def test_the_gitlab_configuration_of_the_guide() -> None:
    (text,) = blocks("yaml", ".gitlab-ci.yml")
    config = yaml.safe_load(text)
    template = yaml.safe_load((ROOT / "templates" / "mbplugin.gitlab-ci.yml").read_text())["mbplugin"]
    assert set(config["mbplugin"]["variables"]) <= set(template["variables"])
    assert template["variables"]["MBPLUGIN_TAG"] == f"v{mb.__version__}"
    remote = config["include"][0]["remote"]
    assert remote.endswith(f"/v{mb.__version__}/templates/mbplugin.gitlab-ci.yml")
