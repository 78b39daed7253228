"""A mechanism in other units of length: every metre becomes ``s`` of the new unit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mbplugin.model.mechanism import Body, Coupling, Driver, KnifeEdge, Mechanism, Pfaffian, Rolling
from mbplugin.model.mechanism.pair import Freedom, Pair
from mbplugin.model.spatial import COMPONENTS, Array, Pose


def scaled(mech: Mechanism, s: float) -> Mechanism:
    """The same mechanism with every length times s; masses and angles stay."""
    return replace(
        mech,
        bodies=tuple(_body(b, s) for b in mech.bodies),
        pairs=tuple(_pair(p, s) for p in mech.pairs),
        couplings=tuple(_coupling(c, s) for c in mech.couplings),
        drivers=tuple(_driver(mech, d, s) for d in mech.drivers),
        pfaffians=tuple(_pfaffian(p, s) for p in mech.pfaffians),
        gravity=mech.gravity * s,
    )


def scaled_coordinates(mech: Mechanism, q: Array, s: float) -> Array:
    """The same pose: coordinates that are travels times s."""
    out = np.array(q, dtype=float)
    for joint in mech.tree.joints:
        free = joint.pair.kind.free if joint.pair else COMPONENTS
        travels = [k for k, component in enumerate(free) if component[0] == "t"]
        out[[joint.q.start + k for k in travels]] *= s
    return out


def _moved(X: Pose, s: float) -> Pose:
    return Pose(X.R, X.p * s)


def _body(body: Body, s: float) -> Body:
    return replace(body, p_LC=body.p_LC * s, I_C=body.I_C * s**2)


def _pair(pair: Pair, s: float) -> Pair:
    freedoms = tuple(
        _freedom(f, s) if name[0] == "t" else f for f, name in zip(pair.freedoms, pair.kind.free, strict=True)
    )
    return replace(
        pair,
        X_AP=_moved(pair.X_AP, s),
        X_BS=_moved(pair.X_BS, s),
        lead=pair.lead * s,
        length=pair.length * s,
        freedoms=freedoms,
    )


def _freedom(freedom: Freedom, s: float) -> Freedom:
    return replace(freedom, lower=freedom.lower * s, upper=freedom.upper * s, velocity=freedom.velocity * s)


def _coupling(coupling: Coupling, s: float) -> Coupling:
    travels = [t.freedom[0] == "t" for t in coupling.terms]
    if all(travels):
        return replace(coupling, offset=coupling.offset * s)
    terms = tuple(
        replace(t, coefficient=t.coefficient / s) if travel else t
        for t, travel in zip(coupling.terms, travels, strict=True)
    )
    return replace(coupling, terms=terms)


def _driver(mech: Mechanism, driver: Driver, s: float) -> Driver:
    names = driver.freedoms or mech.pair_by_name[driver.joint].kind.free
    if any(name[0] == "r" for name in names):
        return driver
    value = None if driver.value is None else driver.value * s
    return replace(driver, value=value, rate=driver.rate * s, acceleration=driver.acceleration * s)


def _pfaffian(pfaffian: Pfaffian, s: float) -> Pfaffian:
    if isinstance(pfaffian, KnifeEdge):
        return replace(pfaffian, point=pfaffian.point * s)
    assert isinstance(pfaffian, Rolling)
    return replace(
        pfaffian,
        center=pfaffian.center * s,
        radius=pfaffian.radius * s,
        plane_point=pfaffian.plane_point * s,
    )
