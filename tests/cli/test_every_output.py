"""Every command on robots with short and with long names: its text fits 80 columns, and no zero has a sign."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from command_line import call
from mbplugin.cli.help import COMMANDS as ALL
from mbplugin.report.text import grid_lines
from places import ASSETS, BULLET_DATA, ROOT

STOPS = ROOT / "examples" / "published_stops"
#: What is typed of each command; MODEL is the robot, OUT a folder.
COMMANDS: dict[str, tuple[str, ...]] = {
    "lint": ("MODEL", "--verbose"),
    "config": ("MODEL",),
    "rule": (),
    "matrix": ("MODEL",),
    "reactions": ("MODEL", "--axes", "world", "--frames"),
    "simulate": ("MODEL", "--duration", "0.2"),
    "modes": ("MODEL",),
    "estop": ("MODEL",),
    "stop-table": ("MODEL", "--payload", "1", "--units", "deg,mm", "--commands"),
    "worst-stop": ("MODEL", "--samples", "20", "--failure", "dead", "--commands"),
    "sweep": ("MODEL", "--out", "OUT", "--number", "20"),
    "calibrate": (str(STOPS / "tm5_700.urdf"), str(STOPS / "tm5_700.csv"), "--hold-out", "speed=100%"),
    "crosscheck": ("MODEL",),
    "engines": ("MODEL",),
    "diff": ("MODEL", "MODEL"),
    "close": ("MODEL", "--to", "urdf", "--allow-loss", "all"),
}
SLOW = ("stop-table", "worst-stop", "sweep", "calibrate", "crosscheck", "engines", "close")
NEEDS_BULLET = ("crosscheck", "engines", "close")
#: Commands that are not text of a model, or have a document of their own.
OTHERS = ("schema", "view", "server", "warmup", "distance", "doctor", "init")
#: What may be wider: paths, commands to copy, and what is pasted into a scene.
COPIED = re.compile(r"^\s*mbplugin |\w/\w|^\s*(?:\w+ =|#) ")
#: A number that is zero, with a sign.
SIGNED_ZERO = re.compile(r"(?<![\w.+-])[-+]0(?:\.0*)?(?:e[-+]\d+)?(?![\w.])")


def with_long_names(folder: Path) -> Path:
    """Write the arm with joints and links of 47 to 60 characters, and return its scene."""
    urdf, scene = ((ASSETS / name).read_text() for name in ("arm_6r.urdf", "arm_6r.scene.toml"))
    names = set(re.findall(r'(?:joint|link) name="(\w+)"', urdf))
    words = re.compile(rf"\b(?:{'|'.join(names)})\b")

    def longer(text: str) -> str:
        return words.sub(lambda found: f"left_manipulator_description_{found[0]}_actuated_in_chain", text)

    (folder / "arm_6r.urdf").write_text(re.sub(r'"\w+"', lambda found: longer(found[0]), urdf))
    # without the comments, and the base stays the word of the format
    lines = [line for line in scene.splitlines() if not line.startswith(("#", "file", "base"))]
    text = longer("\n".join(lines)).replace("[[model]]", '[[model]]\nfile = "arm_6r.urdf"\nbase = "fixed"')
    (folder / "arm.scene.toml").write_text(text)
    return folder / "arm.scene.toml"


@pytest.fixture(
    params=["short", "long", pytest.param("bullet", marks=[pytest.mark.bullet, pytest.mark.long])]
)
def robot(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    match request.param:
        case "short":
            return str(ASSETS / "four_bar.scene.toml")
        case "long":
            return str(with_long_names(tmp_path))
        case _:
            model = BULLET_DATA / "kuka_iiwa" / "model.urdf"
            (tmp_path / "kuka.scene.toml").write_text(f"[[model]]\nfile = '{model}'\nbase = 'fixed'\n")
            return str(tmp_path / "kuka.scene.toml")


def marks(name: str) -> list[pytest.MarkDecorator]:
    slow = [pytest.mark.long] if name in SLOW else []
    if name == "worst-stop":
        why = "a four-bar with a dead brake turns back at rates near zero, whose impulses are rounding"
        slow.append(pytest.mark.no_invariants(why))
    return slow + ([pytest.mark.bullet] if name in NEEDS_BULLET else [])


def test_every_command_is_here() -> None:
    assert {*COMMANDS, *OTHERS} == set(ALL)


@pytest.mark.long_after(8)
@pytest.mark.parametrize("name", [pytest.param(name, marks=marks(name)) for name in COMMANDS])
def test_a_text_fits_and_no_zero_has_a_sign(
    name: str, robot: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    places = {"MODEL": robot, "OUT": str(tmp_path / "stops")}
    typed = [places.get(word, word) for word in COMMANDS[name]]
    done = call(name, *typed)
    assert done.code == 0, done.err
    wide = [line for line in done.out.splitlines() if len(line) > 80 and not COPIED.search(line)]
    assert done.out and not wide
    assert not SIGNED_ZERO.search(done.out)


@pytest.mark.parametrize(
    "typed",
    [
        ("matrix",),
        ("reactions", "--q", "j1=-0.0"),
        ("simulate", "--duration", "0.2", "--q", "j1=-0.0"),
        ("estop", "--q", "j1=-0.0"),
    ],
    ids=lambda typed: typed[0],
)
def test_no_zero_of_a_document_has_a_sign(typed: tuple[str, ...]) -> None:
    command, *options = typed
    done = call(command, str(ASSETS / "arm_6r.scene.toml"), *options, "--output-format", "json")
    assert done.code == 0
    assert not SIGNED_ZERO.search(done.out.replace("j1=-0.0", ""))


@pytest.mark.parametrize("width", [40, 60, 80, 140])
def test_a_table_cuts_no_cell(width: int) -> None:
    heads = [f"head {k} [m]" for k in range(9)]
    rows = [(f"row {n}" + "_long" * n, [f"{1234.5678 * (k + 1):.6g}" for k in range(9)]) for n in range(5)]
    lines = [line.text for line in grid_lines("name", heads, rows, width)]
    assert max(map(len, lines)) <= width
    words = " ".join(lines).split()
    for label, cells in rows:
        assert label.split()[-1] in words
        assert all(words.count(cell) == len(rows) for cell in cells)
