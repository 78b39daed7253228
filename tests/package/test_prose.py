"""Prose is plain technical English: phrases that were replaced do not come back.

Checked are README, guides, the help of every command, the documentation of every rule and the docstrings of
public names. Code in the guides is not prose.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import pytest
import typer

import mbplugin as mb
from mbplugin.cli.app import FILES, application
from mbplugin.linter.registry import built_in_rules
from places import ROOT

#: Metaphors and riddles, each with the plain words for it.
PLAIN = {
    r"(?:is|are|was|were|be) told|told (?:to|by|in|that)|\btold\b": "reported, listed, signalled",
    r"\btells?\b": "reports, shows",
    r"\basked\b|asks? (?:for|about|of)": "requested, requires",
    r"\bsaid\b|would say|in so many words": "stated",
    r"page to mail|file to mail|\[mail it\]": "HTML report",
    r"has its way": "acts",
    r"means? (?:nothing|anything|something)": "undetermined, non-unique",
    r"(?:left|leaves?|stays?|remains?|components?|is|are) open\b|leaves? (?:\w+ ){1,3}open": "undetermined",
    r"takes? the shock|share of a shock": "distribution of impulses",
    r"gives? up|given up": "cannot, is powered off",
    r"without a word|silently": "without a warning",
    r"what it comes to|what a stop comes to": "result",
    r"(?<![\w-])refuse[sd]?(?![\w-])": "is an error",
    r"\bno roll\b": "is not a roll axis",
    r"just set to zero|usual shortcut": "the usual simplification sets the rate to zero",
    r"brakes? (?:that )?grips?\b": "engages",
    r"nobody|somebody|strangers?\b": "name the person or use the passive",
    r"in the way\b|whom (?:it|they)|works? against whom": "prevent",
    r"falls apart|swings? on\b|fights?\b|throws the": "describe the mechanics",
    r"switched on": "lint in CI",
    r"\bghosts?\b": "transparent robots",
}
FENCED = re.compile(r"^```(?:python|toml|yaml)$.*?^```$", re.MULTILINE | re.DOTALL)


def texts() -> Iterator[tuple[str, str]]:
    """Yield the place and the prose of everything that a user reads."""
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        yield page.name, FENCED.sub("", page.read_text(encoding="utf-8"))
    for rule in built_in_rules():
        yield rule.code, f"{rule.summary}\n{rule.documentation}"
    yield from command_help()
    for name in mb.__all__:
        yield from docstrings(f"mb.{name}", getattr(mb, name))


def command_help() -> Iterator[tuple[str, str]]:
    """Yield the help of every command, its arguments and its options."""
    group = typer.main.get_command(application(FILES))
    yield "mbplugin", group.help or ""
    for name, command in group.commands.items():  # type: ignore[attr-defined]
        options = (getattr(parameter, "help", None) or "" for parameter in command.params)
        yield f"mbplugin {name}", "\n".join([command.help or "", *options])


def docstrings(name: str, value: object) -> Iterator[tuple[str, str]]:
    """Yield the docstrings of a public function, or of a class and its public members."""
    yield name, inspect.getdoc(value) or ""
    if inspect.isclass(value):
        for key, member in vars(value).items():
            if not key.startswith("_") and (callable(member) or isinstance(member, property)):
                yield f"{name}.{key}", inspect.getdoc(member) or ""


TEXTS = dict(texts())


def found_in(text: str) -> list[str]:
    """Return the phrases of a text that have plain words, each with these."""
    running = " ".join(text.split())
    return [
        f"{match.group()!r} ({plain}): …{running[max(match.start() - 40, 0) : match.end() + 20]}…"
        for phrase, plain in PLAIN.items()
        for match in re.finditer(phrase, running, re.IGNORECASE)
    ]


@pytest.mark.parametrize("place", sorted(TEXTS))
def test_prose_is_plain(place: str) -> None:
    assert not found_in(TEXTS[place])


def test_every_kind_of_text_is_checked() -> None:
    for place in ("README.md", "motion.md", "MB301", "mbplugin", "mbplugin estop", "mb.simulate"):
        assert len(TEXTS[place]) > 30
    assert "Stop categories" in TEXTS["mbplugin stop-table"]
    assert "mb.Trajectory.resample" in TEXTS


@pytest.mark.parametrize(
    "text",
    [
        "the pose is told",
        "A page to mail",
        "reactions that\nmean nothing",
        "leaves some of them open",
        "no roll",
    ],
)
def test_a_phrase_is_found_across_lines(text: str) -> None:
    assert found_in(text)


def test_plain_words_are_not_found() -> None:
    assert not found_in("MB914 refused-xacro; the brake engages; reactions are undetermined; open files")
