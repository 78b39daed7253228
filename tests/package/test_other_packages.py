"""Packages for conda, ROS and Docker: they state what pyproject.toml states. None of their programs runs here."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml
from lxml import etree

import mbplugin as mb
from command_line import ROOT

try:
    import tomllib
except ImportError:
    import tomli as tomllib  # type: ignore[import-not-found,no-redef]

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
#: Needs that a package cannot state as the project does, and why.
NOT_IN_CONDA = {"pybullet": "conda-forge has an older one"}
NOT_IN_ROSDEP = {"trimesh": "no rosdep key", "pybullet": "no rosdep key", "tomli": "Python 3.10 only"}
#: Build types of REP 149 for packages of Python.
TAGS = ("name", "version", "description", "maintainer", "license")


def name_of(requirement: str) -> str:
    return re.split(r"[\s<>=;\[]", requirement)[0]


def needs() -> dict[str, str]:
    """Return the lower bound of each dependency."""
    return {name_of(r): r.split(";")[0].removeprefix(name_of(r)).strip() for r in PROJECT["dependencies"]}


def test_every_place_states_one_version() -> None:
    recipe = yaml.safe_load((ROOT / "packaging" / "recipe.yaml").read_text())
    ros = etree.parse(str(ROOT / "packaging" / "ros" / "package.xml")).getroot()
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    stated = [
        PROJECT["version"],
        recipe["context"]["version"],
        ros.findtext("version"),
        str(cited["version"]),
    ]
    hook = re.findall(r"^ *rev: v(\S+)", (ROOT / "docs" / "teams.md").read_text(), re.MULTILINE)
    assert {mb.__version__} == {*stated, *hook}
    assert f"## {mb.__version__}" in (ROOT / "CHANGELOG.md").read_text()


def test_the_conda_recipe_needs_what_the_project_needs() -> None:
    recipe = yaml.safe_load((ROOT / "packaging" / "recipe.yaml").read_text())
    assert recipe["schema_version"] == 1
    run = dict(entry.split(" ", 1) for entry in recipe["requirements"]["run"])
    assert run.pop("python") == PROJECT["requires-python"]
    assert run == {name: bound for name, bound in needs().items() if name not in NOT_IN_CONDA}
    assert recipe["build"]["python"]["entry_points"] == [f"mbplugin = {PROJECT['scripts']['mbplugin']}"]
    tested = recipe["tests"][1]
    for file in tested["files"]["source"]:
        assert (ROOT / file).is_file()


def test_the_ros_package_is_of_format_3_and_needs_what_the_project_needs() -> None:
    root = etree.parse(str(ROOT / "packaging" / "ros" / "package.xml")).getroot()
    assert root.get("format") == "3"
    for tag in TAGS:
        assert (root.findtext(tag) or "").strip()
    assert re.fullmatch(r"\d+\.\d+\.\d+", root.findtext("version") or "")
    assert "@" in root.find("maintainer").get("email")
    order = [child.tag for child in root if isinstance(child.tag, str)]
    assert order[:5] == list(TAGS)
    assert root.findtext("export/build_type") == "ament_python"
    keys = {key.text.removeprefix("python3-") for key in root.iter("exec_depend")}
    assert keys == set(needs()) - set(NOT_IN_ROSDEP)
    pytest.importorskip("catkin_pkg", reason="REP 149 is checked by catkin_pkg where it is installed")
    from catkin_pkg.package import parse_package

    parse_package(str(ROOT / "packaging" / "ros" / "package.xml")).validate()


def test_a_rosdep_key_is_proposed_for_each_system() -> None:
    keys = yaml.safe_load((ROOT / "packaging" / "ros" / "rosdep.yaml").read_text())
    systems = keys["mbplugin-pip"]
    assert set(systems) == {"debian", "fedora", "ubuntu"}
    assert all(one == {"pip": {"packages": [PROJECT["name"]]}} for one in systems.values())


def test_the_dockerfile_copies_what_there_is_and_installs_extras_that_exist() -> None:
    lines = [
        line
        for line in (ROOT / "packaging" / "Dockerfile").read_text().splitlines()
        if line[:1] not in ("", "#")
    ]
    words = [line.split() for line in lines]
    assert words[0][0] == "FROM" and re.fullmatch(r"python:3\.1[0-3]-slim", words[0][1])
    known = {"FROM", "COPY", "RUN", "USER", "WORKDIR", "ENTRYPOINT", "CMD"}
    assert {word[0] for word in words} <= known
    sources = [name for word in words if word[0] == "COPY" for name in word[1:-1]]
    assert sources and all((ROOT / name).exists() for name in sources)
    extras = re.search(r"/source\[([\w,]+)\]", "\n".join(lines))
    assert extras and set(extras[1].split(",")) <= set(PROJECT["optional-dependencies"])
    assert [word[0] for word in words].index("USER") < [word[0] for word in words].index("ENTRYPOINT")
