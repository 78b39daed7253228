"""What every input goes through, and what counts as a failure."""

from __future__ import annotations

import json
import traceback
import warnings
from pathlib import Path
from random import Random
from typing import get_args

from mbplugin.errors import MbPluginError
from mbplugin.linter.run import FAILED_RULE, lint
from mbplugin.readers import load
from mbplugin.report.documents.lint import lint_document
from mbplugin.report.documents.part import dumps
from mbplugin.report.text.lint import Detail, lint_text

from .corpus import Seed, corpus
from .mutate import mutated

#: One in so many inputs is linted and reported, the others are read.
WHOLE = 2


class Mutated:
    """Models of the corpus, mutated, read and linted."""

    def prepare(self) -> None:
        """Read the corpus."""
        self.seeds = corpus()

    def failure(self, seed: int, number: int, place: Path) -> str:
        """Write an input into a folder and return what must not happen to it, or nothing."""
        start, file = write_input(self.seeds, seed, number, place)
        return failure_of(file, start.folder, whole=number % WHOLE == 0)

    def again(self, seed: int, number: int) -> str:
        """Return the command that does it again."""
        return f"python -m tests.fuzz --seed {seed} --first {number} --inputs 1"


def write_input(seeds: list[Seed], seed: int, number: int, folder: Path) -> tuple[Seed, Path]:
    """Write the input of a number into a folder; seed and number alone decide what it is."""
    random = Random(f"{seed}:{number}")
    # every format comes as often, however many files of it there are
    ending = random.choice(sorted({start.ending for start in seeds}))
    start = random.choice([start for start in seeds if start.ending == ending])
    other = random.choice(seeds)
    victim = random.choice(sorted(start.files))
    for name, content in start.files.items():
        if name == victim:
            content = mutated(content, random, other.files[other.main])
        (folder / name).write_bytes(content)
    return start, folder / start.main


def failure_of(file: Path, folder: Path, *, whole: bool) -> str:
    """Return the traceback of what must not happen to a file, or nothing.

    Parameters
    ----------
    file : Path
    folder : Path
        Where the files it names are found.
    whole : bool
        Lint and report it, not only read it.
    """
    with warnings.catch_warnings():
        # a warning on stderr is as little an answer as a traceback
        warnings.simplefilter("error")
        try:
            _use(str(file), str(folder), whole=whole)
        except MbPluginError as error:
            return _malformed(error)
        except BaseException:
            return traceback.format_exc()
    return ""


def _use(file: str, folder: str, *, whole: bool) -> None:
    if not whole:
        load(file, package_dirs=(folder,))
        return
    report = lint(file, package_dirs=(folder,), samples=2)
    for finding in report.findings:
        if finding.code == FAILED_RULE:
            raise AssertionError(str(finding.evidence.get("traceback")))
    # NaN is not JSON
    json.loads(dumps(lint_document([report])), parse_constant=_no_number)
    for detail in get_args(Detail):
        lint_text([report], detail=detail).encode("utf-8", errors="surrogateescape")
    if report.exit_code not in (0, 1, 2):
        raise AssertionError(f"exit code {report.exit_code}")


def _no_number(text: str) -> float:
    raise AssertionError(f"{text} in the JSON")


def _malformed(error: MbPluginError) -> str:
    text = str(error)
    if "\n" in text or not text.endswith((".", "?")) or len(text) > 2000:
        return f"not one sentence of less than 2000 characters: {text[:3000]!r}"
    return ""
