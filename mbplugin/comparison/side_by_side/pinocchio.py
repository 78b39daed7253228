"""Pinocchio's joint wrenches: a tree of bodies, whose loops are closed by bodies fixed together from two parts."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from mbplugin.bullet.tree import loaded
from mbplugin.comparison.side_by_side import Answer, Instant, Part, parts_of
from mbplugin.dynamics import load_wrench
from mbplugin.model import WORLD, Array, forward

ENGINE = "Pinocchio"
#: Of its proximal iterations: absolute and relative accuracy, the regularization, and how many.
_ACCURACY, _REGULARIZATION, _ITERATIONS = 1e-12, 1e-9, 200
#: What joints carry along their freedoms, as a fraction of what they carry: more means that it has not converged.
_RESIDUAL = 1e-3


def pinocchio_wrenches(instant: Instant) -> Answer:
    """Return the joint wrenches of Pinocchio at an instant; call it in a child process."""
    import pinocchio as pin

    version = str(pin.__version__)
    if reason := _missing(instant):
        return Answer(ENGINE, version, reason=reason)
    tree = _Tree(pin, instant)
    found, residual = tree.solved()
    if residual > _RESIDUAL:
        return Answer(
            ENGINE, version, reason=f"Pinocchio does not converge: {residual:.1e} of the forces is left"
        )
    return Answer(ENGINE, version, found)


def _missing(instant: Instant) -> str:
    """Return the constraints that Pinocchio cannot hold in this form."""
    mech = instant.mech
    if mech.pfaffians:
        return f"Pinocchio has no constraint for {mech.pfaffians[0].name!r} ({mech.pfaffians[0].type})"
    if mech.couplings:
        return f"Pinocchio has no constraint for {mech.couplings[0].name!r}"
    none = [pair for pair in mech.pairs if pair.type == "screw" or not pair.kind.has_coordinates]
    return f"Pinocchio has no joint such as {none[0].name!r} ({none[0].type})" if none else ""


def _branch_by_branch(parts: list[Part]) -> list[Part]:
    """Return the parts so that all that a part carries comes right after it, as Pinocchio needs it."""
    carried: dict[str, list[Part]] = {}
    for part in parts:
        carried.setdefault(part.inner, []).append(part)
    found: list[Part] = []
    left = carried.get(WORLD, [])[::-1]
    while left:
        found.append(left.pop())
        left += carried.get(found[-1].name, [])[::-1]
    return found


class _Tree:
    """The parts as joints of Pinocchio with axes of the world, and the constraints between parts."""

    def __init__(self, pin: Any, instant: Instant) -> None:
        self.pin, self.instant = pin, instant
        self.mech = loaded(instant.mech, instant.payloads)
        self.poses = forward(self.mech, instant.q)
        self.parts = _branch_by_branch(parts_of(instant))
        self.shares = Counter(part.body for part in self.parts)
        self.model = pin.Model()
        self.model.gravity.linear = np.asarray(self.mech.gravity)
        self.model.gravity.angular = np.zeros(3)
        #: Joint and place of each part; the joint of a part that is fixed is free, and a constraint fixes it.
        self.joint_of: dict[str, int] = {WORLD: 0}
        self.place_of: dict[str, Array] = {WORLD: np.zeros(3)}
        self.rates: list[float] = []
        self.fixed: list[tuple[Part, Any]] = []
        for part in self.parts:
            self._add(part)
        for part in self.parts:
            if part.name != part.body:
                self._join(part)

    def _add(self, part: Part) -> None:
        pin, inner = self.pin, self.joint_of[part.inner]
        step = pin.SE3(np.eye(3), part.point - self.place_of[part.inner])
        joint = inner
        for k, (kind, axis) in enumerate(part.motions):
            joint = self.model.addJoint(joint, self._joint(kind, axis), step, f"{part.name} {k}")
            step = pin.SE3.Identity()
        if not part.motions:
            joint = self.model.addJoint(inner, pin.JointModelFreeFlyer(), step, part.name)
            self.fixed.append((part, self._weld(inner, step, joint, pin.SE3.Identity())))
        self.rates += list(part.rates) if part.motions else [0.0] * 6
        self.joint_of[part.name], self.place_of[part.name] = joint, part.point
        self.model.appendBodyToJoint(joint, self._inertia(part), pin.SE3.Identity())

    def _join(self, part: Part) -> None:
        """Fix a part of a body to its first part."""
        arm = self.pin.SE3(np.eye(3), part.point - self.place_of[part.body])
        own = self._weld(self.joint_of[part.body], arm, self.joint_of[part.name], self.pin.SE3.Identity())
        self.fixed.append((part, own))

    def _joint(self, kind: str, axis: Array) -> Any:
        """Return the joint of one motion about or along an axis (3,), world axes."""
        if kind == "BALL":
            return self.pin.JointModelSpherical()
        name = {"HINGE": "JointModelRevoluteUnaligned", "SLIDE": "JointModelPrismaticUnaligned"}[kind]
        return getattr(self.pin, name)(np.asarray(axis))

    def _inertia(self, part: Part) -> Any:
        index = self.mech.body_index[part.body]
        share, R_WL = 1.0 / self.shares[part.body], self.poses.R_WL[index]
        body = self.mech.bodies[index]
        center = self.poses.p_WC[index] - part.point
        return self.pin.Inertia(share * body.mass, center, share * R_WL @ body.I_C @ R_WL.T)

    def _weld(self, first: int, at: Any, second: int, place: Any) -> Any:
        kind, frame = self.pin.ContactType.CONTACT_6D, self.pin.ReferenceFrame.LOCAL
        return self.pin.RigidConstraintModel(kind, self.model, first, at, second, place, frame)

    def solved(self) -> tuple[dict[str, Array], float]:
        """Return the wrench (6,) of each pair on its successor, world axes, and the loads of freely moving joints."""
        pin, model = self.pin, self.model
        data, q = model.createData(), pin.neutral(model)
        v = np.array(self.rates, dtype=float)
        outer = self._loads()
        # constraintDynamics knows no external forces: they act through the joints
        tau = -pin.rnea(model, model.createData(), q, np.zeros(model.nv), np.zeros(model.nv), outer)
        tau += pin.rnea(model, model.createData(), q, np.zeros(model.nv), np.zeros(model.nv))
        constraints = pin.StdVec_RigidConstraintModel()
        datas = pin.StdVec_RigidConstraintData()
        for _, constraint in self.fixed:
            constraints.append(constraint)
            datas.append(constraint.createData())
        pin.initConstraintDynamics(model, data, constraints, datas)
        settings = pin.ProximalSettings(_ACCURACY, _ACCURACY, _REGULARIZATION, _ITERATIONS)
        a = pin.constraintDynamics(model, data, q, v, tau, constraints, datas, settings)
        return self._wrenches(q, v, a, outer, datas)

    def _loads(self) -> Any:
        """Return all loads as forces on joints, at their positions."""
        pin = self.pin
        outer = pin.StdVec_Force()
        outer.extend([pin.Force.Zero() for _ in range(self.model.njoints)])
        for load in self.instant.loads:
            if load.body != WORLD:
                index = self.mech.body_index[load.body]
                wrench = load_wrench(load, self.poses, index)
                force = pin.Force(wrench[:3], wrench[3:])
                place = pin.SE3(np.eye(3), self.poses.p_WC[index] - self.place_of[load.body])
                outer[self.joint_of[load.body]] += place.act(force)
        return outer

    def _wrenches(
        self, q: Array, v: Array, a: Array, outer: Any, datas: Any
    ) -> tuple[dict[str, Array], float]:
        """Return the wrench (6,) of each pair, and the rest along freedoms, as a fraction of the largest.

        Parameters
        ----------
        q, v, a : (nq,), (nv,), (nv,) array
            In Pinocchio's coordinates.
        outer : forces on joints
            The loads; those of the constraints are added.
        datas : data of the constraints
        """
        pin, model = self.pin, self.model
        for (_, constraint), found in zip(self.fixed, datas, strict=True):
            force = found.contact_force
            outer[constraint.joint1_id] += constraint.joint1_placement.act(force)
            on_second = constraint.joint2_placement.act(found.c1Mc2.actInv(force))
            outer[constraint.joint2_id] -= on_second
        data = model.createData()
        left = pin.rnea(model, data, q, v, a, outer)
        size = max((float(np.abs(f.vector).max()) for f in data.f), default=0.0)
        wrenches = {}
        welded = {
            part.name: k
            for k, (part, _) in enumerate(self.fixed)
            if not part.motions and part.name == part.body
        }
        for part in self.parts:
            if part.pair is None:
                continue
            if part.name in welded:
                vector = -datas[welded[part.name]].contact_force.vector
            else:
                vector = data.f[self._first(part)].vector
            wrenches[part.pair.name] = -vector if part.reversed else vector
        return wrenches, float(np.abs(left).max(initial=0.0)) / size if size else 0.0

    def _first(self, part: Part) -> int:
        """Return the first joint of a part, through which all of its wrench passes."""
        return int(self.model.getJointId(f"{part.name} 0"))
