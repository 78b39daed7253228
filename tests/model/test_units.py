"""Units: every symbol against SI by hand, wrong dimensions, and the way back."""

from __future__ import annotations

from math import pi

import pytest

from mbplugin.errors import BadUsage
from mbplugin.model.brake_law import SI, UNITS, Units, read_units

GIVEN = [
    ("90deg", "angle", pi / 2),
    ("90°", "angle", pi / 2),
    ("-45 deg", "angle", -pi / 4),
    ("1.5", "angle", 1.5),
    (".5rev", "angle", pi),
    ("35mm", "length", 0.035),
    ("1e3 mm", "length", 1.0),
    ("200deg/s", "angular rate", 200 * pi / 180),
    ("30rpm", "angular rate", pi),
    ("250mm/s", "speed", 0.25),
    ("180deg/s^2", "angular acceleration", pi),
    ("180deg/s2", "angular acceleration", pi),
    ("2m/s²", "acceleration", 2.0),
    ("5kg", "mass", 5.0),
    ("500g", "mass", 0.5),
    ("0.1Nm", "torque", 0.1),
    ("3 N·m", "torque", 3.0),
    ("3N*m", "torque", 3.0),
    ("2kN", "force", 2000.0),
    ("500ms", "time", 0.5),
    ("7e-3", "time", 0.007),
    ("5Nms/rad", "rotary damping", 5.0),
    ("5N·m·s/rad", "rotary damping", 5.0),
    ("5Ns/m", "damping", 5.0),
    ("0.3", "number", 0.3),
]


@pytest.mark.parametrize(("text", "dimension", "value"), GIVEN)
def test_a_text_is_its_value_in_si(text: str, dimension: str, value: float) -> None:
    assert SI.value(text, dimension, "--q has") == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "dimension", "words"),
    [
        ("200deg/s", "angle", "'200deg/s', which is an angular rate; expected an angle, such as 90deg"),
        ("90deg", "length", "which is an angle; expected a length, such as 35mm"),
        ("5m", "mass", "which is a length; expected a mass"),
        ("5N", "torque", "which is a force; expected a torque"),
        ("5s", "number", "which is a time; expected a number without a unit"),
        ("3dag", "angle", "which has an unknown unit; expected an angle.*'deg'"),
        ("x", "angle", "expected a finite number"),
        ("nan", "angle", "expected a finite number"),
        ("inf", "", "expected a finite number"),
        ("1e300kN", "force", "magnitudes up to"),
        ("5 5", "angle", "expected a finite number"),
        ("", "angle", "expected a finite number"),
    ],
)
def test_a_wrong_text_is_one_sentence(text: str, dimension: str, words: str) -> None:
    with pytest.raises(BadUsage, match=f"--q has .*{words}"):
        SI.value(text, dimension, "--q has")


def test_numbers_without_a_unit_are_in_the_units_of_the_user_and_suffixes_win() -> None:
    units = read_units(["deg", "mm"], "--units")
    assert units == Units("deg", "mm")
    assert units.value("90", "angle", "") == pytest.approx(pi / 2)
    assert units.value("90", "angular rate", "") == pytest.approx(pi / 2)
    assert units.value("90", "angular acceleration", "") == pytest.approx(pi / 2)
    assert units.value("90", "length", "") == pytest.approx(0.09)
    assert units.value("90rad", "angle", "") == 90.0
    assert units.value("9cm", "length", "") == pytest.approx(0.09)
    # not of angles and lengths
    assert units.value("5", "mass", "") == 5.0 and units.value("5", "torque", "") == 5.0


@pytest.mark.parametrize("unit", ["rad", "m", "rad/s", "m/s", "rad/s²", "m/s²"])
def test_what_is_shown_is_read_as_the_same(unit: str) -> None:
    units = Units("deg", "mm")
    factor, symbol = units.shown(unit)
    dimension = next(name for name, sizes in UNITS.items() if unit in sizes)
    for value in (-2.5, 0.1, 7.0):
        assert units.value(f"{factor * value!r}{symbol}", dimension, "") == pytest.approx(value, rel=1e-14)
        assert units.value(repr(factor * value), dimension, "") == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize("unit", ["N", "N·m", "s", "kg", "1", "m, rad"])
def test_other_units_stay(unit: str) -> None:
    assert Units("deg", "mm").shown(unit) == (1.0, unit)


@pytest.mark.parametrize("names", [["ft"], ["deg", "rad"], ["s"], ["kg"]])
def test_other_preferences_are_errors(names: list[str]) -> None:
    with pytest.raises(BadUsage, match="--units names"):
        read_units(names, "--units")


def test_no_symbol_has_two_meanings() -> None:
    symbols = [symbol for sizes in UNITS.values() for symbol in sizes]
    assert len(symbols) == len(set(symbols))
    # the first one is that of SI
    assert all(next(iter(sizes.values())) == 1.0 for sizes in UNITS.values())
