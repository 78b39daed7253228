"""Every event kind and every outcome, produced and held against the schema of the document that tells it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import mbplugin as mb
from command_line import ORACLES, ROOT, call
from locked_mechanisms import pendulum_3r
from mbplugin.model.mechanism import Driver, Lock
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.model.spatial import Array
from mbplugin.report.documents.motions import simulate_document
from mbplugin.report.documents.part import dumps, schema_of
from mbplugin.report.documents.stopping import estop_document, stop_table_document
from mbplugin.simulation.options import OUTCOMES, UserEvent, declared
from mbplugin.simulation.passing_marks import EVENT_KINDS
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.outcome import OUTCOMES as STOP_OUTCOMES
from rod_arms import G, arm
from transition_cases import dead_centre, flywheels

REQUEST = {
    "duration": 1.0,
    "max_seconds": 600.0,
    "integrator": "dop853",
    "step": None,
    "rtol": 1e-8,
    "atol": 1e-10,
    "formulation": "kkt",
    "redundancy": "eliminate",
    "coordinates": "joint",
    "transition": "consistent",
    "samples": None,
    "limits": "record",
    "damping": True,
    "friction": True,
}


def validated(document: Any, schema: str) -> Any:
    found = json.loads(dumps(document))
    jsonschema.validate(found, schema_of(schema))
    return found


def fold() -> Trajectory:
    return mb.simulate(
        mb.load(ORACLES / "four_bar_fold_rectangle.sdf"), 3.0, qd0={"j0": 1.0, "j1": -1.0, "j2": 1.0}
    )


def contradictory() -> Trajectory:
    motor = replace(flywheels((2.0, 1.0)), drivers=(Driver("motor", "h0", rate=3.0),))
    return mb.simulate(motor, 1.0, locks=[Lock("h0", 0.25)])


def singular_transition() -> Trajectory:
    mech, q = dead_centre()
    return mb.simulate(
        mech, 0.5, q0=q, qd0={"crank": 1.0, "knee": -1.5}, locks=[Lock("rocker", 0.0, until=0.4)]
    )


def singular() -> Trajectory:
    mech = mb.load(ORACLES / "four_bar_fold_rectangle.sdf").mechanism
    return mb.simulate(replace(mech, gravity=np.array([0.0, -9.81, 0.0])), 1.0)


def locked() -> Trajectory:
    mech, q = pendulum_3r()
    names = [pair.name for pair in mech.pairs]
    return mb.simulate(mech, 0.2, q0=q, qd0={names[0]: 1.0}, locks=[Lock(names[1], 0.05, until=0.1)])


def slipping() -> Trajectory:
    """The outer rod's brake takes load off the inner one until it rests; then the inner one slips."""
    brakes = [
        {"joint": "j0", "torque": 14.0, "static_torque": 16.0},
        {"joint": "j1", "torque": 7.0, "static_torque": 9.0},
    ]
    return mb.simulate(arm((1.0, 1.0)), 0.6, q0={"j1": -0.9}, qd0={"j1": 4.0}, brakes=brakes)


def hits(limits: str) -> Trajectory:
    limited = arm((1.0,), gravity=0.0, limits=Freedom(lower=-1.0, upper=0.3))
    return mb.simulate(limited, 1.0, qd0={"j0": 1.0}, limits=limits)


def passing(terminal: bool) -> Trajectory:
    mark = UserEvent(lambda t, q, qd: q[0] - 0.2, "mark", terminal=terminal)
    return mb.simulate(arm((1.0,), gravity=0.0), 1.0, qd0={"j0": 1.0}, events=[mark])


def interrupted() -> Trajectory:
    def stop(t: float, q: Array, qd: Array) -> Array:
        if t > 0.2:
            raise KeyboardInterrupt
        return np.zeros(1)

    return mb.simulate(arm((1.0,)), 1.0, controller=stop, integrator="rk4", step=0.01)


def failed() -> Trajectory:
    return mb.simulate(
        arm((1.0,)),
        0.1,
        controller=lambda t, q, qd: q * (np.nan if t > 0.05 else 0.0),
        integrator="rk4",
        step=0.01,
    )


def too_small() -> Trajectory:
    """The torque jumps with the rate, which no step of this integrator can satisfy."""
    return mb.simulate(
        arm((1.0, 1.0)),
        0.1,
        qd0={"j0": 0.5},
        controller=lambda t, q, qd: -50.0 * np.sign(qd),
        integrator="variational",
        step=0.01,
    )


def spent() -> Trajectory:
    return mb.simulate(arm((1.0,)), 1e6, max_seconds=1e-6)


def stopped() -> Trajectory:
    return stop("stopped").trajectory


MOTIONS: dict[str, Callable[[], Trajectory]] = {
    "folding": fold,
    "contradictory": contradictory,
    "singular transition": singular_transition,
    "singular": singular,
    "locked": locked,
    "slipping": slipping,
    "limit recorded": lambda: hits("record"),
    "limit hit": lambda: hits("stop"),
    "mark passed": lambda: passing(terminal=False),
    "mark ends": lambda: passing(terminal=True),
    "interrupted": interrupted,
    "failed": failed,
    "step too small": too_small,
    "budget spent": spent,
    "loop opened": lambda: loop_opened(),
    "stopped": stopped,
}


def stop(outcome: str) -> mb.StopReport:
    limits = Freedom(lower=-2.0, upper=0.1) if outcome == "limit_hit" else None
    torque = {"slipped_back": 3.0, "not_stopped": 0.01}.get(outcome, 30.0)
    rate = {"slipped_back": 3.0, "not_stopped": 0.0}.get(outcome, 1.0)
    delay = 0.2 if outcome == "limit_hit" else 0.0
    brakes = [{"joint": "j0", "torque": torque, "delay": delay}]
    duration = 1.0 if outcome == "not_stopped" else 60.0
    seconds = 1e-6 if outcome == "budget_spent" else 60.0
    robot = beside_a_shaky_platform() if outcome == "loop_opened" else arm((1.0,), limits=limits)
    return mb.estop(robot, qd={"j0": rate}, brakes=brakes, duration=duration, max_seconds=seconds)


def beside_a_shaky_platform() -> mb.Mechanism:
    """An arm, and a platform on six rods that is free to first order only, which no joint can hold."""
    shaky = mb.readers.load(ROOT / "tests" / "analysis" / "mobility" / "hexapod_fichter.scene.toml").mechanism
    one = arm((1.0,))
    return replace(
        one, bodies=(*one.bodies, *shaky.bodies), pairs=(*one.pairs, *shaky.pairs), gravity=shaky.gravity
    )


def loop_opened() -> Trajectory:
    return mb.simulate(beside_a_shaky_platform(), 0.1)


def kinds_and_outcomes(documents: Iterable[Any]) -> tuple[set[str], set[str]]:
    told = list(documents)
    return {event["kind"] for one in told for event in one["events"]}, {one["outcome"] for one in told}


@pytest.mark.long
def test_every_kind_and_outcome_of_a_motion_follows_the_schema() -> None:
    documents = []
    for name, make in MOTIONS.items():
        document = simulate_document(make(), REQUEST, (), name, ())
        try:
            documents.append(validated(document, "simulate"))
        except jsonschema.ValidationError as error:
            raise AssertionError(f"{name}: {error.message}") from None
    kinds, outcomes = kinds_and_outcomes(documents)
    assert kinds == set(EVENT_KINDS)
    assert outcomes == set(OUTCOMES)


@pytest.mark.long
def test_every_outcome_of_a_stop_follows_the_schema() -> None:
    documents = [validated(estop_document(stop(outcome), "arm", ()), "estop") for outcome in STOP_OUTCOMES]
    assert [document["outcome"] for document in documents] == list(STOP_OUTCOMES)
    kinds, _ = kinds_and_outcomes(documents)
    assert {"brake", "stick", "limit"} <= kinds <= set(EVENT_KINDS)


@pytest.mark.long
def test_every_outcome_of_a_table_follows_the_schema() -> None:
    """Rods that stop, meet a limit, swing back, or are still moving after ten seconds."""
    found = set()
    tight = Freedom(lower=-0.01, upper=0.01)
    for torque, limits, gravity in ((30.0, None, G), (30.0, tight, G), (2.0, None, G), (0.001, None, 0.0)):
        table = mb.stopping_table(
            arm((1.0,), gravity=gravity, limits=limits),
            brakes=[{"joint": "j0", "torque": torque, "delay": 0.02}],
            speeds={"j0": 2.0},
            decelerations={"j0": 5.0},
            axes=["j0"],
        )
        document = validated(stop_table_document(table), "stop-table")
        found |= {row["outcome"] for row in document["rows"]}
    # a table's and a sweep's stops have ten minutes each
    assert found == set(STOP_OUTCOMES) - {"budget_spent", "loop_opened"}


def test_every_outcome_of_a_sweep_follows_the_schema(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("joblib")
    scene = """
gravity = [0, -9.81, 0]
body = [{ name = "rod", mass = 1.0, com = [0.5, 0, 0], inertia = [0.001, 0.08, 0.08] }]
pair = [{ name = "j0", type = "revolute", body_a = "world", body_b = "rod", xyz_a = [0, 0, 0] }]
brake = [{ joint = "j0", torque = TORQUE }]
"""
    found: set[str] = set()
    for torque, duration in (("30.0", "3"), ("3.0", "3"), ("0.001", "0.05")):
        path = tmp_path / f"{torque}.scene.toml"
        path.write_text(scene.replace("TORQUE", torque), encoding="utf-8")
        out = ("--out", str(tmp_path / torque), "--number", "20", "--jobs", "1", "--duration", duration)
        varied = ("--qd", "j0=3", "--speed-range", "0,1", "--q-spread", "0.2")
        document = json.loads(call("sweep", str(path), *out, *varied, "--output-format", "json").out)
        jsonschema.validate(document, schema_of("sweep"))
        found |= {outcome["outcome"] for outcome in document["outcomes"]}
    # a scene states no joint limits
    assert found == set(STOP_OUTCOMES) - {"limit_hit", "budget_spent", "loop_opened"}


def test_a_lock_on_a_driven_joint_follows_the_schema_on_the_command_line(tmp_path: Path) -> None:
    path = tmp_path / "driven.scene.toml"
    path.write_text(
        """
body = [{ name = "rod", mass = 1.0, com = [0.5, 0, 0], inertia = [0.001, 0.08, 0.08] }]
pair = [{ name = "j", type = "revolute", body_a = "world", body_b = "rod", xyz_a = [0, 0, 0] }]
driver = [{ name = "motor", joint = "j", rate = 1.0 }]
""",
        encoding="utf-8",
    )
    told = call("simulate", str(path), "--duration", "0.5", "--lock", "j@0.25", "--output-format", "json")
    document = json.loads(told.out)
    jsonschema.validate(document, schema_of("simulate"))
    assert document["outcome"] == "contradictory_transition"
    assert document["events"][-1]["kind"] == "contradictory"


def test_an_outcome_that_is_not_declared_never_leaves() -> None:
    with pytest.raises(AssertionError, match="'vanished' is not declared"):
        declared("vanished")
