"""Calls of PyBullet and MuJoCo that are wrapped in this process, so that a watch sees every step.

PyBullet's functions are replaced in the module ``pybullet``, and in ``pybullet_utils``' ``BulletClient``, which looks
them up there but fills in its client only for functions of C. Each wrapper calls the original function with the same
arguments and returns its result. What a script applies (forces, torques) is noted, since no getter reports it. A
function that a script has imported by name before is not seen.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
from collections.abc import Callable
from contextlib import suppress
from threading import RLock
from types import ModuleType
from typing import Any, Protocol

import numpy as np


class Follower(Protocol):
    """What is called around the steps of a client or of MuJoCo's data."""

    def before_step(self) -> None:
        """Be called before a step."""

    def after_step(self) -> None:
        """Be called after a step."""

    def before_disconnect(self) -> None:
        """Be called before the client is disconnected."""

    def after_reset(self) -> None:
        """Be called after the client was emptied."""

    def state_set(self, restored: bool) -> None:
        """Be called after the script has set a state, or has ``restored`` a saved one."""

    def dynamics_set(self) -> None:
        """Be called after the script has changed a mass or a friction."""

    def pushed(self, body: int, link: int, force: Any, point: Any, frame: int) -> None:
        """Note a force, with the point where it acts, or a moment (``point`` is None)."""

    def torque(self, body: int, joint: int, value: float) -> None:
        """Note the torque of a joint."""


#: Names of PyBullet's functions that are wrapped.
NAMES = (
    "stepSimulation", "disconnect", "resetSimulation", "applyExternalForce", "applyExternalTorque",
    "setJointMotorControl2", "setJointMotorControlArray", "changeDynamics", "restoreState",
    "resetBasePositionAndOrientation", "resetBaseVelocity", "resetJointState", "resetJointStateMultiDof",
    "resetJointStatesMultiDof",
)  # fmt: skip
_ARGUMENTS: dict[str, tuple[str, ...]] = {
    "stepSimulation": (),
    "disconnect": (),
    "resetSimulation": (),
    "applyExternalForce": ("objectUniqueId", "linkIndex", "forceObj", "posObj", "flags"),
    "applyExternalTorque": ("objectUniqueId", "linkIndex", "torqueObj", "flags"),
    "setJointMotorControl2": ("bodyUniqueId", "jointIndex", "controlMode", "targetPosition", "targetVelocity", "force"),
    "setJointMotorControlArray": (
        "bodyUniqueId", "jointIndices", "controlMode", "targetPositions", "targetVelocities", "forces",
    ),
    "restoreState": ("stateId", "fileName"),
    "resetBasePositionAndOrientation": ("bodyUniqueId", "posObj", "ornObj"),
    "resetBaseVelocity": ("objectUniqueId", "linearVelocity", "angularVelocity"),
    "resetJointState": ("bodyUniqueId", "jointIndex", "targetValue", "targetVelocity"),
    "resetJointStateMultiDof": ("bodyUniqueId", "jointIndex", "targetValue", "targetVelocity"),
    "resetJointStatesMultiDof": ("bodyUniqueId", "jointIndices", "targetValues", "targetVelocities"),
}  # fmt: skip
_lock = RLock()


class Hooks:
    """The followers of this process, and the original functions while any follows.

    Parameters
    ----------
    on_new : callable, optional
        Called before a step with ("pybullet", client) or ("mujoco", (model, data)) that nobody follows.
    """

    def __init__(self, on_new: Callable[[str, Any], None] | None = None) -> None:
        self.on_new = on_new
        self.followers: dict[Any, list[Follower]] = {}
        self._originals: list[tuple[Any, str, Any]] = []

    def follow(self, key: Any, follower: Follower) -> None:
        """Call a follower around the steps of a client (its id), or of MuJoCo's data (("mujoco", id of it))."""
        with _lock:
            self.followers.setdefault(key, []).append(follower)
            self.install()

    def leave(self, key: Any, follower: Follower) -> None:
        """Stop calling a follower; the original functions return when the last one has left."""
        with _lock:
            own = self.followers.get(key, [])
            if follower in own:
                own.remove(follower)
            if not own:
                self.followers.pop(key, None)
            if not self.followers and self.on_new is None:
                self.remove()

    def install(self) -> None:
        """Wrap the functions of the engines that are loaded."""
        with _lock:
            wrapped = {id(module) for module, _, _ in self._originals}
            if (bullet := sys.modules.get("pybullet")) is not None and id(bullet) not in wrapped:
                for name in NAMES:
                    self._replace(bullet, name, self._bullet(name, getattr(bullet, name)))
                with suppress(ImportError):
                    client = importlib.import_module("pybullet_utils.bullet_client").BulletClient
                    self._replace(client, "__getattr__", _injecting(client.__getattr__, bullet))
            if (mujoco := sys.modules.get("mujoco")) is not None and id(mujoco) not in wrapped:
                for name in ("mj_step", "mj_step2"):
                    self._replace(mujoco, name, self._mujoco(getattr(mujoco, name)))

    def remove(self) -> None:
        """Put the original functions back."""
        with _lock:
            for owner, name, original in reversed(self._originals):
                setattr(owner, name, original)
            self._originals.clear()

    def _replace(self, owner: Any, name: str, new: Any) -> None:
        self._originals.append((owner, name, getattr(owner, name)))
        setattr(owner, name, new)

    def _bullet(self, name: str, original: Callable[..., Any]) -> Callable[..., Any]:
        # the client is the last of two dozen arguments of changeDynamics, and given by name
        parameters = _ARGUMENTS.get(name)

        @functools.wraps(original)
        def call(*args: Any, **named: Any) -> Any:
            values = dict(zip(parameters or (), args, strict=False)) | named
            rest = () if parameters is None else args[len(parameters) :]
            client = named.get("physicsClientId", rest[0] if rest else 0)
            if name == "stepSimulation":
                if client not in self.followers and self.on_new is not None:
                    self.on_new("pybullet", client)
                for one in (*self.followers.get(client, ()),):
                    one.before_step()
            elif name == "disconnect":
                for one in (*self.followers.get(client, ()),):
                    one.before_disconnect()
            found = original(*args, **named)
            for one in (*self.followers.get(client, ()),):
                _tell(one, name, values)
            return found

        return call

    def _mujoco(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def call(m: Any, d: Any, *args: Any, **named: Any) -> Any:
            key = ("mujoco", id(d))
            if key not in self.followers and self.on_new is not None:
                self.on_new("mujoco", (m, d))
            found = original(m, d, *args, **named)
            for one in (*self.followers.get(key, ()),):
                one.after_step()
            return found

        return call


def _tell(follower: Follower, name: str, values: dict[str, Any]) -> None:
    """Tell a follower of a call that PyBullet has accepted."""
    if name == "stepSimulation":
        follower.after_step()
    elif name == "resetSimulation":
        follower.after_reset()
    elif name == "changeDynamics":
        follower.dynamics_set()
    elif name.startswith(("reset", "restore")):
        follower.state_set(restored=name == "restoreState")
    elif name == "applyExternalForce":
        body, link, force, point, frame = (values[key] for key in _ARGUMENTS[name])
        follower.pushed(body, link, force, point, frame)
    elif name == "applyExternalTorque":
        body, link, torque, frame = (values[key] for key in _ARGUMENTS[name])
        follower.pushed(body, link, torque, None, frame)
    elif (
        name.startswith("setJointMotorControl")
        and values.get("controlMode") == sys.modules["pybullet"].TORQUE_CONTROL
    ):
        body = values["bodyUniqueId"]
        if name == "setJointMotorControl2":
            follower.torque(body, values["jointIndex"], float(values.get("force", 0.0)))
        else:
            joints, forces = values["jointIndices"], values.get("forces", ())
            for joint, force in zip(joints, forces, strict=False):
                follower.torque(body, joint, float(np.ravel(force)[0]))


def _injecting(original: Callable[..., Any], bullet: ModuleType) -> Callable[..., Any]:
    """Return ``BulletClient.__getattr__``, which fills in the client for wrapped functions as well."""

    def look_up(self: Any, name: str) -> Any:
        found = getattr(bullet, name, None) if name in NAMES else None
        if found is None or inspect.isbuiltin(found):
            return original(self, name)
        call = functools.partial(found, physicsClientId=self._client)
        if name == "disconnect":
            # as in pybullet_utils: the object has no client from here on
            self._client = -1
        return call

    return look_up


#: The hooks of watches that are told to follow the steps.
HOOKS = Hooks()
