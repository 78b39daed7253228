"""What the public functions return: one of each, made once in each process, and all that it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any

import pytest

import mbplugin as mb
from places import ROOT

FOUR_BAR, ARM = ROOT / "assets" / "four_bar.scene.toml", ROOT / "assets" / "arm_6r.scene.toml"
PUBLISHED = ROOT / "examples" / "published_stops"

#: How each result is made.
RESULTS: dict[str, Callable[[], Any]] = {
    "Report": lambda: mb.lint(FOUR_BAR),
    "Analysis": lambda: mb.analyze(FOUR_BAR),
    "ConstraintMatrix": lambda: mb.matrix(FOUR_BAR),
    "Reactions": lambda: mb.reactions(FOUR_BAR),
    "Envelope": lambda: mb.envelope(FOUR_BAR, mb.simulate(FOUR_BAR, 0.05, samples=3)),
    "Equilibrium": lambda: mb.equilibrium(FOUR_BAR),
    "Linearization": lambda: mb.linearize(FOUR_BAR),
    "ReactionMask": lambda: mb.reaction_mask(FOUR_BAR),
    "MisfitResponse": lambda: mb.misfit_response(FOUR_BAR),
    "ActuatorForces": lambda: mb.inverse_dynamics(ARM),
    "SideBySide": lambda: mb.engines(FOUR_BAR, only=["mujoco"]),
    "Trajectory": lambda: mb.simulate(FOUR_BAR, 0.05),
    "StopReport": lambda: mb.estop(ARM, qd={"j1": 0.5}),
    "StoppingTable": lambda: mb.stop_table(ARM, axes=["j1"], categories=[0]),
    "WorstStops": lambda: mb.worst_stop(ARM, axes=["j1"], samples=20),
    "Calibration": lambda: mb.calibrate(
        mb.load(PUBLISHED / "tm5_700.urdf", base="fixed"), PUBLISHED / "tm5_700.csv"
    ),
    "Distance": lambda: mb.separation_distance(mb.estop(ARM, qd={"j1": 0.5}), K=1.6, t1=0.1, D_DS=0.1, Z=0.1),
    "Closing": lambda: mb.close(FOUR_BAR, "mjcf", measure_drift=False),
    "ModelDiff": lambda: mb.diff(FOUR_BAR, ARM),
    "Rule": lambda: mb.rule("MB201"),
    "Agreement": lambda: mb.crosscheck(FOUR_BAR, 0.02),
}
#: Those that are not a picture.
UNDRAWN = ("Closing", "ModelDiff", "Rule")
every_result = pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.bullet, pytest.mark.long] * (name == "Agreement"))
        for name in RESULTS
    ],
)
_MADE: dict[str, Any] = {}


def made(name: str) -> Any:
    if name not in _MADE:
        _MADE[name] = RESULTS[name]()
    return _MADE[name]


def values_in(value: object, seen: set[int], path: str) -> Iterator[tuple[str, object]]:
    """Yield all values of the package that a value holds, each once, and how one gets there."""
    if id(value) in seen:
        return
    seen.add(id(value))
    # a sentence is as long as it is
    if type(value).__module__.startswith("mbplugin.") and not isinstance(value, str):
        yield path, value
    if is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from values_in(getattr(value, field.name), seen, f"{path}.{field.name}")
    elif isinstance(value, Mapping):
        for held in islice(value.values(), 50):
            yield from values_in(held, seen, f"{path}{{}}")
    elif isinstance(value, tuple | list | Set):
        for held in islice(value, 50):
            yield from values_in(held, seen, f"{path}[]")


def too_long(value: object, path: str) -> list[str]:
    """Return which values that a value holds, itself included, are not one line of at most 200 characters."""
    lines = [(where, repr(held)) for where, held in values_in(value, set(), path)]
    assert lines
    return [f"{where}: {line}" for where, line in lines if len(line) > 200 or "\n" in line]
