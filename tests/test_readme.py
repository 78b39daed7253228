"""What README and guides show is what happens: commands and snippets run, transcripts are the output.

``python tests/test_readme.py`` writes the transcripts anew.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
#: Pages whose blocks are run; docs/rules.md is held against the rules themselves.
PAGES = (README, ROOT / "docs" / "reactions.md", ROOT / "docs" / "motion.md")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
EXAMPLES = sorted((ROOT / "examples").glob("[0-9]*.py"))


def blocks(language: str, *pages: Path) -> list[str]:
    texts = [page.read_text(encoding="utf-8") for page in pages or PAGES]
    return [block for text in texts for kind, block in BLOCK.findall(text) if kind == language]


def environment() -> dict[str, str]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return {**os.environ, "PATH": path, "PYTHONIOENCODING": "utf-8"}


def output_of(command: str) -> str:
    done = subprocess.run(
        ["bash", "-c", command], cwd=ROOT, env=environment(), capture_output=True, check=False, timeout=120
    )
    assert done.returncode < 2, done.stderr.decode()
    return done.stdout.decode()


def transcript(text: str) -> tuple[str, str]:
    """Return command and shown output of a console block."""
    command, _, shown = text.partition("\n")
    assert command.startswith("$ ")
    return command[2:], shown


@pytest.fixture
def workplace(tmp_path: Path) -> Path:
    """A folder with the files that the README speaks of."""
    (tmp_path / "assets").symlink_to(ROOT / "assets")
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    shutil.copy(ROOT / "Makefile", tmp_path)
    shutil.copy(ROOT / "assets" / "four_bar.urdf", tmp_path / "robot.urdf")
    (scene,) = blocks("toml", README)
    (tmp_path / "robot.scene.toml").write_text(scene, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("text", blocks("console"), ids=lambda text: text.partition("\n")[0])
def test_transcript(text: str) -> None:
    command, shown = transcript(text)
    assert output_of(command) == shown, f"python {Path(__file__).relative_to(ROOT)} writes it anew"


@pytest.mark.parametrize(
    "command",
    [line for text in blocks("sh") for line in text.splitlines() if not line.startswith("make ")],
)
def test_command(command: str, workplace: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command}"],
        cwd=workplace,
        env=environment(),
        capture_output=True,
        check=False,
        timeout=120,
    )
    said = re.search(r"# exit code (\d)$", command)
    assert done.returncode == (int(said[1]) if said else 0), done.stderr.decode()
    assert done.stderr == b""


def test_make_targets_exist() -> None:
    targets = [line for text in blocks("sh") for line in text.splitlines() if line.startswith("make ")]
    assert targets == ["make demo", "make test"]
    for command in targets:
        # only asked what it would do: make test runs this test
        subprocess.run([*command.split(), "--dry-run"], cwd=ROOT, capture_output=True, check=True)


@pytest.mark.parametrize("table", blocks("toml", *PAGES[1:]))
def test_tables_of_the_guides_are_read_in_the_scene_of_the_readme(table: str, workplace: Path) -> None:
    import mbplugin as mb

    file = workplace / "robot.scene.toml"
    file.write_text(f"{file.read_text(encoding='utf-8')}\n{table}", encoding="utf-8")
    assert len(mb.load(file).stiffness) == 1


@pytest.mark.parametrize("code", blocks("python"), ids=lambda code: code.splitlines()[0])
def test_snippet(code: str, workplace: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=workplace,
        env=environment(),
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()
    printed = done.stdout.decode().splitlines()
    for said in re.findall(r"^print\(.*\)\s+# (.*)$", code, re.MULTILINE):
        if said[0].isdigit() or said[0] == "[":
            assert said in printed


def test_the_scene_of_the_readme_is_the_verdict_above_it(workplace: Path) -> None:
    import mbplugin as mb

    report = mb.lint(workplace / "robot.scene.toml")
    assert report.analysis is not None
    assert (report.analysis.degree_of_redundancy, report.analysis.dof) == (3, 1)


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda path: path.stem)
def test_example(script: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout
    assert list(tmp_path.iterdir()) == []


def test_examples_are_numbered() -> None:
    assert [path.name[:2] for path in EXAMPLES] == [f"{k:02}" for k in range(1, len(EXAMPLES) + 1)]


def rewrite_transcripts() -> None:
    def renewed(match: re.Match[str]) -> str:
        kind, text = match.groups()
        if kind != "console":
            return match.group(0)
        command, _ = transcript(text)
        return f"```console\n$ {command}\n{output_of(command)}```"

    README.write_text(BLOCK.sub(renewed, README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    rewrite_transcripts()
