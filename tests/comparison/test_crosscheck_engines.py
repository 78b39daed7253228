"""A cross-check with PyBullet, with MuJoCo, and with both: what is asked, and what the answers say together."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import mbplugin as mb
from command_line import ROOT, call
from mbplugin.comparison import mujoco_motion, run
from mbplugin.comparison.agreement import Agreement, of_motion
from mbplugin.errors import MissingDependency
from mbplugin.model.mechanism import Mechanism
from mbplugin.model.mechanism.kinematics import forward
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.report.documents.motions import crosscheck_document
from mbplugin.report.documents.part import dumps
from mbplugin.report.html.chapters import Chapter
from mbplugin.report.html.compared import agreement_section
from mbplugin.report.html.view import grade
from mbplugin.report.text import plain_text
from mbplugin.report.text.models import crosscheck_lines
from models import chain

pytest.importorskip("mujoco")
FOUR_BAR = ROOT / "assets" / "four_bar.scene.toml"
SCHEMA = json.loads((ROOT / "docs" / "crosscheck.schema.json").read_text())


def hide(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a package count as not installed."""
    word = {"pybullet": "pybullet", "mujoco": "mujoco"}[package]
    engine = run.ENGINES[word]  # type: ignore[index]
    hidden = replace(engine, package="no_such_package")
    monkeypatch.setattr(run, "ENGINES", {**run.ENGINES, word: hidden})


@pytest.mark.bullet
def test_both_engines_are_asked_by_default() -> None:
    found = mb.crosscheck(FOUR_BAR, 0.1)
    assert found.second is not None and found.second.second is None
    assert [(one.engine, one.verdict) for one in (found, found.second)] == [
        ("PyBullet", "agrees"),
        ("MuJoCo", "agrees"),
    ]
    # the motions are their own
    assert found.curves is not None and found.second.curves is not None
    assert not np.array_equal(found.curves.bullet, found.second.curves.bullet)
    text = plain_text(crosscheck_lines(found, "four_bar")).splitlines()
    assert text[0] == "! assumed: no drive acts on 1 joint (--torque, --lock, --profile)."
    for engine in ("PyBullet", "MuJoCo"):
        assert any(line.startswith(f"four_bar, {engine}: agrees.") for line in text[:5])
    document = crosscheck_document(found, "x", ())
    jsonschema.validate(json.loads(dumps(document)), SCHEMA)
    assert document["engine"] == "PyBullet" and document["second"]["engine"] == "MuJoCo"


def test_where_pybullet_is_not_installed_mujoco_is_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    hide("pybullet", monkeypatch)
    found = mb.crosscheck(FOUR_BAR, 0.1)
    assert (found.engine, found.verdict, found.second) == ("MuJoCo", "agrees", None)
    assert all("PyBullet" not in text for text in (found.reason, *found.notes))
    with pytest.raises(MissingDependency, match="a model of PyBullet to compare with needs PyBullet"):
        mb.crosscheck(FOUR_BAR, 0.1, against=0)
    hide("mujoco", monkeypatch)
    with pytest.raises(MissingDependency, match="a cross-check needs PyBullet or MuJoCo"):
        mb.crosscheck(FOUR_BAR, 0.1)


def test_mujoco_alone_follows_the_schema_and_names_itself(tmp_path: Path) -> None:
    file = tmp_path / "out.json"
    done = call("crosscheck", str(FOUR_BAR), "--engine", "mujoco", "--duration", "0.1", "--output", str(file))
    assert done.code == 0
    document = json.loads(file.read_text())
    jsonschema.validate(document, SCHEMA)
    assert document["engine"] == "MuJoCo" and "second" not in document
    assert document["solver"] == {"erp": 0.2}
    assert (
        call("crosscheck", str(FOUR_BAR), "--engine", "mujco").err.strip().endswith("did you mean 'mujoco'?")
    )
    both = call("crosscheck", str(FOUR_BAR), "--engine", "mujoco", "--against", "x.urdf")
    assert both.code == 2 and "against was given with MuJoCo" in both.err


def test_a_second_engine_that_disagrees_is_read_first_and_fails_the_check() -> None:
    first = Agreement("agrees", "PyBullet converges to our motion")
    second = Agreement("disagrees", "they part at 0.1 s", engine="MuJoCo")
    both = replace(first, second=second)
    assert not both.agrees and first.agrees
    assert plain_text(crosscheck_lines(both, "arm")).startswith("arm, MuJoCo: disagrees. They part at 0.1 s.")
    chapter = Chapter(title="arm", agreement=both)
    assert grade(chapter) == "bad"
    assert "MuJoCo: disagrees. They part at 0.1 s." in str(agreement_section(chapter))
    # one that cannot be compared takes nothing from the first
    assert replace(first, second=replace(second, verdict="not comparable")).agrees


DRAWER = """
[[body]]
name = "drawer"
mass = 2
inertia = [0.1, 0.1, 0.1]

[[pair]]
name = "guide"
type = "prismatic"
body_a = "world"
body_b = "drawer"
xyz_a = [0, 0, 0]
axis = [1, 0, 0]
friction_coefficient = 0.3
"""


@pytest.mark.bullet
@pytest.mark.long
def test_an_engine_that_can_model_the_mechanism_judges(tmp_path: Path) -> None:
    """A drawer brakes by 0.3 of its weight: PyBullet has no friction that grows with the load, MuJoCo gets it."""
    scene = tmp_path / "drawer.scene.toml"
    scene.write_text(DRAWER)
    given = ("crosscheck", str(scene), "--qd", "guide=1", "--duration", "0.2")
    done = call(*given)
    assert done.code == 0, done.out
    first, *more = done.out.splitlines()
    assert first.startswith(
        "drawer, MuJoCo: agrees. PyBullet cannot model it, so MuJoCo judges: MuJoCo converges"
    )
    assert any(line.startswith("drawer, PyBullet: not comparable.") for line in more[:4])
    found = mb.crosscheck(scene, 0.2, qd={"guide": 1.0})
    assert found.curves is not None and found.agrees and found.second is not None
    assert found.curves.ours[-1, 0] == pytest.approx(0.2 - 0.5 * 0.3 * 9.81 * 0.2**2, abs=1e-6)
    assert not found.left_out and "grows with" in found.second.left_out[0]
    document = crosscheck_document(found, "x", ())
    jsonschema.validate(json.loads(dumps(document)), SCHEMA)
    assert (document["engine"], document["second"]["engine"]) == ("MuJoCo", "PyBullet")
    # what is asked for by name is not replaced
    assert call(*given, "--engine", "pybullet").code == 1


def test_the_order_stays_where_the_second_engine_decides_nothing_either() -> None:
    second = Agreement("not comparable", "a knife edge", engine="MuJoCo", left_out=("a knife edge",))
    first = replace(second, engine="PyBullet", second=second)
    assert run._judged_by_the_able(first) is first
    # an engine that ran out of time can model the mechanism
    late = replace(first, left_out=(), second=replace(second, verdict="agrees", left_out=()))
    assert run._judged_by_the_able(late) is late


def damped(mech: Mechanism, damping: float) -> Mechanism:
    freedoms = (Freedom(damping=damping),)
    return replace(mech, pairs=tuple(replace(pair, freedoms=freedoms) for pair in mech.pairs))


@pytest.mark.parametrize("damping", [0.1, 10.0, 100.0])
def test_dampers_of_any_strength_and_a_lock(damping: float) -> None:
    """Stiff dampers would make an explicit method diverge, and have no part in the impulses of a lock."""
    mech, _ = chain(3, "revolute", np.random.default_rng(3))
    found = mb.crosscheck(
        damped(mech, damping), 0.3, qd=[1.0, -0.5, 2.0], locks=[mb.Lock("j1", 0.1)], engine="mujoco"
    )
    assert found.verdict == "agrees", found.reason
    jumps = [row for row in found.rows if row.quantity == "jump"]
    assert len(jumps) == 3 and all(row.agrees for row in jumps)


def test_dampers_are_implicit() -> None:
    """With explicit ones a step of 5 ms diverges."""
    mech, _ = chain(3, "revolute", np.random.default_rng(3))
    found = mb.crosscheck(damped(mech, 1000.0), 0.32, qd=[1.0, -0.5, 2.0], step=0.005, engine="mujoco")
    assert found.verdict == "agrees", found.reason


def test_what_mujoco_cannot_have_is_named() -> None:
    mech, _ = chain(2, "spherical", np.random.default_rng(3))
    turning = tuple(replace(pair, freedoms=(Freedom(damping=0.2),) * 3) for pair in mech.pairs)
    found = mb.crosscheck(replace(mech, pairs=turning), 0.1, engine="mujoco")
    assert found.verdict == "not comparable" and "the damping of 'j0'" in found.reason
    locked = mb.crosscheck(mech, 0.1, locks=[mb.Lock("j1", 0.05)], engine="mujoco")
    assert locked.verdict == "not comparable"
    assert locked.reason == ["MuJoCo has no single joint for the lock of 'j1'", " 0 more of this kind)"][0]


def test_the_start_is_ours_whatever_turns() -> None:
    """Positions and rates that MuJoCo is given are those that it tells, for balls and free bodies as well."""
    mech, _ = chain(3, "spherical", np.random.default_rng(5))
    loose = replace(mech, pairs=mech.pairs[1:])
    rng = np.random.default_rng(6)
    for one in (mech, loose):
        qd = rng.normal(size=len(one.qd_names))
        task = of_motion(one, 0.1, None, None, locks=(), qd=qd).task
        q, back, p_WC, _ = mujoco_motion._state(mujoco_motion._made(task))
        assert back == pytest.approx(qd, abs=1e-9)
        assert np.abs(q) == pytest.approx(np.abs(task.q), abs=1e-9)
        assert np.isfinite(p_WC).all()


@pytest.mark.parametrize("massless", [False, True])
def test_a_free_body_is_where_it_is_whatever_it_carries(massless: bool) -> None:
    """Payloads, and masses that a root without one takes over, move its centre of mass, not the body."""
    mech, _ = chain(3, "revolute", np.random.default_rng(5))
    root = mech.pairs[0].body_b
    loose = replace(mech, pairs=mech.pairs[1:])
    if massless:
        bodies = (replace(b, mass=0.0, I_C=np.zeros((3, 3))) if b.name == root else b for b in loose.bodies)
        tied = replace(loose.pairs[0], type="fixed", freedoms=())
        loose = replace(loose, bodies=tuple(bodies), pairs=(tied, *loose.pairs[1:]))
    payload = [{"body": loose.pairs[-1].body_b if massless else root, "mass": 3.0, "com": [0.3, -0.2, 0.1]}]
    qd = np.random.default_rng(6).normal(size=len(loose.qd_names))
    task = of_motion(loose, 0.1, None, None, locks=(), qd=qd, payload=payload).task
    q, back, p_WC, _ = mujoco_motion._state(mujoco_motion._made(task))
    assert back == pytest.approx(qd, abs=1e-9) and q == pytest.approx(task.q, abs=1e-9)
    assert p_WC == pytest.approx(forward(loose, task.q).p_WC, abs=1e-9)
    found = mb.crosscheck(loose, 0.2, qd=qd, payload=payload, engine="mujoco")
    assert found.verdict == "agrees", found.reason


def test_what_mujoco_refuses_is_a_verdict() -> None:
    """Two joints of MuJoCo get the same name."""
    mech, _ = chain(2, "revolute", np.random.default_rng(5))
    kinds, names = ("cylindrical", "revolute"), ("a", "a.rz")
    pairs = tuple(
        replace(pair, name=name, type=kind, freedoms=())
        for pair, name, kind in zip(mech.pairs, names, kinds, strict=True)
    )
    found = mb.crosscheck(replace(mech, pairs=pairs), 0.1, engine="mujoco")
    assert found.verdict == "not comparable"
    assert found.reason.startswith("MuJoCo refuses the model: ") and "a.rz" in found.reason
