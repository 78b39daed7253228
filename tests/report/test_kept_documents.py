"""Documents that earlier releases wrote stay valid, and the same inputs still give them."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import mbplugin
from command_line import ROOT, call
from mbplugin.report.documents import DOCUMENTS
from mbplugin.report.documents.part import schema_of

KEPT = Path(__file__).parent / "documents"
ORACLES = "tests/oracles"
#: What rules find and say develops, and so do the settings: only the keys stay.
DEVELOPS = ("findings", "suppressed", "rules")
#: Numbers in texts that are zero up to rounding, which depends on the processor.
ROUNDING = re.compile(r"\d\.\d+e-1[4-9]")
#: Written by the command lines below; long lists are cut.
COMMANDS = {
    "lint": ("lint", f"{ORACLES}/door_2_hinges.sdf"),
    "lint_dca": ("lint", f"{ORACLES}/four_bar_4R.sdf", "--explain-dca"),
    "lint_unreadable": ("lint", "tests/cases/err/mb901.urdf"),
    "lint_several": ("lint", f"{ORACLES}/door_1_hinge.sdf", f"{ORACLES}/door_2_hinges.sdf"),
    "lint_remedies": ("lint", "tests/cases/err/mb301.scene.toml"),
    "matrix": ("matrix", f"{ORACLES}/door_2_hinges.sdf"),
    "matrix_planar": ("matrix", f"{ORACLES}/parallelogram_3crank_planar.sdf", "--planar", "xy"),
    "diff": ("diff", f"{ORACLES}/four_bar_4R.sdf", f"{ORACLES}/four_bar_RSRR.sdf"),
    "rule": ("rule", "MB201"),
    "reactions": ("reactions", f"{ORACLES}/door_2_hinges.sdf"),
    "simulate": (
        *("simulate", f"{ORACLES}/four_bar_fold_rectangle.sdf", "--duration", "0.5"),
        *("--qd", "j0=1,j1=-1,j2=1", "--lock", "j0@0.25", "--reactions", "j0,j1"),
    ),
    "simulate_samples": (
        *("simulate", "assets/arm_6r.urdf", "--base", "fixed", "--duration", "0.2"),
        *("--integrator", "rk4", "--step", "0.01", "--samples", "5"),
    ),
    "modes": ("modes", "assets/crank_rocker.scene.toml"),
    "distance": (
        *("distance", "tests/report/documents/estop.json", "--standard", "iso15066"),
        *("--term", "v_h=1.6,T_r=0.1,C=0.2,Z_d=0.05,Z_r=0.01"),
    ),
    "stop_table": ("stop-table", "assets/arm_6r.scene.toml", "--axes", "j1"),
}
LONG_COMMANDS = {
    "close": ("close", f"{ORACLES}/four_bar_4R.sdf", "--to", "mjcf", "--no-drift"),
    "estop": ("estop", "assets/arm_6r.scene.toml", "--qd", "j1=0.5,j2=-1", "--category", "1"),
}


def document_of(file: str) -> str:
    """Return which document a kept one is: the longest name with which its own begins."""
    begins = [name for name in DOCUMENTS if file.replace("_", "-").startswith(name)]
    return max(begins, key=len)


def kept(name: str) -> Any:
    return json.loads((KEPT / f"{name}.json").read_text(encoding="utf-8"))


def require_kept(old: Any, new: Any, place: str) -> None:
    """Every key of an old document is there, in its order, with its value; new ones may be added.

    A list that was cut has its first entry at the front and its last at the end.
    """
    if isinstance(old, dict):
        assert [key for key in new if key in old] == list(old), place
        for key, value in old.items():
            if key in DEVELOPS:
                # other findings or texts, but no key less
                own = [set(entry) for entry in value][:1]
                new[key] = [sorted(old & set(entry)) for old, entry in zip(own, new[key], strict=False)]
                value = [sorted(entry) for entry in own]
            require_kept(value, new[key], f"{place}/{key}")
    elif isinstance(old, list):
        assert len(new) >= len(old), place
        for k, value in enumerate(old):
            entry = new[k] if k < len(old) / 2 else new[k - len(old)]
            require_kept(value, entry, f"{place}/{k}")
    elif isinstance(old, float):
        assert new == pytest.approx(old, rel=1e-5, abs=1e-6), place
    elif place.endswith("/record/version"):
        assert new == mbplugin.__version__, place
    elif isinstance(old, str):
        assert ROUNDING.sub("0", new) == ROUNDING.sub("0", old), place
    else:
        assert new == old, place


@pytest.mark.long_after(8)
@pytest.mark.parametrize("name", sorted(file.stem for file in KEPT.glob("*.json")))
def test_an_old_document_follows_the_schema(name: str) -> None:
    jsonschema.validate(kept(name), schema_of(document_of(name)))


def test_there_is_an_old_document_of_every_kind() -> None:
    inputs = {"scene", "settings"}
    assert {document_of(file.stem) for file in KEPT.glob("*.json")} == set(DOCUMENTS) - inputs


@pytest.mark.parametrize(
    "name",
    [*COMMANDS, *(pytest.param(name, marks=pytest.mark.long) for name in LONG_COMMANDS)],
)
def test_the_same_inputs_give_the_same_document(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    arguments = {**COMMANDS, **LONG_COMMANDS}[name]
    text = call(*arguments, "--output-format", "json").out
    require_kept(kept(name), json.loads(text.replace(f"{ROOT.as_posix()}/", "")), name)
