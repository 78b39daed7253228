"""What is stated holds exactly, the rest follows, and what contradicts itself is refused: in every format and function.

Expected numbers are those of the textbook: the velocity equations of a four-bar, v = ω r of wheels, the factor and the
offset of a mimic joint.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

import mbplugin as mb
from command_line import call
from mbplugin.constraints.reduction import body_twists
from mbplugin.constraints.stated_state import consistent_state
from mbplugin.errors import ContradictedState
from mbplugin.joint_reactions import JointMotion
from mbplugin.model.mechanism import WORLD, Coupling, Mechanism, Rolling, Term
from mbplugin.model.mechanism.kinematics import displace, forward, home, rate_units
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import Request, Scene, State
from mbplugin.model.spatial import Array, Pose
from mbplugin.readers import load
from mbplugin.readers.scene_file.reader import read_scene
from models import body_at, pose_at
from places import ASSETS
from random_mechanisms import loop_mechanism, reordered
from scaled import scaled, scaled_coordinates

#: Crank, coupler, rocker and ground of the four-bar among the assets, m.
CRANK, COUPLER, ROCKER, GROUND = 0.3, 0.5, 0.75, 0.85
#: What a simulator leaves open, rad.
OFF = np.array([0.0, 2e-4, 0.0])
LOOP = f"""
[[model]]
file = "{ASSETS / "four_bar.urdf"}"
base = "fixed"
[[closure]]
name = "j3"
type = "revolute"
body_a = "rocker"
body_b = "ground"
xyz_a = [0.75, 0, 0]
xyz_b = [0.85, 0, 0]
axis = [0, -1, 0]
"""
TWO_DISCS = """
gravity = [0, 0, 0]
body = [{name="a", mass=1, inertia=[1,1,0.4]}, {name="b", mass=1, inertia=[1,1,0.3]}]
pair = [{name="j0", type="revolute", body_a="world", body_b="a", xyz_a=[0,0,0]},
        {name="j1", type="revolute", body_a="world", body_b="b", xyz_a=[1,0,0], xyz_b=[0,0,0]}]
coupling = [{name="c", type="mimic", joint="j1", of="j0", ratio=-2.0, offset=0.3}]
brake = [{joint="j0", torque=3.0}, {joint="j1", torque=1.0}]
"""
CART = """
gravity = [0, 0, -9.81]
body = [{name="c", mass=10, xyz=[0,0,0.1], inertia=[0.2,0.3,0.4]},
        {name="wl", mass=1, xyz=[0,0.2,0.1], inertia=[3e-3,5e-3,3e-3]},
        {name="wr", mass=1, xyz=[0,-0.2,0.1], inertia=[3e-3,5e-3,3e-3]}]
pair = [{name="base", type="planar", body_a="world", body_b="c", xyz_a=[0,0,0.1]},
        {name="l", type="revolute", body_a="c", body_b="wl", xyz_a=[0,0.2,0], axis=[0,1,0]},
        {name="r", type="revolute", body_a="c", body_b="wr", xyz_a=[0,-0.2,0], axis=[0,1,0]}]
pfaffian = [{name="L", type="rolling", body="wl", radius=0.1, axis=[0,1,0]},
            {name="R", type="rolling", body="wr", radius=0.1, axis=[0,1,0]}]
brake = [{joint="l", torque=1.0, delay=0.05, engagement=0}, {joint="r", torque=1.0, delay=0.05, engagement=0}]
"""


def read(text: str) -> Scene:
    return read_scene(text, Request("s.toml", text=text))


def state(text: str) -> dict[str, tuple[float, float]]:
    """Coordinate and rate of every single-freedom joint at the start of a motion."""
    scene = read(text)
    motion = mb.simulate(scene, 1e-6)
    q = dict(zip(scene.mechanism.q_names, motion.q[0].tolist(), strict=True))
    return {
        n: (q[n], v) for n, v in zip(scene.mechanism.qd_names, motion.qd[0].tolist(), strict=True) if n in q
    }


def four_bar_pose(crank: float) -> np.ndarray:
    """The joints (3,) at a crank angle, rad, elbow up, by the cosine law."""
    tip = CRANK * np.array([np.cos(crank), np.sin(crank)])
    to_ground = np.array([GROUND, 0.0]) - tip
    reach = np.hypot(*to_ground)
    inside = np.arccos((COUPLER**2 + reach**2 - ROCKER**2) / (2 * COUPLER * reach))
    coupler = np.arctan2(to_ground[1], to_ground[0]) + inside
    elbow = tip + COUPLER * np.array([np.cos(coupler), np.sin(coupler)])
    return np.array([crank, coupler - crank, np.arctan2(-elbow[1], GROUND - elbow[0]) - coupler])


def four_bar_rates(pose: np.ndarray, crank: float) -> np.ndarray:
    """The joint rates (3,) at a rate of the crank: a ω₁ e^{iθ₁} + b ω₂ e^{iθ₂} + c ω₃ e^{iθ₃} = 0."""
    one, two, three = np.cumsum(pose)
    coupler = -CRANK * crank * np.sin(one - three) / (COUPLER * np.sin(two - three))
    rocker = -CRANK * crank * np.sin(one - two) / (ROCKER * np.sin(three - two))
    return np.array([crank, coupler - crank, rocker - coupler])


def agreeing(error: Exception, name: str) -> float:
    """The value of a joint that an error says would agree."""
    expected = str(error).split("expected ")[1]
    return float(re.search(rf"{re.escape(name)} = (\S+?)[,;]? ", expected)[1])  # type: ignore[index]


@pytest.mark.parametrize("joint", [0, 1, 2])
def test_the_rate_of_any_joint_of_a_four_bar_leads(joint: int) -> None:
    pose = four_bar_pose(1.2)
    unit = four_bar_rates(pose, 1.0)
    by_hand = -3.0 / unit[joint] * unit
    found = state(LOOP + f"[state.q]\nj0 = 1.2\n[state.qd]\nj{joint} = -3.0\n")
    assert [found[f"j{k}"][0] for k in range(3)] == pytest.approx(pose, abs=1e-9)
    assert [found[f"j{k}"][1] for k in range(3)] == pytest.approx(by_hand, rel=1e-9)
    assert found[f"j{joint}"][1] == pytest.approx(-3.0, abs=1e-12)


@pytest.mark.parametrize("joint", [0, 1, 2])
def test_the_coordinate_of_any_joint_of_a_four_bar_leads(joint: int) -> None:
    """From a pose 0.05 rad away, the one coordinate that is stated decides the others."""
    goal = four_bar_pose(1.25)
    scene = read(LOOP + "[state.q]\nj0 = 1.2\n")
    near = dict(zip(("j0", "j1", "j2"), four_bar_pose(1.2), strict=True))
    scene = replace(scene, state=State(np.array(list(near.values())), np.zeros(3)))
    found = mb.analyze(scene, {f"j{joint}": float(goal[joint])})
    assert found.q == pytest.approx(goal, abs=1e-8)


def test_coordinates_and_rates_of_a_four_bar_that_contradict_each_other_are_refused_with_those_that_agree() -> (
    None
):
    pose = four_bar_pose(1.2)
    with pytest.raises(ContradictedState) as caught:
        state(LOOP + "[state.q]\nj0 = 1.2\nj1 = -0.5\n")
    assert "j0 = 1.2, j1 = -0.5 contradict each other through constraint 'j3'" in str(caught.value)
    assert agreeing(caught.value, "j1") == pytest.approx(pose[1], abs=1e-8)
    assert four_bar_pose(agreeing(caught.value, "j0"))[1] == pytest.approx(-0.5, abs=1e-8)
    rates = four_bar_rates(pose, 2.0)
    with pytest.raises(ContradictedState) as caught:
        state(LOOP + "[state.q]\nj0 = 1.2\n[state.qd]\nj0 = 2.0\nj2 = 1.0\n")
    assert "j0 = 2, j2 = 1 contradict each other" in str(caught.value)
    assert agreeing(caught.value, "j2") == pytest.approx(rates[2], rel=1e-8)
    assert agreeing(caught.value, "j0") == pytest.approx(2.0 / rates[2], rel=1e-8)


def test_a_dead_centre_lets_no_rocker_rate_pass() -> None:
    """Crank and coupler in line: the rocker's pin turns back, whatever the crank does."""
    reach = COUPLER + CRANK
    angle = float(np.arccos((reach**2 + GROUND**2 - ROCKER**2) / (2 * reach * GROUND)))
    elbow = reach * np.array([np.cos(angle), np.sin(angle)])
    rocker = float(np.arctan2(-elbow[1], GROUND - elbow[0]) - angle)
    q = f"[state.q]\nj0 = {angle!r}\nj1 = 0.0\nj2 = {rocker!r}\n"
    found = state(LOOP + q + "[state.qd]\nj0 = 2.0\n")
    # the rocker rests: ω₃ = 0 and a ω₁ + b ω₂ = 0
    assert found["j1"][1] == pytest.approx(-2.0 * (1 + CRANK / COUPLER), abs=1e-6)
    assert found["j2"][1] == pytest.approx(2.0 * CRANK / COUPLER, abs=1e-6)
    # the same loop, cut at another joint, so that the rocker's pin has a coordinate
    mech = read(LOOP + q).mechanism
    pairs = tuple(replace(p, closure=p.name == "j2") for p in mech.pairs)
    other = replace(mech, pairs=pairs)
    closed = mb.analyze(other, {"j0": angle, "j1": 0.0}).q
    with pytest.raises(ContradictedState, match="has j3 = 1: it is locked or at a dead centre"):
        mb.simulate(other, 1e-6, q0=closed, qd0={"j3": 1.0})


def test_wheels_lead_their_base() -> None:
    """v = ω r and ψ̇ = r (ω_r − ω_l) / track."""
    for left, right in ((20.0, 20.0), (20.0, 0.0), (-5.0, 7.5)):
        scene = read(CART + f"[state.qd]\nl = {left}\nr = {right}\n")
        motion = mb.simulate(scene, 1e-6)
        rates = dict(zip(scene.mechanism.qd_names, motion.qd[0].tolist(), strict=True))
        assert (rates["l"], rates["r"]) == pytest.approx((left, right), abs=1e-12)
        assert rates["base.tx"] == pytest.approx(0.1 * (left + right) / 2, abs=1e-9)
        assert rates["base.ty"] == pytest.approx(0.0, abs=1e-9)
        assert rates["base.rz"] == pytest.approx(0.1 * (right - left) / 0.4, abs=1e-9)


def test_one_wheel_that_is_stated_turns_the_base_about_the_other_one() -> None:
    scene = read(CART + "[state.qd]\nl = 20.0\n")
    rates = dict(zip(scene.mechanism.qd_names, mb.simulate(scene, 1e-6).qd[0].tolist(), strict=True))
    assert rates["r"] == pytest.approx(0.0, abs=1e-9)
    assert rates["base.rz"] == pytest.approx(-0.1 * 20.0 / 0.4, abs=1e-9)


def test_a_base_that_is_stated_leads_its_wheels_and_wheels_that_slip_are_refused() -> None:
    scene = read(CART + '[state.qd]\n"base.tx" = 1.5\n')
    rates = dict(zip(scene.mechanism.qd_names, mb.simulate(scene, 1e-6).qd[0].tolist(), strict=True))
    assert (rates["l"], rates["r"]) == pytest.approx((15.0, 15.0), abs=1e-9)
    with pytest.raises(ContradictedState, match=r"base\.tx = 1, .*contradict each other"):
        mb.simulate(read(CART + '[state.qd]\nl = 20.0\nr = 20.0\n"base.tx" = 1.0\n"base.rz" = 0.0\n'), 1e-6)


def test_a_stop_of_wheels_goes_as_far_as_v_r_says() -> None:
    """2 m/s for the delay of 0.05 s, then 2 · 1 N·m on the wheels of 0.1 m against 12 kg and two wheels' inertia."""
    stop = mb.estop(read(CART + "[state.qd]\nl = 20.0\nr = 20.0\n"))
    mass = 12 + 2 * 5e-3 / 0.1**2
    assert stop.tool.distance == pytest.approx(2 * 0.05 + 2.0**2 / (2 * 20 / mass), rel=1e-6)


@pytest.mark.parametrize(
    ("stated", "expected"),
    [
        ("", (0.0, 0.3)),
        ("q = {j0 = 0.2}", (0.2, 0.3 - 0.4)),
        ("q = {j1 = -0.5}", (0.4, -0.5)),
        ("q = {j0 = 0.2, j1 = -0.1}", (0.2, -0.1)),
    ],
)
def test_the_leader_of_a_mimic_joint_leads_unless_the_follower_is_stated(
    stated: str, expected: tuple[float, float]
) -> None:
    found = state(f"{TWO_DISCS}\n[state]\n{stated}\n")
    assert (found["j0"][0], found["j1"][0]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("stated", "expected"),
    [("j0 = 2.0", (2.0, -4.0)), ("j1 = 1.0", (-0.5, 1.0)), ("j0 = 2.0, j1 = -4.0", (2.0, -4.0))],
)
def test_rates_of_a_mimic_joint(stated: str, expected: tuple[float, float]) -> None:
    found = state(f"{TWO_DISCS}\n[state]\nqd = {{{stated}}}\n")
    assert (found["j0"][1], found["j1"][1]) == pytest.approx(expected, abs=1e-12)


def test_a_mimic_joint_that_contradicts_itself_is_refused_with_the_value_that_agrees(tmp_path: Path) -> None:
    file = tmp_path / "s.scene.toml"
    for key, values, agrees in (("q", "j0 = 2.0, j1 = 3.0", "-3.7"), ("qd", "j0 = 2.0, j1 = 3.0", "-4")):
        file.write_text(f"{TWO_DISCS}\n[state]\n{key} = {{{values}}}\n", encoding="utf-8")
        found = call("estop", str(file))
        assert found.code == 2
        assert f"j1 = {agrees}" in found.err and "contradict each other through constraint 'c'" in found.err


def test_an_initial_position_of_sdf_leads() -> None:
    """The follower is stated with 0.5 rad: half of that, less its offset, is the leader's."""
    link = '<link name="{0}"><inertial><mass>1</mass></inertial></link>'
    axis = "<axis><xyz>0 0 1</xyz>{1}</axis>"
    ends = '<joint name="{0}" type="revolute"><parent>world</parent><child>{0}</child>'
    joint = f"{ends}{axis}</joint>"
    mimic = (
        '<mimic joint="lead"><multiplier>2</multiplier><offset>0.1</offset><reference>0</reference></mimic>'
    )
    joints = joint.format("lead", "") + joint.format(
        "led", "<initial_position>0.5</initial_position>" + mimic
    )
    links = link.format("lead") + link.format("led")
    text = f'<sdf version="1.11"><model name="m">{links}{joints}</model></sdf>'
    scene = load("m.sdf", text=text)
    assert scene.state.given == {"led"}
    found = dict(zip(scene.mechanism.q_names, mb.simulate(scene, 1e-6).q[0].tolist(), strict=True))
    assert (found["lead"], found["led"]) == pytest.approx((0.2, 0.5), abs=1e-12)


def test_numbers_that_were_rounded_agree_up_to_their_last_digit() -> None:
    pose = four_bar_pose(1.2)
    text = "[state.q]\nj0 = 1.2\n" + "".join(f"j{k} = {pose[k]:.6f}\n" for k in (1, 2))
    scene = read(LOOP + text)
    motion = mb.simulate(scene, 1e-6)
    assert motion.q[0][0] == pytest.approx(1.2, abs=1e-12)
    assert motion.q[0] == pytest.approx(pose, abs=6e-7)
    assert any("agree up to their last digits" in note for note in motion.notes)
    with pytest.raises(ContradictedState):
        mb.simulate(read(LOOP + text.replace(f"{pose[1]:.6f}", f"{pose[1] + 2e-5:.6f}")), 1e-6)


CALLS: dict[str, Callable[[Scene, dict[str, float], dict[str, float]], tuple[Array, Array]]] = {
    "simulate": lambda s, q, qd: _first(mb.simulate(s, 1e-6, q0=q, qd0=qd)),
    "reactions": lambda s, q, qd: _start(mb.reactions(s, q, qd)),
    "inverse_dynamics": lambda s, q, qd: _start(mb.inverse_dynamics(s, q, qd, actuated=["j0"])),
    "estop": lambda s, q, qd: _first(
        mb.estop(s, q, qd, brakes=[mb.Brake("j0", 20.0)], limits="ignore").trajectory
    ),
}


def _first(motion: mb.Trajectory) -> tuple[Array, Array]:
    return motion.q[0], motion.qd[0]


def _start(result: object) -> tuple[Array, Array]:
    return result.q, result.qd  # type: ignore[attr-defined]


@pytest.mark.long_after(1)
@pytest.mark.parametrize("name", CALLS)
def test_every_function_starts_from_the_same_state(name: str) -> None:
    pose = four_bar_pose(1.2)
    by_hand = four_bar_rates(pose, 1.0) * (-3.0 / four_bar_rates(pose, 1.0)[2])
    in_file = CALLS[name](read(LOOP + "[state.q]\nj0 = 1.2\n[state.qd]\nj2 = -3.0\n"), None, None)  # type: ignore[arg-type]
    called = CALLS[name](read(LOOP), {"j0": 1.2}, {"j2": -3.0})
    as_vector = CALLS[name](read(LOOP), pose, by_hand)  # type: ignore[arg-type]
    for q, qd in (in_file, called, as_vector):
        assert q == pytest.approx(pose, abs=1e-9)
        assert qd == pytest.approx(by_hand, abs=1e-8)
    with pytest.raises(ContradictedState):
        CALLS[name](read(LOOP), {"j0": 1.2}, {"j0": 2.0, "j2": -3.0})
    with pytest.raises(ContradictedState):
        CALLS[name](read(LOOP), pose, np.array([2.0, 0.0, 0.0]))  # type: ignore[arg-type]


def test_the_caller_outranks_the_file_with_a_note_that_names_the_joint_and_both_values() -> None:
    scene = read(LOOP + "[state.q]\nj0 = 1.2\n[state.qd]\nj0 = 2.0\n")
    motion = mb.simulate(scene, 1e-6, qd0={"j2": -3.0})
    unit = four_bar_rates(four_bar_pose(1.2), 1.0)
    assert motion.qd[0] == pytest.approx(-3.0 / unit[2] * unit, rel=1e-9)
    (note,) = [note for note in motion.notes if "contradict the file" in note]
    assert f"j0 is {-3.0 / unit[2]:.6f}"[:12] in note and "in place of 2 rad/s" in note


def test_values_that_nobody_named_are_moved_little_and_the_note_names_the_joint() -> None:
    """As of a live client: all coordinates are a program's, which closes its loops to its own tolerance."""
    pose = four_bar_pose(1.2)
    scene = replace(read(LOOP), state=State(pose + OFF, four_bar_rates(pose, 2.0) + 5 * OFF))
    motion = mb.simulate(scene, 1e-6)
    assert np.abs(motion.q[0] - pose).max() < 5e-4
    assert np.abs(motion.qd[0] - four_bar_rates(pose, 2.0)).max() < 3e-3
    assert any("moved most, by" in note and "rad" in note for note in motion.notes)
    assert any("in place of" in note for note in motion.notes)


@pytest.mark.long
def test_a_file_whose_pose_contradicts_itself_is_a_finding_and_the_callers_is_refused(tmp_path: Path) -> None:
    file, model = tmp_path / "s.scene.toml", tmp_path / "four_bar.urdf"
    model.write_bytes((ASSETS / model.name).read_bytes())
    own = LOOP.replace(str(ASSETS / model.name), model.name)
    file.write_text(own + "[state.q]\nj0 = 1.2\nj1 = -0.5\n", encoding="utf-8")
    report = mb.lint(str(file))
    assert [f.severity for f in report.findings if f.code == "MB504"] == ["error"]
    assert call("lint", str(file)).code == 1
    assert call("lint", str(file), "--q", "j0=1.2,j1=-0.5").code == 2
    assert call("lint", str(file), "--q", "j0=1.2").code != 2


# Random mechanisms: loops, mimics, gears and wheels, at a state that the constraints allow


def coupled_mechanism(seed: int, loops: int, kind: str) -> tuple[Mechanism, Array]:
    """Random loops with couplings between joints that nothing else ties, and a cart beside, at a closed pose."""
    rng = np.random.default_rng(seed)
    mech, q = loop_mechanism(seed, loops, kind)
    bodies, pairs = list(mech.bodies), list(mech.pairs)
    hinges = [p.name for p in mech.pairs if p.type == "revolute" and not p.closure][:2]
    couplings = []
    for k, of in enumerate(hinges):
        # a mimic joint, and a rack on it
        ends = pose_at(rng.uniform(-1, 1, 3), rng.normal(size=3))
        pairs.append(Pair(f"m{k}", "revolute", WORLD, f"disc{k}", ends, Pose.identity()))
        pairs.append(Pair(f"s{k}", "prismatic", WORLD, f"rack{k}", ends, Pose.identity()))
        bodies += [body_at(f"disc{k}"), body_at(f"rack{k}")]
        ratio = float(rng.uniform(0.5, 3.0))
        couplings.append(Coupling(f"c{k}", "mimic", (Term(f"m{k}", "rz", 1.0), Term(of, "rz", -ratio)), 0.3))
        rack = (Term(f"s{k}", "tz", 1.0), Term(f"m{k}", "rz", -0.05))
        couplings.append(Coupling(f"r{k}", "rack", rack, 0.1))
    at = pose_at(np.array([9.0, 0.0, 0.1]))
    bodies += [body_at("cart"), body_at("wl"), body_at("wr")]
    pairs.append(Pair("base", "planar", WORLD, "cart", at, Pose.identity()))
    wheels = []
    for name, y in (("wl", 0.2), ("wr", -0.2)):
        side = Pose(pose_at(np.zeros(3), (0.0, 1.0, 0.0)).R, np.array([0.0, y, 0.0]))
        pairs.append(Pair(name[1:] + "w", "revolute", "cart", name, side, Pose.identity()))
        wheels.append(Rolling(f"on {name}", name, np.zeros(3), np.array([0.0, 0.0, 1.0]), 0.1))
    whole = Mechanism("coupled", tuple(bodies), tuple(pairs), tuple(couplings), pfaffians=tuple(wheels))
    start = home(whole)
    known = dict(zip(mech.q_names, q.tolist(), strict=True))
    start = np.array([known.get(n, v) for n, v in zip(whole.q_names, start, strict=True)])
    return whole, consistent_state(whole, State(start, np.zeros(len(whole.qd_names)))).q


def motions_of(mech: Mechanism, q: Array) -> tuple[Array, Array]:
    """Scaled closing rows J (k, nv), and an orthonormal basis (nv, f) of the rates that they allow, by one SVD."""
    motion = JointMotion(mech, q, forward(mech, q), (0, 1, 2, 3, 4, 5))
    J = motion.jacobian(motion.rows())
    _, sigma, Vt = np.linalg.svd(J)
    sigma = np.concatenate((sigma, np.zeros(len(Vt) - len(sigma))))
    # a rank that is a matter of opinion is no oracle
    assume(not ((sigma > 1e-7 * sigma[0]) & (sigma < 3e-3 * sigma[0])).any())
    return J / motion.units, motion.units[:, None] * Vt[sigma < 1e-5 * sigma[0]].T


def determining(free: Array, rng: np.random.Generator, among: Sequence[int] | None = None) -> list[int]:
    """As many rates as there are freedoms (nv, f), at random, on which all others depend well."""
    chosen: list[int] = []
    for n in rng.permutation(len(free) if among is None else among).tolist():
        sigma = np.linalg.svd(free[[*chosen, n]], compute_uv=False)
        if len(chosen) < free.shape[1] and sigma[-1] > 0.01:
            chosen.append(n)
    assume(len(chosen) == free.shape[1])
    return chosen


at_length = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
cases = st.tuples(
    st.integers(0, 2**31), st.integers(1, 3), st.sampled_from(["planar", "spherical", "generic"])
)


@pytest.mark.long
@at_length
@given(cases)
def test_any_rates_that_determine_a_motion_give_it_back_and_a_contradiction_is_refused(
    case: tuple[int, int, str],
) -> None:
    rng = np.random.default_rng(case[0])
    mech, q = coupled_mechanism(*case)
    _, free = motions_of(mech, q)
    true = free @ rng.normal(size=free.shape[1])
    chosen = determining(free, rng)
    stated = np.where(np.isin(np.arange(len(true)), chosen), true, 0.0)
    names = frozenset(mech.qd_names[n] for n in chosen)
    found = consistent_state(mech, State(q, stated, given_rates=names)).qd
    assert found == pytest.approx(true, rel=1e-6, abs=1e-6 * np.abs(true).max())
    assert found[chosen] == pytest.approx(true[chosen], abs=1e-9)
    # one more, as it is: no change; another value: refused
    rest = [n for n in range(len(true)) if n not in chosen and np.abs(free[n]).max() > 1e-3]
    assume(rest)
    extra = int(rng.choice(rest))
    more = names | {mech.qd_names[extra]}
    agreed = consistent_state(
        mech, State(q, np.where(np.arange(len(true)) == extra, true, stated), given_rates=more)
    )
    assert agreed.qd == pytest.approx(true, rel=1e-6, abs=1e-6 * np.abs(true).max())
    wrong = np.array(stated)
    wrong[extra] = true[extra] + 0.1 * np.abs(true).max()
    with pytest.raises(ContradictedState, match=f"{re.escape(mech.qd_names[extra])} = | more"):
        consistent_state(mech, State(q, wrong, given_rates=more))


@pytest.mark.long
@at_length
@given(cases)
def test_any_coordinates_that_determine_a_pose_give_it_back(case: tuple[int, int, str]) -> None:
    rng = np.random.default_rng(case[0])
    mech, q = coupled_mechanism(*case)
    _, free = motions_of(mech, q)
    chosen = [n for n in determining(free, rng) if mech.qd_names[n] in mech.q_names]
    names = frozenset(mech.qd_names[n] for n in chosen)
    step = 0.02 * rng.normal(size=len(mech.qd_names))
    step[chosen] = 0.0
    start = displace(mech, q, step)
    found = consistent_state(mech, State(start, np.zeros(len(step)), given=names)).q
    at = [mech.q_names.index(name) for name in names]
    assert found[at] == pytest.approx(q[at], abs=1e-9)
    closed = mb.analyze(mech, found).assembly
    assert closed.worst < 1e-9 * closed.length


@pytest.mark.long
@at_length
@given(cases)
def test_the_state_does_not_depend_on_order_leader_cut_or_unit(case: tuple[int, int, str]) -> None:
    rng = np.random.default_rng(case[0])
    mech, q = coupled_mechanism(*case)
    _, free = motions_of(mech, q)
    other = reordered(mech, case[0])
    chosen = determining(free, rng, [n for n, name in enumerate(mech.qd_names) if name in other.qd_names])
    turned = tuple(replace(c, terms=c.terms[::-1]) if rng.random() < 0.5 else c for c in other.couplings)
    s = float(rng.choice([1e-3, 1.0, 1e3]))
    other = scaled(replace(other, couplings=turned), s)
    names = [mech.qd_names[n] for n in chosen]
    true = free @ rng.normal(size=free.shape[1])
    stated = np.where(np.isin(np.arange(len(true)), chosen), true, 0.0)
    here = consistent_state(mech, State(q, stated, given_rates=frozenset(names)))
    there_q = _pose_of(other, mech, q, s)
    rate = dict(zip(names, true[chosen].tolist(), strict=True))
    in_unit = [s if unit == "m/s" else 1.0 for unit in rate_units(other)]
    there = np.array([rate.get(n, 0.0) * unit for n, unit in zip(other.qd_names, in_unit, strict=True)])
    found = consistent_state(other, State(there_q, there, given_rates=frozenset(names)))
    one = body_twists(mech, forward(mech, q), here.qd)
    two = body_twists(other, forward(other, found.q), found.qd) / [s, s, s, 1, 1, 1]
    index = [other.body_index[b.name] for b in mech.bodies]
    assert two[index] == pytest.approx(one, abs=1e-6 * np.abs(one).max())


def _pose_of(other: Mechanism, mech: Mechanism, q: Array, s: float) -> Array:
    """Coordinates of the other tree at the same poses, in its unit; turns of coupled joints are kept."""
    from mbplugin.model.mechanism.kinematics import BodyPoses, coordinates_of

    poses = forward(mech, q)
    at = [mech.body_index[b.name] for b in other.bodies]
    measured = coordinates_of(other, BodyPoses(poses.R_WL[at], s * poses.p_WL[at], s * poses.p_WC[at]))
    known = dict(zip(mech.q_names, scaled_coordinates(mech, q, s).tolist(), strict=True))
    coupled = {term.joint for c in mech.couplings for term in c.terms}
    return np.array(
        [known.get(n, v) if n in coupled else v for n, v in zip(other.q_names, measured, strict=True)]
    )


@pytest.mark.parametrize("seed", range(8))
def test_a_rate_of_a_joint_that_its_loop_locks_is_refused(seed: int) -> None:
    """A rod from the ground to the pivot of the next link locks a link: the next one closes nothing but rounding."""
    rng = np.random.default_rng(seed)
    base, ground = Pose.from_xyz_rpy(rng.uniform(-3, 3, 3), rng.uniform(-3, 3, 3)), rng.uniform(-0.4, 0.4, 2)
    lengths, q = rng.uniform(0.4, 1.5, 3), rng.uniform(-2, 2, 3)
    bodies = tuple(body_at(f"b{k}") for k in range(3))
    places = [base, Pose.from_xyz_rpy((lengths[0], 0, 0)), Pose.from_xyz_rpy((lengths[1], 0, 0))]
    before = [WORLD, "b0", "b1"]
    pairs = [Pair(f"j{k}", "revolute", before[k], f"b{k}", places[k], Pose.identity()) for k in range(3)]
    tip = lengths[0] * np.array([np.cos(q[0]), np.sin(q[0])])
    rod = Pair(
        *("rod", "distance", WORLD, "b1"),
        *(base @ Pose.from_xyz_rpy((*ground, 0)), Pose.identity()),
        length=float(np.linalg.norm(tip - ground)),
    )
    mech = Mechanism("locked", bodies, (*pairs, rod))
    assert mech.tree.cut == (rod,)
    with pytest.raises(ContradictedState, match=r"'rod' allows has j0 = 0.5: it is locked"):
        consistent_state(mech, State(q, np.array([0.5, 0, 0]), named_rates=frozenset({"j0"})))
    free = np.array([0.0, 0.7, -0.4])
    state = consistent_state(mech, State(q, free, named_rates=frozenset({"j1", "j2"})))
    np.testing.assert_allclose(state.qd, free, atol=1e-12)
