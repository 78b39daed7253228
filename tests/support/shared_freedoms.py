"""Random mechanisms whose joints share freedoms, written in every way that does not change them; and their stops.

A machine is written as a scene with its bodies and joints in any order, with any joint as the one that leads or with
any joint of a loop as the one that closes it, and in any unit of length. Its stop is computed here a second time, by
steps in coordinates of its freedoms with forces of brakes from a projected Gauss-Seidel iteration: nothing of the
program is used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from mbplugin.model.spatial import Array

#: Seconds of the second program's longer step, and after how many it gives up.
STEP, LONGEST = 2e-4, 60_000
#: The frame of a joint at the origin.
HERE = "xyz_a = [0, 0, 0]"


@dataclass(frozen=True)
class Writing:
    """How a machine is written: the seed of the order, the joint that leads or closes, and metres in its unit."""

    order: int = 0
    leader: int = 0
    length: float = 1.0


@dataclass(frozen=True)
class Machine:
    """A mechanism and its brakes.

    Parameters
    ----------
    joints : tuple of str
        Those with a brake.
    slides : tuple of bool
        Which of them slide.
    torques, delays : tuple of float
        Of the brakes, N·m, N and s; a brake grips when its drive is powered off.
    ratios : callable
        Returns the rates of the joints per freedom (n, d) at coordinates (d,) of the freedoms.
    inertia, force : callable
        Return the mass matrix (d, d) and applied forces (d,) at coordinates (d,).
    start, rates : (d,) array
        Of the freedoms at the signal.
    tables : callable
        Returns tables of a scene: what they are called, and inline tables in any order, for a writing.
    state : callable
        Returns coordinates' rates by name for a writing.
    exchangeable : bool
        Whether all joints share one freedom in ratios that do not change.
    """

    joints: tuple[str, ...]
    slides: tuple[bool, ...]
    torques: tuple[float, ...]
    delays: tuple[float, ...]
    ratios: Callable[[Array], Array]
    inertia: Callable[[Array], Array]
    force: Callable[[Array], Array]
    start: Array
    rates: Array
    tables: Callable[[Writing], Mapping[str, Sequence[str]]]
    state: Callable[[Writing], Mapping[str, float]]
    exchangeable: bool = True
    gravity: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def scene(self, writing: Writing) -> str:
        """Return the text of a scene."""
        rng, length = np.random.default_rng(writing.order), writing.length
        out = [f"gravity = {[float(length * g) for g in self.gravity]}"]
        for name, tables in self.tables(writing).items():
            order = rng.permutation(len(tables)) if writing.order else range(len(tables))
            out.append(f"{name} = [{', '.join(tables[k] for k in order)}]")
        rates = ", ".join(f'"{name}" = {float(value)!r}' for name, value in self.state(writing).items())
        out.append(f"state.qd = {{{rates}}}")
        brakes = []
        for name, slide, torque, delay in zip(
            self.joints, self.slides, self.torques, self.delays, strict=True
        ):
            scaled = float(torque * (length if slide else length**2))
            times = f"delay = {float(delay)!r}, engagement = 0.0"
            brakes.append(f'{{joint = "{name}", torque = {scaled!r}, {times}}}')
        order = rng.permutation(len(brakes)) if writing.order else range(len(brakes))
        return "\n".join([*out, f"brake = [{', '.join(brakes[k] for k in order)}]", ""])

    def with_late(self, n: int) -> Machine:
        """Return the machine with the longest of its delays at joint n, and that one's delay in its place."""
        delays, longest = list(self.delays), int(np.argmax(self.delays))
        delays[n], delays[longest] = delays[longest], delays[n]
        return replace(self, delays=tuple(delays))


def stop_by_steps(machine: Machine) -> tuple[float, Array]:
    """Return when a machine rests (s), and the travels (n,) of its joints, from two steps extrapolated to none."""
    _, coarse = _stop(machine, STEP)
    time, fine = _stop(machine, STEP / 2)
    return time, 2.0 * fine - coarse


def _stop(machine: Machine, step: float) -> tuple[float, Array]:
    """Return when a machine rests (s), and the travels (n,) of its joints, by steps of a length, s.

    A powered drive holds its rate by any force; a brake that has gripped gives up to its torque against the motion.
    Two drives that state two motions of one freedom have no such step: the machine may not have them.
    """
    y, v, travels, last = machine.start.copy(), machine.rates.copy(), np.zeros(len(machine.joints)), 0.0
    stated, torques, delays = machine.ratios(y) @ v, np.array(machine.torques), np.array(machine.delays)
    forces, latest = np.zeros(len(torques)), delays.max()
    for k in range(LONGEST):
        powered = k * step < delays - 0.5 * step
        middle = y + 0.5 * step * v
        T, M = machine.ratios(middle), machine.inertia(middle)
        free = v + step * np.linalg.solve(M, machine.force(middle) - _turning(machine, middle, v))
        reach = step * np.linalg.solve(M, T.T)
        after, forces = _with_forces(
            T, reach, free, np.where(powered, np.inf, torques), powered * stated, forces
        )
        travels += 0.5 * step * (T @ (v + after))
        y += 0.5 * step * (v + after)
        v = after
        if np.abs(T @ v).max() > 1e-7:
            last = (k + 1) * step
        elif k * step > latest:
            return last, travels
    raise AssertionError("the machine does not come to rest")


def _turning(machine: Machine, y: Array, v: Array) -> Array:
    """Return Ṁ v − ½ ∂(vᵀ M v)/∂y, (d,), by differences."""
    change, own = np.zeros(len(y)), np.zeros(len(y))
    for k in range(len(y)):
        e = 1e-5 * np.eye(len(y))[k]
        slope = (machine.inertia(y + e) - machine.inertia(y - e)) / 2e-5
        change += slope @ v * v[k]
        own[k] = 0.5 * v @ slope @ v
    return change - own


def _with_forces(
    T: Array, reach: Array, free: Array, most: Array, stated: Array, forces: Array
) -> tuple[Array, Array]:
    """Return rates (d,) and forces (n,): each force within ``most`` (n,) brings its joint nearest its stated rate."""
    compliance = np.einsum("nd,dn->n", T, reach)
    v, f = free + reach @ np.clip(forces, -most, most), np.clip(forces, -most, most)
    for _ in range(2000):
        before = v.copy()
        for n in range(len(f)):
            if compliance[n] > 0.0:
                force = float(np.clip(f[n] + (stated[n] - T[n] @ v) / compliance[n], -most[n], most[n]))
                v, f[n] = v + reach[:, n] * (force - f[n]), force
        if np.abs(v - before).max() < 1e-13:
            break
    return v, f


def train(rng: np.random.Generator) -> Machine:
    """Return joints on the ground that turn and slide in constant ratios, by mimics, gears or racks."""
    n = int(rng.integers(2, 5))
    slides = tuple(bool(x) for x in rng.random(n) < 0.4)
    ratio = np.where(slides, rng.uniform(0.02, 0.3, n), rng.uniform(0.3, 3.0, n)) * rng.choice((-1.0, 1.0), n)
    masses, inertias = rng.uniform(0.5, 3.0, n), rng.uniform(0.01, 0.1, n)
    names = tuple(f"j{k}" for k in rng.permutation(n))
    own = np.where(slides, masses, inertias)
    rate = float(rng.uniform(0.5, 3.0) * rng.choice((-1.0, 1.0)) / np.abs(ratio).max())
    kind = str(rng.choice(("mimic", "gear", "rack")))
    star = bool(rng.random() < 0.5)

    def tables(w: Writing) -> dict[str, list[str]]:
        bodies, pairs = [], []
        for k, name in enumerate(names):
            izz = float(inertias[k] * w.length**2)
            bodies.append(
                f'{{name = "b{name}", mass = {float(masses[k])!r}, inertia = [{izz}, {izz}, {izz}]}}'
            )
            form = (
                'type = "prismatic", axis = [1, 0, 0]' if slides[k] else 'type = "revolute", axis = [0, 0, 1]'
            )
            pairs.append(f'{{name = "{name}", {form}, body_a = "world", body_b = "b{name}", {HERE}}}')
        scaled = ratio * np.where(slides, w.length, 1.0)
        order = [w.leader % n, *(k for k in range(n) if k != w.leader % n)]
        coupled = []
        for place, k in enumerate(order[1:]):
            of = order[0] if star else order[place]
            parts = f'joint = "{names[k]}", of = "{names[of]}", ratio = {float(scaled[k] / scaled[of])!r}'
            coupled.append(f'{{type = "{kind}", {parts}}}')
        return {"body": bodies, "pair": pairs, "coupling": coupled}

    def state(w: Writing) -> dict[str, float]:
        rates = rate * ratio * np.where(slides, w.length, 1.0)
        return dict(zip(names, rates.tolist(), strict=True))

    return _machine(
        rng, names, slides, ratio[:, None], np.array([[float((ratio**2 * own).sum())]]), [rate], tables, state
    )


def differential(rng: np.random.Generator) -> Machine:
    """Return three joints on the ground with two freedoms: the third turns by a sum of the others."""
    share = rng.uniform(0.4, 2.0, 2) * rng.choice((-1.0, 1.0), 2)
    T, inertias = np.vstack((np.eye(2), share)), rng.uniform(0.02, 0.1, 3)
    names, rates = (
        tuple(f"j{k}" for k in rng.permutation(3)),
        rng.uniform(0.5, 3.0, 2) * rng.choice((-1.0, 1.0), 2),
    )

    def tables(w: Writing) -> dict[str, list[str]]:
        bodies, pairs = [], []
        for k, name in enumerate(names):
            izz = float(inertias[k] * w.length**2)
            bodies.append(f'{{name = "b{name}", mass = 1.0, inertia = [{izz}, {izz}, {izz}]}}')
            pairs.append(
                f'{{name = "{name}", type = "revolute", body_a = "world", body_b = "b{name}", {HERE}}}'
            )
        row = np.array([share[0], share[1], -1.0])
        row = row / row[w.leader % 3]
        order = np.random.default_rng(w.order).permutation(3)
        terms = ", ".join(f'{{joint = "{names[k]}", coefficient = {float(row[k])!r}}}' for k in order)
        return {
            "body": bodies,
            "pair": pairs,
            "coupling": [f'{{name = "sum", type = "gear", terms = [{terms}]}}'],
        }

    def state(w: Writing) -> dict[str, float]:
        return dict(zip(names, (T @ rates).tolist(), strict=True))

    made = _machine(rng, names, (False,) * 3, T, T.T @ np.diag(inertias) @ T, rates, tables, state)
    return replace(made, exchangeable=False)


def cart(rng: np.random.Generator) -> Machine:
    """Return a cart on a slide with two to four wheels that roll."""
    n = int(rng.integers(2, 5))
    radii, spins, mass = rng.uniform(0.05, 0.2, n), rng.uniform(2e-3, 2e-2, n), float(rng.uniform(5.0, 15.0))
    names, speed = tuple(f"j{k}" for k in rng.permutation(n)), float(rng.uniform(0.3, 1.5))

    def tables(w: Writing) -> dict[str, list[str]]:
        s = w.length
        bodies = [f'{{name = "cart", mass = {mass!r}, xyz = [0, 0, {0.1 * s}], inertia = [1.0, 1.0, 1.0]}}']
        pairs = [
            f'{{name = "way", type = "prismatic", axis = [1, 0, 0], body_a = "world", body_b = "cart", '
            f"xyz_a = [0, 0, {0.1 * s}]}}"
        ]
        rolling = []
        for k, name in enumerate(names):
            x, y, r = float(0.3 * k * s), float((-1) ** k * 0.2 * s), float(radii[k] * s)
            i = float(spins[k] * s**2)
            bodies.append(
                f'{{name = "b{name}", mass = 1.0, xyz = [{x}, {y}, {r}], inertia = [{i}, {i}, {i}]}}'
            )
            pairs.append(
                f'{{name = "{name}", type = "revolute", axis = [0, 1, 0], body_a = "cart", body_b = "b{name}", '
                f"xyz_a = [{x}, {y}, {r - 0.1 * s}]}}"
            )
            rolling.append(
                f'{{name = "w{name}", type = "rolling", body = "b{name}", radius = {r}, axis = [0, 1, 0]}}'
            )
        return {"body": bodies, "pair": pairs, "pfaffian": rolling}

    def state(w: Writing) -> dict[str, float]:
        return {
            "way": speed * w.length,
            **{name: speed / float(r) for name, r in zip(names, radii, strict=True)},
        }

    inertia = np.array([[mass + n + float((spins / radii**2).sum())]])
    made = _machine(rng, names, (False,) * n, 1.0 / radii[:, None], inertia, [speed], tables, state)
    return replace(made, gravity=(0.0, 0.0, -9.81))


def parallelogram(rng: np.random.Generator) -> Machine:
    """Return two equal cranks and a coupler that does not turn, without gravity."""
    crank, width, angle = (
        float(rng.uniform(0.15, 0.4)),
        float(rng.uniform(0.3, 0.8)),
        float(rng.uniform(0.4, 2.7)),
    )
    return _four_bar(rng, crank, width, crank, width, angle)


def crank_rocker(rng: np.random.Generator) -> Machine:
    """Return a crank, a coupler and a rocker whose ratios change with the pose; one drive has a delay."""
    crank, coupler, rocker = (
        float(rng.uniform(0.1, 0.25)),
        float(rng.uniform(0.5, 0.7)),
        float(rng.uniform(0.5, 0.7)),
    )
    ground = float(rng.uniform(0.5, 0.7))
    made = _four_bar(rng, crank, coupler, rocker, ground, float(rng.uniform(0.6, 2.5)))
    delays = [0.0] * len(made.joints)
    delays[int(rng.choice([0, 2]))] = max(made.delays)
    return replace(made, delays=tuple(delays), exchangeable=False)


def _four_bar(
    rng: np.random.Generator, crank: float, coupler: float, rocker: float, ground: float, angle: float
) -> Machine:
    """Return a four-bar in the plane: ground pin A, pins B and C of the coupler, ground pin D."""
    masses, spins = rng.uniform(0.5, 2.0, 3), rng.uniform(0.01, 0.05, 3)
    rate = float(rng.uniform(1.0, 3.0) * rng.choice((-1.0, 1.0)))

    def angles(y: float) -> Array:
        """Return the angles of crank, coupler and rocker from the x axis, rad."""
        B = crank * np.array([np.cos(y), np.sin(y)])
        reach = np.array([ground, 0.0]) - B
        far = np.hypot(*reach)
        inside = np.arccos((coupler**2 + far**2 - rocker**2) / (2 * coupler * far))
        beta = np.arctan2(reach[1], reach[0]) + inside * side(y)
        C = B + coupler * np.array([np.cos(beta), np.sin(beta)])
        return np.array([y, beta, np.arctan2(C[1], C[0] - ground)])

    def side(y: float) -> float:
        # the coupler of a parallelogram stays level: above the line from B to D, or below
        return float(np.sign(np.sin(y))) if crank == rocker else 1.0

    def links(y: float) -> Array:
        """Return the rates (3,) of crank, coupler and rocker per rate of the crank."""
        a, b, c = angles(y)
        return np.array(
            [
                1.0,
                -crank * np.sin(a - c) / (coupler * np.sin(b - c)),
                crank * np.sin(a - b) / (rocker * np.sin(c - b)),
            ]
        )

    def ratios(y: Array) -> Array:
        a, b, c = links(float(y[0]))
        return np.array([[a], [b - a], [c - b], [c]])

    def inertia(y: Array) -> Array:
        a, b, _ = angles(float(y[0]))
        wa, wb, wc = links(float(y[0]))
        to = (
            np.array([-np.sin(a), np.cos(a)]) * crank * wa
            + np.array([-np.sin(b), np.cos(b)]) * coupler / 2 * wb
        )
        own = spins + masses * np.array([crank / 2, 0.0, rocker / 2]) ** 2
        return np.array([[own @ np.array([wa, wb, wc]) ** 2 + masses[1] * to @ to]])

    first = angles(angle)
    A, D = np.zeros(2), np.array([ground, 0.0])
    B = crank * np.array([np.cos(first[0]), np.sin(first[0])])
    C = B + coupler * np.array([np.cos(first[1]), np.sin(first[1])])
    #: joint: inner body, outer body, pin
    pins = {
        "A": ("world", "crank", A),
        "B": ("crank", "coupler", B),
        "C": ("coupler", "rocker", C),
        "D": ("world", "rocker", D),
    }
    places = {"world": A, "crank": A, "coupler": B, "rocker": D}
    centres = {"crank": (A + B) / 2, "coupler": (B + C) / 2, "rocker": (C + D) / 2}

    def tables(w: Writing) -> dict[str, list[str]]:
        bodies = []
        for k, (name, centre) in enumerate(centres.items()):
            x, y = (places[name] * w.length).tolist()
            cx, cy = ((centre - places[name]) * w.length).tolist()
            i = float(spins[k] * w.length**2)
            bodies.append(
                f'{{name = "{name}", mass = {float(masses[k])!r}, xyz = [{x}, {y}, 0], com = [{cx}, {cy}, 0], '
                f"inertia = [{i}, {i}, {i}]}}"
            )
        pairs, closures = [], []
        for k, (name, (inner, outer, pin)) in enumerate(pins.items()):
            ends = [inner, outer]
            ax, ay, bx, by = [float(x) * w.length for end in ends for x in pin - places[end]]
            text = (
                f'{{name = "{name}", type = "revolute", body_a = "{inner}", body_b = "{outer}", '
                f"xyz_a = [{ax}, {ay}, 0], xyz_b = [{bx}, {by}, 0]}}"
            )
            (closures if k == w.leader % 4 else pairs).append(text)
        return {"body": bodies, "pair": pairs, "closure": closures}

    def state(w: Writing) -> dict[str, float]:
        rates = (ratios(np.array([angle])) * rate).ravel().tolist()
        return {
            name: value for k, (name, value) in enumerate(zip(pins, rates, strict=True)) if k != w.leader % 4
        }

    made = _machine(rng, tuple(pins), (False,) * 4, np.ones((4, 1)), np.eye(1), [rate], tables, state)
    energy = 0.5 * float(inertia(np.array([angle]))[0, 0]) * rate**2
    torques = rng.uniform(0.5, 1.5, 4)
    torques *= energy / 0.3 / float(torques @ np.abs(ratios(np.array([angle])).ravel()))
    return replace(
        made,
        torques=tuple(torques.tolist()),
        ratios=ratios,
        inertia=inertia,
        start=np.array([angle]),
        rates=np.array([rate]),
    )


def _machine(
    rng: np.random.Generator,
    names: tuple[str, ...],
    slides: tuple[bool, ...],
    T: Array,
    M: Array,
    rates: Sequence[float] | Array,
    tables: Callable[[Writing], Mapping[str, Sequence[str]]],
    state: Callable[[Writing], Mapping[str, float]],
) -> Machine:
    """Return a machine of constant ratios T (n, d) and inertia M (d, d), whose brakes stop it in about 0.1 s."""
    v = np.array(rates, dtype=float)
    sizes = rng.uniform(0.5, 1.5, len(names)) / np.abs(T @ v)
    torques = sizes * float(v @ M @ v) / 0.1 / len(names)
    # tenths of the second program's step would fall between its steps
    delays = rng.integers(0, 40, len(names)) * 1e-3
    delays[int(rng.integers(len(names)))] = 0.05
    return Machine(
        names,
        slides,
        tuple(torques.tolist()),
        tuple(delays.tolist()),
        lambda y: T,
        lambda y: M,
        lambda y: np.zeros(len(v)),
        np.zeros(len(v)),
        v,
        tables,
        state,
    )
