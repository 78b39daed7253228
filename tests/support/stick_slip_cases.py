"""Arms and crank-rockers with dry friction and brakes, for the product and for the second program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

import mbplugin as mb
from mbplugin.model.mechanism import WORLD, Body, Mechanism
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.spatial import Array, Pose
from mbplugin.simulation.trajectory.trajectory import Trajectory
from second_program import Arm, CrankRocker, Motion, Resistance, move

#: Intervals of a motion at whose ends it is compared; brakes close at such an end.
SAMPLES = 24
#: Crank angles at which crank and coupler are in line: stretched, by the triangle 0.8, 0.6, 0.5 m; and
#: folded, by 0.4, 0.6, 0.5 m.
STRETCHED = float(np.arccos((0.64 + 0.36 - 0.25) / (2 * 0.8 * 0.6)))
FOLDED = float(np.pi + np.arccos((0.16 + 0.36 - 0.25) / (2 * 0.4 * 0.6)))


@dataclass(frozen=True)
class Case:
    """A motion: its system, the state at the start, what resists, and how long it is followed (s)."""

    name: str
    system: Arm | CrankRocker
    q: tuple[float, ...]
    v: tuple[float, ...]
    resistances: tuple[Resistance, ...]
    duration: float
    closure: str = "point-on-line"

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints in the order of the second program."""
        return ("shoulder", "elbow") if isinstance(self.system, Arm) else ("j0", "j3", "j1", "j2")

    def second(self, refinement: int) -> Motion:
        """Return the motion of the second program."""
        return move(
            self.system,
            self.q,
            self.v,
            self.resistances,
            self.duration,
            samples=SAMPLES,
            refinement=refinement,
        )

    def ours(self, **options: object) -> Trajectory:
        """Return our motion."""
        mech, q = arm(self) if isinstance(self.system, Arm) else crank_rocker(self)
        names = self.joints[:2] if isinstance(self.system, Arm) else ("j0",)
        return mb.simulate(
            mech,
            self.duration,
            q0=q,
            qd0=dict(zip(names, self.v, strict=True)),
            brakes=list(self.brakes()) or None,
            limits="ignore",
            samples=SAMPLES,
            **{"rtol": 1e-10, "atol": 1e-12, **options},  # type: ignore[arg-type]
        )

    def friction(self, joint: str) -> Freedom:
        """Return the dry friction that acts in a joint from the start."""
        own = [r for r in self.resistances if self.joints[r.joint] == joint and not _brake(r)]
        return Freedom(friction=sum(r.sliding for r in own))

    def brakes(self) -> Iterator[dict[str, object]]:
        """Yield what closes later, or holds more than it slides with."""
        for r in self.resistances:
            if _brake(r):
                static = r.sliding if r.static is None else r.static
                yield {
                    "joint": self.joints[r.joint],
                    "torque": r.sliding,
                    "static_torque": static,
                    "delay": r.closes,
                    "engagement": 0.0,
                }


def _brake(r: Resistance) -> bool:
    return r.closes > 0 or r.static is not None


def _at(x: float, y: float = 0.0) -> Pose:
    return Pose(np.eye(3), np.array([x, y, 0.0]))


def _body(name: str, mass: float, centre: float, inertia: float) -> Body:
    return Body(name, mass, np.array([centre, 0.0, 0.0]), inertia * np.eye(3))


def arm(case: Case) -> tuple[Mechanism, dict[str, float]]:
    """Return the two links and their pose."""
    own = case.system
    assert isinstance(own, Arm)
    bodies = [
        _body(name, *values)
        for name, *values in zip(("upper", "fore"), own.mass, own.centre, own.inertia, strict=True)
    ]
    pairs = (
        Pair("shoulder", "revolute", WORLD, "upper", _at(0), _at(0), freedoms=(case.friction("shoulder"),)),
        Pair(
            "elbow", "revolute", "upper", "fore", _at(own.length), _at(0), freedoms=(case.friction("elbow"),)
        ),
    )
    gravity = np.array([*own.gravity, 0.0])
    return Mechanism("arm", tuple(bodies), pairs, gravity=gravity), dict(
        zip(case.joints, case.q, strict=True)
    )


def crank_rocker(case: Case) -> tuple[Mechanism, dict[str, float]]:
    """Return the four-bar, closed between coupler and rocker, and its pose."""
    own = case.system
    assert isinstance(own, CrankRocker)
    a, b, c, d = own.lengths
    phi, psi = own.angles(case.q[0])
    names = ("crank", "coupler", "rocker")
    bodies = [_body(n, *x) for n, *x in zip(names, own.mass, own.centre, own.inertia, strict=True)]
    hinge = [
        ("j0", WORLD, "crank", 0.0),
        ("j3", WORLD, "rocker", d),
        ("j1", "crank", "coupler", a),
    ]
    pairs = [
        Pair(name, "revolute", inner, outer, _at(x), _at(0), freedoms=(case.friction(name),))
        for name, inner, outer, x in hinge
    ]
    closure = Pair("j2", case.closure, "coupler", "rocker", _at(b), _at(c), closure=True)
    free = tuple(case.friction("j2") if f == "rz" else Freedom() for f in closure.kind.free)
    pairs.append(replace(closure, freedoms=free))
    gravity = np.array([*own.gravity, 0.0])
    mech = Mechanism("crank-rocker", tuple(bodies), tuple(pairs), gravity=gravity)
    return mech, {"j0": case.q[0], "j1": phi - case.q[0], "j3": psi}


def freedoms(case: Case, motion: Trajectory) -> tuple[Array, Array, Array, Array]:
    """Return time, freedoms, their rates and all that is dissipated, at the ends of the intervals."""
    names = case.joints[:2] if isinstance(case.system, Arm) else ("j0",)
    columns = [motion.mechanism.qd_names.index(name) for name in names]
    joint_frames = np.linspace(0.0, case.duration, SAMPLES + 1)
    at = [int(np.argmin(np.abs(motion.time - t))) for t in joint_frames]
    assert np.abs(motion.time[at] - joint_frames).max() < 1e-9
    return motion.time[at], motion.q[at][:, columns], motion.qd[at][:, columns], motion.dissipated[at]


def arms() -> list[Case]:
    """Return arms drawn by chance: friction in both joints, brakes that close while they move."""
    found = []
    for seed in range(24):
        rng = np.random.default_rng([12, seed])
        duration = float(rng.uniform(0.6, 1.2))
        system = Arm(
            float(rng.uniform(0.3, 0.8)),
            tuple(rng.uniform(1.0, 4.0, 2).tolist()),
            tuple(rng.uniform(0.1, 0.4, 2).tolist()),
            tuple(rng.uniform(0.01, 0.1, 2).tolist()),
            (0.0, -9.81) if seed % 3 else (0.0, 0.0),
        )
        dry = [Resistance(k, float(rng.uniform(0.2, 3.0))) for k in (0, 1) if rng.random() < 0.7]
        joint_frames = rng.integers(2, SAMPLES - 8, 2) * duration / SAMPLES
        joint_frames = joint_frames[:1].repeat(2) if seed % 4 == 0 else joint_frames
        torques = rng.uniform(2.0, 25.0, 2)
        static = 1.4 * torques if seed % 5 == 2 else torques
        more = [Resistance(k, float(torques[k]), float(static[k]), float(joint_frames[k])) for k in (0, 1)]
        kept = more[: int(rng.integers(0, 3))] if seed % 4 else more
        q, v = rng.uniform(-2.0, 2.0, 2), rng.uniform(-5.0, 5.0, 2)
        v = np.zeros(2) if seed % 6 == 5 else v
        found.append(Case(f"arm {seed}", system, tuple(q), tuple(v), (*dry, *kept), duration))
    return found


def crank_rockers() -> list[Case]:
    """Return crank-rockers drawn by chance: several resistances on their one freedom."""
    found = []
    for seed in range(24):
        rng = np.random.default_rng([13, seed])
        duration = float(rng.uniform(0.8, 1.6))
        system = CrankRocker(
            mass=tuple(rng.uniform([2.0, 0.3, 0.3], [6.0, 1.5, 1.5]).tolist()),
            inertia=tuple(rng.uniform([0.1, 0.005, 0.005], [0.6, 0.05, 0.05]).tolist()),
            gravity=(0.0, -9.81) if seed % 2 else (0.0, 0.0),
        )
        chosen = [k for k in range(4) if rng.random() < 0.5] or [1]
        dry = [Resistance(k, float(rng.uniform(0.2, 2.0))) for k in chosen]
        joint_frames = rng.integers(2, SAMPLES - 8, 2) * duration / SAMPLES
        joint_frames = joint_frames[:1].repeat(2) if seed % 4 == 0 else joint_frames
        more = [Resistance(k, float(rng.uniform(1.0, 8.0)), None, float(joint_frames[k])) for k in (0, 1)]
        kept = more[: int(rng.integers(0, 3))] if seed % 4 else more
        start = {0: STRETCHED, 1: FOLDED}.get(seed % 5, float(rng.uniform(0.0, 2 * np.pi)))
        rate = 0.0 if seed % 10 == 5 else float(rng.choice([-1.0, 1.0]) * rng.uniform(2.0, 10.0))
        closure = "revolute" if seed % 3 == 2 else "point-on-line"
        found.append(
            Case(f"crank-rocker {seed}", system, (start,), (rate,), (*dry, *kept), duration, closure)
        )
    return found
