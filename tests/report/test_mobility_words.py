"""``mobility`` and ``dof`` are one number, wherever a result or a document has one of them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

import mbplugin as mb
from command_line import ASSETS, DOOR_2, call
from mbplugin.analysis.mobility import Branch, Mobility
from mbplugin.analysis.remedies import Remedy
from mbplugin.closing.drift import Verdict
from mbplugin.comparison.models.alignment import Quantities
from mbplugin.report.documents import DOCUMENTS
from mbplugin.report.documents.part import schema_of

#: The word of the texts for each key that is kept.
WORDS = {"dof": "mobility", "held_dof": "held_mobility", "finite_dof": "finite_mobility"}


@pytest.mark.parametrize(
    "value",
    [
        Branch(7, ()),
        Mobility(7, None),
        Remedy((), 0, 7),
        Quantities("m", 1, 2, 3, 4, 5.0, 6, 7),
        Verdict(1, 2, 7, 3),
    ],
    ids=lambda value: type(value).__name__,
)
def test_both_words_answer(value: Branch | Mobility | Remedy | Quantities | Verdict) -> None:
    assert (value.mobility, value.dof) == (7, 7)
    if isinstance(value, Verdict):
        assert (value.held_mobility, value.held_dof) == (3, 3)


def test_an_analysis_has_both_words() -> None:
    result = mb.analyze(ASSETS / "four_bar.scene.toml")
    assert result.mobility.mobility == result.dof == 1
    assert result.finite_mobility == result.finite_dof == 1
    many = mb.analyze(ASSETS / "four_bar.scene.toml", q=[result.q, result.q])
    assert many.mobility.tolist() == many.dof.tolist() == [1, 1]


def objects(value: Any) -> Iterator[dict[str, Any]]:
    """Yield all objects of a document."""
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from objects(part)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_schema_with_the_old_key_has_the_word(document: str) -> None:
    for one in objects(schema_of(document)):  # type: ignore[arg-type]
        keys = one.get("properties", {})
        for old, new in WORDS.items():
            if old in keys:
                assert new in keys and new not in one.get("required", ())


@pytest.mark.parametrize(
    "arguments",
    [
        ("lint", str(ASSETS / "four_bar.scene.toml")),
        ("lint", DOOR_2),
        ("diff", str(ASSETS / "four_bar.scene.toml"), DOOR_2),
    ],
    ids=lambda arguments: arguments[0],
)
def test_documents_state_the_same_number_by_both_keys(arguments: tuple[str, ...]) -> None:
    done = call(*arguments, "--output-format", "json")
    assert done.code in (0, 1), done.err
    pairs = [
        (one[old], one.get(new))
        for one in objects(json.loads(done.out))
        for old, new in WORDS.items()
        if isinstance(one.get(old), int)
    ]
    assert len(pairs) >= 2
    assert all(a == b for a, b in pairs), pairs
