"""The law of a brake: every part of it reaches the records, options and documents from one definition."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from mbplugin.cli.braking import BrakeOption
from mbplugin.dynamics import compiler as jit
from mbplugin.dynamics.kernels.solve import RESISTANCE, law_of, resistance_records, sliding_forces
from mbplugin.model.brake_law import PARTS, Brake, BrakeLaw, depends_on_rate, rate_force
from mbplugin.model.brakes import JointBrake, stated_brake
from mbplugin.readers.scene_file import stated_with_origin
from mbplugin.readers.scene_file.tables import BrakeTable
from mbplugin.report.documents.part import schema_of

KEYS = [part.name for part in fields(Brake)]
#: Numbers that differ from part to part.
LAW = BrakeLaw(*(1.0 + 0.5 * k for k in range(len(PARTS))))


def test_a_scene_an_option_and_a_call_state_the_same_keys() -> None:
    assert list(BrakeTable.fields()) == [*KEYS, "origin_values"]
    (option,) = (given for given in BrakeOption.__metadata__ if hasattr(given, "help"))
    stated = option.help.partition(";")[0].replace("(", ",").replace(")", ",").split(",")
    # The record of a report has the command line, which is the origin of what an option states.
    assert set(KEYS) - {"joint", "origin", "uncertainty"} == {
        word.partition(";")[0].strip() for word in stated
    } & set(KEYS)


def test_what_a_brake_states_by_default_is_the_same_everywhere() -> None:
    assert Brake(**stated_with_origin(BrakeTable(joint="j"))) == Brake("j")


def test_a_law_stated_as_a_brake_is_the_same_law() -> None:
    assert stated_brake(JointBrake("j", "rz", LAW, 0.0, 0.0)).law(0.0) == LAW


def test_a_record_has_every_part() -> None:
    assert set(PARTS) <= set(RESISTANCE.names or ())
    assert law_of(resistance_records(3, [LAW])[0]) == LAW


def test_the_document_of_a_brake_and_its_schema_have_the_same_keys() -> None:
    stated = set(LAW.document())
    for name, path in (("estop", ("brakes",)), ("sweep", ("cases", "brakes"))):
        schema = schema_of(name)
        found = schema
        for key in path:
            items = found["properties"][key]["items"]
            found = schema["$defs"][items["$ref"].rpartition("/")[2]]
        assert stated < set(found["properties"]), name


def test_the_force_that_depends_on_the_rate_is_against_it() -> None:
    rates = np.linspace(-40.0, 40.0, 81)
    power = rate_force(LAW, rates) * rates
    assert (power[rates != 0] > 0).all() and power[40] == 0
    assert not depends_on_rate(BrakeLaw(sliding=3.0, static=4.0))
    assert depends_on_rate(LAW)


@pytest.mark.parametrize("part", [part.name for part in fields(BrakeLaw) if part.default == 0.0])
def test_a_law_with_one_part_depends_on_the_rate_if_its_force_does(part: str) -> None:
    """What does not depend on the rate is left out of the compiled evaluation."""
    others = {own.name: 0.0 for own in fields(BrakeLaw) if own.default == 0.0 and own.name != part}
    law = replace(LAW, **others)
    assert depends_on_rate(law) == (rate_force(law, 2.0) != 0.0)


def test_two_laws_on_one_freedom_add_up() -> None:
    own, rate = BrakeLaw(0.4, 0.4, 0.2), 3.7
    both = own + LAW
    assert rate_force(both, rate) == pytest.approx(rate_force(own, rate) + rate_force(LAW, rate), rel=1e-15)
    assert (both.sliding, both.static) == (own.sliding + LAW.sliding, own.static + LAW.static)


def test_records_slide_by_the_same_law() -> None:
    records, rates = resistance_records(0, [LAW, BrakeLaw(2.0, 3.0)]), np.array([-1.5, 2.0])
    records["sense"] = np.sign(rates)
    assert sliding_forces(records, rates) == pytest.approx(
        [LAW.sliding + rate_force(LAW, 1.5), -2.0], rel=1e-15
    )


def test_machine_code_is_that_of_the_law() -> None:
    # a law that changes is compiled anew
    package = Path(jit.__file__).resolve().parents[2]
    compiled = [package / name for name in jit._COMPILED_ELSEWHERE]
    for function in (rate_force, depends_on_rate):
        assert Path(function.__code__.co_filename).resolve() in compiled
