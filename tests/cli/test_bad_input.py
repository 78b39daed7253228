"""Bad input: one clear sentence, exit code 2, nothing half-written, no traceback, no dead process."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import mbplugin as mb
from command_line import DOOR_1, Outcome, call, call_process

LINKS = '<link name="a"/><link name="b"/>'
#: For a program: the document goes to stdout, the sentence to stderr.
JSON = ("--output-format", "json")
LAUGHS = "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">' for k in range(1, 10))


def joint(inner: str, kind: str = "continuous", parent: str = "a", child: str = "b") -> str:
    ends = f'<parent link="{parent}"/><child link="{child}"/>'
    return f'<joint name="j" type="{kind}">{ends}{inner}</joint>'


def robot(inner: str) -> str:
    return f'<robot name="r">{inner}</robot>'


def inertial(mass: str = "1", ixx: str = "1") -> str:
    inertia = f'<inertia ixx="{ixx}" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    return f'<link name="a"><inertial><mass value="{mass}"/>{inertia}</inertial></link>'


ARM = robot(LINKS + joint('<axis xyz="0 0 1"/>'))

#: File name, content, and what the sentence must name.
CASES: dict[str, tuple[str, str | bytes, tuple[str, ...]]] = {
    "empty": ("r.urdf", "", ("empty",)),
    "blank": ("r.urdf", " \n\t\n", ("empty",)),
    "no XML": ("r.urdf", "hello", ("not XML",)),
    "unknown root": ("r.urdf", "<html/>", ("<html>",)),
    "broken XML": ("r.urdf", "<robot name='r'>\n<link name='a'>\n</robot>", (":3", "link")),
    "truncated": ("r.urdf", ARM[: len(ARM) // 2], (":1",)),
    "attribute twice": ("r.urdf", robot('<link name="a" name="b"/>'), (":1", "name")),
    "billion laughs": (
        "r.urdf",
        f'<!DOCTYPE r [<!ENTITY l0 "ha">{LAUGHS}]>' + robot('<link name="&l9;"/>'),
        ("entit",),
    ),
    "foreign file as entity": (
        "r.urdf",
        '<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]>' + robot('<link name="&e;"/>'),
        ("entit",),
    ),
    "binary": ("r.urdf", b"\x7fELF\x00\x01\x02\x00", ("binary",)),
    "unknown joint type": ("r.urdf", robot(LINKS + joint("", "hinge")), ("hinge", "revolute")),
    "unknown parent": ("r.urdf", robot(LINKS + joint("", parent="aa")), ("'aa'",)),
    "unknown child": ("r.urdf", robot(LINKS + joint("", child="c")), ("'c'",)),
    "no links": ("r.urdf", robot(""), ("link", "the file that uses this")),
    "NaN": ("r.urdf", robot(LINKS + joint('<origin xyz="0 nan 0"/>')), ("nan", ":1")),
    "infinite": ("r.urdf", robot(inertial(mass="1e999")), ("1e999", ":1")),
    "infinite inertia": ("r.urdf", robot(inertial(ixx="inf")), ("inf", ":1")),
    "no number": ("r.urdf", robot(inertial(mass="heavy")), ("heavy", ":1")),
    "SDF without model": ("r.sdf", '<sdf version="1.9"/>', ("model",)),
    "SDF broken": ("r.sdf", '<sdf version="1.9"><model name="m">', (":1",)),
    "no TOML": ("s.scene.toml", "[[model]\n", (":1",)),
    "nothing in the scene": ("s.scene.toml", "gravity = [0, 0, -9.81]\n", ("no body",)),
    "unknown table": ("s.scene.toml", "[[modle]]\nfile = 'r.urdf'\n", ("modle", "model")),
    "unknown key": ("s.scene.toml", "[[model]]\nfile = 'r.urdf'\nbse = 'fixed'\n", ("bse", "base", ":3")),
    "model not there": ("s.scene.toml", "[[model]]\nfile = 'nowhere.urdf'\n", ("nowhere.urdf", ":2")),
    "package not there": (
        "s.scene.toml",
        "[[model]]\nfile = 'package://nowhere/x.urdf'\n",
        ("package://nowhere/x.urdf", "--package-dir"),
    ),
}


def assert_refused(outcome: Outcome, *parts: str, code: int = 2) -> None:
    """Exit code and one sentence on stderr, with what it must name."""
    assert outcome.code == code
    assert "Traceback" not in outcome.out + outcome.err
    sentence = outcome.err
    assert sentence.endswith((".\n", "?\n"))
    assert sentence.count("\n") == 1, sentence
    assert len(sentence) < 600
    for part in parts:
        assert part in sentence


@pytest.mark.parametrize("case", CASES)
def test_file(case: str, tmp_path: Path) -> None:
    name, content, parts = CASES[case]
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert_refused(call("lint", str(file), *JSON), name, *parts)


@pytest.mark.parametrize("case", CASES)
def test_json_of_unusable_input(case: str, tmp_path: Path) -> None:
    name, content, _ = CASES[case]
    file, target = tmp_path / name, tmp_path / "report.json"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    outcome = call("lint", str(file), *JSON, "--output", str(target))
    assert_refused(outcome, name)
    document = json.loads(target.read_text())
    assert document["model"] is None and document["mobility"] is None
    assert document["constraints"] == document["remedies"] == document["bodies"] == []
    finding = document["findings"][0]
    assert finding["code"].startswith("MB9") and finding["severity"] == "error"
    assert finding["message"] in outcome.err


def test_the_text_of_unusable_input_says_it_once(tmp_path: Path) -> None:
    """On stdout, as all findings; on stderr only where stdout has a document or nothing."""
    file, target = tmp_path / "r.urdf", tmp_path / "report.txt"
    file.write_text("")
    read = call("lint", str(file))
    assert (read.code, read.err) == (2, "") and " ".join(read.out.split()).count("the file is empty") == 1
    kept = call("lint", str(file), "--output", str(target))
    assert (kept.out, kept.err) == ("", f"mbplugin lint: {file}: the file is empty; expected a model.\n")


def test_missing_file(tmp_path: Path) -> None:
    assert_refused(call("lint", str(tmp_path / "no.urdf"), *JSON), "no.urdf", "no such file")


def test_directory(tmp_path: Path) -> None:
    assert_refused(call("lint", str(tmp_path), *JSON), str(tmp_path), "directory")


def test_forbidden_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, mode: str) -> bytes:
        raise PermissionError(13, "Permission denied")

    file = tmp_path / "r.urdf"
    file.write_text(ARM)
    # root may read a file of mode 0, so the refusal is played
    monkeypatch.setattr(Path, "open", refuse)
    assert_refused(call("lint", str(file), *JSON), "r.urdf", "permission denied")


def scene(tmp_path: Path, closure: str) -> str:
    (tmp_path / "arm.urdf").write_text(ARM)
    file = tmp_path / "arm.scene.toml"
    file.write_text(f"[[model]]\nfile = 'arm.urdf'\nbase = 'fixed'\n\n[[closure]]\nname = 'loop'\n{closure}")
    return str(file)


def test_closure_on_an_unknown_link(tmp_path: Path) -> None:
    file = scene(tmp_path, "type = 'revolute'\nbody_a = 'world'\nbody_b = 'bb'\n")
    assert_refused(call("lint", file, *JSON), "arm.scene.toml", "'bb'", "did you mean")


def test_loop_that_cannot_close(tmp_path: Path) -> None:
    closure = "type = 'spherical'\nbody_a = 'world'\nbody_b = 'b'\nxyz_a = [5, 0, 0]\nxyz_b = [1, 0, 0]\n"
    file = scene(tmp_path, closure)
    outcome = call("lint", file, *JSON)
    assert_refused(outcome, "arm.scene.toml", "'loop'", "best gap", " starts")


@pytest.mark.parametrize(
    ("option", "parts"),
    [
        (("--tolerance", "2"), ("tolerance", "2", "between 0 and 1")),
        (("--tolerance", "nan"), ("tolerance",)),
        (("--tolerance", "small"), ("--tolerance", "number")),
        (("--samples", "-1"), ("samples", "-1")),
        (("--base", "loose"), ("--base", "loose", "fixed", "free")),
        (("--planar", "xw"), ("--planar", "xw", "xy")),
        (("--method", "guess"), ("--method", "guess", "qr")),
        (("--output-format", "yaml"), ("--output-format", "yaml", "json")),
        (("--fail-on", "fatal"), ("--fail-on", "fatal", "warning")),
        (("--q", "j"), ("--q", "'j'", "NAME=VALUE")),
        (("--q", "j=nan"), ("--q", "nan", "finite")),
        (("--q", "jj=0"), ("'jj'",)),
        (("--group", "jj"), ("'jj'",)),
        (("--select", "MB777"), ("--select", "MB777")),
        (("--no-such-option",), ("--no-such-option", "--help")),
        (("--output", "no/such/folder/report.txt"), ("no/such/folder/report.txt", "no such folder")),
        (("--output", "."), ("directory",)),
    ],
    ids=" ".join,
)
def test_option(option: tuple[str, ...], parts: tuple[str, ...]) -> None:
    assert_refused(call("lint", DOOR_1, *JSON, *option), *parts)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (("lint",), ("FILE",)),
        (("lnit", DOOR_1), ("lnit",)),
        (("rule", "MB777"), ("MB777",)),
        (("schema", "robot"), ("robot", "lint")),
        (("matrix", "no.urdf"), ("no.urdf", "no such file")),
        (("matrix", DOOR_1, "--save", "C.mat"), ("C.mat", ".npz")),
        (("matrix", DOOR_1, "--q", "jj=1"), ("'jj'",)),
        (("estop", DOOR_1, "--qd", "j0", "1.5"), ("(1.5); write --qd j0=1.5.",)),
        (("estop", DOOR_1, "--qd", "j0=1", "j1=2"), ("(j1=2); write --qd j0=1 --qd j1=2.",)),
    ],
    ids=lambda value: " ".join(map(str, value)),
)
def test_command(arguments: tuple[str, ...], parts: tuple[str, ...]) -> None:
    outcome = call(*arguments)
    assert_refused(outcome, *parts)
    assert outcome.out == ""


def test_refused_output_leaves_nothing_behind(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    assert_refused(call("lint", DOOR_1, "--tolerance", "2", "--output", str(target)))
    assert_refused(call("matrix", DOOR_1, "--save", str(tmp_path / "C.mat")))
    assert list(tmp_path.iterdir()) == []


def test_stdin_that_is_no_model() -> None:
    assert_refused(call("lint", "-", *JSON, stdin=b"\x00\x01"), "<stdin>", "binary")
    assert_refused(call("lint", "-", *JSON, stdin=b"<robot>"), "<stdin>")


@pytest.mark.long
def test_process_survives_what_kills_pybullet(tmp_path: Path) -> None:
    """Two roots, a loop of parents, two joints with one child: PyBullet ends with SIGSEGV on these."""
    cycle = joint("").replace('name="j"', 'name="k"').replace('"a"', '"x"').replace('"b"', '"a"')
    cycle = cycle.replace('"x"', '"b"')
    for k, inner in enumerate((LINKS, LINKS + joint("") + cycle, LINKS + joint("") * 2)):
        file = tmp_path / f"{k}.urdf"
        file.write_text(robot(inner))
        outcome = call_process("lint", str(file))
        assert outcome.code in (0, 1, 2)
        assert "Traceback" not in outcome.err


def test_every_error_of_the_api_is_one_class(tmp_path: Path) -> None:
    for k, (name, content, _) in enumerate(CASES.values()):
        file = tmp_path / f"{k}_{name}"
        file.write_bytes(content if isinstance(content, bytes) else content.encode())
        with pytest.raises(mb.MbPluginError, match=r"[.?]$"):
            mb.load(file)
