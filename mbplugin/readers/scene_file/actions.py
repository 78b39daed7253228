"""Tables of a scene that act on pairs and bodies: couplings, wheels, drivers, loads and the like."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields

import numpy as np

from mbplugin.errors import BadScene, BadUsage, UnknownName
from mbplugin.model.brake_law import Brake, Ramp, contradiction
from mbplugin.model.mechanism import (
    PAIR_TYPES,
    WORLD,
    Coupling,
    KnifeEdge,
    Lock,
    Pair,
    Pfaffian,
    Rolling,
    Term,
)
from mbplugin.model.mechanism.mechanism import Mechanism, TimedConstraint
from mbplugin.model.scene import Actuator, Load, Payload, Stiffness
from mbplugin.model.spatial import Array, units_of
from mbplugin.phrases import counted
from mbplugin.readers.scene_file.joints import require_known
from mbplugin.readers.scene_file.schema import SceneFile, SceneSource, stated_with_origin
from mbplugin.readers.scene_file.tables import (
    BrakeTable,
    CouplingTable,
    PfaffianTable,
    RampTable,
    StiffnessTable,
)

#: Tolerance relative to the largest covariance; six digits of each are written.
_ROUNDED = 1e-4
Pairs = Mapping[str, Pair]
Bodies = Mapping[str, object]


def couplings(source: SceneSource, tables: SceneFile, pairs: Pairs) -> tuple[Coupling, ...]:
    """Return the ``[[coupling]]`` tables."""
    return tuple(_coupling(source, i, table, pairs) for i, table in enumerate(tables.coupling))


def _coupling(source: SceneSource, index: int, table: CouplingTable, pairs: Pairs) -> Coupling:
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
        Term(joint, one_freedom(pairs, joint, freedom, where), coefficient)
        for joint, freedom, coefficient in named
    )
    return Coupling(name, table.type, terms, table.offset)


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


def pfaffians(source: SceneSource, tables: SceneFile, bodies: Bodies) -> tuple[Pfaffian, ...]:
    """Return the ``[[pfaffian]]`` tables."""
    return tuple(_pfaffian(source, i, table, bodies) for i, table in enumerate(tables.pfaffian))


def _pfaffian(source: SceneSource, index: int, table: PfaffianTable, bodies: Bodies) -> Pfaffian:
    require_known(table.body, bodies, "body", source.where("pfaffian", index, "body"))
    if table.body == WORLD:
        raise BadScene(
            f"the body of [[pfaffian]] {table.name!r} is {WORLD!r}",
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
        return KnifeEdge(table.name, table.body, point, _direction(source, index, table, "direction"))
    axis = _direction(source, index, table, "axis")
    radius = float(table.radius or 0.0)
    if table.plane is None:
        return Rolling(table.name, table.body, point, axis, radius)
    normal = np.array(table.plane.normal)
    if not normal.any():
        raise BadScene(
            f"the plane of {table.name!r} has a zero normal", where=source.where("pfaffian", index, "plane")
        )
    return Rolling(table.name, table.body, point, axis, radius, np.array(table.plane.point), normal)


def _direction(source: SceneSource, index: int, table: PfaffianTable, key: str) -> Array:
    """Return a direction of a ``[[pfaffian]]`` table (3,); zero is refused."""
    direction = np.array(getattr(table, key), dtype=float)
    if not direction.any():
        raise BadScene(f"{key} of {table.name!r} is zero", where=source.where("pfaffian", index, key))
    return direction


def locks(source: SceneSource, tables: SceneFile, pairs: Pairs) -> tuple[Lock, ...]:
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
        Lock(table.joint, table.at or None, tuple(table.freedoms), table.until) for table in tables.lock
    )


def holds(source: SceneSource, tables: SceneFile, mech: Mechanism) -> tuple[TimedConstraint, ...]:
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
        if isinstance(kinds[name], Lock):
            raise BadScene(f"{name!r} is a lock", where=where, expected="at and until in its [[lock]]")
        if name in (other.constraint for other in tables.hold[:i]):
            raise BadScene(f"constraint {name!r} is to hold twice", where=where, expected="one [[hold]] each")
        if table.until is not None and not table.until > table.at:
            raise BadScene(
                f"constraint {name!r} closes at {table.at:g} s and opens at {table.until:g} s",
                where=source.where("hold", i, "until"),
                expected="a later time",
            )
    return tuple(TimedConstraint(table.constraint, table.at, table.until) for table in tables.hold)


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
    section = table.section.model_dump(exclude_none=True) if table.section else {}
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
    return tuple(Actuator(**table.model_dump()) for table in tables.actuator)


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
