"""Frozen dataclasses that share their methods behave as those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.phrases import dataclass

MAKERS: dict[str, Callable[..., Any]] = {"standard": dataclasses.dataclass, "shared": dataclass}


def made(maker: Callable[..., Any], **stated: Any) -> type:
    class Point:
        """A point with a note, which is not compared."""

        x: float
        y: float = 2.0
        note: str = dataclasses.field(default="", compare=False)
        words: dict[str, int] = dataclasses.field(default_factory=dict, hash=False)
        hidden: list[int] = dataclasses.field(default_factory=list, repr=False, compare=False)

        @cached_property
        def size(self) -> float:
            return self.x + self.y

    return maker(frozen=True, **stated)(Point)


def outcome(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def facts(maker: Callable[..., Any]) -> list[Any]:
    """What a user sees of a class and its values, with everything that depends on the class as text."""
    Point, Same, KeyOnly = made(maker), made(maker, eq=False), made(maker, kw_only=True)
    a, b, c = Point(1.0), Point(1.0, note="n"), Point(1.0, 3.0)
    return [
        *(repr(a), repr(b), a == b, a != b, a == c, a == 1, hash(a) == hash(b), len({a, b, c})),
        Same(1.0) == Same(1.0),
        *(outcome(lambda: hash(Point([]))), outcome(lambda: hash(Point(1.0, words={})) == hash(a))),
        *(Point(1.0, words={}) == a, Point(1.0, words={"b": 1}) == a),
        *(outcome(lambda: setattr(a, "x", 2.0)), outcome(lambda: setattr(a, "new", 2.0))),
        *(outcome(lambda: delattr(a, "x")), outcome(lambda: Point()), outcome(lambda: Point(1.0, z=1))),
        *(a.size, a.size, vars(a)["size"], outcome(lambda: KeyOnly(1.0)), repr(KeyOnly(x=1.0))),
        *(repr(dataclasses.replace(a, y=5.0)), dataclasses.asdict(c), dataclasses.is_dataclass(Point)),
        *([f.name for f in dataclasses.fields(Point)], Point.__match_args__, Point.__doc__),
        *(a.hidden is not b.hidden, repr(copy.copy(c)), repr(copy.deepcopy(c)), copy.deepcopy(c) == c),
    ]


def test_values_are_those_of_the_standard_library() -> None:
    standard, shared = (facts(maker) for maker in MAKERS.values())
    assert shared == standard


def test_the_same_field_is_equal_to_itself() -> None:
    """As in a tuple, and in every version of Python: an array has no truth, and nan is unequal to itself."""
    Point = made(dataclass)
    nan, array = float("nan"), np.zeros(3)
    assert Point(nan) == Point(nan) and Point(array) == Point(array)


def inherited(maker: Callable[..., Any]) -> list[Any]:
    @maker(frozen=True)
    class Base:
        x: int

        def __post_init__(self) -> None:
            object.__setattr__(self, "x", self.x + 1)

    @maker(frozen=True)
    class Derived(Base):
        y: int = 0

        def __hash__(self) -> int:
            return 7

        def __repr__(self) -> str:
            return "mine"

    class Plain(Base):
        def __init__(self) -> None:
            super().__init__(1)
            self.other = 3

    @maker(frozen=True)
    class Loop:
        me: list[Any]

    loop = Loop([])
    loop.me.append(loop)
    plain = Plain()
    return [
        *(Base(1) == Derived(1), Derived(1) == Derived(1), hash(Derived(1)), repr(Derived(1)), Derived(1).x),
        *(plain.other, outcome(lambda: setattr(plain, "x", 2)), repr(loop).replace(" ", "")),
    ]


def test_classes_derive_and_state_methods_of_their_own() -> None:
    standard, shared = (inherited(maker) for maker in MAKERS.values())
    assert shared == standard


def test_a_value_is_the_same_after_pickling() -> None:
    from mbplugin.model.scene import Origin

    place = Origin("robot.urdf", 3, "1.57")
    again = pickle.loads(pickle.dumps(place))
    assert again == place and again is not place
    with pytest.raises(dataclasses.FrozenInstanceError):
        again.line = 4  # type: ignore[misc]


def test_a_class_that_is_not_frozen_is_that_of_the_standard_library() -> None:
    @dataclass
    class Counter:
        number: int = 0

    counter = Counter()
    counter.number = 2
    assert counter == Counter(2) and Counter.__hash__ is None


def test_a_user_can_derive_a_frozen_class_of_the_standard_library_and_no_other() -> None:
    @dataclasses.dataclass(frozen=True)
    class Marked(mb.Payload):
        origin: str = "datasheet"

    at = np.zeros(3)
    one, inertia = Marked("tool", 2.0, at, (zero := np.zeros((3, 3)))), zero
    assert one == Marked("tool", 2.0, at, inertia) and one.origin == "datasheet"
    assert one != Marked("tool", 2.0, at, inertia, origin="scale") and one != mb.Payload(
        "tool", 2.0, at, inertia
    )
    with pytest.raises(dataclasses.FrozenInstanceError):
        one.mass = 3.0  # type: ignore[misc]
    with pytest.raises(TypeError, match="non-frozen"):

        @dataclasses.dataclass
        class Loose(mb.Payload):
            origin: str = ""
