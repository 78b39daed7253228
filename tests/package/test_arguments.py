"""Arguments of another kind: every public function answers in one sentence, before it computes anything."""

from __future__ import annotations

import contextlib
import inspect
import re
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from mbplugin.errors import BadUsage, ImplausibleValue
from public_values import ARM, FOUR_BAR, made

FUNCTIONS = sorted(name for name in mb.__all__ if name[0].islower())
#: An argument that a check would let pass, so that the function would complain of the file.
MISSING = "nowhere.urdf"


class Odd:
    """Nothing that any function takes."""

    def __repr__(self) -> str:
        return "<Odd>"


def wrong(annotation: str) -> Iterator[object]:
    """Yield values of which no annotation admits the first, and this one none of the others."""
    yield Odd()
    yield [Odd()]
    if "Like" not in annotation and "PayloadValue" not in annotation:
        yield {"a": Odd()}
    kinds = set(re.findall(r"\w+", annotation)) - {"None"}
    if kinds <= {"float", "int", "bool"}:
        yield from ("xyzzy", [1], {})
    if kinds <= {"float", "int"}:
        yield True
    if kinds == {"int"}:
        yield 2.5
    if kinds == {"str"}:
        yield 7


def cases() -> Iterator[Any]:
    for name in FUNCTIONS:
        for parameter in inspect.signature(getattr(mb, name)).parameters.values():
            for value in wrong(parameter.annotation):
                yield pytest.param(name, parameter, value, id=f"{name}-{parameter.name}-{value}")


@pytest.mark.parametrize(("name", "parameter", "value"), [*cases()])
def test_a_value_of_another_kind_is_one_sentence(
    name: str, parameter: inspect.Parameter, value: object
) -> None:
    function, given, also = getattr(mb, name), [], {}
    for other in inspect.signature(function).parameters.values():
        if other.name == parameter.name:
            break
        if other.default is inspect.Parameter.empty:
            right = {"duration": 0.1, "values": [1.0], "stops": made("StopReport"), "client": 0}
            given.append(right.get(other.name, MISSING))
    if parameter.default is inspect.Parameter.empty:
        given.append(value)
    else:
        also[parameter.name] = value
    with pytest.raises(BadUsage) as caught:
        function(*given, **also)
    assert caught.value.where == f"{function.__name__}()"
    assert re.match(rf"(a name in )?{parameter.name}(\[.*\])? is ", caught.value.what)
    assert caught.value.expected and len(str(caught.value)) < 300


#: What was typed, and what the sentence has to say.
TYPED: tuple[tuple[Callable[[], object], str], ...] = (
    (
        lambda: mb.lint({}),
        "lint(): source is {}; expected a path, a PyBullet client, a Scene, a Mechanism, "
        "or a model of MuJoCo, Pinocchio, yourdfpy or urchin.",
    ),
    (lambda: mb.simulate(FOUR_BAR, "2"), "duration is '2'; expected a number; write 2."),
    (lambda: mb.simulate(FOUR_BAR, "2kg"), "duration is '2kg', which is a mass"),
    (lambda: mb.simulate(FOUR_BAR, 1, rtol="2s"), "rtol is '2s'; expected a number"),
    (lambda: mb.rule([101]), "code is [101]; expected a text or a whole number"),
    (
        lambda: mb.simulate(ARM, 0.1, armature={"j1": "5"}),
        "armature['j1'] is '5'; expected a number; write 5",
    ),
    (lambda: mb.estop(ARM, payload_share="5%"), "payload_share is '5%'; expected a number."),
    (lambda: mb.view(FOUR_BAR, size=640), "size is 640; expected 2 whole numbers"),
    (lambda: mb.view(FOUR_BAR, size=(640,)), "size is (640,); expected 2 whole numbers"),
    (lambda: mb.lint(FOUR_BAR, selct=["MB2"]), "there is no argument 'selct'; did you mean 'select'?"),
    (lambda: mb.simulate(FOUR_BAR), "'duration' is missing; expected a number; write duration=…"),
    (lambda: mb.simulate(FOUR_BAR, 1, {"j0": 1}), "3 arguments are given by position; expected 2 at most"),
    (lambda: mb.simulate(FOUR_BAR, 1, q={}, q0={}), "'q' is given twice"),
    (lambda: mb.analyze(FOUR_BAR, {}, q={}), "'q' is given twice"),
    (lambda: mb.simulate(FOUR_BAR, 1, locks="j0"), "locks is 'j0'; expected a list of Locks"),
    (lambda: mb.lint(FOUR_BAR, fail_on="warn"), "expected 'error' or 'warning' or 'note'"),
    (lambda: mb.worst_stop(ARM, moving="two"), "expected 'one' or 'all'"),
    (lambda: mb.simulate(FOUR_BAR, 1, q=np.array(["a"])), "expected a mapping of joint names to numbers"),
    (lambda: mb.analyze(ARM, {"j1": "90m"}), "'j1' has the value '90m', which is a length"),
    (lambda: mb.analyze(ARM, {"j1": "fast"}), "expected a finite number or an angle, such as 90deg"),
    (lambda: mb.estop(ARM, category="0"), "category is '0'; expected a whole number; write 0."),
    (lambda: mb.analyze(ARM, samples="3.5"), "samples is '3.5'; expected a whole number."),
    (lambda: mb.estop(ARM, dq={"j1": 1}), "there is no argument 'dq'; did you mean 'qd'?"),
    (lambda: mb.inverse_dynamics(ARM, ddq={"j1": 1}), "there is no argument 'ddq'; did you mean 'qdd'?"),
    (
        lambda: mb.stop_table(ARM, base="fixed"),
        "there is no argument 'base'; give it to mb.load(FILE, base=…)",
    ),
    (lambda: mb.estop(ARM, {"j1": np.nan}), "'j1' has the value nan; expected a finite number, rad."),
    (lambda: mb.inverse_dynamics(ARM, qdd={"j1": np.inf}), "expected a finite number, rad/s²"),
    (
        lambda: mb.estop(ARM, brakes={"j1": 50}),
        "names no joint: {'j1': 50}; expected a table of joint, torque",
    ),
    (lambda: mb.estop(ARM, brakes={"j1": {"delay": 1}}), "write {'joint': 'j1', 'delay': 1}."),
    (lambda: mb.estop(ARM, brakes={"joint": 50}), "write {'joint': 'NAME', 'torque': 50}."),
    (
        lambda: mb.estop(ARM, brakes=50),
        "a list of Brakes or mappings; such as {'joint': 'elbow', 'torque': 50}",
    ),
    (
        lambda: mb.estop(ARM, brakes={"joint": "j1", "torque": [5]}),
        "'j1' is [5]; expected a number that is not",
    ),
    (lambda: mb.estop(ARM, brakes=mb.Brake("j1", "5m")), "has torque '5m', which is a length"),  # type: ignore[arg-type]
    (lambda: mb.reactions(ARM, loads={"hand": [0, 0, 1]}), "write {'body': 'hand', 'force': [0, 0, 1]}."),
    (lambda: mb.reactions(ARM, loads={"bdy": "hand"}), "write {'body': 'NAME', 'force': [0, 0, -10]}."),
    (lambda: mb.estop(ARM, payload={"hand": 5}), "a payload names no body: {'hand': 5}; expected"),
    (lambda: mb.estop(ARM, payload={"body": "hand", "mass": [5]}), "is [5]; expected a mass, such as 5kg"),
    (
        lambda: mb.estop(ARM, payload={"body": "hand", "inertia": [1, 2]}),
        "expected three moments, or a matrix",
    ),
    (lambda: mb.simulate(ARM, 1, locks=[mb.Lock("j1", "5m")]), "at is '5m', which is a length"),  # type: ignore[arg-type]
    (lambda: mb.JointSpring("j1", "5"), "has the value '5'; expected finite numbers"),  # type: ignore[arg-type]
    (lambda: mb.simulate(ARM, 1, locks="j1"), "expected a list of Locks; such as mb.Lock('elbow', at=0.5)."),
)


@pytest.mark.parametrize(("typed", "said"), TYPED, ids=[said for _, said in TYPED])
def test_a_mistake_is_answered_by_what_to_type(typed: Callable[[], object], said: str) -> None:
    with pytest.raises(mb.MbPluginError) as caught:
        typed()
    assert said in str(caught.value)


def test_what_fits_is_taken() -> None:
    """Numbers of NumPy, one value instead of a list, and the names of other functions."""
    plain = mb.simulate(FOUR_BAR, 0.01, qd={"j0": 1.0}, payload=[{"body": "coupler", "mass": 2.0}])
    other = mb.simulate(
        FOUR_BAR, np.float32(0.01), qd0={"j0": np.float64(1.0)}, payloads={"body": "coupler", "mass": 2}
    )
    np.testing.assert_allclose(other.qd[-1], plain.qd[-1], rtol=1e-6)
    assert mb.lint(FOUR_BAR, select="MB201").findings == mb.lint(FOUR_BAR, select=["MB201"]).findings
    assert mb.rule(201) is mb.rule("MB201") is mb.rule("201")
    assert (
        made("Analysis").degree_of_redundancy
        == mb.analyze(FOUR_BAR, samples=np.int64(2)).degree_of_redundancy
    )


def test_the_names_of_other_functions_and_of_the_command_line_are_taken() -> None:
    assert mb.lint(model=FOUR_BAR).findings == mb.lint(mech=FOUR_BAR).findings == mb.lint(FOUR_BAR).findings
    assert mb.analyze(source=FOUR_BAR).mechanism.name == mb.reactions(mech=FOUR_BAR).mechanism.name
    with pytest.raises(BadUsage, match=r"sweep\(\): 'folder' is missing"):
        mb.sweep(ARM, number=50)  # type: ignore[call-arg]


def test_a_row_of_numbers_has_an_example() -> None:
    with pytest.raises(BadUsage, match=r"tool_point is '0,0,0.1'; expected numbers; such as \[0, 0, 0.1\]"):
        mb.estop(ARM, tool_point="0,0,0.1")  # type: ignore[arg-type]


def test_an_option_that_may_be_repeated_is_known_by_its_singular_too() -> None:
    table = mb.stop_table(ARM, axes=["j1"], category=0, brake={"joint": "j1", "torque": 300})
    assert {row["category"] for row in table.rows} == {0} and "j1" not in table.of_effort.brakes
    down = {"body": "flange", "force": [0, 0, -10.0]}
    assert mb.reactions(ARM, load=down).to_dict() == mb.reactions(ARM, loads=[down]).to_dict()
    assert [one.engine for one in mb.engines(FOUR_BAR, engine="mujoco").engines] == ["mbplugin", "MuJoCo"]
    with pytest.raises(BadUsage, match="'brakes' is given twice"):
        mb.estop(ARM, brakes=[], brake=[])


def test_a_misspelt_function_is_answered_by_the_one_that_is_meant() -> None:
    with pytest.raises(AttributeError, match=r"no attribute 'stoptable'; did you mean 'stop_table'\?"):
        mb.stoptable  # type: ignore[attr-defined] # noqa: B018
    assert not hasattr(mb, "__wrapped__")


# Units


def test_a_brake_a_payload_a_load_and_a_lock_may_have_units() -> None:
    brake = {"joint": "j1", "torque": "0.05kNm", "delay": "10ms", "short_circuit": "5Nms/rad"}
    made_of = {"body": "hand", "mass": "500g", "com": ["35mm", 0, 0]}
    stop = mb.estop(ARM, brakes=brake | {"short_circuit_rate": "60rpm"}, payload=made_of)
    law, payload = stop.scenario.brakes[0].law, stop.scenario.actions.payloads[-1]
    assert (law.sliding, stop.scenario.brakes[0].delay) == (50.0, 0.01)
    assert law.short_circuit_rate == pytest.approx(2 * np.pi) and law.short_circuit == 5.0
    assert payload.mass == 0.5 and [*payload.com] == [0.035, 0.0, 0.0]
    pushed = mb.reactions(ARM, loads={"body": "hand", "force": ["1kN", 0, 0], "torque": [0, "10Ncm", 0]})
    same = mb.reactions(ARM, loads={"body": "hand", "force": [1e3, 0, 0], "torque": [0, 0.1, 0]})
    assert pushed.to_dict() == same.to_dict()
    assert mb.Lock("j1", "500ms", until="0.6 s") == mb.Lock("j1", 0.5, until=0.6)  # type: ignore[arg-type]


def test_a_value_may_have_its_unit() -> None:
    matrix = mb.matrix(ARM, {"j2": "-30deg"}, {"j1": "60deg/s"})
    other = mb.matrix(ARM, {"j2": -np.pi / 6}, {"j1": np.pi / 3})
    np.testing.assert_allclose(matrix.C.toarray(), other.C.toarray(), atol=1e-15)
    np.testing.assert_allclose(matrix.Gamma, other.Gamma, atol=1e-15)
    torque = mb.inverse_dynamics(ARM, qdd={"j1": "90deg/s²"}).values
    np.testing.assert_allclose(torque, mb.inverse_dynamics(ARM, qdd={"j1": np.pi / 2}).values, rtol=1e-12)
    with pytest.raises(BadUsage, match="which is an angular rate; expected an angular acceleration"):
        mb.inverse_dynamics(ARM, qdd={"j1": "90deg/s"})


def test_what_joints_are_named_for_may_have_units() -> None:
    """Full speeds, decelerations, torques, misfits and limits: the same results as of the numbers."""
    one_axis = {"axes": ["j1"], "categories": [1]}
    table = mb.stopping_table(ARM, **one_axis, speeds={"j1": "60deg/s"}, decelerations={"j1": "180 deg/s^2"})
    same = mb.stopping_table(ARM, **one_axis, speeds={"j1": np.pi / 3}, decelerations={"j1": np.pi})
    assert [row["time"] for row in table.rows] == pytest.approx([row["time"] for row in same.rows], rel=1e-9)
    stop = {"qd": {"j1": 1.0}, "category": 1}
    ramp = mb.estop(ARM, **stop, decelerations={"j1": "90deg/s²"}).scenario.decelerations["j1"]
    assert ramp == pytest.approx(np.pi / 2)
    pushed = mb.simulate(FOUR_BAR, 0.01, torques={"j0": "0.01kNm"}, samples=1)
    assert pushed.actions.torques == {"j0": 10.0}
    worst = mb.worst_stop(ARM, axes=["j4"], speeds={"j4": "120deg/s"}, samples=1, max_seconds=1e-6)
    assert any("full speed: j4 2.094 rad/s" in said for said in worst.assumptions)
    given = {"misfit": {"j3.ry": "1mrad"}, "misfit_sigma": {"j3.tz": "0.1mm"}, "limits": {"j0": "2kN"}}
    read = mb.reactions(FOUR_BAR, **given)
    number = {"misfit": {"j3.ry": 1e-3}, "misfit_sigma": {"j3.tz": 1e-4}, "limits": {"j0": 2e3}}
    assert read.to_dict() == mb.reactions(FOUR_BAR, **number).to_dict()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: mb.stopping_table(ARM, speeds={"j1": "60deg"}),
            r"'j1' has the value '60deg', which is an angle; expected an angular rate",
        ),
        (
            lambda: mb.worst_stop(ARM, decelerations={"j1": "2m/s²"}),
            "which is an acceleration; expected an angular",
        ),
        (lambda: mb.estop(ARM, category=1, decelerations={"j1": "fast"}), "'j1' has the value 'fast'"),
        (lambda: mb.reactions(FOUR_BAR, misfit={"j3.ry": "1mm"}), "which is a length; expected an angle"),
        (lambda: mb.simulate(ARM, 0.1, torques={"j1": "10N"}), "which is a force; expected a torque"),
        (lambda: mb.stopping_table(ARM, speeds={"elbow": "60deg/s"}), "'elbow', which is not a joint"),
        (lambda: mb.stopping_table(ARM, speeds="60deg/s"), "expected a mapping of names to numbers"),
    ],
)
def test_a_unit_of_another_dimension_is_refused(call: Callable[[], object], words: str) -> None:
    with pytest.raises(mb.MbPluginError, match=words):
        call()


@pytest.mark.parametrize(
    "function",
    [
        mb.analyze,
        mb.matrix,
        mb.reactions,
        lambda m, q: mb.simulate(m, 0.3, q=q),
        lambda m, q: mb.lint(m, q=q),
        lambda m, q: mb.analyze(m, [90, 0, 0, 0, 0, 0]),
        lambda m, q: mb.reactions(m, np.array([90, 0, 0, 0, 0, 0])),
        lambda m, q: mb.simulate(m, 0.3, q=[90, 0, 0, 0, 0, 0]),
    ],
)
def test_degrees_by_mistake_are_a_warning_that_points_to_the_call(function: Callable[..., object]) -> None:
    with pytest.warns(ImplausibleValue) as caught:
        function(ARM, {"j1": 90})
    assert len({str(one.message) for one in caught}) == 1
    assert "j1 is 90 rad (5156.6 deg), beyond its limits; write 90deg if" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_a_coordinate_beyond_its_limit_by_rounding_is_no_warning(recwarn: pytest.WarningsRecorder) -> None:
    upper = mb.load(ARM).mechanism.pair_by_name["j2"].freedoms[0].upper
    mb.analyze(ARM, {"j2": upper * (1 + 1e-15)})
    assert not [one for one in recwarn if one.category is ImplausibleValue]
    with pytest.warns(ImplausibleValue, match="j2 is .* beyond its limits"):
        mb.analyze(ARM, {"j2": upper + 1e-6})


@pytest.mark.parametrize(
    "function",
    [
        mb.estop,
        mb.reactions,
        mb.inverse_dynamics,
        lambda m, **state: mb.simulate(m, 0.2, **state),
        lambda m, **state: mb.sweep(m, "stops", 3, **state),
        lambda m, qd, payload: mb.stop_table(
            m, axes=["j1"], categories=[0], speeds=qd, payload=payload["mass"]
        ),
    ],
)
def test_rates_and_payloads_in_another_unit_are_the_warnings_of_the_command_line(
    function: Callable[..., object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.warns(ImplausibleValue) as caught, contextlib.suppress(BadUsage):
        function(ARM, qd={"j1": 60}, payload={"body": "hand", "mass": 5000})
    said = {str(one.message) for one in caught if one.filename == __file__}
    assert len(said) == 2
    assert any("the rate of j1 is 60 rad/s" in one and "write 60deg/s" in one for one in said)
    assert any("the payload is 5000 kg" in one and "write 5000g" in one for one in said)


@pytest.mark.parametrize(
    "function",
    [
        lambda **brake: mb.estop(ARM, qd={"j1": 1}, **brake),
        lambda **brake: mb.simulate(ARM, 0.3, **brake),
        lambda **brake: mb.stop_table(ARM, axes=["j1"], categories=[0], **brake),
    ],
)
def test_milliseconds_by_mistake_are_a_warning(function: Callable[..., object]) -> None:
    slow = {"joint": "j1", "torque": 200, "delay": "30", "engagement": 1500}
    with pytest.warns(ImplausibleValue) as caught:
        function(brakes=[slow])
    assert {str(one.message) for one in caught if one.filename == __file__} == {
        "the delay of the brake of j1 is 30 s; write 30ms if that is meant",
        "the engagement of the brake of j1 is 1500 s",
    }
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        function(brakes=[slow | {"delay": "30ms", "engagement": 0.05}])


def test_a_stop_from_degrees_by_mistake_says_what_to_write() -> None:
    with pytest.raises(
        BadUsage, match=r"'j1' is at 90, above its upper limit 2.8; write 90deg if that is meant"
    ):
        mb.estop(ARM, {"j1": 90})
    with pytest.raises(BadUsage, match="state a pose within the limits"):
        mb.estop(ARM, {"j1": 3})


def test_a_joint_without_limits_is_warned_about_at_whole_degrees() -> None:
    with pytest.warns(
        ImplausibleValue, match="j0 is 90 rad .*, more than a turn; write 90deg if that is meant"
    ):
        mb.matrix(FOUR_BAR, {"j0": 90})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mb.matrix(FOUR_BAR, {"j0": 2 * np.pi * 14.3})
        mb.matrix(FOUR_BAR, {"j0": 6})
        mb.matrix(ARM, {"j1": "90deg"})
        mb.matrix(ARM, [0.5, 0, 0, 0, 0, 0])


def test_a_function_with_two_names_answers_by_the_one_that_was_called() -> None:
    for name in ("view", "show"):
        with pytest.raises(BadUsage, match=rf"^{name}\(\): picture is 5; expected a text or a path"):
            getattr(mb, name)(ARM, picture=5)
    for name in ("stop_table", "stopping_table"):
        with pytest.raises(BadUsage, match=rf"^{name}\(\): grid is 5"):
            getattr(mb, name)(ARM, grid=5)


def test_a_joint_to_hold_is_named_in_python_too() -> None:
    with pytest.raises(BadUsage, match=r"such as 'j\d' \(--hold j\d, in Python hold=\['j\d'\]\)"):
        mb.reactions(FOUR_BAR, hold=[])


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda at: mb.Pair("a", "hinge", "world", "b", at, at), "pair 'a': there is no pair type 'hinge'"),
        (lambda at: mb.Pair("a", "revolut", "world", "b", at, at), "did you mean 'revolute'"),
        (lambda at: mb.Lock(5), "a lock is of the joint 5; expected a name"),
        (lambda at: mb.TimedConstraint(5), "an interval is of the constraint 5; expected a name"),
    ],
)
def test_a_part_of_a_mechanism_that_cannot_be_is_one_sentence(make: Callable[..., object], says: str) -> None:
    with pytest.raises(mb.MbPluginError, match=says):
        make(mb.Pose.identity())


def test_a_mass_below_zero_is_a_warning_of_an_analysis() -> None:
    at = mb.Pose.identity()
    mech = mb.Mechanism("m", (mb.Body("b", -1.0),), (mb.Pair("a", "revolute", "world", "b", at, at),))
    with pytest.warns(ImplausibleValue, match="the mass of b is -1 kg"):
        mb.analyze(mech)


def test_a_format_is_known_in_any_case() -> None:
    with pytest.raises(BadUsage, match=r"the format is 'mjfc'.*did you mean 'mjcf'"):
        mb.close(FOUR_BAR, "mjfc")
    assert mb.close(FOUR_BAR, "URDF", measure_drift=False).format == "urdf"


@pytest.mark.parametrize("name", ["estop", "stopping_table", "stop_table", "worst_stop", "sweep"])
def test_shared_arguments_are_shown_one_by_one(name: str) -> None:
    function = getattr(mb, name)
    parameters = inspect.signature(function).parameters
    assert not [p.name for p in parameters.values() if p.kind is p.VAR_KEYWORD]
    assert parameters["tool"].annotation == "str | None" and parameters["require_brakes"].default is False
    text = inspect.getdoc(function) or ""
    assert "\nrequire_brakes : bool\n" in text and "**" not in text
    with pytest.raises(BadUsage, match="tool is 3"):
        function(MISSING, *(["folder"] if name == "sweep" else []), tool=3)
