"""The mechanism: bodies, and everything that constrains them. Pure data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import cached_property, lru_cache
from typing import NoReturn

import numpy as np

from mbplugin.errors import BadUsage, BrokenModel, UnknownName, answers_wrong_calls, suggestion, takes_units
from mbplugin.model.brake_law import SI
from mbplugin.model.mechanism.identity import DisjointSets, Holder, adjacency, breadth_first, freedom_name
from mbplugin.model.mechanism.pair import PAIR_TYPES, Contact, MotionProfile, Pair, require_few
from mbplugin.model.spatial import Array
from mbplugin.phrases import Assumption, counted, dataclass, listed, one_line, one_line_repr
from mbplugin.rendering import Loaded, refuse_attribute

_QUATERNION = ("qx", "qy", "qz", "qw")
#: The name of the ground, which is not a body.
WORLD = "world"
#: Gravity of a mechanism that states none, m/s², world axes.
STANDARD_GRAVITY = (0.0, 0.0, -9.81)


# The graph of a mechanism: its spanning tree and the names of its joint coordinates.


@dataclass(frozen=True, eq=False)
class TreeJoint:
    """One edge of the spanning tree, from a body already reached to the next one outwards.

    Parameters
    ----------
    pair : Pair or None
        None for the free joint of a root: pose and twist of its centre of mass in the world.
    inner, outer : str
        The bodies it joins, ``inner`` nearer to the root.
    q, qd : slice
        Its slices of q and of qd.
    """

    pair: Pair | None
    inner: str
    outer: str
    q: slice
    qd: slice

    @property
    def reversed(self) -> bool:
        """True if the tree runs from the pair's successor to its predecessor."""
        return self.pair is not None and self.pair.body_b == self.inner


@dataclass(frozen=True, eq=False)
class SpanningTree:
    """The tree joints, ordered outwards from the ground, and the pairs that close loops.

    The coordinates are ordered as in the output: free roots first, then tree pairs in file order.
    """

    joints: tuple[TreeJoint, ...]
    cut: tuple[Pair, ...]
    q_names: tuple[str, ...]
    qd_names: tuple[str, ...]

    @cached_property
    def joint_of_body(self) -> dict[str, TreeJoint]:
        """The joint that carries each body."""
        return {joint.outer: joint for joint in self.joints}

    @cached_property
    def joint_of_pair(self) -> dict[str, TreeJoint]:
        """The tree joint of each pair that is not cut."""
        return {joint.pair.name: joint for joint in self.joints if joint.pair is not None}

    def carried(self, body: str) -> tuple[str, ...]:
        """Return a body and all bodies that it carries, ordered outwards."""
        found = {body: None}
        for joint in self.joints:
            if joint.inner in found:
                found[joint.outer] = None
        return tuple(found)

    def way_in(self, body: str) -> Iterator[TreeJoint]:
        """Yield the joints from a body to the ground."""
        while body != WORLD:
            joint = self.joint_of_body[body]
            yield joint
            body = joint.inner


@lru_cache(maxsize=10_000)
def coordinate_names(
    name: str, pair_type: str, free: tuple[str, ...]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of a pair's coordinates and rates (a single freedom has the name of its pair)."""
    if len(free) == 1:
        return (name,), (name,)
    if pair_type == "floating":
        rates: tuple[str, ...] = ("vx", "vy", "vz", "wx", "wy", "wz")
        q: tuple[str, ...] = ("x", "y", "z", *_QUATERNION)
    elif free[-3:] == ("rx", "ry", "rz"):
        rates = tuple(f"v{c[1]}" if c[0] == "t" else f"w{c[1]}" for c in free)
        q = tuple(c[1] for c in free[:-3]) + _QUATERNION
    else:
        rates = q = free
    return tuple(freedom_name(name, c) for c in q), tuple(freedom_name(name, c) for c in rates)


def spanning_tree(bodies: Sequence[str], pairs: Sequence[Pair]) -> SpanningTree:
    """Choose tree pairs in file order, stated closures last, and orient them outwards from the ground."""
    chosen = _tree_pairs(pairs)
    neighbours = adjacency((WORLD, *bodies), ((*pair.bodies, pair) for pair in chosen))
    order: list[tuple[str, str, Pair | None]] = []
    seen: set[str] = set()
    # bodies that are the successor of no pair come first
    successors = {pair.body_b for pair in chosen}
    for root in (WORLD, *sorted(bodies, key=lambda name: name in successors)):
        if root in seen:
            continue
        if root != WORLD:
            order.append((WORLD, root, None))
        order += breadth_first(neighbours, root, seen)
    return _number(order, pairs, chosen)


def _tree_pairs(pairs: Sequence[Pair]) -> list[Pair]:
    """Return a spanning forest; a distance pair has no coordinates and is always cut."""
    groups: DisjointSets[str] = DisjointSets()
    chosen = []
    # pairs that constrain nothing are chosen last
    candidates = [p for p in pairs if p.kind.has_coordinates and p.kind.constrained]
    candidates += [p for p in pairs if not p.kind.constrained]
    for stated_closure in (False, True):
        for pair in candidates:
            if pair.closure is stated_closure and groups.join(*pair.bodies):
                chosen.append(pair)
    return chosen


def _number(
    order: list[tuple[str, str, Pair | None]], pairs: Sequence[Pair], chosen: Sequence[Pair]
) -> SpanningTree:
    """Assign slices of q and qd to the tree joints: free roots first, then pairs in file order."""
    names = {pair.name for pair in chosen}
    q_names: list[str] = []
    qd_names: list[str] = []
    slices: dict[str, tuple[slice, slice]] = {}

    def number(key: str, name: str, kind: str, free: tuple[str, ...]) -> None:
        q, qd = coordinate_names(name, kind, free)
        slices[key] = (
            slice(len(q_names), len(q_names) + len(q)),
            slice(len(qd_names), len(qd_names) + len(qd)),
        )
        q_names.extend(q)
        qd_names.extend(qd)

    for _, outer, pair in order:
        if pair is None:
            number(f"free {outer}", outer, "floating", ("tx", "ty", "tz", "rx", "ry", "rz"))
    for pair in pairs:
        if pair.name in names:
            number(f"pair {pair.name}", pair.name, pair.type, pair.kind.free)
    joints = tuple(
        TreeJoint(pair, inner, outer, *slices[f"pair {pair.name}" if pair else f"free {outer}"])
        for inner, outer, pair in order
    )
    cut = tuple(pair for pair in pairs if pair.name not in names)
    return SpanningTree(joints, cut, tuple(q_names), tuple(qd_names))


# Couplings, drivers and locks: rows over joint velocities.


@answers_wrong_calls
@one_line_repr
@dataclass(frozen=True)
class Term:
    """One term of a coupling: ``coefficient`` times the coordinate (rad or m) of a freedom of a pair."""

    joint: str
    freedom: str
    coefficient: float


@answers_wrong_calls
@one_line_repr
@dataclass(frozen=True)
class Coupling:
    """A coupling of joints, one row: Σ coefficient · q̇ = 0, with Σ coefficient · q = offset.

    Parameters
    ----------
    name : str
        Unique among all constraints.
    type : str
        ``mimic``, ``gear`` or ``rack``, as named in the file.
    terms : tuple of Term
        Rotations in rad, translations in m.
    offset : float
        Right-hand side of the position equation.
    """

    name: str
    type: str
    terms: tuple[Term, ...]
    offset: float = 0.0


@answers_wrong_calls
@one_line_repr
@dataclass(frozen=True)
class Driver:
    """A prescribed motion of freedoms of a pair: q(t) = value + rate·t + ½·acceleration·t², or a profile.

    Parameters
    ----------
    name : str
        Unique among all constraints.
    joint : str
        The driven joint.
    freedoms : tuple of str
        The driven free components; empty means all of them.
    value : float or None
        Position at t = 0 (rad or m); None takes it from the given pose.
    rate, acceleration : float
        rad/s or m/s, and rad/s² or m/s².
    profile : MotionProfile, optional
        Replaces the three numbers, which are then set to those of the profile at t = 0.
    """

    name: str
    joint: str
    freedoms: tuple[str, ...] = ()
    value: float | None = None
    rate: float = 0.0
    acceleration: float = 0.0
    profile: MotionProfile | None = None

    def __post_init__(self) -> None:
        if self.profile is not None:
            for key, number in zip(("value", "rate", "acceleration"), self.profile(0.0), strict=True):
                object.__setattr__(self, key, number)

    def segments(self, start: float = 0.0) -> tuple[tuple[float, tuple[float, ...]], ...]:
        """Return the segments as in :class:`MotionProfile`; ``start`` (rad, m) stands for a missing value."""
        if self.profile is not None:
            return self.profile.segments
        value = start if self.value is None else self.value
        return ((0.0, (value, self.rate, 0.5 * self.acceleration)),)

    def at(self, time: float) -> tuple[float, float, float]:
        """Return value, rate and acceleration at a time (s); the value starts at 0 if none is stated."""
        if self.profile is not None:
            return self.profile(time)
        a, start = self.acceleration, 0.0 if self.value is None else self.value
        return start + self.rate * time + 0.5 * a * time**2, self.rate + a * time, a


@takes_units
@one_line_repr
@dataclass(frozen=True)
class Lock:
    """A lock of a pair: all or the named freedoms are constrained, permanently or for an interval.

    Parameters
    ----------
    joint : str
        The pair.
    at : float or None
        Time at which the lock closes, s; None or 0 means closed from the start.
    freedoms : tuple of str
        The locked free components; empty means all of them.
    until : float or None
        Time at which the lock opens again, s; None means never.
    """

    joint: str
    at: float | None = None
    freedoms: tuple[str, ...] = ()
    until: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.joint, str):
            raise BadUsage(f"a lock is of the joint {self.joint!r}", expected="a name, such as 'elbow'")
        _read_times(self)

    @property
    def for_good(self) -> bool:
        """True if the lock is closed from the start and never opens."""
        return not self.at and self.until is None

    @property
    def name(self) -> str:
        """The constraint's name in reports."""
        return str(Holder("lock", self.joint))


@answers_wrong_calls
@one_line_repr
@dataclass(frozen=True)
class TimedConstraint:
    """A closure, coupling, driver, wheel or knife edge that is active only for an interval.

    A closure keeps the relative pose that its bodies have at the start of the interval, a clutch the relative angle.
    A wheel touches its plane all the time; only its no-slip rows are limited to the interval.

    Parameters
    ----------
    constraint : str
        Its name in the mechanism.
    at : float
        Start of the interval, s; the rates jump there.
    until : float or None
        End of the interval, s; None means that it never ends.
    """

    constraint: str
    at: float = 0.0
    until: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.constraint, str):
            raise BadUsage(
                f"an interval is of the constraint {self.constraint!r}", expected="a name, such as 'clutch'"
            )
        _read_times(self)

    @property
    def name(self) -> str:
        """The constraint's name in reports."""
        return self.constraint


def _read_times(interval: Lock | TimedConstraint) -> None:
    """Convert the ends of an interval given as texts, such as ``500ms``, to seconds."""
    for end in ("at", "until"):
        value = getattr(interval, end)
        if isinstance(value, str):
            object.__setattr__(interval, end, SI.value(value, "time", f"{interval.name!r}: {end} is"))


# Velocity constraints between a body and the ground: knife edges and rolling wheels.


@answers_wrong_calls
@one_line_repr
@dataclass(frozen=True, eq=False)
class KnifeEdge:
    """A knife edge: a point of a body that cannot move sideways (wojtyra2013 (30)); row ``side``.

    Parameters
    ----------
    name : str
        Unique among all constraints.
    body : str
        The body that carries the edge.
    point : (3,) array
        Contact point in the link frame, m.
    direction : (3,) array
        Blocked direction in the link frame, of any length.
    """

    name: str
    body: str
    point: Array
    direction: Array

    type = "knife_edge"
    holonomic: tuple[str, ...] = ()
    nonholonomic: tuple[str, ...] = ("side",)


@answers_wrong_calls
@one_line_repr
@dataclass(frozen=True, eq=False)
class Rolling:
    """A thin wheel that rolls on a plane: rows ``normal`` (holonomic), ``roll`` and ``side``.

    Parameters
    ----------
    name : str
        Unique among all constraints.
    body : str
        The wheel's body.
    center, axis : (3,) array
        Wheel centre (m) and spin axis in the link frame.
    radius : float
        m.
    plane_point, plane_normal : (3,) array
        A point of the plane (m) and the plane's upward normal, in world axes.
    """

    name: str
    body: str
    center: Array
    axis: Array
    radius: float
    plane_point: Array = field(default_factory=lambda: np.zeros(3))
    plane_normal: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))

    type = "rolling"
    holonomic: tuple[str, ...] = ("normal",)
    nonholonomic: tuple[str, ...] = ("roll", "side")


Pfaffian = KnifeEdge | Rolling


# A rigid body: mass, centre of mass and inertia in its link frame.


@answers_wrong_calls
@one_line_repr
@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body.

    Parameters
    ----------
    name : str
        Unique name; ``world`` is reserved for the ground.
    mass : float
        kg; zero for a massless link.
    p_LC : (3,) array
        Centre of mass C in the link frame L, metres.
    I_C : (3, 3) array
        Inertia about C in link axes, kg·m².
    """

    name: str
    mass: float = 0.0
    p_LC: Array = field(default_factory=lambda: np.zeros(3))
    I_C: Array = field(default_factory=lambda: np.zeros((3, 3)))

    @property
    def massless(self) -> bool:
        """True if the body has neither mass nor inertia."""
        return self.mass == 0.0 and not self.I_C.any()


Constraint = Pair | Coupling | Driver | Lock | Pfaffian | Contact


def base_sentence(assumed_fixed: Sequence[str]) -> tuple[str, ...]:
    """Return a sentence on roots assumed to be fixed, and how to change that; empty if there are none."""
    if not assumed_fixed:
        return ()
    verb = "is" if len(assumed_fixed) == 1 else "are"
    sentence = f"{listed(assumed_fixed)} {verb} taken as fixed to the ground: --base free (base='free') changes that."
    return (Assumption(sentence, f"{listed(assumed_fixed, 1)} taken as fixed to the ground (--base free)"),)


def floating_sentence(mech: Mechanism) -> tuple[str, ...]:
    """Return a sentence on roots that nothing joins to the ground, and how to fix them; empty if there are none."""
    if mech.pfaffians or mech.contacts:
        return ()
    tied: DisjointSets[str] = DisjointSets()
    for pair in mech.pairs:
        if pair.type != "floating":
            tied.join(pair.body_a, pair.body_b)
    roots = [
        joint.outer
        for joint in mech.tree.joints
        if joint.pair is None or (joint.pair.type == "floating" and joint.inner == WORLD)
    ]
    loose = [root for root in roots if tied.find(root) != tied.find(WORLD)]
    if not loose:
        return ()
    verbs = ("moves", "it") if len(loose) == 1 else ("move", "them")
    sentence = (
        f"{listed(loose)} {verbs[0]} freely, as nothing holds {verbs[1]}: --base fixed (base='fixed') does."
    )
    return (Assumption(sentence, f"nothing holds {listed(loose, 1)} (--base fixed)"),)


def held_sentence(assumed_held: Sequence[str]) -> tuple[str, ...]:
    """Return a sentence on joints assumed to be held, and how to change that; empty if there are none."""
    if not assumed_held:
        return ()
    one = len(assumed_held) == 1
    sentence = (
        f"{listed(assumed_held)} {'is' if one else 'are'} taken as held: the load moves {'it' if one else 'them'}, and "
        f"the file states no drive. --hold (hold=[...]) names the joints that are held."
    )
    return (Assumption(sentence, f"{_some(assumed_held)} held, as the file states no drive (--hold)"),)


def _some(joints: Sequence[str]) -> str:
    """Return the name of one joint, or the number of several."""
    return joints[0] if len(joints) == 1 else f"{len(joints)} joints"


@answers_wrong_calls
@dataclass(frozen=True, eq=False)
class Mechanism(metaclass=Loaded):
    """Bodies and constraints of a mechanism: any graph, with loops, several roots or several models.

    Parameters
    ----------
    name : str
        The name in reports.
    bodies : tuple of Body
        In file order, which is that of the columns of the constraint matrix.
    pairs, couplings, drivers, locks, pfaffians : tuple
        Constraints in file order, which is that of the rows, holonomic ones first.
    gravity : (3,) array
        m/s², world axes.
    assumed_fixed : tuple of str
        Roots that a command assumes to be fixed to the ground because the model does not say.
    assumed_drives : tuple of str
        Joints whose effort limit a command assumes, because no joint states a brake or an effort limit.
    contacts : tuple of Contact
        Contact points that hold at the analysed instant; only analyses of one instant add them.

    Raises
    ------
    BrokenModel
        Two bodies or two constraints have the same name, or a constraint is impossible.
    UnknownName
        A constraint refers to a body, pair or freedom that does not exist.
    """

    name: str
    bodies: tuple[Body, ...]
    pairs: tuple[Pair, ...] = ()
    couplings: tuple[Coupling, ...] = ()
    drivers: tuple[Driver, ...] = ()
    locks: tuple[Lock, ...] = ()
    pfaffians: tuple[Pfaffian, ...] = ()
    gravity: Array = field(default_factory=lambda: np.array(STANDARD_GRAVITY))
    assumed_fixed: tuple[str, ...] = ()
    assumed_drives: tuple[str, ...] = ()
    contacts: tuple[Contact, ...] = ()

    def __post_init__(self) -> None:
        _require_unique("body", [WORLD, *(body.name for body in self.bodies)])
        _require_unique("constraint", [constraint.name for constraint in self.constraints()])
        for pair in self.pairs:
            self._require_bodies(pair.name, pair.body_a, pair.body_b)
            if pair.body_a == pair.body_b:
                raise BrokenModel(f"pair {pair.name!r} joins body {pair.body_a!r} to itself")
        for pfaffian in self.pfaffians:
            self._require_bodies(pfaffian.name, pfaffian.body)
            if pfaffian.body == WORLD:
                raise BrokenModel(f"constraint {pfaffian.name!r} is on {WORLD!r}, which does not move")
        require_few(self.contacts)
        for contact in self.contacts:
            self._require_bodies(contact.name, contact.body, contact.on)
        for coupling in self.couplings:
            if not any(term.coefficient for term in coupling.terms):
                raise BrokenModel(
                    f"coupling {coupling.name!r} has only coefficients of zero",
                    remedy="give one of its joints another coefficient, or remove the coupling",
                )
        for owner, name, freedom in self._references():
            self._require_freedom(owner, name, freedom)

    def __repr__(self) -> str:
        facts = (counted(len(self.bodies), "body", "bodies"), counted(len(self.pairs), "pair"))
        return one_line(self, self.name, (*facts, counted(len(self.couplings), "coupling")))

    def __getattr__(self, name: str) -> NoReturn:
        """Raise the error for an attribute that does not exist, with the nearest one that does."""
        refuse_attribute(self, name)

    def constraints(self) -> Iterator[Constraint]:
        """Yield all constraints in the order of the rows."""
        yield from self.pairs
        yield from self.couplings
        yield from self.drivers
        yield from self.locks
        yield from self.pfaffians
        yield from self.contacts

    @cached_property
    def body_index(self) -> dict[str, int]:
        """Index of each body by name; the ground is −1."""
        return {WORLD: -1, **{body.name: i for i, body in enumerate(self.bodies)}}

    @cached_property
    def pair_by_name(self) -> dict[str, Pair]:
        """Each pair by name."""
        return {pair.name: pair for pair in self.pairs}

    @cached_property
    def tree(self) -> SpanningTree:
        """The spanning tree whose joint coordinates describe the mechanism."""
        return spanning_tree([b.name for b in self.bodies], self.pairs)

    @cached_property
    def measured_pairs(self) -> frozenset[str]:
        """Names of the pairs whose freedoms a coupling, driver or lock refers to."""
        return frozenset(pair for _, pair, _ in self._references())

    @cached_property
    def largest_place(self) -> float:
        """Largest absolute coordinate of a joint or a centre of mass in a link frame or the world, m."""
        places = [*(body.p_LC for body in self.bodies), *(X.p for p in self.pairs for X in (p.X_AP, p.X_BS))]
        return float(np.abs(places).max()) if places else 0.0

    @cached_property
    def largest_arm(self) -> float:
        """Largest distance of a joint from the centre of mass of a body that it joins, m."""
        sides = (side for p in self.pairs for side in ((p.body_a, p.X_AP), (p.body_b, p.X_BS)))
        arms = [X.p - self.bodies[self.body_index[name]].p_LC for name, X in sides if name != WORLD]
        return float(np.linalg.norm(arms, axis=1).max()) if arms else 0.0

    @property
    def q_names(self) -> tuple[str, ...]:
        """Names of the joint coordinates."""
        return self.tree.q_names

    @property
    def qd_names(self) -> tuple[str, ...]:
        """Names of the joint rates."""
        return self.tree.qd_names

    def _references(self) -> Iterator[tuple[str, str, str]]:
        for coupling in self.couplings:
            yield from ((coupling.name, t.joint, t.freedom) for t in coupling.terms)
        for driver in self.drivers:
            yield from ((driver.name, driver.joint, f) for f in driver.freedoms or ("",))
        for lock in self.locks:
            yield from ((lock.name, lock.joint, f) for f in lock.freedoms or ("",))

    def _require_bodies(self, owner: str, *names: str) -> None:
        for name in names:
            if name not in self.body_index:
                raise UnknownName(
                    f"constraint {owner!r} names an unknown body {name!r}",
                    remedy=suggestion(name, list(self.body_index)),
                )

    def _require_freedom(self, owner: str, pair: str, freedom: str) -> None:
        if pair not in self.pair_by_name:
            raise UnknownName(
                f"constraint {owner!r} names an unknown pair {pair!r}",
                remedy=suggestion(pair, list(self.pair_by_name)),
            )
        kind = PAIR_TYPES[self.pair_by_name[pair].type]
        if not kind.free:
            raise BrokenModel(f"constraint {owner!r} acts on {kind.name} pair {pair!r}, which has no freedom")
        if freedom and freedom not in kind.free:
            raise UnknownName(
                f"constraint {owner!r} names freedom {freedom!r} of {kind.name} pair {pair!r}",
                expected=f"one of {', '.join(kind.free)}",
            )


def _require_unique(kind: str, names: list[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise BrokenModel(f"two of the model's {kind} names are {name!r}", remedy="rename one")
        seen.add(name)
