"""The freedoms of a tree joint as slides, hinges and balls in a row, as formats with simple joints write them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mbplugin.model.component import axis_of, is_turn
from mbplugin.model.mechanism.identity import freedom_name
from mbplugin.model.mechanism.joint import has_quaternion
from mbplugin.model.mechanism.kinematics import BodyPoses
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import Freedom, Pair, RowKind
from mbplugin.model.mechanism.topology import TreeJoint
from mbplugin.model.spatial import Array

Kind = Literal["slide", "hinge", "ball"]


@dataclass(frozen=True, eq=False)
class Motion:
    """One simple joint of a row, counted from the inner body to the outer one.

    Parameters
    ----------
    name : str
        That of the pair where it has one freedom, else ``pair.component``.
    pair, component : str
        What it is of; the component of a ball is empty.
    kind : "slide", "hinge" or "ball"
    axis_W, point_W : (3,) array
        Direction, and a point of the axis or the centre (m), in the world at the pose.
    value : float
        Coordinate at the pose, rad or m; of a ball it is 0.
    freedom : Freedom
        Limits, damping and friction.
    """

    name: str
    pair: str
    component: str
    kind: Kind
    axis_W: Array
    point_W: Array
    value: float
    freedom: Freedom


def motions_of(mech: Mechanism, joint: TreeJoint, q: Array, poses: BodyPoses) -> tuple[Motion, ...]:
    """Return the simple joints of a tree joint at a pose q (nq,), in the order in which they move the outer body.

    A screw is a slide and a hinge; the row that ties them is the caller's.
    """
    pair = joint.pair
    if pair is None or not pair.kind.free:
        return ()
    X_WP = poses.of(mech.body_index[pair.body_a]) @ pair.X_AP
    X_WS = poses.of(mech.body_index[pair.body_b]) @ pair.X_BS
    sign = -1.0 if joint.reversed else 1.0
    values = q[joint.q]
    found = []
    for component, value, freedom in _steps(pair, values):
        carried = component and pair.kind.row_kind(component) is RowKind.CARRIED
        axis = (X_WS.R if carried else X_WP.R)[:, axis_of(component or "rz")]
        kind: Kind = "ball" if not component else "hinge" if is_turn(component) else "slide"
        single = component == pair.kind.free[0] and len(pair.kind.free) == 1
        name = pair.name if single or component == "" else freedom_name(pair.name, component)
        found.append(Motion(name, pair.name, component, kind, sign * axis, X_WS.p, value, freedom))
    return tuple(found[::-1] if joint.reversed else found)


def _steps(pair: Pair, values: Array) -> list[tuple[str, float, Freedom]]:
    """Return component, value and freedom of every simple joint from P to S at coordinates ``values`` (c,).

    Three turns of a ball are one.
    """
    free, freedoms = pair.kind.free, pair.freedoms
    if has_quaternion(pair.type):
        travels = [
            (c, float(v), f) for c, v, f in zip(free, values, freedoms, strict=False) if not is_turn(c)
        ]
        return [*travels, ("", 0.0, freedoms[-1])]
    steps = [(c, float(v), f) for c, v, f in zip(free, values, freedoms, strict=True)]
    if pair.type == "screw":
        return [("tz", pair.lead / (2 * np.pi) * steps[0][1], Freedom()), *steps]
    return steps
