"""The schemas in docs are those that the documents give."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest

from command_line import ROOT
from mbplugin.report.documents import DOCUMENTS, DocumentName
from mbplugin.report.documents.part import Part, schema_of

#: What a schema states of a value; pydantic words the rest differently from release to release.
STATED = ("description", "enum", "const", "minimum", "maxItems", "minItems", "pattern")


def stated(schema: Any, whole: Any, place: str = "") -> dict[str, dict[str, Any]]:
    """Return what a schema states of every value, by its place in a document."""
    if "$ref" in schema:
        schema = {**whole["$defs"][schema["$ref"].rpartition("/")[2]], **schema}
    found = {place: {word: schema[word] for word in STATED if word in schema}}
    found[place]["required"] = sorted(schema.get("required", ()))
    for key, value in schema.get("properties", {}).items():
        found |= stated(value, whole, f"{place}/{key}")
    for word in ("items", "additionalProperties"):
        if isinstance(schema.get(word), dict):
            found |= stated(schema[word], whole, f"{place}/{word}")
    for k, value in enumerate(schema.get("anyOf", ())):
        found |= stated(value, whole, f"{place}|{k}")
    return found


@pytest.mark.long_after(6)
@pytest.mark.parametrize("document", DOCUMENTS)
def test_docs_hold_the_schema(document: DocumentName) -> None:
    written = json.loads((ROOT / "docs" / f"{document}.schema.json").read_text(encoding="utf-8"))
    schema = schema_of(document)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert stated(written, written) == stated(schema, schema), "make schemas"


def test_docs_hold_no_other_schema() -> None:
    assert {file.name.removesuffix(".schema.json") for file in (ROOT / "docs").glob("*.schema.json")} == set(
        DOCUMENTS
    )


def test_a_field_that_does_not_exist_cannot_be_stated() -> None:
    class Pose(Part):
        x: float

    assert Pose.of((1.0,)) == Pose.of({"x": 1.0, "y": 2.0}) == {"x": 1.0}
    with pytest.raises(TypeError, match="Pose has no field z"):
        Pose.of({"x": 1.0}, z=3.0)
