"""Forward kinematics, Jacobians, mass matrix and bias forces of a tree, at one pose or many at once.

Loops are not closed: a closure adds no coordinate, and its constraint is a row of
:func:`mbplugin.constraint_matrix`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mbplugin.arguments import checked
from mbplugin.constraints.many_poses import WholeTree
from mbplugin.errors import BadNumber, UnknownName, suggestion
from mbplugin.model import Array, JointValues, Mechanism, cross, is_batch, rate_values, states
from mbplugin.model.scene import Payload, Scene, state_of
from mbplugin.readers import ModelSource, model_of


@checked
def forward_kinematics(
    model: ModelSource, q: JointValues = None, *, links: Iterable[str] | None = None
) -> Array:
    """Compute the poses of links in the world, homogeneous transforms (k, 4, 4), or (n, k, 4, 4) at n poses.

    Parameters
    ----------
    model : path, PyBullet client, Scene or Mechanism
    q : mapping, (nq,) or (n, nq) array, optional
        Joint coordinates in the order of ``q_names``, rad and m; quaternions x y z w. Coordinates that a mapping does
        not name, and all without ``q``, keep the scene's value. Loops are not closed first.
    links : iterable of str, optional
        Names of links; all bodies in file order by default.

    Returns
    -------
    (k, 4, 4) or (n, k, 4, 4) array
        X_WL of each link: maps points of its link frame (the frame of its URDF joint) into the world, m.

    Raises
    ------
    UnknownName
        A coordinate or link does not exist.
    BadNumber
        A vector or batch has another shape, or a value is not finite.
    """
    chain = _Chain.of(model, q)
    names = [body.name for body in chain.mech.bodies] if links is None else _names(links)
    indices = [_body(chain.mech, name) for name in names]
    return chain.shaped(chain.whole.X_WL[:, indices])


@checked
def jacobian(
    model: ModelSource, link: str, q: JointValues = None, *, point: Iterable[float] = (0.0, 0.0, 0.0)
) -> Array:
    """Compute the geometric Jacobian (6, nv) of a point of a link: [v; ω] = J q̇, in world axes; (n, 6, nv) at n poses.

    Parameters
    ----------
    model : path, PyBullet client, Scene or Mechanism
    link : str
        Name of the link.
    q : mapping, (nq,) or (n, nq) array, optional
        As for :func:`forward_kinematics`, rad and m.
    point : (3,) array
        A point of its link frame, m; the origin by default.

    Returns
    -------
    (6, nv) or (n, 6, nv) array
        Velocity of the point (m/s) over angular velocity (rad/s), per rate in the order of ``qd_names``. Rates of a
        free base are the velocity of its centre of mass and its angular velocity, world axes.

    Raises
    ------
    UnknownName
        The link or a coordinate does not exist.
    BadNumber
        ``point`` is not three numbers, or as for :func:`forward_kinematics`.
    """
    chain = _Chain.of(model, q)
    body = _body(chain.mech, link)
    local = np.array(list(point), dtype=float)
    if local.shape != (3,) or not np.isfinite(local).all():
        raise BadNumber(f"the point has {local.size} numbers", expected="x, y and z in the link frame, m")
    p_W = chain.whole.X_WL[:, body, :3, :3] @ local + chain.whole.X_WL[:, body, :3, 3]
    moved = chain.whole.moves[body]
    v0, omega = chain.whole.axes
    J = np.concatenate((v0 + cross(omega, p_W[:, None, :]), omega), axis=2) * moved[:, None]
    return chain.shaped(np.swapaxes(J, 1, 2))


@checked
def mass_matrix(model: ModelSource, q: JointValues = None) -> Array:
    """Compute the joint-space mass matrix of the open tree, M(q) in M q̈ + h(q, q̇) = τ.

    Payloads and rotor inertias of a scene are included.

    Parameters
    ----------
    model : path, PyBullet client, Scene or Mechanism
    q : mapping, (nq,) or (n, nq) array, optional
        As for :func:`forward_kinematics`, rad and m.

    Returns
    -------
    (nv, nv) or (n, nv, nv) array
        Symmetric, rows and columns in the order of ``qd_names``: kg·m² between turns, kg between travels.

    Raises
    ------
    UnknownName, BadNumber
        As for :func:`forward_kinematics`.
    """
    chain = _Chain.of(model, q)
    M = np.zeros((len(chain.Q), len(chain.mech.qd_names), len(chain.mech.qd_names)))
    for solid in chain.solids:
        columns = np.flatnonzero(chain.whole.moves[solid.body])
        v0, omega = (axes[:, columns] for axes in chain.whole.axes)
        v = v0 + cross(omega, solid.p_WC[:, None, :])
        own = solid.mass * v @ np.swapaxes(v, 1, 2) + omega @ solid.J @ np.swapaxes(omega, 1, 2)
        M[:, columns[:, None], columns] += own
    diagonal = np.arange(M.shape[1])
    M[:, diagonal, diagonal] += chain.rotors
    return chain.shaped(M)


@checked
def bias_forces(model: ModelSource, q: JointValues = None, qd: JointValues = None) -> Array:
    """Compute the forces of gravity and of velocities of the open tree, h(q, q̇) in M q̈ + h = τ.

    At rest these are the forces that hold the robot against gravity. Payloads of a scene are included; springs,
    damping, friction and loads are not. :func:`inverse_dynamics` has these, and closes loops.

    Parameters
    ----------
    model : path, PyBullet client, Scene or Mechanism
    q : mapping, (nq,) or (n, nq) array, optional
        As for :func:`forward_kinematics`, rad and m.
    qd : mapping, (nv,) or (n, nv) array, optional
        Rates in the order of ``qd_names``, rad/s and m/s; the scene's by default.

    Returns
    -------
    (nv,) or (n, nv) array
        N·m for turns, N for travels.

    Raises
    ------
    UnknownName, BadNumber
        As for :func:`forward_kinematics`; another number of poses and rates.
    """
    chain = _Chain.of(model, q, qd)
    Qd = chain.Qd
    nu, a = chain.whole.motion(Qd)
    h = np.zeros_like(Qd)
    for solid in chain.solids:
        columns = np.flatnonzero(chain.whole.moves[solid.body])
        twist, bias = nu[:, solid.body], a[:, solid.body]
        omega = twist[:, 1]
        # acceleration of the centre of mass, from quantities at the world's origin
        v = twist[:, 0] + cross(omega, solid.p_WC)
        a_C = bias[:, 0] + cross(bias[:, 1], solid.p_WC) + cross(omega, v)
        force = solid.mass * (a_C - chain.mech.gravity)
        J_omega = (solid.J @ omega[:, :, None])[:, :, 0]
        moment = (solid.J @ bias[:, 1][:, :, None])[:, :, 0] + cross(omega, J_omega)
        about_origin = moment + cross(solid.p_WC, force)
        v0, own = (axes[:, columns] for axes in chain.whole.axes)
        h[:, columns] += (v0 @ force[:, :, None] + own @ about_origin[:, :, None])[:, :, 0]
    return chain.shaped(h)


@dataclass(frozen=True, eq=False)
class _Solid:
    """A mass that moves with a body, at n poses: centre of mass (n, 3), m, and inertia about it (n, 3, 3), kg·m²."""

    body: int
    mass: float
    p_WC: Array
    J: Array


@dataclass(frozen=True, eq=False)
class _Chain:
    """A tree at poses Q (n, nq) and rates Qd (n, nv); ``rotors`` (nv,) are inertias of drives, kg·m² and kg."""

    mech: Mechanism
    Q: Array
    many: bool
    payloads: tuple[Payload, ...]
    rotors: Array
    Qd: Array

    @classmethod
    def of(cls, source: ModelSource, q: JointValues, qd: JointValues = None) -> _Chain:
        model = model_of(source)
        mech, base_q, base_qd = state_of(model)
        Q, Qd = states(mech, q, qd, base_q, base_qd)
        scene = model if isinstance(model, Scene) else None
        armatures = (
            {a.joint: a.armature * a.gear_ratio**2 for a in scene.actuators if a.armature} if scene else {}
        )
        rotors = rate_values(mech, armatures, "an armature")
        many = is_batch(q) or is_batch(qd)
        return cls(mech, Q, many, scene.payloads if scene else (), rotors, Qd)

    @cached_property
    def whole(self) -> WholeTree:
        """All bodies at all poses."""
        return WholeTree(self.mech, self.Q)

    @cached_property
    def solids(self) -> list[_Solid]:
        """Bodies and payloads with mass or inertia."""
        items = [(k, b.mass, b.p_LC, b.I_C) for k, b in enumerate(self.mech.bodies)]
        items += [(self.mech.body_index[p.body], p.mass, p.com, p.inertia) for p in self.payloads]
        found = []
        for body, mass, com, inertia in items:
            if mass or np.any(inertia):
                R, p = self.whole.X_WL[:, body, :3, :3], self.whole.X_WL[:, body, :3, 3]
                found.append(_Solid(body, mass, p + R @ com, R @ inertia @ np.swapaxes(R, 1, 2)))
        return found

    def shaped(self, values: Array) -> Array:
        """Return values (n, …), or those of the one pose."""
        return np.asarray(values if self.many else values[0])


def _names(links: Iterable[str]) -> list[str]:
    return [links] if isinstance(links, str) else list(links)


def _body(mech: Mechanism, name: str) -> int:
    known = [body.name for body in mech.bodies]
    if name not in known:
        raise UnknownName(f"there is no link {name!r}", remedy=suggestion(name, known))
    return known.index(name)
