"""Runs the blocks of a page from top to bottom, in a folder with what the pages speak of.

- ``sh``: every line is run and succeeds silently on stderr; ``# exit code N`` at its end says otherwise.
- ``console``: one command after ``$``, and its whole output, or the first lines of it before a line ``…``.
- ``python``: is run; a comment behind a ``print`` is what that prints first, up to ``…``.
- ``toml``: ``# NAME`` in the first line makes the file, ``# more of NAME`` adds to it. Without either it is
  a part of a scene, and is read in the scene of the README.
"""

from __future__ import annotations

import ast
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tokenize
from dataclasses import dataclass
from pathlib import Path

from places import ROOT
from usd_stages import four_bar as four_bar_stage

README = ROOT / "README.md"
#: docs/teams.md is run by tests/test_teams.py, in the repository that it speaks of.
PAGES = (README, *(page for page in sorted((ROOT / "docs").glob("*.md")) if page.name != "teams.md"))
KINDS = ("sh", "console", "python", "toml")
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
#: Commands that install, and the extras that there are.
INSTALLS = re.compile(
    r"(pip|pipx|uv tool) install (?P<quote>['\"]?)(?:\.|mbplugin(?=\[))?(\[(?P<extras>[\w,]+)\])?(?: @ )?"
    r"(?:git\+https://git\.example\.org/mbplugin@v[\d.]+)?(?P=quote)( *#.*)?$"
)
EXTRAS = set(
    re.findall(
        r"^(\w+) = \[",
        (ROOT / "pyproject.toml").read_text(encoding="utf-8").split("[project.optional-dependencies]")[1],
        re.MULTILINE,
    )
)
#: The last line of an output that a page does not show to its end.
MORE = "…\n"
#: Rounding that differs between machines.
ROUNDING = re.compile(r"(?<=constraints hold to )\S+")

RECORD = """
import builtins, collections, io, json, sys
printed = collections.defaultdict(list)
def record(*values, **options):
    text = io.StringIO()
    builtins.print(*values, **{**options, "file": text})
    printed[sys._getframe(1).f_lineno].append(text.getvalue().removesuffix("\\n"))
code = sys.stdin.read()
exec(compile(code, "block", "exec"), {"__name__": "__main__", "print": record})
with open(sys.argv[1], "w", encoding="utf-8") as file:
    json.dump(printed, file)
"""


class NotAsShown(AssertionError):
    """A page shows what does not happen."""


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    kind: str
    text: str

    def fail(self, what: str) -> NotAsShown:
        return NotAsShown(f"{self.page.relative_to(ROOT)}:{self.line}: {what}")


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(page, text.count("\n", 0, match.start()) + 1, match[1], match[2])
        for match in BLOCK.finditer(text)
    ]


def readme_scene() -> str:
    (scene,) = [block.text for block in blocks_of(README) if block.kind == "toml"]
    return scene


def furnish(folder: Path) -> Path:
    """Put into a folder what the pages speak of."""
    for name in ("tests", "examples"):
        (folder / name).symlink_to(ROOT / name)
    # a configuration that is a link out of its repository is an error
    shutil.copy(ROOT / "pyproject.toml", folder)
    # reports tell where a file really is
    shutil.copytree(ROOT / "assets", folder / "assets")
    shutil.copy(ROOT / "Makefile", folder)
    shutil.copy(ROOT / "assets" / "four_bar.urdf", folder / "robot.urdf")
    (folder / "robot.scene.toml").write_text(readme_scene(), encoding="utf-8")
    (folder / "robot.usda").write_text(four_bar_stage(), encoding="utf-8")
    return folder


def process(command: list[str], folder: Path, stdin: str = "") -> subprocess.CompletedProcess[bytes]:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    return subprocess.run(
        command,
        cwd=folder,
        input=stdin.encode(),
        env={**os.environ, "PATH": path, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        check=False,
        timeout=300,
    )


def run_page(page: Path, folder: Path) -> int:
    """Run all blocks of a page in a furnished folder, and return how many there were."""
    blocks = blocks_of(page)
    for block in blocks:
        run_block(block, folder)
    return len(blocks)


def run_block(block: Block, folder: Path) -> None:
    runs = {"sh": run_commands, "console": run_transcript, "python": run_snippet, "toml": keep_file}
    if block.kind not in runs:
        raise block.fail(
            f"a block of kind {block.kind!r} is run by nobody; expected one of {', '.join(KINDS)}"
        )
    runs[block.kind](block, folder)


def run_commands(block: Block, folder: Path) -> None:
    for command in block.text.splitlines():
        if found := INSTALLS.match(command):
            # environments are not made here: what is named has to be there
            if unknown := set(filter(None, (found["extras"] or "").split(","))) - EXTRAS:
                raise block.fail(f"{command}: there is no extra {min(unknown)!r}")
            continue
        if command.startswith("make "):
            # only asked what it would do: make test runs the tests
            command = f"{command} --dry-run > /dev/null"
        done = process(["bash", "-c", f"set -o pipefail; {command}"], folder)
        said = re.search(r"# exit code (\d)$", command)
        if done.returncode != (int(said[1]) if said else 0) or done.stderr:
            raise block.fail(f"{command}: exit code {done.returncode}\n{done.stderr.decode()}")


def run_transcript(block: Block, folder: Path) -> None:
    command, shown = transcript(block)
    seen = as_long_as(shown, output_of(block, folder))
    if ROUNDING.sub("", seen) != ROUNDING.sub("", shown):
        raise block.fail(f"{command} prints\n{seen}\n(python tests/test_readme.py writes it anew)")


def transcript(block: Block) -> tuple[str, str]:
    """Return command and shown output of a console block."""
    command, _, shown = block.text.partition("\n")
    if not command.startswith("$ "):
        raise block.fail("a console block starts with '$ '")
    return command[2:], shown


def as_long_as(shown: str, seen: str) -> str:
    """Return an output as a page shows it: the first lines, as many as the page has before a line ``…``."""
    first = shown.splitlines(keepends=True)
    if first[-1:] != [MORE] or seen.count("\n") < len(first):
        return seen
    return "".join([*seen.splitlines(keepends=True)[: len(first) - 1], MORE])


def output_of(block: Block, folder: Path) -> str:
    done = process(["bash", "-c", f"set -o pipefail; {transcript(block)[0]}"], folder)
    if done.returncode > 1 or done.stderr:
        raise block.fail(f"exit code {done.returncode}\n{done.stderr.decode()}")
    return done.stdout.decode()


def run_snippet(block: Block, folder: Path) -> None:
    # what engines print by themselves goes to stdout and stderr
    record = folder / "printed.json"
    done = process([sys.executable, "-c", RECORD, str(record)], folder, block.text)
    if done.returncode:
        raise block.fail(done.stderr.decode())
    printed = {int(line): texts for line, texts in json.loads(record.read_text(encoding="utf-8")).items()}
    for line, said in said_behind_prints(block.text).items():
        seen = printed.get(line, ["nothing"])[0]
        if not (seen.startswith(said[:-1]) if said.endswith("…") else seen == said):
            raise block.fail(f"line {line} of the snippet prints {seen}, not {said}")


def said_behind_prints(code: str) -> dict[int, str]:
    """Return the comments behind calls of print, by line."""
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    lines = {call.lineno for call in calls if isinstance(call.func, ast.Name) and call.func.id == "print"}
    tokens = tokenize.generate_tokens(io.StringIO(code).readline)
    comments = {token.start[0]: token.string for token in tokens if token.type == tokenize.COMMENT}
    return {line: text.removeprefix("#").strip() for line, text in comments.items() if line in lines}


def keep_file(block: Block, folder: Path) -> None:
    import mbplugin as mb

    head = block.text.partition("\n")[0]
    named = re.fullmatch(r"# (more of )?([\w.]+)", head)
    if named:
        body = block.text.partition("\n")[2]
        file = folder / named[2]
        before = file.read_text(encoding="utf-8") + "\n" if named[1] else ""
        file.write_text(before + body, encoding="utf-8")
    elif block.text != readme_scene():
        scene = folder / "part.scene.toml"
        scene.write_text(f"{readme_scene()}\n{block.text}", encoding="utf-8")
        mb.load(scene)


def rewrite_transcripts(page: Path, folder: Path) -> None:
    """Run a page and write the outputs it shows anew."""
    text = page.read_text(encoding="utf-8")
    for block in blocks_of(page):
        if block.kind == "console":
            command, shown = transcript(block)
            new = f"```console\n$ {command}\n{as_long_as(shown, output_of(block, folder))}```"
            text = text.replace(f"```console\n{block.text}```", new)
        else:
            run_block(block, folder)
    page.write_text(text, encoding="utf-8")
