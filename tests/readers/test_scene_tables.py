"""The tables of a scene permit what their models of pydantic permit, and read the same values."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import ValidationError

import mbplugin as mb
from mbplugin.errors import BadScene
from mbplugin.readers.scene_file import SceneFile
from mbplugin.readers.scene_file.tables import REQUIRED, FileName, RefusedTable, Table, strict_model

ASSETS = Path(__file__).parents[2] / "assets"
#: Values of every type that TOML has, among them those just within and just out of bounds.
VALUES: list[Any] = [
    *(0, 1, -1, 2, 10**9, 10**18, 10**400, -(10**400)),
    *(0.0, -0.0, 0.5, 1.0, 1.5, -1e-300, 1e12, 1e15, 1e16, 1e30, 1e308, math.inf, -math.inf, math.nan),
    *(
        True,
        False,
        "",
        "x",
        "fixed",
        "xy",
        "revolute",
        "mimic",
        "rolling",
        "spline",
        "1.0",
        "a" * 500,
        "a" * 501,
    ),
    *([], [1], [1, 2], [1, 2.5, 3], [1, 2, 3, 4], [0, 0, 0], [True, 1, 2], ["x", 1, 2], [1, [2], 3]),
    *([[1, 2, 3]] * 2, [[1, 2, 3]] * 4, [["x"]], [math.nan] * 3, [math.inf] * 6, [[math.inf] * 6] * 6),
    *({}, {"a": 1}, {"a": "x"}, {"a": True}, {"": 1.5}, {"point": [0, 0, 1]}),
    *({"E": 1}, dict.fromkeys(["E", "A", "Iy", "Iz", "J"], 1)),
    *([{}], [{"joint": "a", "coefficient": 2}], [{"joint": "a", "coefficient": "x"}]),
]


def table_of(annotation: Any) -> type[Table] | None:
    """Return the table that a key of a scene is, or has a list of; None for a number."""
    parts = (annotation, *get_args(annotation))
    return next((part for part in parts if isinstance(part, type) and issubclass(part, Table)), None)


TABLES = {name: table for name, key in SceneFile.fields().items() if (table := table_of(key.annotation))}


def plain(value: Any) -> Any:
    """Return the values of a table, or of a model of pydantic, in a form in which nan equals nan."""
    if isinstance(value, Table):
        return {"": sorted(value.stated), **{name: plain(getattr(value, name)) for name in value.fields()}}
    if hasattr(value, "model_fields_set"):
        names = type(value).model_fields
        return {"": sorted(value.model_fields_set), **{name: plain(getattr(value, name)) for name in names}}
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return repr(value)


def as_read(table: type[Table], stated: dict[str, Any]) -> Any:
    try:
        return plain(table(**stated))
    except RefusedTable:
        return None


def as_modelled(table: type[Table], stated: dict[str, Any]) -> Any:
    try:
        return plain(strict_model(table).model_validate(stated))
    except ValidationError:
        return None


def valid(table: type[Table]) -> dict[str, Any]:
    """Return the least that a table has to state."""
    return {
        name: next(v for v in VALUES if takes(table, name, v))
        for name, key in table.fields().items()
        if key.default is REQUIRED
    }


def takes(table: type[Table], name: str, value: Any) -> bool:
    try:
        strict_model(table).model_validate({name: value})
    except ValidationError as error:
        return all(one["loc"][0] != name for one in error.errors())
    return True


@pytest.mark.parametrize("name", TABLES)
def test_each_key_takes_the_values_that_its_model_takes(name: str) -> None:
    table = TABLES[name]
    least = valid(table)
    assert as_read(table, least) is not None
    for key in table.fields():
        for value in VALUES:
            stated = {**least, key: value}
            assert as_read(table, stated) == as_modelled(table, stated), (key, value)


def test_files_of_random_tables_are_read_as_by_their_models() -> None:
    rng = random.Random(7)
    permitted = 0
    for _ in range(150):
        stated: dict[str, Any] = {}
        for name in rng.sample(sorted(TABLES), 3):
            table = TABLES[name]
            own = valid(table)
            for key in rng.sample(sorted(table.fields()), min(2, len(table.fields()))):
                likely = [value for value in VALUES if takes(table, key, value)] or VALUES
                own[key] = rng.choice(likely if rng.random() < 0.9 else VALUES)
            if rng.random() < 0.03:
                own.pop(rng.choice(sorted(own)), None)
            if rng.random() < 0.03:
                own["unknown"] = 1
            several = rng.random() < 0.97
            is_list = "list" in str(SceneFile.fields()[name].annotation)
            stated[name] = [own] * rng.randint(1, 2) if is_list == several else own
        found = as_read(SceneFile, stated)
        permitted += found is not None
        assert found == as_modelled(SceneFile, stated)
    # both outcomes are compared
    assert 30 < permitted < 130


def test_a_table_is_read_only_and_has_defaults_of_its_own() -> None:
    first, second = SceneFile(), SceneFile()
    first.model.append(None)  # type: ignore[arg-type]
    assert second.model == []
    with pytest.raises(AttributeError, match="read-only"):
        first.gravity = [0.0, 0.0, 0.0]


@pytest.mark.parametrize("key", ["self", "fields", "stated", "as_dict", "__class__", "_numbers"])
def test_a_key_with_a_name_of_python_is_unknown(key: str, tmp_path: Path) -> None:
    file = tmp_path / "x.scene.toml"
    for text in (f"{key} = 1\n", f"[lint]\n{key} = 1\n"):
        file.write_text(text)
        with pytest.raises(BadScene, match=f"unknown key '{key}'"):
            mb.load(file)


def test_a_file_is_no_text() -> None:
    (model,) = SceneFile(model=[{"file": "robot.urdf"}]).model
    assert model.file == FileName("robot.urdf")
    assert model.stated == {"file"}


def test_a_lint_of_a_valid_scene_imports_no_pydantic() -> None:
    program = (
        "import sys; from mbplugin.cli.app import run; run(sys.argv[1:]); "
        "import json; print(json.dumps([m for m in sys.modules if m.startswith('pydantic')]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, "lint", str(ASSETS / "four_bar.scene.toml")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout.splitlines()[-1]) == []
