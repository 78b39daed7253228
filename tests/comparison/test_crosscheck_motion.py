"""PyBullet converges to our motion with first order: trees, loops, locks, brakes, drives, loads."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import mbplugin as mb
from locked_mechanisms import heavy
from mbplugin.comparison.agreement import Agreement
from mbplugin.dynamics.tree_model import joint_equations
from mbplugin.model.mechanism import Body, Coupling, Driver, Mechanism, Rolling, Term
from mbplugin.model.mechanism.pair import Freedom
from mbplugin.model.spatial import JointSpring, Spring, quaternion_from_rotation, rotation_from_vector
from mbplugin.readers import load
from models import chain
from places import BULLET_DATA, ROOT
from random_mechanisms import loop_mechanism
from states import random_states

pytestmark = pytest.mark.slow

ARM = ROOT / "assets" / "arm_6r.scene.toml"
IIWA = BULLET_DATA / "kuka_iiwa" / "model.urdf"
ORACLES = sorted((ROOT / "tests" / "oracles").glob("*.sdf"))


def require(found: Agreement, *, mujoco: str = "") -> None:
    """Both engines agree, or MuJoCo gives a reason why it cannot be compared, which has some words."""
    assert (found.engine, found.agrees) == ("PyBullet", True)
    second = found.second
    assert second is not None and second.engine == "MuJoCo"
    if mujoco:
        assert second.verdict == "not comparable" and mujoco in second.reason
    for one in (found,) if mujoco else (found, second):
        assert one.verdict == "agrees", one.reason
        assert len(one.orders) == 3
        assert all(0.7 < order < 1.3 for order in one.orders), one.orders


def mixed(types: tuple[str, ...], seed: int, **change: Any) -> Mechanism:
    """A chain on the ground with the joints of these types, and bodies whose weight is off their joints."""
    rng = np.random.default_rng(seed)
    mech, _ = chain(len(types), "revolute", rng)
    pairs = tuple(replace(p, type=kind, freedoms=()) for p, kind in zip(mech.pairs, types, strict=True))
    bodies = tuple(replace(b, p_LC=rng.uniform(-0.2, 0.2, 3)) for b in mech.bodies)
    return replace(mech, bodies=bodies, pairs=pairs, **change)


def rates(mech: Mechanism, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=len(mech.qd_names))


@pytest.mark.parametrize("locks", [(), (mb.Lock("lbr_iiwa_joint_2", 0.2), mb.Lock("lbr_iiwa_joint_4", 0.33))])
def test_an_iiwa_falls_and_is_locked(locks: tuple[mb.Lock, ...]) -> None:
    found = mb.crosscheck(mb.load(IIWA, base="fixed"), 0.5, q=np.linspace(0.2, 0.8, 7), locks=locks)
    require(found)
    assert {row.quantity for row in found.rows} >= {"mass", "joint axis", "mass matrix", "reaction"}


def test_the_spatial_parallelogram() -> None:
    require(mb.crosscheck(mb.load(ROOT / "assets" / "spatial_parallelogram.scene.toml"), 0.3))


def test_minitaur_with_closed_legs() -> None:
    """Angles are snapped in both models: as written, its feet hold by the rounding of its angles."""
    scene = load(ROOT / "assets" / "minitaur.scene.toml", snap_angles=True)
    motors = {name: 2.0 for name in scene.mechanism.qd_names if name.startswith("motor_front")}
    require(mb.crosscheck(scene, 0.1, qd=motors))


@pytest.mark.parametrize("kinds", [
    ("revolute", "prismatic", "revolute", "prismatic"),
    ("universal", "cylindrical", "revolute"),
    ("spherical", "planar", "revolute"),
    ("point-on-line", "screw"),
])  # fmt: skip
def test_chains_of_other_pairs(kinds: tuple[str, ...]) -> None:
    mech = mixed(kinds, 5)
    require(mb.crosscheck(mech, 0.4, qd=rates(mech)))


def test_a_free_floating_arm() -> None:
    mech = mixed(("revolute",) * 5, 6)
    mech = replace(mech, pairs=mech.pairs[1:])
    require(mb.crosscheck(mech, 0.5, qd=rates(mech)))


BRAKES = [
    {"joint": f"j{k}", "torque": torque, "viscous": viscous}
    for k, torque, viscous in ((1, 1500, 5), (2, 1500, 5), (3, 700, 3), (4, 100, 1), (5, 80, 1), (6, 50, 0.5))
]


@pytest.mark.parametrize("category", [0, 1])
def test_a_stop_with_sliding_brakes(category: int) -> None:
    """Joints slide, come to rest one after the other, and drives lead them first in category 1."""
    scene = mb.load(ARM)
    brakes = [{**brake, "delay": 0.01, "engagement": 0.01} for brake in BRAKES]
    qd = {"j1": 0.6, "j2": 0.3, "j3": 0.4, "j4": 0.2, "j5": 0.2, "j6": 0.3}
    ramps = {f"j{k}": 8.0 for k in range(1, 7)}
    stop = mb.estop(scene, qd=qd, category=category, brakes=brakes, decelerations=ramps)
    assert stop.outcome == "stopped"
    require(mb.crosscheck(stop))


def test_a_brake_that_is_a_thousandth_weaker_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    from mbplugin.comparison import agreement as crosscheck_setup

    real = crosscheck_setup.simulate
    weaker = [{**brake, "torque": 0.999 * brake["torque"]} for brake in BRAKES]
    monkeypatch.setattr(crosscheck_setup, "simulate", lambda *a, **k: real(*a, **{**k, "brakes": weaker}))
    task_of = crosscheck_setup._task
    arm = replace(mb.load(ARM), locks=())
    stated = real(arm, 1e-3, brakes=BRAKES, signal=0.0).actions.brakes
    monkeypatch.setattr(crosscheck_setup, "_task", lambda *a: replace(task_of(*a), brakes=stated))
    found = mb.crosscheck(arm, 0.03, brakes=BRAKES, signal=0.0)
    assert found.second is not None and not found.agrees
    for one in (found, found.second):
        assert one.verdict == "disagrees", one.reason


def test_brakes_in_a_motion() -> None:
    found = mb.crosscheck(replace(mb.load(ARM), locks=()), 0.3, brakes=BRAKES, signal=0.05)
    require(found)
    assert any("rotor inertias" in note for note in found.notes)


def test_loads_payloads_torques_and_springs() -> None:
    mech = mixed(("revolute", "prismatic", "universal"), 8)
    freedoms = (Freedom(damping=0.3, friction=0.2),)
    mech = replace(mech, pairs=(replace(mech.pairs[0], freedoms=freedoms), *mech.pairs[1:]))
    scene = replace(
        mb.load(ORACLES[0]),
        mechanism=mech,
        state=replace(mb.load(ORACLES[0]).state, q=np.full(4, 0.1), qd=rates(mech)),
        springs=(
            Spring("world", "b2", np.zeros(3), np.array([0.1, 0.0, 0.2]), 40.0, 0.3, 2.0),
            JointSpring("j0", 3.0, 0.5),
        ),
    )
    found = mb.crosscheck(
        scene,
        0.3,
        loads=[
            {"body": "b1", "force": [3, 1, -2], "torque": [0.2, -0.3, 0.1], "point": [0.1, 0.2, 0.0]},
            {"body": "b2", "force": [1, 0, 2], "torque": [0, 0.1, 0], "point": [0, 0, 0.1], "frame": "body"},
        ],
        payloads=[{"body": "b2", "mass": 0.7, "com": [0.0, 0.1, 0.2]}],
        torques={"j1": 2.0, "j2.rx": 0.1},
    )
    require(found)


def test_a_driver_and_a_gear() -> None:
    mech = mixed(("revolute", "revolute", "revolute"), 9)
    gear = Coupling("gear", "gear", (Term("j1", "rz", 1.0), Term("j2", "rz", 2.5)))
    mech = replace(mech, couplings=(gear,), drivers=(Driver("motor", "j0", rate=0.5, acceleration=2.0),))
    require(mb.crosscheck(mech, 0.4))


def test_a_lock_that_opens_again() -> None:
    mech = mixed(("revolute",) * 3, 4)
    require(mb.crosscheck(mech, 0.5, qd=rates(mech), locks=[mb.Lock("j1", 0.1, until=0.3)]))


@pytest.mark.parametrize("file", ORACLES, ids=lambda f: f.stem)
def test_every_oracle_moves_alike(file: Path) -> None:
    scene = mb.load(file)
    mech = scene.mechanism
    p = joint_equations(mech, scene.state.q, scene.state.qd).degree_of_redundancy
    ((q, qd),) = random_states(mech, scene.state.q, 1, redundancy=p, seed=3)
    pulled = replace(mech, gravity=np.array([3.0, -7.0, -5.0]))
    require(mb.crosscheck(replace(scene, mechanism=pulled), 0.2, q=q, qd=qd))


FOUR_BAR_MJCF = """
<mujoco><compiler angle="radian"/><worldbody>
  <body name="crank"><inertial pos="0 .25 0" mass="1" diaginertia=".02 .02 .02"/>
    <joint name="a" type="hinge" axis="0 0 1"/>
    <body name="coupler" pos="0 .5 0"><inertial pos=".5 0 0" mass="2" diaginertia=".1 .1 .1"/>
      <joint name="b" type="hinge" axis="0 0 1"/></body></body>
  <body name="rocker" pos="1 0 0"><inertial pos="0 .25 0" mass="1" diaginertia=".02 .02 .02"/>
    <joint name="d" type="hinge" axis="0 0 1"/></body>
</worldbody><equality><connect body1="coupler" body2="rocker" anchor="1 0 0"/>{more}</equality></mujoco>
"""


@pytest.mark.parametrize("more", ["", '<joint joint1="a" joint2="d" polycoef="0 1 0 0 0"/>'])
def test_an_mjcf_with_equalities(tmp_path: Path, more: str) -> None:
    pytest.importorskip("mujoco")
    file = tmp_path / "bar.xml"
    file.write_text(FOUR_BAR_MJCF.format(more=more))
    scene = mb.load(file)
    assert [p for p in scene.mechanism.pairs if p.closure]
    scene = replace(scene, mechanism=replace(scene.mechanism, gravity=np.array([3.0, -9.81, 0.0])))
    require(mb.crosscheck(scene, 0.3, qd={"a": 1.0}))


@pytest.mark.parametrize("kind", ["planar", "spherical", "generic"])
@pytest.mark.parametrize("seed", [50, 51])
def test_random_mechanisms_with_loops(kind: str, seed: int) -> None:
    """Any pairs in the tree, any that PyBullet has or has in halves as closures, bodies of any inertia."""
    mech, q = loop_mechanism(seed, 1 + seed % 2, kind)
    mech = replace(heavy(mech, seed), gravity=np.array([2.0, -3.0, -6.0]))
    p = joint_equations(mech, q, np.zeros(len(mech.qd_names))).degree_of_redundancy
    ((q, qd),) = random_states(mech, q, 1, redundancy=p, seed=seed)
    require(mb.crosscheck(mech, 0.2, q=q, qd=qd))


@pytest.mark.parametrize(
    ("file", "mujoco"),
    [("humanoid/humanoid.urdf", ""), ("laikago/laikago.urdf", "'chassis' moves"), ("a1/a1.urdf", "")],
)
def test_robots_of_pybullet(file: str, mujoco: str) -> None:
    scene = mb.load(IIWA.parent.parent / file)
    rates = 0.5 * np.random.default_rng(1).normal(size=len(scene.mechanism.qd_names))
    require(mb.crosscheck(scene, 0.1, qd=rates), mujoco=mujoco)


def test_a_coin_that_rolls_and_wobbles() -> None:
    """Its rim touches a plane without sinking or slipping: PyBullet holds the lowest point at every step."""
    radius, R = 0.2, rotation_from_vector(np.array([0.3, 0.0, 0.0]))
    coin = Body("coin", 1.0, np.zeros(3), np.diag([0.01, 0.02, 0.01]))
    rim = Rolling("rim", "coin", np.zeros(3), np.array([0.0, 1.0, 0.0]), radius)
    mech = Mechanism("coin", (coin,), (), pfaffians=(rim,))
    down = -R[:, 2]
    omega = R @ np.array([0.5, 8.0, 1.0])
    q = np.concatenate(([0.0, 0.0, -radius * down[2]], quaternion_from_rotation(R)))
    found = mb.crosscheck(mech, 0.6, q=q, qd=np.concatenate((-radius * np.cross(omega, down), omega)))
    require(found, mujoco="velocity constraint: rim")
    assert found.curves is not None and np.ptp(found.curves.ours[:, 2]) > 0.02


def test_husky_is_pushed_on_its_four_wheels() -> None:
    push = {"body": "base_link", "force": [60, 0, 0], "torque": [0, 0, 0], "point": [0, 0, 0]}
    found = mb.crosscheck(mb.load(ROOT / "assets" / "husky.scene.toml"), 0.3, loads=[push])
    require(found, mujoco="4 velocity constraints")
    assert found.curves is not None and found.curves.ours[-1, 0] > 0.02


def test_a_motion_that_differs_is_found_where_and_when(monkeypatch: pytest.MonkeyPatch) -> None:
    """Our motion with a link that is 1 % heavier, past the comparison of the models."""
    from mbplugin.comparison import agreement as crosscheck_setup

    mech = mixed(("revolute",) * 3, 7)
    heavier = tuple(replace(b, mass=1.01 * b.mass) if b.name == "b2" else b for b in mech.bodies)
    real = crosscheck_setup.simulate

    def simulate(mech: Mechanism, duration: float, **stated: Any) -> Any:
        # forces at rest come from a motion of a moment
        return real(mech if duration < 1e-6 else replace(mech, bodies=heavier), duration, **stated)

    monkeypatch.setattr(crosscheck_setup, "simulate", simulate)
    found = mb.crosscheck(mech, 0.5, step=0.002)
    assert found.second is not None
    for one in (found, found.second):
        assert one.verdict == "disagrees" and "they part at" in one.reason
        off = {row.element for row in one.rows if not row.agrees}
        assert {"j0", "j1", "j2"} <= off


def test_a_naive_lock_is_found_to_part_at_the_lock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were our locks the usual shortcut, the cross-check would tell the joint and the time."""
    from mbplugin.comparison import agreement as crosscheck_setup

    real = crosscheck_setup.simulate
    monkeypatch.setattr(crosscheck_setup, "simulate", lambda *a, **k: real(*a, **k, transition="naive"))
    scene = replace(mb.load(ARM), actuators=())
    found = mb.crosscheck(scene, 0.2, step=0.002)
    assert found.second is not None
    for one in (found, found.second):
        assert one.verdict == "disagrees"
        off = [row for row in one.rows if row.quantity == "jump" and not row.agrees]
        assert off and {row.element.split(" at ")[1] for row in off} <= {"0.05 s", "0.1 s", "0.15 s"}
