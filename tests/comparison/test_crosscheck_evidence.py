"""Where two motions part the report tells what speaks for and against each, and blames neither without it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import jsonschema
import numpy as np
import pytest

import mbplugin as mb
from command_line import call
from mbplugin.comparison import agreement as crosscheck_setup
from mbplugin.comparison.agreement import Check, Setup, of_motion
from mbplugin.comparison.compare import OURS, _States, _unaccounted, verdict_of
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.spatial import JointSpring
from mbplugin.report.documents.motions import crosscheck_document
from mbplugin.report.documents.part import dumps
from mbplugin.report.text import plain_text
from mbplugin.report.text.models import crosscheck_lines
from second_program import Arm, CrankRocker, Resistance
from stick_slip_cases import Case, arm, crank_rocker

WAY = "energy against friction along the way"

SWING = Case(
    "swing",
    Arm(0.5, (2.0, 1.0), (0.2, 0.3), (0.05, 0.02), (0.0, -9.81)),
    (0.3, -0.4),
    (2.0, -5.0),
    (Resistance(0, 1.5), Resistance(1, 0.4), Resistance(1, 0.6, None, 0.1)),
    0.48,
)


def setup_of(case: Case, **change: Any) -> Setup:
    mech, q = arm(case)
    rates = dict(zip(case.joints, case.v, strict=True))
    request: dict[str, Any] = {"q0": q, "qd0": rates, **change}
    return of_motion(mech, case.duration, list(case.brakes()), None, (), **request)


def test_the_states_of_the_second_program_lose_what_friction_takes_on_the_way() -> None:
    """Its motion has friction, a brake that closes, weights and turning points; its error halves."""
    task = setup_of(SWING).task
    left = []
    for refinement in (100, 200):
        motion = SWING.second(refinement)
        gained, turned = _unaccounted(task, _States(motion.time, motion.q, motion.v))
        left.append(gained)
    assert turned > 2.0
    assert np.abs(left[0]).max() / np.abs(left[1]).max() == pytest.approx(2.0, rel=0.1)
    assert np.abs(2 * left[1] - left[0]).max() < 2e-4 * turned


def test_a_tenth_of_friction_that_is_missing_shows_as_the_work_it_would_have_done() -> None:
    task = setup_of(SWING).task
    motion = SWING.second(400)
    weaker = replace(task, brakes=tuple(replace(b, law=b.law.scaled(0.9)) for b in task.brakes))
    states = _States(motion.time, motion.q, motion.v)
    more = _unaccounted(weaker, states)[0] - _unaccounted(task, states)[0]
    assert more[-1] == pytest.approx(-0.1 * motion.work[-1, 2], rel=1e-2)
    assert motion.work[-1, 2] > 0.1


def test_springs_dampers_and_torques_are_in_the_balance() -> None:
    """Along our own motion, which keeps its tolerance, nothing is gained from nothing."""
    mech, q = arm(SWING)
    damped = tuple(replace(p, freedoms=(replace(p.freedoms[0], damping=0.7),)) for p in mech.pairs)
    setup = of_motion(
        replace(mech, pairs=damped),
        0.5,
        None,
        None,
        (),
        q0=q,
        qd0={"shoulder": 3.0},
        torques={"shoulder": 4.0},
        springs=(JointSpring("elbow", 20.0, 0.4),),
        payloads=[{"body": "fore", "mass": 0.5, "com": [0.3, 0.1, 0.0]}],
    )
    ours = setup.ours
    gained, turned = _unaccounted(setup.task, _States(ours.time, ours.q, ours.qd))
    assert np.abs(gained).max() < 1e-6 * turned


def rocker() -> tuple[Mechanism, dict[str, float]]:
    """A crank-rocker with friction in its rocker, 17° past the upright, before its first dead centre."""
    return crank_rocker(Case("rocker", CrankRocker(), (1.87,), (5.0,), (Resistance(1, 1.0),), 0.3))


@pytest.mark.bullet
@pytest.mark.long
def test_our_motion_with_too_little_friction_is_told_by_its_own_energy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A third of the friction is left out of ours, after the models were found alike."""
    mech, q = rocker()
    less = tuple(
        replace(p, freedoms=(replace(p.freedoms[0], friction=2 / 3),)) if p.name == "j3" else p
        for p in mech.pairs
    )
    real = crosscheck_setup.simulate
    monkeypatch.setattr(
        crosscheck_setup, "simulate", lambda m, *a, **k: real(replace(m, pairs=less), *a, **k)
    )
    found = mb.crosscheck(mech, 0.3, q=q, qd={"j0": 5.0}, step=0.002, engine="pybullet")
    assert found.verdict == "disagrees"
    failed = [check for check in found.checks if not check.passes]
    assert [(check.program, check.name) for check in failed] == [(OURS, WAY)]
    columns = found.curves
    assert columns is not None
    travel = np.abs(np.diff(columns.ours[:, columns.names.index("j3")])).sum()
    assert failed[0].value == pytest.approx(travel / 3, rel=1e-2)
    assert "the motion of mbplugin fails its energy against friction" in found.reason
    assert found.reason.endswith("that of PyBullet passes its own")
    require_told(found)


@pytest.mark.bullet
def test_a_motion_of_pybullet_whose_loops_open_is_told_by_them() -> None:
    """With one iteration its loop does not stay closed."""
    mech, q = rocker()
    found = mb.crosscheck(mech, 0.3, q=q, qd={"j0": 5.0}, step=0.01, iterations=1, engine="pybullet")
    assert not found.agrees
    failed = {(check.program, check.name) for check in found.checks if not check.passes}
    assert ("PyBullet", "opening of loops") in failed
    assert all(program == "PyBullet" for program, _ in failed)
    assert "the motion of PyBullet fails its" in found.reason
    assert "that of mbplugin passes its own" in found.reason or "fails" not in found.reason
    require_told(found)


def require_told(found: mb.Agreement) -> None:
    """Require every check in text and JSON, and no guess at who is wrong."""
    text = plain_text(crosscheck_lines(found, "m"))
    document = json.loads(dumps(crosscheck_document(found, "m.urdf", [])))
    jsonschema.validate(document, json.loads(call("schema", "crosscheck").out))
    assert len(document["checks"]) == len(found.checks) >= 5
    for check, told in zip(found.checks, document["checks"], strict=True):
        (line,) = [line for line in text.splitlines() if f"{check.program}: {check.name}" in line]
        assert line.endswith("✗") != check.passes == told["passes"]
        assert f"{check.value:.3g}" in line
    for guess in ("likely", "is wrong", "may not have converged", "acts otherwise"):
        assert guess not in text


@pytest.mark.parametrize(("ours", "theirs", "words"), [
    (0.5, 0.5, "each motion passes its own checks, which shows neither to be wrong"),
    (2.0, 0.5, "the motion of mbplugin fails its energy (2 J, bound 1), that of PyBullet passes its own"),
    (0.5, 3.0, "that of mbplugin passes its own, the motion of PyBullet fails its energy (3 J, bound 1)"),
])  # fmt: skip
def test_what_checks_say_names_who_fails_and_by_how_much(ours: float, theirs: float, words: str) -> None:
    checks = [Check(OURS, "energy", ours, 1.0, "J"), Check("PyBullet", "energy", theirs, 1.0, "J")]
    assert verdict_of(checks) == words


def test_both_may_fail() -> None:
    checks = [Check(OURS, "energy", 2.0, 1.0, "J"), Check("PyBullet", "opening", 0.5, 0.1, "m")]
    told = verdict_of(checks)
    assert told == (
        "the motion of mbplugin fails its energy (2 J, bound 1),"
        " the motion of PyBullet fails its opening (0.5 m, bound 0.1)"
    )
