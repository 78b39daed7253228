"""The worst stops: against closed solutions, random stops, single stops, and the stopping table."""

from __future__ import annotations

import importlib.metadata
import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

import mbplugin as mb
from command_line import ASSETS, below_the_verdict, call
from mbplugin.errors import BadNumber, BadUsage
from mbplugin.model.brake_law import Brake, Units
from mbplugin.model.brakes import read_brakes
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.report.text.stopping import worst_cells
from mbplugin.stopping import worst_search as search
from mbplugin.stopping.batch import ArmStopper, CompiledStop
from mbplugin.stopping.run import make_scenario
from mbplugin.stopping.table.run import stopping_table
from mbplugin.stopping.worst import _stated, with_worst_stops, worst_stop
from mbplugin.stopping.worst_search import Failure, Objective, StopComputer, StopSpace, WorstStop, WorstStops
from mbplugin.stopping.zones.distance import figures_of, figures_of_document
from places import BULLET_DATA
from rod_arms import arm

ARM = str(ASSETS / "arm_6r.scene.toml")
IIWA = BULLET_DATA / "kuka_iiwa" / "model.urdf"
ROD = arm((1.0,), limits=Freedom(lower=-2.5, upper=2.5, velocity=2.0))
BRAKE = Brake("j0", 40.0, delay=0.02)
CONTROLLED = {"category": 2, "decelerations": {"j0": 8.0}}


def of(worst: WorstStops, measure: str, axis: str | None = "j0") -> WorstStop:
    (found,) = (one for one in worst.found if (one.axis, one.measure) == (axis, measure))
    return found


def rod_travel(q: float, sense: float, mass: float) -> float:
    """The travel of the rod, by energy and a fine grid: delay at 2 rad/s, then brake against gravity."""
    scenario = make_scenario(ROD, {"j0": q}, {"j0": sense * 2.0}, brakes=[BRAKE], payload=mass)
    return abs(float(CompiledStop(scenario, 1e-9, 1e-11).stop(scenario.q, scenario.qd).travels[0]))


@pytest.mark.long
def test_the_worst_stop_of_a_rod_is_the_largest_of_a_grid() -> None:
    worst = worst_stop(ROD, brakes=[BRAKE], payload=1.0, samples=100)
    grid = [rod_travel(q, s, 1.0) for q in np.linspace(-2.2, 2.2, 441) for s in (1.0, -1.0)]
    found = of(worst, "travel")
    assert max(grid) <= found.value * (1 + 1e-9) and found.value == pytest.approx(max(grid), rel=1e-3)
    assert found.grid is not None and found.value >= found.grid - 1e-9
    assert of(worst, "time").value >= found.time


@pytest.mark.long
def test_tolerances_of_the_brakes_make_it_worse_by_what_they_say() -> None:
    """Without gravity the travel is ωd + J ω²/2T, and the worst brake has the least torque and the longest delay."""
    flat = arm((1.0,), gravity=0.0, limits=Freedom(lower=-2.5, upper=2.5, velocity=2.0))
    worst = worst_stop(flat, brakes=[BRAKE], torque_tolerance=0.2, delay_tolerance=0.5, samples=50)
    inertia = float(np.diag(mb_inertia(flat))[0])
    assert of(worst, "travel").value == pytest.approx(2 * 0.03 + inertia * 4 / (2 * 32), rel=2e-3)
    assert of(worst, "travel").torque_factors["j0"] == pytest.approx(0.8, abs=0.01)
    assert of(worst, "travel").delay_factors["j0"] == pytest.approx(1.5, abs=0.01)


def mb_inertia(mech: mb.Mechanism) -> np.ndarray:
    from mbplugin.dynamics.tree_model import joint_equations
    from mbplugin.model.brakes import AppliedForces

    return joint_equations(mech, np.zeros(1), np.zeros(1), AppliedForces()).M


@pytest.mark.long
def test_a_stop_at_a_joint_limit_does_not_compete_and_is_counted() -> None:
    narrow = arm((1.0,), gravity=0.0, limits=Freedom(lower=-0.1, upper=0.1, velocity=2.0))
    worst = worst_stop(narrow, brakes=[BRAKE], samples=200)
    assert worst.outcomes["limit_hit"] > 20
    inertia = float(np.diag(mb_inertia(narrow))[0])
    assert of(worst, "travel").value == pytest.approx(2 * 0.02 + inertia * 4 / (2 * 40), rel=1e-6)
    free = worst_stop(narrow, brakes=[BRAKE], samples=50, limits="ignore")
    assert "limit_hit" not in free.outcomes


@pytest.mark.long
@pytest.mark.parametrize(("category", "seed"), [(0, 0), (0, 1), (1, 0)])
def test_a_swing_that_grazes_a_limit_is_not_taken_for_one_that_stays_free(category: int, seed: int) -> None:
    """A weak brake lets the rod swing: the longest stops turn just before a limit, and reach it in no run."""
    options = CONTROLLED | {"category": 1} if category else {}
    worst = worst_stop(ROD, brakes=[Brake("j0", 2.0, delay=0.02)], samples=150, seed=seed, **options)  # type: ignore[arg-type]
    for found in worst.found:
        assert found.outcome in ("slipped_back", "not_stopped") and found.time > 1.0
        again = mb.estop(
            ROD,
            found.q,
            found.qd,
            category=category,
            brakes=[Brake("j0", 2.0, delay=0.02)],
            decelerations=CONTROLLED["decelerations"],  # type: ignore[arg-type]
        )
        assert again.outcome == found.outcome and again.time == pytest.approx(found.time, rel=1e-6)


def test_the_row_of_the_table_is_where_a_search_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "_GENERATIONS", 0)
    monkeypatch.setattr(search, "_STEPS", ())
    worst = worst_stop(mb.load(ARM), axes=["j1"], payload=5.0, samples=0)
    for found in worst.found:
        assert found.grid is not None and found.value >= found.grid * (1 - 1e-6)


@pytest.mark.long
def test_all_axes_at_once_are_at_least_as_bad_as_one() -> None:
    scene = mb.load(ARM)
    one = worst_stop(scene, axes=["j3", "j4"], payload=5.0, samples=200)
    every = worst_stop(scene, axes=["j3", "j4"], payload=5.0, samples=200, moving="all")
    for axis in ("j3", "j4"):
        assert of(every, "travel", axis).value > 0.99 * of(one, "travel", axis).value
    assert {w.axis for w in every.found if w.measure != "travel"} == {None}


@pytest.mark.long
@pytest.mark.parametrize("options", [{}, {"torque_tolerance": 0.2, "delay_tolerance": 0.3}])
def test_every_worst_stop_is_what_its_command_computes(options: dict[str, float]) -> None:
    worst = worst_stop(mb.load(ARM), axes=["j2"], payload=5.0, samples=100, **options)
    for found in worst.found:
        assert found.command is not None
        words = shlex.split(found.command)
        words[2] = ARM
        stop = json.loads(call(*words[1:], "--output-format", "json").out)
        (joint,) = (j for j in stop["joints"] if j["name"] == "j2")
        value = {"time": joint["time"], "travel": abs(joint["travel"]), "tool_distance": found.value}
        # a brake that is barely stronger than gravity takes seconds, and the last digit of its stated torque counts
        assert found.value == pytest.approx(value[found.measure], rel=1e-4 if options else 1e-5)


@pytest.mark.parametrize("times", [{}, {"delay": 0}, {"delay": 0.01, "engagement": 0.02}])
def test_a_command_states_no_time_that_nobody_stated(times: dict[str, float]) -> None:
    """What is assumed in a search is assumed, in amber, in the stop that its command computes."""
    mech = mb.load(ARM).mechanism
    (brake,) = read_brakes(mech, [{"joint": "j1", "torque": 300, **times}])
    assert read_brakes(mech, [_stated(brake)]) == (brake,)


@pytest.mark.long
def test_failing_brakes_are_tried_one_by_one() -> None:
    failures = (Failure("dead"), Failure("worn", 0.5), Failure("late", 0.1))
    worst = worst_stop(ROD, brakes=[BRAKE], samples=30, failures=failures)
    dead, worn, late = worst.failed
    assert dead.outcome in ("not_stopped", "limit_hit") and dead.time == 0.0
    assert (worn.joint, worn.failure.amount) == ("j0", 0.5)
    nominal = max(w.time for w in worst.found)
    assert worn.outcome == "stopped" and worn.time > 1.5 * nominal
    assert late.outcome == "limit_hit" or late.time > nominal + 0.09


@pytest.mark.long
def test_the_same_seed_gives_the_same_stops() -> None:
    first, second, third = (worst_stop(ROD, brakes=[BRAKE], samples=40, seed=s) for s in (3, 3, 4))
    assert [w.q for w in first.found] == [w.q for w in second.found]
    assert [w.q for w in first.found] != [w.q for w in third.found]


@pytest.mark.long
def test_a_table_has_the_worst_stops_of_its_axes_in_every_format() -> None:
    run = ("stop-table", ARM, "--axes", "j4", "--category", "0", "--payload", "5", "--worst")
    document = json.loads(call(*run, "--output-format", "json").out)
    jsonschema.validate(document, json.loads(call("schema", "stop-table").out))
    alone = worst_stop(mb.load(ARM), axes=["j4"], payload=5.0)
    found = {one["measure"]: one for one in document["worst"]["found"]}
    assert {measure: one["value"] for measure, one in found.items()} == {
        w.measure: w.value for w in alone.found
    }
    assert found["travel"]["grid"] == pytest.approx(abs(document["rows"][0]["distance"]))
    way = found["tool_distance"]
    csv = call(*run, "--output-format", "csv").out
    assert f"# worst of a search in category 0, j4: longest tool path: {way['value']:.6g} m" in csv
    text = call(*run, "--units", "deg,mm").out
    assert (
        f"{1e3 * way['value']:.4g} mm" in text and f"{np.rad2deg(found['travel']['value']):.4g} deg" in text
    )
    page = call(*run, "--output-format", "html").out
    assert "Worst stops" in page and f"{way['value']:.4g} m" in page and "ASSUMED" in page
    distance = mb.separation_distance(
        figures_of_document(json.dumps(document).encode(), "t"), K=1.0, t1=0, D_DS=0, Z=0
    )
    assert distance.term("t2").value == max(one["time"] for one in found.values())
    assert mb.separation_distance(alone, K=1.0, t1=0, D_DS=0, Z=0).value == distance.value
    assert distance.term("t2").source.startswith("worst stop of category 0 of")


@pytest.mark.long
def test_a_table_has_the_worst_stops_of_each_of_its_categories() -> None:
    """A ramp of 4 rad/s² from 2 rad/s takes half a second, and a brake much less."""
    settings: dict[str, Any] = {"brakes": [BRAKE], "decelerations": {"j0": 4.0}, "speeds": {"j0": 2.0}}
    table = stopping_table(ROD, categories=(0, 1), **settings)
    searched = with_worst_stops(table, ROD, **settings)
    assert [worst.category for worst in searched.searched] == [0, 1] and searched.searched[
        0
    ] is searched.worst
    for worst in searched.searched:
        rows = [row for row in table.rows if row["category"] == worst.category]
        slowest = {w.measure: w for w in worst.found}["time"]
        assert slowest.value >= max(row["rest_time"] for row in rows) - 1e-9
        assert slowest.grid == pytest.approx(max(row["rest_time"] for row in rows))
    (braked, ramped) = (max(w.time for w in worst.found) for worst in searched.searched)
    assert ramped > 0.49 and ramped > braked
    only = with_worst_stops(stopping_table(ROD, categories=(1,), **settings), ROD, **settings)
    assert [worst.category for worst in only.searched] == [1] and only.more_worst == ()
    assert "of category 1" in str(only) and "of category 0" not in str(only)
    document = json.loads(searched.text("json"))
    jsonschema.validate(document, json.loads(call("schema", "stop-table").out))
    assert [w["category"] for w in (document["worst"], *document["more_worst"])] == [0, 1]
    page = searched.text("html")
    assert all(f"of category {k} that a search computed" in page for k in (0, 1))
    # a distance is of one category
    for category, longest in ((0, braked), (1, ramped)):
        taken = figures_of_document(json.dumps(document).encode(), "t", category=category)
        assert taken.time == pytest.approx(longest) == figures_of(searched, category).time
    with pytest.raises(mb.MbPluginError, match=r"categories 0 and 1, but a distance needs one.*--category 1"):
        mb.separation_distance(searched, K=1.0, t1=0, D_DS=0, Z=0)
    with pytest.raises(mb.MbPluginError, match="no stop of category 2; expected category 0 and 1"):
        mb.separation_distance(searched, K=1.0, t1=0, D_DS=0, Z=0, category=2)
    assert mb.separation_distance(searched, K=1.0, t1=0, D_DS=0, Z=0, category=1).value == pytest.approx(
        ramped
    )


@pytest.mark.long
def test_worst_stops_are_shown_in_the_units_of_the_user() -> None:
    worst = worst_stop(ROD, brakes=[BRAKE], samples=5)
    shown = worst.in_units(Units("deg", "mm"))
    for own, other in zip(worst.found, shown.found, strict=True):
        size = {"time": 1.0, "travel": 180 / np.pi, "tool_distance": 1e3}[own.measure]
        assert other.value == pytest.approx(size * own.value)
        assert own.grid is None or other.grid == pytest.approx(size * own.grid)
        assert other.unit == {"time": "s", "travel": "deg", "tool_distance": "mm"}[own.measure]
        assert other.q["j0"] == pytest.approx(np.rad2deg(own.q["j0"])) and other.factor == pytest.approx(
            own.factor
        )
        assert other.qd["j0"] == pytest.approx(np.rad2deg(own.qd["j0"]))


@pytest.mark.long
def test_the_document_follows_its_schema_and_the_text_begins_with_what_is_assumed() -> None:
    run = ("worst-stop", ARM, "--axes", "j4", "--samples", "30", "--payload", "2", "--failure", "worn=0.5")
    document = json.loads(call(*run, "--output-format", "json").out)
    jsonschema.validate(document, json.loads(call("schema", "worst-stop").out))
    assert document["of_effort"]["brakes"] and document["failed"][0]["failure"] == {
        "kind": "worn",
        "amount": 0.5,
    }
    text = call(*run, "--commands").out
    assert below_the_verdict(text).startswith("! ASSUMED, NOT STATED")
    assert "j4: longest travel" in text and "mbplugin estop" in text and "brake of j4 at 50 %" in text
    page = call(*run, "--output-format", "html").out
    assert "ASSUMED" in page and "brake of j4 at 50 %" in page and "j4: longest travel" in page
    refused = call(*run, "--require-brakes")
    assert refused.code == 2 and "stated brakes are required" in refused.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"payload_range": (0.5, 0.2)}, "the payload range is 0.5 to 0.2"),
        ({"torque_tolerance": 1.0}, "the torque tolerance is 1"),
        ({"moving": "two"}, "moving is 'two'"),
        ({"failures": [Failure("worn", 2.0)]}, "a brake is worn by 2"),
        ({"samples": -1}, "-1 random stops"),
        ({"category": 3}, "no stop category 3"),
        (CONTROLLED | {"failures": [Failure("dead")]}, "failures need brakes"),
        (CONTROLLED | {"torque_tolerance": 0.1}, "tolerances of torques and failures need brakes"),
        ({"category": 1, "decelerations": {"j0": 0.0}}, "the deceleration of 'j0' is 0"),
        ({"axes": ["none"]}, "'none'"),
        ({"payload": -1.0}, "the payload is -1"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, object], words: str) -> None:
    with pytest.raises((BadNumber, BadUsage, mb.MbPluginError), match=words):
        worst_stop(ROD, brakes=[BRAKE], **options)  # type: ignore[arg-type]


def test_options_of_another_form_are_refused_in_one_sentence(tmp_path: Path) -> None:
    for option in ("broken", "dead=1", "worn", "late=x"):
        outcome = call("worst-stop", ARM, "--failure", option)
        assert outcome.code == 2 and "dead, worn=SHARE or late=SECONDS" in outcome.err
    (tmp_path / "none.urdf").write_text('<robot name="r"><link name="world"/></robot>', encoding="utf-8")
    empty = call("worst-stop", str(tmp_path / "none.urdf"), "--payload", "1")
    assert empty.code == 2 and "no body" in empty.err
    loops = call("worst-stop", str(ASSETS / "four_bar.urdf"))
    assert loops.code == 2


@pytest.mark.slow
@pytest.mark.parametrize("robot", ["arm_6r", "iiwa"])
def test_the_search_finds_what_a_hundred_thousand_stops_find(robot: str) -> None:
    scene = mb.load(ARM) if robot == "arm_6r" else mb.load(IIWA, base="fixed")
    payload = 5.0 if robot == "arm_6r" else 7.0
    scenario = make_scenario(scene)
    space_of = worst_stop(scene, payload=payload)
    computer = StopComputer(ArmStopper(CompiledStop(scenario)), lambda count: None, 1e-4)
    speeds = {axis: scenario.mech.pair_by_name[axis].freedoms[0].velocity for axis in space_of.axes}
    from mbplugin.stopping.defaults import rated_payload

    rng, rated = np.random.default_rng(7), rated_payload(scenario, payload)
    for axis in space_of.axes[:3]:
        space = StopSpace(CompiledStop(scenario), rated, speeds, axis)
        stops = [computer.stop(space, space.start(x)) for x in rng.random((33_334, space.dimension))]
        for measure in ("time", "travel", "tool_distance"):
            objective = Objective(axis, measure)  # type: ignore[arg-type]
            brute = max(objective.value(stop, computer.index_of(objective)) for stop in stops)
            assert of(space_of, measure, axis).value >= brute * (1 - 1e-6), (axis, measure, brute)


@pytest.mark.robots
def test_the_worst_start_of_a_ur5_is_worse_than_the_row_of_its_table() -> None:
    """A dense search of the start angle of axis 2 alone, done by hand, has 0.922 rad and, elsewhere, 570 ms."""
    files = importlib.metadata.files("example-robot-data") or []
    urdf = next(file for file in files if file.name == "ur5_robot.urdf").locate()
    worst = worst_stop(mb.load(str(urdf), base="fixed"), axes=["shoulder_lift_joint"], payload=5.0)
    assert of(worst, "travel", "shoulder_lift_joint").value >= 0.922
    assert of(worst, "time", "shoulder_lift_joint").value >= 0.570


@pytest.mark.long
def test_stops_of_several_spaces_are_those_of_each_space() -> None:
    scene = mb.load(ARM)
    scenario = make_scenario(scene, payload=5.0)
    stop = CompiledStop(replace(scenario, actions=replace(scenario.actions, payloads=())))
    rated = scenario.actions.payloads[0]
    spaces = [StopSpace(stop, rated, {"j1": 1.0, "j4": 2.0}, axis, 0.1) for axis in ("j4", "j1")]
    rng, computer = np.random.default_rng(2), StopComputer(ArmStopper(stop), lambda count: None)
    points = [(space, rng.random((k, space.dimension))) for space, k in zip(spaces, (3, 2), strict=True)]
    outcomes, stops = computer.stops(points)
    single = [computer.stop(space, space.start(x)) for space, X in points for x in X]
    assert outcomes == [one.outcome for one in single]
    assert stops.times == pytest.approx([one.time for one in single], rel=1e-9)
    for n, axis in ((3, "j4"), (0, "j1")):
        values = Objective(axis, "travel").values(outcomes[3:], stops.part(slice(3, 5)), n)
        assert values == pytest.approx([abs(one.travels[n]) for one in single[3:]], rel=1e-9, abs=1e-12)


def test_where_every_stop_ends_at_a_limit_no_value_is_printed() -> None:
    """A range of a tenth of the travel: no stop comes to rest by its brake, and 0 s would be the best of all."""
    tight = arm((1.0,), limits=Freedom(lower=-0.01, upper=0.01, velocity=2.0))
    found = worst_stop(tight, samples=1, brakes=[BRAKE], tool="b0")
    assert set(found.outcomes) == {"limit_hit"}
    for one in found.found:
        assert worst_cells(one, "m") == ["–", "–", worst_cells(one, "m")[2], "–", "–", "–", "0 kg"]
    assert "longest time 0" not in str(found)


def test_axes_and_categories_that_are_empty_are_refused() -> None:
    for wrong in ({"axes": []}, {"categories": []}):
        with pytest.raises(BadUsage):
            mb.stopping_table(ROD, brakes=[BRAKE], **wrong)
    with pytest.raises(BadUsage, match="no axis is named"):
        worst_stop(ROD, axes=[], brakes=[BRAKE])


@pytest.mark.long
def test_the_worst_stops_do_not_depend_on_the_number_of_threads() -> None:
    found = [
        worst_stop(ARM, axes=["j4"], payload=5.0, samples=40, jobs=jobs, torque_tolerance=0.1)
        for jobs in (1, 3)
    ]
    assert found[0].to_dict() == found[1].to_dict()


@pytest.mark.parametrize("jobs", [0, -2])
def test_a_wrong_number_of_threads_is_refused(jobs: int) -> None:
    with pytest.raises(BadUsage, match=f"{jobs} processes were requested; expected 1 to"):
        worst_stop(ARM, jobs=jobs)
    refused = call("worst-stop", ARM, "--jobs", str(jobs))
    assert refused.code == 2 and "processes were requested" in refused.err
