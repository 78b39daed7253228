"""Lines of TOML that a report offers for pasting, or that are written: no name leaves its string or its comment."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest
from hypothesis import given, strategies as st

import mbplugin as mb
from mbplugin.analysis.remedies import Change
from mbplugin.files import toml_text
from mbplugin.linter.checks.loops import MissingJoint
from mbplugin.model.spatial import Pose

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

#: Everything that a string of TOML may hold; a lone surrogate is no character.
texts = st.text(st.characters(exclude_categories=("Cs",)))
HOSTILE = (
    'x"\n[[pair]]\nname = "y',
    "a\\",
    'tab\tquote"',
    "\x7f\x85\u2028",
    "robot \U0001f916",
    "# no comment",
)


@given(texts)
def test_every_text_is_read_back(text: str) -> None:
    line = f"name = {toml_text(text)}  # why\n"
    assert tomllib.loads(line) == {"name": text}
    assert line.rstrip("\n").isprintable()


@pytest.mark.parametrize("name", ["robot_\udcff.urdf", "\ud83d", "a\udc00b"])
def test_a_lone_surrogate_is_refused(name: str) -> None:
    """TOML cannot state it: an escape of it would make a file that no program reads."""
    with pytest.raises(mb.MbPluginError, match="cannot be written in TOML; expected Unicode characters"):
        toml_text(name)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_pair_to_retype_is_one_table(name: str) -> None:
    found = tomllib.loads(Change(name, "revolute", "spherical").toml())
    assert found == {"pair": [{"name": name, "type": "spherical"}]}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_missing_joint_is_one_table(name: str) -> None:
    here = Pose(np.eye(3), np.zeros(3))
    joint = MissingJoint(name, "b", np.zeros(3), "revolute", here, here, mimics=(name, "m"))
    (found,) = tomllib.loads(joint.toml)["closure"]
    assert (found["body_a"], found["body_b"], found["name"]) == (name, "b", f"{name}_b")


@pytest.mark.parametrize("name", ['x" y', "a\\", "tab\tb", "robot \U0001f916"])
def test_a_marked_closure_is_one_table(name: str, tmp_path: Path) -> None:
    links = (f"closing_{name}_1", f"closing_{name}_2")
    inertial = (
        '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    joints = "".join(
        f'<joint name="j{k}" type="revolute"><parent link="base"/><child link={quoteattr(link)}/>'
        '<axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
        for k, link in enumerate(links)
    )
    bodies = "".join(f"<link name={quoteattr(link)}>{inertial}</link>" for link in ("base", *links))
    file = tmp_path / "marked.urdf"
    file.write_text(f'<robot name="r">{bodies}{joints}</robot>', encoding="utf-8")
    (finding,) = [one for one in mb.lint(file).findings if one.code == "MB112"]
    (found,) = tomllib.loads(finding.evidence["toml"])["closure"]
    assert (found["body_a"], found["body_b"]) == links
