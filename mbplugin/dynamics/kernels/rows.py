"""The constraint rows that the tree leaves, as records: closures, couplings, drivers, locks, Pfaffians."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np

from mbplugin.dynamics.kernels.composite_bodies import Composites
from mbplugin.model.mechanism.coupling import Coupling, Driver, Lock
from mbplugin.model.mechanism.identity import Holder, RowLabel, drive_component, lock_component
from mbplugin.model.mechanism.joint import travel_per_radian
from mbplugin.model.mechanism.mechanism import Constraint, Mechanism
from mbplugin.model.mechanism.pair import Pair, RowKind
from mbplugin.model.mechanism.pfaffian import KnifeEdge, Rolling
from mbplugin.model.mechanism.topology import TreeJoint
from mbplugin.model.spatial import COMPONENTS, AnyArray, Array, Pose

#: Kinds of rows; 0 … 5 are the components tx … rz of an end, in axes of P, then come those of RowKind.
KIND_NUMBERS = dict(zip((kind for kind in RowKind if kind is not RowKind.AXIS), count(6), strict=False))
RATE, COMBINED, KNIFE, NORMAL, ROLL, SIDE = (6 + len(KIND_NUMBERS) + k for k in range(6))
#: How many rotations a pair blocks decides which angles are its residual.
TILT, ALL_TURNS, MEASURED = 0, 1, 2

_V, _W, _M3 = (3,), (6,), (3, 3)

#: Both frames of a cut pair: P in composite body a, S in composite body b; state in world axes.
JOINT_FRAME = np.dtype(
    [
        ("a", np.int64),
        ("b", np.int64),
        ("R_aP", np.float64, _M3),
        ("p_aP", np.float64, _V),
        ("R_bS", np.float64, _M3),
        ("p_bS", np.float64, _V),
        ("pitch", np.float64),
        ("length", np.float64),
        ("P", np.float64, _M3),
        ("S", np.float64, _M3),
        ("p_P", np.float64, _V),
        ("p_S", np.float64, _V),
        ("of_a", np.float64, _V),
        ("of_b", np.float64, _V),
        ("relative", np.float64, _W),
    ],
    align=True,
)

#: A row: ``kind``; its ``joint_frame``, or the ``rate`` of the tree, or its terms ``first`` … ``first + count``;
#: which ``angles`` its residual means; ``drive`` the prescribed motion it follows, ``offset`` the value it
#: keeps; ``unit`` makes it dimensionless. ``vectors``: point, direction, normal and point of the plane of a
#: Pfaffian row. State: ``on_a``, ``on_b`` act on the twists of composite bodies a and b; ``rate_sum`` is the row times
#: the velocities, ``b``, ``gamma`` and ``phi`` as in C v + b = 0, C v̇ = Γ, Φ = 0.
ROW = np.dtype(
    [
        ("kind", np.int64),
        ("joint_frame", np.int64),
        ("rate", np.int64),
        ("coordinate", np.int64),
        ("first", np.int64),
        ("count", np.int64),
        ("angles", np.int64),
        ("drive", np.int64),
        ("offset", np.float64),
        ("unit", np.float64),
        ("radius", np.float64),
        ("holonomic", np.bool_),
        ("a", np.int64),
        ("b", np.int64),
        ("vectors", np.float64, (4, 3)),
        ("on_a", np.float64, _W),
        ("on_b", np.float64, _W),
        ("bias", np.float64),
        ("gamma", np.float64),
        ("phi", np.float64),
    ],
    align=True,
)

#: One part of a combined row: ``coefficient`` times another row.
TERM = np.dtype([("row", np.int64), ("coefficient", np.float64)], align=True)


@dataclass(frozen=True, eq=False)
class RowTable:
    """Rows of all constraints that close the tree, then the parts that combined rows are made of.

    Parameters
    ----------
    labels : tuple of (constraint, component)
        Of the first rows; the parts have none.
    persistent : int
        How many of them always hold; those behind may hold at times.
    rows, joint_frames, terms : record arrays
    driven : tuple of (driver, freedom)
        What each ``drive`` prescribes.
    """

    labels: tuple[RowLabel, ...]
    persistent: int
    rows: AnyArray
    joint_frames: AnyArray
    terms: AnyArray
    driven: tuple[tuple[Driver, str], ...]


class _Builder:
    """Collects records; the parts of combined rows go behind the labelled rows."""

    def __init__(self, mech: Mechanism, composites: Composites, joints: Mapping[str, TreeJoint]) -> None:
        self.mech, self.composites, self.joints = mech, composites, joints
        self.rows: list[AnyArray] = []
        self.labels: list[RowLabel] = []
        self.parts: list[AnyArray] = []
        self.terms: list[tuple[int, float]] = []
        self.joint_frames: list[AnyArray] = []
        self.driven: list[tuple[Driver, str]] = []
        self._joint_frame_of: dict[str, int] = {}

    def joint_frame(self, pair: Pair) -> int:
        """Return the index of a cut pair's frames."""
        if pair.name not in self._joint_frame_of:
            record = np.zeros((), dtype=JOINT_FRAME)
            record["a"], P = self.composites.frame(self.mech, pair.body_a, pair.X_AP)
            record["b"], S = self.composites.frame(self.mech, pair.body_b, pair.X_BS)
            record["R_aP"], record["p_aP"] = P.R, P.p
            record["R_bS"], record["p_bS"] = S.R, S.p
            record["pitch"], record["length"] = travel_per_radian(pair), pair.length
            self._joint_frame_of[pair.name] = len(self.joint_frames)
            self.joint_frames.append(record)
        return self._joint_frame_of[pair.name]

    def row(self, kind: int, **values: object) -> AnyArray:
        """Return a new record, one of the rows (m,) of the table, not yet placed."""
        record = np.zeros((), dtype=ROW)
        record["kind"], record["drive"], record["joint_frame"] = kind, -1, -1
        record["unit"], record["holonomic"] = 1.0, True
        for name, value in values.items():
            record[name] = value
        if record["joint_frame"] >= 0:
            record["a"], record["b"] = (
                self.joint_frames[record["joint_frame"]]["a"],
                self.joint_frames[record["joint_frame"]]["b"],
            )
        return record

    def place(self, constraint: str, component: str, record: AnyArray) -> None:
        """Put a record behind the labelled rows.

        Parameters
        ----------
        constraint, component : str
        record : () record of an (m,) record array
        """
        self.rows.append(record)
        self.labels.append(RowLabel(constraint, component))

    def freedom(self, pair: Pair, freedom: str) -> AnyArray:
        """Return the row that measures the rate of a freedom, one of the rows (m,) of the table."""
        joint = self.joints.get(pair.name)
        if joint is not None:
            rate = joint.qd.start + pair.kind.free.index(freedom)
            name = self.mech.qd_names[rate]
            coordinate = self.mech.q_names.index(name) if name in self.mech.q_names else -1
            return self.row(RATE, rate=rate, coordinate=coordinate)
        return self.row(_kind(pair, freedom), joint_frame=self.joint_frame(pair), angles=MEASURED)


def row_table(
    mech: Mechanism,
    composites: Composites,
    columns: tuple[int, ...] = (0, 1, 2, 3, 4, 5),
    locks: Sequence[Lock] = (),
    resisted: Sequence[tuple[Pair, str]] = (),
    *,
    every_pair: bool = False,
) -> RowTable:
    """Return the rows of a mechanism; behind them those of locks, and of freedoms that friction can hold.

    Where ``columns`` leaves twist components out, free roots get rows that hold them in the plane. With
    ``every_pair`` the pairs of the tree have rows as well, and no row is that of a rate.
    """
    joints = {} if every_pair else mech.tree.joint_of_pair
    build = _Builder(mech, composites, joints)
    for constraint in mech.constraints():
        if constraint.name not in joints:
            _add(build, constraint)
    for name, rate in _rates_across(mech, columns):
        build.place("plane", name, build.row(RATE, rate=rate, coordinate=-1))
    persistent = len(build.rows)
    for lock in locks:
        _add(build, lock)
    for pair, freedom in resisted:
        build.place(str(Holder("friction", pair.name)), freedom, build.freedom(pair, freedom))
    everything = [*build.rows, *build.parts]
    terms = [(len(build.rows) + part, coefficient) for part, coefficient in build.terms]
    return RowTable(
        tuple(build.labels),
        persistent,
        np.array(everything, dtype=ROW) if everything else np.zeros(0, dtype=ROW),
        np.array(build.joint_frames, dtype=JOINT_FRAME)
        if build.joint_frames
        else np.zeros(0, dtype=JOINT_FRAME),
        np.array(terms, dtype=TERM),
        tuple(build.driven),
    )


def _add(build: _Builder, constraint: Constraint) -> None:
    match constraint:
        case Pair():
            _add_pair(build, constraint)
        case Coupling():
            _add_coupling(build, constraint)
        case Driver():
            pair = build.mech.pair_by_name[constraint.joint]
            for freedom in constraint.freedoms or pair.kind.free:
                record = build.freedom(pair, freedom)
                record["drive"] = len(build.driven)
                build.driven.append((constraint, freedom))
                build.place(constraint.name, drive_component(freedom), record)
        case Lock():
            pair = build.mech.pair_by_name[constraint.joint]
            for freedom in constraint.freedoms or pair.kind.free:
                build.place(constraint.name, lock_component(freedom), build.freedom(pair, freedom))
        case KnifeEdge() | Rolling():
            _add_pfaffian(build, constraint)


def _add_pair(build: _Builder, pair: Pair) -> None:
    joint_frame = build.joint_frame(pair)
    turns = sum(c[0] == "r" for c in pair.kind.constrained)
    for component in pair.kind.constrained:
        angles = ALL_TURNS if turns == 3 else TILT
        record = build.row(_kind(pair, component), joint_frame=joint_frame, angles=angles)
        build.place(pair.name, component, record)


def _kind(pair: Pair, component: str) -> int:
    """Return the number by which the kernels know what a component of a pair measures."""
    kind = pair.kind.row_kind(component)
    return COMPONENTS.index(component) if kind is RowKind.AXIS else KIND_NUMBERS[kind]


def _add_coupling(build: _Builder, coupling: Coupling) -> None:
    record = build.row(COMBINED, first=len(build.terms), count=len(coupling.terms), offset=coupling.offset)
    for term in coupling.terms:
        pair = build.mech.pair_by_name[term.joint]
        build.terms.append((len(build.parts), term.coefficient))
        build.parts.append(build.freedom(pair, term.freedom))
    build.place(coupling.name, "c", record)


def _add_pfaffian(build: _Builder, pfaffian: KnifeEdge | Rolling) -> None:
    composite, X = build.composites.frame(build.mech, pfaffian.body, Pose.identity())
    if isinstance(pfaffian, KnifeEdge):
        direction = X.R @ (pfaffian.direction / np.linalg.norm(pfaffian.direction))
        vectors = [X.apply(pfaffian.point), direction, np.zeros(3), np.zeros(3)]
        record = build.row(KNIFE, b=composite, vectors=np.array(vectors), holonomic=False)
        build.place(pfaffian.name, "side", record)
        return
    axis = X.R @ (pfaffian.axis / np.linalg.norm(pfaffian.axis))
    normal = pfaffian.plane_normal / np.linalg.norm(pfaffian.plane_normal)
    vectors = [X.apply(pfaffian.center), axis, normal, pfaffian.plane_point]
    for component in (*pfaffian.holonomic, *pfaffian.nonholonomic):
        record = build.row(
            {"normal": NORMAL, "roll": ROLL, "side": SIDE}[component],
            b=composite,
            vectors=np.array(vectors),
            radius=pfaffian.radius,
            holonomic=component in pfaffian.holonomic,
        )
        build.place(pfaffian.name, component, record)


def _rates_across(mech: Mechanism, columns: tuple[int, ...]) -> list[tuple[str, int]]:
    """Return the rates (name, index) of free roots that leave the plane."""
    roots = [joint.qd.start for joint in mech.tree.joints if joint.pair is None]
    return [(mech.qd_names[s + i], s + i) for s in roots for i in range(6) if i not in columns]


def row_units(table: RowTable, length: float) -> Array:
    """Return factors (m,) that make the labelled rows dimensionless with a characteristic length, m."""
    units = np.ones(len(table.labels))
    for k, (_, component) in enumerate(table.labels):
        if component[0] in "td" or component in ("normal", "roll", "side"):
            units[k] = 1.0 / length
    return units
