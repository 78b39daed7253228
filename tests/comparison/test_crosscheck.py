"""PyBullet's motions against ours: the verdicts, wrong models, and what cannot be compared."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import mbplugin as mb
from command_line import ROOT, call
from locked_mechanisms import pendulum_3r
from mbplugin.bullet import quiet, session
from mbplugin.comparison.agreement import Agreement, Curves, Row
from mbplugin.comparison.compare import Deviations, orders_of, rows_of
from mbplugin.constraints import DEFAULT_TOLERANCE
from mbplugin.errors import BadUsage
from mbplugin.model.mechanism import WORLD, KnifeEdge, Mechanism
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.spatial import Array, Pose, rotation_from_vector
from mbplugin.report.documents.motions import crosscheck_document
from mbplugin.report.text import plain_text
from mbplugin.report.text.models import crosscheck_lines
from models import body_at
from places import BULLET_DATA

IIWA = str(BULLET_DATA / "kuka_iiwa" / "model.urdf")
LINK, JOINT = "lbr_iiwa_link_4", "lbr_iiwa_joint_4"
STEPS = 0.01 / 2.0 ** np.arange(4)


def first_order(quantity: str, values: Array) -> Deviations:
    return Deviations(quantity, ("j",), ("rad",), np.array([0.5, 1.0]), values)


@pytest.mark.bullet
def test_the_published_pendulum_agrees_through_both_locks() -> None:
    mech, q = pendulum_3r()
    found = mb.crosscheck(mech, 2.0, q=q, locks=[mb.Lock("j2", 0.8), mb.Lock("j3", 1.3)])
    assert found.verdict == "agrees" and found.agrees
    assert len(found.orders) == 3 and all(0.7 < order < 1.3 for order in found.orders)
    assert found.steps == tuple(found.steps[0] / 2**k for k in range(4))
    quantities = {row.quantity for row in found.rows}
    assert {"mass matrix", "inverse dynamics", "reaction", "coordinate", "rate", "jump"} <= quantities
    jumps = [row for row in found.rows if row.quantity == "jump"]
    assert {row.element for row in jumps} == {f"j{k} at {t} s" for k in (1, 2, 3) for t in (0.8, 1.3)}
    assert all(0.7 < row.orders[-1] < 1.3 for row in jumps if row.orders)
    assert sum(bool(row.orders) for row in jumps) >= 5
    assert max(row.bound for row in found.rows if row.quantity == "coordinate") < 0.01


def wrong(scene: mb.Scene, **change: object) -> mb.Scene:
    """The scene with one link or joint made wrong."""
    mech = scene.mechanism
    if "mass" in change:
        bodies = tuple(replace(b, mass=1.01 * b.mass) if b.name == LINK else b for b in mech.bodies)
        return replace(scene, mechanism=replace(mech, bodies=bodies))
    turn = Pose(rotation_from_vector(np.radians([0.5, 0.0, 0.0])), np.zeros(3))
    pairs = tuple(
        replace(p, X_AP=p.X_AP @ turn, X_BS=p.X_BS @ turn) if p.name == JOINT else p for p in mech.pairs
    )
    return replace(scene, mechanism=replace(mech, pairs=pairs))


@pytest.mark.bullet
@pytest.mark.parametrize(
    ("what", "quantity", "element", "off"),
    [("mass", "mass", LINK, 0.027), ("axis", "joint axis", JOINT, np.radians(0.5))],
)
def test_a_wrong_model_is_found_before_it_moves(what: str, quantity: str, element: str, off: float) -> None:
    found = mb.crosscheck(wrong(mb.load(IIWA, base="fixed"), **{what: True}))
    assert found.verdict == "disagrees" and not found.steps
    assert f"{quantity} of {element!r}" in found.reason
    first = next(row for row in found.rows if not row.agrees)
    assert (first.quantity, first.element) == (quantity, element)
    assert first.deviation == pytest.approx(off, rel=1e-6)


@pytest.mark.bullet
def test_a_live_client_is_compared_as_it_is() -> None:
    scene = mb.load(IIWA, base="fixed")
    with session() as (bullet, client):
        with quiet():
            flags = bullet.URDF_USE_INERTIA_FROM_FILE
            body = bullet.loadURDF(IIWA, useFixedBase=True, flags=flags, physicsClientId=client)
        bullet.changeDynamics(body, 3, mass=2.7 * 1.01, physicsClientId=client)
        before = bullet.getJointStates(body, range(7), physicsClientId=client)
        found = mb.crosscheck(scene, against=client)
        assert bullet.getJointStates(body, range(7), physicsClientId=client) == before
    assert found.verdict == "disagrees"
    assert f"mass of {LINK!r}" in found.reason


@pytest.mark.bullet
def test_a_file_whose_meshes_are_not_found_is_compared_without_them(tmp_path: Path) -> None:
    text = Path(IIWA).read_text(encoding="utf-8").replace('filename="meshes/', 'filename="package://lost/')
    assert 'filename="meshes/' in Path(IIWA).read_text(encoding="utf-8") and "package://lost/" in text
    file = tmp_path / "lost.urdf"
    file.write_text(text.replace('<mass value="2.7"/>', '<mass value="2.727"/>', 1), encoding="utf-8")
    found = mb.crosscheck(mb.load(IIWA, base="fixed"), against=str(file))
    assert found.verdict == "disagrees" and "mass of 'lbr_iiwa_link_4' by 0.027 kg" in found.reason


@pytest.mark.bullet
def test_a_client_that_holds_other_models_besides_is_compared_by_the_names_of_ours() -> None:
    scene = mb.load(IIWA, base="fixed")
    with session() as (bullet, client):
        with quiet():
            flags = bullet.URDF_USE_INERTIA_FROM_FILE
            bullet.loadURDF(str(Path(IIWA).parents[1] / "plane.urdf"), physicsClientId=client)
            body = bullet.loadURDF(IIWA, useFixedBase=True, flags=flags, physicsClientId=client)
        bullet.changeDynamics(body, 3, mass=2.7 * 1.01, physicsClientId=client)
        found = mb.crosscheck(scene, 0.05, against=client)
        assert found.reason.startswith(f"the models differ: mass of {LINK!r} by 0.027 kg")
        with quiet():
            bullet.loadURDF(IIWA, [1, 0, 0], useFixedBase=True, flags=flags, physicsClientId=client)
        with pytest.raises(BadUsage, match="either may be 'lbr_iiwa'"):
            mb.crosscheck(scene, 0.05, against=client)


@pytest.mark.bullet
def test_a_model_without_the_names_of_ours_agrees_with_nothing(tmp_path: Path) -> None:
    arm = mb.load(ROOT / "assets" / "arm_6r.urdf", base="fixed")
    with pytest.raises(BadUsage, match="no moving body and no joint of 'arm_6r'"):
        mb.crosscheck(arm, 0.05, against=IIWA)
    text = (ROOT / "assets" / "arm_6r.urdf").read_text(encoding="utf-8")
    (tmp_path / "arm.urdf").write_text(text.replace('"forearm"', '"other"'), encoding="utf-8")
    found = mb.crosscheck(arm, 0.05, against=str(tmp_path / "arm.urdf"))
    assert found.verdict == "disagrees" and not found.steps
    assert found.reason.startswith(f"the models differ: mass of 'forearm' by {mass_of(arm, 'forearm'):.3g}")
    assert "PyBullet has no body 'forearm'" in found.notes


def mass_of(scene: mb.Scene, name: str) -> float:
    (mass,) = [body.mass for body in scene.mechanism.bodies if body.name == name]
    return mass


@pytest.mark.bullet
def test_what_pybullet_cannot_hold_is_a_sentence() -> None:
    flat = mb.crosscheck(mb.load(ROOT / "assets" / "four_wheel_robot.scene.toml"))
    assert flat.verdict == "not comparable" and not flat.agrees
    assert "in the xy plane" in flat.reason
    skate = KnifeEdge("blade", "b", np.zeros(3), np.array([0.0, 1.0, 0.0]))
    edge = mb.crosscheck(Mechanism("m", (body_at("b"),), pfaffians=(skate,)), 0.1)
    assert edge.reason == "PyBullet has no constraint for 'blade' (knife_edge)"
    ends = Pose.identity()
    ball = Pair("ball", "spherical", WORLD, "b", ends, ends, freedoms=(Freedom(friction=0.1),) * 3)
    rubbing = mb.crosscheck(Mechanism("m", (body_at("b"),), (ball,)), 0.1)
    assert rubbing.reason == "PyBullet has no motor for the friction of 'ball'"


TWO_PARENTS = """<robot name="r"><link name="a"/>{b}{c}
<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/></joint>
<joint name="k" type="continuous"><parent link="a"/><child link="c"/><origin xyz="1 0 0"/><axis xyz="0 1 0"/>
</joint>
<joint name="l" type="continuous"><parent link="b"/><child link="c"/><origin xyz="1 0 0"/><axis xyz="0 1 0"/>
</joint></robot>"""
LINK_TEXT = (
    '<link name="{}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'
    "</inertial></link>"
)


@pytest.mark.bullet
def test_a_file_that_pybullet_dies_of_is_a_note(tmp_path: Path) -> None:
    """Two joints with one child, which end PyBullet; we read them as a loop, and it is built."""
    file = tmp_path / "loop.urdf"
    file.write_text(TWO_PARENTS.format(b=LINK_TEXT.format("b"), c=LINK_TEXT.format("c")))
    found = mb.crosscheck(mb.load(file, base="fixed"), 0.1)
    assert any("the parameters of the file are not compared" in note for note in found.notes)
    assert found.agrees, found.reason


@pytest.mark.bullet
def test_a_mechanism_at_rest_is_told_to_be_one() -> None:
    found = mb.crosscheck(mb.load(ROOT / "tests" / "oracles" / "door_1_hinge.sdf"), 0.1)
    assert found.agrees and "neither moves" in found.reason


@pytest.mark.bullet
def test_a_step_that_is_too_long_is_not_asymptotic() -> None:
    mech, q = pendulum_3r()
    found = mb.crosscheck(mech, 1.5, q=q, step=0.2)
    assert found.verdict == "not asymptotic"
    assert found.steps[0] == 0.2 and "choose a smaller step" in found.reason


@pytest.mark.bullet
@pytest.mark.parametrize(("change", "words"), [
    ({"duration": 0.0}, "duration is 0"),
    ({"step": -1.0}, "the step is -1"),
    ({"iterations": 0}, "0 iterations"),
    ({"q": {"jx": 1.0}}, "jx"),
    ({"locks": [mb.Lock("jx", 0.1)]}, "jx"),
    ({"against": 77}, "no PyBullet client with id 77"),
    ({"against": "nowhere.urdf"}, "nowhere.urdf: no such file"),
    ({"against": str(ROOT / "assets")}, "this is a directory"),
    ({"against": str(ROOT / "assets" / "four_bar.scene.toml")}, "expected a URDF"),
    ({"step": 0.6}, "expected at most the duration, 0.5 s"),
])  # fmt: skip
def test_bad_requests(change: dict[str, object], words: str) -> None:
    with pytest.raises(mb.MbPluginError, match=words):
        mb.crosscheck(pendulum_3r()[0], **change)  # type: ignore[arg-type]


def test_an_exact_first_order_error_is_extrapolated_away() -> None:
    error = np.array([3.0, -2.0])[None, :, None] * STEPS[:, None, None]
    (row,) = rows_of(first_order("coordinate", error))
    assert row.agrees and row.deviation < 1e-15
    assert row.errors == pytest.approx(3.0 * STEPS)
    assert row.orders == pytest.approx((1.0,) * 3)
    assert orders_of([first_order("coordinate", error)]) == pytest.approx((1.0,) * 3)


def test_the_bound_is_six_times_what_a_smooth_error_leaves() -> None:
    error = STEPS[:, None, None] + 0.2 * STEPS[:, None, None] ** 2 * np.ones((4, 2, 1))
    (row,) = rows_of(first_order("coordinate", error))
    assert row.deviation == pytest.approx(0.4 * STEPS[3] ** 2)
    assert row.bound == pytest.approx(6 * row.deviation)


def test_an_error_that_stays_disagrees_and_is_dated() -> None:
    error = STEPS[:, None, None] + np.array([0.0, 1e-4])[None, :, None]
    (row,) = rows_of(first_order("coordinate", error))
    assert not row.agrees
    assert row.deviation == pytest.approx(1e-4)
    assert row.time == 1.0


def sample() -> Agreement:
    moved = Row("rate", "j$1", "rad/s", 1e-5, 1e-4, (0.8, 0.4, 0.2, 0.1), (1.0, 1.0, 1.0), 0.2)
    still = Row("mass", "<b>", "kg", 2.0, 1.0)
    time = np.linspace(0, 1, 9)
    curves = Curves(("j$1",), time, time[:, None], time[:, None] + 0.01)
    settings = {"iterations": 500.0, "residual_threshold": 0.0, "erp": 0.2}
    nan = float("nan")
    steps = (0.08, 0.04, 0.02, 0.01)
    return Agreement("disagrees", "why", (still, moved), steps, (nan,) * 3, 1.0, settings, ("note",), curves)


@pytest.mark.long
def test_the_report_follows_its_schema_and_names_what_is_off(tmp_path: Path) -> None:
    from mbplugin.report.documents.part import dumps

    document = json.loads(dumps(crosscheck_document(sample(), "x.urdf", ["x.urdf"])))
    jsonschema.validate(document, json.loads(call("schema", "crosscheck").out))
    assert document["orders"] == [None] * 3
    assert [row["agrees"] for row in document["rows"]] == [False, True]
    text = plain_text(crosscheck_lines(sample(), "m"))
    assert text.startswith("m: disagrees. Why.")
    (line,) = [line for line in text.splitlines() if "mass of <b>" in line]
    assert line.endswith("✗")
    picture = tmp_path / "x.png"
    sample().plot(picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    replace(sample(), rows=(), steps=(), curves=None).plot(picture)


@pytest.mark.bullet
@pytest.mark.long
def test_the_command_tells_by_its_exit_code(tmp_path: Path) -> None:
    scene = str(ROOT / "assets" / "arm_6r.scene.toml")
    # a duration at which a lock of ours comes a rounding before its time
    picture, out = tmp_path / "x.svg", tmp_path / "x.json"
    done = call(
        "crosscheck", scene, "--duration", "0.16", "--picture", str(picture),
        "--output-format", "json", "--output", str(out),
    )  # fmt: skip
    assert (done.code, done.out) == (0, "")
    found = json.loads(out.read_text())
    jsonschema.validate(found, json.loads(call("schema", "crosscheck").out))
    assert found["verdict"] == "agrees"
    assert found["tolerance"] == DEFAULT_TOLERANCE
    assert any("rotor inertias" in note for note in found["notes"])
    assert "svg" in picture.read_text()[:400]


@pytest.mark.bullet
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--stop", "0", "--duration", "1"), "--stop was given with"),
        (("--stop", "7"), "no stop category 7"),
        (("--payload", "3"), "--payload names no body"),
        (("--picture", "x.txt"), "cannot draw"),
        (("--against", "nowhere.urdf"), "nowhere.urdf"),
        (("--step", "0"), "the step is 0"),
    ],
)
def test_bad_command_lines(options: tuple[str, ...], words: str) -> None:
    done = call("crosscheck", IIWA, "--base", "fixed", *options)
    assert done.code == 2 and words in done.err
    assert done.err.count("\n") == 1


@pytest.mark.bullet
def test_products_of_inertia_that_bullet_does_not_turn_away_are_no_difference(tmp_path: Path) -> None:
    """The wheel of a public robot: Bullet stops below 1e-6 of the sum of the moments, 1e-8 kg·m² here."""
    wheel = (
        '<inertia ixx="0.00499743171" ixy="4.464e-08" ixz="-2.245e-08" iyy="0.00499741733" iyz="-1.64e-09" '
        'izz="0.00839239692"/>'
    )
    file = tmp_path / "wheel.urdf"
    file.write_text(
        '<robot name="cart"><link name="base"/><link name="wheel"><inertial><mass value="1.82362"/>'
        f'{wheel}</inertial></link><joint name="axle" type="continuous"><parent link="base"/>'
        '<child link="wheel"/><axis xyz="0 0 1"/></joint></robot>',
        encoding="utf-8",
    )
    found = mb.crosscheck(mb.load(file, base="fixed"))
    assert found.verdict == "agrees"
    (row,) = (row for row in found.rows if row.quantity == "inertia")
    assert 1e-9 < row.deviation < row.bound < 2e-8
