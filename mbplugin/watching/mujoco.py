"""Read MuJoCo's MjModel and MjData at every update, without writing to them.

After ``mj_step`` contacts, forces and body poses belong to the state before the integration, but ``qpos`` and ``qvel``
to that after it. The coordinates before are those that one step leads away from; that they give the body poses of the
data is checked.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from mbplugin.errors import BadUsage
from mbplugin.model import LARGEST_FRICTION, WORLD, forward, rigid_groups
from mbplugin.model.spatial import Array, Pose, cross, quaternion_from_rotation, rotation_from_quaternion
from mbplugin.readers.mjcf import pose_wxyz, read_tree, scene_of_model
from mbplugin.readers.mjcf.compile import Names, mujoco_module
from mbplugin.watching import Structure, geometry_of, structure_of
from mbplugin.watching.reading import Reading, Touching

#: Largest deviation of body poses that belong to the same state, m and entries of rotations.
_SAME = 1e-6
_XYZW = [1, 2, 3, 0]
#: MuJoCo's warnings in words. After one of the first three it resets the data by itself, if that is not switched off.
_WARNINGS = {
    "mjWARN_BADQPOS": "a coordinate was not a number or huge",
    "mjWARN_BADQVEL": "a rate was not a number or huge",
    "mjWARN_BADQACC": "an acceleration was not a number or huge",
    "mjWARN_BADCTRL": "a control was not a number or huge",
    "mjWARN_CONTACTFULL": "there was no memory for all contacts",
    "mjWARN_CNSTRFULL": "there was no memory for all constraints",
    "mjWARN_INERTIA": "an inertia matrix is nearly singular",
}
#: Number of sentences on warnings and resets that are kept.
_MOST_EVENTS = 20


class MujocoSource:
    """The state and forces of MuJoCo's data, read at every update.

    Parameters
    ----------
    model : MjModel
    data : MjData
    hold : iterable of str, optional
        As for :func:`structure_of`.
    tolerance : float
        Relative rank tolerance.

    Raises
    ------
    BadUsage
        The data belong to another model.
    MbPluginError
        The model is not a mechanism.
    """

    draws = False
    soft: tuple[str, ...] = ()

    def __init__(self, model: Any, data: Any, hold: Iterable[str] | None, tolerance: float) -> None:
        if len(data.qpos) != model.nq or len(data.xpos) != model.nbody:
            raise BadUsage("the MjData belong to another MjModel", expected="MjData(model)")
        self.model, self.data, self.rebuilt = model, data, ""
        #: Sentences on what happened to the simulation, for the notes of the watch.
        self.events: list[str] = []
        self.state_was_set = False
        self._events = 0
        self._mujoco = mujoco_module()
        kept = self._mujoco.mjtWarning.__members__
        self._warnings = {name: int(kind) for name, kind in kept.items() if name.startswith("mjWARN_")}
        self._time, self._counts = float(data.time), self._warned()
        scene = scene_of_model(model, data)
        self.structure: Structure | None = structure_of(scene, hold, tolerance)
        tree = read_tree(self._mujoco, model, Names(self._mujoco, model, []))
        s = self.structure
        index, still = s.tree.body_index, rigid_groups(s.tree)[WORLD]
        self._index = np.array([-1, *(index[tree.names[i]] for i in range(1, model.nbody))])
        self._body = np.array(
            [-1, *(-1 if tree.names[i] in still else index[tree.names[i]] for i in range(1, model.nbody))]
        )
        self._joints = tree.joint_pairs
        self._names = tree.names
        kinds = self._mujoco.mjtEq
        self._equalities = [
            i
            for i in range(model.neq)
            if model.eq_active0[i]
            and int(model.eq_type[i]) in (int(kinds.mjEQ_CONNECT), int(kinds.mjEQ_WELD))
        ]

    def remember(self) -> None:
        """Do nothing: MuJoCo keeps the state that its forces belong to."""

    def note_step(self) -> None:
        """Look whether the step has ended in a warning or a reset."""
        self._look(stepped=True)

    def count_steps(self) -> None:
        """Do nothing: forces and accelerations of MuJoCo belong together."""

    def _warned(self) -> dict[str, int]:
        """Return the counts of MuJoCo's warnings since its data were reset, by name."""
        return {name: int(self.data.warning[k].number) for name, k in self._warnings.items()}

    def _look(self, stepped: bool) -> None:
        """Keep a sentence if the time went back, as after a reset, and on new warnings.

        Parameters
        ----------
        stepped : bool
            Whether a step lies between this call and the last one.
        """
        before, now, counts = self._time, float(self.data.time), self._warned()
        back = now < before or (stepped and now == before)
        # a reset sets the counters to zero, and the warning that caused it to one
        new = [name for name, count in counts.items() if count > (0 if back else self._counts[name])]
        words = "; ".join(f"{_WARNINGS.get(name, 'see its manual')} ({name})" for name in new)
        self._time, self._counts = now, counts
        if not (back or new) or self._events == _MOST_EVENTS:
            return
        self._events += 1
        if back and new:
            sentence = (
                f"MuJoCo reset the data at {before:.4g} s, and its time goes on from {now:.4g} s: {words}"
            )
        elif back:
            sentence = f"the data were reset or set back from {before:.4g} s to {now:.4g} s"
        else:
            sentence = f"at {now:.4g} s MuJoCo warned: {words}"
        self.events.append(sentence)

    def read(self) -> Reading:
        """Return state and forces."""
        self._look(stepped=False)
        s, model, data = self.structure, self.model, self.data
        assert s is not None
        q, qvel, known_state = self._state()
        poses = forward(s.tree, q)
        geometry = geometry_of(s, s.closures, poses.R_WL, poses.p_WL)
        rates = self._rates(qvel, q, poses.R_WL, accelerate=None)
        twists = self._twists(s, geometry.S, geometry.poses.p_WC, rates)
        accelerations = None
        if known_state:
            accelerations = self._rates(np.array(data.qacc), q, poses.R_WL, accelerate=rates)
        drives, known, positions = self._forces(s, q, poses.R_WL)
        applied = np.zeros((len(s.mass), 6))
        for i in np.flatnonzero(data.xfrc_applied.any(axis=1)).tolist():
            if i and (k := int(self._index[i])) >= 0:
                force = np.array(data.xfrc_applied[i])
                applied[k] += (*force[:3], *(force[3:] + cross(geometry.poses.p_WC[k], force[:3])))
        touching = self._touching(applied)
        return Reading(
            float(data.time), geometry, twists, twists, rates, accelerations, positions,
            np.array(model.opt.gravity, dtype=float) * self._gravity_on(), touching, s.closures,
            self._tied(s, geometry.R_PC), drives, known, applied, np.full((len(s.pairs.pairs), 6), np.nan),
        )  # fmt: skip

    def _gravity_on(self) -> float:
        return (
            0.0 if int(self.model.opt.disableflags) & int(self._mujoco.mjtDisableBit.mjDSBL_GRAVITY) else 1.0
        )

    def _state(self) -> tuple[Array, Array, bool]:
        """Return q (nq,) and qvel (nv,) of the state that the forces belong to, and whether there is such a state."""
        model, data = self.model, self.data
        now = np.array(data.qpos)
        if self._meets(now):
            return self._coordinates(now), np.array(data.qvel), True
        before = now.copy()
        self._mujoco.mj_integratePos(model, before, np.array(data.qvel), -float(model.opt.timestep))
        if self._meets(before):
            return (
                self._coordinates(before),
                np.array(data.qvel) - float(model.opt.timestep) * np.array(data.qacc),
                True,
            )
        return self._coordinates(now), np.array(data.qvel), False

    def _meets(self, qpos: Array) -> bool:
        """Return True if qpos (nq,) gives the body poses of the data."""
        s = self.structure
        assert s is not None
        poses = forward(s.tree, self._coordinates(qpos))
        own = self._index[1:]
        R = np.array(self.data.xmat[1:]).reshape(-1, 3, 3)
        apart = max(
            float(np.abs(poses.p_WL[own] - self.data.xpos[1:]).max(initial=0.0)),
            float(np.abs(poses.R_WL[own] - R).max(initial=0.0)),
        )
        return apart <= _SAME

    def _coordinates(self, qpos: Array) -> Array:
        """Return q (nq,) of the tree at MuJoCo's qpos (nq,)."""
        s, model, kinds = self.structure, self.model, self._mujoco.mjtJoint
        assert s is not None
        q = np.zeros(len(s.tree.q_names))
        for j in range(model.njnt):
            at, kind = int(model.jnt_qposadr[j]), int(model.jnt_type[j])
            if kind == int(kinds.mjJNT_FREE):
                body = self._names[int(model.jnt_bodyid[j])]
                X: Pose = pose_wxyz(qpos[at : at + 3], qpos[at + 3 : at + 7])
                centre = X.apply(s.centre[s.tree.body_index[body]])
                q[s.tree.tree.joint_of_body[body].q] = [*centre, *quaternion_from_rotation(X.R)]
                continue
            edge = s.tree.tree.joint_of_pair[self._joints[j].name]
            if kind == int(kinds.mjJNT_BALL):
                xyzw = qpos[at : at + 4][_XYZW]
                q[edge.q] = xyzw / np.linalg.norm(xyzw)
            else:
                q[edge.q] = qpos[at]
        return q

    def _rates(self, values: Array, q: Array, R_WL: Array, *, accelerate: Array | None) -> Array:
        """Return MuJoCo's rates or accelerations, values (nv,), as those of the tree, at q (nq,) and R_WL (N, 3, 3).

        ``accelerate`` (nv,) are the rates of the tree if accelerations are asked for.
        """
        s, model, kinds = self.structure, self.model, self._mujoco.mjtJoint
        assert s is not None
        out = np.zeros(len(s.turn))
        for j in range(model.njnt):
            dof, kind = int(model.jnt_dofadr[j]), int(model.jnt_type[j])
            if kind == int(kinds.mjJNT_FREE):
                body = self._names[int(model.jnt_bodyid[j])]
                k = s.tree.body_index[body]
                r, columns = R_WL[k] @ s.centre[k], s.tree.tree.joint_of_body[body].qd
                turning = R_WL[k] @ values[dof + 3 : dof + 6]
                linear = values[dof : dof + 3] + cross(turning, r)
                if accelerate is not None:
                    omega = accelerate[columns][3:]
                    linear = linear + cross(omega, cross(omega, r))
                out[columns] = [*linear, *turning]
                continue
            edge = s.tree.tree.joint_of_pair[self._joints[j].name]
            if kind == int(kinds.mjJNT_BALL):
                # MuJoCo states them in body axes, a pair in those of its predecessor frame
                out[edge.qd] = rotation_from_quaternion(q[edge.q]) @ values[dof : dof + 3]
            else:
                out[edge.qd] = values[dof]
        return out

    @staticmethod
    def _twists(s: Structure, S: Array, p_WC: Array, rates: Array) -> Array:
        """Return the twists (N, 6) at the centres of mass p_WC (N, 3), from axes S (nv, 6) and rates (nv,)."""
        V = s.moved[:-1] @ (S * rates[:, None])
        V[:, :3] -= cross(p_WC, V[:, 3:])
        return np.asarray(V)

    def _forces(self, s: Structure, q: Array, R_WL: Array) -> tuple[Array, Array, Array]:
        """Return drives, other known forces and joint coordinates, (nv,) each, at q (nq,) and R_WL (N, 3, 3)."""
        model, data, kinds = self.model, self.data, self._mujoco.mjtJoint
        drives, known, positions = np.zeros(len(s.turn)), np.zeros(len(s.turn)), np.full(len(s.turn), np.nan)
        passive = np.array(data.qfrc_passive + data.qfrc_applied - model.dof_armature * data.qacc)
        actuator = np.array(data.qfrc_actuator)
        for j in range(model.njnt):
            dof, kind = int(model.jnt_dofadr[j]), int(model.jnt_type[j])
            if kind == int(kinds.mjJNT_FREE):
                body = self._names[int(model.jnt_bodyid[j])]
                k = s.tree.body_index[body]
                force = passive[dof : dof + 3] + actuator[dof : dof + 3]
                moment = R_WL[k] @ (passive + actuator)[dof + 3 : dof + 6] - cross(
                    R_WL[k] @ s.centre[k], force
                )
                known[s.tree.tree.joint_of_body[body].qd] = [*force, *moment]
                continue
            edge = s.tree.tree.joint_of_pair[self._joints[j].name]
            if kind == int(kinds.mjJNT_BALL):
                R = rotation_from_quaternion(q[edge.q])
                drives[edge.qd], known[edge.qd] = R @ actuator[dof : dof + 3], R @ passive[dof : dof + 3]
                continue
            drives[edge.qd] = np.nan if model.dof_frictionloss[dof] else actuator[dof]
            known[edge.qd], positions[edge.qd] = passive[dof], q[edge.q]
        return drives, known, positions

    def _touching(self, applied: Array) -> Touching:
        """Return the contacts; their moments, of condim 4 and 6, are added to ``applied`` (N, 6)."""
        model, data = self.model, self.data
        rows, force = [], np.zeros(6)
        for k in range(data.ncon):
            contact = data.contact[k]
            if contact.efc_address < 0:
                continue
            # the normal points from the first geom to the second
            first, second = (int(self._body[model.geom_bodyid[g]]) for g in (contact.geom1, contact.geom2))
            if first < 0 and second < 0:
                continue
            self._mujoco.mj_contactForce(model, data, k, force)
            axes = np.array(contact.frame).reshape(3, 3)
            sign = -1.0 if second < 0 else 1.0
            pushed, other = (first, second) if second < 0 else (second, first)
            point, moment = np.array(contact.pos), sign * force[3:] @ axes
            applied[pushed, 3:] += moment
            if other >= 0:
                applied[other, 3:] -= moment
            mu = min(float(contact.friction[0]), LARGEST_FRICTION) if contact.dim > 1 else 0.0
            rows.append((pushed, other, mu, *point, *(sign * axes[0]), *(sign * force[:3] @ axes)))
        if not rows:
            return Touching.none()
        t = np.array(rows)
        return Touching(
            t[:, 0].astype(int),
            t[:, 1].astype(int),
            t[:, 3:6],
            t[:, 6:9],
            t[:, 2],
            t[:, 9:12],
            np.zeros(len(t)),
        )

    def _tied(self, s: Structure, R_P: Array) -> Array:
        """Return the forces of closures by row in axes of P, R_P (k, 3, 3); moments of welds and gears are not read."""
        data, found = self.data, []
        equality = int(self._mujoco.mjtConstraint.mjCNSTR_EQUALITY)
        first: dict[int, int] = {}
        for row in range(data.nefc):
            if int(data.efc_type[row]) == equality:
                first.setdefault(int(data.efc_id[row]), row)
        for k, i in enumerate(self._equalities):
            rows = 3 if s.closures.pairs[k].type == "spherical" else 6
            if i not in first:
                found += [0.0] * rows
                continue
            # MuJoCo's rows are the place of the first body minus that of the second
            force = -np.array(data.efc_force[first[i] : first[i] + 3])
            found += [*(force @ R_P[k]), *[np.nan] * (rows - 3)]
        return np.array([*found, *[np.nan] * len(s.couplings)])
