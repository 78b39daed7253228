"""Names that would colour, reverse or break what is printed: every text shows them escaped."""

from __future__ import annotations

from pathlib import Path

import pytest

import mbplugin as mb
from command_line import call
from mbplugin.phrases import visible
from mbplugin.report.text import Line, wrapped

ESC, RLO = "\x1b", "\u202e"
#: Reads backwards from its middle on.
LINK = f"arm{RLO}gpj"


def test_what_prints_stays_and_the_rest_is_told() -> None:
    for text in ("elbow", "Gelenk ä 3·m² – „q“ …", "肘", ""):
        assert visible(text) == text
    assert visible(f"a{ESC}[31mb\nc{RLO}d\x00\x7f\u2028\ufeff") == (
        "a\\u001b[31mb\\u000ac\\u202ed\\u0000\\u007f\\u2028\\ufeff"
    )
    assert visible("\U000e0001") == "\\U000e0001"
    assert visible(visible(ESC)) == visible(ESC)


def test_the_style_of_a_line_ends_where_it_did() -> None:
    line = Line(f"a{ESC}b: rest", "bold", styled=4)
    assert line.segments == (("a\\u001bb:", "bold"), (" rest", ""))
    assert list(wrapped(f"a name{RLO} with\nlines", 100, "  ")) == ["  a name\\u202e with\\u000alines"]


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    """Its only link weighs more than nothing and has an inertia that no body can have."""
    path = tmp_path / "robot.urdf"
    path.write_text(
        f"""<?xml version="1.0" encoding="utf-8"?><robot name="r&#10;::error::owned">
<link name="world"/>
<link name="{LINK}&#10;fake"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="9" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="turn{RLO}&#10;" type="revolute"><parent link="world"/><child link="{LINK}&#10;fake"/>
<limit lower="-1" upper="1" effort="5" velocity="1"/></joint></robot>
""",
        encoding="utf-8",
    )
    return path


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "robot.scene.toml"
    names = [r"arm\u001b[31mred\n::error::owned\u202eb", r"turn\n\u202e"]
    path.write_text(
        f"""[[body]]
name = "{names[0]}"
mass = 1
inertia = [1, 1, 9]
[[pair]]
name = "{names[1]}"
type = "revolute"
body_a = "world"
body_b = "{names[0]}"
xyz_a = [0, 0, 0]
[[brake]]
joint = "{names[1]}"
torque = 5
""",
        encoding="utf-8",
    )
    return path


COMMANDS = [
    ("lint",),
    ("lint", "--output-format", "github"),
    ("lint", "--output-format", "junit"),
    ("matrix",),
    ("reactions",),
    ("simulate", "--duration", "0.05"),
    ("estop",),
    ("lint", "--q", "trun=1"),
    ("simulate", "--duration", "0.05", "--lock", "trun"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("kind", ["robot", "scene"])
def test_every_text_is_clean(command: tuple[str, ...], kind: str, request: pytest.FixtureRequest) -> None:
    file = request.getfixturevalue(kind)
    out = call(command[0], str(file), *command[1:])
    assert out.code in (0, 1, 2), out.err
    text = out.out + out.err
    assert "\\u202e" in text or command[0] == "reactions" or "--q" in command
    for line in text.splitlines():
        assert line.isprintable(), line
        assert not line.startswith(("fake", "::error::owned")), text
    assert "traceback" not in text.lower()


def test_an_error_of_python_too(scene: Path) -> None:
    with pytest.raises(mb.MbPluginError) as caught:
        mb.simulate(mb.load(scene), 0.1, locks=[mb.Lock(f"x{ESC}[2J\ny")])
    assert "'x\\u001b[2J\\u000ay'" in str(caught.value) or "'x\\x1b[2J\\ny'" in str(caught.value)
    assert str(caught.value).isprintable()
