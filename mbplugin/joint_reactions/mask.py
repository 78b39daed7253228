"""``reaction_mask``: which components of the joint forces a rigid model determines, as a boolean array."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mbplugin.analysis.directions import joint_place
from mbplugin.arguments import checked
from mbplugin.errors import UnknownName, suggestion
from mbplugin.joint_reactions.holding import held_joints, with_held
from mbplugin.joint_reactions.state import closed_state
from mbplugin.joint_reactions.system import System, build_system
from mbplugin.joint_reactions.transmitted import unique_axes
from mbplugin.joint_reactions.values import require_axes
from mbplugin.model.mechanism.identity import RowLabel
from mbplugin.model.mechanism.kinematics import JointValues
from mbplugin.model.mechanism.pair import Pair
from mbplugin.model.spatial import COMPONENTS, AnyArray
from mbplugin.phrases import counted, one_line
from mbplugin.readers.source import ModelSource, model_of
from mbplugin.rendering import Result


@dataclass(frozen=True, eq=False)
class ReactionMask(Result):
    """Which components of the joint forces the rigid model determines: ``np.asarray(mask)`` is the array.

    Parameters
    ----------
    name : str
        Of the mechanism.
    mask : (k, 6) array of bool
        True where the rigid model determines the component.
    joints : tuple of str
        The pairs, closures included, in file order: the rows.
    components : tuple of str
        The columns: tx ty tz (forces) rx ry rz (moments).
    axes : "joint" or "world"
        Of the components; ``joint`` are those of the predecessor's joint frame. Moments are at the origin of
        the successor's joint frame.
    degree_of_redundancy : int
    tolerance : float
        Relative rank tolerance.
    """

    name: str
    mask: AnyArray
    joints: tuple[str, ...]
    components: tuple[str, ...]
    axes: str
    degree_of_redundancy: int
    tolerance: float

    def __repr__(self) -> str:
        facts = (
            counted(len(self.joints), "joint"),
            f"{int(self.mask.sum())} of {self.mask.size} components unique",
            f"{self.axes} axes",
            f"tolerance {self.tolerance:g}",
        )
        return one_line(self, self.name, facts)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> AnyArray:
        """Return the mask (k, 6) for NumPy."""
        return np.array(self.mask, dtype=dtype) if copy or dtype else self.mask

    def __getitem__(self, joint: str) -> AnyArray:
        """Return the row (6,) of a joint."""
        if joint not in self.joints:
            raise UnknownName(f"there is no joint {joint!r}", remedy=suggestion(joint, self.joints))
        return np.asarray(self.mask[self.joints.index(joint)])

    @property
    def labels(self) -> tuple[RowLabel, ...]:
        """(joint, component) of each entry, row by row."""
        return tuple(RowLabel(joint, component) for joint in self.joints for component in self.components)


@checked
def reaction_mask(
    model: ModelSource,
    q: JointValues = None,
    *,
    axes: str = "joint",
    hold: Iterable[str] | None = (),
    tolerance: float | None = None,
    planar: str | None = None,
) -> ReactionMask:
    """Return which components of the joint forces and moments the rigid model determines.

    What a simulator of rigid bodies reports for the others depends on its solver: do not train on them, log
    them or size a part with them. A row is all that passes through a joint: the pair with its drives, locks and
    couplings. Loops are closed first.

    Parameters
    ----------
    model : path, PyBullet client, Scene or Mechanism
    q : mapping or vector, optional
        Joint coordinates, rad and m; what is not named keeps the scene's value.
    axes : "joint" or "world"
        Axes of the components: the predecessor's joint frame, or the world.
    hold : iterable of str, optional
        Joints (or ``joint.freedom``) that are held in addition to drivers and locks; None takes those that
        ``reactions`` holds. By default none: the torque of a motor is known.
    tolerance : float, optional
        Relative rank tolerance; the scene's, else ``constraints.tolerance.DEFAULT_TOLERANCE``.
    planar : "xy", "yz" or "zx", optional
        Forces in a plane; components that are not in it are False, because nothing computes them.

    Returns
    -------
    ReactionMask

    Raises
    ------
    BadUsage
        Other axes, or a joint that cannot be held.
    UnknownName
        A joint that does not exist.
    CannotClose
        A loop that cannot be closed.
    """
    require_axes(axes)
    model = model_of(model)
    state = closed_state(model, q, None, None, tolerance, planar)
    actuated = tuple(a.joint for a in getattr(model, "actuators", ()))
    held = held_joints(state.motion, hold, actuated, state.tolerance)
    mech = with_held(state.mech, held)
    system = build_system(mech, state.q, state.motion.poses, state.motion.columns, state.tolerance)
    rows = [joint_mask(system, pair, axes) for pair in mech.pairs]
    mask = np.array(rows, dtype=bool).reshape(-1, 6)
    mask.setflags(write=False)
    names = tuple(pair.name for pair in mech.pairs)
    return ReactionMask(
        mech.name, mask, names, COMPONENTS, axes, system.degree_of_redundancy, state.tolerance
    )


def joint_mask(system: System, pair: Pair, axes: str = "joint") -> AnyArray:
    """Return which components (6,) of what passes through a joint the rigid model determines."""
    _, R_WP = joint_place(system.mech, system.poses, pair)
    unique = unique_axes(system, pair, np.eye(3) if axes == "joint" else R_WP)
    seen = np.zeros((2, 3))
    seen.flat[list(system.columns)] = 1.0
    if axes == "joint":
        # an axis of P counts where it lies in the plane
        inside = seen[:, None, :] * R_WP.T[None] ** 2
        return np.asarray(unique & (inside.sum(axis=2).ravel() > 0.5))
    return np.asarray(unique & (seen.ravel() > 0))
