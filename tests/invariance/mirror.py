"""A mechanism in a mirror: every frame X becomes S X S, with S the reflection y → −y.

Freedoms change their sign where the reflected joint frame turns or moves the other way: ty, rx and rz.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from mbplugin.model.mechanism import Coupling, Driver, KnifeEdge, Mechanism, Pfaffian, TreeJoint
from mbplugin.model.mechanism.pair import Freedom, Pair, has_quaternion
from mbplugin.model.spatial import Array, Pose

from .on_mechanism import Posed
from .verdict import Changed

#: The reflection, of polar vectors; that of axial ones is −S.
S = np.diag([1.0, -1.0, 1.0])
_OTHER_WAY = ("ty", "rx", "rz")


def reflected(X: Pose) -> Pose:
    """Return the mirrored frame."""
    return Pose(S @ X.R @ S, S @ X.p)


def mirrored(at: Posed, rng: np.random.Generator) -> Changed:
    """The mechanism as a mirror shows it, at the mirrored pose."""
    del rng
    mech = at.mech
    new = replace(
        mech,
        bodies=tuple(replace(b, p_LC=S @ b.p_LC, I_C=S @ b.I_C @ S) for b in mech.bodies),
        pairs=tuple(_pair(p) for p in mech.pairs),
        couplings=tuple(_coupling(c) for c in mech.couplings),
        drivers=tuple(_driver(mech, d) for d in mech.drivers),
        pfaffians=tuple(_pfaffian(p) for p in mech.pfaffians),
        gravity=S @ mech.gravity,
    )
    q = np.array(at.q)
    for joint in mech.tree.joints:
        q[joint.q] *= _signs(joint)
    return Changed(new, q, turn=S)


def _sign(freedom: str) -> float:
    return -1.0 if freedom in _OTHER_WAY else 1.0


def _signs(joint: TreeJoint) -> Array:
    """Return the signs of a joint's coordinates; a quaternion's vector is axial."""
    if joint.pair is not None and not has_quaternion(joint.pair.type):
        return np.array([_sign(f) for f in joint.pair.kind.free])
    free = ("tx", "ty", "tz") if joint.pair is None else joint.pair.kind.free
    travels = [_sign(f) for f in free if f[0] == "t"]
    return np.array([*travels, -1.0, 1.0, -1.0, 1.0])


def _pair(pair: Pair) -> Pair:
    freedoms = tuple(_freedom(f, _sign(n)) for f, n in zip(pair.freedoms, pair.kind.free, strict=True))
    # a right-handed screw is a left-handed one
    return replace(
        pair,
        X_AP=reflected(pair.X_AP),
        X_BS=reflected(pair.X_BS),
        lead=-pair.lead,
        freedoms=freedoms,
    )


def _freedom(freedom: Freedom, sign: float) -> Freedom:
    return freedom if sign > 0 else replace(freedom, lower=-freedom.upper, upper=-freedom.lower)


def _coupling(coupling: Coupling) -> Coupling:
    terms = tuple(replace(t, coefficient=_sign(t.freedom) * t.coefficient) for t in coupling.terms)
    return replace(coupling, terms=terms)


def _driver(mech: Mechanism, driver: Driver) -> Driver:
    names = driver.freedoms or mech.pair_by_name[driver.joint].kind.free
    sign = {_sign(n) for n in names}
    assert len(sign) == 1, "a driver of several freedoms has one value for all of them"
    s = sign.pop()
    value = None if driver.value is None else s * driver.value
    return replace(driver, value=value, rate=s * driver.rate, acceleration=s * driver.acceleration)


def _pfaffian(pfaffian: Pfaffian) -> Pfaffian:
    if isinstance(pfaffian, KnifeEdge):
        return replace(pfaffian, point=S @ pfaffian.point, direction=S @ pfaffian.direction)
    return replace(
        pfaffian,
        center=S @ pfaffian.center,
        axis=-S @ pfaffian.axis,
        plane_point=S @ pfaffian.plane_point,
        plane_normal=S @ pfaffian.plane_normal,
    )
