"""What is made while the garbage collector rests is not looked through afterwards, and given up once nobody has it."""

from __future__ import annotations

import gc
import weakref
from functools import partial

import pytest

from mbplugin.processes.foreign import without_collections


class _Node:
    """Something that may refer to itself."""

    itself: _Node


def _look(seen: list[int], phase: str, info: dict[str, int]) -> None:
    if phase == "start":
        seen.append(info["generation"])


@pytest.mark.long
def test_what_was_made_is_old_and_can_be_given_up() -> None:
    looked: list[int] = []
    watch = partial(_look, looked)
    gc.callbacks.append(watch)
    try:
        with without_collections():
            kept = [[n] for n in range(10 * gc.get_threshold()[0])]
            lost = _Node()
            lost.itself = lost
            seen = weakref.ref(lost)
            del lost
        # the next object would have the collector look through all of them
        kept.append([0])
    finally:
        gc.callbacks.remove(watch)
    assert gc.isenabled()
    assert (looked, gc.get_freeze_count()) == ([], 0)
    gc.collect()
    assert seen() is None
