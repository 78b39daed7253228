"""What resists a motion, by its stated law: joint damping, Coulomb friction, brakes, dampers of springs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields

import numpy as np

from along import Along, spring_length
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.simulation.trajectory.trajectory import Trajectory

#: What the brakes of a resistance are made of, after the instant at which they close.
PARTS = ("viscous", "sliding", "static", "short_circuit", "short_circuit_rate")


@dataclass(frozen=True, eq=False)
class Resistance:
    """A freedom of a pair that is resisted: N·m·s/rad and N·m, or N·s/m and N.

    Parameters
    ----------
    pair : Pair
    freedom : str
    damping, friction : float
        Of the joint itself.
    brakes : tuple of (closes, viscous, sliding, static, k, ω₀)
        Of the brakes on it; s; k and ω₀ are those of a short-circuited motor, k ω/(1 + (ω/ω₀)²).
    """

    pair: Pair
    freedom: str
    damping: float
    friction: float
    brakes: tuple[tuple[float, float, float, float, float, float], ...]
    motion: Trajectory | None = None

    def dry(self, time: Array) -> Array:
        """Dry friction of the joint at some times; of what grows with the load between samples only about."""
        if self.motion is None:
            return self.friction + 0.0 * time
        arm = self.pair.freedoms[0].load_friction
        wrench = self.motion.reactions(self.pair.name)
        load = np.linalg.norm(wrench[:, :3], axis=1)
        if length := self.pair.freedoms[0].guide_length:
            # the ends of the bush carry F/2 ± (M × e_z)/L each
            half, lever = wrench[:, :2] / 2, wrench[:, [4, 3]] * [1.0, -1.0] / length
            load = np.linalg.norm(half + lever, axis=1) + np.linalg.norm(half - lever, axis=1)
        return np.asarray(self.friction + arm * np.interp(time, self.motion.time, load))

    @property
    def key(self) -> tuple[str, str]:
        return self.pair.name, self.freedom

    def opposing(self, rate: Array, time: Array) -> Array:
        """All that depends on the rate, at rates at some times, against the rate."""
        parts = ((closes, v + k / (1.0 + (rate / peak) ** 2)) for closes, v, _, _, k, peak in self.brakes)
        return rate * (
            self.damping + sum((slope * gripped(closes, time) for closes, slope in parts), 0.0 * time)
        )

    def sliding(self, time: Array) -> Array:
        """All dry parts at some times while it slides."""
        return self.dry(time) + sum(
            (s * gripped(closes, time) for closes, _, s, *_ in self.brakes), 0.0 * time
        )

    def static(self, time: Array) -> Array:
        """The most it holds at rest at some times."""
        return self.dry(time) + sum(
            (s * gripped(closes, time) for closes, _, _, s, *_ in self.brakes), 0.0 * time
        )


def gripped(closes: float, time: Array) -> AnyArray:
    """Whether a brake has gripped at some times, none of which is the instant at which it does."""
    return np.asarray(time > closes - 1e-12 * (1 + closes))


def resistances(motion: Trajectory) -> Iterator[Resistance]:
    """Yield all freedoms that are resisted at some time."""
    actions = motion.actions
    for pair in motion.mechanism.pairs:
        for freedom, one in zip(pair.kind.free, pair.freedoms, strict=True):
            brakes = tuple(
                (b.closes, *(getattr(b.law, name) for name in PARTS))
                for b in actions.brakes
                if (b.joint, b.freedom) == (pair.name, freedom)
            )
            for law in (b.law for b in actions.brakes):
                unknown = {p.name for p in fields(law) if getattr(law, p.name) != p.default} - {*PARTS}
                assert not unknown, f"state {sorted(unknown)} of a brake law in tests/support/resisting.py"
            damping = one.damping if actions.damping else 0.0
            friction = one.friction if actions.friction else 0.0
            by_load = motion if actions.friction and one.load_friction else None
            if damping or friction or brakes or by_load is not None:
                yield Resistance(pair, freedom, damping, friction, brakes, by_load)


def is_led(motion: Trajectory, pair: str, segment: AnyArray) -> AnyArray:
    """Whether a drive or a lock has taken over a joint, with its dry friction, in some segments."""
    led = np.array([f"drive {pair}" in names or f"lock {pair}" in names for names in motion.active])
    return np.asarray(led[segment])


def lost_power(motion: Trajectory, here: Along, time: Array, segment: AnyArray) -> Array:
    """Power that is dissipated (n,), W: ∑ c q̇² + μ |q̇| over all joints, and the dampers of springs."""
    power = np.zeros(len(time))
    for one in resistances(motion):
        rate = here.rate(one.pair, one.freedom)
        dry = np.where(is_led(motion, one.pair.name, segment), 0.0, one.sliding(time))
        power += one.opposing(rate, time) * rate + dry * np.abs(rate)
    for spring in motion.actions.springs:
        if spring.damping:
            power += spring.damping * spring_length(here, spring)[1] ** 2
    return power


def load_power(motion: Trajectory, here: Along) -> Array:
    """Power of loads and constant torques (n,), W: f·v + m·ω + τ·q̇."""
    mech, power = motion.mechanism, np.zeros(len(here.q))
    for name, value in motion.actions.torques.items():
        power += value * here.qd[:, mech.qd_names.index(name)]
    for load in motion.actions.loads:
        frame = here.frames[load.body]
        velocity, turning = frame.at(np.asarray(load.point, dtype=float))[1], frame.w
        if load.frame == "body":
            velocity, turning = (np.einsum("tji,tj->ti", frame.R, v) for v in (velocity, turning))
        power += velocity @ load.force + turning @ load.torque
    return power


def moved_by_tree_rates_alone(motion: Trajectory) -> bool:
    """Whether power follows from joint rates of the tree without any pose."""
    of_pair = motion.mechanism.tree.joint_of_pair
    plain = all(one.pair.name in of_pair for one in resistances(motion))
    return plain and not motion.actions.loads and not any(s.damping for s in motion.actions.springs)
