"""Rows, Γ and residuals agree with finite differences for every kind of constraint."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import least_squares

from mbplugin.constraints.reduction import body_twists, tree_motion
from mbplugin.constraints.rows import rows_of
from mbplugin.model.mechanism import Body, Coupling, Driver, KnifeEdge, Lock, Mechanism, Rolling, Term
from mbplugin.model.mechanism.kinematics import coordinates_of, displace, forward, home
from mbplugin.model.mechanism.pair import PAIR_TYPES, Pair
from mbplugin.model.spatial import Pose

H = 1e-5


def random_pose(rng):
    return Pose.from_xyz_rpy(rng.normal(size=3), rng.normal(size=3))


def two_bodies(pair_type, seed):
    """Bodies a (free) and b on it, at a random assembled pose; also the same bodies without the pair."""
    rng = np.random.default_rng(seed)
    bodies = (Body("a", 1.0, rng.normal(size=3)), Body("b", 1.0, rng.normal(size=3)))
    pair = Pair("j", pair_type, "a", "b", random_pose(rng), random_pose(rng), lead=0.3)
    mech = Mechanism("m", bodies, (pair,))
    q = displace(mech, home(mech), rng.normal(size=len(mech.qd_names)))
    if not pair.kind.has_coordinates:
        pair = replace(pair, length=1.0)
        mech = Mechanism("m", bodies, (pair,))

        def residual(step):
            return constraint_rows(mech, pair, forward(mech, displace(mech, q, step))).Phi

        closed = least_squares(residual, np.zeros(len(mech.qd_names)), ftol=None, xtol=1e-15, gtol=1e-15)
        q = displace(mech, q, closed.x)
    return mech, q, Mechanism("loose", bodies), rng


def constraint_rows(mech, constraint, poses, q=None, twists=None):
    return rows_of(mech, (constraint,), poses, q, twists)[0]


def rates(rows, twists):
    return sum(entry @ twists[body] for body, entry in rows.entries)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("pair_type", [t for t in PAIR_TYPES if PAIR_TYPES[t].constrained])
def test_rows_are_the_gradient_of_the_residual_for_any_twist(pair_type, seed):
    mech, q, loose, rng = two_bodies(pair_type, seed)
    poses, pair = forward(mech, q), mech.pairs[0]
    q_loose = coordinates_of(loose, poses)
    rows = constraint_rows(mech, pair, poses)
    np.testing.assert_allclose(rows.Phi, 0, atol=1e-12)
    C = tree_motion(loose, poses).reduce([rows])
    direction = rng.normal(size=12)
    plus, minus = (
        constraint_rows(mech, pair, forward(loose, displace(loose, q_loose, s * direction))).Phi
        for s in (H, -H)
    )
    np.testing.assert_allclose((plus - minus) / (2 * H), C @ direction, atol=1e-8)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "pair_type", [t for t, kind in PAIR_TYPES.items() if kind.constrained and kind.has_coordinates]
)
def test_gamma_is_the_acceleration_that_an_allowed_motion_has(pair_type, seed):
    mech, q, _, rng = two_bodies(pair_type, seed)
    qd = rng.normal(size=len(mech.qd_names))
    assert_gamma(mech, mech.pairs[0], lambda s: displace(mech, q, s * qd), lambda s: qd)


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("pair_type", [t for t in PAIR_TYPES if PAIR_TYPES[t].constrained])
def test_gamma_is_the_change_of_the_rows_along_any_motion(pair_type, seed):
    """d(C v)/dt = C v̇ − Γ, also where the motion breaks the constraint."""
    mech, q, loose, rng = two_bodies(pair_type, seed)
    pair, q_loose, qd = mech.pairs[0], coordinates_of(loose, forward(mech, q)), rng.normal(size=12)

    def state(s):
        poses = forward(loose, displace(loose, q_loose, s * qd))
        twists = body_twists(loose, poses, qd)
        return twists, constraint_rows(mech, pair, poses, twists=twists)

    (_, rows), (after, rows_after), (before, rows_before) = state(0.0), state(H), state(-H)
    change = (rates(rows_after, after) - rates(rows_before, before)) / (2 * H)
    acceleration = (after - before) / (2 * H)
    np.testing.assert_allclose(rates(rows, acceleration) - rows.Gamma, change, atol=1e-7)


def test_gamma_of_a_distance():
    # b swings about a point of a: on a sphere, and a itself turns and moves
    rng = np.random.default_rng(5)
    mech, q, _, _ = two_bodies("spherical", 4)
    pair = mech.pairs[0]
    off = np.array([0.3, -0.4, 1.2])
    rod = Pair("rod", "distance", "a", "b", pair.X_AP, Pose(pair.X_BS.R, pair.X_BS.apply(off)), length=1.3)
    both = Mechanism("m", mech.bodies, (pair, rod))
    qd = rng.normal(size=len(both.qd_names))
    assert_gamma(both, rod, lambda s: displace(both, q, s * qd), lambda s: qd)


def assert_gamma(mech, constraint, q_of, qd_of):
    def twists(s):
        return body_twists(mech, forward(mech, q_of(s)), qd_of(s))

    now = twists(0.0)
    rows = constraint_rows(mech, constraint, forward(mech, q_of(0.0)), q_of(0.0), now)
    np.testing.assert_allclose(rates(rows, now) + rows.b, 0, atol=1e-10)
    acceleration = (twists(H) - twists(-H)) / (2 * H)
    np.testing.assert_allclose(rates(rows, acceleration), rows.Gamma, atol=1e-7)


@pytest.fixture
def two_turns():
    """Two revolutes and a prismatic in series, with rates 1, 2 and 3."""
    rng = np.random.default_rng(11)
    bodies = tuple(Body(n, 1.0, rng.normal(size=3)) for n in "abc")
    pairs = tuple(
        Pair(f"j{k}", t, a, b, random_pose(rng), random_pose(rng))
        for k, (t, a, b) in enumerate(
            [("revolute", "world", "a"), ("revolute", "a", "b"), ("prismatic", "b", "c")]
        )
    )
    return bodies, pairs, rng.normal(size=3), np.array([1.0, 2.0, 3.0])


def test_a_coupling_measures_the_weighted_joint_rates(two_turns):
    bodies, pairs, q, qd = two_turns
    terms = (Term("j0", "rz", 5.0), Term("j1", "rz", -1.0), Term("j2", "tz", -1.0))
    gear = Coupling("gear", "gear", terms, offset=0.25)
    mech = Mechanism("m", bodies, pairs, couplings=(gear,))
    poses = forward(mech, q)
    rows = constraint_rows(mech, gear, poses, q)
    assert rates(rows, body_twists(mech, poses, qd))[0] == pytest.approx(5 * 1 - 2 - 3)
    assert rows.Phi[0] == pytest.approx(5 * q[0] - q[1] - q[2] - 0.25)
    # rates that obey it, at constant speed: no acceleration of the coupled sum
    steady = np.array([1.0, 2.0, 3.0])
    assert_gamma(mech, gear, lambda s: q + s * steady, lambda s: steady)


def test_drivers_and_locks_hold_the_joint_rates(two_turns):
    bodies, pairs, q, _ = two_turns
    drive = Driver("drive", "j0", value=0.1, rate=0.7, acceleration=0.3)
    lock = Lock("j2")
    mech = Mechanism("m", bodies, pairs, drivers=(drive,), locks=(lock,))
    q[0] = 0.4

    def qd_of(s):
        return np.array([0.7 + 0.3 * s, 2.0, 0.0])

    def q_of(s):
        return q + np.array([0.7 * s + 0.15 * s * s, 2.0 * s, 0.0])

    assert_gamma(mech, drive, q_of, qd_of)
    assert_gamma(mech, lock, q_of, qd_of)
    rows = constraint_rows(mech, drive, forward(mech, q), q)
    assert (rows.components, rows.Phi[0]) == (("rz_drive",), pytest.approx(0.3))
    assert constraint_rows(mech, lock, forward(mech, q), q).components == ("tz_lock",)


def test_a_universal_joint_can_be_driven_about_both_axes():
    rng = np.random.default_rng(3)
    pair = Pair("u", "universal", "world", "b", random_pose(rng), random_pose(rng))
    drive = Driver("drive", "u")
    mech = Mechanism("m", (Body("b", 1.0, rng.normal(size=3)),), (pair,), drivers=(drive,))
    q, qd = np.array([0.5, -0.8]), np.array([1.3, 0.4])
    poses = forward(mech, q)
    np.testing.assert_allclose(
        rates(constraint_rows(mech, drive, poses, q), body_twists(mech, poses, qd)), qd, atol=1e-12
    )


def test_a_knife_edge_blocks_the_sideways_velocity_of_its_point():
    rng = np.random.default_rng(2)
    edge = KnifeEdge("edge", "b", rng.normal(size=3), rng.normal(size=3))
    mech = Mechanism("m", (Body("b", 1.0, rng.normal(size=3)),), pfaffians=(edge,))
    q = displace(mech, home(mech), rng.normal(size=6))
    poses = forward(mech, q)
    rows = constraint_rows(mech, edge, poses)
    # a turn about the contact point moves the point nowhere
    omega = rng.normal(size=3)
    point = poses.of(0).apply(edge.point)
    about_point = np.concatenate((np.cross(omega, poses.p_WC[0] - point), omega))
    assert rates(rows, about_point[None, :])[0] == pytest.approx(0, abs=1e-12)
    assert_gamma_along_rows(mech, edge, q, rng)


def rolling_wheel(rng):
    wheel = Rolling(
        "wheel", "b", rng.normal(size=3), rng.normal(size=3), 0.4, rng.normal(size=3), rng.normal(size=3)
    )
    return Mechanism("m", (Body("b", 1.0, rng.normal(size=3)),), pfaffians=(wheel,)), wheel


@pytest.mark.parametrize("seed", range(4))
def test_the_normal_row_of_a_wheel_is_the_gradient_of_its_height(seed):
    rng = np.random.default_rng(seed)
    mech, wheel = rolling_wheel(rng)
    q = displace(mech, home(mech), rng.normal(size=6))
    poses, step = forward(mech, q), rng.normal(size=6)
    rows = constraint_rows(mech, wheel, poses)
    height = [
        constraint_rows(mech, wheel, forward(mech, displace(mech, q, s * step))).Phi[0] for s in (H, -H)
    ]
    expected = rates(rows, body_twists(mech, poses, step))[0]
    assert (height[0] - height[1]) / (2 * H) == pytest.approx(expected, abs=1e-8)
    assert rows.components == ("normal", "roll", "side")
    assert rows.holonomic.tolist() == [True, False, False]


@pytest.mark.parametrize("seed", range(4))
def test_gamma_of_a_rolling_wheel(seed):
    rng = np.random.default_rng(seed)
    mech, wheel = rolling_wheel(rng)
    assert_gamma_along_rows(mech, wheel, displace(mech, home(mech), rng.normal(size=6)), rng)


def assert_gamma_along_rows(mech, constraint, q, rng):
    """Γ = −Ċ v for any twist: difference the rows along the motion of a constant rate."""
    qd = rng.normal(size=6)

    def C_v(s):
        poses = forward(mech, displace(mech, q, s * qd))
        twists = body_twists(mech, poses, qd)
        return rates(constraint_rows(mech, constraint, poses), twists), twists

    poses = forward(mech, q)
    rows = constraint_rows(mech, constraint, poses, None, body_twists(mech, poses, qd))
    acceleration = (C_v(H)[1] - C_v(-H)[1]) / (2 * H)
    C_dot_v = (C_v(H)[0] - C_v(-H)[0]) / (2 * H) - rates(rows, acceleration)
    np.testing.assert_allclose(rows.Gamma, -C_dot_v, atol=1e-7)


def test_a_rolling_wheel_does_not_slip_when_its_centre_moves_at_radius_times_rate():
    wheel = Rolling("wheel", "b", np.zeros(3), np.array([0.0, 1.0, 0.0]), 0.5)
    mech = Mechanism("m", (Body("b", 1.0),), pfaffians=(wheel,))
    q = home(mech)
    q[2] = 0.5
    rows = constraint_rows(mech, wheel, forward(mech, q))
    rolling = np.array([[1.0, 0, 0, 0, 2.0, 0]])
    np.testing.assert_allclose(rates(rows, rolling), 0, atol=1e-15)
    np.testing.assert_allclose(rows.Phi, 0, atol=1e-15)
    skidding = np.array([[0, 1.0, 0, 0, 0, 0]])
    assert abs(rates(rows, skidding)[2]) == pytest.approx(1)
