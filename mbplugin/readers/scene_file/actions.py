"""Pairs and closures of a scene, and what acts on pairs and bodies: couplings, wheels, drivers, loads and the like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace

import numpy as np

from mbplugin.errors import BadScene, BadUsage, UnknownName, suggestion
from mbplugin.model import MOST_CONTACTS, PAIR_TYPES, Array, Contact, Pair, Pose, align_z, mechanism, units_of
from mbplugin.model.brake_law import Brake, Ramp, contradiction
from mbplugin.model.scene import FREEDOM_KEYS, Actuator, Load, Payload, Stiffness
from mbplugin.phrases import counted
from mbplugin.readers.contact_points import require_different
from mbplugin.readers.scene_file import SceneFile, SceneSource, located, stated_with_origin
from mbplugin.readers.scene_file.tables import (
    BrakeTable,
    ClosureTable,
    CouplingTable,
    JointTable,
    PairTable,
    PfaffianTable,
    RampTable,
    StiffnessTable,
)
from mbplugin.readers.standing import named

_FRAME_KEYS = ("xyz_a", "rpy_a", "xyz_b", "rpy_b")
#: Keys that a passive joint cannot have.
_OF_DRIVES = FREEDOM_KEYS[:4]


def require_known(name: str, known: Mapping[str, object], kind: str, where: str) -> None:
    """Refuse a name that is not among the known ones.

    Raises
    ------
    UnknownName
        Suggests the nearest name.
    """
    if name not in known:
        raise UnknownName(f"no {kind} is called {name!r}", where=where, remedy=suggestion(name, list(known)))


def declares_new_pair(source: SceneSource, index: int, table: PairTable, known: Mapping[str, Pair]) -> bool:
    """Return True if a ``[[pair]]`` declares a new pair (with bodies), False if it retypes one (without).

    Raises
    ------
    BadScene
        Only one body is named, frames are stated without bodies, or a new pair is called passive.
    UnknownName
        The pair to retype does not exist.
    """
    if table.body_a is not None and table.body_b is not None:
        if table.passive:
            raise BadScene(
                f"[[pair]] {table.name!r} is a new one and called passive",
                where=source.where("pair", index, "passive"),
                expected="passive for a joint that a file describes",
            )
        return True
    where = source.where("pair", index)
    if table.body_a is not None or table.body_b is not None:
        raise BadScene(
            f"[[pair]] {table.name!r} names one body only",
            where=where,
            expected="body_a and body_b for a new pair, neither to change the type of one",
        )
    if extra := [key for key in _FRAME_KEYS if getattr(table, key) is not None]:
        raise BadScene(
            f"[[pair]] {table.name!r} has {extra[0]} but no bodies",
            where=source.where("pair", index, extra[0]),
            expected="name, type and axis to change the type of a pair",
            remedy="add body_a and body_b if it is a new one",
        )
    require_known(table.name, known, "pair", where)
    return False


def changes_coordinates(pair: Pair, table: PairTable) -> bool:
    """Return True if retyping changes the meaning of the pair's coordinates."""
    return table.axis is not None or PAIR_TYPES[table.type].free != pair.kind.free


def retyped(source: SceneSource, index: int, table: PairTable, pair: Pair) -> Pair:
    """Return a pair changed to the type of a ``[[pair]]`` table.

    Raises
    ------
    BadScene
        The axis, lead, length or limits do not suit the type.
    """
    _check_axis(source, "pair", index, table)
    axis = None if table.axis is None else np.array(table.axis)
    if table.type == "universal" and axis is not None and not axis[:2].any():
        raise BadScene(
            f"the second cross axis of {table.name!r} lies along the first",
            where=source.where("pair", index, "axis"),
            expected="an axis across the old joint axis (z)",
        )
    lead = table.lead if table.lead is not None else pair.lead
    length = table.length if table.length is not None else pair.length
    _check_measures(source, "pair", index, table, lead, length)
    pair = replace(pair.retyped(table.type, axis), lead=lead, length=length)
    return with_freedom(source, index, table, pair)


def declared(
    source: SceneSource,
    kind: str,
    index: int,
    table: PairTable | ClosureTable,
    poses: Mapping[str, Pose],
) -> Pair:
    """Return the pair declared by a ``[[pair]]`` with bodies or by a ``[[closure]]``.

    Parameters
    ----------
    kind : "pair" or "closure"
        The table's name.
    poses : mapping of body name to Pose
        X_WL at the scene's state, including the ground; an unstated side is computed from them.

    Raises
    ------
    BadScene
        A body is joined to itself, or the axis, sides, lead or length do not suit the type.
    UnknownName
        A body does not exist.
    """
    body_a, body_b = str(table.body_a), str(table.body_b)
    for key, body in (("body_a", body_a), ("body_b", body_b)):
        require_known(body, poses, "body", source.where(kind, index, key))
    if body_a == body_b:
        raise BadScene(
            f"[[{kind}]] {table.name!r} joins {body_a!r} to itself", where=source.where(kind, index)
        )
    _check_axis(source, kind, index, table)
    turn = Pose(np.eye(3) if table.axis is None else align_z(np.array(table.axis)), np.zeros(3))
    X_AP, X_BS = _sides(source, kind, index, table, poses[body_a], poses[body_b])
    X_AP, X_BS = X_AP @ turn, X_BS @ turn
    length = table.length or 0.0
    if PAIR_TYPES[table.type].size == "length" and table.length is None:
        length = PAIR_TYPES[table.type].separation((poses[body_a] @ X_AP).inverse() @ poses[body_b] @ X_BS)
    lead = table.lead or 0.0
    _check_measures(source, kind, index, table, lead, length)
    pair = Pair(
        table.name,
        table.type,
        body_a,
        body_b,
        X_AP,
        X_BS,
        closure=kind == "closure",
        lead=lead,
        length=length,
    )
    return with_freedom(source, index, table, pair) if isinstance(table, PairTable) else pair


def states_both_sides(table: JointTable) -> bool:
    """Return True if the joint frame is stated on both sides."""
    return _states(table, "a") and _states(table, "b")


def _states(table: JointTable, side: str) -> bool:
    return getattr(table, f"xyz_{side}") is not None or getattr(table, f"rpy_{side}") is not None


def _sides(
    source: SceneSource, kind: str, index: int, table: PairTable | ClosureTable, X_WA: Pose, X_WB: Pose
) -> tuple[Pose, Pose]:
    """Return the joint frame in both link frames, before its z is rotated to the axis."""
    if not (_states(table, "a") or _states(table, "b")):
        raise BadScene(
            f"[[{kind}]] {table.name!r} gives no joint frame",
            where=source.where(kind, index),
            expected="xyz_a in the link frame of body_a, or xyz_b",
        )
    X_AP = source.pose(kind, index, table.xyz_a, table.rpy_a, "rpy_a")
    X_BS = source.pose(kind, index, table.xyz_b, table.rpy_b, "rpy_b")
    if PAIR_TYPES[table.type].size == "length" and not states_both_sides(table):
        raise BadScene(
            f"[[{kind}]] {table.name!r} keeps a distance but gives one point",
            where=source.where(kind, index),
            expected="xyz_a and xyz_b",
        )
    if not _states(table, "b"):
        X_BS = X_WB.inverse() @ X_WA @ X_AP
    elif not _states(table, "a"):
        X_AP = X_WA.inverse() @ X_WB @ X_BS
    return X_AP, X_BS


def _check_axis(source: SceneSource, kind: str, index: int, table: PairTable | ClosureTable) -> None:
    if table.axis is not None and not any(table.axis):
        raise BadScene(
            f"the axis of [[{kind}]] {table.name!r} is zero",
            where=source.where(kind, index, "axis"),
            expected="a direction",
        )


def _check_measures(
    source: SceneSource,
    kind: str,
    index: int,
    table: PairTable | ClosureTable,
    lead: float,
    length: float,
) -> None:
    """Require the lead of a screw and the length of a distance pair, and refuse them elsewhere."""
    for key, value in (("lead", lead), ("length", length)):
        of_type = PAIR_TYPES[table.type].size == key
        if of_type and not value:
            raise BadScene(
                f"[[{kind}]] {table.name!r} is a {table.type} without a {key}",
                where=source.where(kind, index),
                remedy=f"add {key} = … in metres{' per turn' if key == 'lead' else ''}",
            )
        if not of_type and getattr(table, key) is not None:
            owners = " or ".join(repr(name) for name, known in PAIR_TYPES.items() if known.size == key)
            raise BadScene(
                f"[[{kind}]] {table.name!r} is {table.type} and has a {key}",
                where=source.where(kind, index, key),
                expected=f"{key} with type = {owners} only",
            )


# Values of a ``[[pair]]`` table for the freedom of its pair: limits, drive, damping and friction.


def with_freedom(source: SceneSource, index: int, table: PairTable, pair: Pair) -> Pair:
    """Return the pair with its freedom updated by the values of its ``[[pair]]`` table.

    Raises
    ------
    BadScene
        Values for a pair without exactly one freedom, or for a passive one; a lower limit that is not below the upper.
    """
    stated = {key: value for key in FREEDOM_KEYS if (value := getattr(table, key)) is not None}
    by_load = _load_friction(source, index, table, pair)
    if by_load is not None:
        by_load_of = replace(
            pair.freedoms[0], load_friction=by_load, guide_length=_guide_length(source, index, table, pair)
        )
        pair = replace(pair, freedoms=(by_load_of,))
    elif table.guide_length is not None:
        raise BadScene(
            f"[[pair]] {table.name!r} states guide_length and no friction",
            where=source.where("pair", index, "guide_length"),
            expected="friction_coefficient beside guide_length, which only friction depends on",
        )
    if not stated:
        return pair
    first = next(iter(stated))
    where = source.where("pair", index, first)
    if len(pair.kind.free) != 1:
        raise BadScene(
            f"[[pair]] {table.name!r} is {pair.type} and states its {first}",
            where=where,
            expected="a pair with one freedom",
        )
    if table.passive and first in _OF_DRIVES:
        raise BadScene(
            f"[[pair]] {table.name!r} is passive and states its {first}",
            where=where,
            expected="no limits and no drive of a passive joint",
        )
    freedom = replace(pair.freedoms[0], **stated)
    if ("lower" in stated or "upper" in stated) and not freedom.lower < freedom.upper:
        raise BadScene(
            f"[[pair]] {table.name!r} has limits from {freedom.lower:g} to {freedom.upper:g}",
            where=where,
            expected="a lower limit below the upper one",
        )
    return replace(pair, freedoms=(freedom,))


def _guide_length(source: SceneSource, index: int, table: PairTable, pair: Pair) -> float:
    """Return the length of the bush of a guide, m; 0 if none is stated."""
    if table.guide_length is not None and pair.type != "prismatic":
        raise BadScene(
            f"[[pair]] {table.name!r} is {pair.type} and states guide_length",
            where=source.where("pair", index, "guide_length"),
            expected="a prismatic pair",
        )
    return table.guide_length or 0.0


def _load_friction(source: SceneSource, index: int, table: PairTable, pair: Pair) -> float | None:
    """Return the dry friction per newton of joint force: μ, or μ r, m; None if none is stated."""
    mu, radius = table.friction_coefficient, table.friction_radius
    if mu is None and radius is None:
        return None
    where = source.where("pair", index, "friction_radius" if mu is None else "friction_coefficient")
    if pair.type not in ("revolute", "prismatic"):
        raise BadScene(
            f"[[pair]] {table.name!r} is {pair.type} and states friction that grows with its load",
            where=where,
            expected="a revolute or a prismatic pair",
        )
    if mu is None or (radius is None) == (pair.type == "revolute"):
        keys = "both" if pair.type == "revolute" else "friction_coefficient alone"
        raise BadScene(
            f"[[pair]] {table.name!r} is {pair.type} and states friction_coefficient or friction_radius",
            where=where,
            expected=f"{keys}: the friction is "
            + ("coefficient · radius · force" if pair.type == "revolute" else "coefficient · force"),
        )
    return mu * (1.0 if radius is None else radius)


#: Tolerance relative to the largest covariance; six digits of each are written.
_ROUNDED = 1e-4
Pairs = Mapping[str, Pair]
Bodies = Mapping[str, object]


def couplings(source: SceneSource, tables: SceneFile, pairs: Pairs) -> tuple[mechanism.Coupling, ...]:
    """Return the ``[[coupling]]`` tables."""
    return tuple(_coupling(source, i, table, pairs) for i, table in enumerate(tables.coupling))


def _coupling(source: SceneSource, index: int, table: CouplingTable, pairs: Pairs) -> mechanism.Coupling:
    where = source.where("coupling", index)
    name = coupling_name(index, table)
    if (table.terms is None) == (table.joint is None or table.of is None):
        raise BadScene(
            f"[[coupling]] {name!r} does not say what it couples",
            where=where,
            expected="either joint and of (with ratio, offset), or terms",
        )
    if table.terms is not None:
        named = [(term.joint, term.freedom, term.coefficient) for term in table.terms]
    else:
        named = [(str(table.joint), None, 1.0), (str(table.of), None, -table.ratio)]
    terms = tuple(
        mechanism.Term(joint, one_freedom(pairs, joint, freedom, where), coefficient)
        for joint, freedom, coefficient in named
    )
    return mechanism.Coupling(name, table.type, terms, table.offset)


def coupling_name(index: int, table: CouplingTable) -> str:
    """Return the stated name of a coupling, or one composed of its type and joint."""
    return table.name or f"{table.type} {table.joint or index + 1}"


def one_freedom(pairs: Pairs, joint: str, freedom: str | None, where: str) -> str:
    """Return the requested freedom of a joint, or its only one.

    Raises
    ------
    BadScene
        The joint has no freedom, or several and none is named.
    UnknownName
        The joint does not exist, or does not have the freedom.
    """
    require_known(joint, pairs, "pair", where)
    if freedom is not None:
        check_freedoms(pairs, joint, [freedom], where)
        return freedom
    free = pairs[joint].kind.free
    if len(free) != 1:
        raise BadScene(
            f"{pairs[joint].type} pair {joint!r} has {len(free)} freedoms",
            where=where,
            expected="a pair with one freedom",
            remedy=f"name one of {', '.join(free)} as freedom" if free else "",
        )
    return free[0]


def check_freedoms(pairs: Pairs, joint: str, freedoms: Sequence[str], where: str) -> None:
    """Refuse an unknown pair, a pair without freedoms, and freedoms that it does not have.

    Raises
    ------
    BadScene
        The pair has no freedom.
    UnknownName
        The pair does not exist, or does not have the freedom.
    """
    require_known(joint, pairs, "pair", where)
    kind = PAIR_TYPES[pairs[joint].type]
    if not kind.free:
        raise BadScene(f"{kind.name} pair {joint!r} has no freedom to act on", where=where)
    for freedom in freedoms:
        if freedom not in kind.free:
            raise UnknownName(
                f"{kind.name} pair {joint!r} has no freedom {freedom!r}",
                where=where,
                expected=f"one of {', '.join(kind.free)}",
            )


def pfaffians(source: SceneSource, tables: SceneFile, bodies: Bodies) -> tuple[mechanism.Pfaffian, ...]:
    """Return the ``[[pfaffian]]`` tables."""
    return tuple(_pfaffian(source, i, table, bodies) for i, table in enumerate(tables.pfaffian))


def _pfaffian(source: SceneSource, index: int, table: PfaffianTable, bodies: Bodies) -> mechanism.Pfaffian:
    require_known(table.body, bodies, "body", source.where("pfaffian", index, "body"))
    if table.body == mechanism.WORLD:
        raise BadScene(
            f"the body of [[pfaffian]] {table.name!r} is {mechanism.WORLD!r}",
            where=source.where("pfaffian", index, "body"),
            expected="a body that moves",
        )
    wanted = {"knife_edge": ("direction",), "rolling": ("axis", "radius")}
    for key in ("direction", "axis", "radius", "plane"):
        value, needed = getattr(table, key), key in wanted[table.type]
        if needed and value is None:
            raise BadScene(
                f"[[pfaffian]] {table.name!r} is a {table.type} without {key}",
                where=source.where("pfaffian", index),
                remedy=f"add {key} = …",
            )
        if value is not None and not needed and (key != "plane" or table.type == "knife_edge"):
            raise BadScene(
                f"[[pfaffian]] {table.name!r} is a {table.type} and has {key}",
                where=source.where("pfaffian", index, key),
                expected=", ".join(wanted[table.type]),
            )
    point = np.array(table.point)
    if table.type == "knife_edge":
        return mechanism.KnifeEdge(
            table.name, table.body, point, _direction(source, index, table, "direction")
        )
    axis = _direction(source, index, table, "axis")
    radius = float(table.radius or 0.0)
    if table.plane is None:
        return mechanism.Rolling(table.name, table.body, point, axis, radius)
    normal = np.array(table.plane.normal)
    if not normal.any():
        raise BadScene(
            f"the plane of {table.name!r} has a zero normal", where=source.where("pfaffian", index, "plane")
        )
    return mechanism.Rolling(table.name, table.body, point, axis, radius, np.array(table.plane.point), normal)


def _direction(source: SceneSource, index: int, table: PfaffianTable, key: str) -> Array:
    """Return a direction of a ``[[pfaffian]]`` table (3,); zero is refused."""
    direction = np.array(getattr(table, key), dtype=float)
    if not direction.any():
        raise BadScene(f"{key} of {table.name!r} is zero", where=source.where("pfaffian", index, key))
    return direction


def locks(source: SceneSource, tables: SceneFile, pairs: Pairs) -> tuple[mechanism.Lock, ...]:
    """Return the ``[[lock]]`` tables; locks closed from the start have ``at`` None.

    Raises
    ------
    BadScene
        A lock opens before it closes.
    UnknownName
        The joint does not exist, or does not have the freedom.
    """
    for i, table in enumerate(tables.lock):
        check_freedoms(pairs, table.joint, table.freedoms, source.where("lock", i, "joint"))
        if table.until is not None and not table.until > (table.at or 0.0):
            raise BadScene(
                f"the lock of {table.joint!r} closes at {table.at or 0:g} s and opens at {table.until:g} s",
                where=source.where("lock", i, "until"),
                expected="a later time",
            )
    return tuple(
        mechanism.Lock(table.joint, table.at or None, tuple(table.freedoms), table.until)
        for table in tables.lock
    )


def holds(
    source: SceneSource, tables: SceneFile, mech: mechanism.Mechanism
) -> tuple[mechanism.TimedConstraint, ...]:
    """Return the ``[[hold]]`` tables.

    Raises
    ------
    BadScene
        A hold opens before it closes, names a lock, or a constraint that another ``[[hold]]`` names.
    UnknownName
        The constraint does not exist.
    """
    kinds = {constraint.name: constraint for constraint in mech.constraints()}
    for i, table in enumerate(tables.hold):
        name, where = table.constraint, source.where("hold", i, "constraint")
        require_known(name, kinds, "constraint", where)
        if isinstance(kinds[name], mechanism.Lock):
            raise BadScene(f"{name!r} is a lock", where=where, expected="at and until in its [[lock]]")
        if name in (other.constraint for other in tables.hold[:i]):
            raise BadScene(f"constraint {name!r} is to hold twice", where=where, expected="one [[hold]] each")
        if table.until is not None and not table.until > table.at:
            raise BadScene(
                f"constraint {name!r} closes at {table.at:g} s and opens at {table.until:g} s",
                where=source.where("hold", i, "until"),
                expected="a later time",
            )
    return tuple(mechanism.TimedConstraint(table.constraint, table.at, table.until) for table in tables.hold)


def contacts(source: SceneSource, tables: SceneFile, mech: mechanism.Mechanism) -> tuple[Contact, ...]:
    """Return the ``[[contact]]`` tables.

    Raises
    ------
    BadScene, BadUsage, BadNumber
        A contact is impossible, there are too many, or a name is taken.
    UnknownName
        A body does not exist.
    """
    if len(tables.contact) > MOST_CONTACTS:
        raise BadScene(
            f"there are {len(tables.contact)} [[contact]] tables",
            where=source.where("contact", MOST_CONTACTS),
            expected=f"{MOST_CONTACTS} at most",
        )
    taken = {constraint.name for constraint in mech.constraints()}
    found = []
    for i, table in enumerate(tables.contact):
        for key in ("body_a", "body_b"):
            require_known(getattr(table, key), mech.body_index, "body", source.where("contact", i, key))
        if table.name in taken:
            raise BadScene(
                f"two constraints are called {table.name!r}",
                where=source.where("contact", i, "name"),
                remedy="rename one",
            )
        taken.update([table.name] if table.name else [])
        with located(source.where("contact", i)):
            found.append(
                Contact(
                    table.name or "",
                    table.body_a,
                    np.array(table.point),
                    np.array(table.normal),
                    table.mu,
                    table.body_b,
                )
            )
    made = tuple(named(found, taken))
    require_different(made, where=lambda k: source.where("contact", k))
    return made


def loads(source: SceneSource, tables: SceneFile, bodies: Bodies) -> tuple[Load, ...]:
    """Return the ``[[load]]`` tables."""
    for i, table in enumerate(tables.load):
        require_known(table.body, bodies, "body", source.where("load", i, "body"))
    return tuple(
        Load(table.body, np.array(table.force), np.array(table.torque), np.array(table.point), table.frame)
        for table in tables.load
    )


def stiffness(source: SceneSource, tables: SceneFile, pairs: Pairs, bodies: Bodies) -> tuple[Stiffness, ...]:
    """Return the ``[[stiffness]]`` tables."""
    return tuple(_stiffness(source, i, table, pairs, bodies) for i, table in enumerate(tables.stiffness))


def _stiffness(
    source: SceneSource, index: int, table: StiffnessTable, pairs: Pairs, bodies: Bodies
) -> Stiffness:
    of_pair = table.pair is not None and table.k is not None
    of_body = table.body is not None and table.section is not None
    stated = sum(value is not None for value in (table.pair, table.k, table.body, table.section))
    if of_pair == of_body or stated != 2:
        raise BadScene(
            f"[[stiffness]] {index + 1} is of no pair and no body",
            where=source.where("stiffness", index),
            expected="pair and k, or body and section",
        )
    if table.pair is not None:
        require_known(table.pair, pairs, "pair", source.where("stiffness", index, "pair"))
        return Stiffness(pair=table.pair, matrix=_stiffness_matrix(source, index, table))
    require_known(str(table.body), bodies, "body", source.where("stiffness", index, "body"))
    section = table.section.as_dict() if table.section else {}
    section = {name: value for name, value in section.items() if value is not None}
    return Stiffness(body=str(table.body), section=section)


def _stiffness_matrix(source: SceneSource, index: int, table: StiffnessTable) -> Array:
    """Return the stiffness (6, 6) of a ``[[stiffness]]`` table, N/m and N·m/rad."""
    try:
        k = np.array(table.k, dtype=float)
    except ValueError:
        k = np.empty(0)
    if k.shape not in ((6,), (6, 6)):
        raise BadScene(
            f"k of [[stiffness]] {table.pair!r} has not six numbers",
            where=source.where("stiffness", index, "k"),
            expected="six on the diagonal (N/m, N·m/rad) or six rows of six",
        )
    return np.asarray(np.diag(k) if k.ndim == 1 else k)


def brakes(source: SceneSource, tables: SceneFile, pairs: Pairs) -> tuple[Brake, ...]:
    """Return the ``[[brake]]`` tables.

    Raises
    ------
    BadScene
        The numbers of a brake contradict each other.
    UnknownName
        The joint does not exist.
    """
    for i, table in enumerate(tables.brake):
        check_freedoms(pairs, table.joint, (), source.where("brake", i, "joint"))
        _check_uncertainty(table, Brake, source.where("brake", i))
    out = tuple(Brake(**stated_with_origin(table)) for table in tables.brake)
    for i, brake in enumerate(out):
        pair = pairs[brake.joint]
        # a contradiction is refused, whichever command would use the brake
        effort = pair.freedoms[0].effort if len(pair.freedoms) == 1 else 0.0
        unit = units_of(pair.kind.free[0]).force
        if wrong := contradiction(brake, effort, unit):
            key, clause, expected = wrong
            where = source.where("brake", i, key)
            raise BadScene(f"the brake of {brake.joint!r} {clause}", where=where, expected=expected)
    return out


def ramps(source: SceneSource, tables: SceneFile, pairs: Pairs) -> tuple[Ramp, ...]:
    """Return the ``[[ramp]]`` tables.

    Raises
    ------
    BadScene
        Not exactly one of time and deceleration, or a second ramp of a joint.
    UnknownName
        The joint does not exist.
    """
    out: list[Ramp] = []
    for i, table in enumerate(tables.ramp):
        check_freedoms(pairs, table.joint, (), source.where("ramp", i, "joint"))
        if table.joint in (ramp.joint for ramp in out):
            where = source.where("ramp", i, "joint")
            raise BadScene(f"joint {table.joint!r} has two ramps", where=where, expected="one per joint")
        _check_uncertainty(table, Ramp, source.where("ramp", i))
        try:
            out.append(Ramp(**stated_with_origin(table)))
        except BadUsage as error:
            raise BadScene(error.what, where=source.where("ramp", i), expected=error.expected) from None
    return tuple(out)


def _check_uncertainty(table: BrakeTable | RampTable, kind: type[Brake | Ramp], where: str) -> None:
    """Refuse an uncertainty that is inconsistent with a fit of parameters of a brake or a ramp.

    Raises
    ------
    BadScene
    """
    fitted = table.uncertainty
    if fitted is None:
        return
    what, p = f"the uncertainty of {table.joint!r}", len(fitted.parameters)
    words = ("joint", "origin", "uncertainty", "static_torque")
    known = [part.name for part in fields(kind) if part.name not in words]
    for name in (*fitted.parameters, *fitted.not_determined):
        if name not in known:
            raise BadScene(f"{what} names {name!r}", where=where, expected=f"some of {', '.join(known)}")
    for names in (fitted.parameters, fitted.not_determined):
        if len(set(names)) < len(names):
            raise BadScene(f"{what} names a parameter twice", where=where, expected="each once")
    if len(fitted.unseen) > p:
        raise BadScene(
            f"{what} has {len(fitted.unseen)} unseen directions", where=where, expected=f"{p} at most"
        )
    rows = {"sizes": [fitted.sizes], "unseen": fitted.unseen, "covariance": fitted.covariance}
    for key, value in rows.items():
        if any(len(row) != p for row in value):
            raise BadScene(f"{key} in {what} has another length", where=where, expected=counted(p, "number"))
    if bool(fitted.freedom) != bool(fitted.covariance) or len(fitted.covariance) not in (0, p):
        raise BadScene(
            f"{what} has {counted(len(fitted.covariance), 'row')} of covariance and {fitted.freedom:g} degrees of"
            " freedom",
            where=where,
            expected=f"{counted(p, 'row')} of a fit with a scatter, none of an exact one",
        )
    C = np.array(fitted.covariance).reshape(-1, p)
    if len(C) and not (np.abs(C - C.T) <= _ROUNDED * np.abs(C).max()).all():
        raise BadScene(f"the covariance in {what} is not symmetric", where=where)
    if len(C) and np.linalg.eigvalsh(C)[0] < -_ROUNDED * np.abs(C).max():
        raise BadScene(f"the covariance in {what} has a negative variance", where=where)


def payloads(source: SceneSource, tables: SceneFile, bodies: Bodies) -> tuple[Payload, ...]:
    """Return the ``[[payload]]`` tables."""
    out = []
    for i, table in enumerate(tables.payload):
        require_known(table.body, bodies, "body", source.where("payload", i, "body"))
        matrix = inertia_matrix(table.inertia, source.where("payload", i, "inertia"))
        out.append(Payload(table.body, table.mass, np.array(table.com), matrix))
    return tuple(out)


def actuators(source: SceneSource, tables: SceneFile, pairs: Pairs) -> tuple[Actuator, ...]:
    """Return the ``[[actuator]]`` tables."""
    for i, table in enumerate(tables.actuator):
        check_freedoms(pairs, table.joint, (), source.where("actuator", i, "joint"))
    return tuple(Actuator(**table.as_dict()) for table in tables.actuator)


def inertia_matrix(values: Sequence[float], where: str) -> Array:
    """Return the inertia (3, 3), kg·m², from three moments, or from ixx ixy ixz iyy iyz izz.

    Raises
    ------
    BadScene
        The count of numbers is neither three nor six.
    """
    if len(values) == 3:
        return np.diag(np.array(values, dtype=float))
    if len(values) != 6:
        raise BadScene(
            f"inertia has {len(values)} numbers",
            where=where,
            expected="ixx iyy izz, or ixx ixy ixz iyy iyz izz",
        )
    xx, xy, xz, yy, yz, zz = values
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=float)
