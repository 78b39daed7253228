"""The comment of a pull request: what it says, and that nothing of a file is rendered in it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.sax.saxutils import quoteattr

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

import mbplugin as mb
from command_line import ORACLES, call
from mbplugin.report.ci import LONGEST_COMMENT, MARKER, code, diff_comment

#: What would be a mention, a link, HTML, a heading, a cell, a fold, an end of a comment, or a command of a runner.
HOSTILE = (
    "@everyone",
    "a`b``c",
    "``` \n# head",
    "a|b\\|c\\",
    "<img src=x onerror=alert(1)>",
    "</details><script>alert(1)</script>",
    "[x](https://evil.example)",
    "https://evil.example/?q",
    "--> <!-- mbplugin:diff -->",
    "#1 GH-2 owner/repo#3 deadbeefdeadbeefdeadbeefdeadbeefdeadbeef",
    "\n::error::owned",
    "**bold** _it_ ~~no~~ $x$ :+1:",
    "\u202eevil",
    "![](x)",
)


def quoted(name: str) -> str:
    return quoteattr(name, {"\n": "&#10;"})


def urdf(names: tuple[str, ...], mass: float, effort: float = 10.0) -> str:
    links = ["base", *(f"{name}" for name in names)]
    inertia = '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/>'
    text = ['<robot name="arm">', '<link name="base"/>']
    for k, name in enumerate(names):
        text += [
            f'<link name={quoted(name)}><inertial><mass value="{mass}"/>{inertia}</inertial></link>',
            f'<joint name={quoted("j " + name)} type="revolute"><origin xyz="0 0 0.2"/><axis xyz="0 1 0"/>'
            f"<parent link={quoted(links[k])}/><child link={quoted(name)}/>"
            f'<limit lower="-1" upper="1" effort="{effort}" velocity="2"/></joint>',
        ]
    return "\n".join([*text, "</robot>"])


def models(tmp_path: Path, names: tuple[str, ...]) -> tuple[str, str]:
    files = tmp_path / "a.urdf", tmp_path / "b.urdf"
    files[0].write_text(urdf(names, 1.0))
    files[1].write_text(urdf(names, 2.0, 5.0))
    return str(files[0]), str(files[1])


def inline(tokens: list[Token]) -> list[Token]:
    return [child for token in tokens for child in token.children or ()]


def test_masses_limits_and_redundancy_before_and_after(tmp_path: Path) -> None:
    a, b = models(tmp_path, ("upper", "lower"))
    done = call("diff", a, b, "--output-format", "github")
    assert done.code == 1 and done.out.startswith(f"{MARKER}\n### `arm`: ")
    assert "| **mass** | 2 kg | **4 kg** |" in done.out
    assert "| mobility | 8 | 8 |" in done.out
    assert "| mass | `upper` | `1 kg` | `2 kg` | `mass doubled` |" in done.out
    assert "| effort limit | `j lower` | `10 N·m` | `5 N·m` | `effort limit halved` |" in done.out
    loops = call(
        "diff",
        str(ORACLES / "four_bar_4R.sdf"),
        str(ORACLES / "four_bar_RSRR.sdf"),
        "--output-format",
        "github",
    ).out
    assert "| **redundant constraints** | 3 | **1** |" in loops
    assert (
        "| joints with undetermined reactions | 4: `j0`, `j1`, `j2`, `j3` | 4: `j0`, `j1`, `j2`, `j3` |"
        in loops
    )
    assert "| joint type | `j1` | `revolute` | `spherical` |" in loops


def test_the_same_robot(tmp_path: Path) -> None:
    a, _ = models(tmp_path, ("upper",))
    done = call("diff", a, a, "--output-format", "github")
    assert done.code == 0 and "### `arm`: the same robot" in done.out and "**" not in done.out


@pytest.mark.long
def test_stops_before_and_after(tmp_path: Path) -> None:
    a, b = models(tmp_path, ("upper", "lower"))
    found = mb.diff(a, b, stops=True)
    shoulder = found.stops[0]
    assert shoulder.joint == "j upper" and shoulder.a is not None and shoulder.b is not None
    for figure, file in ((shoulder.a, a), (shoulder.b, b)):
        alone = mb.estop(file, qd={"j upper": 2.0})
        joint = alone.joint("j upper")
        assert (figure.time, figure.travel) == (joint.time, abs(joint.travel))
        assert (figure.speed, figure.unit, figure.outcome) == (2.0, "rad", "stopped")
    # twice the mass, half the torque of the brake
    assert shoulder.a.time and shoulder.b.time and shoulder.b.time > 2 * shoulder.a.time
    done = call("diff", a, b, "--stops", "--output-format", "github")
    row = f"| `j upper` | 2 rad/s | {shoulder.a.time:.4g} s → **{shoulder.b.time:.4g} s** |"
    assert row in done.out
    document = json.loads(call("diff", a, b, "--stops", "--output-format", "json").out)
    assert document["stops"][0]["b"]["time"] == shoulder.b.time
    assert f"{shoulder.b.time:.4g} s" in call("diff", a, b, "--stops").out
    assert f"{shoulder.b.time:.4g} s" in found.to_html()
    assert "stops" not in json.loads(call("diff", a, b, "--output-format", "json").out)


def test_a_joint_of_one_model_only_has_a_stop_on_one_side(tmp_path: Path) -> None:
    a = tmp_path / "a.urdf"
    b = tmp_path / "b.urdf"
    a.write_text(urdf(("upper",), 1.0))
    b.write_text(urdf(("upper", "lower"), 1.0))
    stops = {change.joint: change for change in mb.diff(a, b, stops=True).stops}
    assert set(stops) == {"j upper", "j lower"} and stops["j lower"].a is None
    assert (
        "| `j lower` | 2 rad/s | no stop → **"
        in call("diff", str(a), str(b), "--stops", "--output-format", "github").out
    )


@pytest.mark.long_after(2)
@pytest.mark.parametrize("name", HOSTILE)
def test_nothing_of_a_file_is_rendered(name: str, tmp_path: Path) -> None:
    a, b = models(tmp_path, (name, "lower"))
    text = diff_comment(mb.diff(a, b, stops=True), (f"main:{name}", name))
    honest = diff_comment(mb.diff(*models(tmp_path, ("upper", "lower")), stops=True), ("main:a", "a"))
    assert len(text.splitlines()) == len(honest.splitlines())
    assert text.count("<!--") == 1 and text.count(MARKER) == 1

    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    tokens, expected = parser.parse(text), parser.parse(honest)
    assert [token.type for token in tokens] == [token.type for token in expected]
    # outside of code, the comment is that of a harmless name
    outside = [
        [(t.type, t.content) for t in inline(of) if t.type != "code_inline"] for of in (tokens, expected)
    ]
    assert outside[0] == outside[1]
    blocks = [[t.content for t in of if t.type == "html_block"] for of in (tokens, expected)]
    assert blocks[0] == blocks[1]


def test_a_code_span_holds_any_text() -> None:
    for name in HOSTILE:
        span = code(name)
        assert re.fullmatch(r"`[^`|\n]+`", span), span
    assert code("") == code("  ") == "–"
    assert len(code("x" * 10_000)) < 140


@pytest.mark.long
def test_a_long_comment_fits_and_says_what_is_left_out(tmp_path: Path) -> None:
    names = tuple(f"{'ä' * 80}{k}" for k in range(400))
    a, b = models(tmp_path, names)
    text = call("diff", a, b, "--output-format", "github").out
    assert LONGEST_COMMENT - 2000 < len(text) <= LONGEST_COMMENT < 65_536
    left = re.search(r"\*\*(\d+) rows more\*\*: run `mbplugin diff`", text)
    assert left and int(left[1]) + text.count("\n| mass | ") + text.count("\n| effort limit | ") >= 400
    assert text.rstrip().endswith("</sub>") and text.count("<details>") == text.count("</details>") == 1


def test_the_comment_is_replaced_without_force(tmp_path: Path) -> None:
    a, b = models(tmp_path, ("upper",))
    file = tmp_path / "comment.md"
    for _ in range(2):
        assert call("diff", a, b, "--output-format", "github", "--output", str(file)).code == 1
    assert MARKER in file.read_text(encoding="utf-8")
