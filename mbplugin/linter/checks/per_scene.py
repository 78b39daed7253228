"""Facts of a scene that several rules need: computed once, and kept as long as the scene."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TypeVar
from weakref import WeakKeyDictionary

from mbplugin.model.scene import Scene

T = TypeVar("T")


def per_scene(function: Callable[[Scene], T]) -> Callable[[Scene], T]:
    """Return a function that computes its value once for each scene; the value must be immutable."""
    known: WeakKeyDictionary[Scene, T] = WeakKeyDictionary()

    @wraps(function)
    def kept(scene: Scene) -> T:
        if scene not in known:
            known[scene] = function(scene)
        return known[scene]

    return kept
