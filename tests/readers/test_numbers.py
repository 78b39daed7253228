"""Numbers as text, and which angle literals are rounded fractions of π."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest

from mbplugin.errors import BadNumber
from mbplugin.readers.xml import angles, number, numbers, rounded_angle


@pytest.mark.parametrize("text", ["1 2 3", " 1\t2\n3 ", "1, 2, 3", "1.0 +2 0.3e1"])
def test_spellings(text: str) -> None:
    assert numbers(text, 3, "f:1", "xyz").tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1 2", "has 2 numbers; expected 3"),
        ("", "has 0 numbers; expected 3"),
        ("1 2 3 4", "has 4 numbers; expected 3"),
        ("1 2 x", "is '1 2 x'; expected 3 numbers"),
        ("1 2 nan", "finite numbers"),
        ("1 2 -inf", "finite numbers"),
        ("1 2 1e400", "finite numbers"),
        ("1 2 " + "x" * 100, "..."),
    ],
)
def test_refused_with_place_and_name(text: str, said: str) -> None:
    with pytest.raises(BadNumber) as caught:
        numbers(text, 3, "r.urdf:7", "xyz of <origin>")
    assert str(caught.value).startswith("r.urdf:7: xyz of <origin> ")
    assert said in str(caught.value) and len(str(caught.value)) < 160


def test_one_number() -> None:
    assert number(" 2.5 ", "f:1", "mass") == 2.5


@pytest.mark.parametrize(
    ("literal", "meant", "name"),
    [
        ("1.57075", pi / 2, "π/2"),
        ("1.57", pi / 2, "π/2"),
        ("-1.5708", -pi / 2, "-π/2"),
        ("3.141592", pi, "π"),
        ("-3.14159", -pi, "-π"),
        ("0.785398", pi / 4, "π/4"),
        ("2.0944", 2 * pi / 3, "2π/3"),
        ("0.5236", pi / 6, "π/6"),
        ("0.0872665", pi / 36, "π/36"),
        ("6.2832", 2 * pi, "2π"),
    ],
)
def test_rounded_angles(literal: str, meant: float, name: str) -> None:
    found = rounded_angle(literal)
    assert found is not None
    assert found.meant == pytest.approx(meant, rel=1e-15)
    assert found.name == name
    assert found.error == pytest.approx(float(literal) - meant, rel=1e-9)


@pytest.mark.parametrize(
    "literal",
    [
        "0",
        "0.0",
        "1",
        "3",
        "0.5",
        "1.5",
        "0.1",
        "0.25",
        "1.2",
        "1.5707963267948966",
        "3.141592653589793",
        "x",
    ],
)
def test_angles_that_stand_for_themselves(literal: str) -> None:
    assert rounded_angle(literal) is None


def test_angles_are_snapped_only_when_asked() -> None:
    text = "1.57075 0.1 -3.14159"
    assert angles(text, "f:1", "rpy", snap=False).tolist() == [1.57075, 0.1, -3.14159]
    np.testing.assert_allclose(angles(text, "f:1", "rpy", snap=True), [pi / 2, 0.1, -pi], rtol=1e-15)


def test_angles_are_three_finite_numbers() -> None:
    with pytest.raises(BadNumber, match=r"^f:1: rpy has 2 numbers"):
        angles("1 2", "f:1", "rpy", snap=True)
