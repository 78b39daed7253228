"""A report that is read back is what a command wrote, or it is refused in one sentence, whatever was done to it."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from command_line import DOOR_2, call
from mbplugin.errors import MbPluginError
from mbplugin.report.against import compared, read_earlier
from mbplugin.report.documents import DOCUMENTS
from mbplugin.report.documents.part import schema_of, violation

KEPT = Path(__file__).parent.parent / "report" / "documents"
READ = [{"path": "r.urdf", "sha256": "00"}]
RECORD = {"date": "2026-01-01T00:00:00Z", "version": "1", "command": "c", "robot": "r", "files": READ}
TERMS = "K=1.6,t1=0.1,D_DS=0.85,Z=0.05"
#: What is put in the place of a value.
OTHERS = ("x", -1, [None], None, True, {}, [], 99, 1e308, 10**400, float("nan"), {"a": [1]}, -(10**30))


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every node; of a list, of its first two entries."""
    items = (
        value.items() if isinstance(value, dict) else enumerate(value[:2]) if isinstance(value, list) else ()
    )
    for key, item in items:
        yield (*path, key)
        yield from places(item, (*path, key))


def put(other: Any, parent: Any, key: Any) -> None:
    parent[key] = other


def of_values(error: jsonschema.ValidationError) -> bool:
    """Return whether an error is more than keys that lack: of a union, whether no possibility has only such."""
    if error.validator != "anyOf":
        return bool(error.validator != "required")
    tried: dict[Any, list[jsonschema.ValidationError]] = {}
    for one in error.context:
        tried.setdefault(one.schema_path[0], []).append(one)
    return all(any(map(of_values, errors)) for errors in tried.values())


def mutated(document: Any, path: tuple[Any, ...], change: Callable[[Any, Any], None]) -> Any:
    made = copy.deepcopy(document)
    parent = made
    for key in path[:-1]:
        parent = parent[key]
    change(parent, path[-1])
    return made


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["stop_table", "estop", "matrix", "simulate", "worst_stop", "diff", "distance"]
)
def test_no_mutation_is_a_traceback_or_passes_unnoticed(name: str, tmp_path: Path) -> None:
    document = json.loads((KEPT / f"{name}.json").read_text()) | {"record": RECORD}
    own = next(one for one in DOCUMENTS if one == name.replace("_", "-"))
    validator = jsonschema.Draft202012Validator(schema_of(own))
    file, rng = tmp_path / "old.json", random.Random(name)
    paths = list(places(document))
    record = [path for path in paths if path[0] == "record"]
    for path in [("schema_version",), *record, *rng.sample(paths, min(len(paths), 60))]:
        for other in (*OTHERS, KeyError):

            def change(parent: Any, key: Any, other: Any = other) -> None:
                if other is KeyError:
                    del parent[key]
                else:
                    parent[key] = other

            made = mutated(document, path, change)
            file.write_text(json.dumps(made))
            try:
                earlier = read_earlier(file, own)
            except MbPluginError as error:
                assert str(error).count("\n") == 0
                continue
            assert earlier is not None
            compared(earlier, document)
            # the keys that are there have the type that their schema says
            wrong = [one for one in validator.iter_errors(made) if of_values(one)]
            assert not wrong or other is KeyError, (path, other, wrong)


@pytest.mark.parametrize(
    "change", [{"record": "x"}, {"record": -1}, {"record": [None]}, {"schema_version": 99}, {"rows": None}]
)
def test_a_report_that_is_none_is_refused(change: dict[str, Any], tmp_path: Path) -> None:
    document = json.loads((KEPT / "matrix.json").read_text()) | {"record": RECORD} | change
    file = tmp_path / "old.json"
    file.write_text(json.dumps(document))
    done = call("matrix", DOOR_2, "--against", str(file))
    assert (done.code, done.out) == (2, "") and done.err.count("\n") == 1
    assert next(iter(change)) in done.err


@pytest.mark.long_after(1)
@pytest.mark.parametrize("name", ["lint", "lint_several", "estop", "stop_table"])
def test_baselines_and_stops_are_read_or_refused(name: str, tmp_path: Path) -> None:
    document, file = json.loads((KEPT / f"{name}.json").read_text()), tmp_path / "old.json"
    rng = random.Random(name)
    for path in rng.sample(list(places(document)), 6):
        for other in ("x", -1, [None], 10**400):
            file.write_text(json.dumps(mutated(document, path, partial(put, other))))
            lint = name.startswith("lint")
            arguments = (
                ("lint", DOOR_2, "--baseline", str(file))
                if lint
                else ("distance", str(file), "--term", TERMS)
            )
            done = call(*arguments)
            assert done.code in (0, 1, 2) and "Traceback" not in done.err and done.err.count("\n") <= 2


def test_the_reader_of_schemas_agrees_with_another_one() -> None:
    for file in sorted(KEPT.glob("*.json")):
        own = max((one for one in DOCUMENTS if file.stem.replace("_", "-").startswith(one)), key=len)
        assert violation(json.loads(file.read_text()), own) == "", file


def test_a_report_that_takes_minutes_to_compare_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "old.json"
    file.write_text('{"samples": [' + "0.123456789," * 1_400_000 + "0]}")
    done = call("matrix", DOOR_2, "--against", str(file))
    assert (done.code, done.out) == (2, "") and "larger than 16 MB" in done.err
