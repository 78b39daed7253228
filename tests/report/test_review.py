"""Suggestions for a pull request: valid where GitHub's format is documented, and only on lines that it touches."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from command_line import SAMPLE, call
from mbplugin.linter.rule import TextRange
from mbplugin.report.ci import _block

ARM = "robots/arm.urdf"
#: Of the REST API, "Create a review for a pull request" (2022-11-28): the keys that are used here.
COMMENT = {
    "type": "object",
    "required": ["path", "body", "line", "side"],
    "additionalProperties": False,
    "properties": {
        "path": {"type": "string", "pattern": "^[^/]"},
        "body": {"type": "string", "maxLength": 65536},
        "line": {"type": "integer", "minimum": 1},
        "side": {"const": "RIGHT"},
        "start_line": {"type": "integer", "minimum": 1},
        "start_side": {"const": "RIGHT"},
    },
    "dependentRequired": {"start_line": ["start_side"], "start_side": ["start_line"]},
}
REVIEW = {
    "type": "object",
    "required": ["commit_id", "event", "body", "comments"],
    "additionalProperties": False,
    "properties": {
        "commit_id": {"type": "string", "pattern": "^[0-9a-f]{40}$"},
        "event": {"const": "COMMENT"},
        "body": {"type": "string", "minLength": 1},
        "comments": {"type": "array", "items": COMMENT},
    },
}


def git(*arguments: str) -> str:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    done = subprocess.run(["git", *identity, *arguments], check=True, capture_output=True)
    return done.stdout.decode().strip()


def commit() -> str:
    git("add", "--all")
    git("commit", "--quiet", "--message", "x")
    return git("rev-parse", "HEAD")


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The commit of the sample repository, which is the working directory."""
    shutil.copytree(SAMPLE, tmp_path / "repository")
    monkeypatch.chdir(tmp_path / "repository")
    git("init", "--quiet", "--initial-branch", "main")
    return commit()


def edit(old: str, new: str, file: str = ARM) -> None:
    text = Path(file).read_text()
    assert old in text
    Path(file).write_text(text.replace(old, new, 1))


def review(changes: str, *options: str) -> dict[str, Any]:
    done = call(
        "lint",
        "robots",
        "--diff",
        "--changes",
        changes,
        "--report",
        "github-review=r.json",
        "--force",
        *options,
    )
    assert done.code in (0, 1), done.err
    document: dict[str, Any] = json.loads(Path("r.json").read_text())
    jsonschema.Draft202012Validator(REVIEW).validate(document)
    return document


def suggestion(comment: dict[str, Any]) -> tuple[int, int, str]:
    """Return the lines of a suggestion and what they become, as GitHub reads it."""
    found = re.search(r"^(`{3,})suggestion\n(.*?)^\1$", comment["body"], re.MULTILINE | re.DOTALL)
    assert found
    return comment.get("start_line", comment["line"]), comment["line"], found[2]


def applied(file: str, comments: list[dict[str, Any]]) -> str:
    lines = Path(file).read_text().splitlines(keepends=True)
    for first, last, text in sorted(map(suggestion, comments), reverse=True):
        lines[first - 1 : last] = [text]
    return "".join(lines)


def test_suggestions_mend_the_lines_that_were_touched(base: str) -> None:
    edit('<axis xyz="0 1 0"/>', '<axis xyz="0 2 0"/>')
    head = commit()
    document = review(f"{base}...HEAD")
    assert document["commit_id"] == head and "1 suggestion" in document["body"]
    (comment,) = document["comments"]
    assert (comment["path"], comment["line"]) == (ARM, 23) and "start_line" not in comment
    mended = applied(ARM, document["comments"])
    call("lint", ARM, "--fix")
    assert Path(ARM).read_text() == mended


def test_two_places_are_two_suggestions(base: str) -> None:
    for _ in range(2):
        edit('<axis xyz="0 1 0"/>', '<axis xyz="0 2 0"/>')
    commit()
    comments = review(base)["comments"]
    assert [one["line"] for one in comments] == [23, 30]
    assert all("of 2; all parts belong together" in one["body"] for one in comments)
    assert len({one["body"].splitlines()[-1] for one in comments}) == 2
    mended = applied(ARM, comments)
    call("lint", ARM, "--fix")
    assert Path(ARM).read_text() == mended


def test_lines_that_were_not_touched_get_none(base: str) -> None:
    edit('<axis xyz="0 1 0"/>', '<axis xyz="0 2 0"/>')
    before = commit()
    edit('<mass value="2.0"/>', '<mass value="2.5"/>')
    commit()
    document = review(before)
    assert document["comments"] == [] and "1 fix more cannot be suggested here" in document["body"]
    # what only the base has changed since their common ancestor is none of the pull request's lines
    git("checkout", "--quiet", "-b", "other", before)
    edit('<axis xyz="0 2 0"/>', '<axis xyz="0 1 0"/>')
    other = commit()
    git("checkout", "--quiet", "main")
    assert review(f"{other}...HEAD")["comments"] == []


def test_a_file_that_is_not_as_in_the_commit_gets_none(base: str) -> None:
    edit('<axis xyz="0 1 0"/>', '<axis xyz="0 2 0"/>')
    commit()
    edit('<mass value="2.0"/>', '<mass value="2.5"/>')
    assert review(base)["comments"] == []


def test_carriage_returns_get_none(base: str) -> None:
    edit('<axis xyz="0 1 0"/>', '<axis xyz="0 2 0"/>')
    Path(ARM).write_bytes(Path(ARM).read_bytes().replace(b"\n", b"\r\n"))
    commit()
    assert review(base)["comments"] == []


def test_a_fence_in_the_line_does_not_end_the_suggestion(base: str) -> None:
    fence = '<!-- ```` @all --><axis xyz="0 2 0"/>'
    edit('<axis xyz="0 1 0"/>', fence)
    commit()
    (comment,) = review(base)["comments"]
    assert suggestion(comment)[2] == '    <!-- ```` @all --><axis xyz="0 1 0"/>\n'
    assert comment["body"].count("`````") == 2


def test_names_are_rendered_nowhere(base: str) -> None:
    text = Path(ARM).read_text().replace("shoulder", "@all`](https://evil.example)&lt;img&gt;&#10;::error")
    Path(ARM).write_text(text.replace('<axis xyz="0 1 0"/>', '<axis xyz="0 2 0"/>', 1))
    commit()
    (comment,) = review(base)["comments"]
    outside = re.sub(r"`[^`\n]*`", "", comment["body"].partition("```suggestion")[0])
    assert "evil" not in outside and "@" not in outside and "<" not in outside
    assert not any(line.startswith("::") for line in comment["body"].splitlines())


def test_blocks_of_lines() -> None:
    text = "a\nb\nc\nd"
    for edits, expected in (
        ([TextRange("f", 2, 1, 2, 2, "B")], (2, 2, "B")),
        ([TextRange("f", 2, 1, 3, 1, "")], (2, 2, "")),
        ([TextRange("f", 2, 1, 3, 2, "x\ny\nz")], (2, 3, "x\ny\nz")),
        ([TextRange("f", 2, 1, 2, 1, "n\n")], (2, 2, "n\nb")),
        ([TextRange("f", 4, 2, 4, 2, "\ne")], (4, 4, "d\ne")),
        ([TextRange("f", 1, 1, 1, 2, "A"), TextRange("f", 3, 1, 3, 2, "C")], (1, 3, "A\nb\nC")),
    ):
        assert _block(text, edits) == expected
        first, last, new = expected
        lines = text.split("\n")
        whole = [*lines[: first - 1], *([new] if new else []), *lines[last:]]
        by_hand = text
        for one in sorted(edits, key=lambda e: -e.start_line):
            starts = [sum(len(line) + 1 for line in lines[:k]) for k in range(len(lines) + 1)]
            start, end = (
                starts[one.start_line - 1] + one.start_column - 1,
                starts[one.end_line - 1] + one.end_column - 1,
            )
            by_hand = by_hand[:start] + one.text + by_hand[end:]
        assert "\n".join(whole) == by_hand


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--report", "github-review=r.json"), "--diff and --changes BASE...HEAD"),
        (("--diff", "--report", "github-review=r.json"), "--diff and --changes BASE...HEAD"),
        (("--fix", "--changes", "main", "--report", "github-review=r.json"), "--diff and --changes"),
        (("--changes", "main"), "--report github-review=FILE with it"),
        (("--diff", "--changes", "nope", "--report", "github-review=r.json"), "'nope', which is no commit"),
        (("--diff", "--changes", "--all", "--report", "github-review=r.json"), "'--all', which is no commit"),
    ],
)
def test_wrong_usage(base: str, options: tuple[str, ...], words: str) -> None:
    done = call("lint", "robots", *options)
    assert done.code == 2 and words in done.err and not Path("r.json").exists()
