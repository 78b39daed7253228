"""The result of ``engines``: the wrench of every joint by several engines, and where they may differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mbplugin.comparison.side_by_side.answer import Answer
from mbplugin.errors import UnknownName, suggestion
from mbplugin.joint_reactions.values import Mode
from mbplugin.model.mechanism.mechanism import Mechanism
from mbplugin.model.spatial import AnyArray, Array
from mbplugin.phrases import counted, one_line, one_line_repr
from mbplugin.rendering import Result

#: The name of our own column.
OURS = "mbplugin"
#: Unique components of engines that agree differ by less than this fraction of the largest in the joint.
AGREES = 0.01
#: The largest force or moment of a joint counts as at least this fraction of the model's largest.
_FLOOR = 0.01
#: Beside forces, moments count as at least this fraction of the largest force times the model's length.
_SMALL_MOMENT = 0.001


@one_line_repr
@dataclass(frozen=True, eq=False)
class JointWrench:
    """What passes through one joint, by every engine that answers.

    Parameters
    ----------
    name, type, body_a, body_b : str
        Of the pair; ``type`` is that of the model, also where the joint is held.
    held : bool
        Whether it is held, so that its drive's force is in the wrench.
    point : (3,) array
        The origin of S in the world, m.
    R_WJ : (3, 3) array
        Axes of P in the world, by column.
    unique : (6,) array of bool
        Whether the rigid model determines each component.
    wrenches : mapping of engine to (6,) array
        [f; m] on the successor at ``point``, axes of P, N and N·m; NaN in ours where nothing determines it.
    spread : (6,) array
        Largest difference between two engines, N and N·m.
    size : (6,) array
        The largest force, and moment, of any engine in this joint, N and N·m; at least a hundredth of the largest
        in the model.
    """

    name: str
    type: str
    body_a: str
    body_b: str
    held: bool
    point: Array
    R_WJ: Array
    unique: AnyArray
    wrenches: Mapping[str, Array]
    spread: Array
    size: Array

    @property
    def difference(self) -> Array:
        """The spread (6,) as a fraction of the size; zero where nothing acts."""
        return np.divide(self.spread, self.size, out=np.zeros(6), where=self.size > 0)

    @property
    def agrees(self) -> AnyArray:
        """Whether all engines have the same value of each component, (6,)."""
        return np.asarray(self.difference <= AGREES)


@dataclass(frozen=True, eq=False)
class SideBySide(Result):
    """Joint wrenches of several engines at one instant.

    Parameters
    ----------
    q, qd, qdd : (nq,), (nv,), (nv,) array
        The closed pose and the motion, rad, m and s, in the coordinates of ``mechanism``, whose held joints are
        fixed pairs.
    mode : "statics" or "inverse dynamics"
        The second at an instant of motion.
    held : tuple of str
        Joints that are held as a whole.
    tolerance : float
        Relative rank tolerance.
    degree_of_redundancy : int
        With the held joints.
    engines : tuple of Answer
        Ours first; those without an answer have a reason.
    joints : tuple of JointWrench
        In file order.
    """

    mechanism: Mechanism
    q: Array
    qd: Array
    qdd: Array
    mode: Mode
    held: tuple[str, ...]
    tolerance: float
    degree_of_redundancy: int
    engines: tuple[Answer, ...]
    joints: tuple[JointWrench, ...]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        names = ", ".join(e.engine for e in self.answers)
        redundant = counted(self.degree_of_redundancy, "redundant constraint")
        facts = (self.mode, names, redundant, f"tolerance {self.tolerance:g}")
        return one_line(self, self.mechanism.name, facts)

    def __getitem__(self, joint: str) -> JointWrench:
        for candidate in self.joints:
            if candidate.name == joint:
                return candidate
        names = [candidate.name for candidate in self.joints]
        raise UnknownName(f"there is no joint {joint!r}", remedy=suggestion(joint, names))

    @property
    def answers(self) -> Iterator[Answer]:
        """Those that have an answer."""
        return (answer for answer in self.engines if not answer.reason)

    @property
    def compared(self) -> bool:
        """Whether at least two engines answer."""
        return len(list(self.answers)) > 1

    @cached_property
    def agrees(self) -> bool:
        """Whether all engines have the same value of every unique component."""
        return all(bool(joint.agrees[joint.unique].all()) for joint in self.joints)

    @cached_property
    def largest_unique_difference(self) -> float:
        """The largest difference in a unique component, as a fraction of what acts in its joint."""
        return max((float(j.difference[j.unique].max(initial=0.0)) for j in self.joints), default=0.0)

    @cached_property
    def largest_undetermined_difference(self) -> float:
        """The largest difference in a non-unique component, as a fraction of what acts in its joint."""
        return max((float(j.difference[~j.unique].max(initial=0.0)) for j in self.joints), default=0.0)


def sizes(wrenches: Mapping[str, Mapping[str, Array]], length: float) -> dict[str, Array]:
    """Return the largest force and moment (6,) of each joint, from the wrenches (6,) by joint and engine.

    ``length`` is that of the model, m.
    """
    largest = {
        name: np.nan_to_num(np.fmax.reduce(np.abs(list(of.values())))).reshape(2, 3).max(axis=1)
        for name, of in wrenches.items()
    }
    floor = _FLOOR * np.array(list(largest.values())).max(axis=0, initial=0.0) if largest else np.zeros(2)
    floor[1] = max(floor[1], _SMALL_MOMENT / _FLOOR * floor[0] * length)
    return {name: np.repeat(np.maximum(two, floor), 3) for name, two in largest.items()}
