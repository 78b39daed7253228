"""The robot of measured stops: its pose, rates and payload at the signal of each row."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from mbplugin.errors import BadUsage
from mbplugin.model.brakes import JointBrake
from mbplugin.model.mechanism.kinematics import joint_vector
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.scene import Brake, Payload, Scene, mechanism_of
from mbplugin.model.spatial import Array
from mbplugin.stopping.calibration.measured.measurement import Measurement
from mbplugin.stopping.compiled.batch import CompiledStop
from mbplugin.stopping.compiled.support import require_compiled_stop
from mbplugin.stopping.run import make_scenario
from mbplugin.stopping.table.axes import moving_chain, table_axes
from mbplugin.stopping.table.extension import ExtensionPoses
from mbplugin.stopping.table.rated import payload_share, rated_payload

#: What holds the joints that are not stopped, N·m or N: they stand as the drives and brakes of a robot make them.
_HOLDING = 1e6
#: Gravity acts on an axis from this acceleration on, rad/s² or m/s².
_NO_GRAVITY = 1e-6


class Start(NamedTuple):
    """A robot at the signal.

    Parameters
    ----------
    q, qd : (nq,), (nv,) array
    payloads : tuple of Payload
    inertia : float
        Of the joint, kg·m² or kg.
    gravity : float
        Torque of gravity on the joint along the motion, N·m or N.
    """

    q: Array
    qd: Array
    payloads: tuple[Payload, ...]
    inertia: float
    gravity: float


class Bench:
    """A robot whose joints are stopped one at a time in category 0, while the others stand.

    Parameters
    ----------
    mech : Scene or Mechanism
        A tree of joints with one freedom each.
    payload : float, optional
        Rated mass at the tool, kg; by default the scene's payload.
    tool : str, optional
    count : callable, optional
        Gets the number of stops that were computed.

    Raises
    ------
    BadUsage
        A robot with loops, or joints with several freedoms.
    """

    def __init__(
        self,
        mech: Scene | Mechanism,
        payload: float | None = None,
        tool: str | None = None,
        count: Callable[[int], None] | None = None,
    ) -> None:
        self.count = count or (lambda number: None)
        mechanism = mechanism_of(mech)
        holding = [Brake(pair.name, _HOLDING) for pair in mechanism.pairs if len(pair.kind.free) == 1]
        scenario = make_scenario(mech, brakes=holding, tool=tool)
        self.rated = rated_payload(scenario, payload)
        actions = replace(scenario.actions, payloads=())
        scenario = replace(scenario, actions=actions, limits="ignore", qd=np.zeros(len(scenario.qd)))
        require_compiled_stop(scenario, "calibrate the joints of an arm alone")
        self.compiled = CompiledStop(scenario, rtol=scenario.rtol, atol=scenario.atol)
        self.scenario = scenario
        self._poses: dict[str, ExtensionPoses] = {}

    @property
    def brakes(self) -> tuple[JointBrake, ...]:
        """What holds all joints."""
        return self.scenario.brakes

    def start(self, row: Measurement) -> Start:
        """Return the robot at the signal of a row; its payloads are then carried.

        The sense of a row that states none is that in which gravity pulls, else +1.

        Raises
        ------
        BadUsage
            A share of an unknown payload, or an extension of a joint that does not move the tool.
        """
        payloads = self._payloads(row)
        self.compiled.set_payloads(payloads)
        q, sense = self._pose(row)
        k = self.scenario.rate_of(row.joint)
        pull = self._pull(row.joint, q)
        inertia = float(self.compiled.inertias(q)[k])
        if not inertia > 0.0:
            raise BadUsage(
                f"joint {row.joint!r} moves no inertia",
                expected="a robot whose links have masses, for stops of category 0",
            )
        sense = row.sense or sense or (1.0 if pull >= -_NO_GRAVITY * inertia else -1.0)
        qd = np.zeros(len(self.scenario.qd))
        qd[k] = sense * row.speed
        return Start(q, qd, payloads, inertia, sense * pull)

    def _payloads(self, row: Measurement) -> tuple[Payload, ...]:
        if row.payload is None:
            return payload_share(self.rated, 1.0)
        value = row.payload.value
        if row.payload.kind == "share":
            if value and not self.rated.mass:
                raise BadUsage(
                    f"the payload of line {row.line} is {100 * value:g} %, and no rated payload is stated",
                    remedy="state it with --payload KG",
                )
            return payload_share(self.rated, value)
        if self.rated.mass:
            return payload_share(self.rated, value / self.rated.mass)
        return (replace(self.rated, mass=value),) if value else ()

    def _pose(self, row: Measurement) -> tuple[Array, float]:
        """Return the pose (nq,) of a row, and the sense that belongs to it, 0 where none does."""
        scenario = self.scenario
        if row.extension is None:
            return joint_vector(scenario.mech, dict(row.q), scenario.q), 0.0
        if row.q:
            raise BadUsage(
                f"line {row.line} states an extension and coordinates", expected="one of them in each row"
            )
        poses, share = self._extension_poses(row), row.extension.value
        if row.extension.kind != "share":
            full = poses.pose(row.joint, 1.0).extension
            if not 0 <= share <= full * (1 + 1e-6):
                raise BadUsage(
                    f"the extension of line {row.line} is {share:g} m",
                    expected=f"0 to {full:.4g} m, the reach from joint {row.joint!r}",
                )
            share /= full
        pose = poses.pose(row.joint, min(share, 1.0))
        return pose.q, pose.sense

    def _extension_poses(self, row: Measurement) -> ExtensionPoses:
        if row.joint not in self._poses:
            mech, tool = self.scenario.mech, self.scenario.tool
            chain = [joint.pair.name for joint in moving_chain(mech, tool) if joint.pair is not None]
            if row.joint not in chain:
                raise BadUsage(
                    f"line {row.line} states an extension of joint {row.joint!r}, which does not move {tool!r}",
                    remedy="state the pose in columns q NAME",
                )
            axes = table_axes(mech, tool)
            axes = axes if row.joint in axes else (row.joint,)
            self.compiled.set_payloads(payload_share(self.rated, 1.0))
            self._poses[row.joint] = ExtensionPoses(self.compiled, axes)
        return self._poses[row.joint]

    def _pull(self, joint: str, q: Array) -> float:
        """Return the torque of gravity on a joint at a pose q (nq,), N·m or N."""
        i, h = self.scenario.mech.tree.joint_of_pair[joint].q.start, 1e-4
        ahead, behind = q.copy(), q.copy()
        ahead[i] += h
        behind[i] -= h
        return (self.compiled.potential(behind) - self.compiled.potential(ahead)) / (2 * h)


def distinct(rows: Iterable[Measurement]) -> tuple[list[Measurement], list[int]]:
    """Return one row of each condition, and of every row the number of its condition."""
    firsts: dict[tuple[object, ...], int] = {}
    found: list[Measurement] = []
    index = []
    for row in rows:
        if row.condition not in firsts:
            firsts[row.condition] = len(found)
            found.append(row)
        index.append(firsts[row.condition])
    return found, index
