"""The tree as records for the kernels: one per composite body and one per joint rate, parameters and state."""

from __future__ import annotations

import numpy as np

from mbplugin.dynamics.kernels.composite_bodies import Composite, Composites
from mbplugin.model.mechanism.joint import travel_per_radian
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.mechanism.pair import RowKind
from mbplugin.model.spatial import COMPONENTS, AnyArray, Array

#: Which branch of the recursions a joint takes.
TURN, TRAVEL, SEVERAL, FREE = 0, 1, 2, 3
_QUATERNION = ("spherical", "point-on-line", "point-on-plane", "floating")

_V, _W, _M3, _M6 = (3,), (6,), (3, 3), (6, 6)

#: A composite body. ``sign`` is −1 where the tree runs from successor to predecessor; ``component`` numbers the free
#: components tx … rz as 0 … 5; ``carried`` marks a second cross axis that the successor carries;
#: ``R_in, p_in``: the joint's inner frame in the parent. State, world axes: ``R, p, c`` frame and centre of
#: mass; ``joint`` the point about which the joint turns; ``v`` twist, ``bias`` acceleration without joint
#: accelerations, ``a`` acceleration, ``f`` minus the wrench on it, ``J`` inertia, ``I_A`` articulated
#: inertia after its own joint's rates (the lower triangle), all at the centre of mass.
COMPOSITE = np.dtype(
    [
        ("parent", np.int64),
        ("branch", np.int64),
        ("q_start", np.int64),
        ("qd_start", np.int64),
        ("freedoms", np.int64),
        ("component", np.int64, _W),
        ("quaternion", np.bool_),
        ("carried", np.bool_),
        ("sign", np.float64),
        ("pitch", np.float64),
        ("R_in", np.float64, _M3),
        ("p_in", np.float64, _V),
        ("com", np.float64, _V),
        ("rate_point", np.float64, _V),
        ("mass", np.float64),
        ("weight", np.float64, _V),
        ("inertia", np.float64, _M3),
        ("R", np.float64, _M3),
        ("p", np.float64, _V),
        ("c", np.float64, _V),
        ("joint", np.float64, _V),
        ("v", np.float64, _W),
        ("bias", np.float64, _W),
        ("a", np.float64, _W),
        ("f", np.float64, _W),
        ("J", np.float64, _M3),
        ("I_A", np.float64, _M6),
    ],
    align=True,
)

#: A joint rate. ``s`` twist per unit rate and ``e`` its direction, ``U = I_A s``, ``D = sᵀ I_A s``, its
#: root and one over that, ``u`` the force left over on it, ``tau`` the force on it, ``qdd`` its
#: acceleration. ``viscous``, ``constant``, ``stiffness`` and ``rest`` act on it; ``coordinate`` is the index
#: of its q. A rate that is ``held`` has its acceleration prescribed, and ``u`` becomes the force that holds it.
RATE = np.dtype(
    [
        ("composite", np.int64),
        ("coordinate", np.int64),
        ("armature", np.float64),
        ("viscous", np.float64),
        ("constant", np.float64),
        ("stiffness", np.float64),
        ("rest", np.float64),
        ("s", np.float64, _W),
        ("e", np.float64, _V),
        ("U", np.float64, _W),
        ("D", np.float64),
        ("root", np.float64),
        ("per_root", np.float64),
        ("u", np.float64),
        ("tau", np.float64),
        ("qdd", np.float64),
        ("held", np.bool_),
    ],
    align=True,
)


def composite_records(mech: Mechanism, composites: Composites) -> AnyArray:
    """Return records of the ground (index 0, at rest) and of all composite bodies, outwards."""
    out = np.zeros(len(composites.composites) + 1, dtype=COMPOSITE)
    out["R"][0] = out["R_in"][0] = np.eye(3)
    for k, composite in enumerate(composites.composites, 1):
        _fill(out[k], composite, mech.gravity)
    return out


def _fill(record: AnyArray, composite: Composite, gravity: Array) -> None:
    """Fill the record of a composite body but its state.

    Parameters
    ----------
    record : () record of a (b,) record array
    composite : Composite
    gravity : (3,) array
        m/s².
    """
    joint = composite.joint
    free = joint.pair.kind.free if joint.pair else COMPONENTS
    record["parent"] = composite.parent
    record["branch"] = _branch(composite)
    record["q_start"], record["qd_start"], record["freedoms"] = joint.q.start, joint.qd.start, len(free)
    record["component"][: len(free)] = [COMPONENTS.index(c) for c in free]
    record["quaternion"] = joint.pair is None or joint.pair.type in _QUATERNION
    record["carried"] = joint.pair is not None and any(
        joint.pair.kind.row_kind(component) is RowKind.CARRIED for component in free
    )
    record["sign"] = -1.0 if joint.reversed else 1.0
    record["pitch"] = travel_per_radian(joint.pair) if joint.pair else 0.0
    record["R_in"], record["p_in"] = composite.X_in.R, composite.X_in.p
    record["com"], record["rate_point"] = composite.p_KC, composite.p_KR
    record["mass"], record["inertia"], record["weight"] = (
        composite.mass,
        composite.I_C,
        composite.mass * gravity,
    )


def _branch(composite: Composite) -> int:
    pair = composite.joint.pair
    if pair is None:
        return FREE
    if len(pair.kind.free) == 1:
        return TURN if pair.kind.free[0] == "rz" else TRAVEL
    return SEVERAL


def rate_records(mech: Mechanism, composites: Composites, armature: Array) -> AnyArray:
    """Return records of all rates in the order of ``qd_names``; ``armature`` (nv,) in kg·m² or kg."""
    out = np.zeros(len(mech.qd_names), dtype=RATE)
    place = {name: k for k, name in enumerate(mech.q_names)}
    out["coordinate"] = [place.get(name, -1) for name in mech.qd_names]
    out["armature"] = armature
    for k, composite in enumerate(composites.composites, 1):
        out["composite"][composite.joint.qd] = k
    return out
