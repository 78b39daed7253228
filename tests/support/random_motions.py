"""Random mechanisms that move and stop: trees, loops through dead centres, several switches at one instant.

``random_motion(seed)`` gives one and the same motion for one seed. Every mechanism is built in the pose in
which it starts, so that all its loops are closed there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

import mbplugin as mb
from mbplugin.model.mechanism import WORLD, Body, Driver, Lock, Mechanism
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.scene import Load
from mbplugin.model.spatial import Array, JointSpring, Pose, Spring, rotation_from_vector
from mbplugin.simulation.trajectory.trajectory import Trajectory
from mbplugin.stopping.outcome import StopReport
from models import from_world_frames, pose_at

Rng = np.random.Generator
_TURN = np.linspace(-np.pi, np.pi, 72, endpoint=False)
Joint = tuple[str, str, str, str, Pose]


@dataclass(frozen=True, eq=False)
class Case:
    """What moves, in words, and a function that lets it move or stop."""

    seed: int
    kind: str
    run: Callable[[], Trajectory | StopReport]

    def __str__(self) -> str:
        return f"random_motion({self.seed}), {self.kind}"


def random_motion(seed: int) -> Case:
    """The motion of a seed; kinds take turns."""
    kind = KINDS[seed % len(KINDS)]
    return Case(seed, kind.__name__.replace("_", " "), kind(np.random.default_rng([seed, 12])))


def _solids(mech: Mechanism, rng: Rng, size: float = 0.1) -> Mechanism:
    """The same mechanism with bodies of random mass, centre and inertia."""
    bodies = []
    for body in mech.bodies:
        R = rotation_from_vector(rng.normal(size=3))
        mass = float(rng.uniform(0.5, 3.0))
        inertia = mass * size**2 * R @ np.diag(rng.uniform(0.5, 0.7, 3)) @ R.T
        bodies.append(Body(body.name, mass, rng.uniform(-size, size, 3), inertia))
    gravity = np.zeros(3) if rng.random() < 0.3 else rng.normal(size=3) * 6.0
    return replace(mech, bodies=tuple(bodies), gravity=gravity)


def _resisted(mech: Mechanism, joints: dict[str, tuple[float, float]]) -> Mechanism:
    """The same mechanism with (damping, friction) in every freedom of some pairs."""
    pairs = tuple(
        replace(p, freedoms=tuple(replace(f, damping=d, friction=mu) for f in p.freedoms))
        if (p.name in joints and (d := joints[p.name][0]) >= 0 and (mu := joints[p.name][1]) >= 0)
        else p
        for p in mech.pairs
    )
    return replace(mech, pairs=pairs)


def _tree(rng: Rng, n: int, *, branched: bool, types: tuple[str, ...]) -> Mechanism:
    pairs = []
    for k in range(n):
        inner = WORLD if k == 0 else f"b{int(rng.integers(k)) if branched else k - 1}"
        frames = [Pose(rotation_from_vector(rng.normal(size=3)), rng.uniform(-0.4, 0.4, 3)) for _ in range(2)]
        pairs.append(Pair(f"j{k}", str(rng.choice(types)), inner, f"b{k}", *frames, lead=0.05))
    mech = Mechanism("tree", tuple(Body(f"b{k}") for k in range(n)), tuple(pairs))
    return _solids(mech, rng)


def _one_freedom(mech: Mechanism) -> list[str]:
    return [p.name for p in mech.pairs if len(p.kind.free) == 1]


def _some(rng: Rng, names: list[str], least: int = 1) -> list[str]:
    count = int(rng.integers(least, len(names) + 1))
    return [str(n) for n in rng.permutation(names)[:count]]


def _rates(rng: Rng, mech: Mechanism, size: float = 2.0) -> Array:
    return np.asarray(rng.normal(size=len(mech.qd_names)) * size)


def _brakes(rng: Rng, names: list[str], torque: float) -> list[dict[str, object]]:
    """Brakes on some joints; some of them grip at the very same instant."""
    return [
        {
            "joint": name,
            "torque": float(torque * rng.uniform(0.3, 1.5)),
            "viscous": float(rng.choice([0.0, 0.2])),
            "delay": float(rng.choice([0.05, 0.1, 0.1, rng.uniform(0.0, 0.2)])),
        }
        for name in names
    ]


# ---- trees ---------------------------------------------------------------------------------------------


def _chain_with_friction(rng: Rng) -> Callable[[], Trajectory]:
    mech = _tree(rng, int(rng.integers(1, 6)), branched=False, types=("revolute", "revolute", "prismatic"))
    own = {
        n: (float(rng.choice([0.0, 0.3])), float(rng.uniform(0.1, 4.0)))
        for n in _some(rng, _one_freedom(mech))
    }
    mech = _resisted(mech, own)
    springs = [JointSpring(mech.pairs[-1].name, float(rng.uniform(5, 40)), float(rng.normal()))]
    qd = _rates(rng, mech)
    return lambda: mb.simulate(mech, 0.5, qd0=qd, springs=springs)


def _branches_with_brakes(rng: Rng) -> Callable[[], Trajectory]:
    types = ("revolute", "prismatic", "cylindrical", "spherical", "universal", "screw")
    mech = _tree(rng, int(rng.integers(3, 7)), branched=True, types=types)
    own = {p.name: (0.05, float(rng.choice([0.0, 0.5]))) for p in mech.pairs if len(p.kind.free) <= 2}
    mech = _resisted(mech, own)
    names = _one_freedom(mech)
    brakes = _brakes(rng, _some(rng, names), 4.0) if names else None
    qd = _rates(rng, mech)
    return lambda: mb.simulate(mech, 0.4, qd0=qd, brakes=brakes)


def _free_body_with_loads(rng: Rng) -> Callable[[], Trajectory]:
    mech = _tree(rng, int(rng.integers(2, 5)), branched=True, types=("revolute", "spherical", "prismatic"))
    free = rng.random() < 0.6
    mech = replace(mech, pairs=mech.pairs[1:]) if free else mech
    mech = _resisted(mech, dict.fromkeys((p.name for p in mech.pairs), (0.2, 0.3)))
    loads = [
        Load(
            "b0",
            rng.normal(size=3),
            rng.normal(size=3),
            rng.normal(size=3) * 0.1,
            str(rng.choice(["world", "body"])),
        )
    ]
    a, b = rng.uniform(-0.2, 0.2, 3), rng.uniform(-0.2, 0.2, 3) + 0.5
    springs = [Spring(WORLD, mech.bodies[-1].name, b, a, 30.0, 0.2, 2.0)]
    torques = {mech.qd_names[-1]: float(rng.normal())}
    qd = _rates(rng, mech)
    return lambda: mb.simulate(mech, 0.4, qd0=qd, loads=loads, springs=springs, torques=torques)


# ---- loops ---------------------------------------------------------------------------------------------


def _in_space(rng: Rng, bodies: dict[str, Pose], joints: list[Joint], cut: str) -> Mechanism:
    """A mechanism turned and moved as a whole, of which one pair closes each loop."""
    X = Pose(rotation_from_vector(rng.normal(size=3)), rng.uniform(-1, 1, 3))
    bodies = {name: X @ pose for name, pose in bodies.items()}
    mech, _ = from_world_frames("loop", bodies, [(*j[:4], X @ j[4]) for j in joints])
    pairs = tuple(replace(p, closure=p.name.startswith(cut)) for p in mech.pairs)
    return _solids(replace(mech, pairs=pairs), rng, 0.08)


def _at(p: Array, angle: float = 0.0) -> Pose:
    return Pose(rotation_from_vector(np.array([0.0, 0.0, angle])), np.array([p[0], p[1], 0.0]))


def _meet(A: Array, D: Array, b: float, c: float) -> Array:
    """The point at distances b from A and c from D."""
    v = D - A
    length = float(np.linalg.norm(v))
    x = (b * b - c * c + length * length) / (2 * length)
    u = v / length
    return np.asarray(A + x * u + np.sqrt(b * b - x * x) * np.array([-u[1], u[0]]))


def crank_rocker(rng: Rng) -> Mechanism:
    """A four-bar whose crank turns fully, far from a change point; hinges crank, knee, elbow and rocker."""
    a, b, c, d = 0.2, rng.uniform(0.5, 0.6), rng.uniform(0.42, 0.52), rng.uniform(0.52, 0.62)
    angle = rng.uniform(-np.pi, np.pi)
    A, D = a * np.array([np.cos(angle), np.sin(angle)]), np.array([d, 0.0])
    B = _meet(A, D, b, c)
    closing = str(rng.choice(["revolute", "point-on-line", "point-on-line"]))
    bodies = {"link1": _at(0.5 * A, angle), "link2": _at(0.5 * (A + B)), "link3": _at(0.5 * (B + D))}
    joints: list[Joint] = [
        ("crank", "revolute", WORLD, "link1", pose_at(np.zeros(3))),
        ("rocker", "revolute", WORLD, "link3", pose_at(np.array([*D, 0.0]))),
        ("knee", "revolute", "link1", "link2", pose_at(np.array([*A, 0.0]))),
        ("elbow", closing, "link2", "link3", pose_at(np.array([*B, 0.0]))),
    ]
    return _in_space(rng, bodies, joints, "elbow")


def slider_crank(rng: Rng) -> Mechanism:
    """A slider-crank, often in its dead centre; joints crank, knee, pin and slide."""
    angle = float(rng.choice([0.0, np.pi, rng.uniform(-3, 3)]))
    a, b = 0.15, float(rng.uniform(0.3, 0.5))
    A = a * np.array([np.cos(angle), np.sin(angle)])
    B = np.array([A[0] + np.sqrt(b * b - A[1] ** 2), 0.0])
    closing = str(rng.choice(["revolute", "point-on-line"]))
    bodies = {"link1": _at(0.5 * A, angle), "rod": _at(0.5 * (A + B)), "piston": _at(B)}
    joints: list[Joint] = [
        ("crank", "revolute", WORLD, "link1", pose_at(np.zeros(3))),
        ("slide", "prismatic", WORLD, "piston", pose_at(np.array([*B, 0.0]), (1.0, 0.0, 0.0))),
        ("knee", "revolute", "link1", "rod", pose_at(np.array([*A, 0.0]))),
        ("pin", closing, "rod", "piston", pose_at(np.array([*B, 0.0]))),
    ]
    return _in_space(rng, bodies, joints, "pin")


def three_legs(rng: Rng) -> Mechanism:
    """A planar 3RRR: a platform on three legs of two links; hinges base k, elbow k and top k."""
    angles = 2 * np.pi * np.arange(3) / 3 + rng.uniform(0, 0.3, 3)
    base = 0.6 * np.column_stack((np.cos(angles), np.sin(angles)))
    turned = angles + rng.uniform(-0.2, 0.2)
    top = 0.15 * np.column_stack((np.cos(turned), np.sin(turned))) + rng.uniform(-0.05, 0.05, 2)
    closing = str(rng.choice(["revolute", "point-on-line"]))
    bodies, joints = {"platform": _at(top.mean(axis=0))}, []
    for k in range(3):
        elbow = _meet(base[k], top[k], 0.35, 0.4)
        bodies[f"low{k}"], bodies[f"high{k}"] = _at(0.5 * (base[k] + elbow)), _at(0.5 * (elbow + top[k]))
        points = [np.array([*p, 0.0]) for p in (base[k], elbow, top[k])]
        joints += [
            (f"base{k}", "revolute", WORLD, f"low{k}", pose_at(points[0])),
            (f"elbow{k}", "revolute", f"low{k}", f"high{k}", pose_at(points[1])),
            (
                f"top{k}" if k else "top",
                "revolute" if k == 0 else closing,
                f"high{k}",
                "platform",
                pose_at(points[2]),
            ),
        ]
    mech = _in_space(rng, bodies, joints, "top1")
    pairs = tuple(replace(p, closure=p.name in ("top1", "top2")) for p in mech.pairs)
    return replace(mech, pairs=pairs)


def spatial_four_bar(rng: Rng, cross: str = "") -> Mechanism:
    """RSSR, or RSUR: crank and rocker about skew axes, a coupler with two ball joints or one and a cross."""
    D, axis = np.array([0.6, 0.1, 0.2]), np.array([0.4, -0.2, 0.8]) / np.linalg.norm([0.4, -0.2, 0.8])
    across = np.cross(axis, [0.0, 0.0, 1.0]) / np.linalg.norm(np.cross(axis, [0.0, 0.0, 1.0]))
    tips = D + 0.5 * (np.outer(np.cos(_TURN), across) + np.outer(np.sin(_TURN), np.cross(axis, across)))
    B = tips[int(rng.integers(len(tips)))]
    angle = rng.uniform(-np.pi, np.pi)
    A = 0.08 * np.array([np.cos(angle), np.sin(angle), 0.0])
    circle = 0.08 * np.column_stack((np.cos(_TURN), np.sin(_TURN), 0 * _TURN))
    reach = np.linalg.norm(circle[:, None] - tips, axis=2)
    length = np.linalg.norm(B - A)
    if not reach.min(axis=1).max() + 0.02 < length < reach.max(axis=1).min() - 0.02:
        # the crank would not turn fully
        return spatial_four_bar(rng, cross)
    cross = cross or str(rng.choice(["spherical", "universal"]))
    middle = Pose(np.eye(3), 0.5 * (A + B))
    bodies = {"link1": Pose(np.eye(3), 0.5 * A), "link2": middle, "link3": Pose(np.eye(3), 0.5 * (B + D))}
    joints: list[Joint] = [
        ("crank", "revolute", WORLD, "link1", pose_at(np.zeros(3))),
        ("rocker", "revolute", WORLD, "link3", pose_at(D, axis)),
        ("knee", cross, "link1", "link2", pose_at(A, (0.3, 1.0, 0.2))),
        ("ball", "spherical", "link2", "link3", pose_at(B)),
    ]
    return _in_space(rng, bodies, joints, "ball")


def _spatial_without_cross(rng: Rng) -> Mechanism:
    """With two ball joints: a cross may jam when its axes come to lie in a line."""
    return spatial_four_bar(rng, "spherical")


def _leading(mech: Mechanism) -> str:
    return "base0" if any(p.name == "base0" for p in mech.pairs) else "crank"


def _loop(rng: Rng) -> Mechanism:
    return (crank_rocker, slider_crank, three_legs, spatial_four_bar)[int(rng.integers(4))](rng)


def _friction_on(rng: Rng, mech: Mechanism, most: float) -> Mechanism:
    """Dry friction and damping in hinges and slides, more of them than the mechanism has freedoms."""
    names = _some(rng, _one_freedom(mech), 2)
    return _resisted(mech, {n: (float(rng.choice([0, 0.05])), float(rng.uniform(0.1, most))) for n in names})


def _crank_rocker_with_friction(rng: Rng) -> Callable[[], Trajectory]:
    mech = _friction_on(rng, crank_rocker(rng), 1.0)
    qd = {"crank": float(rng.choice([-1, 1]) * rng.uniform(8, 14))}
    return lambda: mb.simulate(mech, 0.8, qd0=qd, limits="ignore")


def _slider_crank_with_friction(rng: Rng) -> Callable[[], Trajectory]:
    mech = _friction_on(rng, slider_crank(rng), 1.0)
    qd = {"crank": float(rng.choice([-1, 1]) * rng.uniform(8, 14))}
    return lambda: mb.simulate(mech, 0.6, qd0=qd, limits="ignore")


def _three_legs_with_friction(rng: Rng) -> Callable[[], Trajectory]:
    mech = _friction_on(rng, three_legs(rng), 0.6)
    qd = {f"base{k}": float(rng.normal() * 2.0) for k in range(3)}
    return lambda: mb.simulate(mech, 0.3, qd0=qd, limits="ignore")


def _spatial_loop_with_friction(rng: Rng) -> Callable[[], Trajectory]:
    mech = _friction_on(rng, spatial_four_bar(rng), 0.5)
    qd = {"crank": float(rng.choice([-1, 1]) * rng.uniform(6, 10))}
    return lambda: mb.simulate(mech, 0.6, qd0=qd, limits="ignore")


def _loop_with_brakes(rng: Rng) -> Callable[[], Trajectory]:
    mech = _loop(rng)
    if rng.random() < 0.5:
        mech = _friction_on(rng, mech, 0.2)
    brakes = _brakes(rng, _some(rng, _one_freedom(mech), 1)[:3], 1.0)
    qd = {_leading(mech): float(rng.uniform(4, 8))}
    return lambda: mb.simulate(mech, 0.5, qd0=qd, brakes=brakes, limits="ignore")


def _driven_loop(rng: Rng) -> Callable[[], Trajectory]:
    makers = (crank_rocker, slider_crank, _spatial_without_cross)
    mech = _friction_on(rng, makers[int(rng.integers(3))](rng), 0.5)
    start = float(rng.uniform(2, 6))
    driver = Driver("motor", "crank", rate=start, acceleration=float(rng.uniform(-4, 8)))
    mech = replace(mech, drivers=(driver,))
    springs = [Spring(WORLD, "link1", np.array([0.3, 0.2, 0.1]), np.zeros(3), 20.0, 0.3, 0.5)]
    return lambda: mb.simulate(mech, 0.5, qd0={"crank": start}, springs=springs, limits="ignore")


# ---- stops ---------------------------------------------------------------------------------------------


def _limitless(mech: Mechanism) -> Mechanism:
    pairs = tuple(
        replace(p, freedoms=tuple(replace(f, effort=8.0) for f in p.freedoms)) if len(p.kind.free) == 1 else p
        for p in mech.pairs
    )
    return replace(mech, pairs=pairs)


def _stop_of_a_tree(rng: Rng) -> Callable[[], StopReport]:
    mech = _limitless(
        _tree(rng, int(rng.integers(2, 5)), branched=rng.random() < 0.3, types=("revolute", "prismatic"))
    )
    mech = replace(mech, gravity=0.4 * mech.gravity)
    if rng.random() < 0.5:
        mech = _resisted(mech, dict.fromkeys(_some(rng, _one_freedom(mech)), (0.1, 0.3)))
    category = int(rng.integers(3))
    same = float(rng.uniform(5, 20))
    slow = {n: same if rng.random() < 0.5 else float(rng.uniform(5, 20)) for n in _one_freedom(mech)}
    brakes = _brakes(rng, _one_freedom(mech), 15.0)
    qd = _rates(rng, mech, 1.0)
    given = {} if category == 0 else {"decelerations": slow}
    return lambda: mb.estop(mech, qd=qd, category=category, brakes=brakes, duration=0.8, **given)


def _stop_of_a_loop(rng: Rng) -> Callable[[], StopReport]:
    mech = _loop(rng)
    category = int(rng.integers(3))
    name = _leading(mech)
    brakes = _brakes(rng, [name, *(["rocker"] if any(p.name == "rocker" for p in mech.pairs) else [])], 1.5)
    named = [str(b["joint"]) for b in brakes]
    given = {} if category == 0 else {"decelerations": {n: float(rng.uniform(10, 30)) for n in named}}
    model = mb.simulate(mech, 1e-6, qd0={name: float(rng.uniform(3, 6))}, limits="ignore")
    q, qd = model.q[0], model.qd[0]
    return lambda: mb.estop(
        mech, q=q, qd=qd, category=category, brakes=brakes, duration=0.8, limits="ignore", **given
    )


# ---- several switches at one instant -----------------------------------------------------------------


def _switches(rng: Rng, names: list[str]) -> tuple[list[Lock], list[dict[str, object]]]:
    """Locks that open and close and brakes that grip, at two instants only."""
    instants = [0.1, 0.2]
    locks, brakes = [], []
    for name in _some(rng, names, min(2, len(names))):
        what = int(rng.integers(4))
        if what == 0:
            locks.append(Lock(name, at=instants[0], until=instants[1]))
        elif what == 1:
            locks.append(Lock(name, at=instants[1]))
        elif what == 2:
            locks.append(Lock(name, until=instants[int(rng.integers(2))]))
        else:
            brakes.append(
                {"joint": name, "torque": float(rng.uniform(0.5, 6)), "delay": float(rng.choice(instants))}
            )
    return locks, brakes


def _switches_of_a_tree(rng: Rng) -> Callable[[], Trajectory]:
    mech = _tree(rng, int(rng.integers(2, 6)), branched=rng.random() < 0.5, types=("revolute", "prismatic"))
    if rng.random() < 0.5:
        mech = _resisted(mech, dict.fromkeys(_some(rng, _one_freedom(mech)), (0.1, 1.0)))
    locks, brakes = _switches(rng, _one_freedom(mech))
    qd = _rates(rng, mech)
    return lambda: mb.simulate(mech, 0.35, qd0=qd, locks=locks, brakes=brakes or None)


def _switches_of_a_loop(rng: Rng) -> Callable[[], Trajectory]:
    mech = three_legs(rng)
    if rng.random() < 0.5:
        mech = _friction_on(rng, mech, 0.2)
    locks, brakes = _switches(rng, [f"base{k}" for k in range(3)])
    qd = {f"base{k}": float(rng.normal()) for k in range(3)}
    return lambda: mb.simulate(mech, 0.3, qd0=qd, locks=locks, brakes=brakes or None, limits="ignore")


KINDS: tuple[Callable[[Rng], Callable[[], Trajectory | StopReport]], ...] = (
    _chain_with_friction,
    _branches_with_brakes,
    _crank_rocker_with_friction,
    _stop_of_a_tree,
    _slider_crank_with_friction,
    _free_body_with_loads,
    _three_legs_with_friction,
    _switches_of_a_tree,
    _loop_with_brakes,
    _spatial_loop_with_friction,
    _stop_of_a_loop,
    _driven_loop,
    _switches_of_a_loop,
)
