"""Remedies leave motors, brakes and end stops alone; what a retyped joint would lose is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest

import mbplugin as mb
import palletiser
from command_line import call
from mbplugin.errors import BadScene, MbPluginError
from mbplugin.model.mechanism import Lock
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import duties
from mbplugin.report.text.lint import lint_text
from places import ASSETS

MOTORS = {"swing", "shoulder", "elbow"}
#: Limits of a joint without a motor, as URDF wants them for every revolute joint.
BOUNDED = '<limit lower="-2" upper="2" effort="0" velocity="3"/>'
ANY_PAIR = '[[pair]]\nname = "{}"\ntype = "{}"\n'


def changed(scene: mb.Scene) -> list[set[str]]:
    return [{change.constraint for change in remedy.changes} for remedy in mb.analyze(scene).remedies]


def rank(C: np.ndarray) -> int:
    return int(np.linalg.matrix_rank(C, tol=1e-9))


@pytest.mark.long
def test_the_remedy_of_a_palletiser_is_proved_with_motors_and_brakes_on(tmp_path: Path) -> None:
    before = mb.load(palletiser.write(tmp_path))
    analysis = mb.analyze(before)
    assert analysis.degree_of_redundancy == 3 and analysis.remedies
    for remedy in analysis.remedies:
        assert not {change.constraint for change in remedy.changes} & MOTORS
        after = mb.load(palletiser.write(tmp_path, scene=remedy.toml))
        C = [mb.constraint_matrix(scene, mb.analyze(scene).q).C.toarray() for scene in (before, after)]
        # the rows that are left are independent, and let the bodies move as before and no further
        assert rank(C[1]) == len(C[1]) == rank(C[0]) == rank(np.vstack(C))
        held = [
            mb.constraint_matrix(
                mb.Mechanism(
                    "held",
                    scene.mechanism.bodies,
                    scene.mechanism.pairs,
                    locks=tuple(Lock(name) for name in sorted(MOTORS)),
                ),
                mb.analyze(scene).q,
            ).C.toarray()
            for scene in (before, after)
        ]
        # motors that are held hold everything
        assert rank(held[0]) == rank(held[1]) == held[0].shape[1]
        assert set(mb.reactions(after).held) == MOTORS
        stops = [mb.estop(scene, qd={"swing": 1.0}) for scene in (before, after)]
        assert [stop.outcome for stop in stops] == ["stopped", "stopped"]
        assert {brake.joint for brake in stops[1].scenario.brakes} == MOTORS
        assert stops[1].trajectory.time[-1] == pytest.approx(stops[0].trajectory.time[-1], rel=1e-6)


@pytest.mark.long
def test_all_reports_recommend_the_same(tmp_path: Path) -> None:
    file = palletiser.write(tmp_path)
    report = mb.lint(file)
    assert report.analysis is not None
    first = report.analysis.remedies[0]
    by_code = {finding.code: finding for finding in report.findings}
    told = {by_code[code].evidence["toml"] for code in ("MB201", "MB202")}
    assert told == {first.toml}
    document = json.loads(call("lint", str(file), "--output-format", "json").out)
    assert document["remedies"][0]["toml"] == first.toml
    text = lint_text([report], detail="full")
    assert all(line in text for line in first.toml.splitlines())
    page = call("lint", str(file), "--output-format", "html").out
    assert f"<pre>{first.toml}</pre>" in unescape(page)


@pytest.mark.parametrize(
    "drives",
    [
        '<transmission name="t"><joint name="wrist"/><actuator name="m"/></transmission>',
        '<ros2_control name="r" type="system"><joint name="wrist"><command_interface name="position"/>'
        "</joint></ros2_control>",
    ],
    ids=["transmission", "ros2_control"],
)
def test_a_joint_with_a_transmission_stays(tmp_path: Path, drives: str) -> None:
    plain = mb.load(palletiser.write(tmp_path))
    assert any("wrist" in names for names in changed(plain))
    scene = mb.load(palletiser.write(tmp_path, extra=drives))
    assert scene.actuated == ("wrist",)
    assert changed(scene) and not any(names & {*MOTORS, "wrist"} for names in changed(scene))


def test_a_joint_with_states_only_is_a_sensor(tmp_path: Path) -> None:
    sensor = (
        '<ros2_control name="r" type="system"><joint name="wrist"><state_interface name="position"/>'
        "</joint></ros2_control>"
    )
    assert mb.load(palletiser.write(tmp_path, extra=sensor)).actuated == ()


@pytest.mark.parametrize(
    ("table", "duty"),
    [
        ('[[brake]]\njoint = "{}"\ntorque = 5\n', "brake"),
        ('[[driver]]\njoint = "{}"\n', "driver"),
        ('[[lock]]\njoint = "{}"\nat = 0.5\n', "lock"),
        ('[[actuator]]\njoint = "{}"\narmature = 0.1\n', "actuator"),
        ('[[spring]]\njoint = "{}"\nstiffness = 5\n', "spring"),
        ('[[coupling]]\ntype = "gear"\njoint = "{}"\nof = "swing"\nratio = 2\n', "coupling"),
    ],
)
def test_every_duty_of_a_joint_is_seen_and_keeps_it(tmp_path: Path, table: str, duty: str) -> None:
    scene = mb.load(palletiser.write(tmp_path, scene=table.format("wrist")))
    assert [one.kind for one in duties(scene)["wrist"]] == [duty]
    assert not any("wrist" in names for names in changed(scene))


def test_where_only_motors_could_be_changed_it_says_so(tmp_path: Path) -> None:
    """All hinges but the motors are limited, and the loop is closed by a braked joint."""
    brake = '[[brake]]\njoint = "loop"\ntorque = 5\n'
    file = palletiser.write(tmp_path, passive=BOUNDED, scene=brake)
    report = mb.lint(file)
    analysis = report.analysis
    assert analysis is not None and analysis.degree_of_redundancy == 3 and analysis.remedies == ()
    assert {o.constraint for o in analysis.obstacles} == {"shoulder", "elbow", "wrist", "pin", "loop"}
    by_name = {o.constraint: o.duties for o in analysis.obstacles}
    assert by_name["elbow"] == ("an effort limit of 400 N·m", "limits from -2 to 2 rad")
    assert by_name["loop"] == ("a brake",) and by_name["pin"] == ("limits from -2 to 2 rad",)
    help = next(finding.help for finding in report.findings if finding.code == "MB201")
    assert "'elbow'" in help and "passive = true" in help
    assert "Joints that prevent a remedy" in lint_text([report], detail="full")
    assert not [finding for finding in report.findings if finding.code == "MB202"]
    document = json.loads(call("lint", str(file), "--output-format", "json").out)
    assert document["remedies"] == [] and len(document["obstacles"]) == 5
    # two of them have no end stop in truth
    own = ANY_PAIR.format("pin", "revolute") + "passive = true\n"
    scene = mb.load(palletiser.write(tmp_path, passive=BOUNDED, scene=own + brake))
    assert changed(scene) == [{"pin"}] or all(names == {"pin"} for names in changed(scene))


@pytest.mark.parametrize("command", ["lint", "estop", "reactions", "simulate"])
def test_a_motor_that_is_retyped_is_refused_by_every_command(tmp_path: Path, command: str) -> None:
    file = palletiser.write(tmp_path, scene=ANY_PAIR.format("elbow", "point-on-line"))
    extra = {"estop": ("--qd", "swing=1"), "simulate": ("--duration", "0.01")}.get(command, ())
    outcome = call(command, str(file), *extra)
    assert outcome.code == 2
    said = " ".join((outcome.out + outcome.err).split())
    assert "'elbow' has an effort limit of 400 N·m" in said and "passive = true" in said


@pytest.mark.parametrize("new", ["point-on-line", "spherical", "cylindrical", "universal", "prismatic"])
@pytest.mark.parametrize(
    "table",
    ['[[brake]]\njoint = "wrist"\ntorque = 5\n', '[[actuator]]\njoint = "wrist"\narmature = 0.1\n'],
    ids=["brake", "actuator"],
)
def test_a_brake_on_a_retyped_joint_is_refused(tmp_path: Path, new: str, table: str) -> None:
    file = palletiser.write(tmp_path, scene=ANY_PAIR.format("wrist", new) + table)
    if new == "prismatic":
        # it has one freedom, and the brake was written for it
        assert mb.load(file).mechanism.pair_by_name["wrist"].type == "prismatic"
        return
    with pytest.raises(BadScene, match="'wrist'") as error:
        mb.load(file)
    assert "freedoms" in error.value.what and error.value.where.endswith(tuple("0123456789"))
    assert call("lint", str(file)).code == 2


@pytest.mark.parametrize("table", ["driver", "lock"])
def test_drivers_and_locks_name_their_freedom_of_a_retyped_joint(tmp_path: Path, table: str) -> None:
    own = ANY_PAIR.format("wrist", "cylindrical")
    with pytest.raises(BadScene, match="2 freedoms"):
        mb.load(palletiser.write(tmp_path, scene=f'{own}[[{table}]]\njoint = "wrist"\n'))
    named = f'{own}[[{table}]]\njoint = "wrist"\nfreedoms = ["rz"]\n'
    assert mb.load(palletiser.write(tmp_path, scene=named))


def test_limits_mimics_and_transmissions_of_a_retyped_joint_are_refused(tmp_path: Path) -> None:
    own = ANY_PAIR.format("wrist", "spherical")
    with pytest.raises(BadScene, match="limits from -2 to 2 rad"):
        mb.load(palletiser.write(tmp_path, passive=BOUNDED, scene=own))
    # a cylindrical joint has the same angle, and its limits
    kept = mb.load(palletiser.write(tmp_path, passive=BOUNDED, scene=ANY_PAIR.format("wrist", "cylindrical")))
    assert [(f.lower, f.upper) for f in kept.mechanism.pair_by_name["wrist"].freedoms] == [
        (-np.inf, np.inf),
        (-2.0, 2.0),
    ]
    drive = '<transmission name="t"><joint name="wrist"/></transmission>'
    with pytest.raises(BadScene, match="a drive"):
        mb.load(palletiser.write(tmp_path, extra=drive, scene=own))
    free = mb.load(palletiser.write(tmp_path, extra=drive, scene=own + "passive = true\n"))
    assert free.actuated == () and free.mechanism.pair_by_name["wrist"].type == "spherical"
    mimic = '<limit effort="0" velocity="1"/><mimic joint="swing"/>'
    with pytest.raises(MbPluginError, match="coupling 'mimic wrist'"):
        mb.load(palletiser.write(tmp_path, passive=mimic, scene=own))


def test_a_passive_joint_has_no_brake_in_a_stop(tmp_path: Path) -> None:
    own = ANY_PAIR.format("elbow", "point-on-line") + "passive = true\n"
    stop = mb.estop(mb.load(palletiser.write(tmp_path, scene=own)), qd={"swing": 1.0}, duration=0.05)
    assert [brake.joint for brake in stop.scenario.brakes] == ["swing", "shoulder"]
    contradiction = own + '[[brake]]\njoint = "elbow"\ntorque = 5\n'
    with pytest.raises(BadScene, match="calls passive"):
        mb.load(palletiser.write(tmp_path, scene=contradiction))


def test_freedoms_of_a_retyped_pair_keep_their_direction() -> None:
    """With its axis turned to x the new rz is another motion: limits of the old one are not its own."""
    limited = mb.load(ASSETS / "arm_6r.urdf").mechanism.pairs
    pair: Pair = next(p for p in limited if p.type == "revolute")
    (own,) = pair.freedoms
    universal = pair.retyped("universal")
    assert universal.freedoms[0] == own and universal.freedoms[1].upper == np.inf
    turned = pair.retyped("cylindrical", np.array([1.0, 0.0, 0.0]))
    assert all(freedom.effort == np.inf for freedom in turned.freedoms)
    # the turn takes z to x, and with it the old axis to the new −x
    ball = pair.retyped("point-on-line", np.array([1.0, 0.0, 0.0]))
    by_name = dict(zip(ball.kind.free, ball.freedoms, strict=True))
    assert (by_name["rx"].lower, by_name["rx"].upper) == (-own.upper, -own.lower)


def test_a_stop_tells_of_an_effort_limit_that_gives_no_brake(tmp_path: Path) -> None:
    """A mechanism that a program has retyped."""
    scene = mb.load(palletiser.write(tmp_path))
    pairs = tuple(p.retyped("cylindrical") if p.name == "elbow" else p for p in scene.mechanism.pairs)
    stop = mb.estop(replace(scene.mechanism, pairs=pairs), qd={"swing": 1.0}, duration=0.02)
    assert "elbow: an effort limit, but 2 freedoms: no brake is assumed" in stop.notes


def test_an_actuator_of_mjcf_is_a_drive(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "arm.xml"
    body = (
        '<body><joint name="{0}" axis="0 1 0"/><geom size="0.1 0.2" type="capsule"/>'
        '<body pos="1 0 0"><joint name="{1}" axis="0 1 0"/><geom size="0.1 0.2" type="capsule"/>'
        "</body></body>"
    )
    file.write_text(
        f"<mujoco><worldbody>{body.format('a', 'b')}{body.format('c', 'd')}</worldbody>"
        '<tendon><fixed name="t"><joint joint="c" coef="1"/><joint joint="d" coef="1"/></fixed></tendon>'
        '<actuator><motor joint="b"/><motor tendon="t"/></actuator></mujoco>'
    )
    scene = mb.load(file)
    assert scene.actuated == ("b", "c", "d")
    assert {name: [duty.kind for duty in own] for name, own in duties(scene).items()} == {
        name: ["drive"] for name in "bcd"
    }
    # of two models in a scene the names get prefixes
    both = tmp_path / "both.scene.toml"
    both.write_text("".join(f'[[model]]\nfile = "arm.xml"\nname = "{n}"\n' for n in ("l", "r")))
    assert mb.load(both).actuated == ("l/b", "l/c", "l/d", "r/b", "r/c", "r/d")
