"""Ctrl-C while compiled code runs: what was computed is kept, and a second one does not wait."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from typing import Any
from unittest import mock

import pytest

from mbplugin.simulation.options import ctrl_c_waits
from mbplugin.simulation.run import simulate
from mbplugin.simulation.steppers import CompiledStepper
from rod_arms import arm


@pytest.fixture(autouse=True)
def heeded() -> Iterator[None]:
    """A job in the background ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_it_waits_for_the_end_of_the_block() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), ctrl_c_waits():
        press()
        done.append(True)
    assert done and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with ctrl_c_waits():
        pass


def test_a_second_one_does_not_wait() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), ctrl_c_waits():
        press()
        press()
        done.append(True)
    assert not done and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_and_those_that_ignore_it_are_left_alone() -> None:
    found: list[Any] = []

    def inside() -> None:
        with ctrl_c_waits():
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=inside)
    thread.start()
    thread.join()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    inside()
    press()
    assert found == [signal.default_int_handler, signal.SIG_IGN]


@pytest.mark.long_after(2)
@pytest.mark.parametrize("integrator", ["dop853", "rk4", "rodas5p", "variational"])
def test_the_chunk_under_way_is_kept(integrator: str) -> None:
    reached: list[float] = []
    advance = CompiledStepper.advance

    def pressed(
        self: CompiledStepper, kernel_state: Any, event_functions: Any, state: Any, *rest: Any
    ) -> Any:
        out = advance(self, kernel_state, event_functions, state, *rest)
        reached.append(state.t)
        if len(reached) == 3:
            press()
        return out

    with mock.patch.object(CompiledStepper, "advance", pressed):
        motion = simulate(arm((1.0, 0.7)), 1e3, qd0={"j0": 1.0}, integrator=integrator)
    assert motion.outcome == "interrupted"
    assert len(reached) == 3 and motion.time[-1] == reached[-1] < 1e3
    whole = simulate(arm((1.0, 0.7)), reached[-1], qd0={"j0": 1.0}, integrator=integrator)
    assert motion.q[-1] == pytest.approx(whole.q[-1], abs=1e-6)
