"""Every motion and every stop that a test computes is checked for what always holds.

All motions come out of one function of the product; it is wrapped here, once per session. A test that
computes something for which an invariant cannot hold says so, with the physical reason:
``@pytest.mark.no_invariants("…")``.
"""

from __future__ import annotations

import gc
import os
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from forked_engines import forked_engines
from places import BULLET_SCENES, TESTS

# the record of a report has a date, and texts of equal commands are compared
os.environ.setdefault("SOURCE_DATE_EPOCH", "1700000000")
# reports of earlier runs must not stand in for what a test computes
os.environ.setdefault("MBPLUGIN_NO_CACHE", "1")
# workers of pytest have a width of their own, and texts in a pipe follow it
os.environ.pop("COLUMNS", None)
# a shell starts what runs in the background with interrupts ignored, and the programs that tests start
# would inherit that
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# what is imported and collected stays to the end: to look through it for what has gone takes a third of collection
gc.disable()

#: PyBullet has no wheels for Python 3.12 and later, where it is not installed by itself.
_WITHOUT_BULLET = find_spec("pybullet") is None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what has a model of PyBullet as a parameter, and the cases beyond those that a working day needs."""
    cases: Counter[str] = Counter()
    for item in items:
        if sample := item.get_closest_marker("long_after"):
            function = item.nodeid.partition("[")[0]
            cases[function] += 1
            if cases[function] > sample.args[0]:
                item.add_marker("long")
        values = item.callspec.params.values() if hasattr(item, "callspec") else ()
        if any(isinstance(value, Path) and value in BULLET_SCENES for value in values):
            item.add_marker("bullet")


def pytest_collection_finish() -> None:
    """Collect what tests leave behind, without the modules and the thousands of tests."""
    gc.freeze()
    gc.enable()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what needs PyBullet or its models where they are not installed."""
    if _WITHOUT_BULLET and item.get_closest_marker("bullet"):
        pytest.skip("needs PyBullet: python -m pip install pybullet")


_suspended: list[str] = []
_broken: list[AssertionError] = []


@contextmanager
def _kept() -> Iterator[None]:
    """Keep what is broken until the test ends: commands turn any error into a sentence and an exit code."""
    if _suspended:
        with suppress(AssertionError):
            yield
        return
    try:
        yield
    except AssertionError as error:
        _broken.append(error)


@pytest.fixture(scope="session", autouse=True)
def _invariants() -> Iterator[None]:
    """Check what the product's runs return, from any path to them."""
    import mbplugin.simulation.run as running
    import mbplugin.stopping.run as stopping
    from invariants import check_motion, check_stop

    made, evaluated = running._trajectory, stopping.evaluate

    def trajectory(problem: Any, runner: Any, options: Any, *rest: Any) -> Any:
        motion = made(problem, runner, options, *rest)
        with _kept():
            if runner.grid is None:
                check_motion(motion, options)
            else:
                check_motion(motion, options, by_steps=False)
                grid, runner.grid = runner.grid, None
                check_motion(made(problem, runner, replace(options, samples=None), *rest), options)
                runner.grid = grid
        return motion

    def evaluate(*arguments: Any, **named: Any) -> Any:
        report = evaluated(*arguments, **named)
        with _kept():
            check_stop(report)
        return report

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(running, "_trajectory", trajectory)
        patch.setattr(stopping, "evaluate", evaluate)
        yield


#: Rooms whose tests look at what engines compute, and start hundreds of them.
_ENGINE_ROOMS = ("closing", "comparison", "writers")


@pytest.fixture(scope="module", autouse=True)
def _engines(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fork the engines in some rooms; in the others they start as they do for a user."""
    if request.path.relative_to(TESTS).parts[0] in _ENGINE_ROOMS:
        with forked_engines():
            yield
    else:
        yield


@pytest.fixture(autouse=True)
def _without_invariants(request: pytest.FixtureRequest) -> Iterator[None]:
    """Leave out the checks in a test that says why."""
    mark = request.node.get_closest_marker("no_invariants")
    if mark is not None:
        if not (mark.args and mark.args[0]):
            raise pytest.UsageError(f"{request.node.nodeid}: no_invariants without a reason")
        _suspended.append(str(mark.args[0]))
        # of the fixtures that this test shares with others
        _broken.clear()
    yield
    if mark is not None:
        _suspended.pop()
    if broken := list(_broken):
        _broken.clear()
        pytest.fail(f"{len(broken)} motions break an invariant; the first: {broken[0]}", pytrace=False)
