"""A minute of mutated models, and whether the campaign would notice what it looks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from failing_inputs import Failing
from fuzz.campaign import Limits, run_campaign
from fuzz.corpus import ROOT, corpus
from fuzz.mutate import MUTATIONS
from fuzz.target import Mutated, failure_of, write_input

SECONDS = 60.0


@pytest.mark.long
def test_a_minute_of_mutated_models_is_read_or_refused(tmp_path: Path) -> None:
    result = run_campaign(11, Limits(seconds=SECONDS), tmp_path, Mutated())
    assert not result.failures, result.text()
    assert result.inputs > 50


@pytest.mark.long_after(4)
@pytest.mark.parametrize("start", [s for s in corpus() if "seeds" in s.name], ids=lambda seed: seed.name)
def test_the_seeds_of_our_own_are_analyzed(start) -> None:
    assert failure_of(start.folder / start.main, start.folder, whole=True) == ""


@pytest.mark.long
def test_seed_and_number_alone_decide_an_input(tmp_path: Path) -> None:
    def contents(folder: str, number: int) -> list[bytes]:
        (tmp_path / folder).mkdir()
        write_input(corpus(), 3, number, tmp_path / folder)
        return [file.read_bytes() for file in sorted((tmp_path / folder).iterdir())]

    assert contents("a", 5) == contents("b", 5) != contents("c", 6)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.__name__)
def test_every_mutation_takes_any_text(mutation) -> None:
    from random import Random

    for data in (b"", b"x", b"<a b='1'/>", b"a = 1\n", bytes(range(256))):
        for k in range(20):
            assert isinstance(mutation(data, Random(k), b"<c d='2'>text</c>"), bytes)


@pytest.mark.long
def test_what_goes_wrong_is_noticed_and_the_campaign_goes_on(tmp_path: Path) -> None:
    result = run_campaign(1, Limits(inputs=8, patience=1.0), tmp_path, Failing())
    assert result.inputs == 8
    assert {number for numbers in result.failures.values() for number in numbers} == {1, 2, 4, 6}
    assert any("-9" in failure for failure in result.failures)
    assert any("no answer" in failure for failure in result.failures)
    # what failed first is kept to be looked at
    assert {"1", "2", "4"} <= {folder.name for folder in tmp_path.iterdir()}
    assert all(any(folder.iterdir()) for folder in tmp_path.iterdir())


def test_a_traceback_a_warning_and_a_long_sentence_are_failures(tmp_path, monkeypatch) -> None:
    import warnings

    from mbplugin.errors import BrokenModel

    def outcome(action) -> str:
        monkeypatch.setattr("fuzz.target._use", lambda *a, **k: action())
        return failure_of(tmp_path / "r.urdf", tmp_path, whole=True)

    def refuse(text: str) -> None:
        error = BrokenModel(text)
        error.args = (text,)
        raise error

    assert "ZeroDivisionError" in outcome(lambda: 1 / 0)
    assert "overflow" in outcome(lambda: warnings.warn("overflow", RuntimeWarning, stacklevel=1))
    assert "one sentence" in outcome(lambda: refuse("two\nlines."))
    assert outcome(lambda: refuse("a sentence.")) == ""


def test_the_corpus_stays_small() -> None:
    files = list((ROOT / "tests" / "fuzz" / "seeds").iterdir())
    assert sum(file.stat().st_size for file in files) < 100_000
