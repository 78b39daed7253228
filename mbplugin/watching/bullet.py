"""Read a running PyBullet client at every update, by getters that change nothing.

The forces that PyBullet reports acted in its last step, at the poses before it, so the poses of the previous update
are kept. With them, and the rates before and after, the equations of motion hold to rounding. The accelerations are
known only if exactly one step lies between two updates, or if nothing moves.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import numpy as np

from mbplugin.bullet import engine, quiet
from mbplugin.bullet.reader import Link, Links, closure_of, links_of, read_client
from mbplugin.errors import UnknownName
from mbplugin.model import LARGEST_FRICTION, WORLD, AnyArray, Array, cross, rigid_groups, skew
from mbplugin.watching import Geometry, PairFrames, Structure, geometry_of, rates_of, structure_of
from mbplugin.watching.reading import Reading, Touching

#: Points of contacts farther apart than this, without force, do not touch, m.
_APART = 1e-3
#: Speed below which nothing moves, m/s and rad/s.
_STILL = 1e-3
#: Deviation of a position from that after one step, relative to its change, and absolute.
_ONE_STEP, _ROUNDING = 1e-4, 1e-9
#: PyBullet's damping of all bodies, which a script can change and no getter reports.
_DRAG = 0.04
_NO_LOAD = (0.0,) * 6
_GEAR = 6
_SOFT = 3


@dataclass(frozen=True, eq=False)
class _Multibody:
    """A body of the client: its id and the indices of its joints."""

    id: int
    joints: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _Layout:
    """The places of the client's values in the arrays of a structure.

    Parameters
    ----------
    body_of : mapping of (body id, link) to int
        Number in the mechanism; −1 for what is fixed to the ground.
    columns : (k,) array of int
        Joint rate of each joint with one freedom; ``joint_of_column`` has its place among all joints.
    pair_of_joint : (j,) array of int
        Tree pair of each joint.
    """

    bodies: tuple[_Multibody, ...]
    links: Links
    body_of: dict[tuple[int, int], int]
    friction: dict[tuple[int, int], tuple[float, float]]
    R_CL: Array
    p_LC: Array
    columns: AnyArray
    joint_of_column: tuple[int, ...]
    open_columns: AnyArray
    pair_of_joint: AnyArray
    several: bool
    constraints: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class _State:
    """Poses, twists at the centres of mass (N, 6), rates and coordinates (nv,) at one update."""

    geometry: Geometry
    twists: Array
    rates: Array
    positions: Array


class BulletSource:
    """The state and forces of a connected PyBullet client, read at every update.

    Parameters
    ----------
    client_id : int
    hold : iterable of str, optional
        As for :func:`structure_of`.
    tolerance : float
        Relative rank tolerance.

    Raises
    ------
    UnknownName
        No client with this id is connected.
    """

    def __init__(self, client_id: int, hold: Iterable[str] | None, tolerance: float) -> None:
        self.client, self.hold, self.tolerance = client_id, hold, tolerance
        self.bullet: ModuleType = engine()
        self.structure: Structure | None = None
        self.rebuilt = ""
        #: Names of soft bodies, which are not watched.
        self.soft: tuple[str, ...] = ()
        #: Whether a step was seen after which no joint had a number of a force sensor.
        self.silent = False
        #: Sentences on what happened to the simulation, for the notes of the watch.
        self.events: list[str] = []
        #: Whether the script has set a state since the last update or step.
        self.state_was_set = False
        self._print: Any = None
        self._before: _State | None = None
        self._steps: int | None = None
        self._pushes: list[tuple[int, int, Array, Any, int]] = []
        self._torques: dict[tuple[int, int], float] = {}
        self._dynamics: dict[tuple[int, int], Any] = {}
        self._next = 0
        self._look_at_all = False
        self._restored = False
        #: Simulated time of the steps that were seen, s.
        self.time = 0.0
        self.require_connected()
        method = self.bullet.getConnectionInfo(client_id)["connectionMethod"]
        #: Whether lines and texts can be drawn.
        self.draws = method == self.bullet.GUI

    def require_connected(self) -> None:
        """Raise if the client is no longer connected.

        Raises
        ------
        UnknownName
        """
        if not self.bullet.isConnected(self.client):
            raise UnknownName(
                f"PyBullet client {self.client} is not connected any more",
                remedy="connect, load the models, and watch the new client",
            )

    # What a script applies, noted by the hooks.

    def note_push(self, body: int, link: int, force: Any, point: Any, frame: int) -> None:
        """Note a force that a script applies in the next step at a point, or a moment (``point`` is None)."""
        self._pushes.append((body, link, np.array(force, dtype=float), point, frame))

    def note_torque(self, body: int, joint: int, torque: float) -> None:
        """Note the torque that a script gives to a joint in the next step."""
        self._torques[body, joint] = torque

    def remember(self) -> None:
        """Keep the state before a step, whose forces the next :meth:`read` takes.

        Raises
        ------
        MbPluginError
            As for :meth:`read`.
        """
        self._refresh()
        self._before, self._steps, self.state_was_set = self._state()[0], 0, False

    def note_step(self) -> None:
        """Count a step since the state that is kept."""
        parameters = self.bullet.getPhysicsEngineParameters(physicsClientId=self.client)
        self.time += float(parameters["fixedTimeStep"])
        if self._steps is not None:
            self._steps += 1

    @property
    def sensor_pairs(self) -> AnyArray:
        """Tree pair (j,) of each joint that may have a force sensor."""
        return self._known()[1].pair_of_joint

    def forget_forces(self) -> None:
        """Drop the forces of a step that is not looked at."""
        self._pushes.clear()
        self._torques.clear()

    def forget(self) -> None:
        """Read everything again at the next update: the client was emptied."""
        self._print = None
        self._before = None
        self.forget_forces()

    def note_state(self, restored: bool) -> None:
        """Note that the script has set a state, or has ``restored`` one: the one that is kept is not before a step."""
        self._before, self.state_was_set = None, True
        if restored and not self._restored:
            self._restored = True
            self.events.append(
                f"at {self.time:.4g} s a saved state was restored; the time of the watch goes on"
            )

    def note_dynamics(self) -> None:
        """Note that the script has changed masses or frictions: all are looked at in the next update."""
        self._look_at_all = True

    # One update.

    def read(self) -> Reading:
        """Return state and forces; the structure is read again if bodies or constraints have changed.

        Raises
        ------
        MbPluginError
            The client is disconnected, empty, or has something that cannot be read.
        """
        self._refresh()
        s, layout = self._known()
        now, drives, sensed = self._state()
        parameters = self.bullet.getPhysicsEngineParameters(physicsClientId=self.client)
        gravity = np.array([parameters[f"gravityAcceleration{axis}"] for axis in "XYZ"])
        dt = float(parameters["fixedTimeStep"])
        before, accelerations = self._accelerations(now, dt)
        if self._steps is None and before is not now:
            self.time += dt
        # sensors have their numbers after a step
        self.silent = before is not now and len(sensed) > 0 and not sensed.any()
        g = before.geometry
        reading = Reading(
            self.time,
            g,
            before.twists,
            now.twists,
            before.rates,
            accelerations,
            before.positions,
            gravity,
            self._touching(layout),
            self.closures,
            self._tied(layout, g),
            drives,
            self._known_forces(s, layout, before.rates),
            self._applied(s, layout, g),
            self._sensed(s, layout, now.geometry, sensed),
            _DRAG,
        )
        self._before, self._steps = now, 0 if self._steps is not None else None
        self.forget_forces()
        return reading

    def _known(self) -> tuple[Structure, _Layout]:
        assert self.structure is not None
        return self.structure, self._layout

    def count_steps(self) -> None:
        """Say that :meth:`note_step` is called for every step, so that none has to be guessed."""
        self._steps = 0

    def _accelerations(self, now: _State, dt: float) -> tuple[_State, Array | None]:
        """Return the state in which the forces acted, and the accelerations (nv,) there; None if they are unknown."""
        before = self._before
        if before is not None and self._is_next(before, now, dt):
            return before, (now.rates - before.rates) / dt
        if float(np.abs(now.twists).max(initial=0.0)) <= _STILL:
            return now, np.zeros_like(now.rates)
        return now, None

    def _is_next(self, before: _State, now: _State, dt: float) -> bool:
        """Return True if exactly one step lies between two states, which is seen in them if no step is counted."""
        if self._steps is not None:
            return self._steps == 1
        return _one_step(self._known()[0], before, now, dt)

    # The structure, read again when it changes.

    def _refresh(self) -> None:
        self.require_connected()
        self.rebuilt = ""
        found = self._fingerprint()
        if self.structure is not None and found == self._print and not self._changed():
            self._refresh_frames()
            return
        what = "" if self.structure is None else self._difference(found)
        self._before = None
        self._build()
        self._print, self.rebuilt = found, what

    def _fingerprint(self) -> Any:
        p, c = self.bullet, self.client
        ids = [p.getBodyUniqueId(k, physicsClientId=c) for k in range(p.getNumBodies(physicsClientId=c))]
        bodies = tuple(
            (k, p.getNumJoints(k, physicsClientId=c), p.getBodyInfo(k, physicsClientId=c)) for k in ids
        )
        total = p.getNumConstraints(physicsClientId=c)
        uids = [p.getConstraintUniqueId(k, physicsClientId=c) for k in range(total)]
        return bodies, tuple((k, p.getConstraintInfo(k, physicsClientId=c)[:5]) for k in uids)

    def _difference(self, found: Any) -> str:
        if self._print is None:
            return "the simulation was reset"
        for k, what in enumerate(("bodies", "constraints")):
            if found[k] != self._print[k]:
                return f"{what} changed from {len(self._print[k])} to {len(found[k])}"
        return "mass or friction of a body changed"

    def _changed(self) -> bool:
        """Look at one link at each update, or at all after a call: its mass or friction may have been changed."""
        keys = self._keys
        looked_at = keys if self._look_at_all else [keys[self._next % len(keys)]]
        self._next, self._look_at_all = self._next + 1, False
        return any(
            self.bullet.getDynamicsInfo(*key, physicsClientId=self.client)[:8] != self._dynamics[key]
            for key in looked_at
        )

    def _build(self) -> None:
        p, c = self.bullet, self.client
        scene = read_client(c)
        links = links_of(c)
        s = structure_of(scene, self.hold, self.tolerance)
        index, still = s.tree.body_index, rigid_groups(s.tree)[WORLD]
        body_of = {key: -1 if link.body in still else index[link.body] for key, link in links.items()}
        ids = dict.fromkeys(key[0] for key in links)
        bodies = tuple(_Multibody(k, tuple(range(p.getNumJoints(k, physicsClientId=c)))) for k in ids)
        joints = [(body.id, j) for body in bodies for j in body.joints]
        number = {pair.name: k for k, pair in enumerate(s.pairs.pairs)}
        columns: list[int] = []
        of_column: list[int] = []
        open_columns: list[int] = []
        for place, key in enumerate(joints):
            slice_of = s.tree.tree.joint_of_pair[links[key].joint].qd
            if slice_of.stop - slice_of.start == 1:
                columns.append(slice_of.start)
                of_column.append(place)
            else:
                # the drive of a ball joint is not read
                open_columns += range(slice_of.start, slice_of.stop)
        # the mechanism has the links in this order
        frames: list[Link] = [links[body.id, j] for body in bodies for j in (-1, *body.joints)]
        with quiet():
            found = {key: p.getDynamicsInfo(*key, physicsClientId=c) for key in links}
        # PyBullet tells no mass of a soft body, and no force on it
        soft = {key for key, info in found.items() if info[10] == _SOFT}
        self.soft = tuple(links[key].body for key in sorted(soft))
        for key in soft:
            k = index[links[key].body]
            s.mass[k], s.inertia[k], body_of = 0.0, 0.0, {one: n for one, n in body_of.items() if one != key}
            open_columns += np.flatnonzero(s.outer == k).tolist()
        self._dynamics = {key: info[:8] for key, info in found.items() if key not in soft}
        self._keys = list(self._dynamics)
        self._layout = _Layout(
            bodies,
            links,
            body_of,
            {key: (float(info[1]), float(info[6] + info[7])) for key, info in self._dynamics.items()},
            np.array([link.X_LC.R.T for link in frames]),
            np.array([link.X_LC.p for link in frames]),
            np.array(columns, dtype=int),
            tuple(of_column),
            np.array(open_columns, dtype=int),
            np.array([number[links[key].joint] for key in joints], dtype=int),
            any(
                slice_of.stop - slice_of.start > 1
                for slice_of in (j.qd for j in s.tree.tree.joints if j.pair)
            ),
            tuple(
                p.getConstraintUniqueId(k, physicsClientId=c)
                for k in range(p.getNumConstraints(physicsClientId=c))
            ),
        )
        self.structure, self.closures = s, s.closures
        self._infos: Any = None
        self._scene = scene
        self._refresh_frames()

    def _refresh_frames(self) -> None:
        """Follow constraints whose pivots a script moves."""
        p, c = self.bullet, self.client
        infos = [p.getConstraintInfo(uid, physicsClientId=c) for uid in self._layout.constraints]
        if infos == self._infos:
            return
        self._infos = infos
        s, links = self._known()[0], self._layout.links
        own = [
            closure_of(uid, info, links)
            for uid, info in zip(self._layout.constraints, infos, strict=True)
            if info[4] != _GEAR
        ]
        self.closures = PairFrames.of(own, s.tree.body_index)

    # Values of the client.

    def _state(self) -> tuple[_State, Array, Array]:
        """Return the state, the force of each drive (nv,), and the sensors of all joints (j, 6)."""
        p, c = self.bullet, self.client
        s, layout = self._known()
        rows: list[Any] = []
        joints: list[Any] = []
        ask = p.getJointStatesMultiDof if layout.several else p.getJointStates
        for body in layout.bodies:
            position, turn = p.getBasePositionAndOrientation(body.id, physicsClientId=c)
            v, omega = p.getBaseVelocity(body.id, physicsClientId=c)
            rows.append((*position, *turn, *v, *omega))
            if body.joints:
                links = p.getLinkStates(body.id, body.joints, computeLinkVelocity=1, physicsClientId=c)
                rows += [(*x[0], *x[1], *x[6], *x[7]) for x in links]
                joints += ask(body.id, body.joints, physicsClientId=c)
        found = np.array(rows)
        R_WL = _rotations(found[:, 3:7]) @ layout.R_CL
        p_WL = found[:, :3] - (R_WL @ layout.p_LC[:, :, None])[:, :, 0]
        twists = found[:, 7:13]
        geometry = geometry_of(s, self.closures, R_WL, p_WL)
        positions, drives = np.full(len(s.turn), np.nan), np.zeros(len(s.turn))
        if joints:
            own = [joints[k] for k in layout.joint_of_column]
            if layout.several:
                positions[layout.columns] = [x[0][0] for x in own]
                drives[layout.columns] = [x[3][0] for x in own]
            elif own:
                positions[layout.columns] = [x[0] for x in own]
                drives[layout.columns] = [x[3] for x in own]
        drives[layout.open_columns] = np.nan
        loads = [x[2] for x in joints]
        on = loads.count(_NO_LOAD) < len(loads)
        sensed = np.array(loads) if on else np.zeros((len(joints), 6))
        state = _State(geometry, twists, rates_of(s, geometry, twists), positions)
        return state, drives, sensed

    def _touching(self, layout: _Layout) -> Touching:
        points = self.bullet.getContactPoints(physicsClientId=self.client) or ()
        body_of, friction = layout.body_of, layout.friction
        kept = []
        for x in points:
            first, second = (x[1], x[3]), (x[2], x[4])
            if first not in body_of or second not in body_of:
                # a soft body
                continue
            a, b = body_of[first], body_of[second]
            if (a < 0 and b < 0) or (x[8] > _APART and x[9] == 0.0):
                continue
            (mu_1, spin_1), (mu_2, spin_2) = friction[first], friction[second]
            mu, spin = min(mu_1 * mu_2, LARGEST_FRICTION), spin_1 * mu_2 + spin_2 * mu_1
            # PyBullet's normal points from the second body to the first
            side = -1.0 if a < 0 else 1.0
            pushed, other = (b, a) if a < 0 else (a, b)
            kept.append(
                (pushed, other, side, mu, *x[5], *x[6], *x[7], x[9], x[10], *x[11], x[12], *x[13], spin)
            )
        if not kept:
            return Touching.none()
        t = np.array(kept)
        sides = t[:, 2:3]
        force = t[:, 13:14] * t[:, 10:13] + t[:, 14:15] * t[:, 15:18] + t[:, 18:19] * t[:, 19:22]
        place = 0.5 * (t[:, 4:7] + t[:, 7:10])
        return Touching(
            t[:, 0].astype(int),
            t[:, 1].astype(int),
            place,
            sides * t[:, 10:13],
            t[:, 3],
            sides * force,
            t[:, 22],
        )

    def _tied(self, layout: _Layout, g: Geometry) -> Array:
        """Return the forces (c,) of closures and gears by row, axes of P; those of gears are not read."""
        found: list[float] = []
        pairs, k = self.closures.pairs, 0
        for uid, info in zip(layout.constraints, self._infos, strict=True):
            if info[4] == _GEAR:
                continue
            values = self.bullet.getConstraintState(uid, physicsClientId=self.client)
            R_P = g.R_PC[k]
            if pairs[k].type == "prismatic":
                # PyBullet's first axis is across the slide and x of the frame
                found += [values[1], -values[0], *values[2:5]]
            else:
                found += (np.array(values[:3]) @ R_P).tolist()
                found += values[3:6] if pairs[k].type == "fixed" else ()
            k += 1
        gears = len(self._known()[0].couplings)
        return np.array([*found, *[np.nan] * gears])

    def _known_forces(self, s: Structure, layout: _Layout, rates: Array) -> Array:
        """Return the torques that the script gives, and the viscous damping at rates (nv,), as forces (nv,)."""
        out = -s.damping * rates
        for (body, joint), torque in self._torques.items():
            if (link := layout.links.get((body, joint))) is not None:
                out[s.tree.tree.joint_of_pair[link.joint].qd] += torque
        return out

    def _applied(self, s: Structure, layout: _Layout, g: Geometry) -> Array:
        """Return the wrench (N, 6) that the script applies to each body, at the origin."""
        out = np.zeros((len(s.mass), 6))
        for body, link, value, place, frame in self._pushes:
            if (link_of := layout.links.get((body, link))) is None:
                continue
            k = s.tree.body_index[link_of.body]
            # PyBullet means the inertial frame by that of a link
            R = g.poses.R_WL[k] @ link_of.X_LC.R if frame == self.bullet.LINK_FRAME else np.eye(3)
            force, C = R @ value, g.poses.p_WC[k]
            if place is None:
                out[k, 3:] += force
                continue
            at = C + R @ np.array(place, dtype=float) if frame == self.bullet.LINK_FRAME else np.array(place)
            out[k, :3] += force
            out[k, 3:] += cross(at, force)
        return out

    def _sensed(self, s: Structure, layout: _Layout, g: Geometry, values: Array) -> Array:
        """Return the wrenches (k, 6) of the tree pairs, axes of P at the origin of S, from sensor values (j, 6)."""
        out = np.full((len(s.pairs.pairs), 6), np.nan)
        if not values.any():
            return out
        on = np.flatnonzero(values.any(axis=1))
        pair = layout.pair_of_joint[on]
        body = s.pairs.b[pair]
        # PyBullet states them in the inertial frame of the child, at its centre of mass
        R_WC = g.poses.R_WL[body] @ layout.R_CL[body].transpose(0, 2, 1)
        force = (R_WC @ values[on, :3, None])[:, :, 0]
        moment = (R_WC @ values[on, 3:, None])[:, :, 0] + cross(g.poses.p_WC[body] - g.p_S[pair], force)
        R = g.R_P[pair].transpose(0, 2, 1)
        out[pair, :3], out[pair, 3:] = (R @ force[:, :, None])[:, :, 0], (R @ moment[:, :, None])[:, :, 0]
        return out


def _one_step(s: Structure, before: _State, now: _State, dt: float) -> bool:
    """Return True if positions differ by the present rates times one step, as after exactly one step."""
    roots = s.outer[s.free][::6]
    moved = now.geometry.poses.p_WC[roots] - before.geometry.poses.p_WC[roots]
    turned, turn = now.positions - before.positions, dt * now.rates
    known = np.isfinite(turned)
    return _near(turned[known], turn[known]) and _near(moved, dt * now.twists[roots, :3])


def _near(found: Array, wanted: Array) -> bool:
    """Return True if found (n, ...) is wanted (n, ...) but for rounding."""
    allowed = _ROUNDING + _ONE_STEP * np.abs(wanted).max(initial=0.0)
    return bool((np.abs(found - wanted) <= allowed).all())


def _rotations(q: Array) -> Array:
    """Return the rotation matrices (n, 3, 3) of quaternions xyzw q (n, 4)."""
    # I + 2 w skew(v) + 2 skew(v)²
    K = skew(q[:, :3])
    return np.asarray(np.eye(3) + 2.0 * (q[:, 3, None, None] * K + K @ K))
