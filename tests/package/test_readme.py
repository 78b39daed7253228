"""What README and pages show is what happens: commands and snippets run, outputs are those that are shown.

``python tests/test_readme.py [PAGE …]`` writes the transcripts anew. How blocks are run: ``pages.py``.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import pages
from mbplugin.model.spatial import Array
from pages import PAGES, README, ROOT

EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))
#: Where the pictures of README and pages lie; an example draws each into out/.
PICTURES = "docs/pictures"
SHOWN = sorted(path.name for path in (ROOT / PICTURES).glob("*.png"))
#: Engines whose bars are in a picture of the pages: without them an example draws fewer.
ENGINES_IN = {"one_truth.png": ("mujoco", "pinocchio")}


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    """A folder with the files that the pages speak of."""
    return pages.furnish(tmp_path)


#: Pages whose commands take longer than a few seconds.
LONG = (
    "README.md",
    "benchmarks.md",
    "calibrate.md",
    "close.md",
    "crosscheck.md",
    "docking.md",
    "engines.md",
    "estop.md",
    "formats.md",
    "from-cad.md",
    "isaac.md",
    "locking.md",
    "mechanism.md",
    "motion.md",
    "mujoco.md",
    "numbers.md",
    "reactions.md",
    "report.md",
    "ros2.md",
    "stop-guides.md",
    "tutorial.md",
    "units.md",
    "view.md",
)


def _case(page: Path) -> object:
    marks = [pytest.mark.long] if page.name in LONG else []
    if "\nimport pybullet" in page.read_text(encoding="utf-8"):
        marks.append(pytest.mark.bullet)
    return pytest.param(page, marks=marks, id=page.name)


@pytest.mark.parametrize("page", [_case(page) for page in PAGES])
def test_page(page: Path, workplace: Path) -> None:
    assert pages.run_page(page, workplace) == page.read_text(encoding="utf-8").count("\n```") / 2


def test_every_block_is_of_a_kind_that_is_run() -> None:
    for page in PAGES:
        assert {block.kind for block in pages.blocks_of(page)} <= set(pages.KINDS), page


def test_an_output_is_shown_with_its_first_lines() -> None:
    """The tutorial is read in full, and the README shows what fits on one screen."""
    for page in PAGES:
        most = {"tutorial.md": 60, "README.md": 20}.get(page.name, 15)
        for block in pages.blocks_of(page):
            assert block.kind != "console" or block.text.count("\n") <= most, f"{page}:{block.line}"


# An output that was edited by hand is noticed


def edited(block: pages.Block, old: str, new: str) -> pages.Block:
    assert old in block.text
    return replace(block, text=block.text.replace(old, new, 1))


@pytest.mark.long
def test_an_edited_transcript_is_noticed(workplace: Path) -> None:
    block = next(block for block in pages.blocks_of(README) if block.kind == "console")
    with pytest.raises(pages.NotAsShown, match=r"README.md:\d+: mbplugin lint .* prints"):
        pages.run_block(edited(block, "3 redundant constraints", "2 redundant constraints"), workplace)


def test_the_snippet_of_the_readme_works_for_any_robot(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also for one that has no loop, no redundant constraint, and so nothing to change."""
    block = next(b for b in pages.blocks_of(README) if b.kind == "python" and "# 3 1" in b.text)
    monkeypatch.chdir(ROOT)
    exec(compile(block.text.replace("four_bar", "arm_6r"), "README.md", "exec"), {})


@pytest.mark.long
def test_an_edited_comment_behind_a_print_is_noticed(workplace: Path) -> None:
    block = next(b for b in pages.blocks_of(README) if b.kind == "python" and "# 3 1" in b.text)
    with pytest.raises(pages.NotAsShown, match="prints 3 1, not 3 2"):
        pages.run_block(edited(block, "# 3 1", "# 3 2"), workplace)


@pytest.mark.parametrize(
    ("kind", "text", "what"),
    [
        ("python", "print(1)  # 2\n", "prints 1, not 2"),
        ("python", "print('abc')  # ab…\n", ""),
        ("python", "print('abc')  # ac…\n", "prints abc, not ac…"),
        ("python", "for k in range(3):\n    print(k)  # 0\n", ""),
        ("python", "if False:\n    print(1)  # 1\n", "prints nothing, not 1"),
        ("python", "raise KeyError\n", "KeyError"),
        ("console", "$ echo a\na\n", ""),
        ("console", "$ echo a\nb\n", "echo a prints\na\n"),
        ("console", "$ echo a\n", "echo a prints"),
        ("console", "$ printf 'a\\nb\\nc\\n'\na\n…\n", ""),
        ("console", "$ printf 'a\\nb\\nc\\n'\nb\n…\n", "prints\na\n…\n"),
        ("console", "$ printf 'a\\nb\\n'\na\nb\n…\n", "prints\na\nb\n"),
        ("console", "$ exit 3\n", "exit code 3"),
        ("sh", "true\nfalse\n", "false: exit code 1"),
        ("sh", "exit 1  # exit code 1\n", ""),
        ("sh", "echo a >&2\n", "exit code 0"),
        ("toml", "# new.scene.toml\nanything\n", ""),
        ("toml", "[lint]\ntolerance = 1e-5\n", ""),
        ("toml", "[lint]\ntolerence = 1e-5\n", "tolerence"),
        ("", "anything\n", "is run by nobody"),
    ],
)
def test_how_blocks_are_run(kind: str, text: str, what: str, workplace: Path) -> None:
    block = pages.Block(README, 1, kind, text)
    if not what:
        pages.run_block(block, workplace)
        return
    with pytest.raises(Exception, match=re.escape(what)):
        pages.run_block(block, workplace)


# README and examples


def test_the_targets_of_the_readme() -> None:
    lines = [
        line for block in pages.blocks_of(README) if block.kind == "sh" for line in block.text.splitlines()
    ]
    assert [line for line in lines if line.startswith("make ")] == ["make demo", "make test"]


def test_the_scene_of_the_readme_is_the_verdict_above_it(workplace: Path) -> None:
    import mbplugin as mb

    report = mb.lint(workplace / "robot.scene.toml")
    assert report.analysis is not None
    assert (report.analysis.degree_of_redundancy, report.analysis.dof) == (3, 1)


@pytest.mark.long
@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_example(script: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout
    assert list(tmp_path.iterdir()) == []
    for name in SHOWN:
        if f'"{name}"' in script.read_text(encoding="utf-8"):
            for engine in ENGINES_IN.get(name, ()):
                pytest.importorskip(
                    engine, reason=f"{name} of the pages shows {engine}, which is not installed"
                )
            sizes, colours = zip(*(_seen(ROOT / folder / name) for folder in (PICTURES, "out")), strict=True)
            assert sizes[0] == sizes[1]
            # fonts and rounding may differ a little from machine to machine
            assert np.abs(colours[0] - colours[1]).mean() < 0.01


def test_every_picture_has_its_example() -> None:
    assert len(SHOWN) == len(EXAMPLES)
    for name in SHOWN:
        assert sum(f'"{name}"' in script.read_text(encoding="utf-8") for script in EXAMPLES) == 1


def _seen(file: Path) -> tuple[tuple[int, int], Array]:
    """Size in pixels, and colours (h, w, 3) from 0 to 1 of a picture made small."""
    with Image.open(file) as picture:
        return picture.size, np.asarray(picture.convert("RGB").resize((160, 90)), dtype=float) / 255.0


def test_examples_are_numbered() -> None:
    found = sorted(path.name[:2] for path in (ROOT / "examples").glob("[0-9]*.*"))
    assert found == [f"{k:02}" for k in range(1, len(found) + 1)]


if __name__ == "__main__":
    for page in [Path(name).resolve() for name in sys.argv[1:]] or PAGES:
        with tempfile.TemporaryDirectory() as folder:
            pages.rewrite_transcripts(page, pages.furnish(Path(folder)))
